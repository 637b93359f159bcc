//! What one comparison has to show, on one backend or on two.

use std::io::{self, Write};
use std::path::PathBuf;

use ramp_lab::report::{TextStyle, csv, json, sides_csv, sides_json, sides_text, text};
use ramp_lab::{Comparison, SideBySide};

use crate::error::CliError;
use crate::report::{FormatArgs, REPORT, write_outputs};
use crate::sides::{SidesPlan, beside, write_sides};
use crate::store::Store;
use crate::terminal::Terminal;

/// A comparison, written to its directory.
pub(crate) enum Results {
    /// On one backend.
    One {
        /// Where.
        files: Store,
        /// What was found.
        comparison: Box<Comparison>,
        /// What is said after the table.
        said: Vec<String>,
    },
    /// On two.
    Both {
        /// Where both stand together.
        files: Store,
        /// What was found.
        both: Box<SideBySide>,
        /// Each alone.
        sides: Box<[Comparison; 2]>,
        /// What is said after the table.
        said: Vec<String>,
    },
}

impl Results {
    /// On one backend.
    pub(crate) fn one(files: Store, comparison: Comparison) -> Result<Self, CliError> {
        write_outputs(&files, &comparison)?;
        Ok(Self::One { files, comparison: Box::new(comparison), said: Vec::new() })
    }

    /// On two, each with its own directory.
    pub(crate) fn both(
        files: Store,
        plan: &SidesPlan,
        sides: [(Store, Comparison); 2],
    ) -> Result<Self, CliError> {
        for (store, comparison) in &sides {
            write_outputs(store, comparison)?;
        }
        let sides = sides.map(|(_, comparison)| comparison);
        let both = beside(plan, sides.each_ref());
        write_sides(&files, plan, &both)?;
        Ok(Self::Both { files, both: Box::new(both), sides: Box::new(sides), said: Vec::new() })
    }

    /// The same with lines for people after the table.
    pub(crate) fn beside(mut self, lines: Vec<String>) -> Self {
        let (Self::One { said, .. } | Self::Both { said, .. }) = &mut self;
        *said = lines;
        self
    }

    /// Where the page is.
    pub(crate) fn page(&self) -> PathBuf {
        match self {
            Self::One { files, .. } | Self::Both { files, .. } => files.path(REPORT),
        }
    }

    /// What was found on each backend.
    pub(crate) fn comparisons(&self) -> &[Comparison] {
        match self {
            Self::One { comparison, .. } => std::slice::from_ref(comparison),
            Self::Both { sides, .. } => sides.as_slice(),
        }
    }

    /// As JSON.
    pub(crate) fn json(&self) -> Result<String, CliError> {
        let made = match self {
            Self::One { comparison, .. } => json(comparison),
            Self::Both { both, .. } => sides_json(both),
        };
        Ok(made.map_err(io::Error::from)?)
    }

    /// As CSV.
    pub(crate) fn csv(&self) -> String {
        match self {
            Self::One { comparison, .. } => csv(comparison),
            Self::Both { both, .. } => sides_csv(both),
        }
    }

    /// As the command line wants it, with where the page is.
    pub(crate) fn print(
        &self,
        format: FormatArgs,
        terminal: Terminal,
        out: &mut impl Write,
    ) -> Result<(), CliError> {
        let style = TextStyle { width: terminal.width, colour: terminal.colour };
        let shown = match self {
            _ if format.json() => self.json()?,
            _ if format.csv() => self.csv(),
            Self::One { comparison, .. } => text(comparison, &style),
            Self::Both { both, .. } => sides_text(both, &style),
        };
        out.write_all(shown.as_bytes())?;
        let (Self::One { said, .. } | Self::Both { said, .. }) = self;
        for line in said.iter().filter(|_| !format.for_machines()) {
            writeln!(out, "{line}")?;
        }
        format.say_where("report", &self.page(), out)
    }
}

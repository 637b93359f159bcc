//! Results of one comparison, on one backend or on several.

use std::io::Write;
use std::path::PathBuf;

use rampcc_lab::report::{
    TextStyle, csv, html, json, json_value, runs_csv, sides_csv, sides_json, sides_json_value, sides_text,
    text,
};
use rampcc_lab::{Comparison, SideBySide, SidesWords};

use crate::error::{ExperimentError, Result};
use crate::neighbours::NEAREST_LOSS;
use crate::place::REPORT;
use crate::sides::{SidesPlan, beside, write_sides};
use crate::store::{Store, write_whole};

/// A comparison, written to its directory.
pub enum Results {
    /// On one backend.
    One {
        /// Files.
        files: Store,
        /// Findings.
        comparison: Box<Comparison>,
        /// Lines after the table.
        said: Vec<String>,
    },
    /// On several.
    Several {
        /// Files of all together.
        files: Store,
        /// Findings.
        together: Box<SideBySide>,
        /// Each alone.
        sides: Vec<Comparison>,
        /// Lines after the table.
        said: Vec<String>,
    },
}

impl Results {
    /// Of as many backends as were played; `sides`: where several stand together.
    pub(crate) fn of<'a>(
        mut found: Vec<(Store, Comparison)>,
        sides: impl FnOnce() -> Result<Option<(Store, &'a SidesPlan)>>,
    ) -> Result<Self> {
        if found.len() == 1 {
            let (store, comparison) = found.remove(0);
            return Self::one(store, comparison);
        }
        match sides()? {
            Some((files, plan)) => Self::several(files, plan, found),
            None => unreachable!("several backends have a place where they meet, and a set has at least one"),
        }
    }

    /// On one backend.
    fn one(files: Store, comparison: Comparison) -> Result<Self> {
        write_outputs(&files, &comparison)?;
        Ok(Self::One { files, comparison: Box::new(comparison), said: Vec::new() })
    }

    /// On several, each with its own directory.
    fn several(files: Store, plan: &SidesPlan, sides: Vec<(Store, Comparison)>) -> Result<Self> {
        for (store, comparison) in &sides {
            write_outputs(store, comparison)?;
        }
        let sides: Vec<Comparison> = sides.into_iter().map(|(_, comparison)| comparison).collect();
        let together = beside(plan, &sides);
        write_sides(&files, plan, &together, &sides)?;
        Ok(Self::Several { files, together: Box::new(together), sides, said: Vec::new() })
    }

    /// The same with lines for people after the table.
    pub(crate) fn beside(mut self, lines: Vec<String>) -> Self {
        let (Self::One { said, .. } | Self::Several { said, .. }) = &mut self;
        *said = lines;
        self
    }

    /// Path of the page.
    pub fn page(&self) -> PathBuf {
        match self {
            Self::One { files, .. } | Self::Several { files, .. } => files.path(REPORT),
        }
    }

    /// Findings on each backend.
    pub fn comparisons(&self) -> &[Comparison] {
        match self {
            Self::One { comparison, .. } => std::slice::from_ref(comparison),
            Self::Several { sides, .. } => sides.as_slice(),
        }
    }

    /// As JSON.
    pub fn json(&self) -> Result<String> {
        Ok(match self {
            Self::One { comparison, .. } => json(comparison)?,
            Self::Several { together, sides, .. } => sides_json(together, &SidesWords::of(together, sides))?,
        })
    }

    /// As [`Results::json`] writes it, for a part of a larger document.
    pub(crate) fn json_value(&self) -> Result<serde_json::Value> {
        Ok(match self {
            Self::One { comparison, .. } => json_value(comparison)?,
            Self::Several { together, sides, .. } => {
                sides_json_value(together, &SidesWords::of(together, sides))?
            }
        })
    }

    /// As CSV.
    pub fn csv(&self) -> String {
        match self {
            Self::One { comparison, .. } => csv(comparison),
            Self::Several { together, .. } => sides_csv(together),
        }
    }

    /// As text for a terminal.
    pub fn text(&self, style: &TextStyle) -> String {
        match self {
            Self::One { comparison, .. } => text(comparison, style),
            Self::Several { together, sides, .. } => {
                sides_text(together, &SidesWords::of(together, sides), style)
            }
        }
    }

    /// What is said after the table, a line each.
    pub fn said(&self) -> &[String] {
        let (Self::One { said, .. } | Self::Several { said, .. }) = self;
        said
    }
}

/// Write everything that a comparison leaves in its directory.
fn write_outputs(store: &Store, comparison: &Comparison) -> Result {
    let files = [
        ("comparison.json", json(comparison)?),
        ("comparison.csv", csv(comparison)),
        ("runs.csv", runs_csv(comparison)),
        (REPORT, html::render(comparison)),
    ];
    for (name, text) in files {
        write_whole(&store.path(name), |file| file.write_all(text.as_bytes()))?;
    }
    let place = store.path(NEAREST_LOSS);
    let loss = comparison.carries.as_ref().and_then(|carries| carries.nearest_loss.as_ref());
    match loss.and_then(|loss| loss.scenario.as_ref()) {
        Some(text) => write_whole(&place, |file| file.write_all(text.as_bytes()))?,
        // Of an earlier call.
        None if place.is_file() => {
            std::fs::remove_file(&place).map_err(ExperimentError::file("remove", &place))?;
        }
        None => {}
    }
    Ok(())
}

//! `ramp report`: judge the runs of a results directory again; and the output of every comparison.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use rampcc_experiment::{Found, Results, judge_again};
use rampcc_lab::report::TextStyle;

use crate::backends::{self, On};
use crate::error::Result;
use crate::progress::Said;
use crate::terminal::Terminal;

/// Form of a comparison's output.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct FormatArgs {
    /// Print the comparison as JSON instead of a table
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print every metric of every algorithm as CSV instead of a table
    #[arg(long)]
    csv: bool,
}

/// Judge and report again from stored results
///
/// Plays nothing. Useful after an interruption, and for results from another machine.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ramp report ramp-results/geo-satellite-1a2b3c4d
  ramp report DIR --csv > comparison.csv")]
pub(crate) struct ReportArgs {
    /// A results directory of `ramp compare`
    directory: PathBuf,
    /// Backend whose results to judge, where the directory has those of two
    #[arg(long, value_parser = backends::by_name_or_programs(), value_name = "BACKEND")]
    on: Option<On>,
    #[command(flatten)]
    format: FormatArgs,
}

/// Run the command.
pub(crate) fn report(args: &ReportArgs, terminal: Terminal, out: &mut impl Write) -> Result {
    let on = args.on.map(|on| on.0.name());
    show(&judge_again(&args.directory, on, &Said)?, args.format, terminal, out)
}

/// As the command line wants it, with where the pages are.
pub(crate) fn show(found: &Found, format: FormatArgs, terminal: Terminal, out: &mut impl Write) -> Result {
    let swept = match found {
        Found::Comparisons(all) => {
            return all.iter().try_for_each(|results| format.print(results, terminal, out));
        }
        Found::Sweep(swept) => swept,
    };
    if format.json() {
        out.write_all(swept.json().as_bytes())?;
    } else if format.csv() {
        out.write_all(swept.csv().as_bytes())?;
    } else {
        for (label, results) in swept.points() {
            writeln!(out, "{}", terminal.bold(label))?;
            format.print(results, terminal, out)?;
        }
    }
    swept.pages().iter().try_for_each(|page| format.say_where("overview", page, out))
}

impl FormatArgs {
    pub(crate) fn json(self) -> bool {
        self.json
    }

    pub(crate) fn csv(self) -> bool {
        self.csv
    }

    /// Whether standard output is for a program.
    fn for_machines(self) -> bool {
        self.json || self.csv
    }

    fn print(self, results: &Results, terminal: Terminal, out: &mut impl Write) -> Result {
        let style = TextStyle { width: terminal.width, colour: terminal.colour };
        let shown = match self {
            _ if self.json() => results.json()?,
            _ if self.csv() => results.csv(),
            _ => results.text(&style),
        };
        out.write_all(shown.as_bytes())?;
        for line in results.said().iter().filter(|_| !self.for_machines()) {
            writeln!(out, "{line}")?;
        }
        self.say_where("report", &results.page(), out)
    }

    /// Says where a page is: after the table, or on standard error when the output is for a machine.
    fn say_where(self, what: &str, page: &Path, out: &mut impl Write) -> Result {
        if self.for_machines() {
            say!("{what}: {}", page.display());
        } else {
            writeln!(out, "{what}: {}", page.display())?;
        }
        Ok(())
    }
}

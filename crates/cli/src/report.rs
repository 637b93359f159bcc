//! `ramp report`: judge the runs of a results directory again, and what every comparison writes.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use ramp_lab::report::{TextStyle, csv, html, json, runs_csv, text};
use ramp_lab::{Comparison, Context, JudgeOptions, RunKey, RunRecord, judge};
use ramp_trace::Provenance;
use serde::{Deserialize, Serialize};

use crate::backend::Backend;
use crate::error::CliError;
use crate::sides::{SIDES_PLAN, SidesPlan, beside, print_sides, write_sides};
use crate::store::{Store, write_whole};
use crate::terminal::Terminal;

/// What a results directory is about: written before the first run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// How to make it again.
    pub(crate) provenance: Provenance,
    /// The path.
    pub(crate) context: Context,
    /// In order.
    pub(crate) rows: Vec<PlannedRow>,
    /// Seeds of every row.
    pub(crate) seeds: Vec<u64>,
}

/// A row of a plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PlannedRow {
    /// As tables call it.
    pub(crate) label: String,
    /// What steers the flows under test in full: the runs are found by it.
    pub(crate) steering: String,
    /// Whether it knows the path.
    pub(crate) yardstick: bool,
}

/// How a comparison is shown.
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
/// Nothing is played. Useful after an interruption, and for results from another machine.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ramp report ramp-results/geo-satellite-1a2b3c4d
  ramp report DIR --csv > comparison.csv")]
pub(crate) struct ReportArgs {
    /// A results directory of `ramp compare`
    directory: PathBuf,
    /// Of results of two backends, those of one
    #[arg(long, value_enum, value_name = "BACKEND")]
    on: Option<Backend>,
    #[command(flatten)]
    format: FormatArgs,
}

/// Run the command.
pub(crate) fn report(args: &ReportArgs, terminal: Terminal, out: &mut impl Write) -> Result<(), CliError> {
    if args.directory.join(SIDES_PLAN).is_file() {
        return sides(args, terminal, out);
    }
    if args.on.is_some() {
        return Err(CliError::input_help(
            format!("`{}` holds the results of one backend", args.directory.display()),
            "leave --on out",
        ));
    }
    let (store, comparison) = judged(&args.directory)?;
    write_outputs(&store, &comparison)?;
    args.format.print(&comparison, terminal, out)?;
    args.format.say_where(&store, out)
}

/// Both backends, or the one that was asked for.
fn sides(args: &ReportArgs, terminal: Terminal, out: &mut impl Write) -> Result<(), CliError> {
    let files = Store::bare(&args.directory)?;
    let plan: SidesPlan = files.read_json(SIDES_PLAN)?;
    let mut results = Vec::new();
    for (name, place) in &plan.sides {
        if args.on.is_none_or(|on| on.to_string() == *name) {
            let (store, comparison) = judged(&args.directory.join(place))?;
            write_outputs(&store, &comparison)?;
            results.push((store, comparison));
        }
    }
    match results.as_slice() {
        [(_, first), (_, second)] => {
            let both = beside(&plan, [first, second]);
            write_sides(&files, &plan, &both)?;
            print_sides(args.format, &files, &both, terminal, out)
        }
        [(store, only)] => {
            args.format.print(only, terminal, out)?;
            args.format.say_where(store, out)
        }
        _ => Err(CliError::input(format!("`{}` has no such results", args.directory.display()))),
    }
}

/// The runs of a results directory.
fn judged(directory: &Path) -> Result<(Store, Comparison), CliError> {
    let store = Store::open(directory)?;
    let plan: Plan = store.read_json(PLAN)?;
    let records = plan.finished(&store);
    let planned = plan.rows.len() * plan.seeds.len();
    let real = records.iter().filter(|r| r.extra_startup_rounds == 0).count();
    if real == 0 {
        return Err(CliError::input_help(
            format!("`{}` has no finished run", directory.display()),
            format!("play them: {}", plan.provenance.command),
        ));
    }
    if real < planned {
        eprintln!("{real} of {planned} runs are finished; to play the rest: {}", plan.provenance.command);
    }
    let comparison = plan.judge(&records);
    Ok((store, comparison))
}

/// Name of the plan's file.
pub(crate) const PLAN: &str = "plan.json";
const REPORT: &str = "report.html";

impl Plan {
    /// The key of one run.
    fn key(&self, row: &PlannedRow, seed: u64, extra_startup_rounds: u32) -> RunKey {
        RunKey {
            scenario_hash: self.provenance.scenario_hash.clone(),
            steering: row.steering.clone(),
            seed,
            version: self.provenance.version.clone(),
            backend: self.provenance.backend.clone(),
            extra_startup_rounds,
        }
    }

    /// Whatever runs of this plan a directory has, what-if runs last.
    fn finished(&self, store: &Store) -> Vec<RunRecord> {
        let runs = |later| {
            let of = move |row| self.seeds.iter().map(move |seed| (row, *seed));
            let all = self.rows.iter().flat_map(of);
            all.filter_map(move |(row, seed)| store.load(&self.key(row, seed, later), &row.label))
        };
        runs(0).chain(runs(1)).collect()
    }

    /// Judge runs of this plan.
    pub(crate) fn judge(&self, records: &[RunRecord]) -> Comparison {
        let mut options = JudgeOptions::new(self.provenance.clone(), self.context.clone());
        options.arms = self.rows.iter().map(|row| row.label.clone()).collect();
        let yardsticks = self.rows.iter().filter(|row| row.yardstick);
        options.yardsticks = yardsticks.map(|row| row.label.clone()).collect();
        judge(records, &options)
    }
}

/// Write everything that a comparison leaves in its directory.
pub(crate) fn write_outputs(store: &Store, comparison: &Comparison) -> Result<(), CliError> {
    let files = [
        ("comparison.json", to_json(comparison)?),
        ("comparison.csv", csv(comparison)),
        ("runs.csv", runs_csv(comparison)),
        (REPORT, html::render(comparison)),
    ];
    for (name, text) in files {
        write_whole(&store.path(name), |file| file.write_all(text.as_bytes()))?;
    }
    Ok(())
}

fn to_json(comparison: &Comparison) -> Result<String, CliError> {
    Ok(json(comparison).map_err(io::Error::from)?)
}

impl FormatArgs {
    /// Whether it is JSON.
    pub(crate) fn json(self) -> bool {
        self.json
    }

    /// Whether it is CSV.
    pub(crate) fn csv(self) -> bool {
        self.csv
    }

    /// Whether standard output is for a program.
    pub(crate) fn for_machines(self) -> bool {
        self.json || self.csv
    }

    /// Print a comparison.
    pub(crate) fn print(
        self,
        comparison: &Comparison,
        terminal: Terminal,
        out: &mut impl Write,
    ) -> Result<(), CliError> {
        let shown = if self.json {
            to_json(comparison)?
        } else if self.csv {
            csv(comparison)
        } else {
            text(comparison, &TextStyle { width: terminal.width, colour: terminal.colour })
        };
        Ok(out.write_all(shown.as_bytes())?)
    }

    /// Say where the report is: after the table, or beside a machine's output.
    pub(crate) fn say_where(self, store: &Store, out: &mut impl Write) -> Result<(), CliError> {
        let place = store.path(REPORT);
        if self.for_machines() {
            eprintln!("report: {}", place.display());
        } else {
            writeln!(out, "report: {}", place.display())?;
        }
        Ok(())
    }
}

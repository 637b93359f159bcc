//! `ramp report`: judge the runs of a results directory again, and what every comparison writes.

use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use clap::Args;
use ramp_lab::report::{TextStyle, csv, html, json, runs_csv, text};
use ramp_lab::{Comparison, Context, JudgeOptions, RunRecord, judge};
use ramp_trace::Provenance;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::backend::Backend;
use crate::error::CliError;
use crate::neighbours::{self, NEAREST_LOSS};
use crate::place::{PLAN, SIDES_PLAN};
use crate::play::lean;
use crate::sides::{SidesPlan, beside, print_sides, write_sides};
use crate::store::{Store, write_whole};
use crate::terminal::Terminal;

/// What a results directory is about: written before the first run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// Of the comparison, see [`place`](crate::place).
    pub(crate) identity: String,
    /// How to make it again.
    pub(crate) provenance: Provenance,
    /// The command as typed, with where its results go.
    pub(crate) typed: String,
    /// The path.
    pub(crate) context: Context,
    /// In order.
    pub(crate) rows: Vec<PlannedRow>,
    /// Seed of the first run of every row; the next ones count up.
    pub(crate) first_seed: u64,
    /// Runs of every row.
    pub(crate) runs: u64,
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
            print_sides(args.format, &both, terminal, out)?;
            args.format.say_where(&files, out)
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
    let planned = plan.rows.len() as u64 * plan.runs;
    let real = records.iter().filter(|r| r.extra_startup_rounds == 0).count() as u64;
    if real == 0 {
        return Err(CliError::input_help(
            format!("`{}` has no finished run", directory.display()),
            format!("play them: {}", plan.typed),
        ));
    }
    if real < planned {
        say!("{real} of {planned} runs are finished; to play the rest: {}", plan.typed);
    }
    let comparison = neighbours::judged(&store, plan.judge(&records))?;
    Ok((store, comparison))
}

const REPORT: &str = "report.html";

impl Plan {
    /// Seeds of every row.
    pub(crate) fn seeds(&self) -> RangeInclusive<u64> {
        self.first_seed..=self.first_seed.saturating_add(self.runs.saturating_sub(1))
    }

    /// The number of the first row that is steered as this one is: it is played, and this one is the same.
    pub(crate) fn played_as(&self, row: usize) -> usize {
        let same = |other: &PlannedRow| other.steering == self.rows[row].steering;
        self.rows.iter().position(same).unwrap_or(row)
    }

    /// The numbers of the rows that are played.
    pub(crate) fn played_rows(&self) -> Vec<usize> {
        (0..self.rows.len()).filter(|row| self.played_as(*row) == *row).collect()
    }

    /// For every row its own records, of those of the rows that are played.
    pub(crate) fn shared(&self, records: Vec<RunRecord>) -> Vec<RunRecord> {
        let mut all = records;
        for (index, row) in self.rows.iter().enumerate() {
            let played = &self.rows[self.played_as(index)].label;
            if *played != row.label {
                let own: Vec<_> = all.iter().filter(|r| r.provenance.arm == *played).cloned().collect();
                all.extend(own.into_iter().map(|mut record| {
                    row.label.clone_into(&mut record.provenance.arm);
                    record
                }));
            }
        }
        all
    }

    /// Whatever runs of this plan a directory has, in the order of playing.
    fn finished(&self, store: &Store) -> Vec<RunRecord> {
        let seeds = self.seeds();
        let numbered = |mut record: RunRecord| {
            let key = record.key();
            let row = self.rows.iter().position(|row| row.steering == key.steering)?;
            let asked = seeds.contains(&key.seed) && key.extra_startup_rounds <= 1;
            let same = key.scenario_hash == self.provenance.scenario_hash
                && key.version == self.provenance.version
                && key.backend == self.provenance.backend;
            self.rows[row].label.clone_into(&mut record.provenance.arm);
            (asked && same).then_some(((key.extra_startup_rounds, key.seed, row), lean(record)))
        };
        let mut found: Vec<_> = store.all_runs().filter_map(numbered).collect();
        found.sort_by_key(|(number, _)| *number);
        self.shared(found.into_iter().map(|(_, record)| record).collect())
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
    let place = store.path(NEAREST_LOSS);
    let loss = comparison.carries.as_ref().and_then(|carries| carries.nearest_loss.as_ref());
    match loss.and_then(|loss| loss.scenario.as_ref()) {
        Some(text) => write_whole(&place, |file| file.write_all(text.as_bytes()))?,
        // Of an earlier call.
        None if place.is_file() => std::fs::remove_file(&place).map_err(CliError::file("remove", &place))?,
        None => {}
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
            say!("report: {}", place.display());
        } else {
            writeln!(out, "report: {}", place.display())?;
        }
        Ok(())
    }
}

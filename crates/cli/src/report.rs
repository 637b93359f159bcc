//! `ramp report`: judge the runs of a results directory again, and what every comparison writes.

use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use clap::Args;
use ramp_lab::report::{csv, html, json, runs_csv};
use ramp_lab::{Comparison, Context, JudgeOptions, RunRecord, judge};
use ramp_trace::Provenance;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::backend::Backend;
use crate::error::CliError;
use crate::neighbours::{self, NEAREST_LOSS};
use crate::place::{PLAN, SIDES_PLAN, SWEEP_PLAN};
use crate::play::lean;
use crate::results::Results;
use crate::sides::SidesPlan;
use crate::store::{Store, write_whole};
use crate::sweep::{self, SweepPlan};
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
    /// What it plays with that is not in its algorithm's table.
    pub(crate) departures: Option<String>,
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
    let directory = &args.directory;
    if directory.join(SWEEP_PLAN).is_file() {
        return swept(args, terminal, out);
    }
    if args.on.is_some() && !directory.join(SIDES_PLAN).is_file() {
        return Err(CliError::input_help(
            format!("`{}` holds the results of one backend", directory.display()),
            "leave --on out",
        ));
    }
    found(directory, args.on)?.print(args.format, terminal, out)
}

/// The comparisons of a sweep that have results.
fn swept(args: &ReportArgs, terminal: Terminal, out: &mut impl Write) -> Result<(), CliError> {
    let files = Store::bare(&args.directory)?;
    let plan: SweepPlan = files.read_json(SWEEP_PLAN)?;
    let mut results = Vec::new();
    let mut missing = None;
    for (number, point) in plan.points.iter().enumerate() {
        match found(&args.directory.join(&point.place), args.on) {
            Ok(found) => results.push((number, found)),
            Err(error) => {
                say!("without {}: {error}", point.label);
                missing = Some(error);
            }
        }
    }
    match missing {
        Some(error) if results.is_empty() => Err(error),
        _ => sweep::show((&files, &plan), &results, (args.format, terminal), out),
    }
}

/// What a results directory holds, of both backends or of the one that is asked for.
fn found(directory: &Path, on: Option<Backend>) -> Result<Results, CliError> {
    if !directory.join(SIDES_PLAN).is_file() {
        let (found, departures) = judged(directory)?;
        return Ok(Results::one(found.0, found.1)?.beside(departures));
    }
    let files = Store::bare(directory)?;
    let plan: SidesPlan = files.read_json(SIDES_PLAN)?;
    let mut sides = Vec::new();
    let mut departures = None;
    for (name, place) in &plan.sides {
        if on.is_none_or(|on| on.to_string() == *name) {
            let (found, told) = judged(&directory.join(place))?;
            departures.get_or_insert(told);
            sides.push(found);
        }
    }
    let results = match <[_; 2]>::try_from(sides) {
        Ok(both) => Results::both(files, &plan, both),
        Err(mut one) => match one.pop() {
            Some((store, comparison)) => Results::one(store, comparison),
            None => Err(CliError::input(format!("`{}` has no such results", directory.display()))),
        },
    };
    Ok(results?.beside(departures.unwrap_or_default()))
}

/// The runs of a results directory, and what rows play with that is not in their algorithms' tables.
fn judged(directory: &Path) -> Result<((Store, Comparison), Vec<String>), CliError> {
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
    Ok(((store, comparison), plan.departures()))
}

/// Name of the page.
pub(crate) const REPORT: &str = "report.html";

impl Plan {
    /// Seeds of every row.
    pub(crate) fn seeds(&self) -> RangeInclusive<u64> {
        self.first_seed..=self.first_seed.saturating_add(self.runs.saturating_sub(1))
    }

    /// What rows play with that is not in their algorithms' tables, a line each.
    pub(crate) fn departures(&self) -> Vec<String> {
        self.rows.iter().filter_map(|row| row.departures.clone()).collect()
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
        options.about = self.rows.iter().map(|row| (row.label.clone(), about(&row.steering))).collect();
        let yardsticks = self.rows.iter().filter(|row| row.yardstick);
        options.yardsticks = yardsticks.map(|row| row.label.clone()).collect();
        judge(records, &options)
    }
}

/// What a row is, from what steers it in full: the algorithm's idea, and the parameters that are not as usual.
fn about(steering: &str) -> String {
    let mut words = steering.split(' ');
    let name = words.next().unwrap_or_default();
    let Some(algorithm) = ramp::algorithm(name) else {
        return format!("The kernel's own {}.", words.next().unwrap_or(name));
    };
    let unusual = |word: &&str| {
        word.split_once('=').is_some_and(|(name, value)| {
            let known = algorithm.parameters.iter().find(|parameter| parameter.name == name);
            known.is_none_or(|parameter| parameter.default.to_string() != value)
        })
    };
    let settings: Vec<&str> = words.filter(unusual).collect();
    let idea = algorithm.idea.trim_end_matches('.');
    let settings =
        if settings.is_empty() { String::new() } else { format!(" With {}.", settings.join(", ")) };
    format!("{}: {idea}.{settings}", algorithm.name)
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

    /// Say where a page is: after the table, or beside a machine's output.
    pub(crate) fn say_where(self, what: &str, page: &Path, out: &mut impl Write) -> Result<(), CliError> {
        if self.for_machines() {
            say!("{what}: {}", page.display());
        } else {
            writeln!(out, "{what}: {}", page.display())?;
        }
        Ok(())
    }
}

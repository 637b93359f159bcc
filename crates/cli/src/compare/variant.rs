//! One comparison of a command line, played and judged.

use std::path::PathBuf;

use indicatif::ProgressBar;
use ramp_lab::{Comparison, Context};
use ramp_scenario::Scenario;
use ramp_trace::Provenance;

use super::CompareArgs;
use crate::backend::Backend;
use crate::error::CliError;
use crate::neighbours::{self, Neighbours};
use crate::place;
use crate::play::{PlayOptions, Played, Run, context, digest, play_all};
use crate::provenance::{self, VERSION};
use crate::report::{Plan, PlannedRow};
use crate::rows::Row;
use crate::store::Store;

/// Comparisons of at most this many runs keep the curves of all: about as many are drawn.
const FEW_RUNS: u64 = 4;

/// One comparison: a scenario, what plays it, its rows, its seeds and its place.
pub(super) struct Variant {
    pub(super) backend: Backend,
    pub(super) scenario: Scenario,
    rows: Vec<Row>,
    neighbours: Option<Neighbours>,
    pub(super) plan: Plan,
    pub(super) directory: PathBuf,
}

impl Variant {
    pub(super) fn new(
        args: &CompareArgs,
        backend: Backend,
        scenario: Scenario,
        rows: Vec<Row>,
    ) -> Result<Self, CliError> {
        let first = args.seed.unwrap_or(scenario.seed);
        // Real time always leaves something to chance; virtual time only what the scenario does.
        let chance = backend == Backend::Linux || scenario.has_chance();
        let asked = args.runs.unwrap_or(backend.default_runs(scenario.runs)).max(1);
        let count = if chance { u64::from(asked) } else { 1 };
        if first.checked_add(count - 1).is_none() {
            return Err(CliError::input(format!(
                "--seed {first} and --runs {count} go beyond the largest seed, {}",
                u64::MAX
            )));
        }
        let digest = digest(&scenario);
        let provenance = Provenance {
            version: VERSION.to_owned(),
            command: provenance::command(),
            backend: backend.identity(),
            scenario: scenario.name.clone(),
            scenario_hash: digest.clone(),
            scenario_text: scenario.text.clone(),
            arm: String::new(),
            seed: first,
        };
        let rows_planned: Vec<PlannedRow> = rows.iter().map(|row| planned(row, &scenario)).collect();
        let on = backend.to_string();
        let swept = args.sweep.iter().any(|text| !text.trim_start().starts_with("algorithm."));
        let neighbours = args.neighbours.draw(&scenario, &rows, (first, swept))?;
        let around = neighbours.iter().flat_map(Neighbours::identity);
        let steered = rows_planned.iter().flat_map(|row| [row.label.as_str(), &row.steering]);
        let plan = Plan {
            identity: place::identity([digest.as_str(), &on].into_iter().chain(steered).chain(around)),
            typed: provenance::typed(),
            provenance,
            context: Context { chance, ..context(&scenario) },
            rows: rows_planned,
            first_seed: first,
            runs: count,
        };
        Ok(Self { backend, scenario, rows, neighbours, plan, directory: PathBuf::new() })
    }

    /// Its results, and where else some of its runs may lie.
    pub(super) fn store(&self, args: &CompareArgs) -> Result<Store, CliError> {
        let store = Store::create(&self.directory)?;
        if args.no_cache {
            return Ok(store);
        }
        let hash = &self.plan.provenance.scenario_hash;
        Ok(store.with_relatives(place::relatives(&self.directory, args.out.as_deref(), hash)))
    }

    /// How many are played.
    pub(super) fn runs(&self) -> usize {
        self.runs_here() + self.neighbours.as_ref().map_or(0, Neighbours::runs)
    }

    /// How many of them on the described path.
    pub(super) fn runs_here(&self) -> usize {
        self.plan.played_rows().len() * usize::try_from(self.plan.runs).unwrap_or(usize::MAX)
    }

    /// One run of every row that the simulator knows on every neighbouring path, unless Ctrl-C has come.
    pub(super) fn look_around(
        &self,
        args: &CompareArgs,
        comparison: Option<Comparison>,
        store: &Store,
        options: &PlayOptions<'_>,
    ) -> Result<(Option<Comparison>, Played), CliError> {
        let Some(neighbours) = &self.neighbours else {
            neighbours::forget(&self.directory);
            return Ok((comparison, Played::default()));
        };
        let Some(comparison) = comparison else { return Ok((None, Played::default())) };
        let hash = &self.plan.provenance.scenario_hash;
        let relatives = if args.no_cache {
            Vec::new()
        } else {
            place::relatives(&self.directory, args.out.as_deref(), hash)
        };
        neighbours.play(comparison, (store, relatives), options)
    }

    /// All real runs; then for each row those of the seeds that are drawn, with curves, and the first of them once more
    /// leaving start-up a round later. No comparison: Ctrl-C came before the last of them.
    pub(super) fn play(
        &self,
        store: &Store,
        options: &PlayOptions<'_>,
    ) -> Result<(Option<Comparison>, Played), CliError> {
        let real_time = self.backend == Backend::Linux;
        // A run in real time is not played twice, and few runs are all drawn: they keep their curves at once.
        let curves = real_time || self.plan.runs <= FEW_RUNS;
        let run = |index: usize, seed| Run {
            scenario: &self.scenario,
            digest: &self.plan.provenance.scenario_hash,
            row: &self.rows[index],
            steering: &self.plan.rows[index].steering,
            backend: self.backend,
            seed,
            extra_startup_rounds: 0,
            curves,
        };
        let rows = self.plan.played_rows();
        let of_seed = |seed| rows.iter().map(move |row| run(*row, seed));
        let (real, played) = play_all(self.plan.seeds().flat_map(of_seed), store, options)?;
        if played.finished() + played.refused.len() < self.runs_here() {
            return Ok((None, played));
        }
        let mut records = self.plan.shared(real);
        let comparison = self.plan.judge(&records);
        if real_time {
            return Ok((Some(comparison), played));
        }
        let closer = rows.iter().flat_map(|&row| {
            let arm = comparison.arm(&self.rows[row].label);
            let drawn = arm.map_or(&[][..], |arm| &arm.drawn);
            let later = drawn.first().filter(|drawn| drawn.exit.is_some());
            let later =
                later.map(|drawn| Run { extra_startup_rounds: 1, curves: false, ..run(row, drawn.seed) });
            drawn.iter().map(move |drawn| Run { curves: true, ..run(row, drawn.seed) }).chain(later)
        });
        let closer: Vec<Run<'_>> = closer.collect();
        let count = closer.len();
        let hidden = ProgressBar::hidden();
        let (later, more) = play_all(closer.into_iter(), store, &PlayOptions { bar: &hidden, ..*options })?;
        if more.finished() < count {
            return Ok((None, played));
        }
        records.extend(self.plan.shared(later));
        Ok((Some(self.plan.judge(&records)), played))
    }
}

fn planned(row: &Row, scenario: &Scenario) -> PlannedRow {
    PlannedRow {
        label: row.label.clone(),
        steering: row.steering(scenario),
        yardstick: row.yardstick(),
        departures: row.departures(scenario),
    }
}

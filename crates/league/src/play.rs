//! Every algorithm on every path: found again, or played on all cores.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rampcc_backend::{Backend, BackendError};
use rampcc_experiment::{Ahead, ExperimentError, Progress, Row, Run, VERSION, check, context, digest};
use rampcc_lab::{Context, RunKey};
use rampcc_scenario::Scenario;
use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::features::Features;
use crate::log::{Log, hexadecimal};
use crate::outcome::{Beside, Outcome};
use crate::pairs::{self, Together};
use crate::population::{Path, Population};
use crate::yardstick::at_least_s;

/// Sizes unless somebody asks for others, bytes: one run serves them all.
pub const SIZES: [u64; 4] = [100_000, 1_000_000, 10_000_000, 100_000_000];
/// Finished runs of a results directory.
const RUNS: &str = "runs.jsonl";
const PAIRS: &str = "pairs.jsonl";

/// What to play.
#[derive(Debug)]
pub struct Request<'a> {
    /// On which paths.
    pub population: Population,
    /// Who. Yardsticks and slow start are added where they are missing.
    pub entrants: Vec<Entrant>,
    /// Sizes of downloads, ascending.
    pub sizes: Vec<u64>,
    /// Runs of each algorithm on each path that has anything random.
    pub seeds: u32,
    /// Who plays.
    pub backend: &'a dyn Backend,
    /// Results directory.
    pub out: PathBuf,
    /// True to take results that are there.
    pub reuse: bool,
    /// True to play two at a time as well.
    pub pairs: bool,
}

/// An algorithm in the league.
#[derive(Clone, Debug)]
pub struct Entrant {
    /// The algorithm.
    pub row: Row,
    /// Digest of its source, if it is not ramp's own.
    pub code: Option<String>,
}

impl From<Row> for Entrant {
    fn from(row: Row) -> Self {
        Self { row, code: None }
    }
}

/// Everything that was played.
#[derive(Clone, Debug)]
pub struct League {
    /// Of the population.
    pub name: String,
    /// Sizes, ascending.
    pub sizes: Vec<u64>,
    /// The algorithms.
    pub rows: Vec<PlayedRow>,
    /// The paths.
    pub paths: Vec<PlayedPath>,
    /// By row: two that begin together.
    pub together: Vec<Vec<Together>>,
    /// Number of runs, and how many of them were found.
    pub runs: (usize, usize),
}

/// An algorithm.
#[derive(Clone, Debug, Serialize)]
pub struct PlayedRow {
    /// As tables call it.
    pub label: String,
    /// True if it knows the path.
    pub yardstick: bool,
    /// True if it is not in the registry.
    pub candidate: bool,
}

/// A path with its results.
#[derive(Clone, Debug)]
pub struct PlayedPath {
    /// Its name.
    pub name: String,
    /// Its access type.
    pub access: String,
    /// What it is like.
    pub features: Features,
    /// The sizes that fit into its file: so many of the league's.
    pub sizes: usize,
    /// Base round-trip time, seconds.
    pub rtt_s: f64,
    /// Payload of the initial window.
    pub initial_bytes: u64,
    /// By seed and size: seconds that a download takes at least, 1.5 RTT + size over what the path has left.
    pub at_least_s: Vec<Vec<f64>>,
    /// By row and seed.
    pub outcomes: Vec<Vec<Outcome>>,
}

struct Prepared<'a> {
    path: &'a Path,
    digest: String,
    sizes: Vec<u64>,
    seeds: Vec<u64>,
    context: Context,
}

impl Request<'_> {
    /// Plays what is missing.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Interrupted`] where `interrupted` was raised before the last run: what is finished is kept.
    pub fn play(&self, progress: &dyn Progress, interrupted: &AtomicBool) -> Result<League, ExperimentError> {
        let paths = self.prepared()?;
        let rows: Vec<Row> = self.entrants.iter().map(|entrant| entrant.row.clone()).collect();
        for path in &paths {
            check(self.backend, &path.path.scenario, &rows)?;
        }
        let log: Log<Outcome> = Log::open(&self.out, RUNS)?;
        let mut tasks = Vec::new();
        for (index, path) in paths.iter().enumerate() {
            for row in 0..self.entrants.len() {
                tasks.extend(path.seeds.iter().map(|seed| (index, row, *seed)));
            }
        }
        let pair_runs = if self.pairs { pairs::count(self.entrants.len()) } else { 0 };
        let runs = tasks.len() + pair_runs;
        progress.on_backend(&Ahead {
            backend: self.backend,
            runs,
            runs_here: runs,
            longest: paths.iter().map(|p| p.path.scenario.stop.after).max().unwrap_or_default(),
        });
        let finished = AtomicUsize::new(0);
        let found = AtomicUsize::new(0);
        let stopped = || ExperimentError::Interrupted {
            finished: finished.load(Ordering::Relaxed),
            runs,
            place: self.out.clone(),
        };
        // One by one: their lengths differ by a factor of a thousand.
        let outcomes: Result<Vec<Outcome>, ExperimentError> = tasks
            .par_iter()
            .with_max_len(1)
            .map(|(path, row, seed)| {
                let (path, entrant) = (&paths[*path], &self.entrants[*row]);
                let outcome = self.one(path, entrant, *seed, (&log, &found), (progress, interrupted))?;
                finished.fetch_add(1, Ordering::Relaxed);
                outcome.ok_or_else(stopped)
            })
            .collect();
        let outcomes = outcomes.map_err(|error| match error {
            ExperimentError::Interrupted { .. } => stopped(),
            other => other,
        });
        let together = if self.pairs && outcomes.is_ok() {
            let log: Log<Together> = Log::open(&self.out, PAIRS)?;
            pairs::play(self, &log, (&finished, &found), (progress, interrupted)).transpose()
        } else {
            Some(Ok(Vec::new()))
        };
        progress.on_end();
        let outcomes = outcomes?;
        let together = together.unwrap_or_else(|| Err(stopped()))?;
        let mut outcomes = outcomes.into_iter();
        let played = paths.iter().map(|path| PlayedPath {
            name: path.path.name.clone(),
            access: path.path.access.clone(),
            features: Features::of(&path.path.scenario),
            sizes: path.sizes.len(),
            rtt_s: path.context.base_rtt_s,
            initial_bytes: initial_bytes(&path.path.scenario),
            at_least_s: path.seeds.iter().map(|seed| bounds(path, *seed)).collect(),
            outcomes: (self.entrants.iter())
                .map(|_| outcomes.by_ref().take(path.seeds.len()).collect())
                .collect(),
        });
        let row = |entrant: &Entrant| PlayedRow {
            label: entrant.row.label.clone(),
            yardstick: entrant.row.yardstick(),
            candidate: entrant.code.is_some(),
        };
        Ok(League {
            name: self.population.name.clone(),
            sizes: self.sizes.clone(),
            rows: self.entrants.iter().map(row).collect(),
            paths: played.collect(),
            together,
            runs: (runs, found.into_inner()),
        })
    }

    fn prepared(&self) -> Result<Vec<Prepared<'_>>, ExperimentError> {
        self.population.paths.par_iter().map(|path| self.prepare(path)).collect()
    }

    fn prepare<'a>(&self, path: &'a Path) -> Result<Prepared<'a>, ExperimentError> {
        let wrong = |problem: &str, allowed: &str| ExperimentError::Input {
            message: format!("path `{}` {problem}", path.name),
            help: Some(allowed.to_owned()),
        };
        let scenario = &path.scenario;
        let context = context(scenario);
        let Some(bytes) = context.size_bytes else {
            return Err(wrong("has no download of one size", "`size`, or one flow under test with one"));
        };
        let sizes: Vec<u64> = self.sizes.iter().copied().filter(|size| *size <= bytes).collect();
        if sizes.is_empty() {
            return Err(wrong("sends less than the smallest size asked for", "a larger `size`"));
        }
        let runs = if scenario.has_chance() { self.seeds } else { 1 };
        let seeds = (scenario.seed..).take(runs as usize).collect();
        Ok(Prepared { path, digest: digest(scenario), sizes, seeds, context })
    }

    /// A run; `None`: interrupted.
    fn one(
        &self,
        path: &Prepared<'_>,
        entrant: &Entrant,
        seed: u64,
        (log, found): (&Log<Outcome>, &AtomicUsize),
        (progress, interrupted): (&dyn Progress, &AtomicBool),
    ) -> Result<Option<Outcome>, ExperimentError> {
        if interrupted.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let scenario = &path.path.scenario;
        let steering = steering(entrant, scenario);
        let run = Run {
            scenario,
            digest: &path.digest,
            row: &entrant.row,
            steering: &steering,
            backend: self.backend,
            seed,
            extra_startup_rounds: 0,
            curves: false,
        };
        let name = format!("{} on {}", entrant.row.label, path.path.name);
        let key = key(&run.key(), &path.sizes);
        if let Some(outcome) = Some(&key).filter(|_| self.reuse).and_then(|key| log.get(key)) {
            found.fetch_add(1, Ordering::Relaxed);
            progress.on_finish(&name);
            return Ok(Some(outcome));
        }
        progress.on_start(&name);
        let mut beside = Beside::new(&path.context);
        match run.watch("", &mut beside, interrupted) {
            Ok(record) => {
                let outcome = Outcome::new(&record, &beside, (&path.context, &path.sizes));
                log.keep(&key, &outcome)?;
                progress.on_finish(&name);
                Ok(Some(outcome))
            }
            Err(BackendError::Interrupted { .. }) => Ok(None),
            Err(BackendError::Refused(cause) | BackendError::Failed(cause)) => {
                Err(ExperimentError::Run { run: format!("{name}, seed {seed}"), cause })
            }
        }
    }
}

/// The algorithm in full, its source included.
pub(crate) fn steering(entrant: &Entrant, scenario: &Scenario) -> String {
    let text = entrant.row.steering(scenario);
    entrant.code.as_ref().map_or(text.clone(), |code| format!("{text} code={code}"))
}

/// What a result is found by: everything that decides it.
pub(crate) fn key(run: &RunKey, sizes: &[u64]) -> String {
    let words = serde_json::to_vec(&(run, sizes, env!("RAMP_LEAGUE_SOURCES"))).expect("plain data");
    hexadecimal(&Sha256::digest(words)[..16])
}

/// The same for what is no ordinary run.
pub(crate) fn run_key(entrant: &Entrant, backend: &dyn Backend, (path, seed): (&Path, u64)) -> RunKey {
    RunKey {
        scenario_hash: digest(&path.scenario),
        steering: steering(entrant, &path.scenario),
        seed,
        version: VERSION.to_owned(),
        backend: backend.identity(),
        extra_startup_rounds: 0,
    }
}

fn bounds(path: &Prepared<'_>, seed: u64) -> Vec<f64> {
    let scenario = path.path.scenario.at_seed(seed);
    let context = context(&scenario);
    path.sizes.iter().map(|bytes| at_least_s(&scenario, &context, *bytes)).collect()
}

fn initial_bytes(scenario: &Scenario) -> u64 {
    let flow = scenario.flows.iter().find(|flow| flow.under_test);
    flow.map_or(0, |flow| u64::from(flow.sender.initial_window_packets) * u64::from(flow.sender.mss_bytes))
}

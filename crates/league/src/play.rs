//! Every algorithm on every path: found again, or played on all cores.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use rampcc_backend::{Backend, BackendError};
use rampcc_experiment::{
    Ahead, ExperimentError, Progress, Row, Run, Wanted, Workers, check, context, digest,
};
use rampcc_lab::{Context, RunKey};
use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::crowds::Crowds;
use crate::elsewhere::{Job, deal};
use crate::features::Features;
use crate::judge::POOLED_FROM;
use crate::log::{Log, hexadecimal};
use crate::outcome::{Beside, Outcome};
use crate::pairs::{self, Together};
use crate::playing::{Counts, Playing};
use crate::population::{Path, Population};
use crate::yardstick::causal_s;

/// Sizes unless somebody asks for others, bytes: one run serves them all.
pub const SIZES: [u64; 4] = [100_000, 1_000_000, 10_000_000, 100_000_000];
/// A download that harms nobody, bytes: one packet.
const NOTHING: u64 = 1_000;
/// Finished runs of a results directory.
const RUNS: &str = "runs.jsonl";
const PAIRS: &str = "pairs.jsonl";

/// What to play.
pub struct Request<'a> {
    /// On which paths.
    pub population: Population,
    /// Who. Yardsticks and slow start are added where they are missing.
    pub entrants: Vec<Row>,
    /// Sizes of downloads, ascending.
    pub sizes: Vec<u64>,
    /// Runs of each algorithm on each path that has anything random.
    pub seeds: u32,
    /// Who plays.
    pub backend: &'a dyn Backend,
    /// Other processes that play; `None`: this one does, on its threads.
    pub workers: Option<&'a dyn Workers>,
    /// Results directory.
    pub out: PathBuf,
    /// True to take results that are there.
    pub reuse: bool,
    /// True to play two at a time as well.
    pub pairs: bool,
    /// True to play them among others as well: web loads of which each is half, and twenty starts at a time.
    pub crowds: bool,
}

/// Everything that was played.
#[derive(Clone, Debug)]
pub struct League {
    /// Of the population.
    pub name: String,
    /// The same with what is set on its paths, as tables call it.
    pub title: String,
    /// Sizes, ascending.
    pub sizes: Vec<u64>,
    /// Smaller downloads count on their own, unless there are no others, bytes.
    pub pooled_from: u64,
    /// Runs of each algorithm on each path that has anything random.
    pub seeds: u32,
    /// The algorithms.
    pub rows: Vec<PlayedRow>,
    /// The paths.
    pub paths: Vec<PlayedPath>,
    /// By row: two that begin together.
    pub together: Vec<Vec<Together>>,
    /// Among others; `None`: not played.
    pub crowds: Option<Crowds>,
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
    /// As a scenario file.
    pub text: String,
    /// Its access type.
    pub access: String,
    /// What it is like.
    pub features: Features,
    /// The sizes that fit into its file: so many of the league's.
    pub sizes: usize,
    /// Base round-trip time, seconds.
    pub rtt_s: f64,
    /// Bytes that a download of the path has.
    pub file_bytes: u64,
    /// Packets that pipe and buffer hold together; `None`: the buffer has no end.
    pub holds_packets: Option<f64>,
    /// Seeds, those of the outcomes.
    pub seeds: Vec<u64>,
    /// By seed and size: seconds that a download takes at least if its sender learns from ACKs.
    pub causal_s: Vec<Vec<f64>>,
    /// By row and seed.
    pub outcomes: Vec<Vec<Outcome>>,
    /// By seed: the path with a download of next to nothing, so what a running flow has anyway. Empty: there is none.
    pub alone: Vec<Outcome>,
}

struct Prepared<'a> {
    path: &'a Path,
    digest: String,
    sizes: Vec<u64>,
    seeds: Vec<u64>,
    context: Context,
    /// The same with a download of next to nothing, and its digest, where a flow is running.
    alone: Option<(Path, String)>,
}

/// Who plays.
#[derive(Clone, Copy)]
enum Who {
    Row(usize),
    /// Nobody, next to a running flow.
    Alone,
}

impl Request<'_> {
    /// Plays what is missing.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Interrupted`] where `interrupted` was raised before the last run: what is finished is kept.
    pub fn play(&self, progress: &dyn Progress, interrupted: &AtomicBool) -> Result<League, ExperimentError> {
        let paths = self.prepared()?;
        for path in &paths {
            check(self.backend, &path.path.scenario, &self.entrants)?;
        }
        let log = Log::open(&self.out, RUNS)?;
        let mut tasks = Vec::new();
        for (index, path) in paths.iter().enumerate() {
            let rows = (0..self.entrants.len()).map(Who::Row);
            for who in rows.chain(path.alone.as_ref().map(|_| Who::Alone)) {
                tasks.extend(path.seeds.iter().map(|seed| (index, who, *seed)));
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
        let counts = Counts::default();
        let stopped = || ExperimentError::Interrupted {
            finished: counts.finished.load(Ordering::Relaxed),
            runs,
            place: self.out.clone(),
        };
        let nobody = Row::parse(rampcc::standard().id, &[])?;
        let job = |(path, who, seed): &(usize, Who, u64)| self.job(&paths[*path], (*who, &nobody), *seed);
        let jobs: Vec<Job<'_>> = tasks.iter().map(job).collect();
        let playing = Playing { log, reuse: self.reuse, counts: &counts, progress, interrupted };
        let outcomes: Result<Vec<Outcome>, ExperimentError> = match self.workers {
            Some(workers) => {
                let outcomes = deal(self.backend, workers, &jobs, &playing);
                outcomes.and_then(|all| all.into_iter().map(|outcome| outcome.ok_or_else(stopped)).collect())
            }
            // One by one: their lengths differ by a factor of a thousand.
            None => (tasks.par_iter().zip(&jobs).with_max_len(1))
                .map(|((path, ..), job)| {
                    let played = (&paths[*path].context, job.sizes());
                    let play = |interrupted: &_| download(&job.run(self.backend), played, interrupted);
                    playing.needed(job.named(), play)?.ok_or_else(stopped)
                })
                .collect(),
        };
        let outcomes = outcomes.map_err(|error| match error {
            ExperimentError::Interrupted { .. } => stopped(),
            other => other,
        });
        let together = if self.pairs && outcomes.is_ok() {
            let log = Log::open(&self.out, PAIRS)?;
            let playing = Playing { log, reuse: self.reuse, counts: &counts, progress, interrupted };
            pairs::play(self, &playing).transpose()
        } else {
            Some(Ok(Vec::new()))
        };
        progress.on_end();
        let outcomes = outcomes?;
        let together = together.unwrap_or_else(|| Err(stopped()))?;
        let crowds = self.crowds.then(|| self.play_among(progress, interrupted)).transpose()?;
        let mut outcomes = outcomes.into_iter();
        let played = paths.iter().map(|path| PlayedPath {
            name: path.path.name.clone(),
            text: path.path.scenario.text.clone(),
            access: path.path.access.clone(),
            features: Features::of(&path.path.scenario),
            sizes: path.sizes.len(),
            rtt_s: path.context.base_rtt_s,
            file_bytes: path.context.size_bytes.unwrap_or(0),
            holds_packets: crate::outcome::holds(&path.context)
                .map(|bytes| bytes / f64::from(path.context.mss_bytes.max(1))),
            seeds: path.seeds.clone(),
            causal_s: path.seeds.iter().map(|seed| bounds(path, *seed)).collect(),
            outcomes: (self.entrants.iter())
                .map(|_| outcomes.by_ref().take(path.seeds.len()).collect())
                .collect(),
            alone: (path.alone.iter())
                .flat_map(|_| outcomes.by_ref().take(path.seeds.len()).collect::<Vec<_>>())
                .collect(),
        });
        let row = |row: &Row| PlayedRow {
            label: row.label.clone(),
            yardstick: row.yardstick(),
            candidate: row.code.is_some(),
        };
        Ok(League {
            name: self.population.name.clone(),
            title: self.population.title(),
            sizes: self.sizes.clone(),
            pooled_from: POOLED_FROM,
            seeds: self.seeds,
            rows: self.entrants.iter().map(row).collect(),
            paths: played.collect(),
            together,
            crowds,
            runs: (runs, counts.found.into_inner()),
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
        let beside = scenario.flows.iter().any(|flow| !flow.under_test);
        let alone = beside.then(|| path.with_size(NOTHING)).transpose()?;
        let alone = alone.map(|alone| {
            let digest = digest(&alone.scenario);
            (alone, digest)
        });
        Ok(Prepared { path, digest: digest(scenario), sizes, seeds, context, alone })
    }

    fn job<'a>(&'a self, path: &'a Prepared<'_>, (who, nobody): (Who, &'a Row), seed: u64) -> Job<'a> {
        let (row, scenario, digest, sizes) = match (who, &path.alone) {
            (Who::Row(row), _) => {
                (&self.entrants[row], &path.path.scenario, path.digest.as_str(), path.sizes.as_slice())
            }
            (Who::Alone, Some((alone, digest))) => (nobody, &alone.scenario, digest.as_str(), [].as_slice()),
            (Who::Alone, None) => (nobody, &path.path.scenario, path.digest.as_str(), [].as_slice()),
        };
        let name = match who {
            Who::Row(_) => format!("{} on {}", row.label, path.path.name),
            Who::Alone => format!("nobody on {}", path.path.name),
        };
        let mut job = Job {
            scenario,
            digest,
            row,
            steering: row.steering(scenario),
            seed,
            key: String::new(),
            wanted: Wanted::Downloads(sizes.to_vec()),
            name,
        };
        job.key = key(&job.run(self.backend).key(), sizes);
        job
    }
}

/// Plays a run for what the league keeps of it.
pub(crate) fn download(
    run: &Run<'_>,
    (context, sizes): (&Context, &[u64]),
    interrupted: &AtomicBool,
) -> Result<Outcome, BackendError> {
    let mut beside = Beside::new(context);
    let record = run.watch("", &mut beside, interrupted)?;
    Ok(Outcome::new(&record, &beside, (context, sizes)))
}

/// What a result is found by: everything that decides it.
pub(crate) fn key(run: &RunKey, sizes: &[u64]) -> String {
    let words = serde_json::to_vec(&(run, sizes, env!("RAMP_LEAGUE_SOURCES"))).expect("plain data");
    hexadecimal(&Sha256::digest(words)[..16])
}

fn bounds(path: &Prepared<'_>, seed: u64) -> Vec<f64> {
    let scenario = path.path.scenario.at_seed(seed);
    let context = context(&scenario);
    path.sizes.iter().map(|bytes| causal_s(&scenario, &context, *bytes)).collect()
}

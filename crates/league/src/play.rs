//! Every algorithm on every path: found again, or played on all cores.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use rampcc::figures::counted;
use rampcc_backend::Backend;
use rampcc_experiment::{
    Ahead, ExperimentError, Progress, Result, Row, Run, Store, Workers, check, comparisons, context, digest,
};
use rampcc_lab::{Context, RunRecord};
use rayon::prelude::*;
use serde::Serialize;

use crate::crowds::Crowds;
use crate::features::Features;
use crate::outcome::Outcome;
use crate::pairs;
use crate::playing::Counts;
use crate::population::{Path, Population};
use crate::yardstick::causal_s;

/// Downloads below this size are decided by the initial window more than by start-up: they count on their own, not in what is
/// pooled, unless nothing else was played.
pub(crate) const POOLED_FROM: u64 = 1_000_000;
/// Sizes unless others are asked for, bytes: one run serves them all.
pub const SIZES: [u64; 4] = [100_000, 1_000_000, 10_000_000, 100_000_000];
/// A download that harms no other flow, bytes: one packet.
const NOTHING: u64 = 1_000;

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
    /// By row and run: two that begin together, the larger over the smaller share at each of [`SHARES_AFTER_S`].
    ///
    /// [`SHARES_AFTER_S`]: rampcc_lab::metric::SHARES_AFTER_S
    pub together: Vec<Vec<[f64; 3]>>,
    /// Among others; `None`: not played.
    pub crowds: Option<Crowds>,
    /// Number of runs.
    pub runs: usize,
    /// How many of them were found.
    pub found: usize,
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
    /// A running flow alone.
    Alone,
}

impl Request<'_> {
    /// Plays what is missing.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Interrupted`] where `interrupted` was raised before the last run: what is finished is kept.
    pub fn play(&self, progress: &dyn Progress, interrupted: &AtomicBool) -> Result<League> {
        let paths = self.prepared()?;
        for path in &paths {
            check(self.backend, &path.path.scenario, &self.entrants)?;
        }
        let hashes: Vec<&str> = paths.iter().map(|path| path.digest.as_str()).collect();
        let beside = if self.reuse { comparisons(&self.out, &hashes) } else { Vec::new() };
        let store = Store::lines(&self.out)?.with_relatives(beside);
        let playing = self.playing(&store, progress, interrupted);
        let nobody = Row { label: "nobody".to_owned(), ..Row::parse(rampcc::standard().id, &[])? };
        let mut places = Vec::new();
        let mut runs = Vec::new();
        for (index, path) in paths.iter().enumerate() {
            let rows = (0..self.entrants.len()).map(Who::Row);
            for who in rows.chain(path.alone.as_ref().map(|_| Who::Alone)) {
                let run = self.run(path, who, &nobody);
                for seed in &path.seeds {
                    places.push((index, who));
                    runs.push(Run { seed: *seed, ..run.clone() });
                }
            }
        }
        let (pair_paths, pair_digests) = pairs::paths(self)?;
        let mut pairs = Vec::new();
        for row in self.entrants.iter().filter(|_| self.pairs) {
            for (path, digest) in pair_paths.paths.iter().zip(&pair_digests) {
                let run = Run::of(&path.scenario, digest, row, self.backend);
                pairs.extend((1..=pairs::SEEDS).map(|seed| Run { seed, ..run.clone() }));
            }
        }
        let mut counts = Counts::of(runs.len() + pairs.len());
        progress.on_backend(&Ahead {
            backend: self.backend,
            runs: counts.runs,
            runs_here: counts.runs,
            longest: paths.iter().map(|p| p.path.scenario.stop.after).max().unwrap_or_default(),
        });
        let outcome = |number: usize, record: RunRecord| {
            let (index, who) = places[number];
            let sizes = if let Who::Row(_) = who { paths[index].sizes.as_slice() } else { &[] };
            Outcome::new(&record, &paths[index].context, sizes)
        };
        let outcomes = counts.all(&playing, &runs, outcome);
        let together = match &outcomes {
            Ok(_) => counts.all(&playing, &pairs, |_, record| pairs::shares(&record)),
            Err(_) => Ok(Vec::new()),
        };
        progress.on_end();
        let (outcomes, together) = (outcomes?, together?);
        let crowds = self.crowds.then(|| self.play_among(progress, interrupted)).transpose()?;
        let mut played: Vec<PlayedPath> = paths.iter().map(|path| self.path(path)).collect();
        for ((path, who), outcome) in places.into_iter().zip(outcomes) {
            match who {
                Who::Row(row) => played[path].outcomes[row].push(outcome),
                Who::Alone => played[path].alone.push(outcome),
            }
        }
        let row = |row: &Row| PlayedRow {
            label: row.label.clone(),
            yardstick: row.yardstick(),
            candidate: row.code.is_some(),
        };
        let of_each = pair_paths.paths.len() * pairs::SEEDS as usize;
        let league = League {
            name: self.population.name.clone(),
            title: self.population.title(),
            sizes: self.sizes.clone(),
            pooled_from: POOLED_FROM,
            seeds: self.seeds,
            rows: self.entrants.iter().map(row).collect(),
            paths: played,
            together: together.chunks(of_each.max(1)).map(<[_]>::to_vec).collect(),
            crowds,
            runs: counts.runs,
            found: counts.found,
        };
        if league.times().cases.is_empty() {
            return Err(ExperimentError::Input {
                message: format!("`ideal` ends no download on the {}", counted(league.paths.len(), "path")),
                help: Some("a longer `duration`, or a smaller `size`".to_owned()),
            });
        }
        Ok(league)
    }

    /// A path without its outcomes yet.
    fn path(&self, path: &Prepared<'_>) -> PlayedPath {
        PlayedPath {
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
            outcomes: vec![Vec::new(); self.entrants.len()],
            alone: Vec::new(),
        }
    }

    fn prepared(&self) -> Result<Vec<Prepared<'_>>> {
        self.population.paths.par_iter().map(|path| self.prepare(path)).collect()
    }

    fn prepare<'a>(&self, path: &'a Path) -> Result<Prepared<'a>> {
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

    fn run<'a>(&'a self, path: &'a Prepared<'_>, who: Who, nobody: &'a Row) -> Run<'a> {
        match (who, &path.alone) {
            (Who::Row(row), _) => {
                Run::of(&path.path.scenario, &path.digest, &self.entrants[row], self.backend)
            }
            (Who::Alone, Some((alone, digest))) => Run::of(&alone.scenario, digest, nobody, self.backend),
            (Who::Alone, None) => Run::of(&path.path.scenario, &path.digest, nobody, self.backend),
        }
    }
}

fn bounds(path: &Prepared<'_>, seed: u64) -> Vec<f64> {
    let scenario = path.path.scenario.at_seed(seed);
    let context = context(&scenario);
    path.sizes.iter().map(|bytes| causal_s(&scenario, &context, *bytes)).collect()
}

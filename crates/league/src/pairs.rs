//! Two connections that begin together: the larger over the smaller share.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use rampcc::Time;
use rampcc_backend::BackendError;
use rampcc_experiment::{ExperimentError, Row, Run, Wanted, digest};
use rampcc_trace::{FlowEvent, FlowEventKind, Observer};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::elsewhere::{Job, deal};
use crate::play::{Request, key};
use crate::playing::Playing;
use crate::population::{Path, Population};

const PATHS: &str = include_str!("../population/pairs.toml");
/// When shares are looked at.
pub const AFTER_S: [u64; 3] = [1, 3, 10];
/// Runs of each algorithm on each path.
const SEEDS: u64 = 3;
const COUNT: usize = 4;

/// One run: larger over smaller share at each of [`AFTER_S`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Together(pub [f64; 3]);

/// How many runs so many algorithms take.
pub(crate) fn count(rows: usize) -> usize {
    rows * COUNT * SEEDS as usize
}

/// By row. `None`: interrupted.
pub(crate) fn play(
    request: &Request<'_>,
    playing: &Playing<'_, Together>,
) -> Result<Option<Vec<Vec<Together>>>, ExperimentError> {
    let population = Population::parse("pairs", PATHS, None)?.with(&request.population.settings)?;
    let digests: Vec<String> = population.paths.iter().map(|path| digest(&path.scenario)).collect();
    let mut jobs = Vec::new();
    for row in &request.entrants {
        for (path, digest) in population.paths.iter().zip(&digests) {
            jobs.extend((1..=SEEDS).map(|seed| job(request, row, (path, digest), seed)));
        }
    }
    let one = |job: &Job<'_>| {
        playing.needed(job.named(), |interrupted| together(&job.run(request.backend), interrupted))
    };
    let all: Result<Vec<Option<Together>>, ExperimentError> = match request.workers {
        Some(workers) => deal(request.backend, workers, &jobs, playing),
        None => jobs.par_iter().with_max_len(1).map(one).collect(),
    };
    let Some(all) = all?.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    let of_each = population.paths.len() * SEEDS as usize;
    Ok(Some(all.chunks(of_each).map(<[Together]>::to_vec).collect()))
}

fn job<'a>(request: &Request<'_>, row: &'a Row, (path, digest): (&'a Path, &'a str), seed: u64) -> Job<'a> {
    let mut job = Job {
        scenario: &path.scenario,
        digest,
        row,
        steering: row.steering(&path.scenario),
        seed,
        key: String::new(),
        wanted: Wanted::Shares,
        name: format!("two of {} on {}", row.label, path.name),
    };
    job.key = key(&job.run(request.backend).key(), &AFTER_S);
    job
}

/// Plays a run with two connections.
pub(crate) fn together(run: &Run<'_>, interrupted: &AtomicBool) -> Result<Together, BackendError> {
    let mut shares = Shares::default();
    run.play(&mut shares, interrupted)?;
    Ok(shares.together())
}

/// What each flow had received at each of [`AFTER_S`], counted from when the second one opened.
#[derive(Debug, Default)]
struct Shares {
    received: BTreeMap<u32, u64>,
    both_since: Option<Time>,
    then: Vec<Vec<u64>>,
}

impl Shares {
    fn until(&mut self, now: Time) {
        let Some(since) = self.both_since else { return };
        while let Some(after) = AFTER_S.get(self.then.len()) {
            if now < since + Time::from_secs(*after) {
                return;
            }
            self.then.push(self.received.values().copied().collect());
        }
    }

    fn together(mut self) -> Together {
        while self.then.len() < AFTER_S.len() {
            self.then.push(self.received.values().copied().collect());
        }
        let ratio = |received: &Vec<u64>| {
            let larger = received.iter().max().copied().unwrap_or(0);
            let smaller = received.iter().min().copied().unwrap_or(0);
            larger.max(1) as f64 / smaller.max(1448) as f64
        };
        let mut all = self.then.iter().map(ratio);
        Together(std::array::from_fn(|_| all.next().unwrap_or(1.0).max(1.0)))
    }
}

impl Observer for Shares {
    fn on_event(&mut self, event: &FlowEvent) {
        self.until(event.now);
        match event.kind {
            FlowEventKind::Opened { .. } => {
                self.received.insert(event.flow, 0);
                if self.received.len() == 2 {
                    self.both_since = Some(event.now);
                }
            }
            FlowEventKind::Received { bytes } => {
                if let Some(received) = self.received.get_mut(&event.flow) {
                    *received = (*received).max(bytes);
                }
            }
            _ => {}
        }
    }
}

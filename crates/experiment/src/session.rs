//! A comparison in memory, which grows run by run: for a host without files and threads.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use rampcc_lab::{Comparison, RunRecord};
use rampcc_scenario::Scenario;
use serde::{Deserialize, Serialize};

use crate::asked::Sweep;
use crate::error::{ExperimentError, Result};
use crate::experiment::check;
use crate::playable::{Asked, playable};
use crate::request::Request;
use crate::run::{Kept, Run};
use crate::store::lean;
use crate::variant::Variant;

/// One comparison whose runs the caller plays, in any order. It says which runs are wanted, takes what comes, and judges what it
/// has. Once nothing is wanted any more, the comparison is that of [`Experiment::play`](crate::Experiment::play).
pub struct Session<'a> {
    variant: Variant<'a>,
    command: String,
    records: BTreeMap<Job, RunRecord>,
}

/// A run of a session, which every process that has the same request can play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Job {
    /// Number of the neighbouring path; `None`: the described one.
    pub path: Option<usize>,
    /// Rounds that the flows stay longer in start-up.
    pub later: u32,
    /// Of the run.
    pub seed: u64,
    /// Number of the row: in the comparison, or among those that are played on neighbouring paths.
    pub row: usize,
}

/// A [`Job`], and whether its curves are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wish {
    /// The run.
    pub job: Job,
    /// True to keep its curves.
    pub curves: bool,
}

impl<'a> Session<'a> {
    /// The comparison of a request that sweeps nothing, on the first of its backends.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with the request.
    pub fn new(request: &Request<'a>) -> Result<Self> {
        let Some(&backend) = request.on.first() else {
            return Err(ExperimentError::request("on", "names no backend"));
        };
        let rows = Sweep::parse(&[])?.rows(&request.algorithms, request.backends)?;
        let rows = playable(&rows, backend, Asked { named: !request.algorithms.is_empty(), alone: true })?;
        let scenario = request.around.apply((request.scenario)(&[])?)?;
        check(backend, &scenario, &rows.here)?;
        let variant = Variant::new(request, false, backend, scenario, rows)?;
        Ok(Self { variant, command: request.command.clone(), records: BTreeMap::new() })
    }

    /// The path.
    pub fn scenario(&self) -> &Scenario {
        &self.variant.scenario
    }

    /// Labels of the rows.
    pub fn rows(&self) -> impl Iterator<Item = &str> {
        self.variant.plan.rows.iter().map(|row| row.label.as_str())
    }

    /// Runs of each row on the described path.
    pub fn runs(&self) -> u64 {
        self.variant.plan.runs
    }

    /// Runs in all, as far as they are known before the first: those on the described path and on neighbouring ones.
    pub fn total(&self) -> usize {
        self.variant.runs()
    }

    /// Runs that are missing, those that say most first: one of every row, the other seeds, closer looks at what is drawn, neighbouring paths.
    pub fn wanted(&self) -> Vec<Wish> {
        let plan = &self.variant.plan;
        let rows = plan.played_rows();
        let real = plan.seeds().flat_map(|seed| {
            let curves = seed == plan.first_seed;
            rows.iter().map(move |&row| Wish { job: Job { path: None, later: 0, seed, row }, curves })
        });
        let missing: Vec<Wish> = real.filter(|wish| self.lacks(*wish)).collect();
        if !missing.is_empty() {
            return missing;
        }
        let number = |run: &Run<'_>| self.variant.rows.iter().position(|row| row.label == run.row.label);
        let closer = self.variant.closer(&self.real()).into_iter().filter_map(|run| {
            let job = Job { path: None, later: run.extra_startup_rounds, seed: run.seed, row: number(&run)? };
            Some(Wish { job, curves: run.kept.curves })
        });
        let around = self.neighbouring().map(|(job, _)| Wish { job, curves: false });
        closer.chain(around).filter(|wish| self.lacks(*wish)).collect()
    }

    /// Plays a run.
    ///
    /// # Errors
    ///
    /// No such run in this session, or the backend's error.
    pub fn play(&self, wish: Wish, interrupted: &AtomicBool) -> Result<RunRecord> {
        let run = self.run(wish).ok_or_else(|| ExperimentError::input("there is no such run"))?;
        let played = run.watch(&self.command, &mut (), interrupted);
        played.map_err(|error| crate::elsewhere::failed(&run, &error))
    }

    /// Keeps a run that was played, here or elsewhere.
    ///
    /// # Errors
    ///
    /// The record is not of this run.
    pub fn take(&mut self, job: Job, record: RunRecord) -> Result {
        let run = self.run(Wish { job, curves: false });
        if run.is_none_or(|run| run.key() != record.key()) {
            return Err(ExperimentError::input("the record is of another run"));
        }
        self.records.insert(job, lean(record));
        Ok(())
    }

    /// What the runs say that there are; `None`: there is none yet.
    pub fn comparison(&self) -> Option<Comparison> {
        if self.records.keys().all(|job| job.path.is_some()) {
            return None;
        }
        let comparison = self.real();
        let Some(neighbours) = &self.variant.neighbours else { return Some(comparison) };
        let around = self.neighbouring().filter_map(|(job, _)| self.records.get(&job)).cloned();
        Some(neighbours.judge(comparison, &around.collect::<Vec<_>>()))
    }

    /// Runs on the described path, judged.
    fn real(&self) -> Comparison {
        let here = self.records.iter().filter(|(job, _)| job.path.is_none());
        let records = here.map(|(_, record)| record.clone()).collect();
        self.variant.plan.judge(&self.variant.plan.shared(records))
    }

    fn neighbouring(&self) -> impl Iterator<Item = (Job, Run<'_>)> {
        let neighbours = self.variant.neighbours.iter();
        neighbours.flat_map(|neighbours| {
            let rows = neighbours.runs() / neighbours.paths().max(1);
            neighbours.all_runs().enumerate().map(move |(number, run)| {
                (Job { path: Some(number / rows), later: 0, seed: run.seed, row: number % rows }, run)
            })
        })
    }

    fn run(&self, wish: Wish) -> Option<Run<'_>> {
        let job = wish.job;
        if job.path.is_some() {
            return self.neighbouring().find(|(other, _)| *other == job).map(|(_, run)| run);
        }
        let plan = &self.variant.plan;
        let known = job.row < plan.rows.len() && plan.seeds().contains(&job.seed) && job.later <= 1;
        let run = || self.variant.run(job.row, job.seed);
        known.then(|| Run {
            extra_startup_rounds: job.later,
            kept: Kept { curves: wish.curves, flows: None },
            ..run()
        })
    }

    fn lacks(&self, wish: Wish) -> bool {
        let found = self.records.get(&wish.job);
        found.is_none_or(|record| wish.curves && record.series.is_none())
    }
}

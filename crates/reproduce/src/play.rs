//! Plays what is missing, keeps it, and judges.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rampcc_backend::{BackendError, Clock};
use rampcc_experiment::{ExperimentError, Progress, Store, context};
use rampcc_lab::Context;
use rayon::prelude::*;

use crate::error::ReproduceError;
use crate::experiment::Experiment;
use crate::judge::{Judged, judge};
use crate::plan::{Conditions, Extent, Job, Plan};
use crate::record::Measured;
use crate::watch::Watch;

/// Several experiments with their runs, checked; nothing is played or written yet.
pub struct Work<'a> {
    plans: Vec<Plan<'a>>,
}

/// How to play.
#[derive(Clone, Copy)]
pub struct Playing<'a> {
    /// Where runs are kept and pages go.
    pub out: &'a Path,
    /// Whether runs on disk are taken.
    pub reuse: bool,
    /// The command that does it again.
    pub command: &'a str,
    /// Seconds of a clock of the caller's, to tell how long runs take.
    pub clock: &'a (dyn Fn() -> f64 + Sync),
    /// Is told of every run.
    pub progress: &'a dyn Progress,
    /// Raised to stop.
    pub interrupted: &'a AtomicBool,
}

/// The runs of one set of conditions: by point, arm and seed.
pub(crate) struct Runs {
    pub(crate) runs: BTreeMap<(usize, usize), Vec<Measured>>,
    pub(crate) paths: BTreeMap<(usize, usize), Context>,
}

/// What was played.
#[derive(Debug, Default)]
pub struct Done {
    /// In the order that was asked for.
    pub experiments: Vec<Judged>,
    /// Runs that were played now.
    pub fresh: usize,
    /// Runs that were found.
    pub reused: usize,
    /// Runs that the machine was too busy for; which, and why.
    pub refused: Vec<String>,
}

impl<'a> Work<'a> {
    /// Checks everything that is to be played.
    ///
    /// # Errors
    ///
    /// The first wrong value of any of the files.
    pub fn plan(
        experiments: impl IntoIterator<Item = &'a Experiment>,
        extent: Extent<'a>,
    ) -> Result<Self, ReproduceError> {
        let plans = experiments.into_iter().map(|experiment| Plan::new(experiment, extent));
        Ok(Self { plans: plans.collect::<Result<_, _>>()? })
    }

    /// Number of different runs.
    pub fn runs(&self) -> usize {
        self.jobs().len()
    }

    /// What its runs take on disk, roughly, from their bins; flows beside those under test come on top.
    pub fn bytes(&self) -> u64 {
        self.jobs().iter().map(|(_, job)| job.bytes()).sum()
    }

    /// Every run once: experiments share some.
    fn jobs(&self) -> Vec<(String, Job<'_>)> {
        let mut known = std::collections::BTreeSet::new();
        let all = self.plans.iter().flat_map(Plan::jobs).map(|job| (job.file(), job));
        all.filter(|(file, _)| known.insert(file.clone())).collect()
    }

    /// Finds or plays every run, and judges. Runs are kept as they are finished.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Interrupted`] where `interrupted` was raised before the last run; the same call goes on from there.
    pub fn play(&self, playing: &Playing<'_>) -> Result<Done, ReproduceError> {
        let store = Store::create(playing.out)?;
        let jobs = self.jobs();
        let total = jobs.len();
        let fresh = AtomicUsize::new(0);
        let reused = AtomicUsize::new(0);
        let refused = Mutex::new(Vec::new());
        let one = |(file, job): (String, Job<'_>)| -> Result<(), ReproduceError> {
            if playing.interrupted.load(Ordering::Relaxed) {
                return Ok(());
            }
            let words = job.run().to_string();
            if playing.reuse && store.path(&file).is_file() {
                reused.fetch_add(1, Ordering::Relaxed);
                playing.progress.on_finish(&words);
                return Ok(());
            }
            playing.progress.on_start(&words);
            match measure(&job, playing) {
                Ok(measured) => {
                    store.write_json(&file, &measured)?;
                    fresh.fetch_add(1, Ordering::Relaxed);
                    playing.progress.on_finish(&words);
                }
                Err(BackendError::Interrupted { .. }) => {}
                Err(BackendError::Refused(reason)) => {
                    refused.lock().expect("no thread panics with it").push(format!("{words}: {reason}"));
                }
                Err(BackendError::Failed(cause)) => {
                    return Err(ExperimentError::Run { run: words, cause }.into());
                }
            }
            Ok(())
        };
        let real = self.plans.first().is_some_and(|plan| plan.extent.backend.clock() == Clock::Real);
        if let Some(plan) = self.plans.first() {
            let longest = jobs.iter().map(|(_, job)| job.cell.scenario.stop.after).max().unwrap_or_default();
            let backend = plan.extent.backend;
            playing.progress.on_backend(&rampcc_experiment::Ahead {
                backend,
                runs: total,
                runs_here: total,
                longest,
            });
        }
        if real {
            jobs.into_iter().try_for_each(one)?;
        } else {
            // Handed out one by one: runs differ a thousandfold in length.
            jobs.into_iter().par_bridge().try_for_each(one)?;
        }
        playing.progress.on_end();
        let (fresh, reused) = (fresh.into_inner(), reused.into_inner());
        let refused = refused.into_inner().expect("no thread panics with it");
        if fresh + reused + refused.len() < total {
            let place = playing.out.to_path_buf();
            return Err(ExperimentError::Interrupted { finished: fresh + reused, runs: total, place }.into());
        }
        let judged = self
            .plans
            .par_iter()
            .map(|plan| judge(plan, |conditions| plan.runs(conditions, &store, playing)));
        Ok(Done { experiments: judged.collect::<Result<_, _>>()?, fresh, reused, refused })
    }
}

impl Plan<'_> {
    /// The runs of one set of conditions, from disk; what cannot be read there is played again.
    fn runs(
        &self,
        conditions: &Conditions,
        store: &Store,
        playing: &Playing<'_>,
    ) -> Result<Runs, ReproduceError> {
        let mut runs: BTreeMap<(usize, usize), Vec<Measured>> = BTreeMap::new();
        let mut paths = BTreeMap::new();
        for cell in &conditions.cells {
            let place = (cell.point, cell.arm);
            for (number, &seed) in conditions.seeds.iter().enumerate() {
                let job = self.job(cell, seed, number == 0);
                let file = job.file();
                let found =
                    store.read_json::<Measured>(&file).ok().filter(|found| found.key == job.run().key());
                let measured = match found {
                    Some(found) => found,
                    None => match measure(&job, playing) {
                        Ok(measured) => {
                            store.write_json(&file, &measured)?;
                            measured
                        }
                        Err(BackendError::Failed(cause)) => {
                            return Err(ExperimentError::Run { run: job.run().to_string(), cause }.into());
                        }
                        Err(_) => continue,
                    },
                };
                runs.entry(place).or_default().push(measured);
            }
            paths.insert(place, context(&cell.row_scenario()));
        }
        Ok(Runs { runs, paths })
    }
}

/// Plays one run.
fn measure(job: &Job<'_>, playing: &Playing<'_>) -> Result<Measured, BackendError> {
    let run = job.run();
    let path = run.context();
    let mut watch = Watch::new(job.bin, path.bottleneck, job.acks);
    let begun = (playing.clock)();
    let mut record = run.watch(playing.command, &mut watch, playing.interrupted)?;
    let took_s = (playing.clock)() - begun;
    let (mut flows, bins, ack_rounds) = watch.finish();
    flows.retain(|flow| flow.test || job.others);
    // The same for every run of a cell, and in the scenario.
    record.provenance.scenario_text = String::new();
    Ok(Measured { key: run.key(), record, flows, bins, ack_rounds, mss_bytes: path.mss_bytes, took_s })
}

//! Plays what is missing, keeps it, and judges.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rampcc_experiment::{Ahead, ExperimentError, Played, Playing, Refused, Run, context};
use rampcc_lab::{Context, RunKey};
use rayon::prelude::*;

use crate::error::Result;
use crate::experiment::Experiment;
use crate::judge::{Judged, judge};
use crate::measure::Measured;
use crate::plan::{Conditions, Extent, Plan, bytes};

/// Several experiments with their runs, checked; nothing is played or written yet.
pub struct Work<'a> {
    plans: Vec<Plan<'a>>,
}

/// The runs of one set of conditions: by point, arm and seed.
pub(crate) struct Runs {
    pub(crate) runs: BTreeMap<(usize, usize), Vec<Measured>>,
    pub(crate) paths: BTreeMap<(usize, usize), Context>,
}

impl Runs {
    fn all(&self) -> impl Iterator<Item = &Measured> {
        self.runs.values().flatten()
    }

    pub(crate) fn count(&self) -> usize {
        self.all().count()
    }

    /// What they took one after the other, seconds.
    pub(crate) fn took_s(&self) -> f64 {
        self.all().filter_map(|run| run.record.took_s).sum()
    }
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
    /// Runs that the machine was too busy for.
    pub refused: Vec<Refused>,
}

impl<'a> Work<'a> {
    /// Checks everything that is to be played.
    ///
    /// # Errors
    ///
    /// The first wrong value of any of the files.
    pub fn plan(experiments: impl IntoIterator<Item = &'a Experiment>, extent: Extent<'a>) -> Result<Self> {
        let plans = experiments.into_iter().map(|experiment| Plan::new(experiment, extent));
        Ok(Self { plans: plans.collect::<Result<_, _>>()? })
    }

    /// Number of different runs.
    pub fn runs(&self) -> usize {
        self.all().len()
    }

    /// What its runs take on disk, compressed, roughly, from their bins.
    pub fn bytes(&self) -> u64 {
        self.all().iter().map(bytes).sum()
    }

    /// Every run once, experiments share some: one that draws curves where both want it.
    fn all(&self) -> Vec<Run<'_>> {
        let mut known: BTreeMap<RunKey, usize> = BTreeMap::new();
        let mut all: Vec<Run<'_>> = Vec::new();
        for run in self.plans.iter().flat_map(Plan::runs) {
            match known.entry(run.key()) {
                Entry::Vacant(place) => {
                    place.insert(all.len());
                    all.push(run);
                }
                Entry::Occupied(place) => all[*place.get()].kept.curves |= run.kept.curves,
            }
        }
        all
    }

    /// Finds or plays every run, and judges. Runs are kept as they are finished.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Interrupted`] where the last run was not reached; the same call goes on from there.
    pub fn play(&self, playing: &Playing<'_>) -> Result<Done> {
        let runs = self.all();
        let total = runs.len();
        if let Some(plan) = self.plans.first() {
            let longest = runs.iter().map(|run| run.scenario.stop.after).max().unwrap_or_default();
            let backend = plan.extent.backend;
            playing.progress.on_backend(&Ahead { backend, runs: total, runs_here: total, longest });
        }
        let played = playing.missing(runs.into_iter());
        playing.progress.on_end();
        let played = played?;
        if played.finished() + played.refused.len() < total {
            let place = playing.store.path("");
            return Err(
                ExperimentError::Interrupted { finished: played.finished(), runs: total, place }.into()
            );
        }
        // Those that are judged are there: whatever was asked not to be taken has been played anew.
        let playing = Playing { reuse: true, progress: &(), ..*playing };
        let judged =
            self.plans.par_iter().map(|plan| judge(plan, |conditions| plan.found(conditions, &playing)));
        let Played { reused, fresh, refused } = played;
        Ok(Done { experiments: judged.collect::<Result<_, _>>()?, fresh, reused, refused })
    }
}

impl Plan<'_> {
    /// The runs of one set of conditions, from disk; what cannot be read there is played again.
    fn found(&self, conditions: &Conditions, playing: &Playing<'_>) -> Result<Runs> {
        let mut runs: BTreeMap<(usize, usize), Vec<Measured>> = BTreeMap::new();
        let mut paths = BTreeMap::new();
        for cell in &conditions.cells {
            let place = (cell.point, cell.arm);
            for (number, &seed) in conditions.seeds.iter().enumerate() {
                let record = playing.one(&self.run(cell, seed, number == 0))?;
                runs.entry(place).or_default().extend(record.map(Measured::from));
            }
            paths.insert(place, context(&cell.row_scenario()));
        }
        Ok(Runs { runs, paths })
    }
}

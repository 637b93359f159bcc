//! A league's runs: found, or played and kept, all of them.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use rampcc_experiment::{ExperimentError, Playing, Progress, Result, Run, Store};
use rampcc_lab::RunRecord;

use crate::play::Request;

/// How far the runs are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) runs: usize,
    /// Those that have a result.
    pub(crate) finished: usize,
    /// Of these, those that were there.
    pub(crate) found: usize,
}

impl Counts {
    pub(crate) fn of(runs: usize) -> Self {
        Self { runs, ..Self::default() }
    }

    /// Plays runs of these, and takes something of each record, which has the number of its run.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Interrupted`] where one of them has no result.
    pub(crate) fn all<T: Send>(
        &mut self,
        playing: &Playing<'_>,
        runs: &[Run<'_>],
        take: impl Fn(usize, RunRecord) -> T + Sync,
    ) -> Result<Vec<T>> {
        let (rows, played) = playing.all(runs.iter().cloned(), take)?;
        self.finished += rows.len();
        self.found += played.reused;
        // No run of virtual time is refused.
        if let Some(refused) = played.refused.into_iter().next() {
            return Err(ExperimentError::Run { run: refused.run, cause: refused.reason });
        }
        if rows.len() < runs.len() {
            return Err(self.stopped(&playing.store.path("")));
        }
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    fn stopped(self, place: &Path) -> ExperimentError {
        ExperimentError::Interrupted { finished: self.finished, runs: self.runs, place: place.to_path_buf() }
    }
}

impl Request<'_> {
    /// How its runs are played.
    pub(crate) fn playing<'p>(
        &'p self,
        store: &'p Store,
        progress: &'p dyn Progress,
        interrupted: &'p AtomicBool,
    ) -> Playing<'p> {
        Playing {
            reuse: self.reuse,
            workers: self.workers,
            on_paths: true,
            ..Playing::new(store, self.backend, progress, interrupted)
        }
    }
}

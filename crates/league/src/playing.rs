//! A run that is found, or played and kept; counted and told either way.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rampcc_backend::BackendError;
use rampcc_experiment::{ExperimentError, Progress};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::log::Log;

/// How far the runs are.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Runs that have a result.
    pub(crate) finished: AtomicUsize,
    /// Of these, those that were there.
    pub(crate) found: AtomicUsize,
}

/// What runs with one kind of result share.
pub(crate) struct Playing<'a, T> {
    pub(crate) log: Log<T>,
    /// True to take results that are there.
    pub(crate) reuse: bool,
    pub(crate) counts: &'a Counts,
    pub(crate) progress: &'a dyn Progress,
    pub(crate) interrupted: &'a AtomicBool,
}

/// A run, for the log and for people.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    /// What its result is found by.
    pub(crate) key: &'a str,
    pub(crate) name: &'a str,
    pub(crate) seed: u64,
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, seed {}", self.name, self.seed)
    }
}

/// What has become of a run.
pub(crate) enum Ended<T> {
    With(T),
    /// The machine was too busy for it.
    Refused(String),
    Interrupted,
}

impl<T: Serialize + DeserializeOwned + Clone> Playing<'_, T> {
    /// The result that is there, or that of `play`, which is kept.
    pub(crate) fn one(
        &self,
        run: Named<'_>,
        play: impl FnOnce(&AtomicBool) -> Result<T, BackendError>,
    ) -> Result<Ended<T>, ExperimentError> {
        if self.interrupted() {
            return Ok(Ended::Interrupted);
        }
        if let Some(result) = self.found(run) {
            return Ok(Ended::With(result));
        }
        self.progress.on_start(run.name);
        match play(self.interrupted) {
            Ok(result) => {
                self.keep(run, &result)?;
                Ok(Ended::With(result))
            }
            Err(BackendError::Interrupted { .. }) => Ok(Ended::Interrupted),
            Err(BackendError::Refused(cause)) => Ok(Ended::Refused(cause)),
            Err(BackendError::Failed(cause)) => Err(run.failed(cause)),
        }
    }

    /// The same of a run that no machine is too busy for. `None`: interrupted.
    pub(crate) fn needed(
        &self,
        run: Named<'_>,
        play: impl FnOnce(&AtomicBool) -> Result<T, BackendError>,
    ) -> Result<Option<T>, ExperimentError> {
        match self.one(run, play)? {
            Ended::With(result) => Ok(Some(result)),
            Ended::Refused(cause) => Err(run.failed(cause)),
            Ended::Interrupted => Ok(None),
        }
    }

    /// The result that is there.
    pub(crate) fn found(&self, run: Named<'_>) -> Option<T> {
        let result = Some(run.key).filter(|_| self.reuse).and_then(|key| self.log.get(key))?;
        self.counts.found.fetch_add(1, Ordering::Relaxed);
        self.finish(run);
        Some(result)
    }

    /// A result that was not there.
    pub(crate) fn keep(&self, run: Named<'_>, result: &T) -> Result<(), ExperimentError> {
        self.log.keep(run.key, result)?;
        self.finish(run);
        Ok(())
    }

    pub(crate) fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn finish(&self, run: Named<'_>) {
        self.counts.finished.fetch_add(1, Ordering::Relaxed);
        self.progress.on_finish(run.name);
    }
}

impl Named<'_> {
    fn failed(self, cause: String) -> ExperimentError {
        ExperimentError::Run { run: self.to_string(), cause }
    }
}

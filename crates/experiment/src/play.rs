//! Many runs: found again, or played, on all cores where the backend's clock allows it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rampcc_backend::{Backend, BackendError, Clock};
use rampcc_lab::RunRecord;
use rayon::prelude::*;

use crate::elsewhere::{Sender, Task, Workers};
use crate::error::{ExperimentError, Result};
use crate::progress::Progress;
use crate::run::Run;
use crate::store::{Store, lean};

/// Numbers of runs by their origin.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// Found in the results directory.
    pub reused: usize,
    /// Played now.
    pub fresh: usize,
    /// Neither, because the machine was too busy.
    pub refused: Vec<Refused>,
}

/// A run that the machine was too busy for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// As people call it.
    pub run: String,
    /// Why.
    pub reason: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.run, self.reason)
    }
}

impl Played {
    /// Number of runs asked for that have a result.
    pub fn finished(&self) -> usize {
        self.reused + self.fresh
    }

    /// And those of another comparison.
    pub fn add(&mut self, more: Self) {
        self.reused += more.reused;
        self.fresh += more.fresh;
        self.refused.extend(more.refused);
    }
}

/// How runs are found, played and kept, whatever they are for.
#[derive(Clone, Copy)]
pub struct Playing<'a> {
    /// Where finished runs are looked for and kept.
    pub store: &'a Store,
    /// Whether those on disk are taken.
    pub reuse: bool,
    /// Goes into every record.
    pub command: &'a str,
    /// Gets every run.
    pub progress: &'a dyn Progress,
    /// Real time cannot be shared: each run has the machine for itself.
    pub clock: Clock,
    /// Other processes that play, where the clock is virtual; `None`: this one does.
    pub workers: Option<&'a dyn Workers>,
    /// Raised to stop.
    pub interrupted: &'a AtomicBool,
    /// Seconds of a clock of the caller's, to keep how long a run took; `None`: that is not kept.
    pub seconds: Option<&'a (dyn Fn() -> f64 + Sync)>,
    /// Whether the runs are on many paths, so that each is reported with its own.
    pub on_paths: bool,
}

impl<'a> Playing<'a> {
    /// Runs of one path on this backend, by this process, without saying how they were asked for; those on disk are taken.
    pub fn new(
        store: &'a Store,
        backend: &dyn Backend,
        progress: &'a dyn Progress,
        interrupted: &'a AtomicBool,
    ) -> Self {
        let clock = backend.clock();
        Self {
            store,
            reuse: true,
            command: "",
            progress,
            clock,
            workers: None,
            interrupted,
            seconds: None,
            on_paths: false,
        }
    }
}

impl Playing<'_> {
    /// Finds or plays all runs, one after the other as they come from the iterator, and takes something of each record: by the
    /// number of the run, which `take` is given, without those that an interruption prevented or the machine was too busy for.
    pub fn all<'r, T: Send>(
        &self,
        runs: impl Iterator<Item = Run<'r>> + Send,
        take: impl Fn(usize, RunRecord) -> T + Sync,
    ) -> Result<(Vec<(usize, T)>, Played)> {
        let find = |number: usize, run: &Run<'_>| self.found(run).map(|record| take(number, record));
        self.play(runs, &find, &take)
    }

    /// All records, without what every run says alike.
    pub(crate) fn records<'r>(
        &self,
        runs: impl Iterator<Item = Run<'r>> + Send,
    ) -> Result<(Vec<RunRecord>, Played)> {
        let (records, played) = self.all(runs, |_, record| lean(record))?;
        Ok((records.into_iter().map(|(_, record)| record).collect(), played))
    }

    /// Plays what is missing, and takes nothing of it.
    pub fn missing<'r>(&self, runs: impl Iterator<Item = Run<'r>> + Send) -> Result<Played> {
        let there = |run: &Run<'_>| {
            if run.kept.curves { self.found(run).is_some() } else { self.reuse && self.store.has(&run.key()) }
        };
        let find = |_: usize, run: &Run<'_>| there(run).then_some(());
        Ok(self.play(runs, &find, |_, _| ())?.1)
    }

    /// The record of a run, found or played now; `None`: interrupted, or the machine is too busy.
    pub fn one(&self, run: &Run<'_>) -> Result<Option<RunRecord>> {
        if let Some(record) = self.found(run) {
            return Ok(Some(record));
        }
        match self.fresh(run) {
            Ok(record) => {
                self.store.save(&record)?;
                Ok(Some(record))
            }
            Err(BackendError::Failed(cause)) => Err(self.failed(run, cause)),
            Err(BackendError::Refused(_) | BackendError::Interrupted { .. }) => Ok(None),
        }
    }

    /// How a run is called: `hystart, seed 3`, and with its path where there are many.
    pub fn name(&self, run: &Run<'_>) -> String {
        if self.on_paths {
            format!("{} on {}, seed {}", run.row.label, run.scenario.name, run.seed)
        } else {
            run.to_string()
        }
    }

    fn found(&self, run: &Run<'_>) -> Option<RunRecord> {
        let key = Some(run.key()).filter(|_| self.reuse)?;
        let mut record = self.store.load(&key).or_else(|| {
            let mut record = self.store.borrow(&key)?;
            if record.provenance.scenario_text.is_empty() {
                record.provenance = run.provenance(self.command);
            }
            self.store.save(&record).ok()?;
            Some(record)
        })?;
        run.row.label.clone_into(&mut record.provenance.arm);
        Some(record).filter(|record| record.series.is_some() || !run.kept.curves)
    }

    fn fresh(&self, run: &Run<'_>) -> Result<RunRecord, BackendError> {
        let begun = self.seconds.map(|seconds| seconds());
        let record = run.watch(self.command, &mut (), self.interrupted)?;
        let took_s = self.seconds.zip(begun).map(|(seconds, begun)| seconds() - begun);
        Ok(RunRecord { took_s, ..record })
    }

    fn failed(&self, run: &Run<'_>, cause: String) -> ExperimentError {
        ExperimentError::Run { run: self.name(run), cause }
    }

    fn play<'r, T: Send>(
        &self,
        runs: impl Iterator<Item = Run<'r>> + Send,
        find: &(dyn Fn(usize, &Run<'_>) -> Option<T> + Sync),
        take: impl Fn(usize, RunRecord) -> T + Sync,
    ) -> Result<(Vec<(usize, T)>, Played)> {
        let (rows, refused) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        let reused = AtomicUsize::new(0);
        let keep = |number: usize, taken: T, run: &Run<'_>| {
            rows.lock().unwrap_or_else(PoisonError::into_inner).push((number, taken));
            self.progress.on_finish(&self.name(run));
        };
        let find = |number: usize, run: &Run<'_>| -> bool {
            let Some(taken) = find(number, run) else { return false };
            reused.fetch_add(1, Ordering::Relaxed);
            keep(number, taken, run);
            true
        };
        let play = |(number, run): (usize, Run<'_>)| -> Result {
            if find(number, &run) {
                return Ok(());
            }
            self.progress.on_start(&self.name(&run));
            match self.fresh(&run) {
                Ok(record) => {
                    self.store.save(&record)?;
                    keep(number, take(number, record), &run);
                }
                Err(BackendError::Refused(reason)) => {
                    let mut refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
                    refused.push(Refused { run: self.name(&run), reason });
                }
                Err(BackendError::Interrupted { .. }) => {}
                Err(BackendError::Failed(cause)) => return Err(self.failed(&run, cause)),
            }
            Ok(())
        };
        // An interruption ends the iterator: however many runs were asked for, what is waiting costs nothing.
        let waiting = runs.enumerate().take_while(|_| !self.interrupted.load(Ordering::Relaxed));
        if self.clock == Clock::Real {
            let mut waiting = waiting;
            waiting.try_for_each(play)?;
        } else if let Some(workers) = self.workers {
            let mut sender = Sender::default();
            // Those that are out.
            let sent = RefCell::new(BTreeMap::new());
            let mut tasks = waiting.filter(|(number, run)| !find(*number, run)).map(|(number, run)| {
                self.progress.on_start(&self.name(&run));
                let task = sender.send(number, &run, &Task::new(&run, self.command)?);
                sent.borrow_mut().insert(number, run);
                task
            });
            workers.play(&mut tasks, &mut |number, answer| {
                let Some(run) = sent.borrow_mut().remove(&number) else { return Ok(()) };
                let record: RunRecord = serde_json::from_str(answer)?;
                self.store.save(&record)?;
                keep(number, take(number, record), &run);
                Ok(())
            })?;
        } else {
            // Handed out one by one: their lengths differ a thousandfold, and an interrupted comparison has the same seeds of every
            // algorithm.
            waiting.par_bridge().try_for_each(play)?;
        }
        let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
        rows.sort_by_key(|(number, _)| *number);
        let refused = refused.into_inner().unwrap_or_else(PoisonError::into_inner);
        let reused = reused.into_inner();
        let played = Played { reused, fresh: rows.len() - reused, refused };
        Ok((rows, played))
    }
}

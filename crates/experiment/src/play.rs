//! Many runs: found again, or played, on all cores where the backend's clock allows it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rampcc_backend::{BackendError, Clock};
use rampcc_lab::RunRecord;
use rayon::prelude::*;

use crate::elsewhere::{Sender, Task, Wanted, Workers};
use crate::error::ExperimentError;
use crate::progress::Progress;
use crate::run::Run;
use crate::store::Store;

/// Numbers of runs by their origin.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// Found in the results directory.
    pub reused: usize,
    /// Played now.
    pub fresh: usize,
    /// Neither, because the machine was too busy; which, and why.
    pub refused: Vec<String>,
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

/// Find or play all runs, one after the other as they come from the iterator; the records come in that order, without
/// those that an interruption prevented and without what every run says alike.
pub(crate) fn play_all<'a>(
    runs: impl Iterator<Item = Run<'a>> + Send,
    store: &Store,
    options: &PlayOptions<'_>,
) -> Result<(Vec<RunRecord>, Played), ExperimentError> {
    let progress = options.progress;
    let reused = AtomicUsize::new(0);
    let refused = Mutex::new(Vec::new());
    let records = Mutex::new(Vec::new());
    let keep = |number: usize, record: RunRecord, run: &Run<'_>| {
        records.lock().unwrap_or_else(PoisonError::into_inner).push((number, lean(record)));
        progress.on_finish(&run.to_string());
    };
    let find = |number: usize, run: &Run<'_>| -> bool {
        let found = if options.reuse { store.load(&run.key(), &run.row.label) } else { None };
        let Some(record) = found.filter(|record| record.series.is_some() || !run.curves) else {
            return false;
        };
        reused.fetch_add(1, Ordering::Relaxed);
        keep(number, record, run);
        true
    };
    let play = |(number, run): (usize, Run<'_>)| -> Result<(), ExperimentError> {
        if find(number, &run) {
            return Ok(());
        }
        progress.on_start(&run.to_string());
        match run.watch(options.command, &mut (), options.interrupted) {
            Ok(record) => {
                store.save(&record)?;
                keep(number, record, &run);
            }
            Err(BackendError::Refused(reason)) => {
                let mut refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
                refused.push(format!("{run}: {reason}"));
            }
            Err(BackendError::Interrupted { .. }) => {}
            Err(BackendError::Failed(cause)) => {
                return Err(ExperimentError::Run { run: run.to_string(), cause });
            }
        }
        Ok(())
    };
    // An interruption ends the iterator: however many runs were asked for, what is waiting costs nothing.
    let waiting = runs.enumerate().take_while(|_| !options.interrupted.load(Ordering::Relaxed));
    if options.clock == Clock::Real {
        let mut waiting = waiting;
        waiting.try_for_each(play)?;
    } else if let Some(workers) = options.workers {
        let mut sender = Sender::default();
        // Those that are out.
        let sent = RefCell::new(BTreeMap::new());
        let mut tasks = waiting.filter(|(number, run)| !find(*number, run)).map(|(number, run)| {
            progress.on_start(&run.to_string());
            let task = sender.send(number, &run, &Task::new(&run, options.command, Wanted::Record)?);
            sent.borrow_mut().insert(number, run);
            task
        });
        workers.play(&mut tasks, &mut |number, answer| {
            let Some(run) = sent.borrow_mut().remove(&number) else { return Ok(()) };
            let record: RunRecord = serde_json::from_str(answer)?;
            store.save(&record)?;
            keep(number, record, &run);
            Ok(())
        })?;
    } else {
        // Handed out one by one, so that an interrupted comparison has the same seeds of every algorithm.
        waiting.par_bridge().try_for_each(play)?;
    }
    let mut records = records.into_inner().unwrap_or_else(PoisonError::into_inner);
    records.sort_by_key(|(number, _)| *number);
    let refused = refused.into_inner().unwrap_or_else(PoisonError::into_inner);
    let reused = reused.into_inner();
    let played = Played { reused, fresh: records.len() - reused, refused };
    Ok((records.into_iter().map(|(_, record)| record).collect(), played))
}

/// A record without what all runs of a comparison say alike: there may be very many of them.
pub(crate) fn lean(mut record: RunRecord) -> RunRecord {
    record.provenance.command = String::new();
    record.provenance.scenario_text = String::new();
    record
}

/// What holds for all runs of a comparison.
#[derive(Clone, Copy)]
pub(crate) struct PlayOptions<'a> {
    /// Whether results on disk are taken.
    pub(crate) reuse: bool,
    /// Goes into every record.
    pub(crate) command: &'a str,
    /// Is told of every run.
    pub(crate) progress: &'a dyn Progress,
    /// Real time cannot be shared: each run has the machine for itself.
    pub(crate) clock: Clock,
    /// Other processes that play, where the clock is virtual; `None`: this one does.
    pub(crate) workers: Option<&'a dyn Workers>,
    /// Raised to stop.
    pub(crate) interrupted: &'a AtomicBool,
}

//! A league's runs that other processes play.

use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

use rampcc_backend::Backend;
use rampcc_experiment::{ExperimentError, Row, Run, Sender, Task, Wanted, Workers, context, failed};
use rampcc_scenario::Scenario;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::candidate::{Apart, sent};
use crate::pairs;
use crate::play::download;
use crate::playing::{Named, Playing};

/// Does what a comparison or a league wants of a run over `scenario`; the answer is for [`Workers`]' caller. Candidates are compiled
/// and played as `apart` says.
///
/// # Errors
///
/// Where this process would play another run than the one that was asked for, and where the run fails.
pub fn perform(
    task: &Task,
    (scenario, digest): (&Scenario, &str),
    (backend, apart): (&dyn Backend, &Apart),
    interrupted: &AtomicBool,
) -> Result<String, ExperimentError> {
    let row = match &task.code {
        Some(text) => {
            let (algorithm, code) = sent(text, apart)?;
            Row { code: Some(code), ..task.row_of(algorithm) }
        }
        None => task.row()?,
    };
    let steering = row.steering(scenario);
    let run = task.run((scenario, digest), (&row, &steering), backend)?;
    let failed = |error| failed(&run, &error);
    Ok(match &task.wanted {
        Wanted::Record => task.record(&run, interrupted)?,
        Wanted::Downloads(sizes) => {
            let outcome = download(&run, (&context(scenario), sizes), interrupted).map_err(failed)?;
            serde_json::to_string(&outcome)?
        }
        Wanted::Shares => serde_json::to_string(&pairs::together(&run, interrupted).map_err(failed)?)?,
    })
}

/// A run of a league.
pub(crate) struct Job<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) digest: &'a str,
    pub(crate) row: &'a Row,
    pub(crate) steering: String,
    pub(crate) seed: u64,
    /// What its result is found by.
    pub(crate) key: String,
    pub(crate) wanted: Wanted,
    pub(crate) name: String,
}

impl Job<'_> {
    pub(crate) fn run<'a>(&'a self, backend: &'a dyn Backend) -> Run<'a> {
        Run {
            scenario: self.scenario,
            digest: self.digest,
            row: self.row,
            steering: &self.steering,
            backend,
            seed: self.seed,
            extra_startup_rounds: 0,
            curves: false,
        }
    }

    pub(crate) fn named(&self) -> Named<'_> {
        Named { key: &self.key, name: &self.name, seed: self.seed }
    }

    /// Of the downloads that are wanted, bytes.
    pub(crate) fn sizes(&self) -> &[u64] {
        if let Wanted::Downloads(sizes) = &self.wanted { sizes } else { &[] }
    }
}

/// What is found, and what `workers` play of the rest; `None`: an interruption came before.
pub(crate) fn deal<T: Serialize + DeserializeOwned + Clone>(
    backend: &dyn Backend,
    workers: &dyn Workers,
    jobs: &[Job<'_>],
    playing: &Playing<'_, T>,
) -> Result<Vec<Option<T>>, ExperimentError> {
    let results: RefCell<Vec<Option<T>>> = RefCell::new(vec![None; jobs.len()]);
    let mut sender = Sender::default();
    let waiting = jobs.iter().enumerate().take_while(|_| !playing.interrupted());
    let mut tasks = waiting.filter_map(|(number, job)| {
        if let Some(result) = playing.found(job.named()) {
            results.borrow_mut()[number] = Some(result);
            return None;
        }
        playing.progress.on_start(&job.name);
        let run = job.run(backend);
        let task = Task::new(&run, "", job.wanted.clone());
        Some(task.and_then(|task| sender.send(number, &run, &task)))
    });
    workers.play(&mut tasks, &mut |number, answer| {
        let result: T = serde_json::from_str(answer)?;
        playing.keep(jobs[number].named(), &result)?;
        results.borrow_mut()[number] = Some(result);
        Ok(())
    })?;
    drop(tasks);
    Ok(results.into_inner())
}

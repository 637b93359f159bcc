//! Runs that other processes play: what they are sent, and what they send back.
//!
//! Who asks plans, finds what is there, hands out the rest as [`Task`]s, and keeps and judges what comes back. A task says
//! everything that decides its result and carries the key of that result, so that a process with another ramp, or other files, refuses
//! it rather than answering another question.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rampcc::Algorithm;
use rampcc_backend::{Backend, BackendError};
use rampcc_lab::RunKey;
use rampcc_scenario::{Arm, OfSender, Scenario};
use serde::{Deserialize, Serialize};

use crate::context::digest;
use crate::error::{ExperimentError, Result};
use crate::row::{Row, Steering};
use crate::run::{Kept, Run};

/// Other processes that play. They answer in any order.
pub trait Workers: Sync {
    /// Hands out all `tasks`, and gives each answer with its task's number to `keep` as it comes.
    ///
    /// # Errors
    ///
    /// The first of those that `tasks` and `keep` give, and of its own. An interruption is none: it ends the tasks.
    fn play(&self, tasks: &mut Tasks<'_>, keep: &mut Keep<'_>) -> Result;
}

/// Tasks, one after the other: they are made as they are taken.
pub type Tasks<'a> = dyn Iterator<Item = Result<Sent>> + 'a;
/// Takes the answer to the task with this number.
pub type Keep<'a> = dyn FnMut(usize, &str) -> Result + 'a;

/// A task on its way.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The caller's.
    pub number: usize,
    /// Digest of the path; tasks on the same one follow each other.
    pub digest: String,
    /// The path, a [`Parcel`] as JSON.
    pub path: Arc<str>,
    /// The [`Task`] as JSON.
    pub task: String,
}

/// A scenario with the files that it names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parcel {
    name: String,
    text: String,
    /// Where its files were, which says how they are called.
    directory: Option<PathBuf>,
    files: BTreeMap<PathBuf, String>,
}

impl Parcel {
    /// Of a scenario whose files are still what they were.
    pub fn new(scenario: &Scenario) -> Result<Self> {
        Ok(Self {
            name: scenario.name.clone(),
            text: scenario.text.clone(),
            directory: scenario.directory.clone(),
            files: scenario.carry()?,
        })
    }

    /// The scenario.
    pub fn open(self) -> Result<Scenario> {
        let Self { name, text, directory, files } = self;
        Ok(Scenario::parse_carrying(&name, &text, directory.as_deref(), files)?)
    }
}

/// A run for another process to play.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    label: String,
    algorithm: String,
    set: Vec<(String, u64)>,
    /// Fields of its sender, `initial-window=32` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sender: Vec<String>,
    /// Everything that decides it.
    key: RunKey,
    kept: Kept,
    command: String,
    /// Source of the algorithm, if it is not ramp's own.
    pub code: Option<String>,
}

impl Task {
    /// Of a run that an algorithm steers.
    pub fn new(run: &Run<'_>, command: &str) -> Result<Self> {
        let Steering::Core(arm) = &run.row.steering else {
            let problem = format!("{}: other processes need not have what steers it", run.row.label);
            return Err(ExperimentError::input(problem));
        };
        Ok(Self {
            label: run.row.label.clone(),
            algorithm: arm.algorithm.id.to_owned(),
            set: arm.set.clone(),
            sender: arm.sender.words(),
            key: run.key(),
            kept: run.kept,
            command: command.to_owned(),
            code: run.row.code.as_ref().map(|code| code.text.to_string()),
        })
    }

    /// The row that is played, with an algorithm of the registry.
    pub fn row(&self) -> Result<Row> {
        let algorithm = rampcc::algorithm(&self.algorithm)
            .ok_or_else(|| self.other(&format!("it has no algorithm `{}`", self.algorithm)))?;
        Ok(self.row_of(algorithm))
    }

    /// The same with an algorithm that is not in the registry.
    pub fn row_of(&self, algorithm: &'static Algorithm) -> Row {
        let sender = OfSender::of_words(self.sender.iter().map(String::as_str));
        Arm { label: self.label.clone(), algorithm, set: self.set.clone(), sender }.into()
    }

    /// The run, for this process to play, if it is the same here.
    pub fn run<'a>(
        &'a self,
        received: &'a Received,
        row: &'a Row,
        backend: &'a dyn Backend,
    ) -> Result<Run<'a>> {
        let run = Run {
            seed: self.key.seed,
            extra_startup_rounds: self.key.extra_startup_rounds,
            kept: self.kept,
            ..Run::of(&received.scenario, &received.digest, row, backend)
        };
        let here = run.key();
        let differing = [
            ("ramp", &here.version, &self.key.version),
            ("backend", &here.backend, &self.key.backend),
            ("path", &here.scenario_hash, &self.key.scenario_hash),
            ("algorithm", &here.steering, &self.key.steering),
        ];
        match differing.into_iter().find(|(_, here, there)| here != there) {
            None => Ok(run),
            Some((what, here, there)) => {
                Err(self.other(&format!("its {what} is `{here}`, and the plan's `{there}`")))
            }
        }
    }

    /// The record of the run as JSON.
    pub fn record(&self, run: &Run<'_>, interrupted: &AtomicBool) -> Result<String> {
        match run.watch(&self.command, &mut (), interrupted) {
            Ok(record) => Ok(serde_json::to_string(&record)?),
            Err(error) => Err(failed(run, &error)),
        }
    }

    fn other(&self, why: &str) -> ExperimentError {
        ExperimentError::input_help(
            format!("the worker that is to play {}, seed {} cannot: {why}", self.label, self.key.seed),
            "workers need the ramp of the process that plans, built from the same sources",
        )
    }
}

/// Makes tasks, and a parcel once for those that follow each other on the same path.
#[derive(Debug, Default)]
pub struct Sender {
    last: Option<(String, Arc<str>)>,
}

impl Sender {
    /// A run as number so many.
    pub fn send(&mut self, number: usize, run: &Run<'_>, task: &Task) -> Result<Sent> {
        let digest = run.digest.to_owned();
        let path = match &self.last {
            Some((last, path)) if *last == digest => Arc::clone(path),
            _ => Arc::from(serde_json::to_string(&Parcel::new(run.scenario)?)?),
        };
        self.last = Some((digest.clone(), Arc::clone(&path)));
        Ok(Sent { number, digest, path, task: serde_json::to_string(task)? })
    }
}

/// A path that was sent.
#[derive(Debug)]
pub struct Received {
    /// The path.
    pub scenario: Scenario,
    /// What tells it from others.
    pub digest: String,
}

impl Received {
    /// Reads a [`Sent::path`].
    pub fn read(path: &str) -> Result<Self> {
        let parcel: Parcel = serde_json::from_str(path)?;
        let scenario = parcel.open()?;
        let digest = digest(&scenario);
        Ok(Self { scenario, digest })
    }
}

/// A run without an answer.
pub fn failed(run: &Run<'_>, error: &BackendError) -> ExperimentError {
    ExperimentError::Run { run: run.to_string(), cause: error.to_string() }
}

//! Request for an experiment.

use std::path::PathBuf;

use rampcc_backend::{Backend, Clock};
use rampcc_lab::LeftOut;
use rampcc_scenario::{Scenario, Setting};

use crate::elsewhere::Workers;
use crate::error::Result;
use crate::neighbours::Around;
use crate::row::Row;

/// Makes a scenario with some settings on top.
pub type MakeScenario<'a> = dyn Fn(&[Setting]) -> Result<Scenario> + 'a;

/// Request for an experiment. Text is as on the command line of `ramp compare`.
pub struct Request<'a> {
    /// The scenario with a sweep's settings on top.
    pub scenario: Box<MakeScenario<'a>>,
    /// Every backend that there is: rows may be controls of their own, and the first with a virtual clock plays neighbouring paths.
    pub backends: &'a [&'a dyn Backend],
    /// Backends: one of them, or two side by side.
    pub on: Vec<&'a dyn Backend>,
    /// Rows, `[LABEL=]ALGORITHM[:PARAMETER=VALUE,...]` each; empty: every algorithm, and what the backend has of its own.
    pub algorithms: Vec<String>,
    /// More rows, with algorithms that are in no registry.
    pub candidates: Vec<Row>,
    /// Rows of backends of the caller's own that cannot be played here: reports name them.
    pub left_out: Vec<LeftOut>,
    /// `FIELD=A,B,C` each: a row for each value of `algorithm.ID.PARAMETER`, a comparison for each value of a scenario's field.
    pub sweep: Vec<String>,
    /// Runs of each row; `None`: what the scenario says, in real time at most 3.
    pub runs: Option<u32>,
    /// Seed of the first run; `None`: what the scenario says.
    pub seed: Option<u64>,
    /// Neighbourhood of the described path to play.
    pub around: Around,
    /// Results directory; `None`: below `ramp-results`, by the scenario's name.
    pub out: Option<PathBuf>,
    /// Other processes that play what has a virtual clock; `None`: this one does, on its threads.
    pub workers: Option<&'a dyn Workers>,
    /// True to reuse finished runs on disk.
    pub reuse: bool,
    /// Command that makes the results again; goes into each of them.
    pub command: String,
    /// The same as it was typed, with where results go.
    pub typed: String,
}

impl<'a> Request<'a> {
    /// Every algorithm on this scenario, on the first of the backends, as `ramp compare` does without options.
    pub fn new(
        backends: &'a [&'a dyn Backend],
        scenario: impl Fn(&[Setting]) -> Result<Scenario> + 'a,
    ) -> Self {
        Self {
            scenario: Box::new(scenario),
            backends,
            on: backends.first().copied().into_iter().collect(),
            algorithms: Vec::new(),
            candidates: Vec::new(),
            left_out: Vec::new(),
            sweep: Vec::new(),
            runs: None,
            seed: None,
            around: Around::default(),
            out: None,
            workers: None,
            reuse: true,
            command: String::new(),
            typed: String::new(),
        }
    }

    /// Who plays neighbouring paths.
    pub(crate) fn simulator(&self) -> Option<&'a dyn Backend> {
        self.backends.iter().copied().find(|backend| backend.clock() == Clock::Virtual)
    }
}

//! The simulator as a backend.

use std::sync::atomic::AtomicBool;

use rampcc_backend::{Backend, BackendError, Control, Play, Played, Result};
use rampcc_scenario::Scenario;
use rampcc_trace::Observer;

use crate::{SimulationError, simulate};

/// Virtual time: plays every scenario that there is.
#[derive(Clone, Copy, Debug)]
pub struct Simulator;

impl Backend for Simulator {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn title(&self) -> &'static str {
        "the simulator"
    }

    fn meaning(&self) -> &'static str {
        "The simulator, in virtual time"
    }

    fn identity(&self) -> String {
        concat!("sim+", env!("RAMP_SIM_SOURCES")).to_owned()
    }

    fn check(&self, _: &Scenario, control: Option<&Control>) -> Result<(), Vec<String>> {
        control.map_or(Ok(()), |control| Err(vec![foreign(control)]))
    }

    fn run(
        &self,
        play: &Play<'_>,
        mut observer: &mut dyn Observer,
        interrupted: &AtomicBool,
    ) -> Result<Played> {
        if let Some(control) = play.control {
            return Err(BackendError::Failed(foreign(control)));
        }
        match simulate(play.scenario, play.seed, &mut observer, interrupted) {
            Ok(outcome) => Ok(Played { outcome, emulation: None }),
            Err(SimulationError::Interrupted { at }) => Err(BackendError::Interrupted { at }),
            Err(error) => Err(BackendError::Failed(error.to_string())),
        }
    }
}

fn foreign(control: &Control) -> String {
    format!("`{}` is the {}'s own, and no host of the simulator has it", control.name, control.owner)
}

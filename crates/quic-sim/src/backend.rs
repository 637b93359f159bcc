//! QUIC in virtual time as a backend.

use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use rampcc::Lacking;
use rampcc_backend::{Backend, BackendError, Control, Play, Played};
use rampcc_quic::Rules;
use rampcc_scenario::Scenario;
use rampcc_sim::{Run, SimulationError, simulate_over};
use rampcc_trace::Observer;

use crate::check::check;
use crate::own::CONTROLS;
use crate::transport::Quic;

pub(crate) const NAME: &str = "quic";

/// Plays scenarios with QUIC hosts in virtual time.
#[derive(Clone, Copy, Debug)]
pub struct VirtualQuic;

impl Backend for VirtualQuic {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "QUIC in virtual time"
    }

    fn meaning(&self) -> &'static str {
        "A real QUIC stack, noq-proto, in virtual time"
    }

    fn identity(&self) -> String {
        concat!("quic-noq-1.4.0+", env!("RAMP_QUIC_SOURCES")).to_owned()
    }

    fn controls(&self) -> &'static [Control] {
        CONTROLS
    }

    fn lacks(&self) -> &'static [Lacking] {
        static LACKS: LazyLock<Vec<Lacking>> = LazyLock::new(|| Rules::lacks(true).copied().collect());
        &LACKS
    }

    fn check(&self, scenario: &Scenario, control: Option<&Control>) -> Result<(), Vec<String>> {
        let found = check(scenario, control);
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    fn run(
        &self,
        play: &Play<'_>,
        mut observer: &mut dyn Observer,
        interrupted: &AtomicBool,
    ) -> Result<Played, BackendError> {
        let control = play.control.map(|asked| {
            CONTROLS.iter().find(|control| control.name == asked.name).expect("`check` takes only these")
        });
        let under_test = play.scenario.flows.iter().map(|flow| flow.under_test).collect();
        let run = Run { scenario: play.scenario, seed: play.seed, interrupted };
        match simulate_over(&mut Quic::new(control, under_test), run, &mut observer) {
            Ok(outcome) => Ok(Played { outcome, emulation: None }),
            Err(SimulationError::Interrupted { at }) => Err(BackendError::Interrupted { at }),
            Err(error) => Err(BackendError::Failed(error.to_string())),
        }
    }
}

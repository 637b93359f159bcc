//! QUIC in virtual time as a backend.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use rampcc::Lacking;
use rampcc_backend::{Backend, BackendError, Control, Play, Played, Result};
use rampcc_quic::Rules;
use rampcc_scenario::Scenario;
use rampcc_sim::{Run, SimulationError, simulate_over};
use rampcc_trace::Observer;

use crate::check::check;
use crate::transport::{Quic, Stack, Steers};
use crate::{noq, quinn};

/// Plays scenarios with QUIC hosts in virtual time.
#[derive(Clone, Copy, Debug)]
pub struct VirtualQuic(pub Stack);

static NOQ_CONTROLS: [Control; 3] = [noq::CUBIC, noq::NEWRENO, quinn::CUBIC];
static QUINN_CONTROLS: [Control; 2] = [quinn::CUBIC, quinn::NEWRENO];

/// A stack's own controller.
pub(crate) fn own(control: &Control) -> Option<Steers> {
    [
        (noq::CUBIC, Steers::Noq(Box::new(noq::Watched::cubic))),
        (noq::NEWRENO, Steers::Noq(Box::new(noq::Watched::newreno))),
        (quinn::CUBIC, Steers::Quinn(Box::new(quinn::Watched::cubic))),
        (quinn::NEWRENO, Steers::Quinn(Box::new(quinn::Watched::newreno))),
    ]
    .into_iter()
    .find_map(|(known, steers)| (known == *control).then_some(steers))
}

impl VirtualQuic {
    fn play(
        self,
        play: &Play<'_>,
        own: Option<Steers>,
        mut observer: &mut dyn Observer,
        interrupted: &AtomicBool,
    ) -> Result<Played> {
        let mut transport = match own {
            Some(own) => {
                let under_test = play.scenario.flows.iter().map(|flow| flow.under_test).collect();
                Quic::steered(self.0, own, under_test)
            }
            None => Quic::new(self.0),
        };
        let run = Run { scenario: play.scenario, seed: play.seed, interrupted };
        match simulate_over(&mut transport, run, &mut observer) {
            Ok(outcome) => Ok(Played { outcome, emulation: None }),
            Err(SimulationError::Interrupted { at }) => Err(BackendError::Interrupted { at }),
            Err(error) => Err(BackendError::Failed(error.to_string())),
        }
    }
}

impl Backend for VirtualQuic {
    fn name(&self) -> &'static str {
        match self.0 {
            Stack::Noq => noq::NAME,
            Stack::Quinn => quinn::NAME,
        }
    }

    fn title(&self) -> &'static str {
        match self.0 {
            Stack::Noq => "QUIC in virtual time",
            Stack::Quinn => "quinn in virtual time",
        }
    }

    fn meaning(&self) -> &'static str {
        match self.0 {
            Stack::Noq => "A real QUIC stack, noq-proto, in virtual time",
            Stack::Quinn => "Another one, quinn-proto, which takes a window alone, in virtual time",
        }
    }

    fn identity(&self) -> String {
        match self.0 {
            Stack::Noq => concat!("quic-noq-1.4.0+", env!("RAMP_QUIC_SOURCES")).to_owned(),
            Stack::Quinn => concat!("quic-quinn-0.11.19+", env!("RAMP_QUIC_SOURCES")).to_owned(),
        }
    }

    fn controls(&self) -> &'static [Control] {
        match self.0 {
            Stack::Noq => &NOQ_CONTROLS,
            Stack::Quinn => &QUINN_CONTROLS,
        }
    }

    fn lacks(&self) -> &'static [Lacking] {
        static OF_NOQ: LazyLock<Vec<Lacking>> = LazyLock::new(|| Rules::lacks(true).copied().collect());
        static OF_QUINN: LazyLock<Vec<Lacking>> = LazyLock::new(|| Rules::lacks(false).copied().collect());
        match self.0 {
            Stack::Noq => &OF_NOQ,
            Stack::Quinn => &OF_QUINN,
        }
    }

    fn check(&self, scenario: &Scenario, control: Option<&Control>) -> Result<(), Vec<String>> {
        let found = check(scenario, self.controls(), control);
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    fn run(&self, play: &Play<'_>, observer: &mut dyn Observer, interrupted: &AtomicBool) -> Result<Played> {
        let own = play.control.map(|control| own(control).expect("`check` takes only these"));
        self.play(play, own, observer, interrupted)
    }
}

/// A congestion controller that the caller brings.
#[derive(Clone)]
pub enum Brought {
    /// For noq-proto.
    Noq(Arc<dyn noq_proto::congestion::ControllerFactory + Send + Sync>),
    /// For quinn-proto.
    Quinn(Arc<dyn quinn_proto::congestion::ControllerFactory + Send + Sync>),
}

impl fmt::Debug for Brought {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Noq(_) => "a controller for noq",
            Self::Quinn(_) => "a controller for quinn",
        })
    }
}

/// The same backend with controllers that the caller brings as rows of their own. Their code is no part of the key of a run, so none
/// of their runs may be kept.
#[derive(Debug)]
pub struct Bringing {
    backend: VirtualQuic,
    controls: &'static [Control],
    brought: Vec<(&'static str, Brought)>,
}

impl Bringing {
    /// `brought`: names and controllers. What the rows are is leaked, since rows live as long as the process.
    pub fn new(stack: Stack, brought: Vec<(&'static str, Brought)>) -> Self {
        let backend = VirtualQuic(stack);
        let of = |(name, _): &(&'static str, Brought)| Control {
            name,
            owner: "author",
            backend: backend.name(),
            meaning: "a controller that its author brings",
            simulated_by: None,
            like: None,
            definition: "",
        };
        let controls: Vec<Control> =
            brought.iter().map(of).chain(backend.controls().iter().copied()).collect();
        Self { backend, controls: controls.leak(), brought }
    }
}

impl Backend for Bringing {
    fn name(&self) -> &'static str {
        self.backend.name()
    }

    fn title(&self) -> &'static str {
        self.backend.title()
    }

    fn identity(&self) -> String {
        self.backend.identity()
    }

    fn controls(&self) -> &'static [Control] {
        self.controls
    }

    fn lacks(&self) -> &'static [Lacking] {
        self.backend.lacks()
    }

    fn check(&self, scenario: &Scenario, control: Option<&Control>) -> Result<(), Vec<String>> {
        let found = check(scenario, self.controls, control);
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    fn run(&self, play: &Play<'_>, observer: &mut dyn Observer, interrupted: &AtomicBool) -> Result<Played> {
        let named = |asked: &Control| self.brought.iter().find(|(name, _)| *name == asked.name);
        let own = play.control.map(|control| match named(control).map(|(_, brought)| brought.clone()) {
            Some(Brought::Noq(inner)) => {
                Steers::Noq(Box::new(move |wishes, watch| noq::Watched::of(inner.clone(), wishes, watch)))
            }
            Some(Brought::Quinn(inner)) => {
                Steers::Quinn(Box::new(move |wishes, watch| quinn::Watched::of(inner.clone(), wishes, watch)))
            }
            None => own(control).expect("`check` takes only these"),
        });
        self.backend.play(play, own, observer, interrupted)
    }
}

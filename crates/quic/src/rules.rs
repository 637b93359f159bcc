//! What a connection is given: an algorithm with its parameters, and the host's own choices.

use std::fmt;

use rampcc::{Algorithm, ConfigFlags, Hint, Lacking, PARAMETERS_MAX, Traits, algorithm};
use rampcc_avoidance::Avoidance;

use crate::Spacing;

/// Rules of a connection's congestion control.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Start-up algorithm.
    pub algorithm: &'static Algorithm,
    /// Its parameters, in the order of its table.
    pub parameters: [u64; PARAMETERS_MAX],
    /// Window before the first round-trip sample, full packets (RFC 9002 §7.2: 10).
    pub initial_window_packets: u32,
    /// Slow-start threshold to begin with, full packets; `None`: none.
    pub initial_ssthresh_packets: Option<u32>,
    /// Congestion avoidance after start-up. Where the algorithm is BBR's own start-up, that BBR follows.
    pub avoidance: Avoidance,
    /// Spacing of packets where the algorithm leaves it to its host.
    pub spacing: Spacing,
    /// The peer may acknowledge every second packet only (RFC 9000 §13.2.2).
    pub delayed_acks: bool,
    /// A pause longer than a probe timeout begins again at the initial window (RFC 9002 §7.8).
    pub idle_restart: bool,
    /// Knowledge of the path from before, for algorithms that may have it.
    pub hint: Hint,
}

/// Needs of algorithms that a stack does not meet whose pacer obeys no controller, besides [`rampcc::QUIC_LACKS`].
const LACKING_WITHOUT_PACING: &[Lacking] = &[Lacking {
    need: Traits::PACES,
    reason: "it spaces packets itself, and this stack spaces them by its own rule",
}];

/// A need that is not met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unmet(pub &'static str);

impl Rules {
    /// The algorithm of this id with its defaults, and a host as RFC 9002 has it; `None`: there is no such row.
    pub fn new(id: &str) -> Option<Self> {
        algorithm(id).map(Self::of)
    }

    /// The same for an algorithm.
    pub fn of(algorithm: &'static Algorithm) -> Self {
        Self {
            algorithm,
            parameters: algorithm.default_parameters(),
            initial_window_packets: 10,
            initial_ssthresh_packets: None,
            avoidance: Avoidance::Cubic,
            spacing: Spacing::Stack,
            delayed_acks: true,
            idle_restart: true,
            hint: Hint::NONE,
        }
    }

    /// The first need of the algorithm that a stack does not meet. `paces`: its pacer obeys the controller's rate.
    pub fn unmet(algorithm: &Algorithm, paces: bool) -> Option<Unmet> {
        Self::lacks(paces)
            .find(|lacking| algorithm.traits.has(lacking.need))
            .map(|lacking| Unmet(lacking.reason))
    }

    /// Every need that a stack does not meet.
    pub fn lacks(paces: bool) -> impl Iterator<Item = &'static Lacking> {
        rampcc::QUIC_LACKS.iter().chain(LACKING_WITHOUT_PACING.iter().filter(move |_| !paces))
    }

    /// What follows start-up.
    pub(crate) fn avoidance_in_use(&self) -> Avoidance {
        if self.algorithm.traits.has(Traits::OF_BBR) {
            Avoidance::Bbr
        } else if self.algorithm.traits.has(Traits::OF_BBR3) {
            Avoidance::Bbr3
        } else {
            self.avoidance
        }
    }

    pub(crate) fn flags(&self) -> u32 {
        u32::from(self.delayed_acks) * ConfigFlags::DELAYED_ACKS
    }
}

/// A row that a stack cannot carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedRow {
    /// The algorithm.
    pub algorithm: &'static str,
    /// Why not.
    pub unmet: Unmet,
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Display for RefusedRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` cannot run on this stack: {}", self.algorithm, self.unmet)
    }
}

impl std::error::Error for RefusedRow {}

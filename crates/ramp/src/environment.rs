//! What the registry says of an algorithm besides its row: why it leaves, and what depends on where it runs, which is parameters
//! (`RAMP_OVERRIDES` of `registry.h`) and needs that are not met.

use std::fmt;

use crate::{Algorithm, ExitReason, PARAMETERS_MAX, Traits};

/// Environment of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Environment {
    /// The hosts of the papers: each algorithm as its source has it.
    Papers,
    /// A Linux server of today, simulated or real.
    LinuxServer,
}

/// A parameter that somewhere has another value than its algorithm's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Override {
    /// Environment.
    pub environment: Environment,
    /// Of which algorithm.
    pub algorithm: &'static str,
    /// Parameter.
    pub parameter: &'static str,
    /// Its value there.
    pub value: u64,
    /// Reason.
    pub reason: &'static str,
}

/// A need that a kind of host does not meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lacking {
    /// One of [`Traits::NEEDS`].
    pub need: Traits,
    /// Why not, to stand after a colon.
    pub reason: &'static str,
}

/// Needs that the Linux kernel's TCP does not meet. A row that has one of them does not run there.
pub const LINUX_LACKS: &[Lacking] = &[
    Lacking {
        need: Traits::NEEDS_ROUTER,
        reason: "Linux sends no Quick-Start request (RFC 4782), and no router would answer it",
    },
    Lacking {
        need: Traits::NEEDS_GAPS,
        reason: "Linux asks a congestion control for one pacing rate, and never for the gap before each packet",
    },
    Lacking {
        need: Traits::NEEDS_BRANCHES,
        reason: "the kernel's verifier follows every path through an ACK, and gives up after a million instructions",
    },
];

/// The same of QUIC stacks. Some lack more: [`Backend::lacks`](https://docs.rs/rampcc-backend) says what.
pub const QUIC_LACKS: &[Lacking] = &[
    Lacking { need: Traits::NEEDS_ROUTER, reason: "QUIC has no Quick-Start request (RFC 4782)" },
    Lacking {
        need: Traits::NEEDS_GAPS,
        reason: "QUIC stacks ask a controller for one rate, and never for the gap before each packet",
    },
];

include!(concat!(env!("OUT_DIR"), "/registered.rs"));

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Papers => "the papers' hosts",
            Self::LinuxServer => "a Linux server",
        })
    }
}

impl Algorithm {
    /// Reasons for which it leaves start-up by its own rule, besides those for which others leave as well.
    pub fn own_exits(&self) -> impl Iterator<Item = ExitReason> {
        OWN_EXITS.iter().filter(|(id, _)| *id == self.id).map(|(_, reason)| *reason)
    }

    /// Other values of this parameter, each with its environment.
    pub fn overrides(&self, parameter: &str) -> impl Iterator<Item = &'static Override> {
        OVERRIDES.iter().filter(move |o| o.algorithm == self.id && o.parameter == parameter)
    }

    /// The default values of all parameters, in table order.
    pub fn parameters_in(&self, environment: Environment) -> [u64; PARAMETERS_MAX] {
        let mut values = self.default_parameters();
        for (value, parameter) in values.iter_mut().zip(&self.parameters) {
            if let Some(other) = self.overrides(parameter.name).find(|o| o.environment == environment) {
                *value = other.value;
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_of_its_own_is_of_a_row_and_there_once() {
        for (index, (id, reason)) in OWN_EXITS.iter().enumerate() {
            assert!(crate::algorithms().iter().any(|row| row.id == *id), "{id}");
            assert!(!OWN_EXITS[..index].contains(&(*id, *reason)), "{id}: {reason:?} twice");
        }
    }

    #[test]
    fn what_linux_lacks_is_one_need_each() {
        for lacking in LINUX_LACKS {
            assert!(Traits::NEEDS.iter().any(|need| need.bit == lacking.need), "{lacking:?}");
        }
        let plain = crate::algorithm("best").expect("a row of the registry");
        assert_eq!(plain.unmet(LINUX_LACKS).count(), 0);
    }

    #[test]
    fn every_override_changes_a_parameter_of_the_registry_within_its_range() {
        for (index, other) in OVERRIDES.iter().enumerate() {
            let algorithm = crate::algorithm(other.algorithm).expect("a row of the registry");
            let parameter = algorithm.parameters.iter().position(|p| p.name == other.parameter);
            let parameter = parameter.unwrap_or_else(|| panic!("{}: no {}", algorithm.id, other.parameter));
            let row = &algorithm.parameters[parameter];
            assert!((row.minimum..=row.maximum).contains(&other.value) && other.value != row.default);
            assert_eq!(algorithm.parameters_in(other.environment)[parameter], other.value);
            let same = |o: &Override| {
                (o.environment, o.algorithm, o.parameter)
                    == (other.environment, other.algorithm, other.parameter)
            };
            assert!(!OVERRIDES[..index].iter().any(same), "{}.{} twice", other.algorithm, other.parameter);
        }
        let best = crate::algorithm("best").expect("a row of the registry");
        assert_eq!(best.parameters_in(Environment::LinuxServer), best.default_parameters());
    }
}

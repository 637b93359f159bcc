//! Checks of what works on this host, what does not, and how to fix it.

mod checks;
pub(crate) mod facts;

use std::cmp::Reverse;
use std::iter;

use rampcc::{Algorithm, LINUX_LACKS};

pub use facts::Facts;

use crate::host::Host;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Name of the check.
    pub name: &'static str,
    /// Result.
    pub state: State,
    /// Finding.
    pub found: String,
    /// Meaning of the finding here; may be empty.
    pub meaning: String,
    /// Fix, as a command where there is one; empty: nothing to fix.
    pub mend: String,
}

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// As it should be.
    Ok,
    /// Attaching works; something else does not, or works less well.
    Degraded,
    /// Attaching does not work.
    Missing,
}

impl State {
    /// One word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Degraded => "degraded",
            Self::Missing => "missing",
        }
    }
}

/// All checks, in the order in which a cause precedes its effects.
pub fn diagnose(facts: &Facts) -> Vec<Check> {
    [checks::at_once(facts), checks::once_tried(facts)].concat()
}

/// The same of this host, each as soon as it can be said: loading takes a second or more, and what needs none comes
/// before it.
pub fn examine(host: &Host, tried: &[&'static Algorithm]) -> impl Iterator<Item = Check> {
    let mut facts = Facts::gather(host);
    checks::at_once(&facts).into_iter().chain(
        iter::once_with(move || {
            facts.load(tried);
            checks::once_tried(&facts)
        })
        .flatten(),
    )
}

/// The algorithms that this kernel can be asked to load, the one with the largest state first: it is the one that fails first.
pub fn loadable() -> Vec<&'static Algorithm> {
    let mut all: Vec<_> =
        rampcc::algorithms().iter().filter(|algorithm| algorithm.runs_without(LINUX_LACKS)).collect();
    all.sort_by_key(|algorithm| Reverse(algorithm.state_bytes()));
    all
}

/// True if attaching can work.
pub fn can_attach(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.state < State::Missing)
}

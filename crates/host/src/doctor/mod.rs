//! What works on this host, what does not, and how to mend it.

mod checks;
mod facts;

pub use facts::Facts;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What.
    pub name: &'static str,
    /// How it is.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What that means here; empty: nothing to say.
    pub meaning: String,
    /// What would mend it, a command where one does; empty: nothing to mend.
    pub mend: String,
}

/// How a thing is.
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
    checks::all(facts)
}

/// Whether attaching can work.
pub fn can_attach(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.state < State::Missing)
}

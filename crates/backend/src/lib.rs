//! Backends: players of scenarios.
//!
//! A [`Backend`] plays one run at a time and tells an [`Observer`] what happens. The simulator is one, the kernel's own TCP
//! another; code that asks for runs knows only this trait. A new backend is a crate that implements it, and one line where the
//! command lists its backends.
//!
//! A backend must give the same calls for the same [`Play`] as long as its [`identity`](Backend::identity) is the same, up to what
//! a real clock leaves to chance; and it plays a scenario as it says, or names in [`check`](Backend::check) what it cannot.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use rampcc_backend::{Backend, Play, Result};
//! use rampcc_scenario::Scenario;
//!
//! /// Data packets of a run, on any backend.
//! fn packets(backend: &dyn Backend, scenario: &Scenario, seed: u64) -> Result<u64> {
//!     let play = Play { scenario, control: None, seed };
//!     let played = backend.run(&play, &mut (), &AtomicBool::new(false))?;
//!     Ok(played.outcome.data_packets)
//! }
//! ```

use std::fmt;
use std::sync::atomic::AtomicBool;

use rampcc::{Lacking, Time, Traits};
use rampcc_scenario::Scenario;
use rampcc_trace::{Emulation, Observer, Outcome};

/// Something that plays scenarios.
pub trait Backend: Sync {
    /// As command lines, tables and directories call it: `sim`. One word.
    fn name(&self) -> &'static str;

    /// As sentences call it: `the simulator`.
    fn title(&self) -> &'static str {
        self.name()
    }

    /// Description in one line.
    fn meaning(&self) -> &'static str {
        self.title()
    }

    /// Part of the key of its runs: everything besides the [`Play`] that decides a run, such as the backend's own sources
    /// or the release of a kernel.
    fn identity(&self) -> String;

    /// Kind of time that passes during a run.
    fn clock(&self) -> Clock {
        Clock::Virtual
    }

    /// Whether the machine takes back all that a run holds when the process ends in the middle of it.
    fn ends_with_process(&self) -> bool {
        true
    }

    /// Congestion controls that it has besides the algorithms of the registry.
    fn controls(&self) -> &'static [Control] {
        &[]
    }

    /// Whether algorithms of the registry can steer its flows.
    fn steers(&self) -> bool {
        true
    }

    /// Availability of one of its [`controls`](Self::controls) here; the error says what to do.
    fn offers(&self, _: &Control) -> Result<(), String> {
        Ok(())
    }

    /// Description of the hosts where they are not those of the scenario.
    fn hosts(&self) -> Option<&'static str> {
        None
    }

    /// Needs of algorithms that it does not meet. A row with one of them is refused, or left out if it was not named.
    fn lacks(&self) -> &'static [Lacking] {
        &[]
    }

    /// What keeps flows from being steered so in this process, and what to do; `None`: nothing that is known beforehand.
    fn obstacle(&self, _: Option<&Control>) -> Option<String> {
        None
    }

    /// Makes the process ready, before its first thread starts.
    fn prepare(&self) -> Result<(), String> {
        Ok(())
    }

    /// Lists what this backend cannot do of a scenario, as the row plays it.
    fn check(&self, scenario: &Scenario, control: Option<&Control>) -> Result<(), Vec<String>>;

    /// Plays one run. `interrupted` is looked at several times a second.
    fn run(&self, play: &Play<'_>, observer: &mut dyn Observer, interrupted: &AtomicBool) -> Result<Played>;
}

impl fmt::Debug for dyn Backend + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Kind of time that passes during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Computed: runs share the machine, and the same run is the same again.
    Virtual,
    /// The machine's: each run has the machine for itself, and none is ever the same again.
    Real,
}

/// A congestion control of a backend's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// As tables and command lines call it.
    pub name: &'static str,
    /// Whose it is, in one word: `kernel`.
    pub owner: &'static str,
    /// [`Backend::name`] of the backend that has it.
    pub backend: &'static str,
    /// One line about it.
    pub meaning: &'static str,
    /// The trait of the algorithm that leaves start-up as it does; `None`: there is none.
    pub simulated_by: Option<Traits>,
    /// The same by its name, where a user has said so.
    pub like: Option<&'static str>,
    /// Everything besides the name that decides its runs, in one line, for controls that users define; empty: the backend's
    /// [`identity`](Backend::identity) covers it.
    pub definition: &'static str,
}

/// One run.
#[derive(Clone, Copy, Debug)]
pub struct Play<'a> {
    /// As its row plays it: [`Scenario::with_arm`] has been applied.
    pub scenario: &'a Scenario,
    /// What steers the flows under test instead of the scenario's algorithm.
    pub control: Option<&'a Control>,
    /// For everything random.
    pub seed: u64,
}

/// Outcome of a run, apart from the observer's samples and events.
#[derive(Clone, Debug)]
pub struct Played {
    /// When it ended, and what became of links and flows.
    pub outcome: Outcome,
    /// Report of a run in real time about itself.
    pub emulation: Option<Emulation>,
}

/// Result of what may fail with [`BackendError`].
pub type Result<T = (), E = BackendError> = std::result::Result<T, E>;

/// Error that leaves a run without a result.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// The caller asked to stop.
    #[error("interrupted at {at}")]
    Interrupted {
        /// Time that the run had reached.
        at: Time,
    },
    /// The machine was too busy for the answer to stand, as often as it was tried.
    #[error("{0}")]
    Refused(String),
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

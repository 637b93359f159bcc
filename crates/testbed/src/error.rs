//! Errors of the testbed.

use std::io;

use rampcc::Time;
use rampcc_backend::BackendError;
use rampcc_emulator::{EmulatorError, ErrorReport};

use crate::check::Unsupported;
use crate::controls::Obstacle;

/// Result of what may fail with [`TestbedError`].
pub type Result<T = (), E = TestbedError> = std::result::Result<T, E>;

/// Error that leaves a run without a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TestbedError {
    /// The scenario asks for what a kernel run cannot do.
    #[error("the kernel cannot play this scenario: {}", list(.0))]
    Unsupported(Vec<Unsupported>),
    /// The BPF programs cannot be had.
    #[error("{0}")]
    Obstacle(Obstacle),
    /// The path could not be emulated, or a connection not be opened.
    #[error(transparent)]
    Emulator(#[from] EmulatorError),
    /// An algorithm did not load.
    #[cfg(feature = "bpf")]
    #[error("{name}: {cause}")]
    Load {
        /// Congestion control.
        name: String,
        /// Cause.
        cause: Box<rampcc_linux::LoadError>,
    },
    /// The kernel did not steer a flow as asked.
    #[error("flow `{flow}`: {problem}")]
    Steering {
        /// Flow.
        flow: String,
        /// Problem.
        problem: String,
    },
    /// The kernel did not call a flow's congestion control when the connection began, in each attempt.
    #[error("flow `{flow}`: each time the kernel left out the call with which its congestion control begins")]
    LeftOut {
        /// Flow.
        flow: String,
    },
    /// The emulator's error would have changed the answer each time.
    #[error("{}; tried {attempts} times with this seed", report.verdict)]
    Refused {
        /// Number of attempts.
        attempts: u32,
        /// Of the last attempt.
        report: Box<ErrorReport>,
    },
    /// Others had the processor that a server needed.
    #[error(
        "the server's threads waited for a processor for {:.0} % of the run while others kept {processors:.1} of them busy; \
         tried {attempts} times with this seed",
        share * 100.0
    )]
    Starved {
        /// Number of attempts.
        attempts: u32,
        /// In the last attempt, all threads together.
        share: f64,
        /// In the last attempt.
        processors: f64,
    },
    /// A row's programs did not do what a row's programs do.
    #[error("row `{row}`: {problem}")]
    Program {
        /// Its name.
        row: String,
        /// What they did.
        problem: String,
    },
    /// The caller asked to stop.
    #[error("interrupted at {at}")]
    Interrupted {
        /// Time that the run had reached.
        at: Time,
    },
    /// Web sessions could not be played.
    #[error("traffic `{traffic}`: {problem}")]
    Web {
        /// Of the scenario.
        traffic: String,
        /// Problem.
        problem: String,
    },
    /// The kernel refused something.
    #[error("{action}: {cause}")]
    Io {
        /// Action that failed.
        action: &'static str,
        /// Error of the kernel.
        cause: io::Error,
    },
}

impl From<TestbedError> for BackendError {
    /// What the machine had no time for, or the kernel left out, may be played again; everything else has failed.
    fn from(error: TestbedError) -> Self {
        match error {
            TestbedError::Interrupted { at } => Self::Interrupted { at },
            TestbedError::Refused { .. } | TestbedError::LeftOut { .. } | TestbedError::Starved { .. } => {
                Self::Refused(error.to_string())
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}

fn list(reasons: &[Unsupported]) -> String {
    reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

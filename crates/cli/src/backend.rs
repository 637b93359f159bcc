//! What plays scenarios.

use std::fmt;

use clap::ValueEnum;

use crate::kernel;

/// What plays scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Backend {
    /// The simulator, in virtual time
    Sim,
    /// This kernel's own TCP over an emulated path, in real time
    Linux,
}

/// Runs of each row in real time, unless the command line says otherwise.
pub(crate) const REAL_TIME_RUNS: u32 = 3;

impl Backend {
    /// What its runs are kept by: results of another kernel, or of another emulator, are not reused.
    pub(crate) fn identity(self) -> String {
        match self {
            Self::Sim => "sim".to_owned(),
            Self::Linux => kernel::identity(),
        }
    }

    /// How often each row is played.
    pub(crate) fn default_runs(self, scenario: u32) -> u32 {
        match self {
            Self::Sim => scenario,
            Self::Linux => scenario.min(REAL_TIME_RUNS),
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sim => "sim",
            Self::Linux => "linux",
        })
    }
}

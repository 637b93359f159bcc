//! Plan of a trial.

use serde::{Deserialize, Serialize};

use crate::assign::WHOLE;

/// Everything that is settled before a trial begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The arm on trial, and what it is tried against.
    pub arms: [String; 2],
    /// Their congestion controls in the kernel.
    pub controls: [String; 2],
    /// Whose connections.
    pub cgroup: String,
    /// Share of the arm on trial, out of 10 000.
    pub share: u32,
    /// For how long connections are assigned.
    pub length_s: f64,
    /// Figures of one block are compared with each other; the guard looks at the end of each.
    pub block_s: f64,
    /// A smaller relative difference of times counts as none.
    pub margin: f64,
    /// Probability that an arm that does no harm is stopped.
    pub alpha: f64,
    /// True if connections whose application has chosen are assigned too.
    pub all: bool,
    /// The kernel's tick: busy times are whole ticks.
    pub tick_s: f64,
    /// Seconds since 1970 when it began.
    pub began_s: u64,
    /// Command that repeats it.
    pub command: String,
    /// Of ramp.
    pub version: String,
}

impl Plan {
    /// Blocks, and looks, at most.
    pub fn blocks(&self) -> u32 {
        ((self.length_s / self.block_s).ceil() as u32).max(1)
    }

    /// The share of the arm on trial.
    pub fn new_share(&self) -> f64 {
        f64::from(self.share) / f64::from(WHOLE)
    }

    pub(crate) fn block_of(&self, opened_s: f64) -> u64 {
        (opened_s / self.block_s) as u64
    }
}

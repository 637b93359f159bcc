//! Accuracy of a path that was played in real time, and its hosts.

use serde::{Deserialize, Serialize};

/// Report of a run in real time about itself. A run whose error would have changed the answer has no record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Emulation {
    /// Whose TCP it was: `Linux 6.12.9`.
    pub kernel: String,
    /// Reasons for which the emulator's error may have changed the answer; empty: it has not.
    pub marked: Vec<String>,
    /// Number of attempts; all but the last were refused.
    pub attempts: u32,
    /// Packets handed to their hosts.
    pub packets: u64,
    /// Median lateness of packets, microseconds.
    pub lateness_median_us: f64,
    /// Lateness that 99 % of packets did not exceed, microseconds.
    pub lateness_p99_us: f64,
    /// Lateness of the latest packet, microseconds.
    pub lateness_max_us: f64,
    /// Lateness that the path tolerates for 99 %, microseconds.
    pub tolerated_us: f64,
    /// True if the emulator ran with real-time priority.
    pub realtime: bool,
    /// Share of one processor that it took.
    pub cpu_share: f64,
    /// Samples and events that the hosts gave.
    pub samples: u64,
    /// Those that were lost.
    pub samples_lost: u64,
    /// Setup of the sockets.
    pub sockets: String,
}

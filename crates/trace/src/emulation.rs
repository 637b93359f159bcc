//! How true a path was that was played in real time, and with which hosts.

use serde::{Deserialize, Serialize};

/// What a run in real time says of itself. A run whose error would have changed the answer has no record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Emulation {
    /// Whose TCP it was: `Linux 6.12.9`.
    pub kernel: String,
    /// Why the emulator's error may have changed the answer; empty: it has not.
    pub marked: Vec<String>,
    /// How often the run was played; all but the last attempt were refused.
    pub attempts: u32,
    /// Packets handed to their hosts.
    pub packets: u64,
    /// How late half of them were at most, microseconds.
    pub lateness_median_us: f64,
    /// How late 99 % of them were at most, microseconds.
    pub lateness_p99_us: f64,
    /// How late the latest was, microseconds.
    pub lateness_max_us: f64,
    /// What the path tolerates for 99 %, microseconds.
    pub tolerated_us: f64,
    /// Whether the emulator ran with real-time priority.
    pub realtime: bool,
    /// Share of one processor that it took.
    pub cpu_share: f64,
    /// Samples and events that the hosts gave.
    pub samples: u64,
    /// Those that were lost.
    pub samples_lost: u64,
    /// How the sockets were set up.
    pub sockets: String,
}

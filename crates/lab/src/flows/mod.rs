//! What is kept of a run beyond its metrics where it is wanted: every flow, and their progress in equal bins.

mod watch;

use rampcc::Time;
use serde::{Deserialize, Serialize};

pub use watch::Watch;

/// What is wanted of the flows of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FlowsWanted {
    /// Width of a bin.
    pub bin: Time,
    /// Whether the bandwidth of single ACKs is kept.
    pub acks: bool,
    /// Whether flows other than those under test are kept: web sessions have a hundred thousand.
    pub others: bool,
}

/// Flows of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Flows {
    /// Every flow that is wanted, in the order of opening.
    pub rows: Vec<FlowRow>,
    /// Their progress.
    pub bins: Bins,
    /// Bandwidth of each ACK of the first flow under test, in its first round trips, bytes/s; only where it is wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ack_rounds: Vec<Vec<f64>>,
    /// Payload of a full segment.
    pub mss_bytes: u32,
}

/// One flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowRow {
    /// Under test.
    pub test: bool,
    /// Seconds since the start of the run.
    pub opened_s: f64,
    /// The same; `None`: it was not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_s: Option<f64>,
    /// `None`: without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// In order at the receiver.
    pub received_bytes: u64,
    /// Data packets that links dropped.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_packets: u32,
    /// Of these, those dropped before the exit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_in_startup: u32,
    /// Expiries of the retransmission timer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub timeouts: u32,
    /// `None`: it did not leave start-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<FlowExit>,
}

/// How a flow left start-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowExit {
    /// As files call it.
    pub reason: String,
    /// Since the opening.
    pub time_s: f64,
    /// Just after.
    pub window_bytes: u64,
}

/// Progress of the first flows in bins of equal width.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bins {
    /// Of each.
    pub width_s: f64,
    /// The first [`FLOWS_MAX`] flows under test and the first others, in the order of opening.
    pub flows: Vec<FlowBins>,
    /// In order at the receivers of all others, and of all flows under test: however many there are.
    pub together_bytes: [Vec<u64>; 2],
    /// Most bytes that waited at the bottleneck.
    pub queue_bytes: Vec<u64>,
}

/// One flow's; a column may be shorter than the run, after which nothing happened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowBins {
    /// Under test.
    pub test: bool,
    /// In order at the receiver, in this bin.
    pub received_bytes: Vec<u64>,
    /// The last window in this bin or before.
    pub cwnd_bytes: Vec<u64>,
    /// The last threshold; 0: there was none.
    pub ssthresh_bytes: Vec<u64>,
    /// Mean of the ACKs' round-trip times in this bin; 0: there was none.
    pub rtt_ms: Vec<f64>,
}

/// Most of a hundred thousand web sessions have none.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Round trips whose ACKs are kept.
pub const ROUNDS_MAX: usize = 8;
/// Flows whose bins are kept, of those under test and of the others.
pub const FLOWS_MAX: usize = 8;
/// Bins that are kept; what comes later is not.
pub const BINS_MAX: usize = 20_000;

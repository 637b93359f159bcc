//! What is kept of one run, beyond what a comparison keeps: every flow, and their progress in equal bins.

use rampcc_lab::{RunKey, RunRecord};
use serde::{Deserialize, Serialize};

/// One finished run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// What decides it, beside the bins.
    pub(crate) key: RunKey,
    /// What a comparison keeps.
    pub(crate) record: RunRecord,
    /// Every flow, in the order of opening.
    pub(crate) flows: Vec<FlowRow>,
    pub(crate) bins: Bins,
    /// Bandwidth of each ACK of the first flow under test, in its first round trips, bytes/s; only where it is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ack_rounds: Vec<Vec<f64>>,
    /// Payload of a full segment.
    pub(crate) mss_bytes: u32,
    /// What it took to play, by the caller's clock.
    pub(crate) took_s: f64,
}

/// One flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FlowRow {
    pub(crate) test: bool,
    pub(crate) opened_s: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) completed_s: Option<f64>,
    /// `None`: without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) size_bytes: Option<u64>,
    /// In order at the receiver.
    pub(crate) received_bytes: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) lost_packets: u32,
    /// Of these, those dropped before the exit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) lost_in_startup: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) timeouts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) exit: Option<FlowExit>,
}

/// How a flow left start-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FlowExit {
    /// As files call it.
    pub(crate) reason: String,
    /// Since the opening.
    pub(crate) time_s: f64,
    pub(crate) window_bytes: u64,
}

/// Progress of the first flows in bins of equal width.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bins {
    pub(crate) width_s: f64,
    /// The first [`FLOWS_MAX`] flows under test and the first others, in the order of opening.
    pub(crate) flows: Vec<FlowBins>,
    /// In order at the receivers of all others, and of all flows under test: however many there are.
    pub(crate) together_bytes: [Vec<u64>; 2],
    /// Most bytes that waited at the bottleneck.
    pub(crate) queue_bytes: Vec<u64>,
}

/// One flow's; a column may be shorter than the run, after which nothing happened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FlowBins {
    /// Under test.
    pub(crate) test: bool,
    /// In order at the receiver, in this bin.
    pub(crate) received_bytes: Vec<u64>,
    /// The last window in this bin or before.
    pub(crate) cwnd_bytes: Vec<u64>,
    /// The last threshold; 0: there was none.
    pub(crate) ssthresh_bytes: Vec<u64>,
    /// Mean of the ACKs' round-trip times in this bin; 0: there was none.
    pub(crate) rtt_ms: Vec<f64>,
}

/// Most of a hundred thousand web sessions have none.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Round trips whose ACKs are kept.
pub(crate) const ROUNDS_MAX: usize = 8;
/// Flows whose bins are kept, of those under test and of the others.
pub(crate) const FLOWS_MAX: usize = 8;
/// Bins that are kept; what comes later is not.
pub(crate) const BINS_MAX: usize = 20_000;

//! Outcome of a run, apart from the observer's samples and events.

use rampcc::Time;
use rampcc_path::Count;
use serde::{Deserialize, Serialize};

/// Totals of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// End of the run: `stop.after`, or the completion of the last flow under test.
    pub end: Time,
    /// TCP data segments sent, retransmissions included.
    pub data_packets: u64,
    /// Events of the event queue: deliveries, timers, arrivals, drops.
    pub events: u64,
    /// Every link, by index.
    pub links: Vec<LinkTotals>,
    /// Every flow, by id: explicit ones first, then generated ones in order of arrival.
    pub flows: Vec<FlowTotals>,
}

/// Packets and bytes that went through a link.
///
/// Invariant: `arrived` = `delivered` + `dropped` + `inside`, in packets and in bytes. `inside` is counted by
/// looking inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkTotals {
    /// Handed in.
    pub arrived: Count,
    /// Handed out at the far end.
    pub delivered: Count,
    /// Dropped, for whatever reason.
    pub dropped: Count,
    /// Waiting, in service or travelling when the run ended.
    pub inside: Count,
    /// Most that ever waited, packets and bytes each at their own peak; the packet in service is not counted. In a
    /// run that ends early, because all is complete, packets then on the way to the link may be counted.
    pub peak_queue: Count,
}

/// Outcome of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowTotals {
    /// Time when the application opened it; `Time::NEVER`: the run ended first.
    pub opened: Time,
    /// Arrival of the last byte; `Time::NEVER`: the run ended first.
    pub completed: Time,
    /// Payload bytes to send; `u64::MAX`: endless.
    pub size_bytes: u64,
    /// Payload bytes received in order.
    pub received_bytes: u64,
    /// Payload bytes retransmitted.
    pub retransmitted_bytes: u64,
    /// Data segments sent, retransmissions included.
    pub data_packets: u64,
    /// Data segments dropped by links.
    pub dropped_packets: u64,
    /// True if the compared algorithm steered it.
    pub under_test: bool,
}

impl FlowTotals {
    /// Of a flow that has not been opened yet.
    pub fn new(size_bytes: u64, under_test: bool) -> Self {
        Self {
            opened: Time::NEVER,
            completed: Time::NEVER,
            size_bytes,
            received_bytes: 0,
            retransmitted_bytes: 0,
            data_packets: 0,
            dropped_packets: 0,
            under_test,
        }
    }
}

/// The smallest number above `bytes` with at most three significant digits: from how many in-order bytes on a backend
/// tells of [`Received`](crate::FlowEventKind::Received) again.
pub fn next_round_number(bytes: u64) -> u64 {
    let step = 10u64.pow(bytes.max(1).ilog10().saturating_sub(2));
    (bytes / step + 1).saturating_mul(step)
}

#[cfg(test)]
mod tests {
    use super::next_round_number;

    #[test]
    fn round_numbers_have_three_digits() {
        for (after, next) in
            [(0, 1), (1, 2), (99, 100), (999, 1000), (1000, 1010), (1448, 1450), (36_000_001, 36_100_000)]
        {
            assert_eq!(next_round_number(after), next, "after {after}");
        }
        assert_eq!(next_round_number(u64::MAX), u64::MAX);
    }
}

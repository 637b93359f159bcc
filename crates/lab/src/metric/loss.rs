//! Packets and connections lost, and packets sent again, over the whole flow.

use super::{Better, Definition, Metric};
use crate::ledger::Ledger;

/// Drops, retransmissions, timeouts.
#[derive(Debug)]
pub(super) struct Loss;

/// Packets lost.
pub const LOST_PACKETS: Definition = Definition {
    id: "lost_packets",
    name: "packets lost",
    unit: "packets",
    meaning: "data packets of a flow under test that links dropped",
    better: Better::Lower,
};

/// Retransmissions.
pub const RETRANSMISSIONS: Definition = Definition {
    id: "retransmissions",
    name: "retransmissions",
    unit: "packets",
    meaning: "full segments' worth of data that a flow under test had sent again when its last ACK came, needed or not",
    better: Better::Lower,
};

/// Timeouts.
pub const TIMEOUTS: Definition = Definition {
    id: "timeouts",
    name: "timeouts",
    unit: "count",
    meaning: "expiries of a flow's retransmission timer",
    better: Better::Lower,
};

/// Connections that an end gave up.
pub const CONNECTIONS_LOST: Definition = Definition {
    id: "connections_lost",
    name: "connections lost",
    unit: "share",
    meaning: "share of the flows under test whose connection an end gave up before all had arrived; TCP's ends do not",
    better: Better::Lower,
};

const DEFINITIONS: [Definition; 4] = [LOST_PACKETS, RETRANSMISSIONS, TIMEOUTS, CONNECTIONS_LOST];

impl Metric for Loss {
    fn definitions(&self) -> &'static [Definition] {
        &DEFINITIONS
    }

    fn values(&mut self, ledger: &Ledger) -> Vec<Option<f64>> {
        let mss = f64::from(ledger.context.mss_bytes);
        vec![
            ledger.mean_of(|flow, _| Some(flow.dropped_packets as f64)),
            ledger.mean_of_sampled(|_, test| (mss > 0.0).then(|| test.last.retransmitted_bytes as f64 / mss)),
            ledger.mean_of(|flow, _| Some(flow.timeouts as f64)),
            ledger.mean_of(|flow, _| Some(f64::from(u8::from(flow.lost)))),
        ]
    }
}

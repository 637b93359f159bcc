//! Start-up as a whole: Paced Start's Table 3, and what share of the work it was.

use super::{Better, Definition, Metric};
use crate::ledger::{Flow, Ledger, TestFlow};
use crate::startup::StartupEnd;

/// Totals from the first packet to the first linear increase. Flows without samples have none.
#[derive(Debug)]
pub(super) struct StartupTotals;

/// Start-up utilisation.
pub const STARTUP_UTILISATION: Definition = Definition {
    id: "startup_utilisation",
    name: "start-up utilisation",
    unit: "share",
    meaning: "payload delivered in start-up over what the path could have carried meanwhile",
    better: Better::Higher,
};

/// Packets lost in start-up.
pub const STARTUP_LOST_PACKETS: Definition = Definition {
    id: "startup_lost_packets",
    name: "packets lost in start-up",
    unit: "packets",
    meaning: "data packets dropped until the losses that start-up caused were repaired, some of them after the exit",
    better: Better::Lower,
};

const DEFINITIONS: [Definition; 6] = [
    Definition {
        id: "startup_time",
        name: "start-up time",
        unit: "s",
        meaning: "from the first packet to the first linear increase, or to the end of the repair of the losses that \
                  start-up caused",
        better: Better::Lower,
    },
    Definition {
        id: "startup_throughput",
        name: "start-up throughput",
        unit: "Mbit/s",
        meaning: "payload delivered in start-up over its time",
        better: Better::Higher,
    },
    STARTUP_UTILISATION,
    STARTUP_LOST_PACKETS,
    Definition {
        id: "startup_loss",
        name: "start-up loss",
        unit: "share",
        meaning: "data packets dropped in start-up over those sent in it",
        better: Better::Lower,
    },
    Definition {
        id: "startup_share",
        name: "share that was start-up",
        unit: "share",
        meaning: "payload delivered in start-up over all payload delivered: near 1, nothing else was measured",
        better: Better::Neither,
    },
];

impl Metric for StartupTotals {
    fn definitions(&self) -> &'static [Definition] {
        &DEFINITIONS
    }

    fn values(&mut self, ledger: &Ledger) -> Vec<Option<f64>> {
        let context = &ledger.context;
        let mean = |value: &dyn Fn(&Flow, &TestFlow, &StartupEnd) -> Option<f64>| {
            ledger.mean_of_sampled(|flow, test| value(flow, test, test.startup.end()?))
        };
        let mss = f64::from(context.mss_bytes);
        vec![
            mean(&|_, test, end| Some((end.at - test.established).secs_f64())),
            mean(&|_, test, end| {
                over(end.delivered_bytes as f64 * 8e-6, (end.at - test.established).secs_f64())
            }),
            mean(&|_, test, end| {
                let capacity = context.capacity_bytes(test.established.secs_f64(), end.at.secs_f64());
                over(end.delivered_bytes as f64, capacity)
            }),
            mean(&|_, _, end| Some(end.dropped_packets as f64)),
            mean(&|_, _, end| {
                over(end.dropped_packets as f64 * mss, end.sent_bytes as f64).filter(|_| mss > 0.0)
            }),
            mean(&|flow, test, end| {
                // The last sample may come before the last ACKs.
                let all = flow.completed.and(flow.size_bytes).unwrap_or(test.last.delivered_bytes);
                over(end.delivered_bytes as f64, all as f64)
            }),
        ]
    }
}

fn over(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

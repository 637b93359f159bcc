//! Rate at which data arrives over the whole flow.

use rampcc::Time;

use super::{Better, Definition, Metric};
use crate::ledger::Ledger;

/// Bytes in order at the receiver over time.
#[derive(Debug)]
pub(super) struct Goodput;

/// Goodput.
pub const GOODPUT: Definition = Definition {
    id: "goodput",
    name: "goodput",
    unit: "Mbit/s",
    meaning: "payload in order at the receiver over the time from a flow's opening to its end or the run's",
    better: Better::Higher,
};

/// Utilisation.
pub const UTILISATION: Definition = Definition {
    id: "utilisation",
    name: "utilisation",
    unit: "share",
    meaning: "payload received by all flows under test over the capacity from the first one's opening to the last \
              one's end",
    better: Better::Higher,
};

const DEFINITIONS: [Definition; 2] = [GOODPUT, UTILISATION];

impl Metric for Goodput {
    fn definitions(&self) -> &'static [Definition] {
        &DEFINITIONS
    }

    fn values(&mut self, ledger: &Ledger) -> Vec<Option<f64>> {
        let goodput = ledger.mean_of(|flow, _| {
            let seconds = (ledger.over(flow) - flow.opened).secs_f64();
            (seconds > 0.0).then(|| flow.received_bytes as f64 * 8e-6 / seconds)
        });
        let first = ledger.under_test().map(|(flow, _)| flow.opened).min().unwrap_or(Time::ZERO);
        let last = ledger.under_test().map(|(flow, _)| ledger.over(flow)).max().unwrap_or(Time::ZERO);
        let received: f64 = ledger.under_test().map(|(flow, _)| flow.received_bytes as f64).sum();
        let capacity = ledger.context.capacity_bytes(first.secs_f64(), last.secs_f64());
        vec![goodput, (capacity > 0.0).then(|| received / capacity)]
    }
}

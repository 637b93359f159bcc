//! Bytes sent beyond the path's capacity.

use super::{Better, Definition, Metric};
use crate::ledger::Ledger;

/// In flight beyond pipe and buffer.
#[derive(Debug)]
pub(super) struct Overshoot;

const DEFINITIONS: [Definition; 1] = [Definition {
    id: "overshoot",
    name: "overshoot",
    unit: "bytes",
    meaning: "most in flight in start-up beyond the bandwidth-delay product and the bottleneck's buffer together",
    better: Better::Lower,
}];

impl Metric for Overshoot {
    fn definitions(&self) -> &'static [Definition] {
        &DEFINITIONS
    }

    fn values(&mut self, ledger: &Ledger) -> Vec<Option<f64>> {
        let Some(buffer) = ledger.context.buffer_bytes else { return vec![None] };
        let holds = ledger.context.bdp_bytes.saturating_add(buffer);
        vec![
            ledger.mean_of_sampled(|_, test| {
                Some(test.startup.peak_in_flight_bytes.saturating_sub(holds) as f64)
            }),
        ]
    }
}

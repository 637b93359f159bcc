//! Time until the path is used.

use std::collections::{BTreeMap, VecDeque};

use rampcc::Time;
use rampcc_trace::FlowSample;

use super::{Better, Definition, Metric};
use crate::Context;
use crate::ledger::{Flow, Ledger, TestFlow};

/// Time until one base round trip delivered 90 % of what the path can carry in it.
///
/// The window is one base RTT, because start-up sends in bursts of one per round trip. Flows under test that share the
/// path are held against their equal shares of it.
#[derive(Debug, Default)]
pub(super) struct TimeToCapacity {
    flows: BTreeMap<u32, Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    /// Delivered bytes over time, at most one entry per 64th of the window.
    delivered: VecDeque<(Time, u64)>,
    seconds: Option<f64>,
}

const SHARE: f64 = 0.9;

/// When the path was used.
pub(crate) const TIME_TO_CAPACITY: Definition = Definition {
    id: "time_to_capacity",
    name: "time to 90 % of capacity",
    unit: "s",
    meaning: "from a flow's opening to the end of the first base RTT in which it delivered 90 % of its share of the \
              capacity",
    better: Better::Lower,
};

const DEFINITIONS: [Definition; 1] = [TIME_TO_CAPACITY];

impl Metric for TimeToCapacity {
    fn definitions(&self) -> &'static [Definition] {
        &DEFINITIONS
    }

    fn on_flow(&mut self, context: &Context, flow: &Flow, test: &TestFlow, sample: &FlowSample) {
        let progress = self.flows.entry(flow.id).or_default();
        if progress.seconds.is_some() {
            return;
        }
        let window = Time::from_secs_f64(context.base_rtt_s);
        if window == Time::ZERO {
            return;
        }
        let delivered = &mut progress.delivered;
        if delivered.is_empty() {
            delivered.push_back((test.established, 0));
        }
        let from = sample.now - window;
        while delivered.get(1).is_some_and(|(at, _)| *at <= from) {
            delivered.pop_front();
        }
        let (at, before) = delivered[0];
        if at <= from && sample.now >= test.established + window {
            let share = SHARE / f64::from(context.flows_under_test.max(1));
            let needed = share * context.capacity_bytes(at.secs_f64(), sample.now.secs_f64());
            let carried = sample.delivered_bytes.saturating_sub(before) as f64;
            if needed > 0.0 && carried >= needed {
                progress.seconds = Some((sample.now - flow.opened).secs_f64());
                progress.delivered = VecDeque::new();
                return;
            }
        }
        let spacing = Time::from_ns(window.ns() / 64);
        if delivered.back().is_none_or(|(last, _)| sample.now >= *last + spacing) {
            delivered.push_back((sample.now, sample.delivered_bytes));
        }
    }

    fn values(&mut self, ledger: &Ledger) -> Vec<Option<f64>> {
        vec![ledger.mean_of(|flow, _| self.flows.get(&flow.id)?.seconds)]
    }
}

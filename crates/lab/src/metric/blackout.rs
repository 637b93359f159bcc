//! Longest time without a delivery, after the first one.

use std::collections::{BTreeMap, VecDeque};

use rampcc::Time;
use rampcc_trace::FlowSample;

use super::{Better, Definition, Metric};
use crate::Context;
use crate::ledger::{Flow, Ledger, TestFlow};

/// Time in windows that delivered less than 1 % of the capacity.
///
/// A window is two base RTTs long, and at least 200 ms, the smallest retransmission timeout; it slides by a tenth of that.
/// It counts from the first window on that delivered 10 % of the flow's share of the capacity: before that, a long path
/// is slow to start, not black. A flow that never gets there has no value.
/// A flow that its application may hold back has no value.
#[derive(Debug, Default)]
pub(super) struct Blackout {
    flows: BTreeMap<u32, Darkness>,
}

#[derive(Debug, Default)]
struct Darkness {
    /// The slot that is filling, when it is over (`Time::ZERO`: not known yet), and what it delivered so far.
    slot: u64,
    slot_end: Time,
    filling_bytes: u64,
    /// What the latest whole slots delivered, at most [`SLOTS`].
    slots: VecDeque<u64>,
    delivered_bytes: u64,
    seen_light: bool,
    /// One past the last slot known to be dark.
    dark_until: u64,
    run: u64,
    longest: u64,
    total: u64,
}

const SLOTS: u64 = 10;
/// Of the capacity: less is dark.
const DARK: f64 = 0.01;
/// Of the flow's share of the capacity: the transfer is under way.
const LIGHT: f64 = 0.1;
const SHORTEST_WINDOW_S: f64 = 0.2;

const DEFINITIONS: [Definition; 2] = [
    Definition {
        id: "blackout_longest",
        name: "longest blackout",
        unit: "s",
        meaning: "longest time in which no window of two base RTTs (200 ms at least) delivered 1 % of the capacity, once \
                  one had delivered 10 %; where the path carries nothing at all, time does not count",
        better: Better::Lower,
    },
    Definition {
        id: "blackout_total",
        name: "blackout",
        unit: "s",
        meaning: "total time in windows of two base RTTs (200 ms at least) that delivered less than 1 % of the capacity, \
                  once one had delivered 10 %; where the path carries nothing at all, time does not count",
        better: Better::Lower,
    },
];

impl Metric for Blackout {
    fn definitions(&self) -> &'static [Definition] {
        &DEFINITIONS
    }

    fn on_flow(&mut self, context: &Context, flow: &Flow, test: &TestFlow, sample: &FlowSample) {
        let darkness = self.flows.entry(flow.id).or_default();
        darkness.advance(context, test.established, sample.now);
        darkness.filling_bytes += sample.delivered_bytes.saturating_sub(darkness.delivered_bytes);
        darkness.delivered_bytes = darkness.delivered_bytes.max(sample.delivered_bytes);
    }

    fn values(&mut self, ledger: &Ledger) -> Vec<Option<f64>> {
        if ledger.context.application_limited {
            return vec![None, None];
        }
        let slot_s = slot(&ledger.context).secs_f64();
        let mut over = |value: fn(&Darkness) -> u64| {
            ledger.mean_of(|flow, test| {
                let darkness = self.flows.get_mut(&flow.id)?;
                darkness.advance(&ledger.context, test.established, ledger.over(flow));
                darkness.seen_light.then(|| value(darkness) as f64 * slot_s)
            })
        };
        vec![over(|d| d.longest), over(|d| d.total)]
    }
}

impl Darkness {
    /// Close the slots that are over at `now`.
    #[inline]
    fn advance(&mut self, context: &Context, established: Time, now: Time) {
        if now >= self.slot_end {
            self.close(context, established, now);
        }
    }

    fn close(&mut self, context: &Context, established: Time, now: Time) {
        let slot = slot(context);
        let current = (now - established).ns() / slot.ns();
        while self.slot < current {
            self.slots.push_back(self.filling_bytes);
            self.filling_bytes = 0;
            self.slot += 1;
            if self.slots.len() as u64 > SLOTS {
                self.slots.pop_front();
            }
            if self.slots.len() as u64 == SLOTS {
                let from = established + Time::from_ns(slot.ns() * (self.slot - SLOTS));
                let to = established + Time::from_ns(slot.ns() * self.slot);
                self.judge_window(
                    context.capacity_bytes(from.secs_f64(), to.secs_f64()),
                    LIGHT / f64::from(context.flows_under_test.max(1)),
                );
            }
        }
        self.slot_end = established + Time::from_ns(slot.ns() * (self.slot + 1));
    }

    fn judge_window(&mut self, capacity_bytes: f64, light: f64) {
        let delivered = self.slots.iter().sum::<u64>() as f64;
        self.seen_light |= delivered >= light * capacity_bytes;
        if !self.seen_light || delivered >= DARK * capacity_bytes {
            return;
        }
        let first = self.slot - SLOTS;
        if first > self.dark_until || self.run == 0 {
            self.run = 0;
            self.dark_until = first;
        }
        let new = self.slot - self.dark_until;
        self.run += new;
        self.total += new;
        self.dark_until = self.slot;
        self.longest = self.longest.max(self.run);
    }
}

fn slot(context: &Context) -> Time {
    Time::from_secs_f64((2.0 * context.base_rtt_s).max(SHORTEST_WINDOW_S) / SLOTS as f64)
}

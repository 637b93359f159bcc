//! Waiting time of packets at the bottleneck.

use rampcc::Time;
use rampcc_trace::{FlowEvent, FlowEventKind, LinkSample};

use super::{Better, Definition, Metric};
use crate::ledger::Ledger;

/// Queueing delay at the bottleneck while flows under test are open.
///
/// Samples come with arrivals; in between the queue drains, so the delay falls by one second per second down to zero.
/// Percentiles are over time, not over packets, and exact to 1 %.
#[derive(Debug, Default)]
pub(super) struct Queue {
    peak_ns: u64,
    now: Time,
    delay_ns: u64,
    active: bool,
    waited: Histogram,
}

/// Queue peak.
pub const QUEUE_PEAK: Definition =
    definition("queue_peak", "queue peak", "ms", "longest queueing delay at the bottleneck");

/// Queue, 95 % of time.
pub const QUEUE_P95: Definition =
    definition("queue_p95", "queue, 95 % of time", "ms", "queueing delay not exceeded for 95 % of the time");

const DEFINITIONS: [Definition; 8] = [
    QUEUE_PEAK,
    definition("queue_p50", "median queue", "ms", "queueing delay not exceeded for half the time"),
    QUEUE_P95,
    definition("queue_p99", "queue, 99 % of time", "ms", "queueing delay not exceeded for 99 % of the time"),
    definition("queue_peak_bdp", "queue peak / BDP", "BDP", "longest queueing delay over the base RTT"),
    definition("queue_p50_bdp", "median queue / BDP", "BDP", "median queueing delay over the base RTT"),
    definition(
        "queue_p95_bdp",
        "queue / BDP, 95 % of time",
        "BDP",
        "95th percentile of the queueing delay over the base RTT",
    ),
    definition(
        "queue_p99_bdp",
        "queue / BDP, 99 % of time",
        "BDP",
        "99th percentile of the queueing delay over the base RTT",
    ),
];

const fn definition(
    id: &'static str,
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
) -> Definition {
    Definition { id, name, unit, meaning, better: Better::Lower }
}

impl Metric for Queue {
    fn definitions(&self) -> &'static [Definition] {
        &DEFINITIONS
    }

    fn on_link(&mut self, ledger: &Ledger, sample: &LinkSample) {
        self.advance(sample.now);
        let delay_s = ledger.context.queueing_s(sample.queue_bytes, sample.now.secs_f64());
        self.delay_ns = Time::from_secs_f64(delay_s).ns();
        if self.active {
            self.peak_ns = self.peak_ns.max(self.delay_ns);
        }
    }

    fn on_event(&mut self, ledger: &Ledger, event: &FlowEvent) {
        if matches!(event.kind, FlowEventKind::Opened { .. } | FlowEventKind::Completed { .. }) {
            self.advance(event.now);
            self.active = ledger.active > 0;
        }
    }

    fn values(&mut self, ledger: &Ledger) -> Vec<Option<f64>> {
        self.advance(ledger.end);
        let known = self.waited.total_ns > 0;
        let ns =
            [self.peak_ns, self.waited.quantile(0.5), self.waited.quantile(0.95), self.waited.quantile(0.99)];
        let over_rtt = |ns: u64| {
            (known && ledger.context.base_rtt_s > 0.0).then(|| ns as f64 * 1e-9 / ledger.context.base_rtt_s)
        };
        let ms = ns.map(|ns| known.then_some(ns as f64 * 1e-6));
        ms.into_iter().chain(ns.map(over_rtt)).collect()
    }
}

impl Queue {
    fn advance(&mut self, now: Time) {
        let span = (now - self.now).ns();
        if span == 0 {
            return;
        }
        let after = self.delay_ns.saturating_sub(span);
        if self.active {
            self.waited.add_falling(after, self.delay_ns);
            self.waited.add(0, span - (self.delay_ns - after));
        }
        self.now = self.now.max(now);
        self.delay_ns = after;
    }
}

/// How long the delay was how large, in buckets of at most 1/128 of their value.
#[derive(Debug, Default)]
struct Histogram {
    ns: Vec<u64>,
    total_ns: u64,
}

const PER_OCTAVE: u64 = 128;

impl Histogram {
    fn add(&mut self, delay_ns: u64, span_ns: u64) {
        if span_ns == 0 {
            return;
        }
        let bucket = bucket(delay_ns);
        if bucket >= self.ns.len() {
            self.ns.resize(bucket + 1, 0);
        }
        self.ns[bucket] += span_ns;
        self.total_ns += span_ns;
    }

    /// The delay fell from `high` to `low`, at one second per second.
    fn add_falling(&mut self, low: u64, high: u64) {
        let mut from = low;
        while from < high {
            let to = lower_end(bucket(from) + 1).min(high);
            self.add(from, to - from);
            from = to;
        }
    }

    /// Upper end of the bucket below which the delay stayed for this share of the time.
    fn quantile(&self, share: f64) -> u64 {
        let needed = (share * self.total_ns as f64).ceil() as u64;
        let mut spent = 0;
        for (bucket, ns) in self.ns.iter().enumerate() {
            spent += ns;
            if *ns > 0 && spent >= needed {
                return if bucket == 0 { 0 } else { lower_end(bucket + 1) - 1 };
            }
        }
        0
    }
}

fn bucket(ns: u64) -> usize {
    let octave = (ns / PER_OCTAVE).checked_ilog2().map_or(0, |log| u64::from(log) + 1);
    if octave == 0 {
        return ns as usize;
    }
    (octave * PER_OCTAVE + (ns >> (octave - 1)) - PER_OCTAVE) as usize
}

fn lower_end(bucket: usize) -> u64 {
    let (octave, step) = (bucket as u64 / PER_OCTAVE, bucket as u64 % PER_OCTAVE);
    if octave == 0 { step } else { (PER_OCTAVE + step).checked_shl(octave as u32 - 1).unwrap_or(u64::MAX) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_falling_delay_spends_the_same_time_everywhere() {
        let mut histogram = Histogram::default();
        histogram.add_falling(0, 1_000_000);
        assert_eq!(histogram.total_ns, 1_000_000);
        let median = histogram.quantile(0.5);
        assert!((495_000..=505_000).contains(&median), "{median}");
    }

    proptest! {
        #[test]
        fn buckets_are_narrow_and_ascend(ns in 0..u64::MAX / 4) {
            let bucket = bucket(ns);
            prop_assert!(lower_end(bucket) <= ns && ns < lower_end(bucket + 1));
            prop_assert!(lower_end(bucket + 1) - lower_end(bucket) <= 1 + ns / PER_OCTAVE);
        }
    }
}

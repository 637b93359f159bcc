//! Facts about the path, as plain data; code that knows the scenario fills them in.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::RunPath;
use crate::format::{bytes, seconds};

/// The path that the flows under test share. Bytes and rates are payload unless they say wire.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub struct Context {
    /// Description of the path in a sentence; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its links, traces, hosts and what else is on it in words, a heading and a text each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<(String, String)>,
    /// Round-trip time of a full segment and its ACK over empty queues, seconds.
    pub base_rtt_s: f64,
    /// Bottleneck rate over time, ascending, the first from 0 s on.
    pub capacity: Vec<CapacityStep>,
    /// At what rate the bottleneck's queue drains, as `capacity`; empty: at that. A policer lets less through than its link could
    /// carry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drain: Vec<CapacityStep>,
    /// From a packet's departure to its arrival at the bottleneck over empty queues, seconds; `None`: unknown, or it varies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_bottleneck_s: Option<f64>,
    /// Bandwidth-delay product.
    pub bdp_bytes: u64,
    /// Capacity of the bottleneck's queue; `None`: unlimited.
    pub buffer_bytes: Option<u64>,
    /// The same as the scenario states it, if in `bdp`: times the rate and the round-trip time of the delays alone. [`Self::base_rtt_s`]
    /// has the packets' own time on the links, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_stated_bdp: Option<f64>,
    /// What the bottleneck's queue drops or marks before it is full, in words; empty: nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub early_drops: String,
    /// Payload of a full segment.
    pub mss_bytes: u32,
    /// Headers of every data packet, as the link counts them.
    pub header_bytes: u32,
    /// Index of the bottleneck, as link samples call it.
    pub bottleneck: u32,
    /// Bytes that a flow under test sends; `None`: without end, or different for each flow.
    pub size_bytes: Option<u64>,
    /// Number of listed flows under test that share the path at the same time; at least 1.
    pub flows_under_test: u32,
    /// How many of those have no end, if not all: no download time is theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endless_flows: Option<u32>,
    /// True if flows under test are generated: each run has others, and those that its end cuts off do not count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generated: bool,
    /// True if other flows, or other traffic, cross the bottleneck.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// True if the application, not the window, may limit the flows under test.
    pub application_limited: bool,
    /// What the application of every flow under test writes now and then; `None`: it does not, or not all of them the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<Writes>,
    /// Longest duration of a run, seconds.
    pub end_s: f64,
    /// True if anything is random; otherwise all runs of a row are the same.
    #[serde(default = "yes")]
    pub chance: bool,
}

fn yes() -> bool {
    true
}

/// Equal writes, the first when the flow is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Writes {
    /// Payload bytes of each.
    pub bytes: u64,
    /// From one to the next whatever the path does, seconds; `None`: each waits for a request, which comes when all before it has been
    /// acknowledged.
    pub interval_s: Option<f64>,
    /// From the request to the write, seconds.
    pub think_s: f64,
    /// What is written when the flow is opened and counts as none of them.
    pub first_bytes: u64,
}

impl Writes {
    /// `chunks`, `responses`.
    pub(crate) fn what(&self) -> &'static str {
        if self.interval_s.is_some() { "chunks" } else { "responses" }
    }

    /// "one every 2 s".
    pub(crate) fn when(&self) -> String {
        match self.interval_s {
            Some(interval_s) => format!("one every {}", seconds(interval_s)),
            None => format!("each {} after its request", seconds(self.think_s)),
        }
    }

    /// "5 responses of 200 kB, each 5 s after its request".
    pub(crate) fn in_words(&self, size_bytes: Option<u64>) -> String {
        let count = size_bytes.map_or(String::new(), |size| {
            format!("{} ", size.saturating_sub(self.first_bytes) / self.bytes.max(1))
        });
        format!("{count}{} of {}, {}", self.what(), bytes(self.bytes as f64), self.when())
    }
}

/// A rate from an instant on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CapacityStep {
    /// From when, seconds since the start of the run.
    pub from_s: f64,
    /// Payload bytes per second.
    pub bytes_per_s: f64,
}

impl Context {
    /// True if a run may have several flows under test, so that its values are means over them.
    pub fn of_several(&self) -> bool {
        self.generated || self.flows_under_test > 1
    }

    /// Context of one run: its own path where runs meet different ones, otherwise this one.
    pub fn of_run<'a>(&'a self, path: Option<&RunPath>) -> Cow<'a, Self> {
        let Some(path) = path else { return Cow::Borrowed(self) };
        let capacity = if path.capacity.is_empty() { &self.capacity } else { &path.capacity };
        Cow::Owned(Self {
            base_rtt_s: path.base_rtt_s,
            bdp_bytes: path.bdp_bytes,
            buffer_bytes: path.buffer_bytes,
            capacity: capacity.clone(),
            ..self.clone()
        })
    }

    /// True if the bottleneck's rate changes.
    pub fn varies(&self) -> bool {
        let first = self.capacity.first().map_or(0.0, |step| step.bytes_per_s);
        self.capacity.iter().any(|step| (step.bytes_per_s - first).abs() > first * 1e-9)
    }

    /// Payload bytes that the bottleneck can carry between two instants.
    pub fn capacity_bytes(&self, from_s: f64, to_s: f64) -> f64 {
        let mut carried = 0.0;
        for (i, step) in self.capacity.iter().enumerate() {
            let end = self.capacity.get(i + 1).map_or(f64::INFINITY, |next| next.from_s);
            let span = to_s.min(end) - from_s.max(step.from_s);
            if span > 0.0 {
                carried += span * step.bytes_per_s;
            }
        }
        carried
    }

    /// Payload rate at an instant, bytes per second.
    pub fn bytes_per_s_at(&self, time_s: f64) -> f64 {
        let after = self.capacity.partition_point(|step| step.from_s <= time_s);
        self.capacity.get(after.saturating_sub(1)).map_or(0.0, |step| step.bytes_per_s)
    }

    /// Wire bytes per payload byte of a full segment.
    pub fn wire_factor(&self) -> f64 {
        if self.mss_bytes == 0 {
            return 1.0;
        }
        f64::from(self.mss_bytes.saturating_add(self.header_bytes)) / f64::from(self.mss_bytes)
    }

    /// Time that a queue of so many wire bytes at an instant takes to drain, at the rates from then on, seconds; one that never drains waits until
    /// the end of the run.
    pub fn queueing_s(&self, wire_bytes: u64, time_s: f64) -> f64 {
        let rates = self.drains_at();
        let (mut left, mut now) = (wire_bytes as f64, time_s);
        let mut step = rates.partition_point(|step| step.from_s <= time_s).saturating_sub(1);
        while let Some(here) = rates.get(step) {
            let rate = here.bytes_per_s * self.wire_factor();
            let end = rates.get(step + 1).map_or(f64::INFINITY, |next| next.from_s);
            if rate > 0.0 && left <= rate * (end - now) {
                return now - time_s + left / rate;
            }
            if end.is_infinite() {
                return self.end_s.max(now) - time_s;
            }
            left -= rate * (end - now);
            now = end;
            step += 1;
        }
        0.0
    }

    /// Payload rates at which the bottleneck's queue drains.
    fn drains_at(&self) -> &[CapacityStep] {
        if self.drain.is_empty() { &self.capacity } else { &self.drain }
    }

    /// True if a policer, and not the link, is what limits.
    pub fn policed(&self) -> bool {
        !self.drain.is_empty()
    }

    /// `bytes` over the bandwidth-delay product; `None` where it is unknown.
    pub fn over_bdp(&self, bytes: f64) -> Option<f64> {
        over_bdp(bytes, self.bdp_bytes)
    }
}

/// `bytes` over a bandwidth-delay product; `None` where that is 0, which is unknown.
pub(crate) fn over_bdp(bytes: f64, bdp_bytes: u64) -> Option<f64> {
    (bdp_bytes > 0).then(|| bytes / bdp_bytes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::close;

    #[test]
    fn a_queue_drains_at_the_rates_to_come() {
        let capacity = [(0.0, 1000.0), (2.0, 0.0), (6.0, 100.0), (7.0, 2000.0)];
        let capacity = capacity.map(|(from_s, bytes_per_s)| CapacityStep { from_s, bytes_per_s }).to_vec();
        let context = Context { capacity, end_s: 20.0, ..Context::default() };
        close(context.queueing_s(500, 1.0), 0.5, 1e-12);
        // Half of it leaves before the outage, 100 bytes in the slow second, and the rest after that.
        close(context.queueing_s(1000, 1.5), 0.5 + 4.0 + 1.0 + 0.2, 1e-12);
        close(context.queueing_s(50, 3.0), 3.5, 1e-12);
        close(context.queueing_s(0, 1.0), 0.0, 1e-12);
        let drain = vec![CapacityStep { from_s: 0.0, bytes_per_s: 1e4 }];
        let policed = Context { drain, ..context.clone() };
        close(policed.queueing_s(500, 1.0), 0.05, 1e-12);
        assert!(policed.policed() && !context.policed());
        let dead = Context { capacity: context.capacity[..2].to_vec(), ..context };
        close(dead.queueing_s(50, 3.0), 17.0, 1e-12);
        close(Context::default().queueing_s(50, 3.0), 0.0, 1e-12);
    }
}

//! States of the bottleneck's queue that an observer sees.

use std::collections::VecDeque;

use rampcc::Time;
use rampcc_path::Count;
use rampcc_scenario::{FlowConfig, Scenario};
use rampcc_trace::LinkSample;

/// At most this many samples per base round-trip time, and as many longest queues between them.
const PER_ROUND: u64 = 200;

/// Thins arrivals at one link to a bearable number of samples.
///
/// A sample is taken when the last one is at least `spacing` old. Between two samples, the longest queue is shown as well if it is
/// longer than the first of them told: a burst may arrive in one instant.
#[derive(Debug)]
pub(crate) struct LinkSampler {
    link: u32,
    spacing: Time,
    next: Time,
    /// The longest queue since the last sample, that one's included.
    longest_bytes: u64,
    /// If that was after the last sample: what has not been shown of it.
    longest: Option<LinkSample>,
    /// Samples of a fused link lie in the future.
    ready: VecDeque<LinkSample>,
    /// When the first of them is due.
    due: Time,
}

impl LinkSampler {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        Self {
            link: scenario.bottleneck as u32,
            spacing: Time::from_ns(base_rtt(scenario).ns() / PER_ROUND),
            next: Time::ZERO,
            longest_bytes: 0,
            longest: None,
            ready: VecDeque::new(),
            due: Time::NEVER,
        }
    }

    /// A packet arrived at `time`; `waiting` is the queue after that.
    #[inline]
    pub(crate) fn on_arrival(&mut self, time: Time, waiting: Count) {
        if time >= self.next || waiting.bytes > self.longest_bytes {
            self.sample(time, waiting);
        }
    }

    /// When the next sample is due; `Time::NEVER`: none is known.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    fn sample(&mut self, time: Time, waiting: Count) {
        let sample = LinkSample {
            now: time,
            link: self.link,
            queue_bytes: waiting.bytes,
            queue_packets: waiting.packets,
        };
        self.longest_bytes = waiting.bytes;
        if time >= self.next {
            self.ready.extend(self.longest.take());
            self.ready.push_back(sample);
            self.next = time + self.spacing;
        } else {
            self.longest = Some(sample);
        }
        self.note_due();
    }

    /// The next sample that is due; call until `None`.
    pub(crate) fn poll_sample(&mut self, now: Time) -> Option<LinkSample> {
        if self.due > now {
            return None;
        }
        let sample = self.ready.pop_front().or_else(|| self.longest.take());
        self.note_due();
        sample
    }

    fn note_due(&mut self) {
        self.due = match (self.ready.front(), &self.longest) {
            (Some(first), _) => first.now,
            (None, Some(_)) => self.next,
            (None, None) => Time::NEVER,
        };
    }

    /// Something happens at `now` that needs to know the queue until then.
    pub(crate) fn catch_up(&mut self, now: Time) {
        if self.longest.is_some_and(|sample| sample.now <= now) {
            self.ready.extend(self.longest.take());
            self.note_due();
        }
    }
}

/// The base round-trip time of a flow over the bottleneck.
fn base_rtt(scenario: &Scenario) -> Time {
    let crosses = |flow: &FlowConfig| scenario.crosses_bottleneck(flow.from, flow.to);
    // No such flow: the facts of generated traffic.
    let base_rtt = scenario.facts(scenario.flows.iter().position(crosses).unwrap_or(usize::MAX)).base_rtt;
    if base_rtt == Time::ZERO { Time::from_ms(100) } else { base_rtt }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However packets arrive, each queue is shown that is the longest for a while, and nothing comes in a wrong order.
        #[test]
        fn no_burst_is_lost(arrivals in prop::collection::vec((0u64..30, 0u64..20, prop::bool::weighted(0.05)), 1..200)) {
            let spacing = Time::from_us(10);
            let mut sampler = LinkSampler {
                link: 0,
                spacing,
                next: Time::ZERO,
                longest_bytes: 0,
                longest: None,
                ready: VecDeque::new(),
                due: Time::NEVER,
            };
            let (mut now, mut shown, mut queues) = (Time::ZERO, Vec::new(), Vec::new());
            for (wait_us, bytes, asks) in arrivals {
                now += Time::from_us(wait_us / 3);
                shown.extend(std::iter::from_fn(|| sampler.poll_sample(now)));
                sampler.on_arrival(now, Count { packets: 1, bytes });
                queues.push((now, bytes));
                if asks {
                    sampler.catch_up(now);
                }
            }
            sampler.catch_up(now);
            shown.extend(std::iter::from_fn(|| sampler.poll_sample(now)));
            prop_assert!(shown.is_sorted_by_key(|sample| sample.now));
            for (at, bytes) in queues {
                let near = |sample: &&LinkSample| sample.now.max(at) - sample.now.min(at) < spacing;
                let longest = shown.iter().filter(near).map(|sample| sample.queue_bytes).max();
                prop_assert!(longest >= Some(bytes), "{bytes} at {at:?}: {shown:?}");
            }
        }
    }
}

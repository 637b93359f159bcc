//! States of the bottleneck's queue that an observer sees.

use std::collections::VecDeque;

use rampcc::Time;
use rampcc_path::Count;
use rampcc_scenario::Scenario;
use rampcc_trace::LinkSample;

/// At most this many samples per base round-trip time, and as many peaks.
const PER_ROUND: u64 = 200;

/// Thins arrivals at one link to a bearable number of samples.
///
/// A sample is taken when the last one is at least `spacing` old. Between two samples, the highest queue is shown as
/// well if it is higher than ever before, so that the peak of a run is exact.
#[derive(Debug)]
pub(crate) struct LinkSampler {
    link: u32,
    spacing: Time,
    next: Time,
    peak: Count,
    peak_sample: Option<LinkSample>,
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
            peak: Count::default(),
            peak_sample: None,
            ready: VecDeque::new(),
            due: Time::NEVER,
        }
    }

    /// A packet arrived at `time`; `waiting` is the queue after that.
    #[inline]
    pub(crate) fn on_arrival(&mut self, time: Time, waiting: Count) {
        let peak = waiting.bytes > self.peak.bytes || waiting.packets > self.peak.packets;
        if peak || time >= self.next {
            self.sample(time, waiting, peak);
        }
    }

    /// When the next sample is due; `Time::NEVER`: none is known.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    fn sample(&mut self, time: Time, waiting: Count, peak: bool) {
        let sample = LinkSample {
            now: time,
            link: self.link,
            queue_bytes: waiting.bytes,
            queue_packets: waiting.packets,
        };
        if peak {
            self.peak.bytes = self.peak.bytes.max(waiting.bytes);
            self.peak.packets = self.peak.packets.max(waiting.packets);
            self.peak_sample = Some(sample);
        }
        if time >= self.next {
            if !peak {
                self.ready.extend(self.peak_sample);
            }
            self.peak_sample = None;
            self.ready.push_back(sample);
            self.note_due();
            self.next = time + self.spacing;
        }
    }

    /// The next sample that is due; call until `None`.
    pub(crate) fn poll_sample(&mut self, now: Time) -> Option<LinkSample> {
        if self.due > now {
            return None;
        }
        let sample = self.ready.pop_front();
        self.note_due();
        sample
    }

    fn note_due(&mut self) {
        self.due = self.ready.front().map_or(Time::NEVER, |sample| sample.now);
    }

    /// The run is over: the last peak is due, too.
    pub(crate) fn finish(&mut self) {
        self.ready.extend(self.peak_sample.take());
        self.note_due();
    }
}

/// The base round-trip time of a flow over the bottleneck.
fn base_rtt(scenario: &Scenario) -> Time {
    let crosses =
        |from, to| scenario.route(from, to).is_some_and(|route| route.contains(&scenario.bottleneck));
    // No such flow: the facts of generated traffic.
    let flow = scenario.flows.iter().position(|flow| crosses(flow.from, flow.to)).unwrap_or(usize::MAX);
    let base_rtt = scenario.facts(flow).base_rtt;
    if base_rtt == Time::ZERO { Time::from_ms(100) } else { base_rtt }
}

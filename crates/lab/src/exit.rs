//! Window and queue of a round trip ago.

use std::collections::VecDeque;

use rampcc::Time;
use rampcc_trace::{FlowSample, LinkSample};

/// The window over the last two round trips: the deciding packet was sent within them.
#[derive(Debug, Default)]
pub(crate) struct CwndHistory {
    changes: VecDeque<(Time, u64)>,
    longest_rtt: Time,
    /// Arrivals and round-trip times of the last [`ACKS`] ACKs with a valid sample.
    rtts: VecDeque<(Time, Time)>,
}

/// What judges single round-trip times judges the first eight or sixteen of a round.
const ACKS: usize = 64;

impl CwndHistory {
    pub(crate) fn push(&mut self, sample: &FlowSample) {
        self.longest_rtt = self.longest_rtt.max(sample.rtt);
        if self.changes.back().is_none_or(|(_, cwnd)| *cwnd != sample.cwnd_bytes) {
            self.changes.push_back((sample.now, sample.cwnd_bytes));
        }
        if sample.rtt != Time::ZERO {
            if self.rtts.len() == ACKS {
                self.rtts.pop_front();
            }
            self.rtts.push_back((sample.now, sample.rtt));
        }
        let needed_from = sample.now - self.longest_rtt - self.longest_rtt;
        while self.changes.get(1).is_some_and(|(at, _)| *at <= needed_from) {
            self.changes.pop_front();
        }
    }

    /// The window at an instant; `None` before the first sample.
    pub(crate) fn at(&self, time: Time) -> Option<u64> {
        let after = self.changes.partition_point(|(at, _)| *at <= time);
        self.changes.get(after.checked_sub(1)?).map(|(_, cwnd)| *cwnd)
    }

    /// When the packet left whose round-trip time that was, whole microseconds; `None`: none of the last ones, as with a mean.
    pub(crate) fn sent_for(&self, rtt_us: u64) -> Option<Time> {
        let latest = self.rtts.iter().rev().find(|(_, rtt)| rtt.us() == rtt_us);
        latest.map(|(now, rtt)| *now - *rtt)
    }

    /// The window just before an instant, changes at that instant left out.
    pub(crate) fn latest_before(&self, time: Time) -> Option<u64> {
        let from = self.changes.partition_point(|(at, _)| *at < time);
        self.changes.get(from.checked_sub(1)?).map(|(_, cwnd)| *cwnd)
    }
}

/// The largest queue in each 2048th of a round trip, over the last [`SLOTS`] of them that saw a packet.
#[derive(Debug)]
pub(crate) struct QueueHistory {
    slot: Time,
    largest: VecDeque<(u64, u64)>,
}

/// Sixteen round trips: five in which growth was slower (HyStart++'s CSS), and a full buffer of several BDP that does not
/// hide the deciding packet.
const SLOTS: usize = 32_768;

impl QueueHistory {
    pub(crate) fn new(base_rtt_s: f64) -> Self {
        Self {
            slot: Time::from_secs_f64(base_rtt_s / 2048.0).max(Time::from_ns(1)),
            largest: VecDeque::new(),
        }
    }

    pub(crate) fn push(&mut self, sample: &LinkSample) {
        let slot = sample.now.ns() / self.slot.ns();
        match self.largest.back_mut() {
            Some((last, largest)) if *last == slot => *largest = (*largest).max(sample.queue_bytes),
            _ => {
                if self.largest.len() == SLOTS {
                    self.largest.pop_front();
                }
                self.largest.push_back((slot, sample.queue_bytes));
            }
        }
    }

    /// The latest news of the queue by then: when, within a slot, and the most it was, wire bytes.
    pub(crate) fn latest(&self, by: Time) -> Option<(Time, u64)> {
        let slot = by.ns() / self.slot.ns();
        let (at, bytes) = *self.largest.iter().rev().find(|(at, _)| *at <= slot)?;
        Some((Time::from_ns((at + 1) * self.slot.ns()).min(by), bytes))
    }

    /// The largest queue between two instants, wire bytes; `None` where nothing arrived.
    pub(crate) fn largest(&self, from: Time, to: Time) -> Option<u64> {
        let (from, to) = (from.ns() / self.slot.ns(), to.ns() / self.slot.ns());
        self.largest.iter().filter(|(slot, _)| (from..=to).contains(slot)).map(|(_, bytes)| *bytes).max()
    }
}

#[cfg(test)]
mod tests {
    use rampcc::ExitReason;
    use rampcc_trace::{FlowEvent, FlowEventKind, Observer};

    use super::*;
    use crate::testing::close;
    use crate::{CapacityStep, Context, Meter};

    fn sample(ms: u64, cwnd_bytes: u64) -> FlowSample {
        FlowSample { now: Time::from_ms(ms), cwnd_bytes, rtt: Time::from_ms(100), ..FlowSample::default() }
    }

    #[test]
    fn remembers_the_window_two_round_trips_back_and_no_further() {
        let mut history = CwndHistory::default();
        for i in 0..1000 {
            history.push(&sample(i, 1000 + i));
        }
        assert_eq!(history.at(Time::from_ms(900)), Some(1900));
        assert_eq!(history.latest_before(Time::from_ms(999)), Some(1998));
        assert!(history.changes.len() <= 202);
    }

    /// 1 MB/s. What was judged left at 1 s and met what was left of 10 kB; 40 kB of the same burst arrived 20 ms later.
    #[test]
    fn what_is_sent_later_delays_nothing_that_was_judged() {
        let capacity = vec![CapacityStep { from_s: 0.0, bytes_per_s: 1e6 }];
        let queueing_s = |before_bottleneck_s, evidence| {
            let context = Context {
                base_rtt_s: 0.1,
                capacity: capacity.clone(),
                before_bottleneck_s,
                ..Context::default()
            };
            let mut meter = Meter::new(&context);
            let tell = |ms, kind| FlowEvent { now: Time::from_ms(ms), flow: 0, kind };
            meter.on_event(&tell(0, FlowEventKind::Opened { size_bytes: 1_000_000, under_test: true }));
            for (ms, queue_bytes) in [(1_003, 10_000), (1_025, 40_000)] {
                meter.on_link(&LinkSample { now: Time::from_ms(ms), queue_bytes, ..LinkSample::default() });
            }
            let (now, rtt) = (Time::from_ms(1_130), Time::from_ms(130));
            meter.on_flow(&FlowSample { now, rtt, ..FlowSample::default() });
            let deciding_sent = Time::from_ms(1_000);
            let reason = ExitReason::Delay;
            meter.on_event(&tell(
                1_130,
                FlowEventKind::StartupExit { reason, evidence, limit: 1, cwnd_bytes: 1, deciding_sent },
            ));
            meter.finish(Time::from_secs(2)).exit.unwrap().queueing_s.unwrap()
        };
        close(queueing_s(Some(0.005), 130_000), 0.008, 2e-4);
        close(queueing_s(Some(0.020), 130_000), 0.0, 1e-9);
        for (way, evidence) in [(None, 130_000), (Some(0.005), 125_000)] {
            close(queueing_s(way, evidence), 0.040, 1e-9);
        }
    }

    #[test]
    fn queue_history_is_bounded() {
        let mut history = QueueHistory::new(2.048);
        for ms in 0..50_000 {
            history.push(&LinkSample { now: Time::from_ms(ms), queue_bytes: ms, ..LinkSample::default() });
        }
        assert_eq!(history.largest.len(), SLOTS);
        assert_eq!(history.largest(Time::from_ms(49_900), Time::from_ms(49_950)), Some(49_950));
        assert_eq!(history.largest(Time::from_ms(0), Time::from_ms(10)), None);
        assert_eq!(history.latest(Time::from_ms(49_950)), Some((Time::from_ms(49_950), 49_950)));
        assert_eq!(history.latest(Time::from_secs(80)), Some((Time::from_ms(50_000), 49_999)));
        assert_eq!(history.latest(Time::from_ms(10)), None);
    }
}

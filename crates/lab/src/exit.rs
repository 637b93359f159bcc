//! Window and queue of a round trip ago.

use std::collections::VecDeque;

use rampcc::Time;
use rampcc_trace::{FlowSample, LinkSample};

/// The window over the last two round trips: the deciding packet was sent within them.
#[derive(Debug, Default)]
pub(crate) struct CwndHistory {
    changes: VecDeque<(Time, u64)>,
    longest_rtt: Time,
}

impl CwndHistory {
    pub(crate) fn push(&mut self, sample: &FlowSample) {
        self.longest_rtt = self.longest_rtt.max(sample.rtt);
        if self.changes.back().is_none_or(|(_, cwnd)| *cwnd != sample.cwnd_bytes) {
            self.changes.push_back((sample.now, sample.cwnd_bytes));
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

    /// The window just before an instant, changes at that instant left out.
    pub(crate) fn latest_before(&self, time: Time) -> Option<u64> {
        let from = self.changes.partition_point(|(at, _)| *at < time);
        self.changes.get(from.checked_sub(1)?).map(|(_, cwnd)| *cwnd)
    }
}

/// The largest queue in each 64th of a round trip, over the last [`SLOTS`] of them that saw a packet.
#[derive(Debug)]
pub(crate) struct QueueHistory {
    slot: Time,
    largest: VecDeque<(u64, u64)>,
}

/// Sixteen round trips: five in which growth was slower (HyStart++'s CSS), and a full buffer of several BDP that does not
/// hide the deciding packet.
const SLOTS: usize = 1024;

impl QueueHistory {
    pub(crate) fn new(base_rtt_s: f64) -> Self {
        Self { slot: Time::from_secs_f64(base_rtt_s / 64.0).max(Time::from_ns(1)), largest: VecDeque::new() }
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

    /// The largest queue between two instants, wire bytes; `None` where nothing arrived.
    pub(crate) fn largest(&self, from: Time, to: Time) -> Option<u64> {
        let (from, to) = (from.ns() / self.slot.ns(), to.ns() / self.slot.ns());
        self.largest.iter().filter(|(slot, _)| (from..=to).contains(slot)).map(|(_, bytes)| *bytes).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn queue_history_is_bounded() {
        let mut history = QueueHistory::new(0.064);
        for ms in 0..10_000 {
            history.push(&LinkSample { now: Time::from_ms(ms), queue_bytes: ms, ..LinkSample::default() });
        }
        assert_eq!(history.largest.len(), SLOTS);
        assert_eq!(history.largest(Time::from_ms(9_900), Time::from_ms(9_950)), Some(9_950));
        assert_eq!(history.largest(Time::from_ms(0), Time::from_ms(10)), None);
    }
}

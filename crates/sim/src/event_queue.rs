//! What happens next.
//!
//! Every *source* (a link, a flow's timers, a generator) has at most one pending event, so the queue is as long as
//! there are busy sources, not packets. Arming a source again moves its entry in place: the common case, the
//! earliest source handing out its next packet, costs one sift from the top and no allocation.
//!
//! The heap is 4-ary with 16-byte entries: four children are 64 bytes, half the depth of a binary heap.

use ramp::Time;

/// Pending events, one per source, earliest first; ties go to whoever was armed first.
///
/// Invariant: `heap[position[s]].source() == s` for every armed source `s`.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: Vec<Entry>,
    position: Vec<u32>,
    /// Counts armings. It wraps after 2^32 of them, which can only change the order of a tie, and always the same
    /// way.
    armed: u32,
}

/// Time, order of arming and source, from the highest bits to the lowest: one comparison decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    #[inline]
    fn new(time: Time, order: u32, source: u32) -> Self {
        Self(u128::from(time.ns()) << 64 | u128::from(order) << 32 | u128::from(source))
    }
    #[inline]
    fn time(self) -> Time {
        Time::from_ns((self.0 >> 64) as u64)
    }
    #[inline]
    fn source(self) -> u32 {
        self.0 as u32
    }
}

const ARITY: usize = 4;
const IDLE: u32 = u32::MAX;

impl EventQueue {
    /// The earliest event and its source.
    #[inline]
    pub(crate) fn peek(&self) -> Option<(Time, u32)> {
        self.heap.first().map(|entry| (entry.time(), entry.source()))
    }

    /// When `source` is due; `Time::NEVER` if it is not armed.
    #[inline]
    pub(crate) fn time(&self, source: u32) -> Time {
        match self.position.get(source as usize) {
            Some(&at) if at != IDLE => self.heap[at as usize].time(),
            _ => Time::NEVER,
        }
    }

    /// Arm `source` for `time`, whatever it was armed for; `Time::NEVER` disarms it.
    #[inline]
    pub(crate) fn set(&mut self, source: u32, time: Time) {
        if source as usize >= self.position.len() {
            self.position.resize(source as usize + 1, IDLE);
        }
        let at = self.position[source as usize];
        if time == Time::NEVER {
            if at != IDLE {
                self.remove(at as usize);
            }
            return;
        }
        if at == IDLE {
            let entry = self.entry(time, source);
            self.heap.push(entry);
            self.sift_up(self.heap.len() - 1, entry);
            return;
        }
        let old = self.heap[at as usize].time();
        if time != old {
            let entry = self.entry(time, source);
            if time < old {
                self.sift_up(at as usize, entry);
            } else {
                self.sift_down(at as usize, entry);
            }
        }
    }

    /// Arm `source` for `time` unless it is due earlier anyway.
    ///
    /// For timers that mostly move later: whoever finds such a source due too early arms it again.
    #[inline]
    pub(crate) fn set_at_latest(&mut self, source: u32, time: Time) {
        if time < self.time(source) {
            self.set(source, time);
        }
    }

    #[inline]
    fn entry(&mut self, time: Time, source: u32) -> Entry {
        self.armed = self.armed.wrapping_add(1);
        Entry::new(time, self.armed, source)
    }

    fn remove(&mut self, at: usize) {
        self.position[self.heap[at].source() as usize] = IDLE;
        let Some(last) = self.heap.pop() else { return };
        if at < self.heap.len() {
            if at > 0 && last < self.heap[(at - 1) / ARITY] {
                self.sift_up(at, last);
            } else {
                self.sift_down(at, last);
            }
        }
    }

    fn sift_up(&mut self, mut at: usize, entry: Entry) {
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent] <= entry {
                break;
            }
            self.put(at, self.heap[parent]);
            at = parent;
        }
        self.put(at, entry);
    }

    #[inline]
    fn sift_down(&mut self, mut at: usize, entry: Entry) {
        loop {
            let first = at * ARITY + 1;
            if first >= self.heap.len() {
                break;
            }
            let end = self.heap.len().min(first + ARITY);
            let children = &self.heap[first..end];
            let mut least = entry;
            let mut child = at;
            for (i, &other) in children.iter().enumerate() {
                let less = other < least;
                least = if less { other } else { least };
                child = if less { first + i } else { child };
            }
            if child == at {
                break;
            }
            self.put(at, least);
            at = child;
        }
        self.put(at, entry);
    }

    #[inline]
    fn put(&mut self, at: usize, entry: Entry) {
        self.heap[at] = entry;
        self.position[entry.source() as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drain(queue: &mut EventQueue) -> Vec<(u64, u32)> {
        std::iter::from_fn(|| {
            let (time, source) = queue.peek()?;
            queue.set(source, Time::NEVER);
            Some((time.ns(), source))
        })
        .collect()
    }

    #[test]
    fn ties_go_to_whoever_was_armed_first() {
        let mut queue = EventQueue::default();
        for source in [5, 1, 9, 3] {
            queue.set(source, Time::from_ns(7));
        }
        queue.set(1, Time::from_ns(8));
        queue.set(1, Time::from_ns(7));
        assert_eq!(drain(&mut queue), [(7, 5), (7, 9), (7, 3), (7, 1)]);
    }

    #[test]
    fn a_timer_that_moves_later_stays_where_it_is() {
        let mut queue = EventQueue::default();
        queue.set(0, Time::from_ns(10));
        queue.set_at_latest(0, Time::from_ns(20));
        assert_eq!(queue.time(0), Time::from_ns(10));
        queue.set_at_latest(0, Time::from_ns(5));
        assert_eq!(queue.time(0), Time::from_ns(5));
    }

    proptest! {
        #[test]
        fn agrees_with_a_sorted_list(steps in proptest::collection::vec((0u32..40, 0u64..60), 1..300)) {
            let mut queue = EventQueue::default();
            let mut model: Vec<(u64, usize, u32)> = Vec::new();
            for (i, &(source, time)) in steps.iter().enumerate() {
                // 50 and later stand for disarming.
                let disarm = time >= 50;
                queue.set(source, if disarm { Time::NEVER } else { Time::from_ns(time) });
                match model.iter().position(|e| e.2 == source) {
                    Some(at) if disarm => { model.remove(at); }
                    Some(at) if model[at].0 != time => model[at] = (time, i, source),
                    None if !disarm => model.push((time, i, source)),
                    _ => {}
                }
                let earliest = model.iter().min().map(|e| (Time::from_ns(e.0), e.2));
                prop_assert_eq!(queue.peek(), earliest);
            }
            model.sort_unstable();
            let expected: Vec<_> = model.iter().map(|e| (e.0, e.2)).collect();
            prop_assert_eq!(drain(&mut queue), expected);
        }
    }
}

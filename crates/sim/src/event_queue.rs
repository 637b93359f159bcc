//! Queue of coming events.
//!
//! Every *source* (a link, a flow's timers, a generator) has at most one pending event, so the queue is as long as
//! there are busy sources, not packets.
//!
//! What an event causes is mostly due soon: the next packet of a link, the crossing of an access link. So the
//! earliest few events are a sorted list, where a new one takes its place by insertion, two or three steps from the
//! front. All later ones, timers above all, are a heap. Arming a source again leaves its former entry behind, to be
//! dropped when its time comes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rampcc::Time;

/// Pending events, one per source, earliest first; ties go to the source that was armed first.
///
/// Invariants: no entry in `far` is earlier than one in `near`; the entry that armed a source is in one of the two, and
/// whatever else is in them is void.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// Latest first; so many of the list count.
    near: Box<[Entry; NEAR_MAX]>,
    near_count: usize,
    far: BinaryHeap<Reverse<Entry>>,
    armed: Vec<Armed>,
    /// Counts armings. It wraps after 2^32 of them, which can only change the order of a tie, and always the same
    /// way.
    armings: u32,
}

/// Ordered by time, then by order of arming.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    time: Time,
    /// Order of arming, then source. One word, written as it is read: an entry is mostly read again at once.
    key: u64,
}

impl Entry {
    #[inline]
    fn new(time: Time, order: u32, source: u32) -> Self {
        Self { time, key: u64::from(order) << 32 | u64::from(source) }
    }

    #[inline]
    fn order(self) -> u32 {
        (self.key >> 32) as u32
    }

    #[inline]
    fn source(self) -> u32 {
        self.key as u32
    }
}

/// What a source is armed for, and the order of the entry that says so.
#[derive(Clone, Copy, Debug)]
struct Armed {
    time: Time,
    order: u32,
}

impl Armed {
    /// No entry has order 0.
    const IDLE: Self = Self { time: Time::NEVER, order: 0 };
}

/// Half of it moves at once between the list and the heap.
const NEAR_MAX: usize = 64;

impl Default for EventQueue {
    fn default() -> Self {
        let near = Box::new([Entry::default(); NEAR_MAX]);
        Self { near, near_count: 0, far: BinaryHeap::new(), armed: Vec::new(), armings: 0 }
    }
}

impl EventQueue {
    /// The earliest event and its source, which is not armed any more.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Time, u32)> {
        loop {
            let Some(&entry) = self.near.get(self.near_count.wrapping_sub(1)) else {
                self.refill();
                if self.near_count == 0 {
                    return None;
                }
                continue;
            };
            self.near_count -= 1;
            let armed = &mut self.armed[entry.source() as usize];
            if armed.order == entry.order() {
                *armed = Armed::IDLE;
                return Some((entry.time, entry.source()));
            }
        }
    }

    /// When `source` is due; `Time::NEVER` if it is not armed.
    #[inline]
    pub(crate) fn time(&self, source: u32) -> Time {
        self.armed.get(source as usize).map_or(Time::NEVER, |armed| armed.time)
    }

    /// Arm `source` for `time`, whatever it was armed for; `Time::NEVER` disarms it.
    pub(crate) fn set(&mut self, source: u32, time: Time) {
        self.set_again(source, time);
    }

    /// The same for what is armed again and again.
    #[expect(
        clippy::inline_always,
        reason = "one call in the loop of all events: a tenth of its instructions"
    )]
    #[inline(always)]
    pub(crate) fn set_again(&mut self, source: u32, time: Time) {
        let Some(armed) = self.armed.get_mut(source as usize) else { return self.set_new(source, time) };
        if time == armed.time {
            return;
        }
        if time == Time::NEVER {
            *armed = Armed::IDLE;
            return;
        }
        self.armings = self.armings.wrapping_add(1).max(1);
        *armed = Armed { time, order: self.armings };
        self.insert(Entry::new(time, self.armings, source));
    }

    /// Arms a source that is not armed yet.
    #[cold]
    fn set_new(&mut self, source: u32, time: Time) {
        self.armed.resize(source as usize + 1, Armed::IDLE);
        self.set(source, time);
    }

    /// Arm `source` for `time` unless it is due earlier anyway.
    ///
    /// For timers that mostly move later: if such a source is found due too early, arm it again.
    #[inline]
    pub(crate) fn set_at_latest(&mut self, source: u32, time: Time) {
        if time < self.time(source) {
            self.set(source, time);
        }
    }

    /// Takes in the entry that was armed last, so that only times have to be compared.
    #[inline]
    fn insert(&mut self, entry: Entry) {
        let mut at = self.near_count;
        if at == 0 || at >= NEAR_MAX || self.near[0].time <= entry.time {
            return self.insert_far(entry);
        }
        self.near_count = at + 1;
        // The latest of the list is later.
        while at > 0 && self.near[at - 1].time <= entry.time {
            self.near[at] = self.near[at - 1];
            at -= 1;
        }
        self.near[at] = entry;
    }

    /// Takes in an entry when the list is full or empty, or that is later than all of it.
    #[cold]
    fn insert_far(&mut self, entry: Entry) {
        if self.near_count == NEAR_MAX {
            self.far.extend(self.near[..NEAR_MAX / 2].iter().map(|&entry| Reverse(entry)));
            self.near.copy_within(NEAR_MAX / 2.., 0);
            self.near_count -= NEAR_MAX / 2;
            self.bound();
        }
        if self.near_count > 0 && self.near[0].time > entry.time {
            self.insert(entry);
        } else if self.far.is_empty() {
            self.near.copy_within(..self.near_count, 1);
            self.near[0] = entry;
            self.near_count += 1;
        } else {
            self.far.push(Reverse(entry));
            self.bound();
        }
    }

    /// Drops void entries before they outnumber the sources.
    #[inline]
    fn bound(&mut self) {
        if self.far.len() > 2 * self.armed.len() + NEAR_MAX {
            let armed = &self.armed;
            self.far.retain(|&Reverse(entry)| armed[entry.source() as usize].order == entry.order());
        }
    }

    /// Moves the earliest of the heap to the list, which is empty.
    #[cold]
    fn refill(&mut self) {
        while self.near_count < NEAR_MAX / 2
            && let Some(Reverse(entry)) = self.far.pop()
        {
            if self.armed[entry.source() as usize].order == entry.order() {
                self.near[self.near_count] = entry;
                self.near_count += 1;
            }
        }
        self.near[..self.near_count].reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drain(queue: &mut EventQueue) -> Vec<(u64, u32)> {
        std::iter::from_fn(|| queue.pop()).map(|(time, source)| (time.ns(), source)).collect()
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
        fn agrees_with_a_sorted_list(steps in proptest::collection::vec((0u32..400, 0u64..600), 1..3000)) {
            let mut queue = EventQueue::default();
            let mut model: Vec<(u64, usize, u32)> = Vec::new();
            for (i, &(source, time)) in steps.iter().enumerate() {
                // 500 and later stand for disarming and, odd ones, for taking out the earliest.
                let disarm = time >= 500;
                let at = model.iter().position(|e| e.2 == source);
                if disarm && time % 2 == 1 {
                    let earliest = model.iter().min().copied();
                    model.retain(|e| Some(*e) != earliest);
                    prop_assert_eq!(queue.pop(), earliest.map(|e| (Time::from_ns(e.0), e.2)));
                    continue;
                }
                queue.set(source, if disarm { Time::NEVER } else { Time::from_ns(time) });
                match at {
                    Some(at) if disarm => { model.remove(at); }
                    Some(at) if model[at].0 != time => model[at] = (time, i, source),
                    None if !disarm => model.push((time, i, source)),
                    _ => {}
                }
                prop_assert!(queue.far.len() <= 2 * queue.armed.len() + NEAR_MAX);
                prop_assert!(queue.near_count <= NEAR_MAX);
            }
            model.sort_unstable();
            let expected: Vec<_> = model.iter().map(|e| (e.0, e.2)).collect();
            prop_assert_eq!(drain(&mut queue), expected);
        }
    }
}

//! Packets that links dropped, or will have dropped when their time comes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rampcc::Time;

use crate::packet::Parcel;
use crate::stage::Passages;

/// Drops that happened and are not reported yet, and drops in fused links, which lie in the future.
#[derive(Debug)]
pub(crate) struct Drops<P> {
    happened: VecDeque<Drop<P>>,
    to_come: BinaryHeap<Reverse<ToCome<P>>>,
    count: u64,
}

/// A packet that a link dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drop<P> {
    pub(crate) link: u32,
    pub(crate) parcel: Parcel<P>,
}

/// A drop at `time`, ordered by it, then by when it was found.
#[derive(Debug)]
pub(crate) struct ToCome<P> {
    pub(crate) time: Time,
    order: u64,
    pub(crate) passages: Passages,
    pub(crate) drop: Drop<P>,
}

impl<P> Default for Drops<P> {
    fn default() -> Self {
        Self { happened: VecDeque::new(), to_come: BinaryHeap::new(), count: 0 }
    }
}

impl<P> Drops<P> {
    pub(crate) fn happened(&mut self, drop: Drop<P>) {
        self.happened.push_back(drop);
    }

    /// A packet will be dropped that has come to the link by `passages`.
    pub(crate) fn will_happen(&mut self, time: Time, passages: Passages, drop: Drop<P>) {
        self.count += 1;
        self.to_come.push(Reverse(ToCome { time, order: self.count, passages, drop }));
    }

    pub(crate) fn some_happened(&self) -> bool {
        !self.happened.is_empty()
    }

    /// The first drop that happened and has not been given out.
    pub(crate) fn poll(&mut self) -> Option<Drop<P>> {
        self.happened.pop_front()
    }

    /// Moves what is due by `now` among what happened.
    pub(crate) fn handle_due(&mut self, now: Time) {
        while self.poll_timeout() <= now
            && let Some(Reverse(next)) = self.to_come.pop()
        {
            self.happened.push_back(next.drop);
        }
    }

    /// When the next drop to come is due; `Time::NEVER`: none is known.
    pub(crate) fn poll_timeout(&self) -> Time {
        self.to_come.peek().map_or(Time::NEVER, |Reverse(next)| next.time)
    }

    pub(crate) fn to_come(&self) -> impl Iterator<Item = &ToCome<P>> {
        self.to_come.iter().map(|Reverse(drop)| drop)
    }
}

impl<P> PartialEq for ToCome<P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<P> Eq for ToCome<P> {}

impl<P> PartialOrd for ToCome<P> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> Ord for ToCome<P> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.time, self.order).cmp(&(other.time, other.order))
    }
}

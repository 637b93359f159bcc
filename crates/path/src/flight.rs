//! Packets that have left the queue and are on their way.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use rampcc::Time;

/// Packets in order of delivery.
#[derive(Clone, Debug)]
pub(crate) struct Flight<P> {
    in_order: VecDeque<(Time, P)>,
    /// Only packets that were held back.
    late: BinaryHeap<Late<P>>,
    /// Held back so far: keeps equal times in order.
    held_back: u64,
    /// No packet in order may arrive earlier.
    newest: Time,
    /// When the earliest of all arrives.
    next: Time,
}

#[derive(Clone, Debug)]
struct Late<P> {
    delivery: Time,
    number: u64,
    packet: P,
}

impl<P> Flight<P> {
    pub(crate) fn new() -> Self {
        Self {
            in_order: VecDeque::new(),
            late: BinaryHeap::new(),
            held_back: 0,
            newest: Time::ZERO,
            next: Time::NEVER,
        }
    }

    /// Takes a packet that arrives at `delivery`, or `spacing` after the one before it if that is later.
    #[inline]
    pub(crate) fn push(&mut self, delivery: Time, spacing: Time, packet: P) {
        self.newest = delivery.max(self.newest + spacing);
        self.next = self.next.min(self.newest);
        self.in_order.push_back((self.newest, packet));
    }

    /// Takes a packet that others may overtake.
    pub(crate) fn push_late(&mut self, delivery: Time, packet: P) {
        self.held_back += 1;
        self.next = self.next.min(delivery);
        self.late.push(Late { delivery, number: self.held_back, packet });
    }

    #[inline]
    pub(crate) fn next_delivery(&self) -> Time {
        self.next
    }

    #[inline]
    pub(crate) fn pop(&mut self, now: Time) -> Option<P> {
        if self.next > now || self.next == Time::NEVER {
            return None;
        }
        let packet = if self.late.is_empty() {
            self.in_order.pop_front().map(|head| head.1)
        } else {
            self.pop_earliest()
        };
        self.next = self.earliest();
        packet
    }

    #[inline]
    fn earliest(&self) -> Time {
        let next = self.in_order.front().map_or(Time::NEVER, |head| head.0);
        self.late.peek().map_or(next, |late| next.min(late.delivery))
    }

    #[cold]
    fn pop_earliest(&mut self) -> Option<P> {
        if self.in_order.front().is_some_and(|head| head.0 == self.next) {
            self.in_order.pop_front().map(|head| head.1)
        } else {
            self.late.pop().map(|late| late.packet)
        }
    }

    pub(crate) fn packets(&self) -> impl Iterator<Item = &P> {
        self.in_order.iter().map(|(_, packet)| packet).chain(self.late.iter().map(|late| &late.packet))
    }
}

// The heap's greatest is the earliest.
impl<P> Ord for Late<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.delivery, other.number).cmp(&(self.delivery, self.number))
    }
}

impl<P> PartialOrd for Late<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> PartialEq for Late<P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<P> Eq for Late<P> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_except_by_those_held_back() {
        let mut flight = Flight::new();
        flight.push(Time::from_ms(10), Time::ZERO, 'a');
        flight.push_late(Time::from_ms(12), 'd');
        flight.push(Time::from_ms(5), Time::ZERO, 'b');
        flight.push_late(Time::from_ms(12), 'e');
        flight.push(Time::from_ms(11), Time::ZERO, 'c');
        assert_eq!(flight.next_delivery(), Time::from_ms(10));
        assert_eq!(flight.pop(Time::from_ms(9)), None);
        let order: String = std::iter::from_fn(|| flight.pop(Time::from_ms(12))).collect();
        assert_eq!(order, "abcde");
        assert_eq!(flight.next_delivery(), Time::NEVER);
    }

    #[test]
    fn those_that_catch_up_keep_their_distance() {
        let mut flight = Flight::new();
        for (at, spacing) in [(10, 1), (5, 1), (5, 2), (20, 1)] {
            flight.push(Time::from_ms(at), Time::from_ms(spacing), at);
        }
        let mut times = vec![];
        while flight.next_delivery() != Time::NEVER {
            times.push(flight.next_delivery().ns() / 1_000_000);
            flight.pop(flight.next_delivery());
        }
        assert_eq!(times, [10, 11, 13, 20]);
    }

    #[test]
    fn never_is_never() {
        let mut flight = Flight::new();
        flight.push(Time::NEVER, Time::from_ms(1), 'a');
        flight.push_late(Time::NEVER, 'b');
        assert_eq!(flight.pop(Time::NEVER), None);
        assert_eq!(flight.packets().count(), 2);
    }
}

//! Packets whose arrival is settled, on their way.

use ramp::Time;
use ramp_tcp::Segment;

use crate::packet::Place;
use crate::stage::Passages;

/// A packet whose arrival is settled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnderWay {
    pub(crate) segment: Segment,
    pub(crate) place: Place,
    pub(crate) arrival: Time,
    pub(crate) passages: Passages,
}

/// The packets of all links in memory that they share.
///
/// What arrives makes room for what leaves next, so that a run touches no more memory than its packets under way
/// need, however many links they come and go by.
#[derive(Debug)]
pub(crate) struct Transit {
    slots: Vec<Slot>,
    free: u32,
}

/// The packets of one link, in order of arrival.
#[derive(Debug)]
pub(crate) struct Lane {
    first: u32,
    last: u32,
    length: u32,
}

#[derive(Debug)]
struct Slot {
    packet: UnderWay,
    /// The next packet of the lane, or the next free slot.
    next: u32,
}

const NONE: u32 = u32::MAX;

impl Lane {
    pub(crate) fn new() -> Self {
        Self { first: NONE, last: NONE, length: 0 }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.length == 0
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.length as usize
    }
}

impl Transit {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), free: NONE }
    }

    /// Lets a packet enter `lane`.
    #[inline]
    pub(crate) fn push(&mut self, lane: &mut Lane, packet: &UnderWay) {
        let at = self.free;
        if let Some(slot) = self.slots.get_mut(at as usize) {
            self.free = slot.next;
            slot.packet = *packet;
        } else {
            return self.push_into_new_slot(lane, packet);
        }
        self.link(lane, at);
    }

    /// The packet of `lane` that arrives next.
    #[inline]
    pub(crate) fn first(&self, lane: &Lane) -> Option<&UnderWay> {
        self.slots.get(lane.first as usize).map(|slot| &slot.packet)
    }

    /// The packet of `lane` that arrives next has arrived.
    #[inline]
    pub(crate) fn pop(&mut self, lane: &mut Lane) {
        let at = lane.first;
        if let Some(slot) = self.slots.get_mut(at as usize) {
            lane.first = if lane.length == 1 { NONE } else { slot.next };
            lane.length -= 1;
            slot.next = std::mem::replace(&mut self.free, at);
        }
    }

    /// The packets of `lane`.
    pub(crate) fn packets(&self, lane: &Lane) -> impl Iterator<Item = &UnderWay> {
        let mut at = lane.first;
        (0..lane.length).map(move |_| {
            let slot = &self.slots[at as usize];
            at = slot.next;
            &slot.packet
        })
    }

    #[cold]
    fn push_into_new_slot(&mut self, lane: &mut Lane, packet: &UnderWay) {
        let at = self.slots.len() as u32;
        self.slots.push(Slot { packet: *packet, next: NONE });
        self.link(lane, at);
    }

    #[inline]
    fn link(&mut self, lane: &mut Lane, at: u32) {
        if lane.length == 0 {
            lane.first = at;
        } else {
            self.slots[lane.last as usize].next = at;
        }
        lane.last = at;
        lane.length += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    fn packet(number: u64) -> UnderWay {
        UnderWay {
            segment: Segment::syn(0, 40, Time::ZERO),
            place: Place { next: 0, left: 0, slot: 0 },
            arrival: Time::from_ns(number),
            passages: Passages::default(),
        }
    }

    proptest! {
        #[test]
        fn lanes_are_queues_of_their_own(steps in proptest::collection::vec((0usize..4, any::<bool>()), 1..200)) {
            let mut transit = Transit::new();
            let mut lanes: [Lane; 4] = std::array::from_fn(|_| Lane::new());
            let mut queues: [VecDeque<u64>; 4] = Default::default();
            let mut most = 0;
            for (number, (which, enters)) in steps.into_iter().enumerate() {
                let (lane, queue) = (&mut lanes[which], &mut queues[which]);
                if enters {
                    transit.push(lane, &packet(number as u64));
                    queue.push_back(number as u64);
                } else {
                    transit.pop(lane);
                    queue.pop_front();
                }
                most = most.max(queues.iter().map(VecDeque::len).sum());
                for (lane, queue) in lanes.iter().zip(&queues) {
                    let held: Vec<u64> = transit.packets(lane).map(|packet| packet.arrival.ns()).collect();
                    prop_assert_eq!(&held, &Vec::from(queue.clone()));
                    prop_assert_eq!(transit.first(lane).map(|packet| packet.arrival.ns()), queue.front().copied());
                    prop_assert_eq!((lane.len(), lane.is_empty()), (queue.len(), queue.is_empty()));
                }
            }
            prop_assert_eq!(transit.slots.len(), most);
        }
    }
}

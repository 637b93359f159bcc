//! Controlled delay: drops at the head once packets have waited too long for too long.
//!
//! Source: RFC 8289 §5, with the reference code's `MAXPACKET` as the largest packet seen. What it would drop it marks if it
//! may, as Linux's `codel`: a mark counts as a drop, and the packet is the next to leave.

use std::collections::VecDeque;

use rampcc::Time;

use crate::capacity::{Serve, Server};
use crate::config::Limit;
use crate::{Count, DropReason, Packet};

#[derive(Clone, Debug)]
pub(crate) struct CoDel<P> {
    limit: Limit,
    target: Time,
    interval: Time,
    ecn: bool,
    /// Arrival times and packets.
    packets: VecDeque<(Time, P)>,
    bytes: u64,
    peak: Count,
    /// Largest packet seen: so little left in the queue is no standing queue.
    max_packet: u32,
    /// When the head will be served.
    next_service: Time,
    /// When the delay will have been above the target for an interval; zero: it is below.
    first_above: Time,
    drop_next: Time,
    /// Drops since the dropping state began, and in the one before.
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl<P: Packet> CoDel<P> {
    pub(super) fn new(limit: Limit, target: Time, interval: Time, ecn: bool) -> Self {
        Self {
            limit,
            target,
            interval,
            ecn,
            packets: VecDeque::new(),
            bytes: 0,
            peak: Count::default(),
            max_packet: 0,
            next_service: Time::NEVER,
            first_above: Time::ZERO,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
        }
    }

    /// Takes a packet, or gives it back with the reason. Everything due by `now` must have been polled.
    pub(crate) fn push(&mut self, now: Time, packet: P, server: &mut Server) -> Result<(), (P, DropReason)> {
        let bytes = packet.wire_bytes();
        let waits = !self.packets.is_empty() || server.start(now) > now;
        let refused = match self.limit {
            Limit::Bytes(limit) if u64::from(bytes) > limit => Some(DropReason::Oversize),
            Limit::Bytes(limit) if waits && self.bytes + u64::from(bytes) > limit => {
                Some(DropReason::Overflow)
            }
            Limit::Packets(limit) if waits && self.packets() >= limit => Some(DropReason::Overflow),
            _ => None,
        };
        if let Some(reason) = refused {
            return Err((packet, reason));
        }
        self.max_packet = self.max_packet.max(bytes);
        self.bytes += u64::from(bytes);
        self.packets.push_back((now, packet));
        Ok(())
    }

    /// The next packet whose service begins by `now`, and when it does.
    pub(crate) fn poll(
        &mut self,
        now: Time,
        server: &mut Server,
        on_drop: &mut impl FnMut(Time, P, DropReason),
    ) -> Option<(Time, P)> {
        let Some(head) = self.packets.front() else {
            self.next_service = Time::NEVER;
            return None;
        };
        let start = server.start(head.0);
        self.next_service = start;
        if start > now || start == Time::NEVER {
            self.peak.reach(self.packets(), self.bytes);
            return None;
        }
        self.dequeue(start, on_drop).map(|packet| (start, packet))
    }

    pub(crate) fn next_service(&self) -> Time {
        self.next_service
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn packets(&self) -> u64 {
        self.packets.len() as u64
    }

    pub(crate) fn peak(&self) -> Count {
        self.peak
    }

    pub(crate) fn waiting(&self) -> impl Iterator<Item = &P> {
        self.packets.iter().map(|(_, packet)| packet)
    }

    fn dequeue(&mut self, now: Time, on_drop: &mut impl FnMut(Time, P, DropReason)) -> Option<P> {
        let (mut packet, mut ok_to_drop) = self.head(now);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                if self.marks(&mut packet) {
                    self.count = self.count.saturating_add(1);
                    self.drop_next = self.control_law(self.drop_next);
                    break;
                }
                packet.take().into_iter().for_each(|packet| on_drop(now, packet, DropReason::Early));
                self.count = self.count.saturating_add(1);
                (packet, ok_to_drop) = self.head(now);
                if ok_to_drop {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            if !self.marks(&mut packet) {
                packet.take().into_iter().for_each(|packet| on_drop(now, packet, DropReason::Early));
                (packet, _) = self.head(now);
            }
            self.dropping = true;
            // Soon after the last dropping state its rate of drops is a good start.
            let delta = self.count.saturating_sub(self.last_count);
            let recent = now - self.drop_next < Time::from_ns(self.interval.ns().saturating_mul(16));
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = self.control_law(now);
            self.last_count = self.count;
        }
        packet
    }

    /// Marks a packet that is to be dropped, if that can be.
    fn marks(&self, packet: &mut Option<P>) -> bool {
        let Some(packet) = packet.as_mut().filter(|packet| self.ecn && packet.markable()) else {
            return false;
        };
        packet.mark();
        true
    }

    /// Takes the head, and says whether it may be dropped.
    fn head(&mut self, now: Time) -> (Option<P>, bool) {
        let Some((arrival, packet)) = self.packets.pop_front() else {
            self.first_above = Time::ZERO;
            return (None, false);
        };
        self.bytes -= u64::from(packet.wire_bytes());
        let mut ok_to_drop = false;
        if now - arrival < self.target || self.bytes <= u64::from(self.max_packet) {
            self.first_above = Time::ZERO;
        } else if self.first_above == Time::ZERO {
            self.first_above = now + self.interval;
        } else {
            ok_to_drop = now >= self.first_above;
        }
        (Some(packet), ok_to_drop)
    }

    fn control_law(&self, since: Time) -> Time {
        let gap = self.interval.ns() as f64 / f64::from(self.count.max(1)).sqrt();
        since + Time::from_ns(gap as u64)
    }
}

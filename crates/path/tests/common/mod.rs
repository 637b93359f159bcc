//! A packet, and links played to the end.

#![allow(dead_code, reason = "every test file uses its own part")]

use rampcc::{Rate, Time};
use rampcc_path::{DropReason, Limit, Link, LinkConfig, Packet};

/// Owned on purpose: links must not need copies.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parcel {
    pub(crate) id: u64,
    pub(crate) bytes: u32,
    pub(crate) flow: u32,
    pub(crate) ack: bool,
    markable: bool,
    marked: bool,
    owned: Box<u64>,
}

impl Packet for Parcel {
    fn wire_bytes(&self) -> u32 {
        self.bytes
    }
    fn flow(&self) -> u32 {
        self.flow
    }
    fn pure_ack(&self) -> bool {
        self.ack
    }
    fn markable(&self) -> bool {
        self.markable
    }
    fn mark(&mut self) {
        assert!(self.markable, "packet {} must not be marked", self.id);
        self.marked = true;
    }
}

pub(crate) fn data(id: u64, bytes: u32) -> Parcel {
    Parcel { id, bytes, flow: 0, ack: false, markable: false, marked: false, owned: Box::new(id) }
}

/// Data of ends that understand marks.
pub(crate) fn markable(id: u64, bytes: u32) -> Parcel {
    Parcel { markable: true, ..data(id, bytes) }
}

pub(crate) fn ack(id: u64, flow: u32) -> Parcel {
    Parcel { id, bytes: 52, flow, ack: true, markable: false, marked: false, owned: Box::new(id) }
}

/// What a link did.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Played {
    /// Delivery times and ids.
    pub(crate) delivered: Vec<(Time, u64)>,
    /// Ids of those of them that are marked.
    pub(crate) marked: Vec<u64>,
    /// Drop times, ids and reasons.
    pub(crate) dropped: Vec<(Time, u64, DropReason)>,
}

impl Played {
    pub(crate) fn handle(&mut self, link: &mut Link<Parcel>, now: Time, packet: Parcel) {
        link.handle_packet(now, packet, &mut |at, packet, reason| self.dropped.push((at, packet.id, reason)));
    }

    /// Everything that happens by `end`, at the times the link asks for.
    pub(crate) fn run_until(&mut self, link: &mut Link<Parcel>, end: Time) {
        while link.poll_timeout() <= end && link.poll_timeout() != Time::NEVER {
            let due = link.poll_timeout();
            while let Some(packet) =
                link.poll_packet(due, &mut |at, packet, reason| self.dropped.push((at, packet.id, reason)))
            {
                if packet.marked {
                    self.marked.push(packet.id);
                }
                self.delivered.push((due, packet.id));
            }
            assert!(link.poll_timeout() > due, "a link asks for the same time twice");
        }
    }

    pub(crate) fn dropped_ids(&self) -> Vec<u64> {
        self.dropped.iter().map(|drop| drop.1).collect()
    }
}

/// Hands in the packets at their times, polling in between as asked.
pub(crate) fn play(link: &mut Link<Parcel>, packets: impl IntoIterator<Item = (Time, Parcel)>) -> Played {
    let mut played = Played::default();
    for (now, packet) in packets {
        played.run_until(link, now);
        played.handle(link, now, packet);
    }
    played.run_until(link, Time::NEVER);
    played
}

pub(crate) fn mbit(rate: u64) -> Rate {
    Rate::from_bits_per_s(rate * 1_000_000)
}

/// 12 Mbit/s: one 1500-byte packet per millisecond.
pub(crate) fn packet_per_ms(delay_ms: u64, limit: Limit) -> LinkConfig {
    LinkConfig::constant(mbit(12), Time::from_ms(delay_ms), limit)
}

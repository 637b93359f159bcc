//! One link in the network, in the cheapest form that its configuration allows.

use ramp::Time;
use ramp_path::{Count, Link, LinkConfig, Packet};
use ramp_trace::LinkTotals;

use crate::fifo::Fifo;
use crate::packet::{Parcel, Place, Ticket};
use crate::ring;
use crate::transport::Datagram;

/// Most links in one chain.
pub(crate) const CHAIN_MAX: usize = 3;

/// When a packet passes from each link of its chain to the next.
pub(crate) type Passages = [Time; CHAIN_MAX - 1];

/// Packets under way. The network lends its memory to links that have some.
pub(crate) type Ring<P> = ring::Ring<UnderWay<P>>;

/// A link with the packets that leave the network, or the chain, through it.
#[derive(Debug)]
pub(crate) struct Stage<P> {
    pub(crate) kind: Kind<P>,
    /// Packets whose chain ends here, in order of arrival at the far end.
    pub(crate) under_way: Ring<P>,
    /// Packets that the link keeps itself.
    pub(crate) held: usize,
    arrived: Count,
    dropped: Count,
}

/// How a link is played.
// With a tag of its own, which is read for every packet; the compiler would hide it in some field.
#[repr(u8)]
#[derive(Debug)]
pub(crate) enum Kind<P> {
    Plain(Fifo),
    /// It settles a packet's fate on arrival, and so needs no more than a ticket for it.
    Settling(Box<Link<Ticket>>),
    Other(Box<Link<Parcel<P>>>),
}

/// A packet whose arrival is settled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UnderWay<P> {
    pub(crate) packet: P,
    pub(crate) place: Place,
    pub(crate) arrival: Time,
    pub(crate) passages: Passages,
}

impl<P: Datagram> Stage<P> {
    pub(crate) fn new(config: &LinkConfig, seed: u64) -> Self {
        let kind = if let Some(fifo) = Fifo::new(config) {
            Kind::Plain(fifo)
        } else {
            let link = Link::new(config, seed);
            if link.settles_on_arrival() {
                Kind::Settling(Box::new(link))
            } else {
                Kind::Other(Box::new(Link::new(config, seed)))
            }
        };
        Self {
            kind,
            under_way: Ring::default(),
            held: 0,
            arrived: Count::default(),
            dropped: Count::default(),
        }
    }

    /// Whether a packet's fate is known as soon as it enters.
    #[inline]
    pub(crate) fn settles(&self) -> bool {
        !matches!(self.kind, Kind::Other(_))
    }

    /// When a packet that enters at `now` reaches the far end; `None`: it is dropped.
    ///
    /// Only for stages that settle.
    #[inline]
    pub(crate) fn settle(&mut self, now: Time, wire_bytes: u32, ticket: &Ticket) -> Option<Time> {
        match &mut self.kind {
            Kind::Plain(fifo) => {
                add(&mut self.arrived, wire_bytes);
                let arrival = fifo.settle(now, wire_bytes);
                if arrival.is_none() {
                    add(&mut self.dropped, wire_bytes);
                }
                arrival
            }
            Kind::Settling(link) => settle(link, now, *ticket),
            Kind::Other(_) => unreachable!("such a stage holds its packets"),
        }
    }

    /// What waits at `now`, when a packet has just entered; the packet in service is not counted.
    #[inline]
    pub(crate) fn queue(&mut self, now: Time) -> Count {
        match &mut self.kind {
            Kind::Plain(fifo) => fifo.queue(),
            Kind::Settling(link) => queue(link, now),
            Kind::Other(link) => queue(link, now),
        }
    }

    /// Everything counted so far. A stage that settles counts a packet as delivered when it enters.
    pub(crate) fn totals(&self) -> LinkTotals {
        let totals = match &self.kind {
            Kind::Plain(fifo) => {
                let delivered = Count {
                    packets: self.arrived.packets - self.dropped.packets,
                    bytes: self.arrived.bytes - self.dropped.bytes,
                };
                let Self { arrived, dropped, .. } = *self;
                return LinkTotals {
                    arrived,
                    delivered,
                    dropped,
                    inside: Count::default(),
                    peak_queue: fifo.peak(),
                };
            }
            Kind::Settling(link) => link.totals(),
            Kind::Other(link) => link.totals(),
        };
        LinkTotals {
            arrived: totals.arrived,
            delivered: totals.delivered,
            dropped: totals.dropped(),
            inside: totals.inside,
            peak_queue: totals.peak_queue,
        }
    }

    /// Whether a packet that never arrives is still inside according to [`Self::totals`].
    pub(crate) fn counts_stranded(&self) -> bool {
        !matches!(self.kind, Kind::Plain(_))
    }
}

#[inline(never)]
fn settle(link: &mut Link<Ticket>, now: Time, ticket: Ticket) -> Option<Time> {
    let mut dropped = false;
    link.handle_packet(now, ticket, &mut |_, _, _| dropped = true);
    if dropped {
        return None;
    }
    let arrival = link.poll_timeout();
    link.poll_packet(arrival, &mut |_, _, _| {});
    Some(arrival)
}

fn queue<P: Packet>(link: &mut Link<P>, now: Time) -> Count {
    Count { packets: link.queue_packets(now), bytes: link.queue_bytes(now) }
}

#[inline]
pub(crate) fn add(count: &mut Count, wire_bytes: u32) {
    count.packets += 1;
    count.bytes += u64::from(wire_bytes);
}

//! One link in the network, in the cheapest form that its configuration allows.

use rampcc::Time;
use rampcc_path::{Count, Link, LinkConfig, Packet};
use rampcc_trace::LinkTotals;

use crate::fifo::{Fifo, Wire};
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
    kind: Kind<P>,
    /// Packets whose chain ends here, in order of arrival at the far end.
    pub(crate) under_way: Ring<P>,
    /// By a plain link; the others count for themselves.
    dropped: Count,
}

/// How a link is played.
// With a tag of its own, which is read for every packet; the compiler would hide it in some field.
#[repr(u8)]
#[derive(Debug)]
enum Kind<P> {
    Wire(Wire),
    Plain(Fifo),
    /// It settles a packet's fate on arrival, and so needs no more than a ticket for it.
    Settling(Box<Link<Ticket>>),
    Keeping(Box<Keeper<P>>),
}

/// What becomes of a packet that enters a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It reaches the far end then.
    Arrives(Time),
    Dropped,
    /// The link keeps it, and its fate is open.
    Held,
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
        let kind = if let Some(wire) = Wire::new(config) {
            Kind::Wire(wire)
        } else if let Some(fifo) = Fifo::new(config, seed) {
            Kind::Plain(fifo)
        } else {
            let link = Link::new(config, seed);
            if link.settles_on_arrival() {
                Kind::Settling(Box::new(link))
            } else {
                Kind::Keeping(Box::new(Keeper { link: Link::new(config, seed), inside: 0 }))
            }
        };
        Self { kind, under_way: Ring::default(), dropped: Count::default() }
    }

    /// Whether a packet's fate is known as soon as it enters.
    #[inline]
    pub(crate) fn settles(&self) -> bool {
        !matches!(self.kind, Kind::Keeping(_))
    }

    /// Takes in a packet at `now`, unless the link would keep it. The link may mark it.
    #[inline]
    pub(crate) fn settle(&mut self, now: Time, ticket: &mut Ticket) -> Fate {
        match &mut self.kind {
            Kind::Wire(wire) => Fate::Arrives(wire.settle(now, ticket.wire_bytes())),
            Kind::Plain(fifo) => {
                if let Some(arrival) = fifo.settle(now, ticket.wire_bytes()) {
                    Fate::Arrives(arrival)
                } else {
                    add(&mut self.dropped, ticket.wire_bytes());
                    Fate::Dropped
                }
            }
            Kind::Settling(link) => settle(link, now, ticket),
            Kind::Keeping(_) => Fate::Held,
        }
    }

    /// The link with the packets that it keeps, unless it settles.
    pub(crate) fn keeper(&mut self) -> Option<&mut Keeper<P>> {
        if let Kind::Keeping(keeper) = &mut self.kind { Some(keeper) } else { None }
    }

    /// When it has something to do next.
    #[inline]
    pub(crate) fn poll_timeout(&self) -> Time {
        match &self.kind {
            Kind::Keeping(keeper) => keeper.poll_timeout(),
            _ => self.under_way.front().map_or(Time::NEVER, |head| head.arrival),
        }
    }

    /// What waits at `now`, when a packet has just entered; the packet in service is not counted.
    #[inline]
    pub(crate) fn queue(&mut self, now: Time) -> Count {
        match &mut self.kind {
            Kind::Wire(_) => Count::default(),
            Kind::Plain(fifo) => fifo.queue(),
            Kind::Settling(link) => queue(link, now),
            Kind::Keeping(keeper) => queue(&mut keeper.link, now),
        }
    }

    /// Everything counted so far. A stage that settles counts a packet as delivered when it enters.
    pub(crate) fn totals(&self) -> LinkTotals {
        let totals = match &self.kind {
            Kind::Wire(Wire { arrived, .. }) => {
                return LinkTotals { arrived: *arrived, delivered: *arrived, ..LinkTotals::default() };
            }
            Kind::Plain(fifo) => {
                let (arrived, dropped) = (fifo.arrived(), self.dropped);
                let delivered = Count {
                    packets: arrived.packets - dropped.packets,
                    bytes: arrived.bytes - dropped.bytes,
                };
                return LinkTotals {
                    arrived,
                    delivered,
                    dropped,
                    inside: Count::default(),
                    peak_queue: fifo.peak(),
                };
            }
            Kind::Settling(link) => link.totals(),
            Kind::Keeping(keeper) => keeper.link.totals(),
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
        !matches!(self.kind, Kind::Plain(_) | Kind::Wire(_))
    }
}

/// A link that keeps its packets, since what becomes of them depends on what follows them.
#[derive(Debug)]
pub(crate) struct Keeper<P> {
    link: Link<Parcel<P>>,
    inside: usize,
}

impl<P: Datagram> Keeper<P> {
    /// How many packets it has.
    pub(crate) fn inside(&self) -> usize {
        self.inside
    }

    pub(crate) fn handle_packet(&mut self, now: Time, parcel: Parcel<P>, mut on_drop: impl FnMut(Parcel<P>)) {
        let Self { link, inside } = self;
        *inside += 1;
        link.handle_packet(now, parcel, &mut |_, parcel, _| {
            *inside -= 1;
            on_drop(parcel);
        });
    }

    pub(crate) fn poll_timeout(&self) -> Time {
        self.link.poll_timeout()
    }

    /// Gives out a packet that has arrived by `now`; to be called until `None`.
    pub(crate) fn poll_packet(&mut self, now: Time, mut on_drop: impl FnMut(Parcel<P>)) -> Option<Parcel<P>> {
        let Self { link, inside } = self;
        let parcel = link.poll_packet(now, &mut |_, parcel, _| {
            *inside -= 1;
            on_drop(parcel);
        })?;
        *inside -= 1;
        Some(parcel)
    }
}

#[inline(never)]
fn settle(link: &mut Link<Ticket>, now: Time, ticket: &mut Ticket) -> Fate {
    let mut dropped = false;
    link.handle_packet(now, *ticket, &mut |_, _, _| dropped = true);
    if dropped {
        return Fate::Dropped;
    }
    let arrival = link.poll_timeout();
    if let Some(passed) = link.poll_packet(arrival, &mut |_, _, _| {}) {
        *ticket = passed;
    }
    Fate::Arrives(arrival)
}

fn queue<P: Packet>(link: &mut Link<P>, now: Time) -> Count {
    Count { packets: link.queue_packets(now), bytes: link.queue_bytes(now) }
}

#[inline]
pub(crate) fn add(count: &mut Count, wire_bytes: u32) {
    count.packets += 1;
    count.bytes += u64::from(wire_bytes);
}

//! A segment under way, with what the network needs to know about it.

use ramp_path::Packet;
use ramp_tcp::Segment;

use crate::topology::Route;

/// A segment on its route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parcel {
    pub(crate) segment: Segment,
    pub(crate) place: Place,
}

/// Where on its way a segment is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The next step of its route.
    pub(crate) next: u32,
    /// How many links it has yet to enter.
    pub(crate) left: u32,
    /// Where its flow lives; [`Place::NO_SLOT`]: it ends at the node, nobody answers.
    pub(crate) slot: u32,
}

impl Place {
    pub(crate) const NO_SLOT: u32 = u32::MAX;

    /// Before the first link.
    #[inline]
    pub(crate) fn start(route: Route, slot: u32) -> Self {
        Self { next: route.first, left: route.length, slot }
    }

    /// Having entered so many more links.
    #[inline]
    pub(crate) fn after(self, entered: usize) -> Self {
        Self { next: self.next + entered as u32, left: self.left - entered as u32, slot: self.slot }
    }
}

impl Packet for Parcel {
    #[inline]
    fn wire_bytes(&self) -> u32 {
        self.segment.wire_bytes()
    }
    #[inline]
    fn flow(&self) -> u32 {
        self.segment.flow()
    }
    #[inline]
    fn pure_ack(&self) -> bool {
        self.segment.pure_ack()
    }
}

/// What a link needs to know of a packet to settle its fate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    wire_bytes: u32,
    flow: u32,
    pure_ack: bool,
}

impl Ticket {
    #[inline]
    pub(crate) fn new(packet: &impl Packet) -> Self {
        Self { wire_bytes: packet.wire_bytes(), flow: packet.flow(), pure_ack: packet.pure_ack() }
    }
}

impl Packet for Ticket {
    #[inline]
    fn wire_bytes(&self) -> u32 {
        self.wire_bytes
    }
    #[inline]
    fn flow(&self) -> u32 {
        self.flow
    }
    #[inline]
    fn pure_ack(&self) -> bool {
        self.pure_ack
    }
}

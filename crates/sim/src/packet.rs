//! A segment under way, with what the network needs to know about it.

use ramp_path::Packet;
use ramp_tcp::Segment;

use crate::topology::Route;

/// A segment on its route.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parcel {
    pub(crate) segment: Segment,
    pub(crate) place: Place,
}

/// Where on its way a segment is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    /// The next step of its route; one past its last step, with [`Place::AT_END`], when there is none.
    next: u32,
    /// Where its flow lives; [`Place::NO_SLOT`]: it ends at the node, nobody answers.
    pub(crate) slot: u32,
}

impl Place {
    pub(crate) const NO_SLOT: u32 = u32::MAX;
    const AT_END: u32 = 1 << 31;

    /// Before the first link.
    #[inline]
    pub(crate) fn start(route: Route, slot: u32) -> Self {
        Self { next: route.first, slot }
    }

    /// Whether it has entered all links.
    #[inline]
    pub(crate) fn at_end(self) -> bool {
        self.next & Self::AT_END != 0
    }

    /// The index of the next step.
    #[inline]
    pub(crate) fn next(self) -> usize {
        (self.next & !Self::AT_END) as usize
    }

    /// Before it entered the last link that it has entered.
    pub(crate) fn before(self) -> Self {
        Self { next: self.next() as u32 - 1, slot: self.slot }
    }

    /// Having entered so many more links; `at_end`: no more follow.
    #[inline]
    pub(crate) fn after(self, entered: u32, at_end: bool) -> Self {
        Self { next: self.next + entered + u32::from(at_end) * Self::AT_END, slot: self.slot }
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

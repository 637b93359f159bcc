//! A packet under way, with what the network needs to know about it.

use rampcc_path::Packet;

use crate::topology::Route;

/// A packet on its route.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parcel<P> {
    pub(crate) packet: P,
    pub(crate) place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Sender,
    Receiver,
}

/// Where on its way a packet is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    /// The next step of its route; one past its last step, with [`Place::AT_END`], when there is none.
    next: u32,
    /// The end that it goes to: the slot of its flow, with [`Place::TO_SENDER`] on the way back.
    to: u32,
}

impl Place {
    /// No flow lives there: the packet ends at the node, without an answer.
    pub(crate) const NO_SLOT: u32 = (1 << 31) - 1;
    const AT_END: u32 = 1 << 31;
    const TO_SENDER: u32 = 1 << 31;

    /// Before the first link, on the way to an end of the flow in `slot`.
    #[inline]
    pub(crate) fn start(route: Route, slot: u32, to: End) -> Self {
        Self { next: route.first, to: slot | (u32::from(to == End::Sender) * Self::TO_SENDER) }
    }

    /// Where the flow lives that it belongs to.
    #[inline]
    pub(crate) fn slot(self) -> u32 {
        self.to & !Self::TO_SENDER
    }

    /// The end of the flow that it goes to.
    #[inline]
    pub(crate) fn to(self) -> End {
        if self.to & Self::TO_SENDER == 0 { End::Receiver } else { End::Sender }
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
        Self { next: self.next() as u32 - 1, to: self.to }
    }

    /// Having entered so many more links; `at_end`: no more follow.
    #[inline]
    pub(crate) fn after(self, entered: u32, at_end: bool) -> Self {
        Self { next: self.next + entered + u32::from(at_end) * Self::AT_END, to: self.to }
    }
}

impl<P: Packet> Packet for Parcel<P> {
    #[inline]
    fn wire_bytes(&self) -> u32 {
        self.packet.wire_bytes()
    }
    #[inline]
    fn flow(&self) -> u32 {
        self.packet.flow()
    }
    #[inline]
    fn pure_ack(&self) -> bool {
        self.packet.pure_ack()
    }
    fn markable(&self) -> bool {
        self.packet.markable()
    }
    fn mark(&mut self) {
        self.packet.mark();
    }
}

/// What a link needs to know of a packet to settle its fate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    wire_bytes: u32,
    flow: u32,
    pure_ack: bool,
    markable: bool,
    /// A link has marked it.
    pub(crate) marked: bool,
}

impl Ticket {
    #[inline]
    pub(crate) fn new(packet: &impl Packet) -> Self {
        Self {
            wire_bytes: packet.wire_bytes(),
            flow: packet.flow(),
            pure_ack: packet.pure_ack(),
            markable: packet.markable(),
            marked: false,
        }
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
    #[inline]
    fn markable(&self) -> bool {
        self.markable
    }
    #[inline]
    fn mark(&mut self) {
        self.marked = true;
    }
}

//! What a link needs of a packet, and what it may do to it.

/// Properties of a packet that a link needs.
pub trait Packet {
    /// Size on the wire, headers included.
    fn wire_bytes(&self) -> u32;
    /// Flow it belongs to; for accounting only.
    fn flow(&self) -> u32;
    /// True if it carries only an acknowledgement, so that ACK filters may act on it.
    fn pure_ack(&self) -> bool;
    /// True if its ends understand congestion marks (RFC 3168: ECN-capable).
    fn markable(&self) -> bool {
        false
    }
    /// Marks that it has met congestion (RFC 3168: CE). To be called for markable packets alone.
    fn mark(&mut self) {}
}

/// Reason for which a link dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// The queue was full.
    Overflow,
    /// Active queue management decided so.
    Early,
    /// Loss on the medium.
    Medium,
    /// An ACK filter thinned it out.
    Thinned,
    /// The packet alone exceeds the queue limit.
    Oversize,
}

impl DropReason {
    /// Every reason, in order of declaration.
    pub const ALL: [Self; 5] = [Self::Overflow, Self::Early, Self::Medium, Self::Thinned, Self::Oversize];
}

//! Packets under way: links with their capacity, queue, delay and loss.
//!
//! A part of ramp, not meant for other programs: any release may change it.
//!
//! [`Link`] is one direction of one hop. It owns no clock and no socket: the simulator drives it in virtual
//! time, the emulator in real time. It does not know TCP; see [`Packet`] for what it asks of a packet.

mod ack_filter;
mod capacity;
mod config;
mod delay;
mod flight;
mod link;
mod loss;
mod queue;
mod random;
mod timeline;
mod totals;
mod trace_file;

pub use config::{
    AckFilter, Capacity, DelayConfig, Demand, Jitter, Limit, LinkConfig, LossConfig, Opportunities,
    Propagation, QueueConfig, QuickStartPolicy, Reordering, Ties,
};
pub use link::Link;
pub use totals::{Count, Totals};
pub use trace_file::TraceError;

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

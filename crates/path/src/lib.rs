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
mod packet;
mod queue;
mod random;
mod timeline;
mod totals;
mod trace_file;

pub use config::{
    AckFilter, Capacity, DelayConfig, Demand, Jitter, Limit, LinkConfig, LossConfig, Opportunities,
    Propagation, QueueConfig, QuickStartPolicy, Reordering, Ties,
};
pub use delay::Grant;
pub use link::Link;
pub use packet::{DropReason, Packet};
pub use totals::{Count, Totals};
pub use trace_file::TraceError;

//! Sans-IO TCP: what the transport does with the decisions of a start-up algorithm.
//!
//! A part of ramp, not meant for other programs: any release may change it.
//!
//! A [`Sender`] and a [`Receiver`] exchange [`Segment`]s. [`SenderConfig`] and [`ReceiverConfig`] say which rules hold;
//! [`Profile`] names the sets of rules that go together. This crate owns no clock, no socket and no path: time
//! comes in with every call, and what leaves is asked for.

mod ack_policy;
mod acknowledge;
mod calls;
mod config;
mod connection;
mod ecn;
mod ns2;
mod pacing;
mod quick_start;
mod ranges;
mod receiver;
mod record;
mod repair;
mod rtt;
mod scoreboard;
mod seen;
mod segment;
mod sender;
mod spurious;
mod standard;
mod steering;
mod timeout;
mod timestamps;
mod transmit;
mod undo;
mod window;
mod work;

pub use config::{
    AckPolicy, Pacing, Profile, ReceiveWindow, ReceiverConfig, Recovery, RtoConfig, SenderConfig,
};
pub use quick_start::{QuickStart, QuickStartKind};
pub use rampcc_avoidance::{Avoidance, VegasConfig};
pub use receiver::Receiver;
pub use segment::{SACK_BLOCKS_MAX, Segment, SegmentKind};
pub use sender::Sender;
pub use work::Search;

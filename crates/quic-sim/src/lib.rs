//! QUIC in virtual time: two endpoints of a real QUIC stack, noq-proto or quinn-proto, in the simulator's event loop over the same
//! links.
//!
//! A part of ramp, not meant for other programs: any release may change it.
//!
//! The sending end opens the connection, as in the simulator's TCP, and each write of the application has a stream of its
//! own. A full datagram is as large on the wire as a full segment. Packets are not encrypted, and everything random comes
//! from the run's seed, so that the same run is the same to the byte.
#![expect(
    clippy::duplicate_mod,
    reason = "`stack.rs` is over the types of two stacks, in `noq` and in `quinn`"
)]

mod apart;
mod backend;
mod bare;
mod check;
mod datagram;
mod end;
mod ends;
mod noq;
mod onlooker;
mod plain;
mod protection;
mod qlog;
mod quinn;
mod seen;
mod transport;
mod wishes;

pub use apart::{Apart, Carried};
pub use backend::{Bringing, Brought, VirtualQuic};
pub use bare::bare;
pub use datagram::UdpDatagram;
pub use ends::{Receiver, Sender};
pub use protection::{PEER, Protection};
pub use qlog::FlowQlog;
pub use transport::{Quic, Stack};

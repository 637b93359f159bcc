//! Start-up algorithms of [`rampcc`] as congestion controllers of QUIC stacks.
//!
//! [`Connection`] is the host's part, which knows no stack: what was sent, how fast it was delivered, what the algorithm
//! decided, one reduction per recovery period (RFC 9002 §7.3), and congestion avoidance after start-up. A face for a
//! stack, behind the feature of its name, hands it that stack's calls:
//!
//! - `noq`: `noq::Factory` for noq-proto, whose pacer obeys the algorithm's rate;
//! - `quinn`: `quinn::Factory` for quinn-proto, which can be given a window alone. An algorithm that spaces packets
//!   itself is refused there.
//!
//! Bytes are those of QUIC packets, headers and tag included, and an MSS is a full packet, so that window and flight compare as
//! in the stack.
//!
//! ```
//! use rampcc::Time;
//! use rampcc_quic::{Connection, PacketId, Rules};
//!
//! let rules = Rules::new("hystart").expect("a row of the registry");
//! let mut connection = Connection::new(&rules, 1200);
//! let sent = Time::from_ms(100);
//! connection.on_packet_sent(sent, PacketId { sent, number: 0 }, 1200);
//! connection.on_packet_acked(PacketId { sent, number: 0 }, 1200);
//! connection.on_ack_end(Time::from_ms(150), 0);
//! assert_eq!(connection.window_bytes(), 12_000);
//! ```

mod connection;
#[cfg(any(feature = "noq", feature = "quinn"))]
mod face;
mod growth;
mod ledger;
#[cfg(feature = "noq")]
pub mod noq;
mod observer;
mod outcome;
mod pacing;
pub mod qlog;
#[cfg(feature = "quinn")]
pub mod quinn;
mod recovery;
mod rtt;
mod rules;
mod steering;

pub use connection::Connection;
#[cfg(any(feature = "noq", feature = "quinn"))]
pub use face::{Factory, Stack};
pub use ledger::PacketId;
pub use observer::{Call, Observer, Told};
pub use outcome::{Congestion, Counts, Exit, Sample};
pub use pacing::{Spacing, UNPACED_BYTES_PER_S};
pub use rules::{RefusedRow, Rules, Unmet};

//! Start-up algorithms for TCP and QUIC, each written once in C99 (`include/ramp`), behind a safe Rust face.
//!
//! [`Startup`] steers one connection; [`algorithms`] lists what there is, with every parameter.
//! This crate holds no clock, no packets and no congestion avoidance: those belong to the host.
//!
//! ```
//! use rampcc::{Ack, AckFlags, Config, Startup, algorithm};
//!
//! let hystart = algorithm("hystart").expect("a row of the registry");
//! let mut startup = Startup::new(hystart, &Config::new(hystart, 1448, 10));
//! let ack = Ack {
//!     now_ns: 40_000_000,
//!     sent_bytes: 14_480,
//!     newest_acked_bytes: 1_448,
//!     delivered_bytes: 1_448,
//!     acked_bytes: 1_448,
//!     in_flight_bytes: 14_480,
//!     rtt_us: 40_000,
//!     mss_bytes: 1_448,
//!     flags: AckFlags::CWND_LIMITED,
//!     ..Ack::default()
//! };
//! assert_eq!(startup.on_ack(&ack).cwnd_bytes, 11 * 1448);
//! ```

mod abi;
mod environment;
pub mod figures;
mod history;
mod startup;
mod units;
#[cfg(feature = "serde")]
mod words;

pub use abi::{
    Ack, AckFlags, BACK_TO_BACK, CONTRACT, Config, ConfigFlags, Decision, Event, EventKind, ExitReason,
    Field, Hint, HintSource, PARAMETERS_MAX, Phase, Trait, Traits, UNSET, foreign_algorithms,
};
pub use environment::{Environment, LINUX_LACKS, Lacking, OVERRIDES, Override, QUIC_LACKS};
pub use history::{Memory, Seen};
pub use startup::{
    Algorithm, Description, Parameter, Startup, algorithm, algorithms, having, of_cubic, standard,
};
pub use units::{Rate, Time};

include!(concat!(env!("OUT_DIR"), "/sources.rs"));

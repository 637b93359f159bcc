//! Start-up algorithms for TCP and QUIC, each written once in C99 (`include/ramp`), behind a safe Rust face.
//!
//! [`Startup`] steers one connection; [`algorithms`] lists what there is, with every parameter.
//! This crate holds no clock, no packets and no congestion avoidance: those belong to the host.

mod abi;
mod environment;
mod history;
mod startup;
mod units;
#[cfg(feature = "serde")]
mod words;

pub use abi::{
    Ack, AckFlags, BACK_TO_BACK, CONTRACT, Config, ConfigFlags, Decision, Event, EventKind, ExitReason, Hint,
    HintSource, PARAMETERS_MAX, Phase, Trait, Traits, UNSET, foreign_algorithms,
};
pub use environment::{Environment, LINUX_LACKS, Lacking, OVERRIDES, Override, QUIC_LACKS};
pub use history::{Memory, Seen};
pub use startup::{
    Algorithm, Description, Parameter, Startup, algorithm, algorithms, having, of_cubic, standard,
};
pub use units::{Rate, Time};

include!(concat!(env!("OUT_DIR"), "/sources.rs"));

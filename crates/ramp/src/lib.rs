//! Start-up algorithms for TCP and QUIC, each written once in C99 (`include/ramp`), behind a safe Rust face.
//!
//! [`Startup`] steers one connection; [`algorithms`] lists what there is, with every parameter.
//! This crate holds no clock, no packets and no congestion avoidance: those belong to the host.

mod abi;
mod environment;
mod startup;
mod units;

pub use abi::{
    Ack, AckFlags, Config, ConfigFlags, Congestion, CongestionKind, Decision, ExitReason, PARAMETERS_MAX,
    Phase, UNSET,
};
pub use environment::{Environment, OVERRIDES, Override};
pub use startup::{Algorithm, Parameter, Startup, algorithm, algorithms};
pub use units::{Rate, Time};

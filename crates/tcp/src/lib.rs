//! Sans-IO TCP: what the transport does with the decisions of a start-up algorithm.
//!
//! [`SenderConfig`] and [`ReceiverConfig`] say which rules hold; `SenderConfig::era` and
//! `SenderConfig::modern` are the two profiles. This crate owns no clock and no path.

mod config;

pub use config::{
    AckPolicy, Avoidance, Pacing, Profile, ReceiveWindow, ReceiverConfig, Recovery, RtoConfig, SenderConfig,
};

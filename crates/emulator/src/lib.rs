//! The paths of scenarios under real IP packets.
//!
//! A part of ramp, not meant for other programs: any release may change it.
//!
//! [`Emulator::start`] joins two network namespaces by TUN devices and plays a scenario's links between them: the
//! same [`rampcc_path::Link`] as in the simulator, with the same seeds, under a real clock. Programs and sockets in the
//! namespaces ([`Running::in_namespace`], [`Running::command`], [`Running::download`]) meet that path with the
//! kernel's own TCP. [`Emulator::ready`] makes the namespaces alone, for servers that must listen before time begins. [`Running::stop`] tells how far from the scenario the emulator was, and whether that counts:
//! [`ErrorReport`].
//!
//! This crate needs no BPF and, within a user namespace ([`enter_user_namespace`]), no privileges. It does not decide
//! how hosts behave, and it measures nothing but itself.
#![cfg(target_os = "linux")]

mod clock;
mod connection;
mod download;
mod emulator;
mod engine;
mod error;
mod namespace;
mod netlink;
mod network;
mod options;
mod packet;
mod plan;
mod privileges;
mod report;
mod spinning;
mod sys;
mod tcp_info;

pub use clock::Clock;
pub use connection::{Connect, Connection, Opener, Receiving, run_above_engine};
pub use download::{Download, Downloaded};
pub use emulator::{Emulator, Ready, Running};
pub use error::{EmulatorError, Result};
pub use namespace::HostTcp;
pub use options::Options;
pub use plan::{Buffers, End, Family, Host, RATED, SHORTEST_RTT, Unsupported, check};
pub use privileges::{enter_user_namespace, missing_capabilities};
pub use report::{Dropped, ErrorReport, Lateness, LinkReport, PortReport, Seen, Verdict};
pub use spinning::Spinning;
pub use tcp_info::{BbrInfo, TcpInfo};

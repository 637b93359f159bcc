//! Scenarios played with the kernel's own TCP over emulated paths.
//!
//! [`play`] plays one run and tells an [`Observer`](rampcc_trace::Observer) what happens, in the same samples and
//! events as the simulator, so that whatever measures one measures the other. Paths are [`rampcc_emulator`]'s: real
//! sockets in two network namespaces, in real time. What a run says beyond samples is in [`Played`]: how far the
//! emulator was from the scenario, how the sockets were set up, and what was lost.
//!
//! [`check`] names everything that a scenario asks and a kernel does not do. With the feature `bpf` the flows are
//! steered by the algorithms of the registry, put into the kernel by `rampcc-linux`; without it, by the kernel's own
//! congestion controls alone ([`Row`]).
//!
//! [`RealQuic`] plays them with a QUIC stack over UDP sockets and TLS instead of the kernel's TCP.
//!
//! [`Programs`] plays two programs over such a path, any server and any client, with what the path sees of them.
//!
//! This crate decides nothing that TCP or a link decides, and measures nothing.
//!
//! ```no_run
//! use rampcc_backend::Backend;
//! use rampcc_scenario::Scenario;
//! use rampcc_testbed::Kernel;
//!
//! let scenario = Scenario::open("geo-satellite")?;
//! if let Err(reasons) = Kernel.check(&scenario, None) {
//!     println!("this kernel cannot play it: {}", reasons.join("; "));
//! }
//! # Ok::<(), rampcc_scenario::ScenarioError>(())
//! ```
#![cfg(target_os = "linux")]

mod applications;
mod backend;
mod check;
mod controls;
mod error;
mod exits;
mod kernel;
#[cfg(feature = "bpf")]
mod kernel_events;
mod kinds;
mod log;
mod play;
mod program;
mod quic;
mod row;
mod seen;
mod told;
mod watch;
mod web;

pub use backend::{Kernel, emulation};
pub use check::{Unsupported, check};
pub use controls::{Obstacle, obstacle};
pub use error::{Result, TestbedError};
pub use kernel::{cubic_settings, kernel_release};
pub use play::{Options, Played, SampleCounts, Task, play};
pub use program::{FAULTS, Fault, Program, ProgramError, Programs, exit_on_wire, ready_made};
pub use quic::RealQuic;
pub use rampcc_emulator::{
    Buffers, ErrorReport, Lateness, Verdict, enter_user_namespace, missing_capabilities,
};
pub use row::Row;

//! Scenarios played with the kernel's own TCP over emulated paths.
//!
//! [`play`] plays one run and tells an [`Observer`](ramp_trace::Observer) what happens, in the same samples and
//! events as the simulator, so that whatever measures one measures the other. Paths are [`ramp_emulator`]'s: real
//! sockets in two network namespaces, in real time. What a run says beyond samples is in [`Played`]: how far the
//! emulator was from the scenario, how the sockets were set up, and what was lost.
//!
//! [`check`] names everything that a scenario asks and a kernel does not do. With the feature `bpf` the flows are
//! steered by the algorithms of the registry, put into the kernel by `ramp-linux`; without it, by the kernel's own
//! congestion controls alone ([`Row`]).
//!
//! This crate decides nothing that TCP or a link decides, and measures nothing.
#![cfg(target_os = "linux")]

mod applications;
mod check;
mod controls;
mod error;
mod exits;
#[cfg(feature = "bpf")]
mod kernel_events;
mod log;
mod play;
mod row;
mod watch;

pub use check::{Unsupported, check};
pub use controls::{Obstacle, obstacle};
pub use error::TestbedError;
pub use play::{Options, Played, SampleCounts, play};
pub use ramp_emulator::{
    Buffers, ErrorReport, Lateness, Verdict, enter_user_namespace, missing_capabilities,
};
pub use row::Row;

/// Release of the running kernel, e.g. `6.12.9-amd64`.
pub fn kernel_release() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease")
        .map_or_else(|_| "unknown".to_owned(), |release| release.trim().to_owned())
}

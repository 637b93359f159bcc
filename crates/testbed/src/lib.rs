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
pub use error::TestbedError;
pub use play::{Options, Played, SampleCounts, Task, play};
pub use program::{FAULTS, Fault, Program, ProgramError, Programs, exit_on_wire, ready_made};
pub use quic::RealQuic;
pub use rampcc_emulator::{
    Buffers, ErrorReport, Lateness, Verdict, enter_user_namespace, missing_capabilities,
};
pub use row::Row;

/// Settings of the machine's CUBIC that differ from Linux's defaults: `hystart_low_window=32`. Its parameters are
/// the module's, the same for every connection of the machine.
pub fn cubic_settings() -> Vec<String> {
    let read = |name: &str| std::fs::read_to_string(format!("/sys/module/tcp_cubic/parameters/{name}")).ok();
    changed_cubic_settings(read)
}

fn changed_cubic_settings(read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    // net/ipv4/tcp_cubic.c; the same from Linux 2.6.29 on.
    const SHIPPED: [(&str, &str); 9] = [
        ("beta", "717"),
        ("bic_scale", "41"),
        ("fast_convergence", "1"),
        ("hystart", "1"),
        ("hystart_ack_delta_us", "2000"),
        ("hystart_detect", "3"),
        ("hystart_low_window", "16"),
        ("initial_ssthresh", "0"),
        ("tcp_friendliness", "1"),
    ];
    let changed = SHIPPED.into_iter().filter_map(|(name, shipped)| {
        let value = read(name)?.trim().to_owned();
        (value != shipped).then(|| format!("{name}={value}"))
    });
    changed.collect()
}

/// Release of the running kernel, e.g. `6.12.9-amd64`.
pub fn kernel_release() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease")
        .map_or_else(|_| "unknown".to_owned(), |release| release.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::changed_cubic_settings;

    #[test]
    fn only_what_differs_from_linux_is_told() {
        let read = |name: &str| match name {
            "beta" => Some("819\n".to_owned()),
            "hystart" => Some("1\n".to_owned()),
            _ => None,
        };
        assert_eq!(changed_cubic_settings(read), ["beta=819"]);
    }
}

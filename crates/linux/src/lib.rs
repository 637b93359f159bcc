//! The start-up algorithms in the Linux kernel's own TCP.
//!
//! A part of ramp, not meant for other programs: any release may change it.
//!
//! Every row of the registry is an eBPF congestion control `ramp_<id>`: the C core decides during start-up, the
//! kernel's CUBIC (or Reno) does everything after it, and recovery throughout. [`load`] puts one into the kernel;
//! [`Loaded`] gives its counters and events and takes it out again; [`Calls`] makes of its events what
//! [`rampcc_trace::Replay`] checks against the native build of the core.
//!
//! This crate makes no paths and opens no sockets: code that does selects the algorithm by [`Loaded::name`] as
//! `TCP_CONGESTION`, per route, or as a namespace's default.

mod cubic;
mod error;
mod event;
mod loader;
mod onlooker;
mod options;
mod pinned;
mod starts;

pub use cubic::{PlainCubic, load_cubic_without_hystart};
pub use error::LoadError;
pub use event::{CallEvent, Calls, Counters, Event, FlowEvent, Header, Tuple};
pub use loader::{Cost, Loaded, bpf_object, explained, load, load_pinned, probe, valid_name};
pub use onlooker::{Exits, FlowRow, Onlooker};
pub use options::{Access, Avoidance, Guard, Options, Record};
pub use pinned::{Held, Pinned, detach_pinned, read_only, share, withdraw_pinned};
pub use starts::{Start, Starts, Watcher};

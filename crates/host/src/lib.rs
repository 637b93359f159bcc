//! Start-up algorithms on a live host.
//!
//! A part of ramp, not meant for other programs: any release may change it.
//!
//! [`Host`] attaches an algorithm to a [`Scope`] (a network namespace, a control group, a route), remembers what it
//! replaced, and puts that back exactly. What is attached outlives the process: the kernel's objects are pinned in a
//! BPF file system, and what they replaced is on record before anything changes.
//!
//! This crate decides nothing about connections; `rampcc-linux` puts the algorithms into the kernel.

mod assign;
mod attach;
mod bpffs;
mod clock;
mod detach;
mod detached;
pub mod doctor;
mod error;
mod files;
mod host;
pub mod live;
mod lock;
pub mod metrics;
mod namespace;
pub mod privileges;
mod record;
mod route;
mod scope;
mod sockets;
mod status;
mod sysctl;
mod target;
pub mod trial;
mod unrecorded;

pub use assign::{Assign, AssignArm, AssignCounters, AssignEvent, AssignOptions, Done, Opened, WHOLE};
pub use attach::{Attached, Change};
pub use detached::{Detached, Restored};
pub use error::{HostError, Result};
pub use files::publish;
pub use host::{Host, PINS, RECORDS};
#[doc(hidden)]
pub use route::told as told_route;
pub use scope::{Prefix, Scope, printable};
#[doc(hidden)]
pub use sockets::connection as told_connection;
pub use status::{AttachedAlgorithm, Attachment, Health};

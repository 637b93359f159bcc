//! Any server and client as a row: their processes meet over the emulated path, and what the path sees is measured.
//!
//! A [`Program`] is a server's command, a client's command and what they need. [`Programs`] is the backend that plays
//! them. Both commands run in process namespaces of their own, which end with them: nothing that they start outlives the
//! run, however this process ends. Nothing is asked of their sockets: samples and events come from the packets that the
//! path takes in and hands out.

mod backend;
mod client;
mod faults;
mod folder;
mod foreign;
mod here;
mod listening;
mod play;
mod process;
mod processors;
mod row;
mod wire;

pub use backend::Programs;
pub use faults::{FAULTS, Fault};
pub use row::{Program, ProgramError, ready_made};
pub use wire::exit_on_wire;

//! Virtual time: plays a [`Scenario`](rampcc_scenario::Scenario) with simulated hosts.
//!
//! [`simulate`] plays one run over TCP, [`simulate_over`] over any [`Transport`], and tells an
//! [`Observer`](rampcc_trace::Observer) what happens. The same scenario and seed give the same calls on every machine.
//! This crate decides nothing that a host or a link decides (`tcp`, `path`) and measures nothing (`lab`); it moves
//! time, packets and applications.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use rampcc_scenario::{Arm, Scenario};
//!
//! let scenario = Scenario::open("cable")?.with_arm(&Arm::parse("hystart")?);
//! let outcome = rampcc_sim::simulate(&scenario, 1, &mut (), &AtomicBool::new(false))?;
//! assert!(outcome.data_packets > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod backend;
mod cpu;
mod drops;
mod error;
mod event_queue;
mod fifo;
mod flow;
mod history;
mod hosts;
mod link_sampler;
mod network;
mod packet;
mod recorded;
mod ring;
mod router;
mod simulation;
mod stage;
mod tcp;
mod topology;
mod totals;
mod transport;

pub use backend::Simulator;
pub use error::SimulationError;
pub use recorded::recorded;
pub use simulation::{Run, simulate, simulate_over};
pub use tcp::Tcp;
pub use transport::{Connecting, Datagram, Endpoint, Receiving, Sending, Transport};

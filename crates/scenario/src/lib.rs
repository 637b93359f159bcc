//! Scenarios: files that say what to run, checked.
//!
//! A [`Scenario`] that exists is runnable. This crate parses and checks; it plays nothing.
//!
//! ```
//! use rampcc_scenario::{Arm, Scenario};
//!
//! let scenario = Scenario::open("geo-satellite")?.with_arm(&Arm::parse("hystart")?);
//! assert_eq!(scenario.flows.len(), 1);
//!
//! let refused = Scenario::open("no-such-scenario").unwrap_err();
//! assert!(refused.to_string().contains("no-such-scenario"), "{refused}");
//! # Ok::<(), rampcc_scenario::ScenarioError>(())
//! ```

mod ad_hoc;
mod arms;
mod built_in;
mod carry;
mod chance;
mod cpu;
mod document;
mod error;
mod facts;
mod field;
mod generator;
mod history;
mod model;
mod names;
mod neighbourhood;
mod numbers;
mod of_sender;
mod open;
mod parse;
mod place;
mod queue;
pub mod random;
mod rates;
mod read;
pub mod schema;
mod settings;
mod traces;
mod uncertain;
mod units;
mod words;

pub use ad_hoc::AdHoc;
pub use cpu::Cpu;
pub use error::{FieldError, Result, ScenarioError, nearest};
pub use generator::{Arrival, Generator};
pub use history::{History, Quantity};
pub use model::{
    Arm, FlowConfig, NamedLink, Original, PathFacts, RoundTrips, Scenario, Sessions, SizeDistribution,
    Source, Steering, Stop, Topology, Traffic, TrafficKind,
};
pub use neighbourhood::{Heading, Neighbour, Neighbourhood, standalone};
pub use of_sender::OfSender;
pub use settings::Setting;
pub use traces::{TraceFile, read_small};
pub use uncertain::{Range, Uncertain, Values};
pub use units::{bytes as parse_bytes, time as parse_time};

//! What to run: a scenario file, checked.
//!
//! A [`Scenario`] that exists is runnable. This crate parses and checks; it plays nothing.

mod ad_hoc;
mod arms;
mod built_in;
mod document;
mod error;
mod facts;
mod model;
mod parse;
pub mod schema;
mod settings;
mod traces;
mod units;

pub use ad_hoc::AdHoc;
pub use error::{FieldError, ScenarioError};
pub use model::{
    Arm, FlowConfig, NamedLink, PathFacts, Scenario, SizeDistribution, Source, Steering, Stop, Topology,
    TraceFile, Traffic, TrafficKind,
};
pub use settings::Setting;

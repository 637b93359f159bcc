//! What to run: a scenario file, checked.
//!
//! A [`Scenario`] that exists is runnable. This crate parses and checks; it plays nothing.

mod facts;
mod model;

pub use model::{
    Arm, FlowConfig, NamedLink, PathFacts, Scenario, SizeDistribution, Source, Steering, Stop, Topology,
    TraceFile, Traffic, TrafficKind,
};

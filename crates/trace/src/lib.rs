//! What happened: samples and events, whoever played them, and the files that keep them.
//!
//! A backend calls an [`Observer`]; metrics, files and charts are observers. This crate knows no backend.

mod observer;
mod provenance;
mod sample;
mod series;

pub use observer::{Both, Observer};
pub use provenance::Provenance;
pub use sample::{FlowEvent, FlowEventKind, FlowSample, LinkSample, SenderState};
pub use series::{FlowSeries, LinkSeries, Mark, MarkKind, RunSeries};

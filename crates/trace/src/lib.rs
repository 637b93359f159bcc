//! What happened: samples and events, whoever played them, and the files that keep them.
//!
//! A backend calls an [`Observer`]; metrics, files and charts are observers. This crate knows no backend.

mod observer;
mod sample;

pub use observer::{Both, Observer};
pub use sample::{FlowEvent, FlowEventKind, FlowSample, LinkSample, SenderState};

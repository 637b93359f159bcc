//! What happened: samples and events, whatever played them, and the files that keep them.
//!
//! A backend calls an [`Observer`]; metrics, files ([`Writer`]) and charts ([`Recorder`]) are observers. This crate knows
//! no backend. An observer that wants them also gets the calls of start-up algorithms and their decisions: [`DecisionWriter`]
//! keeps these, and [`Replay`] puts them to an algorithm once more.
//!
//! ```
//! use rampcc_trace::{FlowEvent, FlowEventKind, Observer};
//!
//! /// The windows at which flows left start-up, in bytes.
//! #[derive(Default)]
//! struct Exits(Vec<u64>);
//!
//! impl Observer for Exits {
//!     fn on_event(&mut self, event: &FlowEvent) {
//!         if let FlowEventKind::StartupExit { cwnd_bytes, .. } = event.kind {
//!             self.0.push(cwnd_bytes);
//!         }
//!     }
//! }
//! ```

mod command;
mod decision;
mod decision_file;
mod emulation;
mod file;
mod observer;
mod outcome;
mod provenance;
mod recorder;
mod replay;
mod row;
mod sample;
mod series;

pub use command::{quoted, words};
pub use decision::{Call, FlowDecision, Opening, Told};
pub use decision_file::{DecisionWriter, read_decisions};
pub use emulation::{Emulation, HostLateness, Wire};
pub use file::{Format, Result, TraceError, Writer, read};
pub use observer::{Both, Observer};
pub use outcome::{FlowTotals, LinkTotals, Outcome, next_round_number};
pub use provenance::Provenance;
pub use recorder::{Recorder, RecorderOptions};
pub use replay::{Course, Difference, Exit, Recorded, Replay};
pub use row::RowError;
pub use sample::{CpuSample, FlowEvent, FlowEventKind, FlowSample, LinkSample, SenderState};
pub use series::{FlowSeries, LinkSeries, Mark, MarkKind, RunSeries};

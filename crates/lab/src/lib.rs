//! From samples to judgement: metrics, statistics, comparison, reports.
//!
//! A part of ramp, not meant for other programs: any release may change it.
//!
//! A [`Meter`] watches a run and measures it; a [`RunRecord`] keeps one finished run; [`judge`] makes a [`Comparison`] of
//! many, which is what every report shows. This crate knows no scenario and no backend: the path comes in as a
//! [`Context`].

#![allow(clippy::format_push_string, reason = "reports are made once, and `write!` would hide what they say")]

#[cfg(test)]
extern crate self as rampcc_lab;

mod about;
mod alike;
pub mod carries;
mod comparison;
mod context;
mod drawn;
mod emulation;
mod exit;
mod explain;
mod fares;
#[cfg(test)]
#[path = "../tests/support/fixture.rs"]
mod fixture;
pub mod flows;
mod format;
mod gentle;
mod judge;
mod ledger;
mod meter;
pub mod metric;
mod notes;
mod pairs;
mod record;
pub mod report;
mod sides;
mod standing;
mod startup;
pub mod statistics;
mod summary;
#[cfg(test)]
mod testing;
mod verdict;
mod words;

pub use about::About;
pub use comparison::{
    ArmSummary, Comparison, DownloadSummary, ExitCount, Finding, LeftOut, Met, Pair, Representative, Spread,
};
pub use context::{CapacityStep, Context, Writes};
pub use drawn::{DrawnRole, DrawnSeed};
pub use emulation::EmulationSummary;
pub use explain::{Explanation, Later, Outcome, explain_exit};
pub use judge::{JudgeOptions, judge};
pub use meter::{Measurements, Meter};
pub use metric::{Better, Definition, MetricInfo, definitions, wire_metrics};
pub use rampcc::ExitReason;
pub use rampcc_trace::Emulation;
pub use record::{Download, ExitRecord, Measures, RunKey, RunPath, RunRecord, Slowing, StayRecord};
pub use sides::{Difference, Side, SideBySide, SideRow, SidesWords, side_by_side};
pub use statistics::{Paired, paired, quantile, ranks, spearman};
pub use summary::{Interval, IntervalMethod, Modes, Summary, Test};
pub use verdict::missing;
pub use words::{Note, Words};

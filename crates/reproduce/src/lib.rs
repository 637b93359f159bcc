//! Published experiments as data: played, their claims checked, drawn.
//!
//! A part of ramp, not meant for other programs: any release may change it.
//!
//! One file below `experiments` is one figure or table of a paper: what is played, over which values, how it is drawn, and what
//! the paper claims of it, as formulae over metrics (`docs/guide/reproduce.md`). [`Work::plan`] checks everything that is to
//! be played, [`Work::play`] finds or plays every run and judges, [`write_gallery`] writes pages. Runs are kept under
//! everything that decides them. Nothing is printed, and no clock is read: the caller brings one.

#![allow(clippy::format_push_string, reason = "pages are made once, and `write!` would hide what they say")]

mod catalogue;
mod error;
mod experiment;
mod expression;
mod figure;
mod file;
mod judge;
mod measure;
mod order;
mod paper;
mod plan;
mod play;
mod quantity;
mod read;
mod variant;
mod write;

pub use catalogue::{built_in, chosen, ids, named};
pub use error::{FileError, ReproduceError, Result};
pub use experiment::Experiment;
pub use file::Kind;
pub use judge::{Contradiction, Judged, Tally, Verdict, tally};
pub use paper::{Paper, paper_ids, papers};
pub use plan::Extent;
pub use play::{Done, Work};
pub use quantity::{OWN, Own};
pub use variant::Variant;
pub use write::{INDEX, verdicts, write_gallery};

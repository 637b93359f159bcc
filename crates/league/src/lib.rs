//! A league table of start-up algorithms: which one to choose when the path is not known.
//!
//! A part of ramp, not meant for other programs: any release may change it.
//!
//! A [`Population`] of paths is data: drawn once from stated ranges for each type of access, or drawn afresh, or a user's own. A
//! [`Request`] plays every algorithm on every path, on any backend, and keeps what is finished; [`League::judge`] compares
//! download times with those of a sender that knows the path, and with what no sender can beat that learns from ACKs. An algorithm may
//! be a header that is in no registry ([`candidate`]), and [`goals`] holds one to what a start-up should do. Nothing is printed.

mod asked;
mod candidate;
pub mod columns;
mod crowds;
mod design;
mod draw;
mod elsewhere;
mod features;
pub mod gate;
pub mod goals;
mod judge;
mod outcome;
mod page;
mod pairs;
mod play;
mod playing;
mod population;
pub mod recommend;
mod sample;
pub mod sides;
mod submit;
pub mod text;
mod yardstick;

pub use asked::{Extent, Files, KNOWN_SIZES, entrants};
#[doc(hidden)]
pub use candidate::said_again;
pub use candidate::{Apart, candidate, candidates, header, serve_candidate};
pub use crowds::{Among, Crowds};
pub use design::{ACCESS, about};
pub use elsewhere::perform;
pub use features::{FEATURES, Feature, Features};
pub use judge::{
    BySize, Case, Condition, Cost, FAR, Fails, Group, Harm, Interval, LARGE_BDP_PACKETS, NEAR, Over, Ratio,
    Standing, Table, Times, Versus, Weights,
};
pub use outcome::{Others, Outcome};
pub use page::page;
pub use play::{League, PlayedPath, PlayedRow, Request, SIZES};
pub use population::{EDITION, PREFIX, Path, Population, Which, path};
pub use sample::LONGEST_S;
pub use submit::{Submission, submission_digest, submittable};

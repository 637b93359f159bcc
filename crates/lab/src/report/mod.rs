//! A comparison for people and for machines.

pub mod html;
mod machine;
mod table;
mod text;

pub use machine::{csv, json, runs_csv};
pub use text::{TextStyle, text};

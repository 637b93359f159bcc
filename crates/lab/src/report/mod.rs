//! A comparison for people and for machines.

pub mod html;
mod machine;
mod names;
mod sides;
mod table;
mod text;

pub use crate::format::quantity;
pub use machine::{
    CSV_COLUMNS, FORMAT, RUNS_COLUMNS, Written, WrittenCarries, csv, csv_line, json, json_value, runs_csv,
};
pub use sides::{sides_csv, sides_json, sides_json_value, sides_text};
pub use text::{TextStyle, text};

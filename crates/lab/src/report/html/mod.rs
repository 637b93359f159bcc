//! A comparison as one HTML file that needs nothing else.
//!
//! Everything that can be said in words and tables is plain HTML and stands without scripts; the charts are drawn in the
//! browser from one block of data. The page forbids itself every network request.

mod charts;
mod data;
mod number;
mod page;
mod summary;
mod tables;
mod text;
mod thin;

use crate::Comparison;

/// A self-contained HTML report.
///
/// Text of the comparison (scenario, labels, command) may hold anything: it is escaped wherever it appears. The file
/// stays below 3 MB however long the runs were, because curves are thinned to a fixed number of points.
pub fn render(comparison: &Comparison) -> String {
    page::page(comparison)
}

#[cfg(test)]
mod tests;

//! A comparison as one HTML file that needs nothing else.
//!
//! Everything that can be said in words and tables is plain HTML and stands without scripts; the charts are drawn in the
//! browser from one block of data. The page forbids itself every network request.

mod carries;
mod charts;
mod curves;
mod data;
mod frame;
mod framed;
pub mod gallery;
mod head;
mod live;
mod number;
mod overview;
mod page;
mod playground;
mod seeds;
mod sides;
mod summary;
mod tables;
mod text;
mod thin;

pub use framed::{Page, escaped};
pub use live::{Live, live_script, render_live};
pub use overview::{Overview, SweptPoint, render_overview};
pub use playground::{playground_at, playground_link, playground_place};

use crate::{ArmSummary, Better, Comparison, SideBySide, SidesWords, Words};

/// A self-contained HTML report.
///
/// Text of the comparison (scenario, labels, command) may hold anything: it is escaped wherever it appears. The file
/// stays below 3 MB however long the runs were, because curves are thinned to a fixed number of points.
pub fn render(comparison: &Comparison) -> String {
    page::page(&presentable(comparison), &Words::of(comparison))
}

/// As a page shows it: rows in order, those alike once, units that are safe in HTML.
fn presentable(comparison: &Comparison) -> Comparison {
    let mut metrics = comparison.metrics.clone();
    for metric in &mut metrics {
        // A unit becomes part of every number, so it is cleaned here, once.
        metric.unit.retain(|c| !"<>&\"'".contains(c));
    }
    Comparison { arms: shown(ordered(comparison), comparison), metrics, ..comparison.clone() }
}

/// Backends side by side as a page of its own; `places` are links to the reports of each.
pub fn render_sides(both: &SideBySide, words: &SidesWords, places: &[&str]) -> String {
    let mut both = both.clone();
    for metric in &mut both.metrics {
        metric.unit.retain(|c| !"<>&\"'".contains(c));
    }
    sides::page(&both, words, places)
}

/// The leader, then best first in the deciding metric, those with the most values before others, yardsticks last: one order for every table, legend and chart of the page.
fn ordered(comparison: &Comparison) -> Vec<ArmSummary> {
    let primary = comparison.metrics.iter().find(|metric| metric.id == comparison.primary);
    let sign = if primary.is_some_and(|metric| metric.better == Better::Higher) { -1.0 } else { 1.0 };
    let primary = |arm: &ArmSummary| {
        arm.metric(&comparison.primary).map_or((0, f64::INFINITY), |summary| (summary.n, sign * summary.mean))
    };
    let mut arms = comparison.arms.clone();
    arms.sort_by(|a, b| {
        let ((n_a, mean_a), (n_b, mean_b)) = (primary(a), primary(b));
        let led = |arm: &ArmSummary| comparison.leader.as_ref() != Some(&arm.label);
        a.yardstick
            .cmp(&b.yardstick)
            .then(led(a).cmp(&led(b)))
            .then(n_b.cmp(&n_a))
            .then(mean_a.total_cmp(&mean_b))
    });
    arms
}

/// Of rows that had the same values in every run, the one that others are measured against, or else the first.
fn shown(arms: Vec<ArmSummary>, comparison: &Comparison) -> Vec<ArmSummary> {
    let named = [&comparison.leader, &comparison.baseline, &comparison.yardstick];
    let wanted =
        |arm: &ArmSummary| arm.yardstick || named.iter().any(|name| name.as_ref() == Some(&arm.label));
    let mut kept: Vec<String> = arms.iter().filter(|arm| wanted(arm)).map(|arm| arm.label.clone()).collect();
    let mut shown = Vec::new();
    for arm in arms {
        let stands_in = arm.alike.iter().any(|other| kept.contains(other));
        if !wanted(&arm) && stands_in {
            continue;
        }
        if !kept.contains(&arm.label) {
            kept.push(arm.label.clone());
        }
        shown.push(arm);
    }
    shown
}

/// Labels of the rows that a row of the page stands for: of several such rows the first one does.
fn stood_for<'a>(comparison: &'a Comparison, arm: &'a ArmSummary) -> Vec<&'a str> {
    let of_this = |label: &&String| {
        comparison.arm(label).is_none()
            && comparison.arms.iter().find(|other| other.alike.contains(label)).map(|other| &other.label)
                == Some(&arm.label)
    };
    arm.alike.iter().filter(of_this).map(String::as_str).collect()
}

#[cfg(test)]
mod tests;

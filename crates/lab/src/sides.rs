//! The same scenario played by several backends, side by side.

mod words;

use std::collections::BTreeMap;

use rampcc_trace::Provenance;
use serde::{Deserialize, Serialize};

use crate::comparison::{ArmSummary, Comparison, ExitCount, Finding, Representative};
use crate::metric::{Definition, MetricInfo};
use crate::statistics::{How, compare};
use crate::summary::{Interval, Summary};
use crate::{Context, EmulationSummary, metric};

pub use words::SidesWords;

/// Metrics that are set side by side, in order.
const SHOWN: [Definition; 9] = [
    metric::DOWNLOAD_TIME,
    metric::GOODPUT,
    metric::EXIT_TIME,
    metric::EXIT_WINDOW,
    metric::EXIT_WINDOW_BDP,
    metric::RETRANSMISSIONS,
    metric::STARTUP_LOST_PACKETS,
    metric::LOST_PACKETS,
    metric::QUEUE_PEAK,
];

/// Comparisons of one scenario, row by row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideBySide {
    /// Recipe for making it again; `backend` names all.
    pub provenance: Provenance,
    /// The path.
    pub context: Context,
    /// Names of the sides: `sim`, `linux`.
    pub sides: Vec<String>,
    /// Metrics that are compared, in the order of reports.
    pub metrics: Vec<MetricInfo>,
    /// Id of the metric that decides.
    pub primary: String,
    /// Differences within this share either way count as none.
    pub margin: f64,
    /// Rows that at least one side has, in the order of the last.
    pub rows: Vec<SideRow>,
    /// Accuracy of the path, on each side that was played in real time.
    pub emulations: BTreeMap<String, EmulationSummary>,
}

/// One row on every side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideRow {
    /// Row label.
    pub label: String,
    /// True if it knows the path.
    pub yardstick: bool,
    /// Finished runs on each side.
    pub n: Vec<u32>,
    /// Each metric by id.
    pub metrics: BTreeMap<String, Side>,
    /// Reasons for which runs left start-up on each side, the most frequent first.
    pub exits: Vec<Vec<ExitCount>>,
    /// A run of each side, of the same seed where all have drawn one.
    pub representatives: Vec<Option<Representative>>,
}

/// One metric on every side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// On each side; `None`: no run has a value, or the row is not there.
    pub values: Vec<Option<Summary>>,
    /// Of each side after the first: that side less the first, seed by seed; `None`: no seed has both.
    pub differences: Vec<Option<Difference>>,
}

/// One side less the first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Seeds that both have a value for.
    pub n: u32,
    /// Mean of it, in the metric's unit.
    pub mean: f64,
    /// 95 % interval (t); `None` below two pairs.
    pub interval: Option<Interval>,
    /// Geometric mean of it over the first; `None` unless all values are positive.
    pub ratio: Option<f64>,
    /// 95 % interval of it.
    pub ratio_interval: Option<Interval>,
    /// Finding.
    pub finding: Finding,
}

/// Sets comparisons of the same scenario side by side; `sides` are their names, and the first is what the others are held
/// against.
///
/// # Panics
///
/// If there is none.
pub fn side_by_side(sides: &[&str], comparisons: &[&Comparison]) -> SideBySide {
    let last = *comparisons.last().expect("a side is there");
    // What is in flight on the wire has another name, which holds for programs alone.
    let windows = comparisons.iter().rev().filter(|side| !side.on_wire());
    let named: Vec<&Comparison> = windows.chain(comparisons.iter().rev()).copied().collect();
    let info = |metric: Definition| named.iter().find_map(|side| side.info(metric.id)).cloned();
    let metrics: Vec<MetricInfo> = SHOWN.into_iter().filter_map(info).collect();
    let mut labels: Vec<&str> = Vec::new();
    for arm in std::iter::once(last).chain(comparisons.iter().copied()).flat_map(|side| &side.arms) {
        if !labels.contains(&arm.label.as_str()) {
            labels.push(&arm.label);
        }
    }
    let rows = labels.into_iter().map(|label| row(label, comparisons, &metrics)).collect();
    let backends: Vec<&str> = comparisons.iter().map(|side| side.provenance.backend.as_str()).collect();
    let emulations = sides.iter().zip(comparisons).filter_map(|(name, side)| {
        let emulation = side.emulation.clone()?;
        Some(((*name).to_owned(), emulation))
    });
    SideBySide {
        provenance: Provenance { backend: backends.join(", "), ..last.provenance.clone() },
        context: last.context.clone(),
        sides: sides.iter().map(|&side| side.to_owned()).collect(),
        metrics,
        primary: last.primary.clone(),
        margin: last.margin,
        rows,
        emulations: emulations.collect(),
    }
}

impl SideBySide {
    /// Description of a metric.
    pub fn info(&self, id: &str) -> Option<&MetricInfo> {
        self.metrics.iter().find(|info| info.id == id)
    }
}

impl Side {
    /// Of a side after the first, by its number from 0.
    pub fn difference(&self, side: usize) -> Option<&Difference> {
        self.differences.get(side.checked_sub(1)?)?.as_ref()
    }
}

impl SideRow {
    /// One metric.
    pub fn metric(&self, id: &str) -> Option<&Side> {
        self.metrics.get(id)
    }
}

fn row(label: &str, comparisons: &[&Comparison], metrics: &[MetricInfo]) -> SideRow {
    let arms: Vec<Option<&ArmSummary>> = comparisons.iter().map(|comparison| comparison.arm(label)).collect();
    let side = |info: &MetricInfo| {
        let value = |arm: Option<&ArmSummary>| arm.and_then(|arm| arm.metric(&info.id)).cloned();
        let values: Vec<Option<Summary>> = arms.iter().copied().map(value).collect();
        let against_first = |at: usize| {
            difference([comparisons[0], comparisons[at]], [values[0].as_ref(), values[at].as_ref()])
        };
        let differences = (1..comparisons.len()).map(against_first).collect();
        values.iter().any(Option::is_some).then(|| (info.id.clone(), Side { values, differences }))
    };
    SideRow {
        label: label.to_owned(),
        yardstick: arms.iter().flatten().any(|arm| arm.yardstick),
        n: arms.iter().map(|arm| arm.map_or(0, |arm| arm.n)).collect(),
        metrics: metrics.iter().filter_map(side).collect(),
        exits: arms.iter().map(|arm| arm.map_or(Vec::new(), |arm| arm.exits.clone())).collect(),
        representatives: drawn(&arms),
    }
}

/// Runs to draw side by side: those of the first seed that all sides with this row have drawn.
fn drawn(arms: &[Option<&ArmSummary>]) -> Vec<Option<Representative>> {
    let there = || arms.iter().flatten();
    let last = there().next_back().map_or(&[][..], |arm| arm.drawn.as_slice());
    let common = last.iter().map(|run| run.seed).find(|seed| there().all(|arm| arm.drawn(*seed).is_some()));
    let of = |arm: &ArmSummary| match common {
        Some(seed) => arm.drawn(seed).cloned(),
        None => arm.drawn.first().cloned(),
    };
    arms.iter().map(|arm| arm.and_then(of)).collect()
}

/// Run i of both sides used seed i: links drew the same numbers.
fn difference(comparisons: [&Comparison; 2], values: [Option<&Summary>; 2]) -> Option<Difference> {
    let by_seed = |side: usize| -> BTreeMap<u64, Option<f64>> {
        let values = values[side].iter().flat_map(|summary| summary.values.iter().copied());
        comparisons[side].seeds.iter().copied().zip(values).collect()
    };
    // A side without chance would have had the same value on every seed.
    let fill = |side: usize, own: &mut BTreeMap<u64, Option<f64>>, seeds: &[u64]| {
        if let (false, Some(value)) = (comparisons[side].context.chance, own.values().next().copied()) {
            own.extend(seeds.iter().map(|seed| (*seed, value)));
        }
    };
    let (mut first, mut second) = (by_seed(0), by_seed(1));
    let of_both: Vec<u64> = first.keys().chain(second.keys()).copied().collect();
    fill(0, &mut first, &of_both);
    fill(1, &mut second, &of_both);
    let seeds: Vec<u64> = first.keys().filter(|seed| second.contains_key(seed)).copied().collect();
    let column = |side: &BTreeMap<u64, Option<f64>>| -> Vec<Option<f64>> {
        seeds.iter().map(|seed| side.get(seed).copied().flatten()).collect()
    };
    // Without chance on both sides one pair is all of them.
    let chance = comparisons.iter().any(|side| side.context.chance || side.emulation.is_some());
    let how = How { margin: comparisons[1].margin, chance, ranks: false };
    let test = compare(&column(&second), &column(&first), &how)?;
    let finding = match test.p {
        _ if test.p_equivalence.is_some_and(|p| p < 0.05) => Finding::Equivalent,
        Some(p) if p < 0.05 && test.centre < 0.0 => Finding::Lower,
        Some(p) if p < 0.05 && test.centre > 0.0 => Finding::Higher,
        _ => Finding::CannotTell,
    };
    Some(Difference {
        n: test.n,
        mean: test.difference,
        interval: test.difference_interval,
        ratio: test.ratio,
        ratio_interval: test.ratio_interval,
        finding,
    })
}

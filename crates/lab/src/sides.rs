//! The same scenario played by two backends, side by side.

use std::collections::BTreeMap;

use rampcc_trace::Provenance;
use serde::{Deserialize, Serialize};

use crate::comparison::{
    ArmSummary, Comparison, ExitCount, Finding, Interval, MetricInfo, Representative, Summary,
};
use crate::statistics::paired;
use crate::{Context, EmulationSummary, metric};

/// Metrics that are set side by side, in order.
const SHOWN: [&str; 9] = [
    metric::DOWNLOAD_TIME,
    metric::GOODPUT,
    "exit_time",
    "exit_window",
    "exit_window_bdp",
    "retransmissions",
    "startup_lost_packets",
    "lost_packets",
    "queue_peak",
];

/// Two comparisons of one scenario, row by row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideBySide {
    /// Recipe for making it again; `backend` names both.
    pub provenance: Provenance,
    /// The path.
    pub context: Context,
    /// Names of the sides: `sim`, `linux`.
    pub sides: [String; 2],
    /// Metrics that are compared, in the order of reports.
    pub metrics: Vec<MetricInfo>,
    /// Id of the metric that decides.
    pub primary: String,
    /// Differences within this share either way count as none.
    pub margin: f64,
    /// Rows that at least one side has, in the order of the second.
    pub rows: Vec<SideRow>,
    /// Agreement of the sides, one sentence.
    pub verdict: String,
    /// Notes that a reader needs beside it, each with its side.
    pub notes: Vec<String>,
    /// Accuracy of the path, on the side that was played in real time.
    pub emulation: Option<EmulationSummary>,
}

/// One row on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideRow {
    /// Row label.
    pub label: String,
    /// True if it knows the path.
    pub yardstick: bool,
    /// Finished runs on each side.
    pub n: [u32; 2],
    /// Each metric by id.
    pub metrics: BTreeMap<String, Side>,
    /// Reasons for which runs left start-up on each side, the most frequent first.
    pub exits: [Vec<ExitCount>; 2],
    /// A run of each side, of the same seed where both have drawn one.
    pub representatives: [Option<Representative>; 2],
}

/// One metric on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// On each side; `None`: no run has a value, or the row is not there.
    pub values: [Option<Summary>; 2],
    /// The second less the first, seed by seed; `None`: no seed has both.
    pub difference: Option<Difference>,
}

/// The second side less the first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Seeds that both have a value for.
    pub n: u32,
    /// Mean of it, in the metric's unit.
    pub mean: f64,
    /// 95 % interval (t); `None` below two pairs.
    pub interval: Option<Interval>,
    /// Geometric mean of second over first; `None` unless all values are positive.
    pub ratio: Option<f64>,
    /// 95 % interval of it.
    pub ratio_interval: Option<Interval>,
    /// Finding.
    pub finding: Finding,
}

/// Sets two comparisons of the same scenario side by side; `sides` are their names.
pub fn side_by_side(sides: [&str; 2], comparisons: [&Comparison; 2]) -> SideBySide {
    let [first, second] = comparisons;
    let info = |id: &str| second.info(id).or_else(|| first.info(id)).cloned();
    let metrics: Vec<MetricInfo> = SHOWN.into_iter().filter_map(info).collect();
    let labels = second.arms.iter().map(|arm| arm.label.as_str());
    let missing = first.arms.iter().map(|arm| arm.label.as_str()).filter(|label| second.arm(label).is_none());
    let rows = labels.chain(missing).map(|label| row(label, comparisons, &metrics)).collect();
    let mut both = SideBySide {
        provenance: Provenance {
            backend: format!("{}, {}", first.provenance.backend, second.provenance.backend),
            ..second.provenance.clone()
        },
        context: second.context.clone(),
        sides: sides.map(str::to_owned),
        metrics,
        primary: second.primary.clone(),
        margin: second.margin,
        rows,
        verdict: String::new(),
        notes: Vec::new(),
        emulation: second.emulation.clone().or_else(|| first.emulation.clone()),
    };
    both.verdict = verdict(&both);
    both.notes = notes(&both.sides, comparisons);
    both
}

impl SideBySide {
    /// Description of a metric.
    pub fn info(&self, id: &str) -> Option<&MetricInfo> {
        self.metrics.iter().find(|info| info.id == id)
    }
}

impl SideRow {
    /// One metric.
    pub fn metric(&self, id: &str) -> Option<&Side> {
        self.metrics.get(id)
    }
}

fn row(label: &str, comparisons: [&Comparison; 2], metrics: &[MetricInfo]) -> SideRow {
    let arms = comparisons.map(|comparison| comparison.arm(label));
    let side = |info: &MetricInfo| {
        let values = arms.map(|arm| arm.and_then(|arm| arm.metric(&info.id)).cloned());
        let difference = difference(comparisons, &values);
        values.iter().any(Option::is_some).then(|| (info.id.clone(), Side { values, difference }))
    };
    SideRow {
        label: label.to_owned(),
        yardstick: arms.iter().flatten().any(|arm| arm.yardstick),
        n: arms.map(|arm| arm.map_or(0, |arm| arm.n)),
        metrics: metrics.iter().filter_map(side).collect(),
        exits: arms.map(|arm| arm.map_or(Vec::new(), |arm| arm.exits.clone())),
        representatives: drawn(arms),
    }
}

/// Runs to draw side by side: those of the first seed that both sides have drawn.
fn drawn(arms: [Option<&ArmSummary>; 2]) -> [Option<Representative>; 2] {
    if let [Some(first), Some(second)] = arms
        && let Some(run) = second.drawn.iter().find(|run| first.drawn(run.seed).is_some())
    {
        return [first.drawn(run.seed).cloned(), Some(run.clone())];
    }
    arms.map(|arm| arm.and_then(|arm| arm.drawn.first().cloned()))
}

/// Run i of both sides used seed i: links drew the same numbers.
fn difference(comparisons: [&Comparison; 2], values: &[Option<Summary>; 2]) -> Option<Difference> {
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
    let test = paired(&column(&second), &column(&first), comparisons[1].margin)?;
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

/// What holds for both sides is said once.
fn notes(sides: &[String; 2], comparisons: [&Comparison; 2]) -> Vec<String> {
    let [first, second] = comparisons.map(|comparison| &comparison.notes);
    let plain = |note: &String| note.trim_start_matches("* ").to_owned();
    let (common, own): (Vec<&String>, Vec<&String>) = first.iter().partition(|note| second.contains(note));
    let later = second.iter().filter(|note| !first.contains(note));
    let named = |side: &str, note: &String| format!("{side}: {}", plain(note));
    (own.into_iter().map(|note| named(&sides[0], note)))
        .chain(later.map(|note| named(&sides[1], note)))
        .chain(common.into_iter().map(plain))
        .collect()
}

/// "Of 9 rows that both played, linux differs from sim in download time by at most 3.1 % (paced); 8 lie within 5 %."
fn verdict(both: &SideBySide) -> String {
    let [first, second] = &both.sides;
    let name = both.info(&both.primary).map_or(both.primary.as_str(), |info| info.name.as_str());
    let ratios: Vec<(&str, f64)> = (both.rows.iter())
        .filter_map(|row| Some((row.label.as_str(), row.metric(&both.primary)?.difference?.ratio?)))
        .collect();
    let far = |ratio: f64| libm::log(ratio).abs();
    let Some((label, most)) = ratios.iter().max_by(|a, b| far(a.1).total_cmp(&far(b.1))) else {
        return format!("No row has a {name} on both sides.");
    };
    let within = ratios.iter().filter(|(_, ratio)| far(*ratio) <= libm::log1p(both.margin)).count();
    let percent = |ratio: f64| format!("{:+.1} %", (ratio - 1.0) * 100.0);
    if let [(only, ratio)] = ratios.as_slice() {
        return format!("{only}: {second} has {} {name} against {first}.", percent(*ratio));
    }
    format!(
        "Of {} rows that both played, {within} have the same {name} on {second} as on {first} within {:.0} %; the \
         largest difference is {} ({label}).",
        ratios.len(),
        both.margin * 100.0,
        percent(*most),
    )
}

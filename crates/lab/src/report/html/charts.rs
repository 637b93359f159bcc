//! Distributions, download times by size and paired differences, as the charts want them.

use rampcc::figures::counted;
use serde::Serialize;

use super::number::{interval_of, kind, least, round, show_interval, show_mean, show_median, show_short};
use crate::metric::{self, Definition};
use crate::{ArmSummary, Better, Comparison, Finding, Interval, MetricInfo, Pair, Summary};

/// One metric over all runs of all arms.
#[derive(Serialize)]
pub(super) struct Distribution {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) meaning: String,
    kind: &'static str,
    axis: String,
    label: String,
    /// Named values drawn as lines.
    lines: Vec<(&'static str, f64)>,
    rows: Vec<Row>,
}

/// One arm in a chart of rows.
#[derive(Serialize)]
struct Row {
    arm: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Option<f64>>>,
    mean: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flag: Option<&'static str>,
    /// Whether the mean is at least that.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    at_least: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    describe: String,
}

impl Row {
    fn without_value(arm: usize) -> Self {
        Self {
            arm,
            values: None,
            mean: None,
            low: None,
            high: None,
            flag: Some("no value"),
            at_least: false,
            text: None,
            describe: "no run has a value".to_owned(),
        }
    }
}

/// Time to the first so many bytes; all columns have the length of `bytes`.
#[derive(Serialize)]
pub(super) struct Sizes {
    bytes: Vec<u64>,
    rows: Vec<SizeRow>,
}

#[derive(Serialize)]
struct SizeRow {
    mean: Vec<Option<f64>>,
    low: Vec<Option<f64>>,
    high: Vec<Option<f64>>,
}

/// Everyone against one arm, in the metric that decides.
#[derive(Serialize)]
pub(super) struct Differences {
    pub(super) against: String,
    pub(super) role: &'static str,
    kind: &'static str,
    axis: String,
    label: String,
    /// Ends of the band in which differences count as none.
    band: (f64, f64),
    band_label: String,
    origin: f64,
    rows: Vec<Row>,
}

/// Metrics that are shown as distributions: the deciding one, then what explains it.
const EXPLAINING: [Definition; 2] = [metric::EXIT_WINDOW_BDP, metric::STARTUP_LOST_PACKETS];

/// Every metric that varies or decides; those of [`EXPLAINING`] come right after the deciding one.
pub(super) fn distributions(comparison: &Comparison) -> Vec<Distribution> {
    let mut order: Vec<&str> = vec![&comparison.primary];
    order.extend(EXPLAINING.map(|metric| metric.id));
    order.extend(comparison.metrics.iter().map(|metric| metric.id.as_str()));
    let mut seen: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for id in order {
        let Some(info) = comparison.metrics.iter().find(|metric| metric.id == id) else { continue };
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        found.push(distribution(comparison, info));
    }
    found
}

/// How many of [`distributions`] are shown at once; the rest is one choice away.
pub(super) fn shown_at_once(comparison: &Comparison) -> usize {
    let has = |id: &str| id != comparison.primary && comparison.metrics.iter().any(|metric| metric.id == id);
    let primary = comparison.metrics.iter().any(|metric| metric.id == comparison.primary);
    usize::from(primary) + EXPLAINING.iter().filter(|metric| has(metric.id)).count()
}

fn distribution(comparison: &Comparison, info: &MetricInfo) -> Distribution {
    let (kind, factor) = kind(&info.unit);
    let rows = comparison.arms.iter().enumerate().map(|(arm, summary)| {
        let Some(s) = summary.metric(&info.id) else { return Row::without_value(arm) };
        Row {
            arm,
            values: Some(s.values.iter().map(|v| v.map(|v| round(v * factor))).collect()),
            mean: Some(round(s.mean * factor)),
            low: interval_of(s).map(|i| round(i.low * factor)),
            high: interval_of(s).map(|i| round(i.high * factor)),
            flag: s.modes.map(|_| "two groups").or((s.unfinished() > 0).then_some("unfinished")),
            at_least: s.unfinished() > 0,
            text: None,
            describe: describe(s, &info.unit),
        }
    });
    let unit = if kind == "count" && !matches!(info.unit.as_str(), "count" | "") {
        format!(" [{}]", info.unit)
    } else {
        String::new()
    };
    Distribution {
        id: info.id.clone(),
        title: info.name.clone(),
        meaning: info.meaning.clone(),
        kind,
        axis: format!("{}{unit}", info.name),
        label: format!("{} of every run, one row per algorithm; the table below has the numbers", info.name),
        lines: if info.unit == "BDP" { vec![("1 BDP", 1.0)] } else { Vec::new() },
        rows: rows.collect(),
    }
}

fn describe(summary: &Summary, unit: &str) -> String {
    let interval =
        interval_of(summary).map_or(String::new(), |i| format!(" (95 %: {})", show_interval(i, unit)));
    let unfinished = match summary.unfinished() {
        0 => String::new(),
        count => format!(" and {count} unfinished"),
    };
    format!(
        "{}{unfinished}, mean {}{interval}, median {}",
        counted(summary.n, "run"),
        show_mean(summary, unit),
        show_median(summary, unit)
    )
}

/// Download times at every size that some arm reached.
pub(super) fn sizes(comparison: &Comparison) -> Sizes {
    let bytes = sizes_of(comparison);
    let rows = comparison.arms.iter().map(|arm| {
        let at =
            |size: &u64| arm.downloads.iter().find(|download| download.bytes == *size).map(|d| &d.seconds);
        let end =
            |size: &u64, pick: fn(Interval) -> f64| at(size).and_then(|s| s.interval).map(|i| round(pick(i)));
        SizeRow {
            mean: bytes.iter().map(|size| at(size).map(|s| round(s.mean))).collect(),
            low: bytes.iter().map(|size| end(size, |i| i.low)).collect(),
            high: bytes.iter().map(|size| end(size, |i| i.high)).collect(),
        }
    });
    Sizes { rows: rows.collect(), bytes }
}

/// The sizes that some arm reached, ascending.
pub(super) fn sizes_of(comparison: &Comparison) -> Vec<u64> {
    let mut bytes: Vec<u64> =
        comparison.arms.iter().flat_map(|arm| arm.downloads.iter().map(|download| download.bytes)).collect();
    bytes.sort_unstable();
    bytes.dedup();
    bytes.retain(|&size| size > 0);
    bytes
}

/// One group for each arm that others are measured against: the leader, the baseline, the yardstick.
pub(super) fn differences(comparison: &Comparison) -> Vec<Differences> {
    let Some(info) = comparison.metrics.iter().find(|metric| metric.id == comparison.primary) else {
        return Vec::new();
    };
    let roles = [
        ("the leader", &comparison.leader),
        ("the baseline", &comparison.baseline),
        ("the yardstick", &comparison.yardstick),
    ];
    let mut groups: Vec<Differences> = Vec::new();
    for (role, against) in roles {
        let Some(against) = against else { continue };
        let pairs: Vec<&Pair> =
            comparison.pairs.iter().filter(|p| p.metric == info.id && &p.against == against).collect();
        if !pairs.is_empty() && groups.iter().all(|group| &group.against != against) {
            groups.push(group(comparison, info, role, against, &pairs));
        }
    }
    groups
}

fn group(
    comparison: &Comparison,
    info: &MetricInfo,
    role: &'static str,
    against: &str,
    pairs: &[&Pair],
) -> Differences {
    let ratios = pairs.iter().all(|pair| pair.ratio.is_some());
    let (unit_kind, factor) = kind(&info.unit);
    let mut rows: Vec<Row> = Vec::new();
    for pair in pairs {
        let Some(arm) = comparison.arms.iter().position(|arm| arm.label == pair.arm) else { continue };
        let (mean, interval, factor) = match pair.ratio {
            Some(ratio) if ratios => (ratio, pair.ratio_interval, 1.0),
            _ => (pair.difference, pair.difference_interval, factor),
        };
        let text = pair_text(pair, info, role == "the yardstick");
        rows.push(Row {
            arm,
            values: None,
            mean: Some(round(mean * factor)),
            low: interval.map(|i| round(i.low * factor)),
            high: interval.map(|i| round(i.high * factor)),
            flag: None,
            at_least: pair.at_least,
            describe: text.clone(),
            text: Some(text),
        });
    }
    rows.sort_by_key(|row| row.arm);
    Differences {
        against: against.to_owned(),
        role,
        kind: if ratios { "ratio" } else { unit_kind },
        axis: if ratios {
            format!("{} as a multiple of {against}’s", info.name)
        } else {
            format!("{} less {against}’s", info.name)
        },
        label: format!(
            "{} of each algorithm against {against}, seed by seed; the table below has the numbers",
            info.name
        ),
        band: if ratios {
            (round(1.0 / (1.0 + comparison.margin)), round(1.0 + comparison.margin))
        } else {
            let wide = round(comparison.margin * factor * reference_mean(comparison, info, against).abs());
            (-wide, wide)
        },
        band_label: format!("equivalent: within {}", show_short(comparison.margin, "share")),
        origin: if ratios { 1.0 } else { 0.0 },
        rows,
    }
}

fn reference_mean(comparison: &Comparison, info: &MetricInfo, label: &str) -> f64 {
    let arm = comparison.arms.iter().find(|arm| arm.label == label);
    arm.and_then(|arm| arm.metric(&info.id)).map_or(0.0, |summary| summary.mean)
}

/// How an arm stands against the leader, as the terminal says it.
pub(super) fn standing(comparison: &Comparison, arm: &ArmSummary) -> Option<String> {
    let contenders = comparison.arms.iter().filter(|arm| !arm.yardstick && arm.n > 0).count();
    // Alone, it leads no other row.
    if contenders < 2 && !arm.yardstick {
        return None;
    }
    crate::standing::standing(comparison, arm).map(|text| text.replace('-', "\u{2212}"))
}

fn pair_text(pair: &Pair, info: &MetricInfo, yardstick: bool) -> String {
    let size = match pair.ratio {
        Some(ratio) => format!("{ratio:.2}×"),
        None => super::number::show_signed(pair.difference, &info.unit),
    };
    let size = format!("{}{size}", least(pair.at_least));
    match finding(pair, info) {
        word if !yardstick || pair.finding == Finding::Equivalent => format!("{size}, {word}"),
        _ => size,
    }
}

/// What a pair allows to say, in a word.
pub(super) fn finding(pair: &Pair, info: &MetricInfo) -> &'static str {
    let time = matches!(info.unit.as_str(), "s" | "ms" | "us");
    match (pair.finding, info.better) {
        (Finding::Equivalent, _) => "equivalent",
        (Finding::CannotTell, _) => "the runs cannot tell",
        (Finding::Lower, Better::Lower) if time => "faster",
        (Finding::Higher, Better::Lower) if time => "slower",
        (Finding::Lower, Better::Lower) | (Finding::Higher, Better::Higher) => "better",
        (Finding::Higher, Better::Lower) | (Finding::Lower, Better::Higher) => "worse",
        (Finding::Lower, Better::Neither) => "lower",
        (Finding::Higher, Better::Neither) => "higher",
    }
}

//! Contents of reports: all runs of a comparison, judged.

use std::collections::BTreeMap;

use rampcc_trace::{Provenance, RunSeries};
use serde::{Deserialize, Serialize};

use crate::about::{self, About};
use crate::carries::Carries;
use crate::explain::{self, Explanation};
use crate::metric::{self, Definition, MetricInfo};
use crate::summary::{Interval, Summary, Test};
use crate::{Context, DrawnSeed, EmulationSummary, ExitReason, ExitRecord, RunPath, StayRecord};

/// All runs of one scenario, judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Recipe for making it again; `arm` is empty and `seed` the first one.
    pub provenance: Provenance,
    /// The path.
    pub context: Context,
    /// Conditions that the runs met, where each has a path of its own; `None`: all met the one above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met: Option<Met>,
    /// Seeds whose runs are drawn, the one that is shown first leading.
    #[serde(default)]
    pub drawn: Vec<DrawnSeed>,
    /// Seeds, ascending; position `i` of every `values` below belongs to `seeds[i]`.
    pub seeds: Vec<u64>,
    /// The metrics below, in the order of reports.
    pub metrics: Vec<MetricInfo>,
    /// Id of the metric that decides.
    pub primary: String,
    /// Rows, in the order they were given.
    pub arms: Vec<ArmSummary>,
    /// Rows that a group asked for and that could not be played here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Paired differences of every metric: each contender against the leader and the baseline, and
    /// every arm against the yardstick.
    pub pairs: Vec<Pair>,
    /// Label of the contender with the best mean of the primary metric; of those within a thousandth of it, the one that fills queues, loses
    /// packets and harms others the least.
    pub leader: Option<String>,
    /// Of the leader and the rows within the margin of it, the label of the one that fills queues, loses packets and harms
    /// others the least; `None`: the leader has no equal, or none of them is gentler than the rest.
    #[serde(default)]
    pub gentlest: Option<String>,
    /// Label of the contender that the others are measured against.
    pub baseline: Option<String>,
    /// Label of the yardstick.
    pub yardstick: Option<String>,
    /// Ratios from 1 / (1 + this share) to 1 + this share count as no difference.
    pub margin: f64,
    /// Accuracy of the path, where it was played in real time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulation: Option<EmulationSummary>,
    /// Reach of this result, where neighbouring paths were played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carries: Option<Carries>,
}

/// Rows that could not be played, all for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Their labels.
    pub rows: Vec<String>,
    /// Why, and what would help where something would.
    pub why: String,
}

/// Conditions met by runs that start anywhere in a measured link. Payload.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Met {
    /// Mean rate of the bottleneck while a run lasted.
    pub bytes_per_s: Spread,
    /// Bandwidth-delay product at the start of a run.
    pub bdp_bytes: Spread,
}

/// Over runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Smallest.
    pub low: f64,
    /// Largest.
    pub high: f64,
}

impl Met {
    /// What these runs met; `None`: none of them has a path of its own.
    pub(crate) fn of<'a>(runs: impl Iterator<Item = &'a RunPath> + Clone) -> Option<Self> {
        let bytes_per_s = Spread::of(runs.clone().map(|path| path.mean_bytes_per_s))?;
        Some(Self { bytes_per_s, bdp_bytes: Spread::of(runs.map(|path| path.bdp_bytes as f64))? })
    }
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (mut sum, mut count, mut low, mut high) = (0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            (sum, count, low, high) = (sum + value, count + 1.0, f64::min(low, value), f64::max(high, value));
        }
        (count > 0.0).then(|| Self { mean: sum / count, low, high })
    }
}

/// One row: an algorithm with its settings, over all its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmSummary {
    /// Row label.
    pub label: String,
    /// Description in a sentence; may be empty.
    #[serde(skip_deserializing, serialize_with = "about::in_words")]
    pub about: Option<About>,
    /// Labels of other rows that had the same values in every run.
    #[serde(default)]
    pub alike: Vec<String>,
    /// True if it knows the path and is shown only for scale.
    pub yardstick: bool,
    /// Finished runs.
    pub n: u32,
    /// Each metric's distribution, by id; absent: no run has a value.
    pub metrics: BTreeMap<String, Summary>,
    /// Reasons for which runs left start-up, the most frequent first.
    pub exits: Vec<ExitCount>,
    /// Time to the first so many bytes, ascending by size.
    pub downloads: Vec<DownloadSummary>,
    /// The run with the median of the primary metric, without curves.
    pub representative: Option<Representative>,
    /// The runs of the seeds that are drawn, in the order of [`Comparison::drawn`]; where there is none, it is absent.
    #[serde(default)]
    pub drawn: Vec<Representative>,
    /// Accuracy of the path, where it was played in real time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulation: Option<EmulationSummary>,
    /// Share of the neighbouring paths on which it is within the margin of the best; `None`: not played there, or a yardstick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carries: Option<f64>,
}

impl Comparison {
    /// True if windows are the bytes in flight that the path saw: programs show nothing else.
    pub(crate) fn on_wire(&self) -> bool {
        self.emulation.as_ref().is_some_and(|emulation| emulation.on_wire)
    }
}

impl ArmSummary {
    /// True if it is of a header that is in no registry.
    pub(crate) fn is_candidate(&self) -> bool {
        matches!(self.about, Some(About::Header { .. })) && !self.yardstick
    }

    /// The row of the registry that a candidate is another form of: that of its name, as its table has it.
    pub(crate) fn replaces<'a>(&self, arms: &'a [Self]) -> Option<&'a Self> {
        let Some(About::Header { id: name }) = &self.about else { return None };
        let plain = |arm: &&Self| matches!(&arm.about, Some(About::Algorithm { id, settings }) if id == name && settings.is_empty());
        arms.iter().filter(|arm| arm.n > 0 && !arm.yardstick).find(plain)
    }

    /// Its run of a seed that is drawn.
    pub fn drawn(&self, seed: u64) -> Option<&Representative> {
        self.drawn.iter().find(|run| run.seed == seed)
    }

    /// A metric's distribution, by its id.
    pub fn metric(&self, id: &str) -> Option<&Summary> {
        self.metrics.get(id)
    }

    /// The distribution of this metric.
    pub fn of(&self, metric: Definition) -> Option<&Summary> {
        self.metrics.get(metric.id)
    }
}

/// Number of runs in which a reason ended start-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitCount {
    /// Reason.
    pub reason: ExitReason,
    /// In how many runs.
    pub runs: u32,
}

/// Time to the first so many bytes, over runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DownloadSummary {
    /// Payload bytes.
    pub bytes: u64,
    /// Seconds since the flow was opened.
    pub seconds: Summary,
}

/// One run that stands for its arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Representative {
    /// Its seed.
    pub seed: u64,
    /// Exit from start-up.
    pub exit: Option<ExitRecord>,
    /// As in [`RunRecord::stay`](crate::RunRecord::stay).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stay: Option<StayRecord>,
    /// The exit in words, with what one round more would have brought where that was played.
    #[serde(skip_deserializing, serialize_with = "explain::in_words")]
    pub explanation: Explanation,
    /// The path it met; `None`: every run of the comparison met the same one, that of its context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<RunPath>,
    /// Its curves; `None`: not kept.
    pub series: Option<RunSeries>,
}

impl Representative {
    /// Curves are for pictures: files of numbers leave them out, and the capacity that goes with them.
    pub(crate) fn without_curves(&mut self) {
        self.series = None;
        self.path.iter_mut().for_each(|path| path.capacity.clear());
    }
}

/// Two arms compared seed by seed in one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Metric id.
    pub metric: String,
    /// Label of the arm that is measured.
    pub arm: String,
    /// Label of the arm it is measured against.
    pub against: String,
    /// Seeds that both have a value for.
    pub n: u32,
    /// Mean of `arm - against`, in the metric's unit.
    pub difference: f64,
    /// 95 % interval of it (t); `None` below two pairs.
    pub difference_interval: Option<Interval>,
    /// Geometric mean of `arm / against`; `None` unless all values are positive.
    pub ratio: Option<f64>,
    /// 95 % interval of it (t on logarithms); `None` below two pairs.
    pub ratio_interval: Option<Interval>,
    /// Probability of such a difference by chance, corrected by Holm over the claims made in this metric against the same row
    /// (rows with the same values in every run make one claim), but not against the yardstick; `None` below two pairs.
    pub p: Option<f64>,
    /// The test behind it.
    pub test: Test,
    /// Probability of such closeness if the true difference were as large as the margin (two one-sided tests);
    /// `None` below two pairs, and where a value was cut off.
    pub p_equivalence: Option<f64>,
    /// True if `arm` has values that were cut off: it is farther from the other than this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// Approximate number of runs that would decide; `None`: these do, there is one run, or more than 10 000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_needed: Option<u32>,
    /// Finding.
    pub finding: Finding,
}

impl Pair {
    /// True if every run of one has the value of the other's: few such runs prove no more, but nothing tells the two apart.
    pub fn same_values(&self) -> bool {
        self.same_in_every_run() && self.difference.abs() <= 0.0
    }

    /// True if the difference is the same in every run, of which there are several.
    pub(crate) fn same_in_every_run(&self) -> bool {
        self.test == Test::Sign
    }
}

/// Finding about a pair of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// `arm` is smaller.
    Lower,
    /// `arm` is larger.
    Higher,
    /// They differ by less than the margin. A difference may be certain and still not matter.
    Equivalent,
    /// The runs do not tell.
    CannotTell,
}

impl ArmSummary {
    pub(crate) fn lost_connections(&self) -> usize {
        self.of(metric::CONNECTIONS_LOST)
            .map_or(0, |s| s.values.iter().flatten().filter(|lost| **lost > 0.0).count())
    }

    /// Whether all of them did.
    pub(crate) fn lost_all_connections(&self) -> bool {
        self.n > 0 && self.lost_connections() == self.n as usize
    }
}

impl Comparison {
    /// The row with this label.
    pub fn arm(&self, label: &str) -> Option<&ArmSummary> {
        self.arms.iter().find(|arm| arm.label == label)
    }

    /// Description of the metric that decides.
    pub fn primary_info(&self) -> Option<&MetricInfo> {
        self.info(&self.primary)
    }

    /// Description of a metric.
    pub fn info(&self, id: &str) -> Option<&MetricInfo> {
        self.metrics.iter().find(|info| info.id == id)
    }

    /// The paired difference of `arm` against another in a metric.
    pub fn pair(&self, metric: &str, arm: &str, against: &str) -> Option<&Pair> {
        self.pairs.iter().find(|pair| pair.metric == metric && pair.arm == arm && pair.against == against)
    }
}

//! One algorithm's line of the table.

use serde::Serialize;

use super::certain::Interval;
use super::tree::Group;
use crate::crowds::Among;

/// What an algorithm did over the whole population.
#[derive(Clone, Debug, Serialize)]
pub struct Standing {
    /// Its label.
    pub label: String,
    /// The algorithm's name; that of a candidate is its label.
    pub name: String,
    /// True if it knows the path.
    pub yardstick: bool,
    /// True if it is not in the registry.
    pub candidate: bool,
    /// Download time over the yardstick's.
    pub ideal: Over,
    /// Its download time over that of the first contender, with how sure it is; `None` for that and for yardsticks.
    pub over_first: Option<Interval>,
    /// First and last place of those whose order with the first of them other paths may turn around; `None` for yardsticks.
    pub places: Option<[usize; 2]>,
    /// Label of plain slow start, if every download takes and loses as much.
    pub same_as: Option<String>,
    /// Download time over what a sender needs at least that learns from ACKs: a reference where cross traffic may yield or the rate
    /// changes.
    pub causal: Over,
    /// The same on paths where nothing but the queue moves: a bound.
    pub clean: Option<Over>,
    /// There, over the larger of that bound and the yardstick's time.
    pub clean_attained: Option<Over>,
    /// Round trips more than the yardstick: median and 95th percentile.
    pub extra_rtts: [f64; 2],
    /// For each size.
    pub by_size: Vec<BySize>,
    /// Share of cases in which no other contender is faster.
    pub best: f64,
    /// Share in which it is within 5 % of the fastest.
    pub near_best: f64,
    /// Against plain slow start.
    pub slow_start: Option<Versus>,
    /// Against what Linux's CUBIC does.
    pub cubic: Option<Versus>,
    /// What it costs.
    pub cost: Cost,
    /// What others suffer; `None`: no path has a running flow.
    pub harm: Option<Harm>,
    /// Two that begin together: larger over smaller share after 1, 3 and 10 s, medians; `None`: not played.
    pub together: Option<[f64; 3]>,
    /// Among others; `None`: not played.
    pub among: Option<Among>,
    /// Where it fails.
    pub fails: Fails,
}

/// A ratio over the population.
#[derive(Clone, Debug, Serialize)]
pub struct Over {
    /// Geometric mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// Not exceeded on 95 % of the cases.
    pub p95: f64,
    /// Largest.
    pub worst: f64,
    /// Path of the largest.
    pub worst_path: String,
    /// Share of cases above 2.
    pub above_two: f64,
    /// Share of cases that the end of the run cut off: their ratios are lower bounds.
    pub cut: f64,
}

/// The ratio for one size.
#[derive(Clone, Debug, Serialize)]
pub struct BySize {
    /// Bytes.
    pub bytes: u64,
    /// Download time over the yardstick's; `None`: no path has it.
    pub ideal: Option<Over>,
}

/// Another row, case by case.
#[derive(Clone, Debug, Serialize)]
pub struct Versus {
    /// Whose time is 1.
    pub label: String,
    /// Geometric mean.
    pub mean: f64,
    /// Share of cases in which it takes more than 5 % longer.
    pub slower: f64,
    /// Share in which it does and the yardstick does not.
    pub slower_alone: f64,
    /// Share in which it takes more than 25 % longer.
    pub much_slower: f64,
    /// Share in which it takes more than 5 % less.
    pub faster: f64,
    /// Largest.
    pub worst: f64,
    /// Path of the largest.
    pub worst_path: String,
}

/// What it costs the path.
#[derive(Clone, Debug, Serialize)]
pub struct Cost {
    /// Packets lost in start-up over those that pipe and buffer hold together: mean, 95th percentile, worst.
    pub startup_lost: [f64; 3],
    /// Path of the worst.
    pub startup_lost_path: String,
    /// Payload lost and sent again over the file, means.
    pub lost: f64,
    /// As above.
    pub again: f64,
    /// Queueing delay not exceeded for 95 % of a download, ms: median over the paths, and not exceeded on 95 % of them.
    pub queue_ms: [f64; 2],
}

/// What a running flow suffers, against the same path without the download.
#[derive(Clone, Debug, Serialize)]
pub struct Harm {
    /// Packets that it loses in the first [`EARLY_RTTS`](rampcc_lab::metric::EARLY_RTTS) round trips of the download beyond those that it loses
    /// there anyway, over those that pipe and buffer hold together: mean, 95th percentile, worst.
    pub lost: [f64; 3],
    /// Path of the worst.
    pub lost_path: String,
    /// Share of its goodput that it loses, mean; below 0: it has more.
    pub goodput: f64,
    /// Number of paths with a running flow.
    pub paths: usize,
}

/// Groups of paths by what they have in common, the worst first.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Fails {
    /// The tree's leaves.
    pub groups: Vec<Group>,
    /// For each the path with the largest ratio.
    pub examples: Vec<String>,
}

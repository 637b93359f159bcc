//! Result of a trial.

use std::collections::BTreeMap;

use rampcc_lab::{Finding, Paired, paired};
use serde::{Deserialize, Serialize};

use super::connection::{Connection, FIRST_WINDOW_BYTES, SizeClass};
use super::guard::{Harm, Stop};
use super::plan::Plan;
use super::words;

/// Draws as uneven as they are, or more, come about by chance this rarely when something is wrong with them.
const SUSPICIOUS: f64 = 0.001;
/// Differences of shares within this count as none.
const SHARE_MARGIN: f64 = 0.005;

/// End of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// As planned.
    Completed,
    /// The arm on trial did harm.
    RolledBack(Stop),
    /// It was interrupted.
    Interrupted,
    /// Its control group was removed.
    Vanished,
    /// The process died.
    Unknown,
}

/// The end of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// Kind of the end.
    pub how: How,
    /// After how long.
    pub after_s: f64,
    /// Connections that each arm was given.
    pub assigned: [u64; 2],
    /// Of these, still open at the end: not counted below.
    pub open: [u64; 2],
    /// Connections for which the kernel would not have the arm.
    pub refused: [u64; 2],
    /// Connections left alone: their application had chosen.
    pub chosen: u64,
    /// Connections left alone: an attachment to a control group further inside had given them one.
    #[serde(default)]
    pub nested: u64,
    /// Assigned, but not followed for want of memory.
    pub without_storage: u64,
    /// Ends and beginnings that were not reported for want of room.
    pub lost_events: u64,
}

/// One arm, as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmFigures {
    /// As it was called.
    pub name: String,
    /// Connections assigned.
    pub assigned: u64,
    /// Done, all of it acknowledged.
    pub delivered: u64,
    /// Cut off.
    pub cut_off: u64,
    /// Still open.
    pub open: u64,
    /// Connections whose slow start ended.
    pub startups: u64,
    /// Exit reasons, where the algorithm reports them.
    pub exits: BTreeMap<String, u64>,
}

/// One figure, arm against arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Of what.
    pub metric: Metric,
    /// Of connections of this size; `None`: of all.
    pub size: Option<SizeClass>,
    /// Connections of the arm on trial, and of the other.
    pub counts: [usize; 2],
    /// Geometric mean, or share.
    pub values: [Option<f64>; 2],
    /// Blocks in which both arms have a value.
    pub blocks: u32,
    /// Ratio of means, or difference of shares, over blocks.
    pub effect: Option<f64>,
    /// 95 % interval of it.
    pub interval: Option<[f64; 2]>,
    /// Finding.
    pub finding: Finding,
}

/// Metric of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Time with data on its way or waiting to be sent.
    TransferTime,
    /// Time to the end of slow start, of connections that saw it.
    StartupTime,
    /// The window then.
    StartupWindow,
    /// Retransmitted bytes over sent ones.
    RetransmittedShare,
    /// Connections that were cut off.
    CutOffShare,
}

impl Metric {
    /// True if arms are compared by their ratio; otherwise by their difference.
    pub fn relative(self) -> bool {
        !matches!(self, Self::RetransmittedShare | Self::CutOffShare)
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::TransferTime => "transfer time",
            Self::StartupTime => "start-up time",
            Self::StartupWindow => "window at its end",
            Self::RetransmittedShare => "retransmitted",
            Self::CutOffShare => "cut off",
        }
    }
}

/// Result of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialReport {
    /// Plan of the trial.
    pub plan: Plan,
    /// End of the trial.
    pub ending: Ending,
    /// The arm on trial and the other.
    pub arms: [ArmFigures; 2],
    /// Their figures, compared by blocks of time.
    pub rows: Vec<Row>,
    /// Probability of a draw as uneven as this.
    pub draw_p: Option<f64>,
    /// One sentence.
    pub verdict: String,
    /// Notes that a reader needs with it.
    pub notes: Vec<String>,
}

/// Judges the connections of a trial that are done.
pub fn judge(plan: &Plan, ending: &Ending, connections: &[Connection]) -> TrialReport {
    let arms = [0, 1].map(|arm| figures(plan, ending, connections, arm));
    let mut rows = vec![time_row(plan, connections, None)];
    let sizes = SizeClass::ALL.map(|size| time_row(plan, connections, Some(size)));
    rows.extend(sizes.into_iter().filter(|row| row.counts.iter().sum::<usize>() > 0));
    rows.extend([
        startup_row(plan, connections, Metric::StartupTime, |c| c.startup_s),
        startup_row(plan, connections, Metric::StartupWindow, |c| c.startup_cwnd_packets.map(f64::from)),
        share_row(plan, connections, Metric::RetransmittedShare, |c| {
            (c.retransmitted_bytes as f64, c.sent_bytes as f64)
        }),
        share_row(plan, connections, Metric::CutOffShare, |c| (f64::from(u8::from(!c.delivered)), 1.0)),
    ]);
    let mut report = TrialReport {
        plan: plan.clone(),
        ending: ending.clone(),
        arms,
        rows,
        draw_p: draw_p(plan, ending.assigned),
        verdict: String::new(),
        notes: Vec::new(),
    };
    report.verdict = words::verdict(&report);
    report.notes = words::notes(&report);
    report
}

impl TrialReport {
    /// Transfer times of all sizes, sizes compared with their like.
    pub fn overall(&self) -> &Row {
        &self.rows[0]
    }

    /// Whether neither arm was given a connection.
    pub fn nothing_tried(&self) -> bool {
        self.ending.assigned == [0, 0]
    }

    /// True if the split is too uneven for a fair draw.
    pub fn uneven(&self) -> bool {
        self.draw_p.is_some_and(|p| p < SUSPICIOUS)
    }

    /// Harm for which it was rolled back.
    pub fn harm(&self) -> Option<Harm> {
        match &self.ending.how {
            How::RolledBack(stop) => Some(stop.harm),
            _ => None,
        }
    }
}

/// Mean logarithm of the ratio of transfer times, each size class compared with itself; `None` where none has both arms.
pub(crate) fn size_adjusted_log_ratio<'a>(
    connections: impl Iterator<Item = &'a Connection>,
    tick_s: f64,
) -> Option<f64> {
    let mut sums: BTreeMap<SizeClass, [(f64, f64); 2]> = BTreeMap::new();
    for c in connections {
        let (sum, count) = &mut sums.entry(c.size()).or_default()[c.arm];
        *sum += log_time(c, tick_s);
        *count += 1.0;
    }
    let (mut sum, mut weights) = (0.0, 0.0);
    for [new, old] in sums.into_values() {
        let weight = new.1 * old.1 / (new.1 + old.1);
        if weight > 0.0 {
            sum += weight * (new.0 / new.1 - old.0 / old.1);
            weights += weight;
        }
    }
    (weights > 0.0).then(|| sum / weights)
}

/// A transfer within one tick took, for all we know, half of one.
fn log_time(connection: &Connection, tick_s: f64) -> f64 {
    libm::log(connection.busy_s.max(tick_s / 2.0))
}

fn figures(plan: &Plan, ending: &Ending, connections: &[Connection], arm: usize) -> ArmFigures {
    let mut figures = ArmFigures {
        name: plan.arms[arm].clone(),
        assigned: ending.assigned[arm],
        delivered: 0,
        cut_off: 0,
        open: ending.open[arm],
        startups: 0,
        exits: BTreeMap::new(),
    };
    for c in connections.iter().filter(|c| c.arm == arm) {
        if c.delivered {
            figures.delivered += 1;
        } else {
            figures.cut_off += 1;
        }
        // One that was over with the last ACK had no RTT sample after it.
        figures.startups += u64::from(c.startup_s.is_some() || c.exit.is_some());
        if let Some(exit) = c.exit {
            *figures.exits.entry(exit.word().to_owned()).or_default() += 1;
        }
    }
    figures
}

/// Transfer times of the new arm over those of the old, block by block, as the report has it.
pub(crate) fn transfer_time(plan: &Plan, connections: &[Connection]) -> Option<f64> {
    time_row(plan, connections, None).effect
}

fn time_row(plan: &Plan, connections: &[Connection], size: Option<SizeClass>) -> Row {
    let wanted = |c: &&Connection| {
        let sized = size.map_or(c.bytes > FIRST_WINDOW_BYTES, |size| c.size() == size);
        c.delivered && c.sent() && sized
    };
    let timed: Vec<&Connection> = connections.iter().filter(wanted).collect();
    let log = |c: &Connection| Some(log_time(c, plan.tick_s));
    let values = [0, 1].map(|arm| geometric_mean(timed.iter().copied().filter(|c| c.arm == arm), log));
    let by_block = Blocks::of(plan, timed.iter().copied());
    let test = if size.is_some() {
        by_block.compare(plan.margin, |connections, arm| {
            geometric_mean(connections.iter().copied().filter(|c| c.arm == arm), log)
        })
    } else {
        by_block.compare(plan.margin, |connections, arm| {
            let ratio = size_adjusted_log_ratio(connections.iter().copied(), plan.tick_s).map(libm::exp)?;
            Some(if arm == 0 { ratio } else { 1.0 })
        })
    };
    row(Metric::TransferTime, size, counts(&timed), values, test.as_ref())
}

fn startup_row(
    plan: &Plan,
    connections: &[Connection],
    metric: Metric,
    figure: impl Fn(&Connection) -> Option<f64>,
) -> Row {
    let left: Vec<&Connection> = connections.iter().filter(|c| figure(c).is_some_and(|v| v > 0.0)).collect();
    let log = |c: &Connection| figure(c).map(libm::log);
    let mean = |connections: &[&Connection], arm| {
        geometric_mean(connections.iter().copied().filter(|c| c.arm == arm), log)
    };
    let test = Blocks::of(plan, left.iter().copied()).compare(plan.margin, mean);
    row(metric, None, counts(&left), [0, 1].map(|arm| mean(&left, arm)), test.as_ref())
}

/// Of connections beyond the first window: what share of a sum another sum is.
fn share_row(
    plan: &Plan,
    connections: &[Connection],
    metric: Metric,
    part: impl Fn(&Connection) -> (f64, f64),
) -> Row {
    let wanted: Vec<&Connection> = connections.iter().filter(|c| c.sent()).collect();
    let share = |connections: &[&Connection], arm| {
        let of_arm = connections.iter().filter(|c| c.arm == arm).map(|c| part(c));
        let (part, whole) = of_arm.fold((0.0, 0.0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
        (whole > 0.0).then(|| part / whole)
    };
    let test = Blocks::of(plan, wanted.iter().copied()).compare(plan.margin, share);
    row(metric, None, counts(&wanted), [0, 1].map(|arm| share(&wanted, arm)), test.as_ref())
}

fn row(
    metric: Metric,
    size: Option<SizeClass>,
    counts: [usize; 2],
    values: [Option<f64>; 2],
    test: Option<&Paired>,
) -> Row {
    let ends = |interval: Option<rampcc_lab::Interval>| interval.map(|i| [i.low, i.high]);
    let (effect, interval, finding) = match test {
        None => (None, None, Finding::CannotTell),
        Some(test) if metric.relative() => (test.ratio, ends(test.ratio_interval), relative(test)),
        Some(test) => {
            let interval = ends(test.difference_interval);
            (Some(test.difference), interval, absolute(interval))
        }
    };
    let blocks = test.map_or(0, |test| test.n);
    Row { metric, size, counts, values, blocks, effect, interval, finding }
}

/// As [`rampcc_lab`] judges comparisons.
fn relative(test: &Paired) -> Finding {
    match (test.p, test.p_equivalence) {
        (_, Some(p)) if p < 0.05 => Finding::Equivalent,
        (Some(p), _) if p < 0.05 && test.centre < 0.0 => Finding::Lower,
        (Some(p), _) if p < 0.05 => Finding::Higher,
        _ => Finding::CannotTell,
    }
}

fn absolute(interval: Option<[f64; 2]>) -> Finding {
    match interval {
        Some([low, high]) if low > -SHARE_MARGIN && high < SHARE_MARGIN => Finding::Equivalent,
        Some([_, high]) if high < 0.0 => Finding::Lower,
        Some([low, _]) if low > 0.0 => Finding::Higher,
        _ => Finding::CannotTell,
    }
}

/// Connections by the block in which they were opened.
struct Blocks<'a>(BTreeMap<u64, Vec<&'a Connection>>);

impl<'a> Blocks<'a> {
    fn of(plan: &Plan, connections: impl Iterator<Item = &'a Connection>) -> Self {
        let mut blocks: BTreeMap<u64, Vec<&Connection>> = BTreeMap::new();
        for c in connections {
            blocks.entry(plan.block_of(c.opened_s)).or_default().push(c);
        }
        Self(blocks)
    }

    /// Each block is one pair.
    fn compare(&self, margin: f64, figure: impl Fn(&[&Connection], usize) -> Option<f64>) -> Option<Paired> {
        let of_arm = |arm| -> Vec<_> { self.0.values().map(|block| figure(block, arm)).collect() };
        paired(&of_arm(0), &of_arm(1), margin)
    }
}

fn geometric_mean<'a>(
    connections: impl Iterator<Item = &'a Connection>,
    log: impl Fn(&Connection) -> Option<f64>,
) -> Option<f64> {
    let (sum, count) = connections.filter_map(log).fold((0.0, 0), |(sum, n), log| (sum + log, n + 1));
    (count > 0).then(|| libm::exp(sum / f64::from(count)))
}

fn counts(connections: &[&Connection]) -> [usize; 2] {
    [0, 1].map(|arm| connections.iter().filter(|c| c.arm == arm).count())
}

/// Two-sided, by the normal shape of the binomial distribution; `None`: too few for it.
fn draw_p(plan: &Plan, assigned: [u64; 2]) -> Option<f64> {
    let all = (assigned[0] + assigned[1]) as f64;
    let (share, variance) = (plan.new_share(), all * plan.new_share() * (1.0 - plan.new_share()));
    let z = (assigned[0] as f64 - all * share) / variance.sqrt();
    (variance >= 9.0).then(|| libm::erfc(z.abs() * std::f64::consts::FRAC_1_SQRT_2))
}

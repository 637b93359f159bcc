//! What a comparison comes to, in words.

use crate::comparison::{ArmSummary, Better, Comparison, Finding, MetricInfo, Pair};
use crate::explain::short_cause;
use crate::format::{bytes, list, number, of_bdp, quantity, seconds, share, with_interval};
use crate::metric;

/// The verdict, one sentence.
pub(crate) fn sentence(comparison: &Comparison) -> String {
    let Some((leader, info)) =
        comparison.leader.as_deref().and_then(|label| comparison.arm(label)).zip(comparison.primary_info())
    else {
        return nothing_to_say(comparison);
    };
    let mut text = achievement(comparison, leader, info);
    let rivals = Rivals::new(comparison, leader, info);
    if !rivals.equal.is_empty() {
        let margin = share(comparison.margin);
        text.push_str(&format!(", no different from {} within {margin}", list(&rivals.equal)));
    }
    if !rivals.unclear.is_empty() {
        let (runs, plural) = (leader.n, if leader.n == 1 { "run" } else { "runs" });
        let joint = if rivals.equal.is_empty() { ", but" } else { ", and" };
        text.push_str(&format!("{joint} {runs} {plural} cannot tell it from {}", list(&rivals.unclear)));
    }
    if let Some(pair) = rivals.notable(comparison) {
        text.push_str(&advantage(comparison, pair, info));
    }
    text.push_str(&distance(comparison, leader, info));
    text.push('.');
    text
}

/// What a reader must know beside the verdict.
pub(crate) fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    let planned = comparison.seeds.len();
    for arm in comparison.arms.iter().filter(|arm| (arm.n as usize) < planned) {
        notes.push(format!("{}: {} of {planned} runs are there.", arm.label, arm.n));
    }
    for arm in &comparison.arms {
        let cut_off =
            arm.metric("unfinished").map_or(0, |s| s.values.iter().flatten().filter(|v| **v > 0.0).count());
        if cut_off > 0 {
            notes.push(format!(
                "{}: in {cut_off} of {} runs the end of the run cut transfers off.",
                arm.label, arm.n
            ));
        }
    }
    notes.extend(marked(comparison));
    if let Some(emulation) = comparison.emulation.as_ref().filter(|emulation| emulation.samples_lost > 0) {
        let all = emulation.samples + emulation.samples_lost;
        notes.push(format!("{} of {all} samples were lost.", emulation.samples_lost));
    }
    let Some(info) = comparison.primary_info() else { return notes };
    for arm in &comparison.arms {
        let Some(modes) = arm.metric(&info.id).and_then(|summary| summary.modes) else { continue };
        notes.push(format!(
            "* {}: {} is bimodal, {} in {} of runs and {} in the rest; its mean describes neither.",
            arm.label,
            info.name,
            quantity(modes.low, &info.unit),
            share(modes.low_share),
            quantity(modes.high, &info.unit),
        ));
    }
    if !comparison.context.chance {
        notes.push("This path has no randomness: one run suffices.".to_owned());
    } else if planned == 1 {
        notes.push("One run each: nothing here has an interval.".to_owned());
    }
    notes
}

/// Runs that stand with a reservation.
fn marked(comparison: &Comparison) -> Option<String> {
    let all = comparison.emulation.as_ref().filter(|emulation| emulation.marked > 0)?;
    let arms: Vec<String> = (comparison.arms.iter())
        .filter_map(|arm| Some((arm, arm.emulation.as_ref().filter(|e| e.marked > 0)?)))
        .map(|(arm, emulation)| format!("{} {}", arm.label, emulation.marked))
        .collect();
    let reason = all.reason.as_ref().map_or(String::new(), |reason| format!("; the first because {reason}"));
    Some(format!(
        "In {} of {} runs the emulator's error may have changed the answer ({}){reason}.",
        all.marked,
        all.runs,
        arms.join(", ")
    ))
}

/// The other contenders, by what may be said about them, the nearest first.
struct Rivals<'a> {
    equal: Vec<&'a str>,
    unclear: Vec<&'a str>,
    /// Worse for certain.
    worse: Vec<&'a Pair>,
}

impl<'a> Rivals<'a> {
    fn new(comparison: &'a Comparison, leader: &ArmSummary, info: &MetricInfo) -> Self {
        let worse_is = if info.better == Better::Higher { Finding::Lower } else { Finding::Higher };
        let mut rivals = Self { equal: Vec::new(), unclear: Vec::new(), worse: Vec::new() };
        let pairs =
            comparison.pairs.iter().filter(|pair| pair.metric == info.id && pair.against == leader.label);
        for pair in pairs {
            match pair.finding {
                Finding::Equivalent => rivals.equal.push(&pair.arm),
                finding if finding == worse_is => rivals.worse.push(pair),
                _ => rivals.unclear.push(&pair.arm),
            }
        }
        rivals
    }

    /// The baseline if it is worse, else the nearest that is.
    fn notable(&self, comparison: &Comparison) -> Option<&'a Pair> {
        let baseline = self.worse.iter().find(|pair| Some(&pair.arm) == comparison.baseline.as_ref());
        baseline.or(self.worse.first()).copied()
    }
}

fn nothing_to_say(comparison: &Comparison) -> String {
    if comparison.arms.iter().all(|arm| arm.n == 0) {
        return "No run has finished, so there is nothing to compare.".to_owned();
    }
    let contenders = comparison.arms.iter().any(|arm| !arm.yardstick && arm.n > 0);
    if !contenders {
        return "Only the yardstick has run, so there is nothing to compare.".to_owned();
    }
    if comparison.primary == metric::DOWNLOAD_TIME {
        return "No algorithm finished the transfer before the end of the run.".to_owned();
    }
    format!("No run has a value for {}, so there is nothing to compare.", comparison.primary)
}

/// "best downloads 36 MB in 11.1 s ± 0.1".
fn achievement(comparison: &Comparison, leader: &ArmSummary, info: &MetricInfo) -> String {
    let Some(summary) = leader.metric(&info.id) else { return leader.label.clone() };
    let value = with_interval(summary, &info.unit);
    let size = comparison.context.size_bytes.map_or("its data".to_owned(), |size| bytes(size as f64));
    let mut text = match info.id.as_str() {
        metric::DOWNLOAD_TIME => format!("{} downloads {size} in {value}", leader.label),
        metric::GOODPUT => format!("{} gets {value}", leader.label),
        _ => format!("{} has the best {}, {value}", leader.label, info.name),
    };
    if summary.n < leader.n {
        text.push_str(&format!(" in the {} of {} runs that finish", summary.n, leader.n));
    }
    text
}

/// ", 2.4x faster than hystart, which leaves at 0.9 s with 6 % of the BDP because …".
fn advantage(comparison: &Comparison, pair: &Pair, info: &MetricInfo) -> String {
    let how_much = match pair.ratio {
        Some(ratio) if info.better == Better::Higher => times(1.0 / ratio, "as much as", "more than"),
        Some(ratio) if matches!(info.unit.as_str(), "s" | "ms") => times(ratio, "faster than", "faster than"),
        Some(ratio) => times(ratio, "less than", "less than"),
        None => format!("{} better than", quantity(pair.difference.abs(), &info.unit)),
    };
    let mut text = format!(", {how_much} {}", pair.arm);
    let arm = comparison.arm(&pair.arm);
    let run = arm.and_then(|arm| arm.representative.as_ref());
    if let Some((run, exit)) = run.and_then(|run| Some((run, run.exit.as_ref()?))) {
        let context = comparison.context.of_run(run.path.as_ref());
        let bimodal = arm.and_then(|arm| arm.metric(&info.id)).is_some_and(|summary| summary.modes.is_some());
        let run = if bimodal { " in its median run" } else { "" };
        text.push_str(&format!(", which{run} leaves at {}", seconds(exit.time_s)));
        if let Some(bdp) = context.over_bdp(exit.cwnd_bytes as f64) {
            text.push_str(&format!(" with {}", of_bdp(bdp)));
        }
        text.push_str(&format!(" because {}", short_cause(exit, &context)));
    }
    text
}

fn times(ratio: f64, multiple: &str, percent: &str) -> String {
    if ratio >= 1.2 {
        format!("{}x {multiple}", number(ratio))
    } else {
        format!("{} {percent}", share(ratio - 1.0))
    }
}

/// "; ideal, which knows the path, needs 9.8 s, 12 % less".
fn distance(comparison: &Comparison, leader: &ArmSummary, info: &MetricInfo) -> String {
    let Some(ideal) = comparison.yardstick.as_deref().and_then(|label| comparison.arm(label)) else {
        return String::new();
    };
    let Some(summary) = ideal.metric(&info.id) else { return String::new() };
    let mut text =
        format!("; {}, which knows the path, has {}", ideal.label, quantity(summary.mean, &info.unit));
    if info.id == metric::DOWNLOAD_TIME {
        text =
            format!("; {}, which knows the path, needs {}", ideal.label, quantity(summary.mean, &info.unit));
    }
    let pair = (comparison.pairs.iter())
        .find(|pair| pair.metric == info.id && pair.arm == leader.label && pair.against == ideal.label);
    if let Some(ratio) = pair.and_then(|pair| pair.ratio) {
        let change = 1.0 / ratio - 1.0;
        let word = if change < 0.0 { "less" } else { "more" };
        if change.abs() >= 0.0005 {
            text.push_str(&format!(", {} {word}", share(change.abs())));
        }
    }
    text
}

impl Comparison {
    /// The row with this label.
    pub fn arm(&self, label: &str) -> Option<&ArmSummary> {
        self.arms.iter().find(|arm| arm.label == label)
    }

    /// What the metric that decides is.
    pub fn primary_info(&self) -> Option<&MetricInfo> {
        self.info(&self.primary)
    }

    /// What a metric is.
    pub fn info(&self, id: &str) -> Option<&MetricInfo> {
        self.metrics.iter().find(|info| info.id == id)
    }

    /// The paired difference of `arm` against another in a metric.
    pub fn pair(&self, metric: &str, arm: &str, against: &str) -> Option<&Pair> {
        self.pairs.iter().find(|pair| pair.metric == metric && pair.arm == arm && pair.against == against)
    }
}

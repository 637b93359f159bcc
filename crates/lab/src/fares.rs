//! How a candidate fares, in words: who brings one asks for nothing else first.

use rampcc::figures::{counted, plural};

use crate::comparison::{ArmSummary, Comparison, Finding};
use crate::format::{share, with_interval};
use crate::metric::{Better, MetricInfo};
use crate::verdict::{is_time, times};

/// A sentence for each candidate: how it stands to the row that it would replace, or else to the leader.
pub(crate) fn sentences(comparison: &Comparison, info: &MetricInfo) -> Vec<String> {
    comparison
        .arms
        .iter()
        .filter(|arm| arm.is_candidate())
        .map(|candidate| sentence(comparison, candidate, info))
        .collect()
}

fn sentence(comparison: &Comparison, candidate: &ArmSummary, info: &MetricInfo) -> String {
    let name = &candidate.label;
    let Some(summary) = candidate.metric(&info.id).filter(|summary| summary.n > 0) else {
        let run = if candidate.n == 0 { "has not run" } else { "did not finish in any run" };
        return format!("The candidate {name} {run}.");
    };
    let Some((other, role)) = other(comparison, candidate) else {
        return format!("The candidate {name} has nothing to stand against.");
    };
    let (Some(theirs), Some(found)) =
        (other.metric(&info.id), Against::of(comparison, candidate, other, info))
    else {
        return format!("The candidate {name} and {}, {role}, have no run in common.", other.label);
    };
    let least = if summary.unfinished() > 0 { "at least " } else { "" };
    let values = format!(
        "{least}{} against {}",
        with_interval(summary, &info.unit),
        with_interval(theirs, &info.unit)
    );
    let leads = comparison.leader.as_ref() == Some(name);
    let head =
        if leads { format!("The candidate {name} leads: it") } else { format!("The candidate {name}") };
    let (label, margin) = (&other.label, share(comparison.margin));
    let alike = if is_time(info) { "as fast as" } else { "as good as" };
    match found.finding {
        Standing::Same => format!("{head} does the same as {label}, {role}, in every run."),
        Standing::Equal => {
            format!("{head} is {alike} {label}, {role} (less than {margin} apart): {values}.")
        }
        Standing::Unclear => {
            let runs = format!("{} {}", counted(candidate.n, "run"), plural(candidate.n, "is", "are"));
            format!("{head} is hard to tell from {label}, {role}: {values}, and {runs} too few to rank them.")
        }
        Standing::Better => format!("{head} is {} {label}, {role}: {values}.", found.ahead(info)),
        Standing::Worse => format!("{head} {least}{} {label}, {role}: {values}.", found.behind(info)),
    }
}

/// The row that a candidate is set against, and why this one.
fn other<'a>(comparison: &'a Comparison, candidate: &ArmSummary) -> Option<(&'a ArmSummary, &'static str)> {
    if let Some(replaced) = candidate.replaces(&comparison.arms) {
        return Some((replaced, "which it would replace"));
    }
    let leader = comparison.leader.as_deref().and_then(|label| comparison.arm(label))?;
    if leader.label != candidate.label {
        return Some((leader, "the leader"));
    }
    let sign = match comparison.primary_info()?.better {
        Better::Higher => -1.0,
        Better::Lower | Better::Neither => 1.0,
    };
    let mean = |arm: &ArmSummary| arm.metric(&comparison.primary).map_or(f64::INFINITY, |s| sign * s.mean);
    let others = comparison.arms.iter().filter(|arm| !arm.yardstick && arm.label != candidate.label);
    let next = others.filter(|arm| arm.n > 0).min_by(|a, b| mean(a).total_cmp(&mean(b)))?;
    Some((next, "the next"))
}

/// How a candidate stands to another row in the metric that decides.
struct Against {
    finding: Standing,
    /// Of its values to the other's.
    ratio: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Same,
    Equal,
    Unclear,
    Better,
    Worse,
}

impl Against {
    fn of(comparison: &Comparison, arm: &ArmSummary, other: &ArmSummary, info: &MetricInfo) -> Option<Self> {
        let id = &comparison.primary;
        let (finding, ratio, same) = if let Some(pair) = comparison.pair(id, &arm.label, &other.label) {
            (pair.finding, pair.ratio, pair.same_values())
        } else {
            let pair = comparison.pair(id, &other.label, &arm.label)?;
            let turned = match pair.finding {
                Finding::Lower => Finding::Higher,
                Finding::Higher => Finding::Lower,
                same => same,
            };
            (turned, pair.ratio.map(f64::recip), pair.same_values())
        };
        let better = if info.better == Better::Higher { Finding::Higher } else { Finding::Lower };
        let finding = match finding {
            _ if arm.alike.contains(&other.label) => Standing::Same,
            Finding::Equivalent => Standing::Equal,
            Finding::CannotTell if same => Standing::Equal,
            Finding::CannotTell => Standing::Unclear,
            finding if finding == better => Standing::Better,
            _ => Standing::Worse,
        };
        Some(Self { finding, ratio })
    }

    /// "12 % faster than".
    fn ahead(&self, info: &MetricInfo) -> String {
        match self.ratio {
            Some(ratio) if is_time(info) => times(ratio.recip(), "as fast as", "faster than"),
            Some(ratio) => format!("{} better than", share((ratio - 1.0).abs())),
            None => "better than".to_owned(),
        }
    }

    /// "takes 12 % longer than".
    fn behind(&self, info: &MetricInfo) -> String {
        match self.ratio {
            Some(ratio) if is_time(info) => format!("takes {}", times(ratio, "as long as", "longer than")),
            Some(ratio) => format!("is {} worse than", share((ratio - 1.0).abs())),
            None => "is worse than".to_owned(),
        }
    }
}

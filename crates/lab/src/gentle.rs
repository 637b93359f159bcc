//! The gentlest of those that are equally fast.

use crate::Context;
use crate::comparison::{ArmSummary, Comparison, Finding};
use crate::format::{count, number, share};
use crate::metric::{self, Definition};

/// What filling a path costs others, in the order in which it is reported.
pub(crate) const COSTS: [Definition; 4] =
    [metric::QUEUE_PEAK, metric::LOST_PACKETS, metric::HARM_GOODPUT, metric::HARM_DOWNLOAD_TIME];

/// A quarter of the largest queue, of the most losses or of the worst harm is worth a word.
const A_LOT: f64 = 0.25;
/// So much of the largest cost decides nothing.
pub(crate) const A_HAIR: f64 = 0.05;

/// The gentlest of the leader and its equals: none of [`COSTS`] is worse than the leader's by a tenth, their sum, each over the
/// largest among the equals, is the smallest, and it is smaller than another's by [`A_LOT`].
pub(crate) fn gentlest(comparison: &Comparison) -> Option<String> {
    let leader = comparison.leader.as_deref()?;
    let equals = equals(comparison, leader);
    if equals.len() < 2 {
        return None;
    }
    let context = &comparison.context;
    let sum = |arm: &ArmSummary| burden(context, &equals, arm);
    let head = comparison.arm(leader)?;
    let no_worse =
        |arm: &ArmSummary| costs(context).all(|metric| cost(arm, metric) <= 1.1 * cost(head, metric));
    let (least, gentlest) = (equals.iter())
        .filter(|arm| no_worse(arm))
        .map(|arm| (sum(arm), *arm))
        .min_by(|a, b| a.0.total_cmp(&b.0))?;
    let most = equals.iter().map(|arm| sum(arm)).fold(0.0, f64::max);
    let tells = most > least + A_LOT;
    // A leader that the gentlest betters by a hair is the leader; one with twice a cost is not, though another row have far more of it.
    let near = |metric: Definition| {
        let largest = equals.iter().map(|arm| cost(arm, metric)).fold(0.0, f64::max);
        cost(head, metric) <= 2.0 * cost(gentlest, metric) + A_HAIR * largest
    };
    let chosen = if sum(head) <= least + A_LOT && costs(context).all(near) { head } else { gentlest };
    tells.then(|| chosen.label.clone())
}

/// The leader, the rows within the margin of it, and those with its values in every run.
pub(crate) fn equals<'a>(comparison: &'a Comparison, leader: &str) -> Vec<&'a ArmSummary> {
    let equal = |arm: &&ArmSummary| {
        let pair = comparison.pair(&comparison.primary, &arm.label, leader);
        arm.label == leader
            || pair.is_some_and(|pair| pair.finding == Finding::Equivalent || pair.same_values())
    };
    comparison.arms.iter().filter(|arm| !arm.yardstick).filter(equal).collect()
}

/// As it is shown: what reads alike decides nothing.
fn cost(arm: &ArmSummary, metric: Definition) -> f64 {
    arm.of(metric).map_or(0.0, |summary| shown(summary.mean.max(0.0), metric.unit))
}

fn shown(value: f64, unit: &str) -> f64 {
    let (text, scale) = match unit {
        "packets" => (count(value), 1.0),
        "share" => (share(value), 1.0),
        "ms" if value >= 1e3 => (number(value / 1e3), 1e3),
        _ => (number(value), 1.0),
    };
    text.trim_end_matches(" %").parse::<f64>().map_or(value, |read| read * scale)
}

/// Those of [`COSTS`] that count: behind a policer that is paid in losses, and hardly anybody waits.
pub(crate) fn costs(context: &Context) -> impl Iterator<Item = Definition> {
    let policed = context.policed();
    COSTS.into_iter().filter(move |metric| !policed || *metric != metric::QUEUE_PEAK)
}

/// The sum of an arm's costs, each over the largest among the equals.
pub(crate) fn burden(context: &Context, equals: &[&ArmSummary], arm: &ArmSummary) -> f64 {
    let part = |metric: Definition| {
        let largest = equals.iter().map(|arm| cost(arm, metric)).fold(0.0, f64::max);
        if largest > 0.0 { cost(arm, metric) / largest } else { 0.0 }
    };
    costs(context).map(part).sum()
}

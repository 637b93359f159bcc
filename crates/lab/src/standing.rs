//! Standing of a row against the leader, in a cell.

use crate::comparison::{ArmSummary, Comparison, Finding, Pair};
use crate::format::{number, quantity, share};

/// "leader", "+57 %", "2.44x", "+2.7 %, under 5 %", "+12 %, uncertain", "+12 %, the same in every run"; `None` without a leader or a common run,
/// and for a row that lost every connection: the end of the run is no time of its own.
///
/// A reference row is shown against the leader, too.
pub(crate) fn standing(comparison: &Comparison, arm: &ArmSummary) -> Option<String> {
    let leader = comparison.leader.as_deref()?;
    if leader == arm.label {
        return Some("leader".to_owned());
    }
    if arm.lost_all_connections() {
        return None;
    }
    let id = &comparison.primary;
    let pair = if arm.yardstick {
        comparison.pair(id, leader, &arm.label)
    } else {
        comparison.pair(id, &arm.label, leader)
    }?;
    let at_least = if arm.yardstick { cut_off(comparison, arm) } else { pair.at_least };
    let least = if at_least { "≥ " } else { "" };
    let size = format!("{least}{}", size(comparison, pair, arm.yardstick));
    Some(match pair.finding {
        Finding::Equivalent | Finding::CannotTell if arm.alike.iter().any(|label| label == leader) => {
            format!("{size}, the same runs")
        }
        Finding::Equivalent => format!("{size}, under {}", share(comparison.margin)),
        Finding::CannotTell if pair.same_in_every_run() => format!("{size}, the same in every run"),
        Finding::CannotTell => format!("{size}, uncertain"),
        Finding::Lower | Finding::Higher => size,
    })
}

/// True if a run's end cut values of the row off: they are at least what they are.
pub(crate) fn cut_off(comparison: &Comparison, arm: &ArmSummary) -> bool {
    arm.metric(&comparison.primary).is_some_and(|summary| summary.unfinished() > 0)
}

fn size(comparison: &Comparison, pair: &Pair, inverse: bool) -> String {
    let Some(ratio) = pair.ratio.map(|ratio| if inverse { 1.0 / ratio } else { ratio }) else {
        let unit = comparison.info(&pair.metric).map_or("", |info| info.unit.as_str());
        let difference = if inverse { -pair.difference } else { pair.difference };
        let sign = if difference > 0.0 { "+" } else { "" };
        return format!("{sign}{}", quantity(difference, unit));
    };
    times(ratio)
}

/// "2.44x", "+57 %", "-2.7 %".
pub(crate) fn times(ratio: f64) -> String {
    if ratio >= 2.0 {
        return format!("{}x", number(ratio));
    }
    let percent = (ratio - 1.0) * 100.0;
    let digits = usize::from(percent.abs() < 9.95);
    format!("{percent:+.digits$} %").replace("-0.0 %", "+0.0 %")
}

//! What was found for a check, in words.

use rampcc_lab::report::quantity;

use super::{ClaimValues, Measures};
use crate::expression::{Check, Outcome, Term};

/// What was measured, each value with its 95 % interval over the runs.
pub(super) fn words(
    check: &Check,
    outcome: &Outcome,
    values: &ClaimValues<'_, '_>,
    point: usize,
    points: &[usize],
) -> String {
    let measures = values.measures;
    check.words(outcome, |term, value| {
        let unit = measures.unit(&term.node);
        let show = |value: f64| quantity(value, unit).trim().to_owned();
        match values.interval(term, point, points) {
            Some(interval) if show(interval.low) != show(interval.high) => {
                spanned(&show(value), &show(interval.low), &show(interval.high))
            }
            _ => show(value),
        }
    })
}

/// A value with its interval, the unit of all three said once: `13.4 (13.2 to 13.6) s`.
pub(super) fn spanned(value: &str, low: &str, high: &str) -> String {
    let parts = |text: &str| {
        let (number, unit) = text.rsplit_once(' ').unwrap_or((text, ""));
        (number.to_owned(), unit.to_owned())
    };
    let ((number, unit), (from, from_unit), (to, to_unit)) = (parts(value), parts(low), parts(high));
    if unit == from_unit && unit == to_unit {
        return format!("{number} ({from} to {to}) {unit}").trim_end().to_owned();
    }
    format!("{value} ({low} to {high})")
}

/// " (bounds: ≥ 0.85, ≤ 1.25)": so that bounds are not taken for measured values.
pub(super) fn bounds(check: &Check, outcome: &Outcome, measures: &Measures<'_>) -> String {
    let show = |term: &Term, value| quantity(value, measures.unit(&term.node)).trim().to_owned();
    match check.bounds(outcome, show).as_slice() {
        [] => String::new(),
        [one] => format!(" (bound: {one})"),
        several => format!(" (bounds: {})", several.join(", ")),
    }
}

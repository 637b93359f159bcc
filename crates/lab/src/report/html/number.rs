//! Numbers for people: three significant digits and the unit that keeps them short.

use rampcc::figures::{fixed, without_zeros};

use crate::{Interval, Summary};

/// Thin space before a unit: it neither breaks nor gapes.
const SPACE: char = '\u{202f}';

/// A value of a metric with its unit, as in `1.42 s`, `7.2 MB`, `0.98 BDP`, `97 %`, `31`.
pub(super) fn show(value: f64, unit: &str) -> String {
    let (scaled, name) = scaled(value, value, unit);
    join(&digits(scaled, unit), name)
}

/// As [`show`], without zeros that say nothing: `5 %`, `36 MB`.
pub(super) fn show_short(value: f64, unit: &str) -> String {
    let (scaled, name) = scaled(value, value, unit);
    join(without_zeros(&digits(scaled, unit)), name)
}

/// An interval in a cell of a table, nothing where all runs were alike.
pub(super) fn interval_below(interval: Option<&Interval>, unit: &str) -> String {
    match interval {
        Some(i) if i.low < i.high => format!(" <span class=\"interval\">{}</span>", show_interval(i, unit)),
        _ => String::new(),
    }
}

/// A mean; where the end of a run cut values off, it is at least that: `≥ 120 s`.
pub(super) fn show_mean(summary: &Summary, unit: &str) -> String {
    format!("{}{}", least(summary.unfinished() > 0), show(summary.mean, unit))
}

/// A median, likewise: it is cut off where over half of the values are.
pub(super) fn show_median(summary: &Summary, unit: &str) -> String {
    let cut_off = summary.at_least.iter().flatten().any(|least| *least <= summary.median);
    format!("{}{}", least(cut_off), show(summary.median, unit))
}

/// The 95 % interval of a mean, if it has one: what was cut off has no upper end.
pub(super) fn interval_of(summary: &Summary) -> Option<&Interval> {
    summary.interval.as_ref().filter(|_| summary.unfinished() == 0)
}

/// Before what is at least so much.
pub(super) fn least(cut_off: bool) -> &'static str {
    if cut_off { "≥\u{202f}" } else { "" }
}

/// An interval with its unit named once: `1.39–1.45 s`.
///
/// Two ends that three digits cannot tell apart get up to two more.
pub(super) fn show_interval(interval: &Interval, unit: &str) -> String {
    let reference = interval.low.abs().max(interval.high.abs());
    let (low, name) = scaled(interval.low, reference, unit);
    let (high, _) = scaled(interval.high, reference, unit);
    let dash = if low < 0.0 || high < 0.0 { " … " } else { "–" };
    let ends = |more| (digits_and(low, unit, more), digits_and(high, unit, more));
    let alike = interval.low >= interval.high;
    let (low, high) = (0..2).map(ends).find(|(low, high)| alike || low != high).unwrap_or_else(|| ends(2));
    join(&format!("{low}{dash}{high}"), name)
}

pub(super) fn show_signed(value: f64, unit: &str) -> String {
    if value > 0.0 { format!("+{}", show(value, unit)) } else { show(value, unit) }
}

/// A probability.
pub(super) fn show_p(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// Which kind of number the charts shall make of a unit, and the factor to that kind's base.
pub(super) fn kind(unit: &str) -> (&'static str, f64) {
    match unit {
        "s" => ("time", 1.0),
        "ms" => ("time", 1e-3),
        "us" => ("time", 1e-6),
        "bytes" => ("bytes", 1.0),
        "share" => ("share", 1.0),
        "BDP" => ("bdp", 1.0),
        "ratio" => ("ratio", 1.0),
        _ => ("count", 1.0),
    }
}

/// Round for the data block: no chart shows more than six significant digits.
pub(super) fn round(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    format!("{value:.5e}").parse().unwrap_or(value)
}

fn scaled(value: f64, reference: f64, unit: &str) -> (f64, &str) {
    let seconds = |value: f64, reference: f64| match reference.abs() {
        r if r >= 0.9995 || r == 0.0 => (value, "s"),
        r if r >= 0.000_999_5 => (value * 1e3, "ms"),
        _ => (value * 1e6, "µs"),
    };
    match unit {
        "s" => seconds(value, reference),
        "ms" if reference == 0.0 => (value, "ms"),
        "ms" => seconds(value / 1e3, reference / 1e3),
        "us" => seconds(value / 1e6, reference / 1e6),
        "bytes" => match reference.abs() {
            r if r >= 0.9995e9 => (value / 1e9, "GB"),
            r if r >= 0.9995e6 => (value / 1e6, "MB"),
            r if r >= 0.9995e3 => (value / 1e3, "kB"),
            _ => (value, "B"),
        },
        "share" => (value * 100.0, "%"),
        "ratio" => (value, "×"),
        "count" | "packets" | "flows" => (value, ""),
        other => (value, other),
    }
}

fn digits(value: f64, unit: &str) -> String {
    digits_and(value, unit, 0)
}

/// Three digits and `more`.
fn digits_and(value: f64, unit: &str, more: usize) -> String {
    let size = value.abs();
    let whole = matches!(unit, "count" | "packets" | "flows");
    let decimals = match size {
        s if whole && (s >= 99.5 || (s - s.round()).abs() < 0.05) => 0,
        _ if whole => 1,
        s if s >= 99.95 || s == 0.0 => 0,
        s if s >= 9.995 => 1,
        s if s >= 0.0995 => 2,
        s if s >= 0.00995 => 3,
        _ => 4,
    };
    let decimals = decimals + more;
    let text = fixed(size, decimals);
    let grouped = group(&text);
    if value < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
        format!("\u{2212}{grouped}")
    } else {
        grouped
    }
}

/// Thin spaces between thousands from five digits on.
fn group(text: &str) -> String {
    let whole = text.find('.').unwrap_or(text.len());
    if whole < 5 {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 4);
    for (i, c) in text.chars().enumerate() {
        if i > 0 && i < whole && (whole - i).is_multiple_of(3) {
            out.push(SPACE);
        }
        out.push(c);
    }
    out
}

fn join(number: &str, unit: &str) -> String {
    match unit {
        "" | "×" => format!("{number}{unit}"),
        _ => format!("{number}{SPACE}{unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IntervalMethod;

    #[test]
    fn three_digits_and_a_fitting_unit() {
        let shown = |value, unit| show(value, unit).replace(SPACE, " ");
        assert_eq!(shown(1.4236, "s"), "1.42 s");
        assert_eq!(shown(0.042, "s"), "42.0 ms");
        assert_eq!(shown(0.000_1, "s"), "100 µs");
        assert_eq!(shown(1500.0, "ms"), "1.50 s");
        assert_eq!(shown(7_212_345.0, "bytes"), "7.21 MB");
        assert_eq!(shown(0.971, "share"), "97.1 %");
        assert_eq!(shown(0.98, "BDP"), "0.98 BDP");
        assert_eq!(shown(2.448, "ratio"), "2.45×");
        assert_eq!(shown(31.0, "packets"), "31");
        assert_eq!(shown(2.5, "packets"), "2.5");
        assert_eq!(shown(1_234_567.0, "count"), "1 234 567");
        assert_eq!(shown(0.0, "s"), "0 s");
        assert_eq!(show_short(0.05, "share").replace(SPACE, " "), "5 %");
        assert_eq!(show_short(100.0, "s").replace(SPACE, " "), "100 s");
    }

    #[test]
    fn signs_are_shown_and_zero_has_none() {
        assert_eq!(show_signed(0.5, "s").replace(SPACE, " "), "+500 ms");
        assert_eq!(show(-2.0, "s").replace(SPACE, " "), "\u{2212}2.00 s");
        assert_eq!(show(-0.000_000_1, "share").replace(SPACE, " "), "0.0000 %");
    }

    #[test]
    fn an_interval_has_one_unit() {
        let interval = Interval { low: 0.95, high: 1.05, method: IntervalMethod::T };
        assert_eq!(show_interval(&interval, "s").replace(SPACE, " "), "0.95–1.05 s");
    }

    #[test]
    fn a_narrow_interval_gets_more_digits() {
        let interval = |low, high| Interval { low, high, method: IntervalMethod::T };
        assert_eq!(show_interval(&interval(30.89, 30.91), "s").replace(SPACE, " "), "30.89–30.91 s");
        assert_eq!(show_interval(&interval(2.0, 2.0), "packets"), "2–2");
        assert_eq!(
            show_interval(&interval(1.0, 1.000_000_1), "BDP").replace(SPACE, " "),
            "1.0000–1.0000 BDP"
        );
    }

    #[test]
    fn rounding_keeps_six_digits() {
        assert_eq!(round(1.234_567_89).to_bits(), 1.234_57_f64.to_bits());
        assert_eq!(round(f64::NAN).to_bits(), 0.0_f64.to_bits());
    }
}

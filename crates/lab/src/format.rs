//! Numbers as people read them.

use rampcc::figures::{counted, fixed, multiple, without_zeros};

use crate::summary::{IntervalMethod, Summary};

/// Three significant digits, without an exponent.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    let digits = match size {
        _ if size == 0.0 => 0,
        _ if size < 0.001 => 5,
        _ if size < 0.01 => 4,
        _ if size < 0.1 => 3,
        _ if size < 10.0 => 2,
        _ if size < 100.0 => 1,
        _ => 0,
    };
    fixed(value, digits)
}

/// A mean of counts: whole where it is.
pub(crate) fn count(value: f64) -> String {
    let whole = value.fract().abs() < 1e-9 || value.abs() >= 100.0;
    fixed(value, usize::from(!whole))
}

/// A duration given in seconds: `11.1 s`, `53.1 ms`, `80 us`.
pub(crate) fn seconds(value: f64) -> String {
    match value.abs() {
        size if size >= 1.0 || size == 0.0 => format!("{} s", number(value)),
        size if size >= 1e-3 => format!("{} ms", number(value * 1e3)),
        _ => format!("{} us", number(value * 1e6)),
    }
}

/// A size: `36 MB`, `1.45 kB`.
pub(crate) fn bytes(value: f64) -> String {
    if value.abs() < 1e3 { format!("{value:.0} B") } else { multiple(value, "B", trimmed) }
}

/// A rate given in bit/s: `150 Mbit/s`, `10 Gbit/s`.
pub(crate) fn bit_rate(value: f64) -> String {
    multiple(value, "bit/s", trimmed)
}

fn trimmed(value: f64) -> String {
    without_zeros(&number(value)).to_owned()
}

/// A share: `6 %`, `0.4 %`.
pub(crate) fn share(value: f64) -> String {
    let percent = value * 100.0;
    let digits = usize::from(percent != 0.0 && percent.abs() < 1.0);
    format!("{} %", fixed(percent, digits))
}

/// A window over the path's BDP: a share below it, a multiple above.
pub(crate) fn of_bdp(value: f64) -> String {
    if value < 0.995 { format!("{} of the BDP", share(value)) } else { format!("{value:.2} BDP") }
}

/// A metric's value with its unit, as tables show it: `11.1 s`, `36 MB`, `97 %`, `31 packets`; counts without a word.
pub fn quantity(value: f64, unit: &str) -> String {
    match unit {
        "s" => seconds(value),
        "ms" => seconds(value / 1e3),
        "bytes" => bytes(value),
        "share" => share(value),
        "ratio" => format!("{}x", number(value)),
        "count" => count(value),
        "packets" => counted(count(value), "packet"),
        _ => format!("{} {unit}", number(value)),
    }
}

/// A mean with its interval: `11.12 s ± 0.13`, or `2.20 s (2.05 to 2.91)` where it is lopsided.
pub(crate) fn with_interval(summary: &Summary, unit: &str) -> String {
    // Equal values have nothing to add.
    let Some(interval) = summary.interval.filter(|interval| interval.low < interval.high) else {
        return quantity(summary.mean, unit);
    };
    let (below, above) = (summary.mean - interval.low, interval.high - summary.mean);
    let width = below + above;
    let scale = summary.mean.abs().max(interval.low.abs()).max(interval.high.abs());
    let factor = match unit {
        "ms" if scale >= 1e3 => 1e-3,
        "ms" if scale < 1.0 => 1e3,
        "s" if scale < 1e-3 => 1e6,
        "s" if scale < 1.0 => 1e3,
        "share" => 100.0,
        "bytes" if scale >= 1e9 => 1e-9,
        "bytes" if scale >= 1e6 => 1e-6,
        "bytes" if scale >= 1e3 => 1e-3,
        _ => 1.0,
    };
    let shown_unit = match (unit, factor) {
        ("ms" | "s", f) if f > 1e5 => "us",
        ("s", f) if f > 1.0 => "ms",
        ("ms", f) if f > 1.0 => "us",
        ("ms", f) if f < 1.0 => "s",
        ("share", _) => "%",
        ("bytes", f) if f < 1e-8 => "GB",
        ("bytes", f) if f < 1e-5 => "MB",
        ("bytes", f) if f < 1.0 => "kB",
        ("bytes", _) => "B",
        ("count" | "ratio", _) => "",
        _ => unit,
    };
    let digits = digits_for(scale * factor, width * factor / 2.0);
    let text = |value: f64| format!("{:.digits$}", value * factor);
    let unit = if shown_unit.is_empty() { String::new() } else { format!(" {shown_unit}") };
    if !text(width / 2.0).contains(|digit: char| digit.is_ascii_digit() && digit != '0') {
        // All runs are the same to every digit shown.
        return format!("{}{unit}", text(summary.mean));
    }
    if interval.method != IntervalMethod::Range && (above - below).abs() <= 0.3 * width {
        format!("{}{unit} ± {}", text(summary.mean), text(width / 2.0))
    } else {
        format!("{}{unit} ({} to {})", text(summary.mean), text(interval.low), text(interval.high))
    }
}

/// As many decimals as the half width leaves meaning in (two digits of it below 30, else one), and at most four
/// significant digits.
fn digits_for(scale: f64, half: f64) -> usize {
    let most = match scale {
        s if s >= 1000.0 => 0,
        s if s >= 100.0 => 1,
        s if s >= 10.0 => 2,
        _ => 3,
    };
    let meant = match half {
        h if h >= 3.0 => 0,
        h if h >= 0.3 => 1,
        h if h >= 0.03 => 2,
        _ => 3,
    };
    meant.min(most)
}

/// `a, b and c`.
pub(crate) fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::summarise;

    #[test]
    fn units_follow_the_size() {
        assert_eq!(seconds(11.12), "11.1 s");
        assert_eq!(seconds(0.0531), "53.1 ms");
        assert_eq!(seconds(0.00008), "80.0 us");
        assert_eq!(bytes(36e6), "36 MB");
        assert_eq!(bytes(80_000_000.0), "80 MB");
        assert_eq!(bytes(1448.0), "1.45 kB");
        assert_eq!(bytes(100e3), "100 kB");
        assert_eq!(bit_rate(9.653e9), "9.65 Gbit/s");
        assert_eq!(bit_rate(150e6), "150 Mbit/s");
        assert_eq!(bit_rate(1.0), "1 bit/s");
        assert_eq!((share(0.061), share(0.125)), ("6 %".to_owned(), "13 %".to_owned()));
        assert_eq!(of_bdp(0.06), "6 % of the BDP");
        assert_eq!(of_bdp(1.437), "1.44 BDP");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn an_interval_sets_the_digits() {
        let summary =
            |values: &[f64]| summarise(values.iter().copied().map(Some).collect(), Vec::new()).unwrap();
        assert_eq!(with_interval(&summary(&[11.0, 11.1, 11.2, 11.1]), "s"), "11.10 s ± 0.13");
        assert_eq!(with_interval(&summary(&[0.05, 0.05]), "s"), "50.0 ms");
        assert_eq!(with_interval(&summary(&[3.4782, 3.4782, 3.47825]), "s"), "3.478 s");
        assert_eq!(with_interval(&summary(&[5.1, 7.0]), "s"), "6.0 s (5.1 to 7.0)");
        assert_eq!(with_interval(&summary(&[3.0]), "s"), "3.00 s");
        assert_eq!(with_interval(&summary(&[0.5, 0.52, 0.48]), "share"), "50 % ± 5");
    }
}

//! Pieces of numbers for people, for everything that writes some. How many digits tell is for each to say.

/// The digits of a number without zeros at the end: `1.50` is `1.5`, `20.0` is `20`, `20` is `20`.
pub fn without_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

/// With so many decimals, halves away from zero as browsers round them: scripts of pages show the same numbers.
pub fn fixed(value: f64, decimals: usize) -> String {
    let times = |factor: f64, count: usize| (0..count).fold(1.0, |product, _| product * factor);
    // A binary fraction lies half way between two decimals if and only if it is an odd number of these.
    let pieces = value * times(2.0, decimals + 1);
    let half_way = pieces.fract().abs() <= 0.0 && (pieces % 2.0).abs() > 0.5;
    let steps = times(10.0, decimals);
    let rounded = if half_way { (value * steps).round() / steps } else { value };
    format!("{rounded:.decimals$}")
}

/// With at most so many decimals: `1.5`, `20`.
pub fn decimals(value: f64, most: usize) -> String {
    let digits = format!("{value:.most$}");
    without_zeros(&digits).to_owned()
}

/// A number in the largest decimal multiple that it fills, and that multiple's prefix.
pub fn scaled(value: f64) -> (f64, &'static str) {
    match value.abs() {
        size if size >= 1e9 => (value / 1e9, "G"),
        size if size >= 1e6 => (value / 1e6, "M"),
        size if size >= 1e3 => (value / 1e3, "k"),
        _ => (value, ""),
    }
}

/// A quantity in such a multiple of its unit, the number as `number` writes it: `36 MB`, `9.65 Gbit/s`.
pub fn multiple(value: f64, unit: &str, number: impl Fn(f64) -> String) -> String {
    let (scaled, prefix) = scaled(value);
    format!("{} {prefix}{unit}", number(scaled))
}

/// The two ends of a range, or one of them where both read alike: `0.69 to 0.71`, `0.70`.
pub fn span(low: &str, high: &str) -> String {
    if low == high { low.to_owned() } else { format!("{low} to {high}") }
}

/// One of two words, by whether there is one: `run` or `runs`, `is` or `are`.
pub fn plural<'w>(count: impl std::fmt::Display, one: &'w str, several: &'w str) -> &'w str {
    if count.to_string() == "1" { one } else { several }
}

/// A count with its noun, which has an `s` where there is not one: `1 run`, `3 runs`, `0 runs`.
pub fn counted(count: impl std::fmt::Display, noun: &str) -> String {
    let plural = plural(&count, "", "s");
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_at_the_end_of_decimals_go() {
        assert_eq!(["1.50", "20.0", "20", "0"].map(without_zeros), ["1.5", "20", "20", "0"]);
        assert_eq!([decimals(1.5, 3), decimals(2.04, 1), decimals(100.0, 0)], ["1.5", "2", "100"]);
    }

    #[test]
    fn halves_are_rounded_as_browsers_do() {
        // (12.5).toFixed(0), and so on
        let cases = [
            (12.5, 0, "13"),
            (13.5, 0, "14"),
            (-12.5, 0, "-13"),
            (0.25, 1, "0.3"),
            (1.125, 2, "1.13"),
            (0.5, 1, "0.5"),
        ];
        for (value, digits, text) in cases {
            assert_eq!(fixed(value, digits), text);
        }
        // Not half way, as binary fractions: 1.00499…, 0.35000…
        assert_eq!(
            [fixed(1.005, 2), fixed(0.35, 1), fixed(0.0, 1), fixed(1e300, 0)[..3].to_owned()],
            ["1.00", "0.3", "0.0", "100"]
        );
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "run")), ["0 runs", "1 run", "2 runs"]);
        assert_eq!([counted("1", "packet"), counted("0.5", "packet")], ["1 packet", "0.5 packets"]);
        assert_eq!((plural(1, "is", "are"), plural(11, "is", "are")), ("is", "are"));
    }

    #[test]
    fn ends_that_read_alike_are_one() {
        assert_eq!([span("0.69", "0.71"), span("0.70", "0.70")], ["0.69 to 0.71", "0.70"]);
    }

    #[test]
    fn a_unit_fits_its_number() {
        let shown = |value: f64| multiple(value, "bit/s", |value| decimals(value, 2));
        assert_eq!([0.0, 999.0, 1e3, 2.5e6].map(shown), ["0 bit/s", "999 bit/s", "1 kbit/s", "2.5 Mbit/s"]);
        assert_eq!([9.653e9, -2e3].map(shown), ["9.65 Gbit/s", "-2 kbit/s"]);
    }
}

//! Uncertainty of a scenario: a field, and the values that it may have.

use rampcc::{Rate, Time};
use toml_edit::Value;

use crate::units;

/// A field whose value is not known, and what it may be.
#[derive(Clone, Debug, PartialEq)]
pub struct Uncertain {
    /// Dotted field of the scenario file, as [`crate::Setting`] has it: `path.reverse.rate`.
    pub field: String,
    /// Values that it may have.
    pub values: Values,
    /// Reason for these values; may be empty.
    pub reason: String,
    /// True if neither the scenario nor an option says so.
    pub assumed: bool,
    /// The option that says so, as it was given; `None`: the scenario says so, or leaves it open.
    pub option: Option<String>,
}

impl Uncertain {
    /// Whether one of the two fields is the other, or a part of it. A list without a number is all of its elements.
    pub(crate) fn overlaps(&self, other: &str) -> bool {
        let (mut ours, mut theirs) = (self.field.split('.').peekable(), other.split('.').peekable());
        let number = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        while let (Some(a), Some(b)) = (ours.peek(), theirs.peek()) {
            let (skip_ours, skip_theirs) = match (number(a), number(b)) {
                (true, false) => (true, false),
                (false, true) => (false, true),
                _ if a != b => return false,
                _ => (true, true),
            };
            ours.next_if(|_| skip_ours);
            theirs.next_if(|_| skip_theirs);
        }
        true
    }
}

/// The first value that is there twice, however it is spaced.
pub(crate) fn twice(values: &[String]) -> Option<usize> {
    let plain = |value: &String| value.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let values: Vec<String> = values.iter().map(plain).collect();
    (1..values.len()).find(|i| values[..*i].contains(&values[*i]))
}

/// The values that a field may have.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Any number of a unit between two.
    Range(Range),
    /// One of these, each as it stands in a scenario file.
    Choice(Vec<String>),
}

/// The numbers between two, ends included, with a unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// Smallest, in the unit.
    pub low: f64,
    /// Largest, in the unit.
    pub high: f64,
    /// As written, but a rate's always with its `/s`; empty: plain numbers.
    pub unit: String,
    /// True if equal ratios are equally likely, rather than equal differences.
    pub logarithmic: bool,
    /// True if only whole numbers are meant.
    pub whole: bool,
}

/// Ranges from this ratio on are logarithmic unless they say otherwise.
const LOGARITHMIC_FROM: f64 = 3.0;
/// What a range may look like.
pub(crate) const RANGE: &str = "a smaller and a larger value of one kind, such as \"1 to 50 Mbit/s\"";

impl Values {
    /// The value at a share of the way from the smallest to the largest, as it stands in a scenario file.
    pub fn at(&self, share: f64) -> String {
        match self {
            Self::Range(range) => range.text(range.number(share)),
            Self::Choice(values) => {
                let index = (share * values.len() as f64) as usize;
                values.get(index.min(values.len().saturating_sub(1))).cloned().unwrap_or_default()
            }
        }
    }

    /// As [`Values::at`], without the quotes of a file: `3.16 Mbit/s`.
    pub fn shown(&self, share: f64) -> String {
        let text = self.at(share);
        text.parse::<Value>().ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or(text)
    }

    /// Shares at which everything extreme is met.
    pub(crate) fn ends(&self) -> Vec<f64> {
        match self {
            Self::Range(_) => vec![0.0, 1.0],
            Self::Choice(values) => {
                (0..values.len()).map(|i| (i as f64 + 0.5) / values.len() as f64).collect()
            }
        }
    }

    /// `1 to 50 Mbit/s`, or the values one after the other.
    pub fn describe(&self) -> String {
        match self {
            Self::Range(range) => {
                let unit = if range.unit.is_empty() { String::new() } else { format!(" {}", range.unit) };
                format!("{} to {}{unit}", range.low, range.high)
            }
            Self::Choice(values) => values.join(", "),
        }
    }

    /// Where a value of a scenario file lies: 0 at the smallest, 1 at the largest; `None`: it cannot be said.
    pub(crate) fn share_of(&self, value: &Value) -> Option<f64> {
        match self {
            Self::Range(range) => Some(range.share(range.number_of(value)?)),
            Self::Choice(values) => {
                let text = value.clone().decorated("", "").to_string();
                let index = values.iter().position(|v| *v == text)?;
                Some((index as f64 + 0.5) / values.len() as f64)
            }
        }
    }

    /// Whether a value of a scenario file certainly lies outside a range.
    pub(crate) fn excludes(&self, value: &Value) -> bool {
        let Self::Range(range) = self else { return false };
        let room = 1e-9 * range.high.abs();
        range.number_of(value).is_some_and(|number| number < range.low - room || number > range.high + room)
    }
}

impl Range {
    /// From `1 to 50 Mbit/s` or `1mbit..50mbit`; `logarithmic`: what the scenario says of the scale.
    pub(crate) fn parse(text: &str, logarithmic: Option<bool>) -> Result<Self, String> {
        let (low, high) = text
            .split_once(" to ")
            .or_else(|| text.split_once(".."))
            .ok_or("there is neither ` to ` nor `..` between two values")?;
        if text.contains("...") {
            return Err("there are three dots where two stand between two values".to_owned());
        }
        if text.matches(" to ").count() + text.matches("..").count() > 1 {
            return Err("there are more than two values".to_owned());
        }
        let (low_text, low_unit) = end(low)?;
        let (high_text, unit) = end(high)?;
        let number = |text: &str| {
            let number: Option<f64> = text.replace('_', "").parse().ok().filter(|v: &f64| v.is_finite());
            number.ok_or_else(|| format!("`{}` is not a number", crate::error::shortened(text)))
        };
        let factor = if low_unit.is_empty() { Some(1.0) } else { ratio(low_unit, unit) };
        let factor = factor.ok_or_else(|| format!("`{low_unit}` and `{unit}` are of different kinds"))?;
        let (low, high) = (number(low_text)? * factor, number(high_text)?);
        if low >= high {
            return Err(format!("{low} is not below {high}"));
        }
        let logarithmic = logarithmic.unwrap_or(low > 0.0 && high / low >= LOGARITHMIC_FROM);
        if logarithmic && low <= 0.0 {
            return Err("a logarithmic range cannot begin at 0".to_owned());
        }
        let counted = matches!(unit.to_lowercase().as_str(), "" | "packet" | "packets" | "pkt" | "pkts");
        let whole = counted && ![low_text, high_text].iter().any(|text| text.contains(['.', 'e', 'E']));
        Ok(Self { low, high, unit: units::spelt(unit), logarithmic, whole })
    }

    /// The number at a share of the way, to four digits.
    fn number(&self, share: f64) -> f64 {
        let value = if self.logarithmic {
            self.low * libm::exp(share * libm::log(self.high / self.low))
        } else {
            self.low + share * (self.high - self.low)
        };
        let rounded =
            if self.whole { value.round() } else { format!("{value:.3e}").parse().unwrap_or(value) };
        rounded.clamp(self.low, self.high)
    }

    /// A value of a scenario file in the range's unit; `None`: it is of another kind.
    fn number_of(&self, value: &Value) -> Option<f64> {
        let (number, unit) = match value {
            Value::String(text) => units::split_optional(text.value()).ok()?,
            Value::Integer(_) | Value::Float(_) => {
                let number: f64 = value.clone().decorated("", "").to_string().parse().ok()?;
                // A bare share next to a range in per cent; other bare numbers are in the range's unit.
                return Some(if self.unit == "%" { 100.0 * number } else { number });
            }
            _ => return None,
        };
        let number: f64 = number.replace('_', "").parse().ok()?;
        let factor = if number == 0.0 { 1.0 } else { ratio(unit, &self.unit)? };
        Some(number * factor)
    }

    fn share(&self, number: f64) -> f64 {
        let share = if self.logarithmic {
            libm::log((number / self.low).max(1e-300)) / libm::log(self.high / self.low)
        } else {
            (number - self.low) / (self.high - self.low)
        };
        share.clamp(0.0, 1.0)
    }

    fn text(&self, number: f64) -> String {
        if self.unit.is_empty() {
            return if self.whole { format!("{number:.0}") } else { format!("{number:?}") };
        }
        format!("\"{number} {}\"", self.unit)
    }
}

/// Number and unit of one end of a range.
fn end(text: &str) -> Result<(&str, &str), String> {
    let shown = crate::error::shortened(text.trim());
    if shown.is_empty() {
        return Err("one of the two values is missing".to_owned());
    }
    let (number, unit) = units::split_optional(text).map_err(|wrong| format!("`{shown}`: {wrong}"))?;
    let plain = matches!(
        unit.to_lowercase().as_str(),
        "" | "%" | "bdp" | "packet" | "packets" | "pkt" | "pkts" | "segment" | "segments"
    );
    let one = format!("1 {unit}");
    let known = plain || units::time(&one).is_ok() || units::rate(&one).is_ok();
    match units::bytes(&one) {
        Err(wrong) if !known => Err(if wrong.contains("bits") {
            wrong
        } else {
            format!("`{shown}`: `{}` is not a unit", crate::error::shortened(unit))
        }),
        _ => Ok((number, unit)),
    }
}

/// How many of unit `to` are one of unit `from`; `None`: they are of different kinds.
fn ratio(from: &str, to: &str) -> Option<f64> {
    if from.eq_ignore_ascii_case(to) && from != "Mb" && to != "Mb" {
        return Some(1.0);
    }
    let base: [fn(&str) -> Option<u64>; 3] = [
        |text| units::time(text).ok().map(Time::ns),
        |text| units::rate(text).ok().map(Rate::bits_per_s),
        |text| units::bytes(text).ok(),
    ];
    let percent = |unit: &str| match unit {
        "%" => Some(0.01),
        "" => Some(1.0),
        _ => None,
    };
    if let (Some(from), Some(to)) = (percent(from), percent(to)) {
        return Some(from / to);
    }
    // In thousands, so that a nanosecond and a bit per second are not the smallest there is.
    let (from, to) = (format!("1000 {from}"), format!("1000 {to}"));
    base.iter().find_map(|base| Some(base(&from)? as f64 / base(&to)? as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Range {
        Range::parse(text, None).unwrap_or_else(|wrong| panic!("{text}: {wrong}"))
    }

    #[test]
    fn ranges_as_people_write_them() {
        for (text, low, high, unit, logarithmic) in [
            ("1 to 50 Mbit/s", 1.0, 50.0, "Mbit/s", true),
            ("1mbit..50mbit", 1.0, 50.0, "Mbit/s", true),
            ("500 kbit/s to 50 Mbit/s", 0.5, 50.0, "Mbit/s", true),
            ("0.25 to 4 bdp", 0.25, 4.0, "bdp", true),
            ("0 to 30 ms", 0.0, 30.0, "ms", false),
            ("500 to 700 ms", 500.0, 700.0, "ms", false),
            ("0..0.01", 0.0, 0.01, "", false),
            ("0 to 1 %", 0.0, 1.0, "%", false),
            ("1 to 4", 1.0, 4.0, "", true),
        ] {
            let found = range(text);
            assert_eq!((found.low, found.high), (low, high), "{text}");
            assert_eq!((found.unit.as_str(), found.logarithmic), (unit, logarithmic), "{text}");
        }
        for text in ["", "5 ms", "5 to 3 ms", "3 to 3", "1 s to 5 Mbit/s", "x to y", "1 to 1e999 s"] {
            assert!(Range::parse(text, None).is_err(), "{text}");
        }
        for (text, expected) in [
            ("1mbit...5mbit", "three dots"),
            ("1 to 2 to 3 Mbit/s", "more than two values"),
            ("1mbit..2mbit..3mbit", "more than two values"),
            ("1 to NaN Mbit/s", "`NaN Mbit/s`: it does not start with a number"),
            ("-1mbit..5mbit", "`-1mbit`: it is negative"),
            ("..5mbit", "one of the two values is missing"),
            ("1 to 5 PB", "`5 PB`: `PB` is not a unit"),
            ("1 GB to 5 PB", "`PB` is not a unit"),
            ("1 to 5 Mb", "could mean bits"),
        ] {
            let wrong = Range::parse(text, None).expect_err(text);
            assert!(wrong.contains(expected), "{text}: {wrong}");
        }
        assert!(Range::parse("0 to 3 ms", Some(true)).is_err());
    }

    #[test]
    fn values_lie_in_their_range_and_are_found_again() {
        for text in
            ["1 to 50 Mbit/s", "0 to 30 ms", "25 to 250 packets", "1 to 4", "0.001 to 0.3333", "0 to 30 %"]
        {
            let values = Values::Range(range(text));
            let mut last = -1.0;
            for step in 0..=20 {
                let share = f64::from(step) / 20.0;
                let value: Value = values.at(share).parse().unwrap_or_else(|e| panic!("{text}: {e}"));
                let found = values.share_of(&value).unwrap();
                assert!((0.0..=1.0).contains(&found) && found >= last, "{text} at {share}: {value}");
                let Values::Range(range) = &values else { unreachable!() };
                assert!(
                    (found - share).abs() < 0.01 || range.whole,
                    "{text} at {share}: {value} is at {found}"
                );
                last = found;
            }
        }
        assert_eq!(Values::Range(range("0.5 to 50 Mbit/s")).at(0.5), "\"5 Mbit/s\"");
        assert_eq!(Values::Range(range("25 to 26 packets")).at(0.4), "\"25 packets\"");
        let five: Value = "\"5000 kbit/s\"".parse().unwrap();
        assert!((Values::Range(range("0.5 to 50 Mbit/s")).share_of(&five).unwrap() - 0.5).abs() < 1e-9);
        let bytes: Value = "\"36 MB\"".parse().unwrap();
        assert_eq!(Values::Range(range("1 to 4 bdp")).share_of(&bytes), None);
        for (text, value, excludes) in [
            ("10 to 200 ms", "\"300 ms\"", true),
            ("10 to 200 ms", "\"0.2 s\"", false),
            ("10 to 200 ms", "\"9999 us\"", true),
            ("0 to 1 %", "0.02", true),
            ("0 to 1 %", "0.01", false),
            ("1 to 4 bdp", "\"36 MB\"", false),
        ] {
            let value: Value = value.parse().unwrap();
            assert_eq!(Values::Range(range(text)).excludes(&value), excludes, "{text}: {value}");
        }
    }

    #[test]
    fn fields_overlap_where_one_holds_the_other() {
        let overlap = |a: &str, b: &str| {
            let values = Values::Choice(Vec::new());
            let of = |field: &str| Uncertain {
                field: field.to_owned(),
                values: values.clone(),
                reason: String::new(),
                assumed: false,
                option: None,
            };
            assert_eq!(of(a).overlaps(b), of(b).overlaps(a), "{a} {b}");
            of(a).overlaps(b)
        };
        for (a, b) in [
            ("path.queue", "path.queue"),
            ("path.queue", "path.queue.above"),
            ("flow.size", "flow.0.size"),
            ("path.jitter", "path.jitter.1.max"),
        ] {
            assert!(overlap(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("path.queue.above", "path.queue.probability"),
            ("path.jitter.0.max", "path.jitter.1.max"),
            ("path.rate", "path.rtt"),
            ("path.reverse.rate", "path.rate"),
        ] {
            assert!(!overlap(a, b), "{a} {b}");
        }
    }

    #[test]
    fn choices_have_equal_shares() {
        let values = Values::Choice(vec!["\"drop-tail\"".into(), "\"codel\"".into()]);
        assert_eq!(values.at(0.49), "\"drop-tail\"");
        assert_eq!(values.at(1.0), "\"codel\"");
        assert_eq!(values.shown(0.0), "drop-tail");
        assert_eq!(values.share_of(&Value::from("codel")), Some(0.75));
    }
}

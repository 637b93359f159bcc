//! Quantities as people write them: `150 Mbit/s`, `0.5 bdp`, `36 MB`, `250 packets`, `600 ms`.
//!
//! A space between number and unit is optional. Prefixes are decimal (k = 1000), with Ki, Mi and Gi for bytes
//! in powers of 1024. The case of a `b` counts only where it decides: `Mb/s` is bits, `MB/s` bytes.

use rampcc::{Rate, Time};

/// What a time may look like.
pub(crate) const TIME: &str = "a time such as \"600 ms\" (ns, us, ms, s, min, h)";
/// What a rate may look like.
pub(crate) const RATE: &str =
    "a rate such as \"150 Mbit/s\" (bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s; B/s, kB/s, MB/s, GB/s)";
/// What a size may look like.
pub(crate) const BYTES: &str =
    "a size such as \"36 MB\" (B, kB, MB, GB, TB = powers of 1000; KiB, MiB, GiB = powers of 1024)";
/// What a number of packets may look like.
pub(crate) const PACKETS: &str = "a number of packets such as \"250 packets\" or 250";
/// What a buffer may look like.
pub(crate) const BUFFER: &str = "a buffer such as \"36 MB\", \"250 packets\", \"0.5 bdp\" or \"50 ms\" (of the link's rate), or \"unlimited\"";
/// What a probability may look like.
pub(crate) const PROBABILITY: &str = "a probability such as \"1 %\" or 0.01, from 0 to 1";

/// A quantity in the wrong form: what is wrong with it.
pub(crate) type Wrong = String;

/// How much a buffer holds, before the path is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Buffer {
    /// Wire bytes.
    Bytes(u64),
    /// Packets.
    Packets(u64),
    /// Times rate x base round-trip time.
    Bdp(f64),
    /// As long as the link needs to send it.
    Time(Time),
    /// Everything.
    Unlimited,
}

impl std::fmt::Display for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{bytes} B"),
            Self::Packets(packets) => write!(f, "{packets} packets"),
            Self::Bdp(share) => write!(f, "{share} bdp"),
            Self::Time(time) => time.fmt(f),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}

/// A time as people write it, such as `600 ms`.
///
/// # Errors
///
/// What is wrong with it.
pub fn time(text: &str) -> Result<Time, String> {
    let (number, unit) = split(text)?;
    let ns: u64 = match unit.to_lowercase().as_str() {
        "ns" => 1,
        "us" | "µs" | "μs" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" | "second" | "seconds" => 1_000_000_000,
        "min" | "minute" | "minutes" => 60_000_000_000,
        "h" | "hour" | "hours" => 3_600_000_000_000,
        _ => return unknown_unit(number, unit, "of time"),
    };
    scale(number, ns).map(Time::from_ns)
}

pub(crate) fn rate(text: &str) -> Result<Rate, Wrong> {
    let (number, unit) = split(text)?;
    let lower = unit.to_lowercase();
    let (prefix, rest) = prefix(unit);
    let bits = match (rest, rest.to_lowercase().as_str()) {
        ("B/s", _) | (_, "byte/s" | "bytes/s") => 8,
        ("b/s" | "bps", _) | (_, "bit/s" | "bits/s" | "bit" | "bits") => 1,
        _ if lower.is_empty() => return Err(missing_unit(number)),
        _ => return unknown_unit(number, unit, "of rate"),
    };
    match prefix {
        Prefix::None => scale(number, bits),
        Prefix::Decimal(factor) => scale(number, factor * bits),
        Prefix::Binary(_) => return unknown_unit(number, unit, "of rate"),
    }
    .map(Rate::from_bits_per_s)
}

/// A unit as pages print it: `Mbit/s` for `mbit`. All others stay as they are.
pub(crate) fn spelt(unit: &str) -> String {
    const RATES: [&str; 5] = ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"];
    let lower = unit.to_lowercase();
    let rate =
        RATES.iter().find(|rate| lower.trim_end_matches("/s") == rate.to_lowercase().trim_end_matches("/s"));
    rate.map_or(unit, |rate| *rate).to_owned()
}

/// A size as people write it, such as `36 MB`.
///
/// # Errors
///
/// What is wrong with it.
pub fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text)?;
    let (prefix, rest) = prefix(unit);
    let lower_case = unit.chars().all(char::is_lowercase);
    match (rest, rest.to_lowercase().as_str()) {
        ("B", _) | (_, "byte" | "bytes") => {}
        ("b", _) if lower_case => {}
        ("b", _) => return Err(format!("`{unit}` could mean bits: write B for bytes")),
        _ => return unknown_unit(number, unit, "of size"),
    }
    match prefix {
        Prefix::None => scale(number, 1),
        Prefix::Decimal(factor) | Prefix::Binary(factor) => scale(number, factor),
    }
}

pub(crate) fn packets(text: &str) -> Result<u64, Wrong> {
    let (number, unit) = split_optional(text)?;
    match unit.to_lowercase().as_str() {
        "" | "packet" | "packets" | "pkt" | "pkts" | "segments" | "segment" => {}
        _ => return unknown_unit(number, unit, "of packets"),
    }
    if number.contains(['.', 'e', 'E']) {
        return Err(format!("`{number}` is not a whole number"));
    }
    scale(number, 1)
}

pub(crate) fn buffer(text: &str) -> Result<Buffer, Wrong> {
    if text.trim() == "unlimited" {
        return Ok(Buffer::Unlimited);
    }
    let (number, unit) = split(text)?;
    match unit.to_lowercase().as_str() {
        "bdp" => match number.replace('_', "").parse::<f64>() {
            Ok(value) if (0.0..=1e6).contains(&value) => Ok(Buffer::Bdp(value)),
            _ => Err(format!("`{number}` bdp is out of range")),
        },
        "packet" | "packets" | "pkt" | "pkts" => packets(text).map(Buffer::Packets),
        _ => match (time(text), bytes(text)) {
            (Ok(span), _) => Ok(Buffer::Time(span)),
            (_, Ok(size)) => Ok(Buffer::Bytes(size)),
            (_, Err(wrong)) if wrong.contains("bits") => Err(wrong),
            _ => unknown_unit(number, unit, "of a buffer"),
        },
    }
}

pub(crate) fn probability(text: &str) -> Result<f64, Wrong> {
    let (number, unit) = split_optional(text)?;
    let value: f64 = number.replace('_', "").parse().map_err(|_| format!("`{number}` is not a number"))?;
    let value = match unit {
        "" => value,
        "%" => value / 100.0,
        _ => return unknown_unit(number, unit, "of probability"),
    };
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(format!("`{text}` is not between 0 and 1")) }
}

/// A ratio in parts of `whole`: `0.75`, `768/1024`, `75 %`.
pub(crate) fn ratio(text: &str, whole: u32) -> Result<u64, Wrong> {
    if let Some((above, below)) = text.split_once('/')
        && below.trim().parse() == Ok(whole)
    {
        return above
            .trim()
            .parse()
            .map_err(|_| format!("`{}` is not a whole number", crate::error::shortened(above)));
    }
    let (number, unit) = split_optional(text)?;
    let value: f64 = number.replace('_', "").parse().map_err(|_| format!("`{number}` is not a number"))?;
    let value = match unit {
        "" => value,
        "%" => value / 100.0,
        _ => return unknown_unit(number, unit, "of a ratio"),
    };
    parts_of(value, whole).ok_or_else(|| "it is out of range".to_owned())
}

/// `value` in parts of `whole`, rounded.
pub(crate) fn parts_of(value: f64, whole: u32) -> Option<u64> {
    let scaled = (value * f64::from(whole)).round();
    (0.0..=9e15).contains(&scaled).then_some(scaled as u64)
}

enum Prefix {
    None,
    Decimal(u64),
    Binary(u64),
}

fn prefix(unit: &str) -> (Prefix, &str) {
    const TABLE: [(&str, Prefix); 11] = [
        ("Ki", Prefix::Binary(1 << 10)),
        ("Mi", Prefix::Binary(1 << 20)),
        ("Gi", Prefix::Binary(1 << 30)),
        ("k", Prefix::Decimal(1_000)),
        ("K", Prefix::Decimal(1_000)),
        ("m", Prefix::Decimal(1_000_000)),
        ("M", Prefix::Decimal(1_000_000)),
        ("g", Prefix::Decimal(1_000_000_000)),
        ("G", Prefix::Decimal(1_000_000_000)),
        ("t", Prefix::Decimal(1_000_000_000_000)),
        ("T", Prefix::Decimal(1_000_000_000_000)),
    ];
    for (text, prefix) in TABLE {
        if let Some(rest) = unit.strip_prefix(text)
            && !rest.is_empty()
        {
            return (prefix, rest);
        }
    }
    (Prefix::None, unit)
}

fn split(text: &str) -> Result<(&str, &str), Wrong> {
    let (number, unit) = split_optional(text)?;
    let zero = number.chars().all(|c| matches!(c, '0' | '.'));
    match (unit, zero) {
        ("", true) => Err("0 needs a unit as well".to_owned()),
        ("", false) => Err(missing_unit(number)),
        _ => Ok((number, unit)),
    }
}

pub(crate) fn split_optional(text: &str) -> Result<(&str, &str), Wrong> {
    let text = text.trim();
    let digits = |s: &str| s.bytes().take_while(|b| b.is_ascii_digit() || *b == b'_').count();
    let mut end = digits(text);
    let mut found = end > 0;
    if text[end..].starts_with('.') {
        let fraction = digits(&text[end + 1..]);
        found |= fraction > 0;
        end += 1 + fraction;
    }
    let exponent = &text[end..];
    if exponent.starts_with(['e', 'E']) {
        let sign = usize::from(exponent[1..].starts_with(['+', '-']));
        let length = digits(&exponent[1 + sign..]);
        end += if length > 0 { 1 + sign + length } else { 0 };
    }
    if !found {
        let negative = text.starts_with('-');
        return Err(if negative {
            "it is negative".to_owned()
        } else {
            "it does not start with a number".to_owned()
        });
    }
    Ok((&text[..end], text[end..].trim_start()))
}

/// `number` times `factor`, exactly if it is whole, else rounded to the nearest integer.
fn scale(number: &str, factor: u64) -> Result<u64, Wrong> {
    let plain = number.replace('_', "");
    if let Ok(whole) = plain.parse::<u64>() {
        return whole.checked_mul(factor).ok_or_else(|| "it is too large".to_owned());
    }
    let value: f64 = plain.parse().map_err(|_| format!("`{number}` is not a number"))?;
    let scaled = (value * factor as f64).round();
    if !(0.0..9.2e18).contains(&scaled) {
        return Err("it is too large".to_owned());
    }
    if scaled == 0.0 && value > 0.0 {
        return Err("it is too small".to_owned());
    }
    Ok(scaled as u64)
}

fn missing_unit(number: &str) -> Wrong {
    format!("`{number}` has no unit")
}

fn unknown_unit<T>(number: &str, unit: &str, what: &str) -> Result<T, Wrong> {
    if unit.is_empty() {
        return Err(missing_unit(number));
    }
    Err(format!("`{}` is not a unit {what}", crate::error::shortened(unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_as_people_write_them() {
        for (text, bits) in [
            ("150 Mbit/s", 150_000_000),
            ("150mbit", 150_000_000),
            ("150 Mbps", 150_000_000),
            ("150Mb/s", 150_000_000),
            ("1.5 Gbit/s", 1_500_000_000),
            ("384 kbit/s", 384_000),
            ("1 bit/s", 1),
            ("1 Tbit/s", 1_000_000_000_000),
            ("2 MB/s", 16_000_000),
            ("1e3 bit/s", 1_000),
            ("0 bit/s", 0),
        ] {
            assert_eq!(rate(text), Ok(Rate::from_bits_per_s(bits)), "{text}");
        }
        for text in ["", "Mbit/s", "150", "150 MiB/s", "-1 Mbit/s", "1e400 bit/s", "1 Mbit/min", "nan bit/s"]
        {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_and_sizes() {
        assert_eq!(time("1 h"), Ok(Time::from_secs(3600)));
        assert_eq!(time("0.1 ms"), Ok(Time::from_us(100)));
        assert_eq!(time("7µs"), Ok(Time::from_us(7)));
        assert_eq!(time("1e-3 s"), Ok(Time::from_ms(1)));
        assert!(time("600").is_err());
        assert!(time("0.1 ns").is_err(), "below the clock's resolution");
        assert_eq!(bytes("36 MB"), Ok(36_000_000));
        assert_eq!(bytes("4 KiB"), Ok(4096));
        assert_eq!(bytes("10mb"), Ok(10_000_000));
        assert_eq!(bytes("10Mb"), Err("`Mb` could mean bits: write B for bytes".into()));
        assert_eq!(bytes("1_000 B"), Ok(1000));
    }

    #[test]
    fn buffers_in_four_kinds() {
        assert_eq!(buffer("0.5bdp"), Ok(Buffer::Bdp(0.5)));
        assert_eq!(buffer("250 packets"), Ok(Buffer::Packets(250)));
        assert_eq!(buffer("50 ms"), Ok(Buffer::Time(Time::from_ms(50))));
        assert_eq!(buffer("36 MB"), Ok(Buffer::Bytes(36_000_000)));
        assert_eq!(buffer("unlimited"), Ok(Buffer::Unlimited));
        assert!(buffer("3 potatoes").is_err());
        assert!(buffer("2.5 packets").is_err());
    }

    #[test]
    fn probabilities_and_ratios() {
        assert_eq!(probability("25 %"), Ok(0.25));
        assert_eq!(probability("0.25"), Ok(0.25));
        assert!(probability("101%").is_err());
        assert_eq!(ratio("768/1024", 1024), Ok(768));
        assert_eq!(ratio("0.75", 1024), Ok(768));
        assert_eq!(ratio("2", 1024), Ok(2048));
        assert_eq!(ratio("5 %", 1000), Ok(50));
        assert!(ratio("768/1000", 1024).is_err());
    }
}

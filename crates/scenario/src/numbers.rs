//! Numbers for people, to three digits.

use rampcc::figures::{decimals, multiple};
use rampcc::{Rate, Time};

pub(crate) fn short(rate: Rate) -> String {
    multiple(rate.bits_per_s() as f64, "bit/s", number)
}

pub(crate) fn bytes(size: u64) -> String {
    multiple(size as f64, "B", number)
}

pub(crate) fn percent(probability: f64) -> String {
    format!("{} %", number(probability * 100.0))
}

pub(crate) fn seconds(time: Time) -> String {
    number(time.secs_f64())
}

/// Three significant digits, without zeros at the end.
pub(crate) fn number(value: f64) -> String {
    let most = match value.abs() {
        v if v >= 99.95 || v == 0.0 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        v if v >= 0.0995 => 3,
        v if v >= 0.00995 => 4,
        _ => 6,
    };
    decimals(value, most)
}

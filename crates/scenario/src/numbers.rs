//! Numbers for people, to three digits.

use rampcc::{Rate, Time};

pub(crate) fn short(rate: Rate) -> String {
    let bits = rate.bits_per_s() as f64;
    match bits {
        b if b >= 1e9 => format!("{} Gbit/s", number(b / 1e9)),
        b if b >= 1e6 => format!("{} Mbit/s", number(b / 1e6)),
        b if b >= 1e3 => format!("{} kbit/s", number(b / 1e3)),
        b => format!("{} bit/s", number(b)),
    }
}

pub(crate) fn bytes(size: u64) -> String {
    let size = size as f64;
    match size {
        b if b >= 1e9 => format!("{} GB", number(b / 1e9)),
        b if b >= 1e6 => format!("{} MB", number(b / 1e6)),
        b if b >= 1e3 => format!("{} kB", number(b / 1e3)),
        b => format!("{} B", number(b)),
    }
}

pub(crate) fn percent(probability: f64) -> String {
    format!("{} %", number(probability * 100.0))
}

pub(crate) fn seconds(time: Time) -> String {
    number(time.secs_f64())
}

/// Three significant digits, without zeros at the end.
pub(crate) fn number(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 || v == 0.0 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        v if v >= 0.0995 => 3,
        v if v >= 0.00995 => 4,
        _ => 6,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

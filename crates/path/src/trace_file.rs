//! Measured traces as text: capacity in mahimahi's format, delay as one value per line.
//!
//! Lines that are empty or begin with `#` are skipped. A file that was packed must be unpacked first.

use std::fmt::Write as _;
use std::sync::Arc;

use rampcc::Time;
use thiserror::Error;

use crate::config::{Opportunities, Propagation};

/// Error in a trace. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TraceError {
    /// Not what a line of this trace may hold.
    #[error("line {line}: found `{found}`, expected {allowed}")]
    Value {
        /// Line with the error.
        line: usize,
        /// Text found there, cut to a readable length.
        found: String,
        /// Values allowed there.
        allowed: &'static str,
    },
    /// A number above what is accepted.
    #[error("line {line}: {found} is too large, allowed are {allowed}")]
    TooLarge {
        /// Line with the error.
        line: usize,
        /// Text found there, cut to a readable length.
        found: String,
        /// Values allowed there.
        allowed: &'static str,
    },
    /// A timestamp earlier than the one before it.
    #[error("line {line}: found {found} ms after {previous} ms, expected timestamps that do not go back")]
    Descending {
        /// Line with the error.
        line: usize,
        /// Value found there.
        found: u64,
        /// Value before it.
        previous: u64,
    },
    /// More lines than are accepted.
    #[error("line {line}: too long, allowed are at most {allowed} values")]
    TooLong {
        /// The first line too many.
        line: usize,
        /// Number of values allowed.
        allowed: usize,
    },
    /// Not one value.
    #[error("the trace is empty, expected one number per line")]
    Empty,
    /// All timestamps are zero: the trace would repeat at once for ever.
    #[error("all timestamps are 0, expected the last one to be the length of the trace in milliseconds")]
    NoLength,
    /// Values that last no time.
    #[error("the time that each value lasts is 0, expected more")]
    NoStep,
}

/// Bytes per opportunity in mahimahi.
const MAHIMAHI_BYTES: u32 = 1500;

/// 115 days: far above any measurement, far below overflow.
const MOST_MS: u64 = 10_000_000_000;
const TIMESTAMPS: &str = "a timestamp in whole milliseconds";
const TIMESTAMPS_UP_TO: &str = "timestamps up to 10000000000 ms";

/// One day.
const MOST_DELAY_MS: u64 = 86_400_000;
const DELAYS: &str = "a delay in milliseconds, such as 27 or 27.25";
const DELAYS_UP_TO: &str = "delays up to 86400000 ms";

impl Opportunities {
    /// Most opportunities of one trace: 256 MiB of them.
    pub const MOST: usize = 1 << 25;

    /// Reads a capacity trace in mahimahi's format.
    ///
    /// Each line is a time in milliseconds at which 1500 bytes may leave; a time that stands there twice is two
    /// opportunities. The last line is also the length of the trace.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut at = Vec::new();
        let mut previous = 0;
        for (line, value) in values(text) {
            let found = timestamp(line, value)?;
            if found < previous {
                return Err(TraceError::Descending { line, found, previous });
            }
            if at.len() == Self::MOST {
                return Err(TraceError::TooLong { line, allowed: Self::MOST });
            }
            at.push(Time::from_ms(found));
            previous = found;
        }
        match at.last() {
            None => Err(TraceError::Empty),
            Some(&Time::ZERO) => Err(TraceError::NoLength),
            Some(_) => Ok(Self::mahimahi(at.into())),
        }
    }

    /// Opportunities of 1500 bytes at these ascending instants, of which there is one at least.
    pub fn mahimahi(at: Arc<[Time]>) -> Self {
        let period = at.last().copied().unwrap_or_default();
        Self { at, period, bytes: MAHIMAHI_BYTES, offset: Time::ZERO }
    }

    /// Writes what [`Self::parse`] reads, rounding instants down to milliseconds; the offset is not kept.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for at in self.at.iter() {
            let _ = writeln!(text, "{}", at.us() / 1_000);
        }
        text
    }
}

impl Propagation {
    /// Most values of one delay trace.
    pub const MOST: usize = 1 << 25;

    /// Reads a delay trace: one-way delays in milliseconds, decimals allowed, one per line and `step`.
    pub fn parse(text: &str, step: Time) -> Result<Self, TraceError> {
        if step == Time::ZERO {
            return Err(TraceError::NoStep);
        }
        Ok(Self::Trace { values: Self::parse_delays(text)?.into(), step, offset: Time::ZERO })
    }

    /// Reads the values of a delay trace, whatever time each lasts.
    pub fn parse_delays(text: &str) -> Result<Vec<Time>, TraceError> {
        let mut delays: Vec<Time> = Vec::new();
        for (line, value) in values(text) {
            if delays.len() == Self::MOST {
                return Err(TraceError::TooLong { line, allowed: Self::MOST });
            }
            delays.push(delay(line, value)?);
        }
        if delays.is_empty() {
            return Err(TraceError::Empty);
        }
        Ok(delays)
    }
}

/// Lines that hold something, with their numbers.
fn values(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim_ascii()));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

fn timestamp(line: usize, value: &str) -> Result<u64, TraceError> {
    if !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(TraceError::Value { line, found: shortened(value), allowed: TIMESTAMPS });
    }
    match value.parse() {
        Ok(ms) if ms <= MOST_MS => Ok(ms),
        _ => Err(TraceError::TooLarge { line, found: shortened(value), allowed: TIMESTAMPS_UP_TO }),
    }
}

/// Exact to the nanosecond; further decimals are cut.
fn delay(line: usize, value: &str) -> Result<Time, TraceError> {
    let (whole, decimals) = value.split_once('.').unwrap_or((value, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) {
        return Err(TraceError::Value { line, found: shortened(value), allowed: DELAYS });
    }
    let mut ns = 0;
    for place in 0..6 {
        ns = ns * 10 + decimals.as_bytes().get(place).map_or(0, |digit| u64::from(digit - b'0'));
    }
    match whole.parse::<u64>() {
        Ok(ms) if ms < MOST_DELAY_MS || (ms == MOST_DELAY_MS && ns == 0) => {
            Ok(Time::from_ns(ms * 1_000_000 + ns))
        }
        _ => Err(TraceError::TooLarge { line, found: shortened(value), allowed: DELAYS_UP_TO }),
    }
}

/// A message must stay readable whatever the file holds.
fn shortened(value: &str) -> String {
    const MOST: usize = 40;
    let mut text: String =
        value.chars().take(MOST).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if value.chars().nth(MOST).is_some() {
        text.push('…');
    }
    text
}

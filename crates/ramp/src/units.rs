//! Time and rate with their units in their types.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// An instant or a span, in nanoseconds since the start of a run.
///
/// Arithmetic saturates: `Time::NEVER` plus anything is `Time::NEVER`, and no span is negative.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of a run; an empty span.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens.
    pub const NEVER: Self = Self(u64::MAX);

    /// From nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }
    /// From microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(us.saturating_mul(1_000))
    }
    /// From milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }
    /// From whole seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s.saturating_mul(1_000_000_000))
    }
    /// From seconds, rounded to the nearest nanosecond; negative and NaN become zero.
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * 1e9).round() as u64)
    }
    /// Nanoseconds.
    pub const fn ns(self) -> u64 {
        self.0
    }
    /// Whole microseconds, rounded down.
    pub const fn us(self) -> u64 {
        self.0 / 1_000
    }
    /// Seconds, for reports.
    pub fn secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add for Time {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Time {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            u64::MAX => f.write_str("never"),
            0..1_000_000 => write!(f, "{} us", self.0 as f64 / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{} ms", self.0 as f64 / 1e6),
            _ => write!(f, "{} s", self.secs_f64()),
        }
    }
}

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// From bits per second.
    pub const fn from_bits_per_s(bits_per_s: u64) -> Self {
        Self(bits_per_s)
    }
    /// From bytes per second.
    pub const fn from_bytes_per_s(bytes_per_s: u64) -> Self {
        Self(bytes_per_s.saturating_mul(8))
    }
    /// Bits per second.
    pub const fn bits_per_s(self) -> u64 {
        self.0
    }
    /// Whole bytes per second, rounded down.
    pub const fn bytes_per_s(self) -> u64 {
        self.0 / 8
    }
    /// Time that `bytes` take at this rate, rounded down; `Time::NEVER` at rate 0.
    pub fn time_of(self, bytes: u64) -> Time {
        if self.0 == 0 {
            return Time::NEVER;
        }
        match bytes.checked_mul(8_000_000_000) {
            Some(n) => Time(n / self.0),
            None => Time(
                u64::try_from(u128::from(bytes) * 8_000_000_000 / u128::from(self.0)).unwrap_or(u64::MAX),
            ),
        }
    }
    /// Whole bytes that pass in `span` at this rate.
    pub fn bytes_in(self, span: Time) -> u64 {
        u64::try_from(u128::from(self.0) * u128::from(span.0) / 8_000_000_000).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0..1_000 => write!(f, "{} bit/s", self.0),
            1_000..1_000_000 => write!(f, "{} kbit/s", self.0 as f64 / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{} Mbit/s", self.0 as f64 / 1e6),
            _ => write!(f, "{} Gbit/s", self.0 as f64 / 1e9),
        }
    }
}

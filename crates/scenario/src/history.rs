//! `[history]`: what the sending hosts remember from before the run.

use rampcc::{Hint, HintSource, Time};

use crate::document::{Section, Value};
use crate::error::Result;
use crate::field::Default::{At, Words};
use crate::field::{TIME, table, words};
use crate::model::Scenario;
use crate::units;

const WINDOW: &str = "bytes, or a share of the path's BDP such as \"0.5 bdp\"";
const RATE_SHARE: &str = "a rate, or a share of the path's payload rate such as \"50 %\"";
const RTT_SHARE: &str = "a time, or a share of the path's base round-trip time such as \"200 %\"";

table! { HISTORY: "[history]", "What the sending hosts remember of a connection to the same place before the run, for algorithms that need history. Connections of the run are remembered anyway.";
    "window": words(WINDOW) => Words("1 bdp"), "What the path carried in a round trip.";
    "rate": words(RATE_SHARE) => Words("`window` in `rtt`"), "What it delivered, in payload.";
    "rtt": words(RTT_SHARE) => Words("100 %"), "Its smallest round-trip time.";
    "age": TIME => At(Time::from_secs(60)), "How long ago that was; after an hour it is forgotten.";
}

/// What is remembered of a connection before the run, whichever path it was on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct History {
    /// What the path carried in a round trip; a share of its BDP, or bytes.
    pub window: Quantity,
    /// A share of the path's payload rate, or bytes per second; `None`: the window in the round-trip time.
    pub rate: Option<Quantity>,
    /// A share of the base round-trip time, or nanoseconds.
    pub rtt: Quantity,
    /// How long ago.
    pub age: Time,
}

/// A value, or a share of what is true of the path now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// Times what is true.
    Share(f64),
    /// Whatever is true.
    Fixed(u64),
}

impl Quantity {
    fn of(self, truth: u64) -> u64 {
        match self {
            Self::Share(share) => (truth as f64 * share).round() as u64,
            Self::Fixed(value) => value,
        }
    }
}

impl History {
    /// The hint that an algorithm gets on a path of which this is true.
    pub(crate) fn hint(&self, base_rtt: Time, bdp_bytes: u64, payload_bytes_per_s: u64) -> Hint {
        let rtt = Time::from_ns(self.rtt.of(base_rtt.ns()));
        let window = self.window.of(bdp_bytes);
        let in_rtt = || {
            let bytes = u128::from(window) * 1_000_000_000;
            u64::try_from(bytes / u128::from(rtt.ns().max(1))).unwrap_or(u64::MAX)
        };
        let mut hint = Hint::of(HintSource::History);
        hint.window_bytes = window;
        hint.bytes_per_s = self.rate.map_or_else(in_rtt, |rate| rate.of(payload_bytes_per_s));
        hint.rtt_us = u32::try_from(rtt.us()).unwrap_or(u32::MAX);
        hint.age_s = u32::try_from(self.age.ns() / 1_000_000_000).unwrap_or(u32::MAX);
        hint
    }
}

/// `[history]` of `root`.
pub(crate) fn history(root: &Section<'_>) -> Option<History> {
    let s = root.inner("history", &HISTORY)?;
    let whole = |value: Option<Quantity>| value.unwrap_or(Quantity::Share(1.0));
    Some(History {
        window: whole(s.read("window", window)),
        rate: s.read("rate", |v| share_or(v, RATE_SHARE, |v| Ok(v.rate()?.bytes_per_s()))),
        rtt: whole(s.read("rtt", |v| share_or(v, RTT_SHARE, |v| Ok(v.time()?.ns())))),
        age: s.of("age"),
    })
}

/// A share needs something to be a share of.
pub(crate) fn check(root: &Section<'_>, scenario: &Scenario) -> Result {
    let Some(history) = &scenario.history else { return Ok(()) };
    let share = |quantity: Option<Quantity>| matches!(quantity, Some(Quantity::Share(_)));
    if scenario.facts(0).bdp_bytes == u64::MAX && (share(Some(history.window)) || share(history.rate)) {
        let value = root.need("history")?;
        let problem = "nothing limits the path's rate, so that there is nothing to have a share of";
        return Err(value.error(problem, "`window` in bytes, and `rate` as a rate or left out"));
    }
    Ok(())
}

fn window(value: &Value<'_>) -> Result<Quantity> {
    if value.is_text() {
        match units::buffer(value.text()?) {
            Ok(units::Buffer::Bdp(share)) => return Ok(Quantity::Share(share)),
            Ok(units::Buffer::Bytes(bytes)) => return Ok(Quantity::Fixed(bytes)),
            _ => {}
        }
    }
    Err(value.error(&format!("found {}", value.found()), WINDOW))
}

/// Most that may be remembered of what is true now.
const SHARE_MAX: f64 = 1e6;

fn share_or(
    value: &Value<'_>,
    allowed: &'static str,
    own: impl FnOnce(&Value<'_>) -> Result<u64>,
) -> Result<Quantity> {
    let wrong = || value.error(&format!("found {}", value.found()), allowed);
    if !value.is_text() {
        return Err(wrong());
    }
    let Some(percent) = value.text()?.trim_end().strip_suffix('%') else {
        return own(value).map(Quantity::Fixed);
    };
    match percent.trim().parse::<f64>() {
        Ok(percent) if (0.0..=100.0 * SHARE_MAX).contains(&percent) => Ok(Quantity::Share(percent / 100.0)),
        _ => Err(wrong()),
    }
}

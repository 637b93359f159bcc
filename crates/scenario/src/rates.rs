//! What a link's capacity comes to over time.

use std::borrow::Cow;
use std::sync::Arc;

use rampcc::{Rate, Time};
use rampcc_path::{Capacity, LinkConfig, Opportunities, QueueConfig};

use crate::model::NamedLink;

/// Capacity over time is given in bins of this length where a trace drives it.
const BIN: Time = Time::from_ms(100);
/// A capacity timeline never has more entries than this, however long the run.
const TIMELINE_MAX: usize = 100_000;

/// Mean wire rate over the first `window`.
pub(crate) fn mean_rate(capacity: &Capacity, window: Time) -> Rate {
    let bits = match capacity {
        Capacity::Unlimited => return Rate::from_bits_per_s(u64::MAX),
        Capacity::Constant(rate) => return *rate,
        Capacity::Steps { .. } | Capacity::Trace(_) => {
            let line = timeline(capacity, window);
            let ends = line.iter().skip(1).map(|(at, _)| *at).chain([window]);
            line.iter()
                .zip(ends)
                .map(|((at, rate), end)| {
                    u128::from(rate.bits_per_s()) * u128::from((end.min(window) - *at).ns())
                })
                .sum::<u128>()
        }
    };
    Rate::from_bits_per_s(u64::try_from(bits / u128::from(window.ns().max(1))).unwrap_or(u64::MAX))
}

/// What a link carries in the long run: its capacity, or what a policer lets through.
pub(crate) fn sustained(config: &LinkConfig) -> Cow<'_, Capacity> {
    match config.queue {
        QueueConfig::Policer { rate, .. } if rate < mean_rate(&config.capacity, Time::from_secs(10)) => {
            Cow::Owned(Capacity::Constant(rate))
        }
        _ => Cow::Borrowed(&config.capacity),
    }
}

/// Used to find the slowest link of a route; the same value for the same link on every call.
pub(crate) fn typical_rate(link: &NamedLink) -> Rate {
    mean_rate(&sustained(&link.config), Time::from_secs(10))
}

/// Wire rate from each time on, until `end`.
pub(crate) fn timeline(capacity: &Capacity, end: Time) -> Vec<(Time, Rate)> {
    match capacity {
        Capacity::Unlimited => vec![(Time::ZERO, Rate::from_bits_per_s(u64::MAX))],
        Capacity::Constant(rate) => vec![(Time::ZERO, *rate)],
        Capacity::Steps { steps, period } => step_timeline(steps, *period, end),
        Capacity::Trace(trace) => {
            let bins = usize::try_from(end.ns() / BIN.ns()).unwrap_or(TIMELINE_MAX).clamp(1, TIMELINE_MAX);
            let before =
                |t: u64| opportunities_before(trace, trace.offset.ns() % trace.period.ns().max(1) + t);
            let edges: Vec<u64> = (0..=bins as u64).map(|i| before(i * BIN.ns())).collect();
            let per_s = 1_000_000_000 / BIN.ns();
            let rate =
                |count: u64| Rate::from_bytes_per_s(count.saturating_mul(u64::from(trace.bytes) * per_s));
            let rates = edges.windows(2).map(|w| rate(w[1] - w[0]));
            rates.enumerate().map(|(i, rate)| (Time::from_ns(i as u64 * BIN.ns()), rate)).collect()
        }
    }
}

/// How many opportunities come before `t` on the trace's own clock, repetitions included.
fn opportunities_before(trace: &Opportunities, t: u64) -> u64 {
    let period = trace.period.ns().max(1);
    let within = trace.at.partition_point(|at| at.ns() < t % period) as u64;
    (t / period).saturating_mul(trace.at.len() as u64).saturating_add(within)
}

fn step_timeline(steps: &Arc<[(Time, Rate)]>, period: Option<Time>, end: Time) -> Vec<(Time, Rate)> {
    let mut line: Vec<(Time, Rate)> = Vec::new();
    let mut round_start = Time::ZERO;
    'rounds: loop {
        for (at, rate) in steps.iter() {
            let at = round_start + *at;
            if (at >= end && !line.is_empty()) || line.len() == TIMELINE_MAX {
                break 'rounds;
            }
            line.push((at, *rate));
        }
        match period {
            Some(period) if period > Time::ZERO => round_start += period,
            _ => break,
        }
    }
    line
}

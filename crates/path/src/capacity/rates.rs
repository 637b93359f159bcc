//! Rates of a capacity over time, for facts about a path and for charts.

use rampcc::{Rate, Time};

use crate::config::{Capacity, Opportunities};
use crate::timeline::Timeline;

/// Faster than any link: the rate of [`Capacity::Unlimited`].
const UNLIMITED: Rate = Rate::from_bits_per_s(u64::MAX);

impl Capacity {
    /// Wire bytes that could leave in `[from, to)`, rounded down.
    ///
    /// `u64::MAX` where that is more than fits, as for [`Capacity::Unlimited`].
    pub fn bytes_between(&self, from: Time, to: Time) -> u64 {
        if to <= from {
            return 0;
        }
        match self {
            Self::Unlimited => u64::MAX,
            Self::Constant(rate) => rate.bytes_in(to - from),
            Self::Steps { steps, period } => {
                let Some(mut rates) = Timeline::new(steps, *period) else {
                    return 0;
                };
                let work = work_between(&mut rates, from, to);
                u64::try_from(work / 8_000_000_000).unwrap_or(u64::MAX)
            }
            Self::Trace(trace) => {
                let opportunities = trace.before(to) - trace.before(from);
                u64::try_from(opportunities * u128::from(trace.bytes)).unwrap_or(u64::MAX)
            }
        }
    }

    /// Mean wire rate over `[from, to)`; zero over an empty span.
    pub fn mean_rate(&self, from: Time, to: Time) -> Rate {
        match self {
            Self::Unlimited => UNLIMITED,
            Self::Constant(rate) => *rate,
            Self::Steps { .. } | Self::Trace(_) if to <= from => Rate::default(),
            Self::Steps { .. } | Self::Trace(_) => {
                let bits = u128::from(self.bytes_between(from, to)) * 8;
                let rate = bits * 1_000_000_000 / u128::from((to - from).ns());
                Rate::from_bits_per_s(u64::try_from(rate).unwrap_or(u64::MAX))
            }
        }
    }

    /// Wire rate at `now`; of a trace, the mean over the [`Self::TRACE_BIN`] that `now` lies in.
    pub fn rate_at(&self, now: Time) -> Rate {
        match self {
            Self::Unlimited => UNLIMITED,
            Self::Constant(rate) => *rate,
            Self::Steps { steps, period } => {
                Timeline::new(steps, *period).map_or(Rate::default(), |mut rates| rates.at(now).0)
            }
            Self::Trace(_) => {
                let bin = Self::TRACE_BIN.ns();
                let from = Time::from_ns(now.ns() / bin * bin);
                self.mean_rate(from, from + Self::TRACE_BIN)
            }
        }
    }

    /// Wire rate from each time on, until `until`: exact for steps, a trace in bins of [`Self::TRACE_BIN`] or
    /// wider, never more than [`Self::MAX_RATES`] of them. Equal neighbours are one.
    pub fn rates(&self, until: Time) -> Vec<(Time, Rate)> {
        let mut rates: Vec<(Time, Rate)> = Vec::new();
        let mut now = Time::ZERO;
        let widest = Time::from_ns(until.ns().div_ceil(Self::MAX_RATES as u64));
        let bin = Self::TRACE_BIN.max(widest);
        let mut timeline = match self {
            Self::Steps { steps, period } => Timeline::new(steps, *period),
            _ => None,
        };
        while rates.is_empty() || (now < until && rates.len() < Self::MAX_RATES) {
            let (rate, end) = match (self, &mut timeline) {
                (Self::Trace(_), _) => (self.mean_rate(now, now + bin), now + bin),
                (_, Some(timeline)) => timeline.at(now),
                _ => (self.rate_at(now), Time::NEVER),
            };
            if rates.last().is_none_or(|last| last.1 != rate) {
                rates.push((now, rate));
            }
            now = end;
        }
        rates
    }

    /// Width of the bins of a trace.
    pub const TRACE_BIN: Time = Time::from_ms(100);
    /// Most rates that [`Self::rates`] tells.
    pub const MAX_RATES: usize = 36_000;
}

impl Opportunities {
    /// Opportunities before `now` (time of the run), counted from the start of the trace.
    fn before(&self, now: Time) -> u128 {
        let period = self.at.last().map_or(self.period, |&last| self.period.max(last)).ns();
        if period == 0 {
            return 0;
        }
        let now = u128::from(now.ns()) + u128::from(self.offset.ns() % period);
        let within = Time::from_ns((now % u128::from(period)) as u64);
        let repetitions = now / u128::from(period);
        // The last instant of a repetition coincides with the end of it: it is not before its own end.
        let at_end = self.at.len() - self.at.partition_point(|at| at.ns() < period);
        let done = repetitions * self.at.len() as u128 + self.at.partition_point(|&at| at < within) as u128;
        if within == Time::ZERO && repetitions > 0 { done - at_end as u128 } else { done }
    }
}

/// Work in bits times nanoseconds per second.
fn work_between(rates: &mut Timeline<Rate>, from: Time, to: Time) -> u128 {
    let (mut now, mut sum) = (from, 0u128);
    let repetition = rates.repetition().map(|(period, spans)| {
        let whole = spans.map(|(span, rate)| u128::from(rate.bits_per_s()) * u128::from(span.ns()));
        (period, whole.fold(0, u128::saturating_add))
    });
    while now < to {
        let (rate, end) = rates.at(now);
        if let Some((period, work)) =
            repetition.filter(|&(period, _)| rates.base() == now && to - now >= period)
        {
            let whole = (to - now).ns() / period.ns();
            sum = sum.saturating_add(work.saturating_mul(u128::from(whole)));
            now += Time::from_ns(whole * period.ns());
            continue;
        }
        let end = end.min(to);
        sum = sum.saturating_add(u128::from(rate.bits_per_s()) * u128::from((end - now).ns()));
        now = end;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mbit(rate: u64) -> Rate {
        Rate::from_bits_per_s(rate * 1_000_000)
    }

    fn steps(steps: &[(u64, u64)], period: Option<u64>) -> Capacity {
        let steps = steps.iter().map(|&(ms, rate)| (Time::from_ms(ms), mbit(rate))).collect();
        Capacity::Steps { steps, period: period.map(Time::from_ms) }
    }

    fn trace(ms: &[u64], offset: u64) -> Capacity {
        let at: std::sync::Arc<[Time]> = ms.iter().map(|&ms| Time::from_ms(ms)).collect();
        let period = *at.last().expect("not empty");
        Capacity::Trace(Opportunities { at, period, bytes: 1500, offset: Time::from_ms(offset) })
    }

    #[test]
    fn steps_are_integrated_over_repetitions() {
        let capacity = steps(&[(0, 8), (10, 0), (20, 16)], Some(40));
        assert_eq!(capacity.bytes_between(Time::ZERO, Time::from_ms(40)), 10_000 + 40_000);
        assert_eq!(
            capacity.bytes_between(Time::from_ms(5), Time::from_ms(4_030)),
            50_000 * 100 + 30_000 - 5_000
        );
        assert_eq!(capacity.mean_rate(Time::ZERO, Time::from_ms(40)), mbit(10));
        assert_eq!(capacity.rate_at(Time::from_ms(41)), mbit(8));
        assert_eq!(capacity.mean_rate(Time::from_ms(1), Time::from_ms(1)), Rate::default());
    }

    #[test]
    fn opportunities_are_counted_from_their_instant_on() {
        let capacity = trace(&[0, 5, 5, 10], 0);
        for (from, to, packets) in
            [(0, 5, 1), (0, 6, 3), (5, 6, 2), (0, 10, 3), (10, 11, 2), (0, 100, 39), (1, 101, 40)]
        {
            let bytes = capacity.bytes_between(Time::from_ms(from), Time::from_ms(to));
            assert_eq!(bytes, packets * 1500, "[{from}, {to})");
        }
        let moved = trace(&[0, 5, 5, 10], 4);
        assert_eq!(moved.bytes_between(Time::ZERO, Time::from_ms(2)), 3000);
    }

    #[test]
    fn rates_are_exact_for_steps_and_bounded_for_traces() {
        let capacity = steps(&[(0, 8), (10, 8), (20, 16)], Some(40));
        let at = Time::from_ms;
        assert_eq!(capacity.rates(at(50)), [(at(0), mbit(8)), (at(20), mbit(16)), (at(40), mbit(8))]);
        assert_eq!(Capacity::Constant(mbit(3)).rates(at(50)), [(at(0), mbit(3))]);
        assert_eq!(Capacity::Constant(mbit(3)).rates(at(0)), [(at(0), mbit(3))]);
        assert_eq!(trace(&[1], 0).rates(Time::from_secs(1)).last(), Some(&(at(100), mbit(12))));
        assert!(trace(&[1, 777], 0).rates(Time::from_secs(1 << 30)).len() <= Capacity::MAX_RATES);
        assert!(
            steps(&[(0, 1), (1, 2)], Some(2)).rates(Time::from_secs(1 << 30)).len() <= Capacity::MAX_RATES
        );
    }

    #[test]
    fn nothing_is_infinite_or_empty_by_accident() {
        assert_eq!(Capacity::Unlimited.bytes_between(Time::ZERO, Time::from_ns(1)), u64::MAX);
        assert_eq!(steps(&[], None).bytes_between(Time::ZERO, Time::NEVER), 0);
        assert_eq!(trace(&[0], 0).bytes_between(Time::ZERO, Time::NEVER), 0);
        assert!(trace(&[3], 0).bytes_between(Time::ZERO, Time::NEVER) > 1 << 50);
        assert_eq!(
            steps(&[(0, 1)], Some(1)).bytes_between(Time::ZERO, Time::from_secs(1_000_000_000)),
            125_000_000_000_000
        );
    }
}

//! A rate that steps.

use std::sync::Arc;

use rampcc::{Rate, Time};

use super::{Serve, WORK_PER_BYTE};
use crate::timeline::Timeline;

/// Serves at a stepped rate; a packet in service when the rate steps goes on at the new rate.
#[derive(Clone, Debug)]
pub(crate) struct Stepped {
    rates: Timeline<Rate>,
    busy_until: Time,
    /// Work done after `busy_until`, within the same nanosecond.
    owed: u64,
    /// What one repetition can do; `None` without repetition.
    repetition: Option<Repetition>,
}

#[derive(Clone, Copy, Debug)]
struct Repetition {
    period: Time,
    work: u128,
}

impl Stepped {
    pub(super) fn new(steps: &Arc<[(Time, Rate)]>, period: Option<Time>) -> Option<Self> {
        let rates = Timeline::new(steps, period)?;
        let repetition = rates.repetition().map(|(period, spans)| Repetition {
            period,
            work: spans.map(|(span, rate)| work(rate, span)).fold(0, u128::saturating_add),
        });
        Some(Self { rates, busy_until: Time::ZERO, owed: 0, repetition })
    }
}

impl Serve for Stepped {
    fn start(&mut self, now: Time) -> Time {
        now.max(self.busy_until)
    }

    fn last_departure(&self) -> Time {
        self.busy_until
    }

    fn serve(&mut self, start: Time, bytes: u32) -> Time {
        if start > self.busy_until {
            self.owed = 0;
        }
        let mut left = u128::from(bytes) * u128::from(WORK_PER_BYTE) + u128::from(self.owed);
        self.owed = 0;
        let mut now = start;
        while left > 0 {
            if now == Time::NEVER {
                break;
            }
            let (rate, end) = self.rates.at(now);
            let room =
                if end == Time::NEVER && rate > Rate::default() { u128::MAX } else { work(rate, end - now) };
            if left <= room {
                let rate = u128::from(rate.bits_per_s());
                self.owed = (left % rate) as u64;
                now += Time::from_ns(u64::try_from(left / rate).unwrap_or(u64::MAX));
                break;
            }
            left -= room;
            now = end;
            now += self.skip_repetitions(now, &mut left);
        }
        self.busy_until = now;
        now
    }
}

impl Stepped {
    /// Whole repetitions that `left` fills, if one begins `now`, so that no packet costs more than one of them.
    fn skip_repetitions(&mut self, now: Time, left: &mut u128) -> Time {
        let Some(Repetition { period, work }) = self.repetition else {
            return Time::ZERO;
        };
        if work == 0 {
            return Time::NEVER;
        }
        self.rates.at(now);
        if self.rates.base() != now || *left <= work {
            return Time::ZERO;
        }
        let repetitions = (*left - 1) / work;
        *left -= repetitions * work;
        Time::from_ns(u64::try_from(repetitions * u128::from(period.ns())).unwrap_or(u64::MAX))
    }
}

fn work(rate: Rate, span: Time) -> u128 {
    u128::from(rate.bits_per_s()) * u128::from(span.ns())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(steps: &[(u64, u64)], period: Option<u64>) -> Stepped {
        let steps =
            steps.iter().map(|&(ms, rate)| (Time::from_ms(ms), Rate::from_bits_per_s(rate))).collect();
        Stepped::new(&steps, period.map(Time::from_ms)).expect("has steps")
    }

    #[test]
    fn a_packet_crosses_steps() {
        // 12 000 bits: 1 ms at 4 Mbit/s, 1 ms of outage, 8 000 bits at 8 Mbit/s.
        let mut server = server(&[(0, 4_000_000), (1, 0), (2, 8_000_000)], None);
        assert_eq!(server.serve(Time::ZERO, 1500), Time::from_ms(3));
    }

    #[test]
    fn equals_a_constant_rate_when_all_steps_do() {
        let mut stepped = server(&[(0, 333_333_333), (3, 333_333_333)], Some(7));
        let mut constant = super::super::Constant::new(Rate::from_bits_per_s(333_333_333));
        for i in 0..100_000u64 {
            let now = Time::from_us(i * 20);
            let (a, b) = (stepped.start(now), constant.start(now));
            assert_eq!(a, b);
            assert_eq!(stepped.serve(a, 1500 - (i % 900) as u32), constant.serve(b, 1500 - (i % 900) as u32));
        }
    }

    #[test]
    fn a_slow_link_with_a_short_period_is_served_at_once() {
        // 1 bit per 2 us on average: 500 kbit/s.
        let steps: Arc<[_]> =
            [(Time::ZERO, Rate::from_bits_per_s(1_000_000)), (Time::from_us(1), Rate::default())].into();
        let mut server = Stepped::new(&steps, Some(Time::from_us(2))).expect("has steps");
        assert_eq!(server.serve(Time::ZERO, u32::MAX), Time::from_ns(u64::from(u32::MAX) * 16_000 - 1_000));
    }

    #[test]
    fn an_outage_for_good_is_never_served() {
        assert_eq!(server(&[(0, 8), (1, 0)], None).serve(Time::ZERO, 1), Time::NEVER);
        assert_eq!(server(&[(0, 0)], Some(1)).serve(Time::ZERO, 1), Time::NEVER);
        assert_eq!(server(&[(0, 0), (2, 0)], None).serve(Time::from_secs(1), 1), Time::NEVER);
    }
}

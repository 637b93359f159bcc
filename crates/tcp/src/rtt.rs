//! Round-trip time and the retransmission timeout (RFC 6298; Linux `tcp_rtt_estimator`).

use rampcc::Time;

use crate::RtoConfig;

/// What the sender knows of the path's round-trip time.
///
/// `smoothed` and `variance` are kept at 8 and 4 times their value, as every implementation since 1988, so that
/// shifts lose nothing.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    config: RtoConfig,
    smoothed_8: u64,
    variance_4: u64,
    /// Linux: largest deviation of this round, and what the timer uses.
    round_variance_4: u64,
    timer_variance_4: u64,
    round_end: u64,
    /// ns-2: 8 times the smoothed RTT and 4 times its variance, in ticks.
    ticks_8: i64,
    ticks_variance_4: i64,
    base_timeout: Time,
    backoff: u32,
    min: Time,
    /// ns-2: the one segment that is being timed.
    timed: Option<Timed>,
}

/// A segment that is being timed.
#[derive(Clone, Copy, Debug)]
struct Timed {
    number: u64,
    sent: Time,
}

impl RttEstimator {
    pub(crate) fn new(config: RtoConfig) -> Self {
        Self {
            config,
            smoothed_8: 0,
            variance_4: 0,
            round_variance_4: 0,
            timer_variance_4: 0,
            round_end: 0,
            ticks_8: 0,
            ticks_variance_4: 0,
            base_timeout: config.initial,
            backoff: 0,
            min: Time::NEVER,
            timed: None,
        }
    }

    /// Whether it counts ticks, one segment at a time.
    #[inline]
    pub(crate) fn counts_ticks(&self) -> bool {
        self.config.count_ticks
    }

    /// A SYN that left at `sent` has been answered.
    pub(crate) fn on_handshake(&mut self, sent: Time, now: Time) {
        self.observe_min(now - sent);
        if self.config.count_ticks {
            self.backoff = 0;
            self.on_counted_sample(sent, now);
        } else {
            self.on_sample(now - sent, 0, 0);
        }
    }

    /// New segment `number` left: one at a time is timed, if ticks are counted.
    #[inline]
    pub(crate) fn start_timing(&mut self, now: Time, number: u64) {
        if self.config.count_ticks && self.timed.is_none() {
            self.timed = Some(Timed { number, sent: now });
        }
    }

    /// All below `una` has been acknowledged, and with it perhaps the timed segment. Unless it is a `sample`, that says only
    /// that the peer is alive.
    #[inline]
    pub(crate) fn stop_timing(&mut self, now: Time, una: u64, sample: bool) {
        if let Some(timed) = self.timed.filter(|timed| timed.number < una) {
            self.timed = None;
            self.backoff = 0;
            if sample {
                self.on_counted_sample(timed.sent, now);
            }
        }
    }

    /// What is being timed may be sent again.
    pub(crate) fn give_timing_up(&mut self) {
        self.timed = None;
    }

    /// Takes one sample. `una` and `next` are the segment numbers after the ACK: without Linux's variance, RFC 6298
    /// timing takes one sample per round trip, and Linux counts its rounds by them.
    #[inline]
    pub(crate) fn on_sample(&mut self, rtt: Time, una: u64, next: u64) {
        if self.config.min_of_variance {
            self.on_linux_sample(rtt.ns().max(1), una, next);
        } else if una > self.round_end || self.smoothed_8 == 0 {
            self.round_end = next;
            self.on_rfc_sample(rtt.ns().max(1));
        }
        self.backoff = 0;
    }

    /// Remembers the smallest round-trip time; samples of SACKed segments count too.
    #[inline]
    pub(crate) fn observe_min(&mut self, rtt: Time) {
        if rtt < self.min {
            self.min = rtt;
        }
    }

    /// Smallest sample; `Time::NEVER`: none.
    #[inline]
    pub(crate) fn min(&self) -> Time {
        self.min
    }

    /// Smoothed round-trip time; zero: none.
    #[inline]
    pub(crate) fn smoothed(&self) -> Time {
        Time::from_ns(self.smoothed_8 >> 3)
    }

    /// Whether there has been a sample.
    #[inline]
    pub(crate) fn measured(&self) -> bool {
        self.smoothed_8 != 0
    }

    /// The retransmission timeout, backed off.
    #[inline]
    pub(crate) fn timeout(&self) -> Time {
        if self.backoff == 0 {
            return self.base_timeout;
        }
        let doubled = u128::from(self.base_timeout.ns()) << self.backoff.min(63);
        Time::from_ns(u64::try_from(doubled).unwrap_or(u64::MAX)).min(self.config.max)
    }

    /// How often the timer has expired in a row.
    pub(crate) fn backoff(&self) -> u32 {
        self.backoff
    }

    /// The timer expired: the next timeout is twice as long.
    pub(crate) fn back_off(&mut self) {
        self.backoff = self.backoff.saturating_add(1);
        if self.config.count_ticks && self.backoff >= 4 {
            // ns-2 mistrusts its estimate from a factor of 16 on and keeps it as variance.
            self.ticks_variance_4 += self.ticks_8 >> 3;
            self.ticks_8 = 0;
        }
    }

    /// ns-2's sample of a segment that left at `sent` and was acknowledged at `now` (`TcpAgent::rtt_update`): ticks of a
    /// clock that began in between, and the timer from whole ticks of both estimates, rounded down.
    fn on_counted_sample(&mut self, sent: Time, now: Time) {
        let tick = self.config.tick.ns().max(1);
        let phase = self.config.phase.map_or(0, Time::ns);
        let into = (sent.ns() + phase) % tick;
        let ticks = i64::try_from(((now - sent).ns() + into) / tick).unwrap_or(i64::MAX / 16).max(1);
        if self.ticks_8 == 0 {
            self.ticks_8 = ticks << 3;
            self.ticks_variance_4 = ticks << 1;
        } else {
            let delta = ticks - (self.ticks_8 >> 3);
            self.ticks_8 = (self.ticks_8 + delta).max(1);
            let delta = delta.abs() - (self.ticks_variance_4 >> 2);
            self.ticks_variance_4 = (self.ticks_variance_4 + delta).max(1);
        }
        self.smoothed_8 = self.ticks_8.unsigned_abs().saturating_mul(tick);
        let timeout = ((self.ticks_variance_4 << 3) + self.ticks_8) >> 3;
        let raw = Time::from_ns(timeout.unsigned_abs().saturating_mul(tick));
        self.base_timeout = raw.max(self.config.min).min(self.config.max);
    }

    /// The peer is alive after all: forget the backing off.
    pub(crate) fn forget_backoff(&mut self) {
        self.backoff = 0;
    }

    /// RFC 6298 §5.7: the timer expired on the SYN, so without a sample data starts with 3 s. ns-2 does not know that.
    pub(crate) fn distrust_initial(&mut self) {
        if self.config.count_ticks {
            return;
        }
        self.backoff = 0;
        if !self.measured() {
            self.base_timeout = self.base_timeout.max(Time::from_secs(3)).min(self.config.max);
        }
    }

    #[inline(never)]
    fn on_rfc_sample(&mut self, rtt: u64) {
        let tick = self.config.tick.ns();
        let rtt = (rtt + tick / 2).checked_div(tick).map_or(rtt, |ticks| ticks.max(1) * tick);
        self.smooth(rtt, rtt.abs_diff(self.smoothed_8 >> 3));
        let raw = (self.smoothed_8 >> 3) + self.variance_4.max(tick);
        let raw = if tick == 0 { raw } else { raw.div_ceil(tick) * tick };
        self.base_timeout = Time::from_ns(raw).max(self.config.min).min(self.config.max);
    }

    #[inline(never)]
    fn on_linux_sample(&mut self, rtt: u64, una: u64, next: u64) {
        let smoothed = self.smoothed_8 >> 3;
        // A sudden drop of the RTT must not inflate the timer: such deviations weigh an eighth (Linux, after Eifel).
        let deviation = if rtt >= smoothed {
            rtt - smoothed
        } else {
            let fall = smoothed - rtt;
            if fall > self.variance_4 >> 2 {
                (self.variance_4 >> 2) + ((fall - (self.variance_4 >> 2)) >> 3)
            } else {
                fall
            }
        };
        let first = self.smoothed_8 == 0;
        self.smooth(rtt, deviation);
        let floor = self.config.min.ns();
        if first {
            self.round_variance_4 = self.variance_4.max(floor);
            self.timer_variance_4 = self.round_variance_4;
            self.round_end = next;
        } else {
            if self.variance_4 > self.round_variance_4 {
                self.round_variance_4 = self.variance_4;
                self.timer_variance_4 = self.timer_variance_4.max(self.round_variance_4);
            }
            if una > self.round_end {
                if self.round_variance_4 < self.timer_variance_4 {
                    self.timer_variance_4 -= (self.timer_variance_4 - self.round_variance_4) >> 2;
                }
                self.round_end = next;
                self.round_variance_4 = floor;
            }
        }
        self.base_timeout =
            Time::from_ns((self.smoothed_8 >> 3) + self.timer_variance_4).min(self.config.max);
    }

    #[inline]
    fn smooth(&mut self, rtt: u64, deviation: u64) {
        if self.smoothed_8 == 0 {
            self.smoothed_8 = rtt.saturating_mul(8);
            self.variance_4 = rtt.saturating_mul(2);
        } else {
            self.variance_4 = self.variance_4 - (self.variance_4 >> 2) + deviation;
            self.smoothed_8 = self.smoothed_8 - (self.smoothed_8 >> 3) + rtt;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeout_after(samples_ms: &[u64], min_of_variance: bool, min: Time) -> f64 {
        let mut rtt = RttEstimator::new(RtoConfig { min, min_of_variance, ..RFC });
        for (i, &ms) in samples_ms.iter().enumerate() {
            rtt.on_sample(Time::from_ms(ms), 2 * i as u64 + 1, 2 * i as u64 + 2 - 1);
        }
        (rtt.timeout().secs_f64() * 1e4).round() / 1e4
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "rounded to the four digits of the table")]
    fn matches_the_table_of_worked_values() {
        let rfc = |s: &[u64]| timeout_after(s, false, Time::from_secs(1));
        let raw = |s: &[u64]| timeout_after(s, false, Time::ZERO);
        let era = |s: &[u64]| timeout_after(s, false, Time::from_ms(200));
        let linux = |s: &[u64]| timeout_after(s, true, Time::from_ms(200));
        assert_eq!(
            [raw(&[100; 6]), rfc(&[100; 6]), era(&[100; 6]), linux(&[100; 6])],
            [0.1475, 1.0, 0.2, 0.3]
        );
        assert_eq!([raw(&[100, 100, 100, 100, 300]), linux(&[100, 100, 100, 100, 300])], [0.3883, 0.3883]);
        // 0.32 by the formula alone; Linux lets the variance of the first sample fade by a quarter per round trip.
        assert_eq!([raw(&[120; 3]), linux(&[120; 3])], [0.2550, 0.3500]);
        assert_eq!([raw(&[600; 3]), rfc(&[600; 3]), era(&[600; 3])], [1.275; 3]);
    }

    /// RFC 6298.
    const RFC: RtoConfig = RtoConfig {
        initial: Time::from_secs(1),
        min: Time::from_secs(1),
        max: Time::from_secs(60),
        tick: Time::ZERO,
        count_ticks: false,
        phase: None,
        min_of_variance: false,
    };

    #[test]
    fn backs_off_by_doubling_up_to_the_ceiling() {
        let mut rtt = RttEstimator::new(RFC);
        let mut seen = vec![];
        for _ in 0..8 {
            seen.push(rtt.timeout().ns() / 1_000_000_000);
            rtt.back_off();
        }
        assert_eq!(seen, [1, 2, 4, 8, 16, 32, 60, 60]);
        rtt.on_sample(Time::from_ms(500), 1, 2);
        assert_eq!(rtt.backoff(), 0);
    }

    #[test]
    fn a_timed_out_syn_without_sample_raises_the_first_timeout_to_three_seconds() {
        let mut rtt = RttEstimator::new(RFC);
        rtt.back_off();
        rtt.distrust_initial();
        assert_eq!(rtt.timeout(), Time::from_secs(3));
    }

    #[test]
    fn rounds_samples_and_timer_to_the_tick() {
        let mut rtt = RttEstimator::new(RtoConfig { count_ticks: false, phase: None, ..ns2(0) });
        rtt.on_sample(Time::from_ms(104), 1, 1);
        assert_eq!(rtt.smoothed(), Time::from_ms(100));
        assert_eq!(rtt.timeout(), Time::from_ms(300));
        rtt.on_sample(Time::from_us(1), 2, 2);
        assert_eq!(rtt.smoothed(), Time::from_us(88_750));
    }

    #[test]
    fn counts_the_ticks_that_begin_and_keeps_whole_ones() {
        let ticks = |phase_us: u64, sent_ms: u64, rtt_ms: u64| {
            let mut rtt = RttEstimator::new(ns2(phase_us));
            rtt.on_counted_sample(Time::from_ms(sent_ms), Time::from_ms(sent_ms + rtt_ms));
            rtt.smoothed().us() / 10_000
        };
        assert_eq!(
            [ticks(0, 0, 104), ticks(0, 6, 104), ticks(4_500, 6, 104), ticks(4_500, 0, 3)],
            [10, 11, 10, 1]
        );
        // Worked by `TcpAgent::rtt_update`: 8 srtt, 4 rttvar and the timer, in ticks.
        let mut rtt = RttEstimator::new(ns2(0));
        let mut timers = vec![];
        for sample_ms in [100, 110, 110, 100, 300] {
            rtt.on_counted_sample(Time::ZERO, Time::from_ms(sample_ms));
            timers.push(rtt.timeout().us() / 10_000);
        }
        assert_eq!(timers, [30, 26, 23, 20, 40]);
    }

    #[test]
    fn mistrusts_its_estimate_after_four_timeouts() {
        let mut rtt = RttEstimator::new(ns2(0));
        rtt.on_counted_sample(Time::ZERO, Time::from_ms(100));
        for _ in 0..4 {
            rtt.back_off();
        }
        assert_eq!(rtt.timeout(), Time::from_ms(16 * 300));
        rtt.forget_backoff();
        rtt.on_counted_sample(Time::ZERO, Time::from_ms(200));
        assert_eq!(rtt.smoothed(), Time::from_ms(200), "as if it were the first");
    }

    fn ns2(phase_us: u64) -> RtoConfig {
        RtoConfig {
            initial: Time::from_secs(3),
            min: Time::ZERO,
            max: Time::from_secs(60),
            tick: Time::from_ms(10),
            count_ticks: true,
            phase: Some(Time::from_us(phase_us)),
            min_of_variance: false,
        }
    }
}

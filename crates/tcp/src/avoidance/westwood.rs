//! Westwood+ as Linux has it: Reno, but a loss leaves what the measured rate fills, not half of the window.

use rampcc::Time;

use super::{Growth, Reno};

/// A sample takes an RTT, and at least so long (Linux `TCP_WESTWOOD_RTT_MIN`).
const SAMPLE_MIN: Time = Time::from_ms(50);

/// The state of Westwood+.
#[derive(Clone, Debug)]
pub(crate) struct Westwood {
    reno: Reno,
    /// Bytes per second, after one and after two filters of 7/8.
    once: u64,
    twice: u64,
    /// Bytes since the sample began.
    bytes: u64,
    since: Option<Time>,
    rtt: Time,
    rtt_min: Time,
}

impl Westwood {
    pub(crate) fn new(counts_acks: bool) -> Self {
        Self {
            reno: Reno::new(counts_acks),
            once: 0,
            twice: 0,
            bytes: 0,
            since: None,
            rtt: Time::ZERO,
            rtt_min: Time::NEVER,
        }
    }

    /// Any ACK that delivers, in every state. Bytes count when they are first acknowledged, by SACK too, which is what
    /// the papers' counting of duplicate ACKs is for.
    #[inline]
    pub(crate) fn observe(&mut self, now: Time, bytes: u64, rtt: Option<Time>) {
        if let Some(rtt) = rtt {
            self.rtt = rtt;
            self.rtt_min = self.rtt_min.min(rtt);
        }
        let since = *self.since.get_or_insert(now);
        if self.rtt > Time::ZERO && now - since > self.rtt.max(SAMPLE_MIN) {
            self.end_sample(now - since);
            self.since = Some(now);
        }
        self.bytes += bytes;
    }

    #[cold]
    fn end_sample(&mut self, span: Time) {
        let rate = u128::from(self.bytes) * 1_000_000_000 / u128::from(span.ns());
        let rate = u64::try_from(rate).unwrap_or(u64::MAX) / 8;
        self.bytes = 0;
        if self.once == 0 && self.twice == 0 {
            (self.once, self.twice) = (rate * 8, rate * 8);
        } else {
            self.once = self.once / 8 * 7 + rate;
            self.twice = self.twice / 8 * 7 + self.once / 8;
        }
    }

    pub(crate) fn on_ack(&mut self, growth: &Growth) -> u64 {
        self.reno.on_ack(growth)
    }

    /// Rate times smallest RTT, and never more than the window; without a sample, Reno's half.
    pub(crate) fn on_loss(&mut self, flight: u64, cwnd: u64) -> u64 {
        let half = self.reno.on_loss(flight);
        if self.twice == 0 || self.rtt_min == Time::NEVER {
            return half;
        }
        let pipe = u128::from(self.twice) * u128::from(self.rtt_min.ns()) / 1_000_000_000;
        u64::try_from(pipe).unwrap_or(u64::MAX).min(cwnd)
    }

    /// The path may be another after a timeout: its RTT is learned again.
    pub(crate) fn on_timeout(&mut self) {
        self.reno.reset();
        self.rtt_min = Time::NEVER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1500 bytes every `gap_us` for `count` packets.
    fn fed(westwood: &mut Westwood, from: Time, gap_us: u64, count: u64) -> Time {
        let mut now = from;
        for _ in 0..count {
            now += Time::from_us(gap_us);
            westwood.observe(now, 1500, Some(Time::from_ms(106)));
        }
        now
    }

    /// 12.5 MB/s and 106 ms: 883 packets of 1500 bytes.
    #[test]
    fn a_loss_leaves_rate_times_rtt() {
        let mut westwood = Westwood::new(false);
        assert_eq!(westwood.on_loss(1_000_000, 1_000_000), 500_000);
        fed(&mut westwood, Time::ZERO, 120, 10_000);
        let left = westwood.on_loss(3_000_000, 3_000_000);
        assert!((left as f64 / 1500.0 - 883.0).abs() < 3.0, "{left}");
        assert_eq!(westwood.on_loss(300_000, 600_000), 600_000);
    }

    /// Two filters of 7/8: of a rate that halves, after n samples (1 + n/8) (7/8)^n of the difference is left.
    #[test]
    fn the_rate_is_filtered_twice() {
        let mut westwood = Westwood::new(false);
        let mut now = fed(&mut westwood, Time::ZERO, 120, 10_000);
        let first = westwood.twice as f64;
        let sample = 106_000 / 240 + 1;
        let mut power = 1.0;
        for n in 1..=10 {
            now = fed(&mut westwood, now, 240, sample);
            power *= 7.0 / 8.0;
            let left = (1.0 + f64::from(n) / 8.0) * power;
            let expected = first / 2.0 * (1.0 + left);
            assert!(
                (westwood.twice as f64 / expected - 1.0).abs() < 0.05,
                "{n}: {} {expected}",
                westwood.twice
            );
        }
    }

    #[test]
    fn a_timeout_forgets_the_rtt_but_not_the_rate() {
        let mut westwood = Westwood::new(false);
        let now = fed(&mut westwood, Time::ZERO, 120, 10_000);
        westwood.on_timeout();
        assert_eq!(westwood.on_loss(1_000_000, 1_000_000), 500_000);
        westwood.observe(now, 1500, Some(Time::from_ms(53)));
        let left = westwood.on_loss(3_000_000, 3_000_000);
        assert!((left as f64 / 1500.0 - 441.5).abs() < 3.0, "{left}");
    }
}

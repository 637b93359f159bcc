//! Vegas (Brakmo & Peterson 1995): keep between alpha and beta packets in the bottleneck's queue.

use std::cmp::Ordering;

use rampcc::Time;

use crate::growth::Growth;

/// Linux needs more than two samples in a round to trust its minimum.
const SAMPLES_MIN: u32 = 3;
/// ns-2: as many packets of the window may be unused while it grows.
const ROOM_PACKETS: u64 = 2;

/// Thresholds of Vegas congestion avoidance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VegasConfig {
    /// Grow while fewer packets than this are queued.
    pub alpha_packets: u32,
    /// Shrink while more packets than this are queued.
    pub beta_packets: u32,
    /// The round's mean RTT decides, and a loss costs a quarter of the window (ns-2); otherwise its minimum, and
    /// half (Linux).
    pub mean_rtt: bool,
}

/// The state of Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    config: VegasConfig,
    /// 0: the round in which congestion avoidance began has not been seen yet.
    round_end: u64,
    round_min: Time,
    round_sum: Time,
    samples: u32,
    /// What each ACK of the running round adds, in 2^-32 bytes, and what the window has beyond its whole bytes: ns-2's
    /// windows are real numbers.
    share: u64,
    fraction: u64,
}

impl Vegas {
    pub(crate) fn new(config: VegasConfig) -> Self {
        Self {
            config,
            round_end: 0,
            round_min: Time::NEVER,
            round_sum: Time::ZERO,
            samples: 0,
            share: 0,
            fraction: 0,
        }
    }

    pub(crate) fn on_ack(&mut self, growth: &Growth) -> u64 {
        if self.config.mean_rtt { self.follow_ns2(growth) } else { self.follow_linux(growth) }
    }

    pub(crate) fn on_loss(&mut self, flight: u64) -> u64 {
        self.reset();
        if self.config.mean_rtt { flight / 4 * 3 } else { flight / 2 }
    }

    pub(crate) fn reset(&mut self) {
        self.round_end = 0;
        self.share = 0;
        self.fraction = 0;
        self.forget_samples();
    }

    fn sample(&mut self, growth: &Growth) {
        if let Some(rtt) = growth.rtt {
            self.round_min = self.round_min.min(rtt);
            self.round_sum += rtt;
            self.samples += 1;
        }
    }

    fn forget_samples(&mut self) {
        self.round_min = Time::NEVER;
        self.round_sum = Time::ZERO;
        self.samples = 0;
    }

    fn follow_linux(&mut self, growth: &Growth) -> u64 {
        self.sample(growth);
        if growth.una <= self.round_end {
            return growth.cwnd;
        }
        self.round_end = growth.next;
        let (enough, rtt) = (self.samples >= SAMPLES_MIN, self.round_min);
        self.forget_samples();
        // Without an estimate it is Reno.
        let verdict = if enough { linux_verdict(&self.config, growth, rtt) } else { Ordering::Less };
        match verdict {
            Ordering::Less => growth.cwnd.saturating_add(growth.mss),
            Ordering::Equal => growth.cwnd,
            Ordering::Greater => growth.cwnd.saturating_sub(growth.mss).max(2 * growth.mss),
        }
    }

    /// The tagged packet's own sample is the next round's first.
    fn follow_ns2(&mut self, growth: &Growth) -> u64 {
        let mut cwnd = growth.cwnd;
        // Packets out after this ACK, the newest acknowledged one included.
        let out = growth.next + 1 - growth.una.min(growth.next);
        if self.round_end == 0 {
            self.round_end = growth.next;
        } else if growth.una > self.round_end {
            let sent = growth.next.saturating_sub(self.round_end);
            self.round_end = growth.next;
            if self.samples > 0 {
                let rtt_ns = self.round_sum.ns() / u64::from(self.samples);
                self.share = 0;
                let base_ns = growth.min_rtt.ns().min(rtt_ns);
                match (Ns2Round { base_ns, rtt_ns, out, sent }).verdict(&self.config) {
                    Ordering::Less => {
                        let window = (u128::from(cwnd.max(1)) << 32) + u128::from(self.fraction);
                        let share = (u128::from(growth.mss) * u128::from(growth.mss)) << 64;
                        self.share = u64::try_from(share / window).unwrap_or(u64::MAX);
                    }
                    Ordering::Equal => {}
                    Ordering::Greater => cwnd = cwnd.saturating_sub(growth.mss).max(2 * growth.mss),
                }
            }
            self.forget_samples();
        }
        self.sample(growth);
        if cwnd.saturating_sub(out * growth.mss) <= ROOM_PACKETS * growth.mss {
            let grown = u128::from(self.fraction) + u128::from(self.share);
            self.fraction = (grown & u128::from(u32::MAX)) as u64;
            cwnd = cwnd.saturating_add((grown >> 32) as u64);
        }
        cwnd
    }
}

/// Linux, in whole packets: `queued = cwnd x (rtt - base) / base`.
fn linux_verdict(config: &VegasConfig, growth: &Growth, rtt: Time) -> Ordering {
    let base = u128::from(growth.min_rtt.ns().max(1));
    let packets = u128::from(growth.cwnd / growth.mss);
    let queued = packets * u128::from(rtt.ns().saturating_sub(growth.min_rtt.ns())) / base;
    if queued > u128::from(config.beta_packets) {
        Ordering::Greater
    } else if queued < u128::from(config.alpha_packets) {
        Ordering::Less
    } else {
        Ordering::Equal
    }
}

/// A round in ns-2.
struct Ns2Round {
    base_ns: u64,
    /// The mean.
    rtt_ns: u64,
    /// Packets, now.
    out: u64,
    /// Packets, in the round.
    sent: u64,
}

impl Ns2Round {
    /// `queued = out - sent x base / rtt`, to the nearest packet.
    fn verdict(&self, config: &VegasConfig) -> Ordering {
        let [base, rtt, out, sent] = [self.base_ns, self.rtt_ns, self.out, self.sent].map(i128::from);
        let queued = 2 * (out * rtt - sent * base);
        let bound = |half_packets: i128| half_packets * rtt;
        if queued >= bound(2 * i128::from(config.beta_packets) + 1) {
            Ordering::Greater
        } else if queued < bound(2 * i128::from(config.alpha_packets) - 1) {
            Ordering::Less
        } else {
            Ordering::Equal
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering::{Equal, Greater, Less};

    use super::*;

    fn growth(cwnd: u64, rtt_ms: u64, una: u64, next: u64) -> Growth {
        Growth {
            now: Time::ZERO,
            cwnd,
            acked: 1000,
            mss: 1000,
            min_rtt: Time::from_ms(100),
            rtt: Some(Time::from_ms(rtt_ms)),
            una,
            next,
        }
    }

    #[test]
    fn compares_the_backlog_with_its_thresholds() {
        let linux = VegasConfig { alpha_packets: 2, beta_packets: 4, mean_rtt: false };
        let ns2 = VegasConfig { alpha_packets: 1, beta_packets: 3, mean_rtt: true };
        // Of 100 packets 0, 0.99, 2.91, 3.38, 3.85 and 4.76 are queued; ns-2 rounds them, Linux cuts cwnd x rise / base.
        for (rtt, with_linux, with_ns2) in [
            (1000, Less, Less),
            (1010, Less, Equal),
            (1030, Equal, Equal),
            (1035, Equal, Equal),
            (1040, Equal, Greater),
            (1050, Greater, Greater),
        ] {
            let sample = growth(100_000, 100, 0, 0);
            let tenths = Time::from_us(100 * rtt);
            assert_eq!(linux_verdict(&linux, &sample, tenths), with_linux, "{rtt}");
            let round = Ns2Round { base_ns: 1000, rtt_ns: rtt, out: 100, sent: 100 };
            assert_eq!(round.verdict(&ns2), with_ns2, "{rtt}");
        }
    }

    fn round(vegas: &mut Vegas, cwnd: u64, rtt_ms: u64, number: u64) -> u64 {
        let mut window = cwnd;
        for i in 0..100 {
            let una = 100 * number + i;
            window = vegas.on_ack(&growth(window, rtt_ms, una, una + window / 1000));
        }
        window
    }

    #[test]
    fn moves_by_one_segment_per_round() {
        for mean_rtt in [false, true] {
            let mut vegas = Vegas::new(VegasConfig { alpha_packets: 2, beta_packets: 4, mean_rtt });
            let mut cwnd = 100_000;
            for number in 1..12 {
                cwnd = round(&mut vegas, cwnd, 101, number);
            }
            assert!((107_000..=111_000).contains(&cwnd), "{cwnd}");
            let grown = cwnd;
            for number in 12..15 {
                cwnd = round(&mut vegas, cwnd, 110, number);
            }
            assert!(cwnd < grown, "{cwnd}");
        }
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow_in_ns2() {
        let config = VegasConfig { alpha_packets: 1, beta_packets: 3, mean_rtt: true };
        let mut vegas = Vegas::new(config);
        let mut cwnd = 100_000;
        for una in 1..1000 {
            cwnd = vegas.on_ack(&growth(cwnd, 100, una, una + 50));
        }
        assert_eq!(cwnd, 100_000);
    }
}

//! Vegas (Brakmo & Peterson 1994): keep between alpha and beta packets in the bottleneck's queue.

use rampcc::Time;

use super::{Growth, Reno};
use crate::VegasConfig;

/// Linux needs more than two samples in a round to trust its minimum.
const SAMPLES_MIN: u32 = 3;

/// The state of Vegas.
#[derive(Clone, Debug)]
pub(crate) struct Vegas {
    config: VegasConfig,
    reno: Reno,
    round_end: u64,
    round_min: Time,
    round_sum: Time,
    samples: u32,
    step: Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Grow,
    Hold,
}

impl Vegas {
    pub(crate) fn new(config: VegasConfig) -> Self {
        Self {
            config,
            reno: Reno::new(config.mean_rtt),
            round_end: 0,
            round_min: Time::NEVER,
            round_sum: Time::ZERO,
            samples: 0,
            step: Step::Hold,
        }
    }

    pub(crate) fn on_ack(&mut self, growth: &Growth) -> u64 {
        if let Some(rtt) = growth.rtt {
            self.round_min = self.round_min.min(rtt);
            self.round_sum += rtt;
            self.samples += 1;
        }
        let mut cwnd = growth.cwnd;
        if growth.una > self.round_end {
            cwnd = self.end_round(growth);
            self.round_end = growth.next;
            self.round_min = Time::NEVER;
            self.round_sum = Time::ZERO;
            self.samples = 0;
        }
        if self.config.mean_rtt && self.step == Step::Grow {
            // ns-2 spreads the step over the round.
            cwnd = self.reno.on_ack(&Growth { cwnd, ..*growth });
        }
        cwnd
    }

    pub(crate) fn on_loss(&mut self, flight: u64) -> u64 {
        self.reset();
        if self.config.mean_rtt { flight / 4 * 3 } else { flight / 2 }
    }

    pub(crate) fn reset(&mut self) {
        self.reno.reset();
        self.step = Step::Hold;
        self.samples = 0;
        self.round_min = Time::NEVER;
        self.round_sum = Time::ZERO;
    }

    fn end_round(&mut self, growth: &Growth) -> u64 {
        let enough = if self.config.mean_rtt { 1 } else { SAMPLES_MIN };
        if self.samples < enough {
            // Without an estimate it is Reno (Linux).
            self.step = Step::Hold;
            return if self.config.mean_rtt { growth.cwnd } else { growth.cwnd.saturating_add(growth.mss) };
        }
        let rtt = if self.config.mean_rtt {
            self.round_sum.ns() / u64::from(self.samples)
        } else {
            self.round_min.ns()
        };
        match verdict(&self.config, growth.cwnd, growth.mss, growth.min_rtt.ns(), rtt) {
            std::cmp::Ordering::Less if self.config.mean_rtt => {
                self.step = Step::Grow;
                growth.cwnd
            }
            std::cmp::Ordering::Less => growth.cwnd.saturating_add(growth.mss),
            std::cmp::Ordering::Equal => {
                self.step = Step::Hold;
                growth.cwnd
            }
            std::cmp::Ordering::Greater => {
                self.step = Step::Hold;
                growth.cwnd.saturating_sub(growth.mss).max(2 * growth.mss)
            }
        }
    }
}

/// Whether fewer packets than alpha are queued, more than beta, or neither. `queued = cwnd x (1 - base/rtt)`.
fn verdict(config: &VegasConfig, cwnd: u64, mss: u64, base_ns: u64, rtt_ns: u64) -> std::cmp::Ordering {
    let queued = u128::from(cwnd) * u128::from(rtt_ns.saturating_sub(base_ns));
    let packets = |n: u32| u128::from(n) * u128::from(mss) * u128::from(rtt_ns);
    if queued < packets(config.alpha_packets) {
        std::cmp::Ordering::Less
    } else if queued > packets(config.beta_packets) {
        std::cmp::Ordering::Greater
    } else {
        std::cmp::Ordering::Equal
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering::{Equal, Greater, Less};

    use super::*;

    #[test]
    fn compares_the_backlog_with_its_thresholds() {
        let linux = VegasConfig { alpha_packets: 2, beta_packets: 4, mean_rtt: false };
        let ns2 = VegasConfig { alpha_packets: 1, beta_packets: 3, mean_rtt: true };
        for (rtt, with_linux, with_ns2) in [(101, Less, Less), (103, Equal, Equal), (105, Greater, Greater)] {
            assert_eq!(verdict(&linux, 100_000, 1000, 100, rtt), with_linux, "{rtt}");
            assert_eq!(verdict(&ns2, 100_000, 1000, 100, rtt), with_ns2, "{rtt}");
        }
    }

    fn round(vegas: &mut Vegas, cwnd: u64, rtt: Time, number: u64) -> u64 {
        let mut window = cwnd;
        for i in 0..10 {
            window = vegas.on_ack(&Growth {
                now: Time::ZERO,
                cwnd: window,
                acked: cwnd / 10,
                mss: 1000,
                min_rtt: Time::from_ms(100),
                rtt: Some(rtt),
                una: 10 * number + i,
                next: 10 * number + i + 10,
            });
        }
        window
    }

    #[test]
    fn moves_by_one_segment_per_round() {
        for mean_rtt in [false, true] {
            let mut vegas = Vegas::new(VegasConfig { alpha_packets: 2, beta_packets: 4, mean_rtt });
            let mut cwnd = 100_000;
            for number in 1..12 {
                cwnd = round(&mut vegas, cwnd, Time::from_ms(101), number);
            }
            assert!((105_000..=111_000).contains(&cwnd), "{cwnd}");
            let grown = cwnd;
            for number in 12..15 {
                cwnd = round(&mut vegas, cwnd, Time::from_ms(110), number);
            }
            assert!(cwnd < grown, "{cwnd}");
        }
    }
}

//! Random early detection.
//!
//! Source: Floyd & Jacobson (1993), with the `gentle` and `wait` variants of ns-2 (`red.cc`). With `wait` no packet is
//! dropped sooner than 1/p after the one before. Without it RED is FreeBSD's dummynet (`red_drops`, `dummynet_io`): the gap is
//! uniform up to 1/p, as in that paper, a packet that finds the queue full does not move the average, and idle time counts
//! as packets of 512 bytes. Thresholds and the average are in packets.
//!
//! Packets that it may mark it marks up to the upper threshold, and drops above it, as ns-2 with its `mark_p_`, which is
//! 0.1 like its `max_p`: so much congestion that marks have not helped (RFC 3168 §7).

use super::Arrival;
use crate::config::{Capacity, LinkConfig, QueueConfig};
use crate::random::{self, Purpose, Stream};

/// `red_avg_pkt_size` of dummynet.
const DUMMYNET_PACKET: u32 = 512;

#[derive(Clone, Debug)]
pub(super) struct Red {
    law: Law,
    ecn: bool,
    weight: f64,
    average: f64,
    /// Packets since the last drop.
    count: u64,
    /// Whether the average was above the lower threshold at the last arrival.
    above: bool,
    /// Tells how many packets could have left while the link was idle.
    capacity: Capacity,
    stream: Stream,
}

/// How likely a drop is, given the average.
#[derive(Clone, Copy, Debug)]
struct Law {
    min: f64,
    max: f64,
    max_p: f64,
    gentle: bool,
    wait: bool,
}

impl Red {
    /// The queue of `config` must be RED.
    pub(super) fn new(config: &LinkConfig, seed: u64) -> Self {
        let QueueConfig::Red { min, max, weight, max_p, gentle, wait, ecn, .. } = config.queue else {
            unreachable!("the caller has matched RED");
        };
        Self {
            law: Law { min, max, max_p, gentle, wait },
            ecn,
            weight,
            average: 0.0,
            count: 0,
            above: false,
            capacity: config.capacity.clone(),
            stream: Stream::new(seed, Purpose::Queue),
        }
    }

    /// Whether to drop or mark the arriving packet, which is dropped anyway if the queue is `full`.
    pub(super) fn drops(&mut self, arrival: &Arrival, waiting: u64, full: bool) -> bool {
        if full && !self.law.wait {
            return false;
        }
        let missed = if waiting == 0 { self.missed_while_idle(arrival) } else { 0 };
        self.average = averaged(self.average, self.weight, waiting as f64, missed);
        self.count = self.count.saturating_add(1);
        let early = self.drops_early(waiting);
        if early || full {
            self.count = 0;
        }
        early
    }

    /// Whether what it has just chosen is to be marked rather than dropped, if that can be.
    pub(super) fn marks(&self) -> bool {
        self.ecn && self.average < self.law.max
    }

    fn drops_early(&mut self, waiting: u64) -> bool {
        if self.average < self.law.min || waiting <= 1 && self.law.wait {
            self.above = false;
            return false;
        }
        if self.average >= self.law.certain_from() {
            return true;
        }
        if !self.above {
            self.above = true;
            self.count = 1;
            return false;
        }
        let probability = self.law.spread(self.law.probability(self.average), self.count);
        random::unit(self.stream.bits()) < probability
    }

    /// Packets that could have left since the link became idle, of the arriving one's size or dummynet's.
    fn missed_while_idle(&self, arrival: &Arrival) -> u64 {
        let bytes = self.capacity.bytes_between(arrival.idle_since, arrival.now);
        let size = if self.law.wait { arrival.bytes.max(1) } else { DUMMYNET_PACKET };
        bytes / u64::from(size)
    }
}

impl Law {
    /// From this average on every packet is dropped.
    fn certain_from(&self) -> f64 {
        if self.gentle { 2.0 * self.max } else { self.max }
    }

    /// `p_b`: the drop probability before drops are spread.
    fn probability(&self, average: f64) -> f64 {
        let probability = if average >= self.certain_from() {
            1.0
        } else if average >= self.max {
            self.max_p + (1.0 - self.max_p) * (average - self.max) / self.max
        } else {
            self.max_p * (average - self.min) / (self.max - self.min)
        };
        probability.clamp(0.0, 1.0)
    }

    /// `p_a`: the drop probability `count` packets after the last drop.
    fn spread(&self, probability: f64, count: u64) -> f64 {
        let waited = count as f64 * probability;
        let from = if self.wait { 1.0 } else { 0.0 };
        if waited < from {
            0.0
        } else if waited < from + 1.0 {
            probability / (from + 1.0 - waited)
        } else {
            1.0
        }
    }
}

/// The average after `missed` arrivals to an empty queue and one to a queue of `waiting`.
fn averaged(average: f64, weight: f64, waiting: f64, missed: u64) -> f64 {
    let aged = if missed == 0 || average == 0.0 {
        average
    } else {
        average * libm::pow(1.0 - weight, missed as f64)
    };
    (1.0 - weight) * aged + weight * waiting
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limit;
    use rampcc::{Rate, Time};

    const LAW: Law = Law { min: 20.0, max: 80.0, max_p: 0.1, gentle: true, wait: true };

    fn close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
    }

    #[test]
    fn probabilities_are_linear_between_thresholds() {
        for (average, probability) in
            [(20.0, 0.0), (35.0, 0.025), (50.0, 0.05), (79.0, 0.098_333), (80.0, 0.1)]
        {
            close(LAW.probability(average), probability, 1e-6);
        }
        close(LAW.probability(100.0), 0.325, 1e-12);
        close(LAW.probability(160.0), 1.0, 0.0);
        let classic = Law { gentle: false, ..LAW };
        close(classic.probability(79.999_999), 0.1, 1e-6);
        close(classic.probability(80.0), 1.0, 0.0);
    }

    #[test]
    fn a_full_queue_is_noticed_late() {
        let mut average = 0.0;
        for arrivals in 1..=1000 {
            average = averaged(average, 0.002, 100.0, 0);
            match arrivals {
                100 => close(average, 18.14, 0.01),
                500 => close(average, 63.25, 0.01),
                1000 => close(average, 86.49, 0.01),
                _ => {}
            }
        }
    }

    #[test]
    fn drops_are_spread_in_the_wait_form() {
        // The form of the paper, p / (1 - count p), 1/p packets later.
        for (count, probability) in [(0, 0.05), (5, 0.066_667), (10, 0.1), (18, 0.5), (19, 1.0)] {
            close(LAW.spread(0.05, count + 20), probability, 1e-6);
        }
        assert!((0..20).all(|count| LAW.spread(0.05, count) <= 0.0));
        close(LAW.spread(0.05, u64::MAX), 1.0, 0.0);
        close(LAW.spread(0.0, u64::MAX), 0.0, 0.0);
    }

    fn red(rate: u64, wait: bool) -> Red {
        let limit = Limit::Packets(100);
        let queue = QueueConfig::Red {
            limit,
            min: 20.0,
            max: 80.0,
            weight: 0.002,
            max_p: 0.1,
            gentle: true,
            wait,
            ecn: false,
        };
        let config = LinkConfig::constant(Rate::from_bits_per_s(rate), Time::ZERO, Limit::Unlimited);
        Red { average: 50.0, ..Red::new(&LinkConfig { queue, ..config }, 9) }
    }

    /// To a link that is busy.
    const BUSY: Arrival = Arrival { now: Time::ZERO, waits: true, idle_since: Time::NEVER, bytes: 1500 };

    #[test]
    fn dummynet_ages_it_by_512_bytes_and_not_by_what_overflows() {
        let mut red = red(12_000_000, false);
        red.average = 50.0;
        let now = Time::from_secs(1) + Time::from_ms(100);
        // 150 000 bytes in 100 ms are 292 of 512 bytes; then the arrival itself.
        red.drops(&Arrival { now, waits: false, idle_since: Time::from_secs(1), bytes: 1500 }, 0, false);
        close(red.average, 50.0 * libm::pow(0.998, 293.0), 1e-9);
        let before = red.average;
        assert!(!red.drops(&BUSY, 100, true));
        close(red.average, before, 0.0);
    }

    #[test]
    fn idle_time_ages_the_average_as_so_many_packets() {
        let mut red = red(12_000_000, true);
        // 1500 bytes take 1 ms: 100 packets could have left.
        let now = Time::from_us(1_100_900);
        red.drops(&Arrival { now, waits: false, idle_since: Time::from_secs(1), bytes: 1500 }, 0, false);
        close(red.average, 50.0 * libm::pow(0.998, 101.0), 1e-9);
        let before = red.average;
        red.drops(&BUSY, 0, false);
        close(red.average, 0.998 * before, 1e-9);
    }

    #[test]
    fn the_first_packet_above_the_threshold_is_spared_and_gaps_are_even() {
        let mut red = red(1, true);
        let drops: Vec<u64> = (0..60_000).filter(|_| red.drops(&BUSY, 50, false)).collect();
        assert!(drops[0] > 1);
        // Gaps are uniform over 1/p..2/p packets: 20 to 39, 30 on average.
        let gaps: Vec<u64> = drops.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| (20..=40).contains(gap)));
        close(gaps.iter().sum::<u64>() as f64 / gaps.len() as f64, 29.8, 0.6);
    }

    #[test]
    fn without_waiting_gaps_are_even_from_the_first_packet_on() {
        let mut red = red(1, false);
        let drops: Vec<u64> = (0..60_000).filter(|_| red.drops(&BUSY, 50, false)).collect();
        // Uniform over 1..1/p packets, 1 to 20.
        let gaps: Vec<u64> = drops.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| (1..=20).contains(gap)));
        close(gaps.iter().sum::<u64>() as f64 / gaps.len() as f64, 10.0, 0.5);
    }

    #[test]
    fn a_drop_by_a_full_queue_begins_a_new_gap() {
        let mut red = red(1, true);
        for _ in 0..19 {
            assert!(!red.drops(&BUSY, 50, false));
        }
        red.drops(&BUSY, 50, true);
        for i in 0..19 {
            assert!(!red.drops(&BUSY, 50, false), "{i} packets after a drop");
        }
    }
}

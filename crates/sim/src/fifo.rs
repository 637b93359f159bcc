//! The plainest links, reduced to what decides a packet's fate.
//!
//! Constant rate, drop-tail, constant delay, no loss, no filter, at most a router that serves in ticks: most links of most scenarios. [`rampcc_path::Link`]
//! plays them as well and is what they mean; a test holds the two to the same nanosecond. This one keeps no packets
//! and asks no questions that such a link answers with no, which makes a bulk transfer twice as fast.

use rampcc::Time;
use rampcc_path::{Capacity, Count, Grant, Limit, LinkConfig, LossConfig, Propagation, QueueConfig};

use crate::ring::Ring;
use crate::stage::add;

/// Rates up to this one keep packets further apart than a link whose delay varies would ([`Link`](rampcc_path::Link)).
const SPACED_BELOW_BITS_PER_S: u64 = 100_000_000_000;

/// A link of constant rate and delay behind a drop-tail queue, which packets may have to wait to join for a grant.
///
/// Invariant: packets come in order of time.
#[derive(Debug)]
pub(crate) struct Fifo {
    bits_per_s: u64,
    delay: Time,
    /// When the server has nothing left to do, rounded down.
    idle_from: Time,
    /// What `idle_from` lacks, in nanoseconds over `bits_per_s`: no service time is ever rounded.
    remainder: u64,
    /// The last two sizes seen that the queue can hold: data and ACKs share links.
    service: [Service; 2],
    /// Packets of other sizes that have come.
    others: Count,
    limit_packets: u64,
    limit_bytes: u64,
    /// When each waiting packet's service begins, and its wire bytes.
    waiting: Ring<(Time, u32)>,
    waiting_bytes: u64,
    peak: Count,
    /// A packet finds the place of one that left less than this long before it still taken.
    tie: Time,
    /// Boxed: few links have it, and there may be many links.
    grant: Option<Box<Grant>>,
}

/// A size of packets: how long it is served, and how many have come.
#[derive(Clone, Copy, Debug, Default)]
struct Service {
    wire_bytes: u32,
    time: Time,
    remainder: u64,
    packets: u64,
}

/// A link that does nothing but to delay: its rate is unlimited.
#[derive(Debug)]
pub(crate) struct Wire {
    delay: Time,
    pub(crate) arrived: Count,
}

impl Wire {
    /// The link of `config`, if it is as plain as that.
    pub(crate) fn new(config: &LinkConfig) -> Option<Self> {
        let Propagation::Constant(delay) = config.delay.propagation else { return None };
        let plain = config.capacity == Capacity::Unlimited
            && matches!(config.queue, QueueConfig::DropTail { .. })
            && is_bare(config)
            && config.delay.jitter.is_none();
        plain.then(|| Self { delay, arrived: Count::default() })
    }

    /// When a packet that enters at `now` reaches the far end.
    #[inline]
    pub(crate) fn settle(&mut self, now: Time, wire_bytes: u32) -> Time {
        add(&mut self.arrived, wire_bytes);
        now + self.delay
    }
}

/// Whether nothing is lost, filtered or reordered.
fn is_bare(config: &LinkConfig) -> bool {
    config.loss == LossConfig::None && config.ack_filter.is_none() && config.delay.reordering.is_none()
}

impl Fifo {
    /// The link of `config`, if it is as plain as that.
    pub(crate) fn new(config: &LinkConfig, seed: u64) -> Option<Self> {
        let Capacity::Constant(rate) = config.capacity else { return None };
        let QueueConfig::DropTail { limit } = config.queue else { return None };
        let Propagation::Constant(delay) = config.delay.propagation else { return None };
        let grant = config.delay.jitter.as_ref().and_then(|jitter| Grant::unbounded(jitter, seed));
        let granted = grant.is_some() && rate.bits_per_s() <= SPACED_BELOW_BITS_PER_S;
        let plain = rate.bits_per_s() > 0 && is_bare(config) && (config.delay.jitter.is_none() || granted);
        let (limit_packets, limit_bytes) = match limit {
            Limit::Packets(packets) => (packets, u64::MAX),
            Limit::Bytes(bytes) => (u64::MAX, bytes),
            Limit::Unlimited => (u64::MAX, u64::MAX),
        };
        plain.then(|| Self {
            bits_per_s: rate.bits_per_s(),
            delay,
            idle_from: Time::ZERO,
            remainder: 0,
            service: [Service::default(); 2],
            others: Count::default(),
            limit_packets,
            limit_bytes,
            waiting: Ring::default(),
            waiting_bytes: 0,
            peak: Count::default(),
            tie: config.ties.margin(),
            grant: grant.map(Box::new),
        })
    }

    /// When a packet that enters at `now` reaches the far end; `None`: it is dropped.
    #[inline]
    pub(crate) fn settle(&mut self, mut now: Time, wire_bytes: u32) -> Option<Time> {
        if let Some(grant) = &mut self.grant {
            now = grant.next(now, wire_bytes);
        }
        if self.service[0].wire_bytes != wire_bytes && !self.learn(wire_bytes) {
            self.forget_served(now);
            add(&mut self.others, wire_bytes);
            return None;
        }
        self.service[0].packets += 1;
        let service = self.service[0];
        if self.idle_from < now {
            if !self.waiting.is_empty() {
                self.waiting.clear();
                self.waiting_bytes = 0;
            }
            self.remainder = service.remainder;
            self.idle_from = now + service.time;
        } else {
            if !self.wait(now, wire_bytes) {
                return None;
            }
            self.idle_from += service.time;
            let (remainder, wrapped) = self.remainder.overflowing_add(service.remainder);
            self.remainder = remainder;
            if wrapped || remainder >= self.bits_per_s {
                self.remainder = remainder.wrapping_sub(self.bits_per_s);
                self.idle_from += Time::from_ns(1);
            }
        }
        Some(self.idle_from + self.delay)
    }

    /// Everything that has come, whatever became of it.
    pub(crate) fn arrived(&self) -> Count {
        self.service.iter().fold(self.others, |others, size| size.count(others))
    }

    /// What waited when the last packet had entered.
    #[inline]
    pub(crate) fn queue(&self) -> Count {
        Count { packets: self.waiting.len() as u64, bytes: self.waiting_bytes }
    }

    /// Most that ever waited, packets and bytes each at their own peak.
    pub(crate) fn peak(&self) -> Count {
        self.peak
    }

    /// Lets a packet wait for its turn, which may have come; `false`: there is no room.
    #[inline]
    fn wait(&mut self, now: Time, wire_bytes: u32) -> bool {
        self.forget_served(now);
        if self.idle_from + self.tie == now {
            return true;
        }
        let bytes = self.waiting_bytes + u64::from(wire_bytes);
        let packets = self.waiting.len() as u64 + 1;
        if packets > self.limit_packets || bytes > self.limit_bytes {
            return false;
        }
        *self.waiting.push_back() = (self.idle_from, wire_bytes);
        self.waiting_bytes = bytes;
        self.peak.packets = self.peak.packets.max(packets);
        self.peak.bytes = self.peak.bytes.max(bytes);
        true
    }

    #[inline]
    fn forget_served(&mut self, now: Time) {
        let until = now - self.tie;
        while let Some(&(start, wire_bytes)) = self.waiting.front()
            && start <= until
        {
            self.waiting.pop_front();
            self.waiting_bytes -= u64::from(wire_bytes);
        }
    }

    /// Finds the service time of a size, and puts it first. Returns whether the queue can hold it at all.
    #[cold]
    fn learn(&mut self, wire_bytes: u32) -> bool {
        if u64::from(wire_bytes) > self.limit_bytes {
            return false;
        }
        self.service.swap(0, 1);
        if self.service[0].wire_bytes != wire_bytes {
            self.others = self.service[0].count(self.others);
            let work = u128::from(wire_bytes) * 8_000_000_000;
            let rate = u128::from(self.bits_per_s);
            let time = Time::from_ns(u64::try_from(work / rate).unwrap_or(u64::MAX));
            self.service[0] = Service { wire_bytes, time, remainder: (work % rate) as u64, packets: 0 };
        }
        true
    }
}

impl Service {
    /// `others` and the packets of this size.
    fn count(&self, others: Count) -> Count {
        Count {
            packets: others.packets + self.packets,
            bytes: others.bytes + self.packets * u64::from(self.wire_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rampcc::Rate;
    use rampcc_path::{DelayConfig, Jitter, Link, Packet, Ties};

    use super::*;

    #[derive(Clone, Copy, Debug)]
    struct Sized(u32);

    impl Packet for Sized {
        fn wire_bytes(&self) -> u32 {
            self.0
        }
        fn flow(&self) -> u32 {
            0
        }
        fn pure_ack(&self) -> bool {
            false
        }
    }

    fn config(rate: u64, delay: u64, limit: Limit, ties: Ties) -> LinkConfig {
        let propagation = Propagation::Constant(Time::from_ns(delay));
        LinkConfig {
            capacity: Capacity::Constant(Rate::from_bits_per_s(rate)),
            queue: QueueConfig::DropTail { limit },
            delay: DelayConfig { propagation, jitter: None, reordering: None },
            loss: LossConfig::None,
            ack_filter: None,
            quick_start: rampcc_path::QuickStartPolicy::Unaware,
            ties,
        }
    }

    fn granted(mut config: LinkConfig, grants: Option<(Time, Time)>) -> LinkConfig {
        config.delay.jitter = grants.map(|(period, jitter)| Jitter::Grant { period, jitter, demand: None });
        config
    }

    fn limits() -> impl Strategy<Value = Limit> {
        prop_oneof![
            (0u64..6).prop_map(Limit::Packets),
            (0u64..9_000).prop_map(Limit::Bytes),
            Just(Limit::Unlimited),
        ]
    }

    proptest! {
        #[test]
        fn agrees_with_the_link_it_stands_for(
            rate in prop_oneof![1u64..100, 1_000_000u64..10_000_000_000, Just(u64::MAX)],
            delay in 0u64..10_000_000,
            limit in limits(),
            ties in prop_oneof![Just(Ties::Departure), Just(Ties::Arrival)],
            grants in proptest::option::of((0u64..100_000, 0u64..20_000)),
            packets in proptest::collection::vec((0u64..30_000, prop_oneof![Just(40u32), Just(1500), 1u32..9_000]), 1..200),
        ) {
            let grants = grants.filter(|_| rate <= SPACED_BELOW_BITS_PER_S);
            let grants = grants.map(|(period, jitter)| (Time::from_ns(period), Time::from_ns(jitter)));
            let config = granted(config(rate, delay, limit, ties), grants);
            let mut fifo = Fifo::new(&config, 7).expect("a plain link");
            let mut link = Link::new(&config, 7);
            let mut now = Time::ZERO;
            let mut arrived = Count::default();
            for (gap, wire_bytes) in packets {
                add(&mut arrived, wire_bytes);
                now += Time::from_ns(gap);
                let mut dropped = false;
                link.handle_packet(now, Sized(wire_bytes), &mut |_, _, _| dropped = true);
                let arrival = (!dropped).then(|| link.poll_timeout());
                if let Some(arrival) = arrival {
                    let polled = link.poll_packet(arrival, &mut |_, _, _| {});
                    // A packet that never arrives stays.
                    prop_assume!(polled.is_some());
                }
                prop_assert_eq!(fifo.settle(now, wire_bytes), arrival);
                let queue = Count { packets: link.queue_packets(now), bytes: link.queue_bytes(now) };
                prop_assert_eq!(fifo.queue(), queue);
                prop_assert_eq!(fifo.arrived(), arrived);
            }
            prop_assert_eq!(fifo.peak(), link.totals().peak_queue);
        }
    }

    #[test]
    fn a_wire_is_a_link_of_unlimited_rate() {
        let mut config = config(1, 5_000, Limit::Packets(1), Ties::Departure);
        config.capacity = Capacity::Unlimited;
        let mut wire = Wire::new(&config).expect("a plain link");
        let mut link = Link::new(&config, 0);
        for (now, wire_bytes) in [(0, 40), (0, 1500), (7, 9000)] {
            link.handle_packet(Time::from_ns(now), Sized(wire_bytes), &mut |_, _, _| unreachable!());
            let arrival = link.poll_timeout();
            assert!(link.poll_packet(arrival, &mut |_, _, _| {}).is_some());
            assert_eq!(wire.settle(Time::from_ns(now), wire_bytes), arrival);
            assert_eq!(link.queue_packets(Time::from_ns(now)), 0);
        }
        assert_eq!((wire.arrived, Count::default()), (link.totals().arrived, link.totals().peak_queue));
        assert!(Wire::new(&granted(config, Some((Time::from_ms(1), Time::ZERO)))).is_none());
    }

    #[test]
    fn anything_special_is_left_to_the_link() {
        let mut lossy = config(1_000, 0, Limit::Unlimited, Ties::Departure);
        lossy.loss = LossConfig::Random { probability: 0.1 };
        assert!(Fifo::new(&lossy, 0).is_none());
        assert!(Fifo::new(&config(0, 0, Limit::Unlimited, Ties::Departure), 0).is_none());
        let fast = config(SPACED_BELOW_BITS_PER_S + 1, 0, Limit::Unlimited, Ties::Departure);
        assert!(Fifo::new(&granted(fast, Some((Time::from_ms(1), Time::ZERO))), 0).is_none());
    }
}

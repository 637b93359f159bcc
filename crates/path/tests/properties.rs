//! What holds for every link: nothing is lost or made, order is kept, and polling changes nothing.

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::{Parcel, Played, ack, data, markable, play};

use proptest::prelude::*;
use rampcc::{Rate, Time};
use rampcc_path::{
    AckFilter, Capacity, DelayConfig, Demand, Jitter, Limit, Link, LinkConfig, LossConfig, Opportunities,
    Propagation, QueueConfig, QuickStartPolicy, Reordering, Ties,
};

fn rate() -> impl Strategy<Value = Rate> {
    prop_oneof![Just(0), Just(1), 1_000u64..1_000_000, 1_000_000u64..1_000_000_000, Just(1_000_000_000_000)]
        .prop_map(Rate::from_bits_per_s)
}

fn us(most: u64) -> impl Strategy<Value = Time> {
    (0..=most).prop_map(Time::from_us)
}

/// Ascending times from zero, each with a value.
fn steps<T: Clone + std::fmt::Debug>(
    values: impl Strategy<Value = T>,
) -> impl Strategy<Value = Arc<[(Time, T)]>> {
    proptest::collection::vec((1u64..20_000, values), 1..6).prop_map(|gaps| {
        let mut at = 0;
        let steps = gaps.into_iter().map(|(gap, value)| {
            let step = (Time::from_us(at), value);
            at += gap;
            step
        });
        steps.collect()
    })
}

fn opportunities() -> impl Strategy<Value = Opportunities> {
    let gaps = proptest::collection::vec(0u64..8, 1..40);
    (gaps, 1u64..5, 1u32..4_000, us(50_000)).prop_map(|(gaps, last, bytes, offset)| {
        let mut ms = 0;
        let mut at: Vec<Time> = Vec::new();
        for gap in gaps {
            ms += gap;
            at.push(Time::from_ms(ms));
        }
        at.push(Time::from_ms(ms + last));
        Opportunities { period: Time::from_ms(ms + last), at: at.into(), bytes, offset }
    })
}

fn capacity() -> impl Strategy<Value = Capacity> {
    prop_oneof![
        Just(Capacity::Unlimited),
        rate().prop_map(Capacity::Constant),
        (steps(rate()), proptest::option::of(us(60_000)))
            .prop_map(|(steps, period)| Capacity::Steps { steps, period }),
        opportunities().prop_map(Capacity::Trace),
    ]
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (0u64..40_000).prop_map(Limit::Bytes),
        (0u64..20).prop_map(Limit::Packets),
        Just(Limit::Unlimited)
    ]
}

fn queue() -> impl Strategy<Value = QueueConfig> {
    let red = (limit(), 0.5f64..5.0, 1.0f64..10.0, 0.0f64..=1.0, 0.0f64..=1.0, any::<[bool; 3]>()).prop_map(
        |(limit, min, room, weight, max_p, [gentle, wait, ecn])| QueueConfig::Red {
            limit,
            min,
            max: min + room,
            weight,
            max_p,
            gentle,
            wait,
            ecn,
        },
    );
    let codel = (limit(), us(10_000), us(100_000), any::<bool>());
    let random = (limit(), 0u64..20_000, 0.0f64..=1.0);
    let policer = (limit(), 1u64..100_000_000, 0u64..50_000);
    prop_oneof![
        limit().prop_map(|limit| QueueConfig::DropTail { limit }),
        policer.prop_map(|(limit, bits, burst_bytes)| QueueConfig::Policer {
            limit,
            rate: Rate::from_bits_per_s(bits),
            burst_bytes
        }),
        red,
        codel.prop_map(|(limit, target, interval, ecn)| QueueConfig::CoDel { limit, target, interval, ecn }),
        random.prop_map(|(limit, above_bytes, probability)| QueueConfig::RandomDrop {
            limit,
            above_bytes,
            probability
        }),
    ]
}

fn demand() -> impl Strategy<Value = Demand> {
    (0u64..4_000, us(600_000), 1u32..4).prop_map(|(assured_bytes, delay, free)| Demand {
        assured_bytes,
        delay,
        free,
    })
}

fn jitter() -> impl Strategy<Value = Jitter> {
    let leaf = prop_oneof![
        (us(20_000), us(5_000)).prop_map(|(max, step)| Jitter::Uniform { max, step }),
        (us(9_000), us(9_000), us(5_000)).prop_map(|(mean, sigma, step)| Jitter::Normal {
            mean,
            sigma,
            step
        }),
        (us(9_000), 0.3f64..4.0, us(90_000), us(5_000))
            .prop_map(|(median, shape, max, step)| Jitter::Pareto { median, shape, max, step }),
        (us(9_000), us(90_000)).prop_map(|(amplitude, period)| Jitter::Sine { amplitude, period }),
        (us(50_000), us(90_000), proptest::option::of(demand()))
            .prop_map(|(period, jitter, demand)| Jitter::Grant { period, jitter, demand }),
    ];
    prop_oneof![4 => leaf.clone(), 1 => proptest::collection::vec(leaf, 0..4).prop_map(Jitter::Sum)]
}

fn propagation() -> impl Strategy<Value = Propagation> {
    prop_oneof![
        us(300_000).prop_map(Propagation::Constant),
        (steps(us(50_000)), proptest::option::of(us(60_000)))
            .prop_map(|(steps, period)| Propagation::Steps { steps, period }),
        (proptest::collection::vec(us(50_000), 1..9), 1u64..20_000, us(90_000)).prop_map(
            |(values, step, offset)| {
                Propagation::Trace { values: values.into(), step: Time::from_us(step), offset }
            }
        ),
    ]
}

fn delay(reordering: bool) -> impl Strategy<Value = DelayConfig> {
    let held_back =
        (0.0f64..=1.0, us(9_000)).prop_map(|(probability, delay)| Reordering { probability, delay });
    let held_back =
        proptest::option::of(held_back).prop_map(move |held_back| held_back.filter(|_| reordering));
    (propagation(), proptest::option::of(jitter()), held_back)
        .prop_map(|(propagation, jitter, reordering)| DelayConfig { propagation, jitter, reordering })
}

fn loss() -> impl Strategy<Value = LossConfig> {
    let chance = || 0.0f64..=1.0;
    prop_oneof![
        Just(LossConfig::None),
        chance().prop_map(|probability| LossConfig::Random { probability }),
        (chance(), chance(), chance(), chance()).prop_map(|(to_bad, to_good, good, bad)| {
            LossConfig::GilbertElliott { to_bad, to_good, good, bad }
        }),
        proptest::collection::vec(0u64..200, 0..20).prop_map(|numbers| LossConfig::Listed(numbers.into())),
    ]
}

fn ack_filter() -> impl Strategy<Value = Option<AckFilter>> {
    proptest::option::of(prop_oneof![
        (0u32..9, us(20_000)).prop_map(|(count, hold)| AckFilter::Aggregate { count, hold }),
        (0u32..5, us(20_000)).prop_map(|(keep, hold)| AckFilter::Thin { keep, hold }),
    ])
}

fn ties() -> impl Strategy<Value = Ties> {
    prop_oneof![Just(Ties::Departure), Just(Ties::Arrival)]
}

fn link(reordering: bool) -> impl Strategy<Value = LinkConfig> {
    (capacity(), queue(), delay(reordering), loss(), ack_filter(), ties()).prop_map(
        |(capacity, queue, delay, loss, ack_filter, ties)| {
            let quick_start = QuickStartPolicy::Unaware;
            LinkConfig { capacity, queue, delay, loss, ack_filter, quick_start, ties }
        },
    )
}

/// Bursts and pauses of data and ACKs: gap, size, flow.
fn traffic() -> impl Strategy<Value = Vec<(u64, u32, u32)>> {
    let gap = prop_oneof![3 => Just(0u64), 3 => 0u64..2_000_000, 1 => 0u64..200_000_000];
    let bytes = prop_oneof![2 => Just(0u32), 3 => Just(1500u32), 1 => 1u32..9_000];
    proptest::collection::vec((gap, bytes, 0u32..3), 0..200)
}

/// A size of zero stands for an ACK.
fn parcels(traffic: &[(u64, u32, u32)]) -> impl Iterator<Item = (Time, Parcel)> + '_ {
    let mut now = Time::ZERO;
    traffic.iter().zip(0..).map(move |(&(gap_ns, bytes, flow), id)| {
        now += Time::from_ns(gap_ns);
        let packet = match bytes {
            0 => ack(id, flow),
            _ if id.is_multiple_of(2) => markable(id, bytes),
            _ => data(id, bytes),
        };
        (now, packet)
    })
}

fn is_ack(traffic: &[(u64, u32, u32)], id: u64) -> bool {
    traffic[id as usize].1 == 0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_packet_is_delivered_or_dropped_once_or_inside(
        config in link(true), traffic in traffic(), seed: u64, stop in 0usize..200,
    ) {
        let mut link = Link::new(&config, seed);
        let mut played = Played::default();
        for (index, (now, packet)) in parcels(&traffic).enumerate() {
            played.run_until(&mut link, now);
            played.handle(&mut link, now, packet);
            let totals = link.totals();
            let queue = (link.queue_packets(now), link.queue_bytes(now));
            prop_assert!(queue.0 <= totals.peak_queue.packets && queue.1 <= totals.peak_queue.bytes);
            if index == stop {
                prop_assert_eq!(totals.arrived.packets, totals.delivered.packets + totals.dropped().packets + totals.inside.packets);
                prop_assert_eq!(totals.arrived.bytes, totals.delivered.bytes + totals.dropped().bytes + totals.inside.bytes);
            }
        }
        played.run_until(&mut link, Time::NEVER);
        let totals = link.totals();
        prop_assert_eq!(totals.arrived.packets, traffic.len() as u64);
        prop_assert_eq!(totals.delivered.packets, played.delivered.len() as u64);
        prop_assert_eq!(totals.dropped().packets, played.dropped.len() as u64);
        prop_assert_eq!(totals.arrived.packets, totals.delivered.packets + totals.dropped().packets + totals.inside.packets);
        prop_assert_eq!(totals.arrived.bytes, totals.delivered.bytes + totals.dropped().bytes + totals.inside.bytes);
        let mut ids: Vec<u64> = played.delivered.iter().map(|delivery| delivery.1).chain(played.dropped_ids()).collect();
        ids.sort_unstable();
        let all = ids.len();
        ids.dedup();
        prop_assert_eq!(ids.len(), all, "a packet came out twice");
    }

    #[test]
    fn limits_hold(config in link(true), traffic in traffic(), seed: u64) {
        let mut link = Link::new(&config, seed);
        play(&mut link, parcels(&traffic));
        let peak = link.totals().peak_queue;
        let (QueueConfig::DropTail { limit } | QueueConfig::Red { limit, .. } | QueueConfig::CoDel { limit, .. }
            | QueueConfig::RandomDrop { limit, .. }
            | QueueConfig::Policer { limit, .. }) = config.queue;
        match limit {
            Limit::Bytes(most) => prop_assert!(peak.bytes <= most, "{} > {}", peak.bytes, most),
            Limit::Packets(most) => prop_assert!(peak.packets <= most, "{} > {}", peak.packets, most),
            Limit::Unlimited => {}
        }
    }

    #[test]
    fn order_is_kept_without_reordering(config in link(false), traffic in traffic(), seed: u64) {
        let played = play(&mut Link::new(&config, seed), parcels(&traffic));
        prop_assert!(played.delivered.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        // Held ACKs are overtaken by data, and thinned ones by those of other flows, but not by their own.
        let group = |id: u64| match config.ack_filter {
            Some(AckFilter::Aggregate { .. }) => (is_ack(&traffic, id), 0),
            Some(AckFilter::Thin { .. }) if is_ack(&traffic, id) => (true, traffic[id as usize].2),
            _ => (false, 0),
        };
        let mut last = BTreeMap::new();
        for (_, id, ..) in &played.delivered {
            prop_assert!(last.insert(group(*id), *id).is_none_or(|before| before < *id), "{:?}", played.delivered);
        }
    }

    #[test]
    fn no_packet_is_early(config in link(true), traffic in traffic(), seed: u64) {
        let played = play(&mut Link::new(&config, seed), parcels(&traffic));
        let arrivals: Vec<Time> = parcels(&traffic).map(|(now, _)| now).collect();
        prop_assert!(played.delivered.iter().all(|&(at, id)| at >= arrivals[id as usize]));
        prop_assert!(played.dropped.iter().all(|&(at, id, _)| at >= arrivals[id as usize]));
    }

    #[test]
    fn polling_changes_nothing(config in link(true), traffic in traffic(), seed: u64) {
        let asked = play(&mut Link::new(&config, seed), parcels(&traffic));
        // All packets ahead of the clock, then time goes on.
        let mut link = Link::new(&config, seed);
        let mut ahead = Played::default();
        for (now, packet) in parcels(&traffic) {
            ahead.handle(&mut link, now, packet);
        }
        ahead.run_until(&mut link, Time::NEVER);
        let mut again = play(&mut Link::new(&config, seed), parcels(&traffic));
        prop_assert_eq!(&again.dropped, &asked.dropped, "same seed, same drops");
        again.dropped.sort_by_key(|drop| (drop.0, drop.1));
        ahead.dropped.sort_by_key(|drop| (drop.0, drop.1));
        prop_assert_eq!(again.dropped, ahead.dropped);
        // Late polls see the same times, as the link asks for each of them in turn.
        prop_assert_eq!(asked.delivered, ahead.delivered);
    }

    #[test]
    fn what_is_settled_can_be_taken_out_ahead_of_the_clock(config in link(false), traffic in traffic(), seed: u64) {
        let mut link = Link::new(&config, seed);
        prop_assume!(link.settles_on_arrival());
        let asked = play(&mut Link::new(&config, seed), parcels(&traffic));
        let mut played = Played::default();
        for (now, packet) in parcels(&traffic) {
            played.handle(&mut link, now, packet);
            played.run_until(&mut link, Time::NEVER);
        }
        prop_assert_eq!(played, asked);
    }

    /// CoDel is served packet by packet: a second opinion on queues that reckon departures in advance.
    #[test]
    fn drop_tail_equals_codel_without_a_target(config in link(true), limit in limit(), traffic in traffic(), seed: u64) {
        let config = LinkConfig { ties: Ties::Departure, ..config };
        let drop_tail = LinkConfig { queue: QueueConfig::DropTail { limit }, ..config.clone() };
        let codel = QueueConfig::CoDel { limit, target: Time::NEVER, interval: Time::from_ms(100), ecn: false };
        let (mut at_once, mut in_steps) = (Link::new(&drop_tail, seed), Link::new(&LinkConfig { queue: codel, ..config }, seed));
        let (mut a, mut b) = (Played::default(), Played::default());
        for ((now, first), (_, second)) in parcels(&traffic).zip(parcels(&traffic)) {
            a.run_until(&mut at_once, now);
            b.run_until(&mut in_steps, now);
            prop_assert_eq!(at_once.queue_bytes(now), in_steps.queue_bytes(now));
            a.handle(&mut at_once, now, first);
            b.handle(&mut in_steps, now, second);
            prop_assert_eq!(at_once.queue_packets(now), in_steps.queue_packets(now));
        }
        a.run_until(&mut at_once, Time::NEVER);
        b.run_until(&mut in_steps, Time::NEVER);
        prop_assert_eq!(a, b);
        prop_assert_eq!(at_once.totals(), in_steps.totals());
    }
}

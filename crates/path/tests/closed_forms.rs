//! Links whose every delivery can be worked out by hand.

mod common;

use common::{Parcel, Played, ack, data, markable, mbit, packet_per_ms, play};
use rampcc::{Rate, Time};
use rampcc_path::{
    AckFilter, Capacity, DropReason, Jitter, Limit, Link, LinkConfig, LossConfig, Opportunities, Propagation,
    QueueConfig,
};

const HOUR: Time = Time::from_secs(3600);

fn ms(ms: u64) -> Time {
    Time::from_ms(ms)
}

fn burst(packets: u64) -> impl Iterator<Item = (Time, Parcel)> {
    (0..packets).map(|id| (Time::ZERO, data(id, 1500)))
}

#[test]
fn a_burst_drains_at_the_rate() {
    let mut link = Link::new(&packet_per_ms(40, Limit::Unlimited), 1);
    let played = play(&mut link, burst(100));
    let expected: Vec<_> = (0..100).map(|id| (ms(40 + 1 + id), id)).collect();
    assert_eq!(played.delivered, expected);
    assert_eq!(link.totals().peak_queue.packets, 99, "one is in service");
}

#[test]
fn the_packet_in_service_takes_no_room() {
    let mut link = Link::new(&packet_per_ms(0, Limit::Packets(1)), 1);
    let mut played = Played::default();
    for (now, packet) in burst(4) {
        played.handle(&mut link, now, packet);
    }
    assert_eq!(
        played.dropped,
        [(Time::ZERO, 2, DropReason::Overflow), (Time::ZERO, 3, DropReason::Overflow)]
    );
    assert_eq!((link.queue_packets(Time::ZERO), link.queue_bytes(Time::ZERO)), (1, 1500));
    assert_eq!((link.queue_packets(ms(1)), link.queue_bytes(ms(1))), (0, 0), "its service has begun");
    played.handle(&mut link, ms(1), data(4, 1500));
    played.run_until(&mut link, HOUR);
    assert_eq!(played.delivered, [(ms(1), 0), (ms(2), 1), (ms(3), 4)]);
}

#[test]
fn bytes_are_counted_as_bytes() {
    let mut link = Link::new(&packet_per_ms(0, Limit::Bytes(1600)), 1);
    let packets = [1500, 1500, 40, 61, 60, 1601, 1600];
    let played = play(&mut link, (0..).zip(packets).map(|(id, bytes)| (Time::ZERO, data(id, bytes))));
    let reasons: Vec<_> = played.dropped.iter().map(|drop| (drop.1, drop.2)).collect();
    assert_eq!(reasons, [(3, DropReason::Overflow), (5, DropReason::Oversize), (6, DropReason::Overflow)]);
    assert_eq!(link.totals().dropped_for(DropReason::Overflow).bytes, 61 + 1600);
    assert_eq!(link.totals().dropped_for(DropReason::Oversize).packets, 1);
    assert_eq!(link.totals().peak_queue.bytes, 1600);
}

#[test]
fn an_empty_queue_refuses_what_it_could_never_hold() {
    let mut link = Link::new(&packet_per_ms(0, Limit::Bytes(1000)), 1);
    assert_eq!(play(&mut link, burst(1)).dropped, [(Time::ZERO, 0, DropReason::Oversize)]);
}

/// A sender that starts a round with twice the packets of the round before, faster than the link.
#[test]
fn a_doubling_window_queues_what_the_link_cannot_carry() {
    let mut link = Link::new(&packet_per_ms(50, Limit::Unlimited), 1);
    let mut played = Played::default();
    let (mut now, mut id) = (Time::ZERO, 0);
    for window in [10, 20, 40, 80, 160] {
        played.run_until(&mut link, now);
        assert_eq!(link.queue_packets(now), 0);
        for _ in 0..window {
            played.handle(&mut link, now, data(id, 1500));
            id += 1;
        }
        assert_eq!(link.queue_packets(now), window - 1);
        played.run_until(&mut link, now + ms(50 + window));
        assert_eq!(played.delivered.last(), Some(&(now + ms(50 + window), id - 1)));
        now += ms(200);
    }
}

#[test]
fn the_geo_operator_holds_two_seconds() {
    // 36 MB at 150 Mbit/s are 1.92 s; random drops begin at half of that, 12 000 packets.
    let queue = QueueConfig::RandomDrop {
        limit: Limit::Bytes(36_000_000),
        above_bytes: 18_000_000,
        probability: 0.25,
    };
    let config = LinkConfig { queue, ..LinkConfig::constant(mbit(150), ms(300), Limit::Unlimited) };
    let mut link = Link::new(&config, 7);
    let played = play(&mut link, burst(100_000));
    let first = played.dropped.first().expect("drops").1;
    assert!((12_002..12_040).contains(&first), "first random drop: {first}");
    let early = link.totals().dropped_for(DropReason::Early).packets as f64;
    let kept = 12_000.0;
    assert!((early / (early + kept) - 0.25).abs() < 0.01, "{early} early drops until the queue is full");
    assert_eq!(link.totals().peak_queue.bytes, 36_000_000);
    let last = played.delivered.last().expect("deliveries").0;
    assert_eq!(last, ms(300 + 1_920) + Time::from_us(80), "24 000 packets wait and one is served");
}

#[test]
fn codel_drops_by_its_control_law() {
    // Twice as much arrives as is served: the delay only grows.
    let queue = QueueConfig::CoDel { limit: Limit::Unlimited, target: ms(5), interval: ms(100), ecn: false };
    let config = LinkConfig { queue, ..packet_per_ms(0, Limit::Unlimited) };
    let mut link = Link::new(&config, 1);
    let played = play(&mut link, (0..4_000).map(|id| (Time::from_us(id * 500), data(id, 1500))));
    let times: Vec<Time> = played.dropped.iter().map(|drop| drop.0).collect();
    // Packet n arrives at n/2 ms and is served at n ms: 5 ms of delay from n = 10 on.
    assert_eq!((times[0], played.dropped[0].1), (ms(110), 110));
    let mut law = times[0].secs_f64();
    for (count, pair) in (1..).zip(times.windows(2)).take(30) {
        law += 0.1 / f64::from(count).sqrt();
        let late = pair[1].secs_f64() - law;
        assert!(
            (-1e-9..0.001).contains(&late),
            "drop {count} is {late} s from the law: a departure away at most"
        );
    }
    assert!(played.dropped.iter().all(|drop| drop.2 == DropReason::Early));
}

#[test]
fn codel_marks_by_the_same_law_and_loses_nothing() {
    let queue = QueueConfig::CoDel { limit: Limit::Unlimited, target: ms(5), interval: ms(100), ecn: true };
    let config = LinkConfig { queue, ..packet_per_ms(0, Limit::Unlimited) };
    let arrivals = |packet: fn(u64, u32) -> Parcel| {
        (0..4_000).map(move |id| (Time::from_us(id * 500), packet(id, 1500)))
    };
    let marking = play(&mut Link::new(&config, 1), arrivals(markable));
    assert_eq!((marking.dropped.len(), marking.delivered.len()), (0, 4_000));
    // Packet n leaves at n + 1 ms whatever is marked, and is judged a millisecond before.
    assert_eq!(marking.marked[0], 110);
    let mut law = 110.0;
    for (count, &id) in (1..).zip(&marking.marked[1..]).take(30) {
        law += 100.0 / f64::from(count).sqrt();
        let late = id as f64 - law;
        assert!((-1e-6..1.0).contains(&late), "mark {count} is {late} ms from the law");
    }
    let dropping = play(&mut Link::new(&config, 1), arrivals(data));
    assert_eq!(
        (dropping.dropped[0].1, dropping.marked.len()),
        (110, 0),
        "those that cannot be marked are dropped"
    );
}

#[test]
fn codel_leaves_short_bursts_alone() {
    let queue =
        QueueConfig::CoDel { limit: Limit::Packets(1_000), target: ms(5), interval: ms(100), ecn: false };
    let mut link = Link::new(&LinkConfig { queue, ..packet_per_ms(0, Limit::Unlimited) }, 1);
    // 90 packets every 100 ms: the delay peaks at 90 ms and falls below 5 ms within each interval.
    let bursts = (0..900).map(|id| (ms(id / 90 * 100), data(id, 1500)));
    assert_eq!(play(&mut link, bursts).dropped, []);
}

#[test]
fn red_follows_a_persistent_queue() {
    let red = |gentle| QueueConfig::Red {
        limit: Limit::Packets(100),
        min: 20.0,
        max: 80.0,
        weight: 0.002,
        max_p: 0.1,
        gentle,
        wait: true,
        ecn: false,
    };
    // 1.1 times the rate, for 20 s: one packet in eleven must go.
    let run = |gentle| {
        let mut link = Link::new(&LinkConfig { queue: red(gentle), ..packet_per_ms(0, Limit::Unlimited) }, 3);
        play(&mut link, (0..22_000).map(|id| (Time::from_us(id * 10_000 / 11), data(id, 1500))));
        link.totals()
    };
    let totals = run(true);
    assert!(totals.dropped_for(DropReason::Early).packets > 1_000);
    assert_eq!(totals.dropped().packets + totals.delivered.packets, 22_000);
    assert!((19_800..20_300).contains(&totals.delivered.packets), "the link stays busy");
    assert!(totals.peak_queue.packets <= 100);
    assert!(run(false).dropped().packets > 1_000);
}

#[test]
fn red_marks_up_to_its_upper_threshold_and_drops_above() {
    let queue = QueueConfig::Red {
        limit: Limit::Packets(200),
        min: 20.0,
        max: 80.0,
        weight: 1.0,
        max_p: 0.5,
        gentle: true,
        wait: true,
        ecn: true,
    };
    let config = LinkConfig { queue, ..packet_per_ms(0, Limit::Unlimited) };
    let run = |packet: fn(u64, u32) -> Parcel, count: u64| {
        // A burst at one instant: the first is served, and packet n finds n - 1 waiting, which is the average too.
        play(&mut Link::new(&config, 3), (0..count).map(|id| (Time::ZERO, packet(id, 1500))))
    };
    let marking = run(markable, 81);
    assert_eq!(marking.dropped, []);
    assert!(marking.marked.len() > 2 && marking.marked.iter().all(|&id| id > 20), "{:?}", marking.marked);
    let dropping = run(data, 81);
    assert!(dropping.marked.is_empty() && dropping.dropped.len() > 2);
    assert_eq!(dropping.dropped[0].1, marking.marked[0], "the first to be chosen is the same");
    let beyond = run(markable, 160);
    assert!(beyond.marked.iter().all(|&id| id <= 80), "{:?}", beyond.marked);
    assert!(
        beyond.dropped.len() > 10 && beyond.dropped.iter().all(|drop| drop.1 > 80),
        "{:?}",
        beyond.dropped
    );
}

#[test]
fn a_grant_lets_what_waited_leave_back_to_back() {
    let grant = Jitter::Grant { period: ms(40), jitter: Time::ZERO, demand: None };
    let mut config = packet_per_ms(5, Limit::Unlimited);
    config.delay.jitter = Some(grant);
    let packets = (0..60).map(|id| (ms(id), data(id, 1500)));
    let played = play(&mut Link::new(&config, 1), packets);
    let times: Vec<Time> = played.delivered.iter().map(|delivery| delivery.0).collect();
    let waited = times[0] - ms(6);
    assert!(waited < ms(40), "the first grant comes within one period");
    for (id, at) in times.iter().enumerate() {
        // The first grant serves what came until then; later ones find the link still busy or wait as well.
        let grants = (ms(id as u64) - waited).ns().div_ceil(ms(40).ns());
        let earliest = waited + ms(40 * grants) + ms(6);
        assert!(*at >= earliest && *at >= times[0] + ms(id as u64), "packet {id} at {at}");
    }
    let gaps = times.windows(2).filter(|pair| pair[1] - pair[0] == ms(1)).count();
    assert!(gaps >= 57, "{gaps} of 59 gaps are the link's own");
}

#[test]
fn aggregated_acks_leave_together() {
    let config = LinkConfig {
        capacity: Capacity::Unlimited,
        ack_filter: Some(AckFilter::Aggregate { count: 4, hold: ms(10) }),
        ..packet_per_ms(5, Limit::Unlimited)
    };
    let acks = (0..10).map(|id| (ms(id), ack(id, 0)));
    let played = play(&mut Link::new(&config, 1), acks);
    let times: Vec<u64> = played.delivered.iter().map(|delivery| delivery.0.us() / 1_000).collect();
    assert_eq!(
        times,
        [8, 8, 8, 8, 12, 12, 12, 12, 23, 23],
        "four together, or ten milliseconds after the first"
    );
    let data_passes = play(&mut Link::new(&config, 1), [(ms(0), ack(0, 0)), (ms(1), data(1, 1500))]);
    assert_eq!(data_passes.delivered, [(ms(6), 1), (ms(15), 0)]);
}

#[test]
fn thinning_keeps_the_newest_of_so_many_of_each_flow() {
    let filter = AckFilter::Thin { keep: 3, hold: ms(100) };
    let config = LinkConfig { ack_filter: Some(filter), ..packet_per_ms(0, Limit::Unlimited) };
    let packets =
        (0..14).map(|id| (ms(id * 10), if id == 5 { data(id, 1500) } else { ack(id, (id % 2) as u32) }));
    let mut link = Link::new(&config, 1);
    let played = play(&mut link, packets);
    let kept: Vec<u64> = played.delivered.iter().map(|delivery| delivery.1).collect();
    assert_eq!(
        kept,
        [4, 5, 7, 10, 13, 12],
        "every third of 0 2 4 6 8 10 12 and of 1 3 7 9 11 13, and the last"
    );
    assert_eq!(link.totals().dropped_for(DropReason::Thinned).packets, 8);
}

#[test]
fn thinning_never_keeps_the_last_ack_of_a_flight_for_longer_than_it_holds() {
    for keep in 1..9 {
        let config = LinkConfig {
            capacity: Capacity::Unlimited,
            ack_filter: Some(AckFilter::Thin { keep, hold: ms(7) }),
            ..packet_per_ms(0, Limit::Unlimited)
        };
        let flights = (0..8)
            .flat_map(|flight| (0..10).map(move |at| (ms(100 * flight + at), ack(10 * flight + at, 0))));
        let played = play(&mut Link::new(&config, 1), flights);
        for last in (0..8).map(|flight| 10 * flight + 9) {
            let (at, _) =
                played.delivered.iter().find(|(_, id)| *id == last).expect("the last of a flight passes");
            let sent = ms(100 * (last / 10) + 9);
            assert!(*at >= sent && *at <= sent + ms(7), "keep {keep}, {last}: {at}");
        }
        let ids: Vec<u64> = played.delivered.iter().map(|delivery| delivery.1).collect();
        assert!(ids.is_sorted(), "{ids:?}");
    }
}

/// A packet of 1000 B each 100 us, ten times the tokens' rate, for three bursts with a pause between them.
#[test]
fn a_policer_passes_its_bucket_and_then_its_rate_and_delays_nothing() {
    let (rate, burst_bytes) = (Rate::from_bits_per_s(8_000_000), 20_000);
    let config = LinkConfig {
        capacity: Capacity::Constant(Rate::from_bits_per_s(80_000_000_000)),
        queue: QueueConfig::Policer { limit: Limit::Unlimited, rate, burst_bytes },
        ..packet_per_ms(0, Limit::Unlimited)
    };
    let sent = |id: u64| Time::from_us(id / 1000 * 200_000 + id % 1000 * 100);
    let played = play(&mut Link::new(&config, 1), (0..3000).map(|id| (sent(id), data(id, 1000))));
    let passed: Vec<u64> = played.delivered.iter().map(|delivery| delivery.1).collect();
    assert_eq!(passed[..22], (0..22).collect::<Vec<_>>()[..], "the bucket, and two that came meanwhile");
    for (number, first) in passed.iter().enumerate() {
        for last in &passed[number..] {
            let bytes = 1000 * (passed.partition_point(|id| id <= last) - number) as u64;
            let most = burst_bytes + rate.bytes_in(sent(*last) - sent(*first)) + 1;
            assert!(bytes <= most, "{first} to {last}: {bytes} of {most}");
        }
    }
    // What the rate allows passes: 100 ms of it in each burst, and the bucket fills in the pause.
    assert!(passed.len() >= 3 * 119, "{}", passed.len());
    assert!(played.delivered.iter().all(|&(at, id)| at == sent(id) + Time::from_ns(100)), "no wait");
}

#[test]
fn listed_packets_are_lost_before_the_queue() {
    let config = LinkConfig { loss: LossConfig::Listed([1, 3].into()), ..packet_per_ms(0, Limit::Unlimited) };
    let played = play(&mut Link::new(&config, 1), burst(5));
    assert_eq!(played.delivered, [(ms(1), 0), (ms(2), 2), (ms(3), 4)]);
    assert_eq!(played.dropped_ids(), [1, 3]);
}

#[test]
fn a_shorter_path_does_not_reorder() {
    let steps = [(ms(0), ms(50)), (ms(10), ms(20))].into();
    let mut config = packet_per_ms(0, Limit::Unlimited);
    config.delay.propagation = Propagation::Steps { steps, period: None };
    let played = play(&mut Link::new(&config, 1), (0..60).map(|id| (ms(id), data(id, 1500))));
    assert_eq!(played.delivered[8], (ms(9 + 50), 8), "the last before the handover");
    let on_a_fast_wire = Time::from_ns(120);
    assert_eq!(
        played.delivered[9],
        (ms(59) + on_a_fast_wire, 9),
        "would have come at 30 ms, but order is kept"
    );
    assert_eq!(played.delivered[50], (ms(51 + 20), 50));
}

#[test]
fn a_backlogged_trace_is_used_to_the_last_byte() {
    let trace = Opportunities::parse("0\n3\n3\n4\n9\n9\n9\n20\n").expect("legal");
    let trace = Opportunities { offset: ms(7), ..trace };
    let capacity = Capacity::Trace(trace);
    let config = LinkConfig { capacity: capacity.clone(), ..packet_per_ms(0, Limit::Unlimited) };
    let played = play(&mut Link::new(&config, 1), (0..2_000).map(|id| (Time::ZERO, data(id, 1200))));
    for &(at, id) in &played.delivered {
        let (before, with) = (
            capacity.bytes_between(Time::ZERO, at),
            capacity.bytes_between(Time::ZERO, at + Time::from_ns(1)),
        );
        let sent = (id + 1) * 1200;
        assert!(before < sent && sent <= with, "packet {id} at {at}: {before} < {sent} <= {with}");
    }
}

#[test]
fn the_slowest_and_the_fastest_link_are_exact() {
    let slow = LinkConfig::constant(Rate::from_bits_per_s(1), HOUR, Limit::Packets(1));
    let played = play(&mut Link::new(&slow, 1), burst(3));
    assert_eq!(played.delivered, [(HOUR + Time::from_secs(12_000), 0), (HOUR + Time::from_secs(24_000), 1)]);
    let fast = LinkConfig::constant(mbit(1_000_000), Time::from_us(1), Limit::Unlimited);
    let played = play(&mut Link::new(&fast, 1), burst(1_000_001));
    // 12 ns each, then odd sizes: 53 bytes are 0.424 ns.
    assert_eq!(played.delivered.last(), Some(&(Time::from_us(1) + Time::from_ns(12_000_012), 1_000_000)));
    let cells = (0..1_000).map(|id| (Time::ZERO, data(id, 53)));
    let played = play(&mut Link::new(&fast, 1), cells);
    assert_eq!(played.delivered[999].0, Time::from_us(1) + Time::from_ns(424));
}

#[test]
fn an_outage_for_good_keeps_what_came() {
    let mut link = Link::new(&LinkConfig::constant(Rate::default(), ms(1), Limit::Packets(2)), 1);
    let mut played = play(&mut link, burst(5));
    assert_eq!((played.delivered.len(), played.dropped_ids()), (0, vec![3, 4]));
    assert_eq!(link.poll_timeout(), Time::NEVER);
    assert!(link.poll_packet(Time::NEVER, &mut |_, _, _| {}).is_none());
    played.run_until(&mut link, Time::NEVER);
    assert_eq!(link.totals().inside.packets, 3);
}

#[test]
fn a_packet_on_an_unlimited_link_only_travels() {
    let config = LinkConfig { capacity: Capacity::Unlimited, ..packet_per_ms(25, Limit::Bytes(0)) };
    let mut link = Link::new(&config, 1);
    let played = play(&mut link, burst(1_000));
    assert!(played.delivered.iter().all(|delivery| delivery.0 == ms(25)));
    assert_eq!((played.delivered.len(), link.totals().peak_queue.packets), (1_000, 0));
}

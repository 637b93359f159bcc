//! Networks larger than a path, and values at the edge of what is allowed.

mod common;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use common::{dumbbell, empty, era, flow, host, link, mbit, ms, parking_lot, plain, play};
use rampcc::{Rate, Time};
use rampcc_path::{Capacity, Limit, QueueConfig};
use rampcc_scenario::{Scenario, Sessions, SizeDistribution, Source, Traffic, TrafficKind};
use rampcc_sim::{SimulationError, simulate};
use rampcc_trace::FlowEventKind;

fn poisson(pairs: Vec<(usize, usize)>, flows_per_s: f64, flows: u64) -> Traffic {
    let (sender, receiver) = era("slow_start");
    let size = SizeDistribution::Exponential { mean_bytes: 200_000.0 };
    let sender = Box::new(sender);
    Traffic {
        name: "transfers".to_owned(),
        pairs,
        start: Time::ZERO,
        end: Time::NEVER,
        rtt: None,
        kind: TrafficKind::Poisson { flows_per_s, size, flows, sender, receiver, under_test_share: 1.0 },
    }
}

fn until_complete(mut scenario: Scenario, traffic: Traffic) -> Scenario {
    scenario.traffic.push(traffic);
    scenario.stop.when_complete = true;
    scenario
}

#[test]
fn a_dumbbell_carries_every_transfer_across() {
    let hosts = 204;
    let pairs =
        (0..102).map(|i| (host(i % 2, i, 2, hosts), host(1 - i % 2, hosts / 2 + i, 2, hosts))).collect();
    let scenario = until_complete(dumbbell(hosts, 1e4), poisson(pairs, 10.0, 300));
    let (outcome, _) = play(&scenario, 3);
    assert_eq!(outcome.flows.len(), 300);
    assert!(outcome.flows.iter().all(|flow| flow.received_bytes == flow.size_bytes && flow.under_test));
    let last = outcome.flows.iter().map(|flow| flow.completed).max();
    assert_eq!(Some(outcome.end), last, "the run ends with the last transfer");
    // 10 flows of 200 kB per second are 8 Mbit/s in each direction.
    let busy = outcome.links[0].delivered.bytes as f64 * 8e-6 / outcome.end.secs_f64();
    assert!((6.0..12.0).contains(&busy), "{busy} Mbit/s");
}

#[test]
fn a_parking_lot_loads_its_middle_most() {
    let pairs: Vec<_> = (0..11usize)
        .flat_map(|from| (0..11).filter(move |&to| to != from).map(move |to| (from, to)))
        .map(|(from, to)| (host(from, from % 6, 11, 12), host(to, 6 + to % 6, 11, 12)))
        .collect();
    let scenario = until_complete(parking_lot(1e4), poisson(pairs, 10.0, 400));
    let (outcome, _) = play(&scenario, 3);
    assert!(outcome.flows.iter().all(|flow| flow.received_bytes == flow.size_bytes));
    let load = |hop: usize| outcome.links[2 * hop].arrived.bytes + outcome.links[2 * hop + 1].arrived.bytes;
    assert!(load(5) > 2 * load(0), "{} and {} bytes", load(5), load(0));
}

#[test]
fn any_graph_takes_the_fewest_hops() {
    // A square with one diagonal; 0 to 2 has a direct link and two detours.
    let mut scenario = empty(4, 5.0);
    for (from, to) in [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)] {
        link(&mut scenario, from, to, plain(mbit(10), ms(5.0), 100));
        link(&mut scenario, to, from, plain(mbit(10), ms(5.0), 100));
    }
    scenario.flows.push(flow(0, 2, Source::Sized(50_000), "slow_start"));
    scenario.flows.push(flow(1, 3, Source::Sized(50_000), "slow_start"));
    let (outcome, _) = play(&scenario, 1);
    assert!(outcome.flows.iter().all(|flow| flow.completed != Time::NEVER));
    let used: Vec<u64> = outcome.links.iter().map(|link| link.delivered.packets).collect();
    assert_eq!(used[8..], [50, 50], "the diagonal carries one flow and its ACKs");
    assert_eq!(used[..8].iter().filter(|&&packets| packets > 0).count(), 4, "the other flow takes two hops");
}

#[test]
fn listed_flows_open_when_and_where_the_list_says() {
    let (sender, receiver) = era("slow_start");
    let mut scenario = empty(3, 10.0);
    for (from, to) in [(0, 1), (1, 2)] {
        link(&mut scenario, from, to, plain(mbit(10), ms(5.0), 100));
        link(&mut scenario, to, from, plain(mbit(10), ms(5.0), 100));
    }
    let flows: Arc<[_]> =
        [(ms(500.0), 2, 0, 7_000), (ms(20.0), 0, 2, 3_000), (ms(9_999_999.0), 0, 1, 1)].into();
    scenario.traffic.push(Traffic {
        name: "list".to_owned(),
        pairs: vec![(0, 2)],
        start: ms(100.0),
        end: Time::from_secs(9),
        rtt: None,
        kind: TrafficKind::Listed { flows, sender: Box::new(sender), receiver, under_test_share: 0.0 },
    });
    let (outcome, _) = play(&scenario, 1);
    let opened: Vec<_> =
        outcome.flows.iter().map(|flow| (flow.opened, flow.size_bytes, flow.received_bytes)).collect();
    assert_eq!(opened, [(ms(120.0), 3_000, 3_000), (ms(600.0), 7_000, 7_000)]);
}

#[test]
fn a_stream_without_feedback_has_its_rate() {
    let mut scenario = empty(2, 10.0);
    link(&mut scenario, 0, 1, plain(mbit(10), ms(5.0), 100));
    link(&mut scenario, 1, 0, plain(mbit(10), ms(5.0), 100));
    scenario.traffic.push(Traffic {
        name: "burst".to_owned(),
        pairs: vec![(0, 1)],
        start: Time::from_secs(1),
        end: Time::from_secs(5),
        rtt: None,
        kind: TrafficKind::Cbr { rate: mbit(3), packet_bytes: 1000 },
    });
    let (outcome, log) = play(&scenario, 1);
    assert_eq!(outcome.links[0].delivered.packets, 1500, "3 Mbit/s for 4 s");
    assert_eq!(outcome.data_packets, 0, "they are not TCP's");
    assert!(log.events.iter().any(|event| matches!(event.kind, FlowEventKind::Opened { .. })));
}

#[test]
fn web_sessions_go_on_page_after_page() {
    let (sender, receiver) = era("slow_start");
    let mut scenario = empty(2, 20.0);
    link(&mut scenario, 0, 1, plain(mbit(10), ms(5.0), 100));
    link(&mut scenario, 1, 0, plain(mbit(10), ms(5.0), 100));
    scenario.traffic.push(Traffic {
        name: "web".to_owned(),
        pairs: vec![(0, 1)],
        start: Time::ZERO,
        end: Time::NEVER,
        rtt: None,
        kind: TrafficKind::Web {
            sessions: Sessions::Constant(4),
            size: SizeDistribution::Constant(10_000),
            objects: 5,
            think: Time::from_secs(1),
            sender: Box::new(sender),
            receiver,
            under_test_share: 0.0,
        },
    });
    let (outcome, _) = play(&scenario, 1);
    // A page takes 5 x 45 ms and is followed by a second of thought: about 4 x 20 / 1.2 pages.
    assert!((250..420).contains(&outcome.flows.len()), "{} objects", outcome.flows.len());
}

#[test]
fn extreme_values_give_sane_results() {
    let rates = [1, 1_000, 1_000_000_000_000];
    let delays = [Time::from_us(1), Time::from_secs(3600)];
    let queues = [Limit::Packets(1), Limit::Packets(0), Limit::Bytes(1), Limit::Unlimited];
    for (rate, delay, limit) in rates
        .into_iter()
        .flat_map(|r| delays.into_iter().flat_map(move |d| queues.into_iter().map(move |q| (r, d, q))))
    {
        let mut scenario = empty(2, 1e5);
        let mut config = plain(Rate::from_bits_per_s(rate), delay, 0);
        config.queue = QueueConfig::DropTail { limit };
        link(&mut scenario, 0, 1, config.clone());
        config.queue = QueueConfig::DropTail { limit: Limit::Unlimited };
        link(&mut scenario, 1, 0, config);
        scenario.flows.push(flow(0, 1, Source::Sized(20_000), "slow_start"));
        scenario.flows.push(flow(0, 1, Source::Sized(0), "slow_start"));
        let (outcome, log) = play(&scenario, 1);
        let what = format!("{rate} bit/s, {delay}, {limit:?}");
        let ends = |event: &&rampcc_trace::FlowEvent| {
            matches!(event.kind, FlowEventKind::Completed { .. } | FlowEventKind::Unfinished { .. })
        };
        assert_eq!(log.events.iter().filter(ends).count(), 2, "{what}");
        let completed = outcome.flows[0].completed != Time::NEVER;
        // 20 kB at 1 bit/s outlast the run; with next to no queue, retransmissions may.
        assert!(completed || rate == 1 || limit != Limit::Unlimited, "{what}: {outcome:?}");
        assert!(!completed || (rate > 1 && limit != Limit::Bytes(1)), "{what}: {outcome:?}");
    }
}

#[test]
fn a_path_without_any_limit_is_refused_before_memory_runs_out() {
    let mut scenario = empty(2, 1e5);
    for (from, to) in [(0, 1), (1, 0)] {
        let mut config = plain(mbit(1), Time::from_secs(1), 1);
        config.capacity = Capacity::Unlimited;
        link(&mut scenario, from, to, config);
    }
    scenario.flows.push(flow(0, 1, Source::Bulk, "slow_start"));
    let error =
        simulate(&scenario, 1, &mut (), &AtomicBool::new(false)).expect_err("the window doubles for ever");
    assert!(matches!(&error, SimulationError::Overfull { link, .. } if link == "l0"), "{error}");
}

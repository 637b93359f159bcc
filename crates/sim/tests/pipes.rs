//! One flow over one bottleneck against numbers worked out by an independent model of such a pipe.

mod common;

use common::{Log, empty, flow, link, mbit, ms, plain, play, startup};
use rampcc::{ExitReason, Rate, Time};
use rampcc_path::Capacity;
use rampcc_scenario::{Arm, Scenario, Source};
use rampcc_tcp::Pacing;
use rampcc_trace::FlowEventKind;

struct Pipe {
    rate: Rate,
    rtt_ms: f64,
    wire_bytes: u32,
    buffer: u64,
    initial_window: u32,
    access: Rate,
}

/// HyStart paper, Fig. 9.
const A: Pipe = Pipe {
    rate: mbit(100),
    rtt_ms: 106.0,
    wire_bytes: 1500,
    buffer: 883,
    initial_window: 10,
    access: mbit(1000),
};
/// Enhanced Start's topology.
const B: Pipe = Pipe {
    rate: mbit(40),
    rtt_ms: 100.4,
    wire_bytes: 1000,
    buffer: 250,
    initial_window: 2,
    access: mbit(500),
};
/// Paced Start's default path.
const C: Pipe = Pipe {
    rate: mbit(100),
    rtt_ms: 80.0,
    wire_bytes: 1000,
    buffer: 1000,
    initial_window: 2,
    access: mbit(1000),
};
/// BEST's GEO path.
const D: Pipe = Pipe {
    rate: mbit(150),
    rtt_ms: 600.0,
    wire_bytes: 1448,
    buffer: 12431,
    initial_window: 10,
    access: mbit(1000),
};

const HEADER: u32 = 52;

/// Access link, bottleneck, and a way back on which nothing waits.
fn scenario(pipe: &Pipe, id: &str, seconds: f64) -> Scenario {
    let mut scenario = empty(3, seconds);
    let half = ms(pipe.rtt_ms / 2.0);
    scenario.bottleneck = link(&mut scenario, 1, 2, plain(pipe.rate, half, pipe.buffer));
    link(&mut scenario, 0, 1, plain(pipe.access, Time::ZERO, 1_000_000));
    let mut back = plain(pipe.rate, half, 0);
    back.capacity = Capacity::Unlimited;
    link(&mut scenario, 2, 0, back);
    let mut bulk = flow(0, 2, Source::Bulk, id);
    bulk.sender.mss_bytes = pipe.wire_bytes - HEADER;
    bulk.sender.header_bytes = HEADER;
    bulk.sender.initial_window_packets = pipe.initial_window;
    bulk.sender.sampled = true;
    scenario.flows.push(bulk);
    scenario
}

fn first_drop(log: &Log) -> Option<Time> {
    log.first(|kind| matches!(kind, FlowEventKind::Dropped { .. }).then_some(())).map(|(at, ())| at)
}

#[track_caller]
fn close(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not within {tolerance} of {expected}");
}

#[test]
fn who_knows_the_path_fills_it_without_a_burst() {
    // The receiver announces 64 kB at first; the buffer holds a twentieth of the BDP.
    let text = "size = '10 MB'\n[path]\nrate = '200 Mbit/s'\nrtt = '60 ms'\nbuffer = '0.05 bdp'\n";
    let scenario = Scenario::parse("shallow", text, None).expect("a scenario");
    let (_, log) = play(&scenario.with_arm(&Arm::parse("ideal").expect("the yardstick")), 1);
    // Full after 180 ms: the handshake, a round trip with 64 kB, one with the rest. Linux's CUBIC then grows by 5 % a round trip,
    // which the buffer holds for one.
    let drop = first_drop(&log).expect("CUBIC overflows the queue");
    close(drop.secs_f64(), 0.24, 0.001);
    close(log.cwnd_packets(drop, 1448) / 1002.0, 1.05, 0.003);
}

#[test]
fn slow_start_overflows_the_queue_when_the_model_says() {
    for (pipe, at, cwnd) in
        [(&A, 0.908, 1768.0), (&B, 0.855, 507.0), (&C, 0.879, 2002.0), (&D, 7.370, 20202.0)]
    {
        let (_, log) = play(&scenario(pipe, "slow_start", at + 0.5), 1);
        let drop = first_drop(&log).expect("slow start overflows the queue");
        close(drop.secs_f64(), at, 0.001);
        close(log.cwnd_packets(drop, pipe.wire_bytes - HEADER), cwnd, 1.0);
        let peak = log.links.iter().map(|sample| sample.queue_packets).max();
        assert_eq!(peak, Some(pipe.buffer), "the sampled peak is the full queue");
    }
}

#[test]
fn limited_slow_start_overflows_later() {
    let mut scenario = scenario(&A, "limited", 6.0);
    scenario.flows[0].sender.parameters = startup("limited").default_parameters();
    let (_, log) = play(&scenario, 1);
    let drop = first_drop(&log).expect("it overflows the queue");
    close(drop.secs_f64(), 4.891, 0.02);
    close(log.cwnd_packets(drop, 1448), 1768.0, 2.0);
}

#[test]
fn hystart_leaves_without_loss() {
    for (pipe, at, cwnd) in [(&A, 0.797, 1087.0), (&D, 6.301, 9012.0)] {
        let (_, log) = play(&scenario(pipe, "hystart", at + 3.0), 1);
        assert_eq!(first_drop(&log), None);
        close_exit(&log, pipe, at, cwnd, Within { seconds: 0.005, share: 0.01 });
    }
}

/// Linux `hystart_ack_delay`: a host has a nominal rate whether it paces or not, and only pacing itself keeps the bound
/// from being halved.
#[test]
fn hystarts_train_bound_counts_the_hosts_batches() {
    for (pacing, halved) in [(Pacing::Algorithm, 2), (Pacing::Always, 1)] {
        let mut scenario = scenario(&A, "hystart", 3.0);
        scenario.flows[0].sender.pacing = pacing;
        // Only the train decides.
        scenario.flows[0].sender.parameters = startup("hystart").default_parameters();
        let detect =
            startup("hystart").parameters.iter().position(|p| p.name == "detect").expect("a parameter");
        scenario.flows[0].sender.parameters[detect] = 1;
        let (_, log) = play(&scenario, 1);
        let (at, limit) = log
            .first(|kind| match kind {
                FlowEventKind::StartupExit { reason: ExitReason::AckTrain, limit, .. } => Some(*limit),
                _ => None,
            })
            .expect("an ACK train ends it");
        let before = log.flows.iter().rev().find(|sample| sample.now <= at).expect("a sample");
        assert_eq!(limit, (before.min_rtt.us() + 1000) / halved, "{pacing:?}");
    }
}

#[test]
fn best_leaves_at_the_bandwidth_delay_product() {
    // The median estimator is good to 1.6 %.
    for (pipe, at, cwnd) in [(&A, 0.772, 884.4), (&D, 6.206, 7770.5)] {
        let (_, log) = play(&scenario(pipe, "best", at + 3.0), 1);
        assert_eq!(first_drop(&log), None);
        close_exit(&log, pipe, at, cwnd, Within { seconds: 0.05, share: 0.02 });
    }
}

/// How far from what is expected.
#[derive(Clone, Copy)]
struct Within {
    seconds: f64,
    /// Of the window.
    share: f64,
}

#[track_caller]
fn close_exit(log: &Log, pipe: &Pipe, at: f64, cwnd: f64, within: Within) {
    let exit = |kind: &FlowEventKind| match kind {
        FlowEventKind::StartupExit { cwnd_bytes, .. } => Some(*cwnd_bytes),
        _ => None,
    };
    let (now, cwnd_bytes) = log.first(exit).expect("it leaves start-up");
    close(now.secs_f64(), at, within.seconds);
    close(cwnd_bytes as f64 / f64::from(pipe.wire_bytes - HEADER), cwnd, cwnd * within.share);
}

#[test]
fn slow_start_doubles_every_round_trip() {
    let (_, log) = play(&scenario(&A, "slow_start", 0.6), 1);
    for round in 1..5 {
        let end = ms(106.0 * f64::from(round) + 50.0);
        close(log.cwnd_packets(end, 1448), 10.0 * f64::from(1 << round), 0.01);
    }
}

#[test]
fn a_sized_transfer_takes_as_long_as_its_rounds() {
    // IW 10: 10 + 20 + 40 packets are three rounds less the return of the last ACK.
    let mut scenario = scenario(&A, "slow_start", 10.0);
    scenario.flows[0].source = Source::Sized(70 * 1448);
    scenario.stop.when_complete = true;
    let (outcome, log) = play(&scenario, 1);
    let serialisation = 40.0 * 0.12 + 0.012 * 3.0;
    close(outcome.end.secs_f64() * 1e3, 2.5 * 106.0 + serialisation, 0.5);
    assert_eq!(outcome.flows[0].completed, outcome.end);
    assert_eq!(outcome.flows[0].received_bytes, 70 * 1448);
    assert_eq!(outcome.data_packets, 70);
    let received =
        log.events.iter().filter(|event| matches!(event.kind, FlowEventKind::Received { .. })).count();
    assert_eq!(received, 70, "below 145 kB every segment passes a number of three digits");
}

//! [LU] §IV-A, Algorithm 1.

use rampcc::{Ack, Config, Phase, Startup};

use super::support::pipe::{Outcome, play};
use super::support::{MSS, Stream, ack, config, row, set};
use super::{config_for, near, path_b};

/// `rtt_source`.
const EVERY_ACK: u64 = 0;
const TAGGED: u64 = 1;
const ROUND_MEAN: u64 = 2;

fn start(change: impl Fn(&mut Config)) -> Startup {
    let algorithm = row("enhanced");
    let mut config = config(algorithm, 10);
    change(&mut config);
    Startup::new(algorithm, &config)
}

/// A connection that looks at every ACK's RTT and has seen `base_us`, at this window in packets.
fn at(window: u64, base_us: u32) -> Startup {
    let mut startup = start(|c| set(c, row("enhanced"), "rtt_source", EVERY_ACK));
    startup.on_ack(&Ack { rtt_us: base_us, ..ack(1) });
    startup.decision_mut().cwnd_bytes = window * u64::from(MSS);
    startup
}

#[test]
fn section_4_a_backlog_against_beta() {
    // (window, BaseRTT, RTT, us, linear)
    let table = [
        (64, 100_400, 100_400, false),
        (64, 100_400, 105_000, false),
        (64, 100_400, 106_000, true),
        (500, 100_400, 101_000, false),
        (500, 100_400, 101_100, true),
        (500, 100_400, 110_400, true),
        (250, 100_000, 101_200, false),
        (250, 100_000, 101_300, true),
    ];
    for (window, base, rtt, linear) in table {
        let mut startup = at(window, base);
        let phase = startup.on_ack(&Ack { rtt_us: rtt, ..ack(1) }).phase();
        assert_eq!(phase == Phase::Conservative, linear, "{window} {base} {rtt}");
    }
}

/// Packets added by one ACK without backlog after `events` crossings, at this window.
fn step_after(events: u32, window: u64) -> f64 {
    let mut startup = at(1000, 100_000);
    for _ in 0..events {
        startup.decision_mut().cwnd_bytes = 1000 * u64::from(MSS);
        startup.on_ack(&Ack { rtt_us: 150_000, ..ack(1) });
        startup.on_ack(&Ack { rtt_us: 100_000, ..ack(1) });
    }
    let mut grown = 0;
    for _ in 0..1000 {
        startup.decision_mut().cwnd_bytes = window * u64::from(MSS);
        grown += startup.on_ack(&Ack { rtt_us: 100_000, ..ack(1) }).cwnd_bytes - window * u64::from(MSS);
    }
    grown as f64 / 1000.0 / f64::from(MSS)
}

#[test]
fn section_4_a_every_crossing_halves_the_step() {
    for events in 0..=10 {
        near(step_after(events, 100_000), 1.0 / f64::from(1 << events), 2e-6);
        // 1 / cwnd is the least: it wins while cwnd < 2^n.
        let window = (1 << events) / 2;
        if window > 0 {
            near(step_after(events, window), 1.0 / window as f64, 2e-6);
        }
    }
}

/// Crossings that a sequence of backlogs, packets, makes of a window of 1000 packets.
fn crossings(backlogs: &[f64]) -> u32 {
    let mut startup = at(1000, 100_000);
    for backlog in backlogs {
        startup.decision_mut().cwnd_bytes = 1000 * u64::from(MSS);
        // N = cwnd (1 - base / rtt), rounded up to the microsecond.
        let rtt_us = (100_000.0 / (1.0 - backlog / 1000.0)).ceil() as u32;
        startup.on_ack(&Ack { rtt_us, ..ack(1) });
    }
    startup.decision_mut().cwnd_bytes = 100_000 * u64::from(MSS);
    let grown = startup.on_ack(&Ack { rtt_us: 100_000, ..ack(1) }).cwnd_bytes - 100_000 * u64::from(MSS);
    // 2^-n of a packet
    (u64::from(MSS) / grown).ilog2()
}

#[test]
fn section_4_a_events_are_upward_crossings() {
    assert_eq!(crossings(&[1.0, 2.0, 3.0, 4.0, 5.0, 2.0, 1.0, 4.0, 2.0]), 2);
    assert_eq!(crossings(&[3.0, 3.0, 3.0, 2.0, 3.0]), 2);
    assert_eq!(crossings(&[2.9, 3.0, 2.9, 3.0]), 2);
}

#[test]
fn linear_steps_add_one_packet_a_round() {
    let mut startup = at(100, 100_000);
    for _ in 0..100 {
        startup.on_ack(&Ack { rtt_us: 200_000, ..ack(1) });
    }
    near(startup.decision().cwnd_bytes as f64 / f64::from(MSS), 100.995, 0.002);
}

#[test]
fn the_tagged_packet_is_the_first_of_a_round() {
    let mut startup = start(|c| set(c, row("enhanced"), "rtt_source", TAGGED));
    let mut stream = Stream::new();
    stream.open_round(100);
    startup.on_ack(&stream.ack(1_000_000, 100_000));
    startup.decision_mut().cwnd_bytes = 1_000_000;
    for _ in 0..50 {
        assert_eq!(startup.on_ack(&stream.ack(2_000_000, 200_000)).phase(), Phase::Startup);
    }
    stream.open_round(100);
    assert_eq!(startup.on_ack(&stream.ack(3_000_000, 200_000)).phase(), Phase::Conservative);
}

/// Twenty seconds on the paper's path.
fn on_path_b(rtt_source: u64, rtt_tick_us: u64) -> Outcome {
    let pipe = super::Pipe { limit_ns: 20_000_000_000, ..path_b() };
    let algorithm = row("enhanced");
    let mut config = config_for(&pipe, algorithm, 2);
    set(&mut config, algorithm, "rtt_source", rtt_source);
    set(&mut config, algorithm, "rtt_tick_us", rtt_tick_us);
    play(&pipe, algorithm, &config)
}

#[test]
fn with_the_rtt_of_every_ack_it_crawls() {
    let outcome = on_path_b(EVERY_ACK, 0);
    assert_eq!(outcome.loss_s, None);
    near(outcome.cwnd, 565.6, 3.0);
    near(outcome.queue_peak as f64, 62.0, 3.0);
    let events = outcome.phases.iter().filter(|(_, phase, _)| *phase == Phase::Conservative).count();
    assert!(events >= 9, "{events}");
}

#[test]
fn with_the_ticks_of_ns_2_it_queues_more() {
    let outcome = on_path_b(EVERY_ACK, 10_000);
    assert_eq!(outcome.loss_s, None);
    near(outcome.queue_peak as f64, 161.0, 5.0);
}

#[test]
fn with_the_mean_of_a_round_it_queues_most() {
    let outcome = on_path_b(ROUND_MEAN, 0);
    assert_eq!(outcome.loss_s, None);
    near(outcome.cwnd, 721.1, 5.0);
    near(outcome.queue_peak as f64, 218.0, 5.0);
}

#[test]
fn with_a_tagged_packet_it_is_slow_start_on_a_clean_path() {
    let outcome = on_path_b(TAGGED, 0);
    near(outcome.loss_s.expect("a drop"), 0.855, 0.001);
    near(outcome.cwnd, 507.0, 1.0);
}

/// Which ACKs of three rounds of `window` packets, counted from the first, begin or end a linear phase.
fn turns(samples: [&[u32]; 3]) -> Vec<(usize, Phase)> {
    let mut startup = start(|_| {});
    let mut stream = Stream::new();
    let (mut turns, mut index, mut phase) = (Vec::new(), 0, Phase::Startup);
    for round in samples {
        stream.open_round(round.len() as u64);
        for rtt_us in round {
            startup.decision_mut().cwnd_bytes = 100 * u64::from(MSS);
            let now = startup.on_ack(&stream.ack(1_000_000 * (1 + index as u64), *rtt_us)).phase();
            if now != phase {
                phase = now;
                turns.push((index, now));
            }
            index += 1;
        }
    }
    turns
}

#[test]
fn the_mean_is_that_of_a_round_from_its_opening_ack_on() {
    let (base, high) = (100_000, 110_000);
    // 4 packets of 100 in the queue; half of a round so long are 2.
    assert_eq!(turns([&[base; 4], &[high; 4], &[high; 4]]), [(8, Phase::Conservative)]);
    assert_eq!(turns([&[base; 4], &[base, base, high, high], &[high; 4]]), [(8, Phase::Conservative)]);
    assert_eq!(turns([&[base; 4], &[base, base, base, high], &[high; 4]]), []);
    // The opening ACK's sample is its own round's, not the last one's.
    assert_eq!(turns([&[base; 4], &[high, base, base, base], &[200_000; 4]]), []);
    assert_eq!(turns([&[base; 4], &[200_000, base, base, base], &[base; 4]]), [(8, Phase::Conservative)]);
}

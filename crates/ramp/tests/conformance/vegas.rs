//! [BP95] §3.4 as ns-2's `tcp-vegas.cc` has it.

use rampcc::{Event, EventKind, ExitReason, Phase, Startup};

use super::support::pipe::{Pipe, play};
use super::support::{MSS, Stream, config, row, set};
use super::{config_for, near, packets, path_a, path_b};

/// Rounds of `window` packets, the first at `base_us`, the others at `rtt_us`, until start-up ends or ten are over.
fn judged(window: u64, base_us: u32, rtt_us: u32, gamma: u64) -> Startup {
    let algorithm = row("vegas");
    let mut config = config(algorithm, window);
    config.handshake_rtt_us = base_us;
    // ssthresh keeps the window where it is.
    config.initial_ssthresh_bytes = (window + 1) * u64::from(MSS);
    set(&mut config, algorithm, "gamma", gamma);
    let mut startup = Startup::new(algorithm, &config);
    let mut stream = Stream::new();
    let mut now = 1_000_000_000;
    for round in 0..10 {
        stream.open_round(window);
        for _ in 0..window {
            now += 1_000_000;
            let mut ack = stream.ack(now, if round == 0 { base_us } else { rtt_us });
            ack.flags = 0;
            startup.on_ack(&ack);
            if startup.decision().phase() == Phase::Done {
                return startup;
            }
        }
    }
    startup
}

#[test]
fn the_backlog_is_rounded_and_an_eighth_is_taken() {
    // Backlog 0.857, 0.906, 1.047, 0.946, 1.008 and 1.864 packets; one and a half leave.
    for (window, rtt_us, exit) in [
        (8, 112_000, None),
        (16, 106_000, None),
        (16, 107_000, None),
        (64, 101_500, None),
        (64, 101_600, None),
        (64, 103_000, Some(56.0)),
    ] {
        let startup = judged(window, 100_000, rtt_us, 1);
        let decision = startup.decision();
        assert_eq!(decision.phase() == Phase::Done, exit.is_some(), "{window} {rtt_us}");
        if let Some(exit) = exit {
            near(packets(&startup), exit, 1e-9);
            assert_eq!(decision.ssthresh_bytes, decision.cwnd_bytes);
            assert_eq!(decision.exit_reason(), ExitReason::Delay);
            // 64 (1 - base / limit) = 1.5
            near(decision.limit as f64, 102_400.0, 1.0);
            assert_eq!(decision.evidence, u64::from(rtt_us));
        }
    }
    assert_eq!(judged(64, 100_000, 103_000, 2).decision().phase(), Phase::Startup);
}

#[test]
fn it_doubles_every_other_round() {
    let algorithm = row("vegas");
    for (initial, target, rounds) in [(2, 500.0, 15), (2, 883.0, 17), (10, 883.0, 13), (2, 1000.0, 17)] {
        let mut config = config(algorithm, initial);
        config.handshake_rtt_us = 100_000;
        let mut startup = Startup::new(algorithm, &config);
        let (mut stream, mut now, mut count) = (Stream::new(), 0, 0);
        while packets(&startup) < target {
            let window = packets(&startup) as u64;
            stream.open_round(window);
            for _ in 0..window {
                now += 1000;
                let mut ack = stream.ack(now, 100_000);
                ack.in_flight_bytes = startup.decision().cwnd_bytes;
                startup.on_ack(&ack);
            }
            count += 1;
        }
        assert_eq!(count, rounds, "{initial} to {target}");
    }
}

/// The mean of a round holds the queue of each burst: a quarter of the window, at the end of a round that doubled it.
#[test]
fn on_a_clean_path_it_leaves_early() {
    let path_c = Pipe::new(100_000_000, 80_000, 1000, 1000);
    for (pipe, initial, rounds, exit) in
        [(path_a(), 10, 7, 70.0), (path_b(), 2, 11, 56.0), (path_c, 2, 13, 112.0)]
    {
        let (packet_s, rtt_s) =
            (pipe.packet_bytes as f64 * 8.0 / pipe.bits_per_s as f64, pipe.rtt_ns as f64 * 1e-9);
        let backlog = |window: f64| window * (1.0 - rtt_s / (rtt_s + window / 4.0 * packet_s));
        let window = exit * 8.0 / 7.0;
        assert!(backlog(window) > 1.5 && backlog(window / 2.0) < 1.5, "{}", backlog(window));
        let algorithm = row("vegas");
        let mut config = config_for(&pipe, algorithm, initial);
        config.handshake_rtt_us = (pipe.rtt_ns / 1000) as u32;
        let outcome = play(&pipe, algorithm, &config);
        assert_eq!(outcome.decision.exit_reason(), ExitReason::Delay);
        near(outcome.cwnd, exit, 0.1);
        near(outcome.exit_s.expect("an exit"), f64::from(rounds) * rtt_s, 0.003);
    }
}

#[test]
fn a_round_of_one_packet_sets_the_base() {
    let algorithm = row("vegas");
    let mut config = config(algorithm, 1);
    config.handshake_rtt_us = 50_000;
    // It cannot grow out of one packet.
    config.initial_ssthresh_bytes = 2 * u64::from(MSS);
    let mut startup = Startup::new(algorithm, &config);
    let (mut stream, mut now) = (Stream::new(), 0);
    for _ in 0..9 {
        stream.open_round(1);
        now += 100_000_000;
        let mut ack = stream.ack(now, 100_000);
        ack.flags = 0;
        startup.on_ack(&ack);
    }
    assert_eq!(startup.decision().phase(), Phase::Startup);
}

#[test]
fn a_timeout_arms_it_again_without_what_was_counted_before() {
    let mut startup = judged(64, 100_000, 103_000, 1);
    let timeout =
        Event { now_ns: 0, lost_bytes: 0, in_flight_bytes: 0, kind: EventKind::Timeout, mss_bytes: MSS };
    assert_eq!(startup.on_event(&timeout).phase(), Phase::Startup);
    startup.decision_mut().cwnd_bytes = 2 * u64::from(MSS);
    startup.decision_mut().ssthresh_bytes = 32 * u64::from(MSS);
    let mut stream = Stream::new();
    stream.open_round(500);
    stream.open_round(2);
    startup.on_ack(&stream.ack(9_000_000_000, 150_000));
    assert_eq!(startup.decision().phase(), Phase::Startup);
    near(packets(&startup), 3.0, 1e-9);
}

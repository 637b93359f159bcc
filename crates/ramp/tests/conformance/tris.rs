//! Tri-S, a round at a time.

use rampcc::{Event, EventKind, ExitReason, Phase, Startup};

use super::support::pipe::play;
use super::support::{MSS, Stream, config, row};
use super::{config_for, near, packets, path_a};

const RTT_US: u32 = 100_000;

/// Rounds of (window, RTT of its first packet) on a path whose smallest RTT is 100 ms.
fn rounds(startup: &mut Startup, rounds: &[(u64, u32)]) {
    let mut stream = Stream::new();
    for (window, rtt_us) in rounds {
        startup.decision_mut().cwnd_bytes = window * u64::from(MSS);
        stream.open_round(1);
        let mut ack = stream.ack(stream.now_ns + u64::from(*rtt_us) * 1000, *rtt_us);
        // The next timed packet leaves with the window full.
        ack.in_flight_bytes = window * u64::from(MSS);
        ack.flags = 0;
        startup.on_ack(&ack);
    }
}

fn start() -> Startup {
    let algorithm = row("tris");
    let mut config = config(algorithm, 10);
    config.handshake_rtt_us = RTT_US;
    Startup::new(algorithm, &config)
}

#[test]
fn it_leaves_when_less_than_half_of_the_gain_is_left() {
    // From 500 to 1000 packets: 45 % and 55 % of the gain that the smallest RTT would give.
    for (share, leaves) in [(0.45, true), (0.55, false)] {
        let mut startup = start();
        let rtt_us = (1000.0 * f64::from(RTT_US) / (500.0 + share * 500.0)) as u32;
        rounds(&mut startup, &[(500, RTT_US), (1000, RTT_US), (2000, rtt_us)]);
        let decision = startup.decision();
        assert_eq!(decision.phase() == Phase::Done, leaves, "{share}");
        if leaves {
            // The window before the doubling that gained too little.
            assert_eq!(decision.exit_reason(), ExitReason::Bandwidth);
            near(packets(&startup), 500.0, 0.01);
            near(decision.limit as f64 / f64::from(MSS), 725.0, 1.0);
            assert_eq!(decision.evidence, 2_000_000);
        }
    }
}

#[test]
fn a_window_that_did_not_grow_is_not_judged() {
    let mut startup = start();
    rounds(&mut startup, &[(500, RTT_US), (500, 2 * RTT_US), (500, 2 * RTT_US), (400, 2 * RTT_US)]);
    assert_eq!(startup.decision().phase(), Phase::Startup);
}

#[test]
fn on_a_clean_path_it_goes_back_below_the_bdp() {
    let mut pipe = path_a();
    pipe.buffer_packets = 100_000;
    let algorithm = row("tris");
    let outcome = play(&pipe, algorithm, &config_for(&pipe, algorithm, 10));
    assert_eq!(outcome.decision.exit_reason(), ExitReason::Bandwidth);
    // Windows of 10 x 2^n: 1280 gains 38 % over 640, and that is known when the window is 2560.
    near(outcome.cwnd, 640.0, 2.0);
    near(outcome.decision.evidence as f64 / 1500.0, 2560.0, 2.0);
    near(outcome.decision.limit as f64 / 1500.0, 883.0, 3.0);
    // With a buffer of one BDP the loss comes first.
    assert!(play(&path_a(), algorithm, &config_for(&path_a(), algorithm, 10)).loss_s.is_some());
}

#[test]
fn a_timeout_begins_anew() {
    let mut startup = start();
    rounds(&mut startup, &[(500, RTT_US), (1000, RTT_US)]);
    let timeout =
        Event { now_ns: 0, lost_bytes: 0, in_flight_bytes: 0, kind: EventKind::Timeout, mss_bytes: MSS };
    assert_eq!(startup.on_event(&timeout).phase(), Phase::Startup);
    rounds(&mut startup, &[(2000, 4 * RTT_US)]);
    assert_eq!(startup.decision().phase(), Phase::Startup, "nothing to compare with");
}

//! Linux `tcp_vegas.c` at 6.12.

use rampcc::{Event, EventKind, ExitReason, Phase, Startup};

use super::support::pipe::play;
use super::support::{MSS, Stream, config, row};
use super::{config_for, near, packets, path_a, path_b};

/// A round at 100 ms, then one at `rtt_us`, each of `samples` packets of a window of `window`.
fn judged(window: u64, rtt_us: u32, samples: u64) -> Startup {
    let algorithm = row("vegas_lin");
    let mut startup = Startup::new(algorithm, &config(algorithm, window));
    let (mut stream, mut now) = (Stream::new(), 0);
    for rtt_us in [99_999, rtt_us, rtt_us] {
        stream.open_round(samples);
        for _ in 0..samples {
            now += 1_000_000;
            let mut ack = stream.ack(now, rtt_us);
            ack.flags = 0;
            ack.in_flight_bytes = window * u64::from(MSS);
            startup.on_ack(&ack);
            if startup.decision().phase() == Phase::Done {
                return startup;
            }
        }
    }
    startup
}

#[test]
fn two_whole_packets_of_backlog_leave() {
    // cwnd (RTT / base - 1): 0.96, 1.12, 2.08, 1.92, 2.56.
    for (window, rtt_us, exit) in [
        (16, 105_999, None),
        (16, 106_999, None),
        (16, 112_999, Some(15.0)),
        (64, 102_999, None),
        (64, 103_999, Some(62.0)),
    ] {
        let startup = judged(window, rtt_us, 16);
        let decision = startup.decision();
        assert_eq!(decision.phase() == Phase::Done, exit.is_some(), "{window} {rtt_us}");
        if let Some(exit) = exit {
            near(packets(&startup), exit, 1e-9);
            assert_eq!(decision.ssthresh_bytes, decision.cwnd_bytes);
            assert_eq!(decision.exit_reason(), ExitReason::Delay);
            assert!(decision.evidence >= decision.limit, "{decision:?}");
        }
    }
}

#[test]
fn a_round_with_two_samples_is_not_judged() {
    assert_eq!(judged(64, 150_000, 2).decision().phase(), Phase::Startup);
    assert_eq!(judged(64, 150_000, 3).decision().phase(), Phase::Done);
}

/// The smallest RTT of a round is that of the head of its burst.
#[test]
fn on_a_clean_path_it_loses_before_it_leaves() {
    for (pipe, initial, at_s, window) in [(path_a(), 10, 0.908, 1768.0), (path_b(), 2, 0.855, 507.0)] {
        let algorithm = row("vegas_lin");
        let outcome = play(&pipe, algorithm, &config_for(&pipe, algorithm, initial));
        near(outcome.loss_s.expect("a drop"), at_s, 0.001);
        near(outcome.cwnd, window, 0.5);
    }
}

#[test]
fn with_a_deep_buffer_it_leaves_to_what_the_path_delivered() {
    let mut pipe = path_a();
    pipe.buffer_packets = 100_000;
    let algorithm = row("vegas_lin");
    let outcome = play(&pipe, algorithm, &config_for(&pipe, algorithm, 10));
    assert_eq!(outcome.decision.exit_reason(), ExitReason::Delay);
    assert!((2.0..4.0).contains(&(outcome.decision.evidence as f64 / 106_000.0 * 2.0)), "{outcome:?}");
    assert!(outcome.cwnd > pipe.bdp_packets(), "{}", outcome.cwnd);
}

#[test]
fn nothing_in_flight_forgets_the_base_and_a_timeout_pauses_the_test() {
    let algorithm = row("vegas_lin");
    let mut startup = Startup::new(algorithm, &config(algorithm, 64));
    let (mut stream, mut now) = (Stream::new(), 0);
    let mut rounds = |startup: &mut Startup, rtts: &[u32], last_empties: bool| {
        for &rtt_us in rtts {
            stream.open_round(8);
            for i in 0..8 {
                now += 1_000_000;
                let mut ack = stream.ack(now, rtt_us);
                ack.flags = 0;
                if !(last_empties && i == 7) {
                    ack.in_flight_bytes = 64_000;
                }
                startup.on_ack(&ack);
            }
        }
    };
    rounds(&mut startup, &[100_000], true);
    rounds(&mut startup, &[200_000, 200_000], false);
    assert_eq!(startup.decision().phase(), Phase::Startup, "the base was forgotten");
    let event = |kind| Event { now_ns: 0, lost_bytes: 0, in_flight_bytes: 0, kind, mss_bytes: MSS };
    startup.on_event(&event(EventKind::Timeout));
    rounds(&mut startup, &[400_000, 400_000], false);
    assert_eq!(startup.decision().phase(), Phase::Startup, "off during the repair");
    startup.on_event(&event(EventKind::Recovered));
    rounds(&mut startup, &[400_000, 400_000], false);
    assert_eq!(startup.decision().exit_reason(), ExitReason::Delay);
}

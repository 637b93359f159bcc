//! [HR11] §4, Algorithm 1.

use rampcc::{AckFlags, Event, EventKind, ExitReason, Phase, Startup};

use super::support::pipe::play;
use super::support::{MSS, Stream, config, row};
use super::{config_for, near, path_a, path_b};

const MS: u64 = 1_000_000;

/// A connection past one round of eight samples, at 100 packets; the next ACK opens a round.
fn after_a_round(last_rtt_ms: u32) -> (Startup, Stream) {
    let algorithm = row("hystart11");
    let mut startup = Startup::new(algorithm, &config(algorithm, 100));
    let mut stream = Stream::new();
    stream.open_round(8);
    for i in 0..8 {
        // 3 ms apart: no train.
        startup.on_ack(&stream.ack((i + 1) * 3 * MS, last_rtt_ms * 1000));
    }
    assert_eq!(startup.decision().phase(), Phase::Startup);
    stream.open_round(1000);
    (startup, stream)
}

#[test]
fn eta_and_train_bound() {
    // (last RTT and dMin, eta), ms
    for (rtt, eta) in [(10, 2), (32, 2), (33, 3), (100, 7), (106, 7), (128, 8), (129, 8), (240, 8), (600, 8)]
    {
        let (mut startup, mut stream) = after_a_round(rtt);
        for sample in 1..=8 {
            let decision = startup.on_ack(&stream.ack(stream.now_ns + 3 * MS, (rtt + eta) * 1000));
            assert_eq!(decision.phase() == Phase::Done, sample == 8, "RTT {rtt} ms");
        }
        let decision = startup.decision();
        assert_eq!(decision.exit_reason(), ExitReason::Delay);
        let bound = u64::from(rtt + eta) * 1000;
        assert_eq!((decision.evidence, decision.limit), (bound, bound));

        let (mut startup, mut stream) = after_a_round(rtt);
        let start = stream.now_ns + 10 * MS;
        let mut train = 0;
        while startup.on_ack(&stream.ack(start + train * MS, rtt * 1000)).phase() != Phase::Done {
            train += 1;
        }
        assert_eq!(train, u64::from(rtt.div_ceil(2)), "dMin {rtt} ms");
        let decision = startup.decision();
        assert_eq!(decision.exit_reason(), ExitReason::AckTrain);
        assert_eq!((decision.evidence, decision.limit), (train * 1000, u64::from(rtt) * 500));
    }
}

/// Algorithm 1 waits for `low_window` with the decision, not with listening: the first full round is compared with the
/// head of the one before, and a train may begin below it.
#[test]
fn below_the_low_window_the_detectors_listen() {
    let algorithm = row("hystart11");
    let mut startup = Startup::new(algorithm, &config(algorithm, 10));
    let mut stream = Stream::new();
    stream.open_round(10);
    for i in 0..10 {
        // Late ACKs of the burst carry the queue; the first eight count.
        startup.on_ack(&stream.ack((i + 1) * 3 * MS, if i < 8 { 100_000 } else { 200_000 }));
    }
    assert_eq!(startup.decision().cwnd_bytes, 20 * u64::from(MSS));
    stream.open_round(20);
    let phases: Vec<Phase> =
        (0..8).map(|_| startup.on_ack(&stream.ack(stream.now_ns + 3 * MS, 120_000)).phase()).collect();
    assert_eq!(phases.iter().position(|p| *p == Phase::Done), Some(7), "{phases:?}");
    assert_eq!(startup.decision().limit, 107_000);
}

#[test]
fn trace_a_the_train_ends_it_on_the_21st_ack() {
    let (mut startup, mut stream) = after_a_round(40);
    let start = stream.now_ns + 10 * MS;
    let left =
        (0..40).position(|i| startup.on_ack(&stream.ack(start + i * MS, 40_000)).phase() == Phase::Done);
    assert_eq!(left, Some(20));
    // cwnd <= ssthresh: that ACK still grows the window.
    let decision = startup.decision();
    assert_eq!(decision.cwnd_bytes, decision.ssthresh_bytes + u64::from(MSS));
}

#[test]
fn trace_b_a_hole_of_3_ms_kills_the_train_for_the_round() {
    let (mut startup, mut stream) = after_a_round(40);
    let start = stream.now_ns + 10 * MS;
    for i in 0..80 {
        let hole = if i < 10 { 0 } else { 2 * MS };
        startup.on_ack(&stream.ack(start + i * MS + hole, 40_000));
    }
    assert_eq!(startup.decision().phase(), Phase::Startup);
}

#[test]
fn trace_c_eight_samples_decide() {
    let cases: [(&[u32], bool); 4] =
        [(&[43; 8], true), (&[42; 8], false), (&[43, 43, 43, 43, 43, 43, 43, 40], false), (&[43; 7], false)];
    for (samples, leaves) in cases {
        let (mut startup, mut stream) = after_a_round(40);
        for rtt in samples {
            startup.on_ack(&stream.ack(stream.now_ns + 3 * MS, rtt * 1000));
        }
        assert_eq!(startup.decision().phase() == Phase::Done, leaves, "{samples:?}");
    }
}

#[test]
fn nothing_is_decided_below_16_packets() {
    let (mut startup, mut stream) = after_a_round(40);
    startup.decision_mut().cwnd_bytes = 10_000;
    for i in 0..30 {
        let mut ack = stream.ack(stream.now_ns + MS, 80_000);
        ack.flags &= !AckFlags::CWND_LIMITED;
        assert_eq!(startup.on_ack(&ack).phase(), Phase::Startup, "ACK {i}");
    }
}

#[test]
fn a_timeout_forgets_the_minimum_and_arms_the_detectors() {
    let (mut startup, mut stream) = after_a_round(40);
    let timeout =
        Event { now_ns: 0, lost_bytes: 0, in_flight_bytes: 0, kind: EventKind::Timeout, mss_bytes: MSS };
    assert_eq!(startup.on_event(&timeout).phase(), Phase::Startup);
    for _ in 0..8 {
        // Against the minimum and round before the timeout this would be a rise.
        assert_eq!(startup.on_ack(&stream.ack(stream.now_ns + 3 * MS, 60_000)).phase(), Phase::Startup);
    }
}

#[test]
fn on_a_clean_path_it_leaves_between_one_and_one_and_a_half_bdp() {
    // (IW, ACK every, quick ACKs, seconds, window); the window is one ACK's growth above ssthresh
    for (initial, every, quick, at_s, window) in [
        (10, 1, 0, 0.796, 1084.0),
        (3, 1, 0, 1.009, 1218.0),
        (3, 2, 16, 1.328, 791.0),
        (2, 2, 0, 1.773, 1046.0),
    ] {
        let mut pipe = path_a();
        (pipe.ack_every, pipe.quick_acks) = (every, quick);
        if quick > 0 {
            pipe.delayed_ack_ns = 40 * MS;
        }
        let algorithm = row("hystart11");
        let outcome = play(&pipe, algorithm, &config_for(&pipe, algorithm, initial));
        assert_eq!(outcome.decision.exit_reason(), ExitReason::AckTrain);
        near(outcome.exit_s.expect("an exit"), at_s, 0.002);
        near(outcome.cwnd, window, 3.0);
    }
}

#[test]
fn with_a_buffer_of_half_a_bdp_it_is_too_late() {
    let pipe = path_b();
    let algorithm = row("hystart11");
    let outcome = play(&pipe, algorithm, &config_for(&pipe, algorithm, 2));
    near(outcome.loss_s.expect("a drop"), 0.855, 0.001);
    near(outcome.cwnd, 507.0, 1.0);
}

//! The pipe size from a flight's first ACKs.

use rampcc::{Config, ExitReason, Startup};

use super::support::pipe::{Pipe, play};
use super::support::{MSS, Stream, config, row, set};
use super::{config_for, near, path_a};

fn start(initial: u64, change: impl Fn(&mut Config)) -> Startup {
    let algorithm = row("esse");
    let mut config = config(algorithm, initial);
    config.handshake_rtt_us = 100_000;
    change(&mut config);
    Startup::new(algorithm, &config)
}

/// A flight whose ACKs come `gap_ns` apart.
fn flight(startup: &mut Startup, stream: &mut Stream, packets: u64, gap_ns: u64) {
    stream.open_round(packets);
    let begin = stream.now_ns + 50_000_000;
    for i in 0..packets {
        startup.on_ack(&stream.ack(begin + i * gap_ns, 100_000));
    }
}

fn pipe_size(initial: u64, acks: u64, gap_ns: u64) -> u64 {
    let mut startup = start(initial, |c| set(c, row("esse"), "acks", acks));
    flight(&mut startup, &mut Stream::new(), initial, gap_ns);
    startup.decision().ssthresh_bytes / u64::from(MSS)
}

#[test]
fn the_pipe_size_is_the_rate_of_the_first_acks() {
    // n ACKs over a span, at an RTT of 100 ms: 0.12, 0.36, 0.9 and 1.08 ms.
    for (initial, acks, span_ns, packets) in
        [(10, 2, 120_000, 833), (10, 4, 360_000, 833), (10, 4, 900_000, 333), (10, 10, 1_080_000, 833)]
    {
        assert_eq!(pipe_size(initial, acks, span_ns / (acks - 1)), packets, "{acks} {span_ns}");
    }
    // The initial window bounds the number.
    assert_eq!(pipe_size(2, 4, 120_000), 833);
}

#[test]
fn the_smaller_of_two_flights_counts_and_a_third_does_not() {
    for (gaps, packets) in [([120, 300, 900], 333), ([300, 120, 900], 333), ([120, 240, 60], 416)] {
        let (mut startup, mut stream) = (start(10, |_| {}), Stream::new());
        for gap in gaps {
            flight(&mut startup, &mut stream, 10, gap * 1000);
        }
        assert_eq!(startup.decision().ssthresh_bytes / u64::from(MSS), packets, "{gaps:?}");
    }
}

#[test]
fn a_flight_with_too_few_acks_counts_when_it_is_over() {
    let (mut startup, mut stream) = (start(10, |c| set(c, row("esse"), "flights", 1)), Stream::new());
    flight(&mut startup, &mut stream, 3, 120_000);
    assert_eq!(startup.decision().ssthresh_bytes, rampcc::UNSET);
    flight(&mut startup, &mut stream, 3, 900_000);
    assert_eq!(startup.decision().ssthresh_bytes / u64::from(MSS), 833);
}

#[test]
fn on_a_clean_path_it_leaves_at_one_bdp() {
    for every in [1, 2] {
        let pipe = Pipe { ack_every: every, delayed_ack_ns: 40_000_000, ..path_a() };
        let algorithm = row("esse");
        let mut config = config_for(&pipe, algorithm, 10);
        config.abc_limit_packets = 0;
        let outcome = play(&pipe, algorithm, &config);
        assert_eq!(outcome.decision.exit_reason(), ExitReason::Bandwidth);
        near(outcome.cwnd / pipe.bdp_packets(), 1.0, 0.02);
        assert_eq!(outcome.loss_s, None);
    }
}

//! RFC 5681 §3.1, RFC 3465, and the closed forms of standard slow start.

use rampcc::{ExitReason, Phase, Startup};

use super::support::pipe::play;
use super::support::{MSS, ack, config, row, set};
use super::{config_for, near, packets, path_a, path_b};

fn start(initial_window: u64, abc_limit: u32) -> Startup {
    let algorithm = row("slow_start");
    let mut config = config(algorithm, initial_window);
    config.abc_limit_packets = abc_limit;
    Startup::new(algorithm, &config)
}

#[test]
fn rfc_3465_section_2_2_growth_per_ack() {
    // (packets acknowledged, growth with L = 1, with L = 2, without limit)
    for (acked, one, two, unlimited) in
        [(1, 1.0, 1.0, 1.0), (2, 1.0, 2.0, 2.0), (3, 1.0, 2.0, 3.0), (10, 1.0, 2.0, 10.0)]
    {
        for (limit, growth) in [(1, one), (2, two), (0, unlimited)] {
            let mut startup = start(10, limit);
            startup.on_ack(&ack(acked));
            near(packets(&startup), 10.0 + growth, 1e-9);
        }
    }
}

#[test]
fn rounds_to_reach_a_window() {
    // (initial window, target, rounds with an ACK per packet, window, rounds with an ACK per two packets, window)
    let table = [
        (2, 883, 9, 1024, 16, 1314),
        (3, 883, 9, 1536, 15, 1314),
        (10, 883, 7, 1280, 12, 1297),
        (10, 7500, 10, 10_240, 17, 9853),
        (2, 500, 8, 512, 14, 584),
    ];
    for (initial, target, rounds_x2, window_x2, rounds_x15, window_x15) in table {
        assert_eq!(rounds(initial, target, 1), (rounds_x2, window_x2));
        // The closed form has 1.5 packets of growth where the receiver has one ACK or two.
        let (count, window) = rounds(initial, target, 2);
        assert!(rounds_x15 - count <= 1, "{count}");
        near(
            window as f64,
            f64::from(window_x15) / if count == rounds_x15 { 1.0 } else { 1.5 },
            0.25 * f64::from(window_x15),
        );
    }
}

/// Rounds until the window reaches a target, and the window then; an odd packet waits for the next round.
fn rounds(initial: u64, target: u64, ack_every: u64) -> (i32, u64) {
    let mut startup = start(initial, 1);
    let (mut count, mut waiting) = (0, 0);
    while startup.decision().cwnd_bytes / u64::from(MSS) < target {
        waiting += startup.decision().cwnd_bytes / u64::from(MSS);
        while waiting >= ack_every {
            startup.on_ack(&ack(ack_every));
            waiting -= ack_every;
        }
        count += 1;
    }
    (count, startup.decision().cwnd_bytes / u64::from(MSS))
}

#[test]
fn rfc_5681_ends_at_ssthresh_and_linux_clips_there() {
    let algorithm = row("slow_start");
    let mut config = config(algorithm, 10);
    set(&mut config, algorithm, "initial_ssthresh", 15);
    let mut startup = Startup::new(algorithm, &config);
    startup.on_ack(&ack(4));
    assert_eq!(startup.decision().phase(), Phase::Startup);
    let decision = *startup.on_ack(&ack(4));
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Done, ExitReason::Ssthresh));
    assert_eq!((decision.cwnd_bytes, decision.evidence, decision.limit), (15_000, 15_000, 15_000));
}

#[test]
fn its_own_parameters_come_before_the_connections() {
    let algorithm = row("slow_start");
    let mut config = config(algorithm, 10);
    config.abc_limit_packets = 1;
    set(&mut config, algorithm, "initial_window", 3);
    set(&mut config, algorithm, "abc_limit", 2);
    let mut startup = Startup::new(algorithm, &config);
    near(packets(&startup), 3.0, 0.0);
    startup.on_ack(&ack(5));
    near(packets(&startup), 5.0, 0.0);
}

#[test]
fn a_window_that_is_not_full_does_not_grow() {
    let mut startup = start(10, 0);
    let mut idle = ack(1);
    idle.flags = 0;
    startup.on_ack(&idle);
    near(packets(&startup), 10.0, 0.0);
}

#[test]
fn first_drop_is_at_bdp_plus_buffer_plus_two() {
    let pipe = path_a();
    let algorithm = row("slow_start");
    let outcome = play(&pipe, algorithm, &config_for(&pipe, algorithm, 10));
    near(outcome.loss_s.expect("a drop"), 0.908, 0.001);
    near(outcome.cwnd, 1768.0, 1.0);
}

#[test]
fn a_buffer_of_half_a_bdp_overflows_at_one_bdp() {
    let pipe = path_b();
    let algorithm = row("slow_start");
    let outcome = play(&pipe, algorithm, &config_for(&pipe, algorithm, 2));
    near(outcome.loss_s.expect("a drop"), 0.855, 0.001);
    near(outcome.cwnd, 507.0, 1.0);
}

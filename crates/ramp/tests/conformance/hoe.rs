//! ns-2's `newreno_changes_ 1`, on the paths of the papers that ran it.

use rampcc::{Ack, Config, Event, EventKind, ExitReason, Phase, Startup, UNSET};

use super::support::pipe::{Pipe, play};
use super::support::{MSS, Stream, config, row, set};
use super::{config_for, near, packets, path_a, path_b};

/// Two packets of one flight, acknowledged `gap_ns` apart.
fn pair(gap_ns: u64, handshake_rtt_us: u32, change: impl Fn(&mut Config)) -> Startup {
    let algorithm = row("hoe");
    let mut config = config(algorithm, 2);
    config.handshake_rtt_us = handshake_rtt_us;
    change(&mut config);
    let mut startup = Startup::new(algorithm, &config);
    let mut stream = Stream::new();
    stream.open_round(2);
    startup.on_ack(&stream.ack(1_000_000_000, handshake_rtt_us));
    startup.on_ack(&stream.ack(1_000_000_000 + gap_ns, handshake_rtt_us + (gap_ns / 1000) as u32));
    startup
}

fn ssthresh_packets(startup: &Startup) -> u64 {
    startup.decision().ssthresh_bytes / u64::from(MSS)
}

#[test]
fn the_estimates_on_the_papers_paths() {
    // [LU] with packets of 1000 bytes and of 1040 on the wire, [HR11] Figure 9, [HS03].
    for (gap_ns, rtt_us, estimate) in
        [(200_000, 100_400, 502), (208_000, 100_400, 482), (120_000, 106_000, 883), (80_000, 80_000, 1000)]
    {
        assert_eq!(ssthresh_packets(&pair(gap_ns, rtt_us, |_| {})), estimate, "{gap_ns} {rtt_us}");
    }
}

/// [HR11] saw 248 Mbit/s on 100: the second ACK was stamped 72 us early.
#[test]
fn an_early_time_stamp_is_another_rate() {
    assert_eq!(ssthresh_packets(&pair(120_000 - 72_000, 106_000, |_| {})), 2208);
}

#[test]
fn it_only_lowers_ssthresh_and_says_what_ended_start_up() {
    let startup = pair(120_000, 106_000, |c| c.initial_ssthresh_bytes = 100 * u64::from(MSS));
    assert_eq!(ssthresh_packets(&startup), 100);
    let reaches = |mut startup: Startup| {
        for _ in 0..900 {
            startup.on_ack(&super::support::ack(1));
        }
        startup.decision().exit_reason()
    };
    assert_eq!(reaches(startup), ExitReason::Ssthresh);
    assert_eq!(reaches(pair(120_000, 106_000, |_| {})), ExitReason::Bandwidth);
}

#[test]
fn one_instant_is_no_pair_and_two_packets_are_the_least() {
    assert_eq!(pair(0, 106_000, |_| {}).decision().ssthresh_bytes, UNSET);
    assert_eq!(ssthresh_packets(&pair(106_000_000, 106_000, |_| {})), 2);
    // Without a handshake the smallest sample counts.
    let algorithm = row("hoe");
    let mut startup = Startup::new(algorithm, &config(algorithm, 2));
    let mut stream = Stream::new();
    stream.open_round(2);
    startup.on_ack(&stream.ack(1_000_000_000, 106_000));
    startup.on_ack(&stream.ack(1_000_120_000, 106_120));
    assert_eq!(ssthresh_packets(&startup), 883);
}

#[test]
fn a_receiver_that_delays_acks_gives_a_pair_of_the_second_flight() {
    let algorithm = row("hoe");
    for (choice, exit) in [(0, 883.0), (1, 2.0)] {
        let mut pipe = path_a();
        (pipe.ack_every, pipe.delayed_ack_ns) = (2, 40_000_000);
        let mut config = config_for(&pipe, algorithm, 2);
        config.handshake_rtt_us = 106_000;
        set(&mut config, algorithm, "pair", choice);
        let outcome = play(&pipe, algorithm, &config);
        assert_eq!(outcome.decision.exit_reason(), ExitReason::Bandwidth);
        near(outcome.decision.ssthresh_bytes as f64 / 1500.0, exit, 0.1);
    }
}

#[test]
fn it_ends_at_one_bdp_on_the_papers_paths() {
    let path_c = Pipe::new(100_000_000, 80_000, 1000, 1000);
    for (pipe, initial, at_s, exit, queue) in
        [(path_a(), 10, 0.772, 883.0, 320), (path_b(), 2, 0.854, 502.0, 246), (path_c, 2, 0.760, 1000.0, 488)]
    {
        let algorithm = row("hoe");
        let mut config = config_for(&pipe, algorithm, initial);
        config.handshake_rtt_us = (pipe.rtt_ns / 1000) as u32;
        let outcome = play(&pipe, algorithm, &config);
        near(outcome.cwnd, exit, 0.01);
        near(outcome.exit_s.expect("an exit"), at_s, 0.001);
        near(outcome.queue_peak as f64, f64::from(queue), 2.0);
        assert_eq!(outcome.loss_s, None);
    }
}

#[test]
fn a_loss_ends_it_and_an_undone_one_does_not() {
    let mut startup = pair(120_000, 106_000, |_| {});
    let loss =
        Event { now_ns: 0, lost_bytes: 1000, in_flight_bytes: 0, kind: EventKind::Loss, mss_bytes: MSS };
    startup.on_event(&loss);
    assert_eq!(startup.decision().exit_reason(), ExitReason::Loss);
    startup.on_event(&Event { kind: EventKind::Undone, ..loss });
    assert_eq!(startup.decision().phase(), Phase::Startup);
    let before = packets(&startup);
    // What no window limits does not count, and another pair is not looked for.
    startup.on_ack(&Ack { flags: 0, ..super::support::ack(1) });
    near(packets(&startup), before, 1e-9);
    assert_eq!(ssthresh_packets(&startup), 883);
}

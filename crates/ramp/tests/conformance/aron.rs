//! The median of several packet pairs.

use rampcc::{ExitReason, Startup};

use super::support::pipe::{Pipe, play};
use super::support::{MSS, Stream, config, row};
use super::{config_for, near, path_a, path_b};

/// ssthresh in packets after pairs with these gaps, in us, at an RTT of 106 ms.
fn after(gaps_us: &[u32]) -> Option<u64> {
    let algorithm = row("aron");
    let mut config = config(algorithm, 2);
    config.handshake_rtt_us = 106_000;
    let mut startup = Startup::new(algorithm, &config);
    let mut stream = Stream::new();
    let mut now = 1_000_000_000;
    stream.open_round(2 * gaps_us.len() as u64);
    for gap_us in gaps_us {
        // The next pair comes long after, and left as long after the last one.
        now += 5_000_000;
        startup.on_ack(&stream.ack(now, 106_000));
        now += u64::from(*gap_us) * 1000;
        startup.on_ack(&stream.ack(now, 106_000 + gap_us));
    }
    let ssthresh = startup.decision().ssthresh_bytes;
    (ssthresh != rampcc::UNSET).then(|| ssthresh / u64::from(MSS))
}

#[test]
fn four_pairs_are_enough_and_the_median_bears_an_outlier() {
    assert_eq!(after(&[120; 3]), None);
    assert_eq!(after(&[120; 4]), Some(883));
    for outlier in [12, 1200] {
        assert_eq!(after(&[120, 120, 120, outlier, 120, 120, 120, 120]), Some(883), "{outlier}");
    }
    // The lower middle of an even number of gaps; only the last eight count.
    assert_eq!(after(&[100, 200, 300, 400]), Some(530));
    assert_eq!(after(&[&[50; 9][..], &[200; 8][..]].concat()), Some(530));
}

#[test]
fn two_initial_windows_are_the_least() {
    assert_eq!(after(&[50_000; 4]), Some(4));
}

#[test]
fn on_a_clean_path_it_leaves_at_one_bdp_and_paced() {
    // One packet, after a lost SYN (RFC 5681), makes no pair; its round does not count.
    for (pipe, initial, every) in
        [(path_a(), 10, 1), (path_b(), 2, 1), (path_a(), 10, 2), (path_a(), 1, 1), (path_b(), 1, 1)]
    {
        let pipe = Pipe { ack_every: every, delayed_ack_ns: 40_000_000, ..pipe };
        let algorithm = row("aron");
        let mut config = config_for(&pipe, algorithm, initial);
        config.abc_limit_packets = 0;
        let outcome = play(&pipe, algorithm, &config);
        assert_eq!(outcome.decision.exit_reason(), ExitReason::Bandwidth);
        near(outcome.cwnd / pipe.bdp_packets(), 1.0, 0.02);
        assert_eq!(outcome.loss_s, None);
        assert!(outcome.acks.len() > 100);
        assert_eq!(outcome.decision.pacing_bytes_per_s, 0, "its pacing ends with it");
    }
}

#[test]
fn packets_leave_at_the_window_over_the_round_trip_in_pairs() {
    let algorithm = row("aron");
    let mut config = config(algorithm, 10);
    config.handshake_rtt_us = 100_000;
    let mut startup = Startup::new(algorithm, &config);
    near(startup.decision().pacing_bytes_per_s as f64, 100_000.0, 1.0);
    assert_eq!(startup.decision().pacing_burst_bytes, 2 * MSS);
    startup.on_ack(&rampcc::Ack { in_flight_bytes: 10 * u64::from(MSS), ..super::support::ack(1) });
    near(startup.decision().pacing_bytes_per_s as f64, 110_000.0, 1.0);
    config.flags = rampcc::ConfigFlags::DELAYED_ACKS;
    assert_eq!(Startup::new(algorithm, &config).decision().pacing_burst_bytes, 4 * MSS);
}

//! [HR11] §3.4: limited slow start where the path has a link slower than the interface.

use rampcc::{Ack, Config, ExitReason, Hint, HintSource, Phase, Startup};

use super::support::pipe::{Pipe, play};
use super::support::{ack, config, row, set};
use super::{config_for, near};

const GIGABIT: u64 = 125_000_000;

fn start(change: impl Fn(&mut Config)) -> Startup {
    let algorithm = row("capstart");
    let mut config = config(algorithm, 10);
    config.hint = Hint::of(HintSource::Interface);
    config.hint.bytes_per_s = GIGABIT;
    change(&mut config);
    Startup::new(algorithm, &config)
}

/// Packets of 1448 bytes that left together, acknowledged `gaps_us` apart; then a third round.
fn after(mut startup: Startup, gaps_us: &[u64], packets: u64) -> Startup {
    let mut told = Ack {
        now_ns: 1_000_000_000,
        newest_sent_ns: 900_000_000,
        sent_bytes: 1_000_000,
        acked_bytes: packets * 1448,
        mss_bytes: 1448,
        ..ack(1)
    };
    for (index, gap) in std::iter::once(&0).chain(gaps_us).enumerate() {
        told.now_ns += gap * 1000;
        told.newest_acked_bytes = (index as u64 + 1) * packets * 1448;
        startup.on_ack(&told);
    }
    told.now_ns += 100_000_000;
    for round in [1_500_000, 2_600_000] {
        (told.newest_acked_bytes, told.sent_bytes) = (round, round + 1_000_000);
        startup.on_ack(&told);
    }
    startup
}

/// Whether growth at 200 packets is limited: K = 4, a quarter of a packet.
fn limited(mut startup: Startup) -> bool {
    startup.decision_mut().cwnd_bytes = 200 * 1448;
    let decision = *startup.on_ack(&Ack { acked_bytes: 1448, mss_bytes: 1448, ..ack(1) });
    let grown = decision.cwnd_bytes - 200 * 1448;
    assert!(grown == 1448 || grown == 362, "{grown}");
    assert_eq!(decision.phase() == Phase::Conservative, grown == 362);
    grown == 362
}

#[test]
fn the_longest_gap_decides_at_nine_tenths_of_the_interface() {
    for (gaps, slower) in [
        (&[12, 12, 12, 12, 12, 12][..], false),
        (&[12, 12, 13, 12], false),                     // 923 Mbit/s
        (&[12, 14, 12], true),                          // 857
        (&[120, 119, 12], true),                        // 100
        (&[12, 12, 12, 12, 12, 12, 12, 12, 14], false), // the ninth no longer counts
        (&[12, 20_000, 12], false),                     // a timer
        (&[], false),
    ] {
        assert_eq!(limited(after(start(|_| {}), gaps, 1)), slower, "{gaps:?}");
    }
    // Two packets an ACK take twice as long.
    assert!(!limited(after(start(|_| {}), &[24, 25, 24], 2)));
    assert!(limited(after(start(|_| {}), &[24, 28, 24], 2)));
}

#[test]
fn without_the_interfaces_rate_it_is_slow_start() {
    assert!(!limited(after(start(|c| c.hint = Hint::NONE), &[120, 120], 1)));
    // A rate of the parameters comes first.
    assert!(limited(after(
        start(|c| {
            c.hint = Hint::NONE;
            set(c, row("capstart"), "local_rate", GIGABIT);
        }),
        &[120, 120],
        1
    )));
    assert!(!limited(after(start(|c| set(c, row("capstart"), "local_rate", GIGABIT / 10)), &[120, 120], 1)));
}

#[test]
fn gaps_between_packets_that_left_apart_do_not_count() {
    let mut startup = start(|_| {});
    let mut told =
        Ack { now_ns: 1_000_000_000, newest_sent_ns: 900_000_000, sent_bytes: 1_000_000, ..ack(1) };
    for _ in 0..8 {
        told.now_ns += 120_000;
        told.newest_sent_ns += 60_000;
        told.newest_acked_bytes += 1000;
        startup.on_ack(&told);
    }
    assert!(!limited(after(startup, &[], 1)));
}

#[test]
fn on_a_path_it_is_one_of_the_two() {
    for (rate, interface, twin) in
        [(100_000_000, GIGABIT, "limited"), (100_000_000, GIGABIT / 10, "slow_start")]
    {
        let mut pipe = Pipe::new(rate, 100_000, 1000, 200);
        pipe.access_bits_per_s = interface * 8;
        pipe.limit_ns = 5_000_000_000;
        let algorithm = row("capstart");
        let mut config = config_for(&pipe, algorithm, 10);
        set(&mut config, algorithm, "header", 0);
        config.hint = Hint::of(HintSource::Interface);
        config.hint.bytes_per_s = interface;
        let outcome = play(&pipe, algorithm, &config);
        let twin = play(&pipe, row(twin), &config_for(&pipe, row(twin), 10));
        near(outcome.cwnd, twin.cwnd, 0.001);
        assert_eq!((outcome.loss_s, outcome.decision.exit_reason()), (twin.loss_s, ExitReason::None));
    }
}

//! draft-ietf-ccwg-bbr-06, Startup and Drain.

use rampcc::{AckFlags, Config, EventKind, ExitReason, Phase, Startup};

use super::bbr::{Feed, MBIT, start_up};
use super::near;
use super::support::{MSS, config, row};

const RECOVERING: u32 = AckFlags::RECOVERING;

#[test]
fn section_5_6_2_the_first_rate() {
    let algorithm = row("bbr3");
    let mut config = config(algorithm, 10);
    config.mss_bytes = 1460;
    config.initial_window_bytes = 14_600;
    for (rtt_us, mbit_per_s) in [(100_000, 3.235), (0, 323.5)] {
        config.handshake_rtt_us = rtt_us;
        let rate = Startup::new(algorithm, &config).decision().pacing_bytes_per_s;
        near(rate as f64 * 8e-6, mbit_per_s, mbit_per_s / 1000.0);
    }
}

/// The connection grows, then loses `bytes` in `found` portions in one round of repair. The round's first ACK comes
/// with a flight of a thousand packets.
fn lose(found: u64, bytes: u64, flags: u32) -> Feed {
    let mut feed = Feed::new("bbr3");
    feed.flight = 1000;
    for rate in [10, 20, 40] {
        feed.round(rate * MBIT, 0);
    }
    feed.open_round();
    for _ in 0..found {
        feed.lost += bytes / found;
        feed.ack(60 * MBIT, flags);
    }
    feed.flight = 10_000;
    feed.tell(EventKind::Loss);
    // The round that the first loss began is over when what was sent after it arrives.
    feed.open_round();
    feed.ack(100 * MBIT, flags);
    feed
}

#[test]
fn section_5_3_1_3_a_round_of_repair_that_lost_much_and_often_ends_start_up() {
    let left = |feed: &Feed| feed.startup.decision().exit_reason();
    let mss = u64::from(MSS);
    assert_eq!(left(&lose(6, 24 * mss, RECOVERING)), ExitReason::Loss);
    assert_eq!(left(&lose(5, 24 * mss, RECOVERING)), ExitReason::None, "too seldom");
    assert_eq!(left(&lose(6, 18 * mss, RECOVERING)), ExitReason::None, "2 % of 1000 packets is 20");
    assert_eq!(left(&lose(6, 24 * mss, 0)), ExitReason::None, "no repair");
    let decision = *lose(6, 24 * mss, RECOVERING).startup.decision();
    assert_eq!((decision.phase(), decision.evidence, decision.limit), (Phase::Leaving, 24_000, 20_000));
}

#[test]
fn section_5_5_11_2_losses_that_were_none_lead_back_to_start_up() {
    let mut feed = lose(6, 24_000, RECOVERING);
    let draining = feed.startup.decision().pacing_bytes_per_s;
    feed.tell(EventKind::Undone);
    let decision = *feed.startup.decision();
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Startup, ExitReason::None));
    // 2.77 instead of 0.5.
    near(decision.pacing_bytes_per_s as f64 / draining as f64, 5.54, 0.01);
    // The plateau's rounds are counted anew.
    for _ in 0..3 {
        assert_eq!(feed.round(100 * MBIT, 0), Phase::Startup);
    }
    assert_eq!(feed.round(100 * MBIT, 0), Phase::Leaving);
    // That exit was no loss's.
    feed.tell(EventKind::Undone);
    assert_eq!(feed.startup.decision().phase(), Phase::Leaving);
    // Further losses make an exit final.
    let mut feed = lose(6, 24_000, RECOVERING);
    feed.lost += 1000;
    feed.ack(100 * MBIT, RECOVERING);
    feed.tell(EventKind::Undone);
    assert_eq!(feed.startup.decision().phase(), Phase::Leaving);
}

#[test]
fn section_5_3_2_draining_lasts_three_rounds_at_most() {
    let mut feed = Feed::new("bbr3");
    feed.flight = 1000;
    for rate in [20, 40, 40, 40, 40] {
        feed.round(rate * MBIT, 0);
    }
    // A thousand packets are in flight in this test, and the BDP is 500.
    let rounds = (1..=10).find(|_| feed.round(40 * MBIT, 0) == Phase::Done);
    assert_eq!(rounds, Some(4), "the fourth round's first ACK");
    let decision = *feed.startup.decision();
    assert_eq!((decision.cwnd_bytes, decision.ssthresh_bytes), (500_000, 500_000));
}

#[test]
fn section_5_6_4_2_the_window_is_twice_the_bdp_and_what_acks_aggregate() {
    let mut feed = Feed::new("bbr3");
    feed.open_round();
    // 8 Mbit/s is one packet in a millisecond, as this test's ACKs come: nothing is aggregated.
    for _ in 0..400 {
        feed.ack(8 * MBIT, 0);
    }
    let steady = feed.startup.decision().cwnd_bytes;
    assert!((200_000..=203_000).contains(&steady), "{steady}");
    // Half the rate, and so twice what was expected.
    let mut feed = Feed::new("bbr3");
    feed.open_round();
    for _ in 0..400 {
        feed.ack(4 * MBIT, 0);
    }
    let aggregated = feed.startup.decision().cwnd_bytes;
    assert!(aggregated > 250_000, "{aggregated}");
}

#[test]
fn on_a_clean_path_it_queues_one_bdp_and_drains_it() {
    let (outcome, bdp) = start_up("bbr3", 10_000);
    let [(draining, Phase::Leaving, window), (done, Phase::Done, _)] = outcome.phases[..] else {
        panic!("{:?}", outcome.phases)
    };
    assert!((0.9..1.6).contains(&draining), "{draining}");
    assert!((1.7..2.4).contains(&(window / bdp)), "{window}");
    assert!((0.6..1.4).contains(&(outcome.queue_peak as f64 / bdp)), "{}", outcome.queue_peak);
    assert!((0.05..0.35).contains(&(done - draining)), "{}", done - draining);
    assert!((0.95..1.1).contains(&(outcome.cwnd / bdp)), "{}", outcome.cwnd);
}

#[test]
fn without_a_round_trip_the_window_stays_the_first() {
    let algorithm = row("bbr3");
    let mut startup = Startup::new(algorithm, &Config::new(algorithm, MSS, 10));
    for _ in 0..100 {
        startup.on_ack(&rampcc::Ack {
            delivered_bytes: 100_000,
            delivery_bytes_per_s: 100 * MBIT,
            ..super::support::ack(1)
        });
    }
    // 10 packets, three quanta, and what arrives at one instant.
    assert!(startup.decision().cwnd_bytes < 200_000, "{}", startup.decision().cwnd_bytes);
}

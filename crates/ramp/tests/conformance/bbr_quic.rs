//! `BBRv2`'s Startup and Drain in QUIC stacks: google/quiche `bbr2_startup.cc`, `bbr2_misc.cc`, `bbr2_sender.cc`.

use rampcc::{AckFlags, Config, EventKind, ExitReason, Phase, Startup};

use super::bbr::{Feed, MBIT, full_after, start_up};
use super::near;
use super::support::{MSS, config, row, set};

fn feed(change: &[(&str, u64)]) -> Feed {
    let algorithm = row("bbr_quic");
    let mut config = Config { handshake_rtt_us: 100_000, ..config(algorithm, 10) };
    for (name, value) in change {
        set(&mut config, algorithm, name, *value);
    }
    let mut feed = Feed::with(algorithm, &config);
    feed.flight = 1000;
    feed
}

#[test]
fn has_bandwidth_growth_asks_the_best_rate_for_a_quarter_more() {
    let table: [(&[u64], Option<usize>); 4] = [
        (&[10, 20, 40, 80, 100, 100, 100, 100], Some(8)),
        // 45, 49 and 52 are each below 50 of 40, or below 1.25 x 40 at first: two rounds, then growth.
        (&[10, 20, 40, 45, 49, 52, 80, 100, 100, 100, 100], Some(11)),
        // Not a round's own rate: a worse one does not lower the best.
        (&[10, 20, 40, 10, 10, 10], Some(6)),
        (&[10, 20, 40, 80, 96, 96, 96], Some(7)),
    ];
    for (rates, round) in table {
        assert_eq!(full_after("bbr_quic", rates), round, "{rates:?}");
    }
}

#[test]
fn a_pause_of_the_application_counts_as_no_growth_and_ends_nothing() {
    let mut feed = feed(&[]);
    feed.round(40 * MBIT, 0);
    for _ in 0..6 {
        assert_eq!(feed.round(10 * MBIT, AckFlags::RATE_APP_LIMITED), Phase::Startup);
    }
    // The first round that holds none ends it: the rounds before have counted.
    assert_eq!(feed.round(10 * MBIT, 0), Phase::Leaving);
    let decision = feed.startup.decision();
    assert_eq!(
        (decision.exit_reason(), decision.evidence, decision.limit),
        (ExitReason::Plateau, 40 * MBIT, 50 * MBIT)
    );
}

/// A round in which `bytes` are found lost in so many events, whose end brings this rate.
fn lose(events: u64, bytes: u64, end_mbit: u64) -> Feed {
    let mut feed = feed(&[]);
    for rate in [10, 20, 40] {
        feed.round(rate * MBIT, 0);
    }
    feed.open_round();
    feed.ack(40 * MBIT, 0);
    feed.tell(EventKind::Loss);
    for _ in 0..events {
        feed.lost += bytes / events;
        feed.ack(40 * MBIT, AckFlags::RECOVERING);
    }
    feed.open_round();
    feed.ack(end_mbit * MBIT, AckFlags::RECOVERING);
    feed
}

#[test]
fn check_excessive_losses_at_the_end_of_a_round_without_growth() {
    let left = |feed: &Feed| feed.startup.decision().exit_reason();
    assert_eq!(left(&lose(8, 24_000, 40)), ExitReason::Loss);
    assert_eq!(left(&lose(7, 24_003, 40)), ExitReason::None, "too seldom");
    assert_eq!(left(&lose(8, 20_000, 40)), ExitReason::None, "2 % of 1000 packets is 20");
    assert_eq!(left(&lose(8, 24_000, 60)), ExitReason::None, "the rate still grew");
    let decision = *lose(8, 24_000, 40).startup.decision();
    assert_eq!((decision.phase(), decision.evidence, decision.limit), (Phase::Leaving, 24_000, 20_000));
    // Losses of earlier rounds do not count.
    let mut feed = lose(7, 24_003, 50);
    feed.lost += u64::from(MSS);
    feed.open_round();
    feed.ack(50 * MBIT, AckFlags::RECOVERING);
    assert_eq!(left(&feed), ExitReason::None);
}

#[test]
fn a_queue_that_stays_ends_it_where_that_is_asked() {
    // 40 Mbit/s and 100 ms: 500 packets. 1.75 times that is 875; each round's flight is 1000, and its least 996.
    for (rounds, flight, leaves) in
        [(0, 1000, None), (1, 1000, Some(1)), (2, 1000, Some(2)), (1, 870, None), (2, 880, Some(2))]
    {
        let mut feed = feed(&[("queue_rounds", rounds), ("full_bw_rounds", 100)]);
        feed.flight = flight;
        for rate in [10, 20, 40] {
            feed.round(rate * MBIT, 0);
        }
        let left = (1..=6).find(|_| feed.round(40 * MBIT, 0) != Phase::Startup);
        assert_eq!(left, leaves, "{rounds} rounds, {flight} packets");
        if leaves.is_some() {
            let decision = feed.startup.decision();
            assert_eq!((decision.exit_reason(), decision.limit), (ExitReason::Bandwidth, 875_000));
            assert!(decision.evidence >= 875_000, "{}", decision.evidence);
        }
    }
}

#[test]
fn update_pacing_rate() {
    let algorithm = row("bbr_quic");
    let mut config = config(algorithm, 10);
    for (rtt_us, rate) in [(50_000, 200_000.0), (0, 100_000.0)] {
        config.handshake_rtt_us = rtt_us;
        let first = Startup::new(algorithm, &config).decision().pacing_bytes_per_s;
        near(first as f64, 2.885 * rate, 3.0);
    }
    // The first ACK: the window in a round trip, without a gain. Later ones: 2.885 times the best rate, never less.
    let mut feed = feed(&[]);
    feed.open_round();
    feed.ack(MBIT / 10, 0);
    near(feed.startup.decision().pacing_bytes_per_s as f64, 100_000.0, 1.0);
    feed.ack(MBIT / 10, 0);
    near(feed.startup.decision().pacing_bytes_per_s as f64, 100_000.0, 1.0);
    feed.ack(8 * MBIT, 0);
    near(feed.startup.decision().pacing_bytes_per_s as f64, 2_885_000.0, 30.0);
}

#[test]
fn update_congestion_window_up_to_twice_the_bdp_or_the_initial_window() {
    for (mbit, packets) in [(8, 200), (1, 25), (0, 20)] {
        let mut feed = feed(&[]);
        feed.open_round();
        for _ in 0..400 {
            feed.ack(mbit * MBIT, 0);
        }
        assert_eq!(feed.startup.decision().cwnd_bytes / u64::from(MSS), packets, "{mbit} Mbit/s");
    }
}

#[test]
fn draining_paces_at_the_inverse_and_ends_at_the_bdp() {
    let mut feed = feed(&[]);
    for rate in [20, 40, 40, 40, 40] {
        feed.round(rate * MBIT, 0);
    }
    let decision = *feed.startup.decision();
    assert_eq!(decision.phase(), Phase::Leaving);
    near(decision.pacing_bytes_per_s as f64, 40.0 * MBIT as f64 / 2.885, 100.0);
    // As long as a thousand packets are in flight it drains, however many rounds that takes.
    for _ in 0..20 {
        assert_eq!(feed.round(40 * MBIT, 0), Phase::Leaving);
    }
    feed.flight = 500;
    feed.open_round();
    feed.ack(40 * MBIT, 0);
    let decision = *feed.startup.decision();
    assert_eq!(
        (decision.phase(), decision.cwnd_bytes, decision.ssthresh_bytes),
        (Phase::Done, 500_000, 500_000)
    );
}

#[test]
fn on_a_clean_path_it_queues_one_bdp_and_drains_it() {
    let (outcome, bdp) = start_up("bbr_quic", 10_000);
    let [(_, Phase::Leaving, window), (_, Phase::Done, _)] = outcome.phases[..] else {
        panic!("{:?}", outcome.phases)
    };
    assert!((1.7..2.4).contains(&(window / bdp)), "{window}");
    assert!((0.6..1.4).contains(&(outcome.queue_peak as f64 / bdp)), "{}", outcome.queue_peak);
    assert!((0.95..1.1).contains(&(outcome.cwnd / bdp)), "{}", outcome.cwnd);
}

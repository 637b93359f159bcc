//! Linux `tcp_bbr.c` and draft-cardwell-iccrg-bbr-congestion-control-00, Startup and Drain; and what both versions share.

use rampcc::{AckFlags, Algorithm, Config, Event, EventKind, ExitReason, Phase, Startup, UNSET};

use super::support::pipe::{Outcome, Pipe, play};
use super::support::{MSS, ack, config, row};
use super::{near, packets};

pub(crate) const MBIT: u64 = 125_000;
const RTT_US: u32 = 100_000;

/// A connection on a path of 100 ms, with ACKs of one packet each.
pub(crate) struct Feed {
    pub(crate) startup: Startup,
    now_ns: u64,
    sent: u64,
    delivered: u64,
    pub(crate) lost: u64,
    /// Packets of a round, all in flight with its first ACK.
    pub(crate) flight: u64,
}

impl Feed {
    pub(crate) fn new(id: &str) -> Self {
        let algorithm = row(id);
        Self::with(algorithm, &Config { handshake_rtt_us: RTT_US, ..config(algorithm, 10) })
    }

    pub(crate) fn with(algorithm: &'static Algorithm, config: &Config) -> Self {
        Self {
            startup: Startup::new(algorithm, config),
            now_ns: 1_000_000_000,
            sent: 0,
            delivered: 0,
            lost: 0,
            flight: 10_000,
        }
    }

    /// One ACK with a rate sample, of the round that `open_round` has opened.
    pub(crate) fn ack(&mut self, rate: u64, flags: u32) {
        self.delivered += u64::from(MSS);
        self.now_ns += 1_000_000;
        self.startup.on_ack(&rampcc::Ack {
            now_ns: self.now_ns,
            sent_bytes: self.sent,
            newest_acked_bytes: self.delivered,
            delivered_bytes: self.delivered,
            in_flight_bytes: self.sent - self.delivered + u64::from(MSS),
            lost_bytes: self.lost,
            delivery_bytes_per_s: rate,
            rtt_us: RTT_US,
            flags,
            ..ack(1)
        });
    }

    pub(crate) fn open_round(&mut self) {
        self.delivered = self.sent;
        self.sent += self.flight * u64::from(MSS);
    }

    /// A round of a few ACKs at one rate. Phase after it.
    pub(crate) fn round(&mut self, rate: u64, flags: u32) -> Phase {
        self.open_round();
        for _ in 0..4 {
            self.ack(rate, flags);
        }
        self.startup.decision().phase()
    }

    pub(crate) fn tell(&mut self, kind: EventKind) {
        self.startup.on_event(&Event {
            now_ns: self.now_ns,
            lost_bytes: 1000,
            in_flight_bytes: 10_000,
            kind,
            mss_bytes: MSS,
        });
    }

    pub(crate) fn windows(&self) -> (u64, u64) {
        (self.startup.decision().cwnd_bytes, self.startup.decision().ssthresh_bytes)
    }
}

/// The round, counted from 1, whose rate ends the growth.
pub(crate) fn full_after(id: &str, mbit: &[u64]) -> Option<usize> {
    let mut feed = Feed::new(id);
    let left = mbit.iter().position(|rate| feed.round(rate * MBIT, 0) != Phase::Startup);
    left.map(|index| index + 1)
}

#[test]
fn the_pipe_is_full_after_three_rounds_without_a_quarter_more() {
    for id in ["bbr", "bbr3"] {
        let table: [(&[u64], Option<usize>); 6] = [
            (&[10, 20, 40, 80, 100, 100, 100, 100], Some(8)),
            (&[10, 20, 40, 80, 95, 101, 110, 118], None),
            (&[10, 20, 40, 45, 49, 52, 80, 100, 100, 100, 100], Some(11)),
            // Capacity over the last power of two: 1.0, 1.2, 1.26, 1.99. The round that saturates counts.
            (&[10, 20, 40, 80, 80, 80, 80], Some(7)),
            (&[10, 20, 40, 80, 96, 96, 96], Some(7)),
            (&[10, 20, 40, 80, 101, 101, 101, 101], Some(8)),
        ];
        for (rates, round) in table {
            assert_eq!(full_after(id, rates), round, "{id}: {rates:?}");
        }
    }
}

#[test]
fn a_plateau_is_reported_with_what_would_have_been_growth() {
    for id in ["bbr", "bbr3"] {
        let mut feed = Feed::new(id);
        for rate in [40, 80, 100, 99, 98, 97] {
            feed.round(rate * MBIT, 0);
        }
        let decision = feed.startup.decision();
        assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Leaving, ExitReason::Plateau));
        // Version 1 looks at the largest rate of ten rounds, version 3 at the round's own.
        let rate = if id == "bbr" { 100 } else { 97 };
        assert_eq!((decision.evidence, decision.limit), (rate * MBIT, 125 * MBIT), "{id}");
    }
}

#[test]
fn an_earlier_maximum_counts_for_ten_rounds() {
    let mut feed = Feed::new("bbr");
    feed.round(100 * MBIT, 0);
    let rate = |feed: &Feed| feed.startup.decision().pacing_bytes_per_s as f64;
    let gain = 739.0 / 256.0 * 0.99;
    near(rate(&feed), 100e6 / 8.0 * gain, 100.0);
    // The rate only rises until the pipe is full; draining follows the maximum.
    for _ in 0..3 {
        feed.round(10 * MBIT, 0);
    }
    assert_eq!(feed.startup.decision().phase(), Phase::Leaving);
    near(rate(&feed), 100e6 / 8.0 * 88.0 / 256.0 * 0.99, 100.0);
    for _ in 0..7 {
        feed.round(10 * MBIT, 0);
    }
    near(rate(&feed), 100e6 / 8.0 * 88.0 / 256.0 * 0.99, 100.0);
    feed.round(10 * MBIT, 0);
    near(rate(&feed), 10e6 / 8.0 * 88.0 / 256.0 * 0.99, 100.0);
}

#[test]
fn what_the_application_limits_counts_only_if_it_is_more() {
    for id in ["bbr", "bbr3"] {
        let mut feed = Feed::new(id);
        let limited = AckFlags::RATE_APP_LIMITED;
        feed.round(40 * MBIT, 0);
        for _ in 0..6 {
            assert_eq!(feed.round(10 * MBIT, limited), Phase::Startup, "{id}: no round of growth");
        }
        let before = feed.startup.decision().pacing_bytes_per_s;
        feed.round(80 * MBIT, limited);
        near(feed.startup.decision().pacing_bytes_per_s as f64, 2.0 * before as f64, 10.0);
        // No sample, no round.
        for _ in 0..6 {
            assert_eq!(feed.round(0, 0), Phase::Startup, "{id}");
        }
    }
}

#[test]
fn the_first_rate_is_the_first_window_in_a_round_trip() {
    let algorithm = row("bbr");
    let mut config = Config { handshake_rtt_us: RTT_US, ..config(algorithm, 10) };
    config.mss_bytes = 1460;
    config.initial_window_bytes = 14_600;
    let gain = 739.0 / 256.0 * 0.99;
    let timed = Startup::new(algorithm, &config);
    near(timed.decision().pacing_bytes_per_s as f64, 146_000.0 * gain, 5.0);
    // Without a round trip it is taken for a millisecond, until there is one.
    config.handshake_rtt_us = 0;
    let mut feed = Feed::with(algorithm, &config);
    near(feed.startup.decision().pacing_bytes_per_s as f64, 14_600_000.0 * gain, 200.0);
    feed.open_round();
    feed.ack(0, 0);
    let cwnd = feed.startup.decision().cwnd_bytes - u64::from(MSS);
    near(feed.startup.decision().pacing_bytes_per_s as f64, cwnd as f64 * 10.0 * gain, 5.0);
}

#[test]
fn the_window_grows_by_what_is_delivered_up_to_its_gain_times_the_bdp() {
    let mut feed = Feed::new("bbr");
    // 8 Mbit/s and 100 ms: a BDP of 100 packets; a millisecond at 2.86 times that is two packets.
    feed.open_round();
    for _ in 0..400 {
        feed.ack(8 * MBIT, 0);
    }
    let quantum = 8e6 / 8.0 * 739.0 / 256.0 * 0.99 / 1024.0;
    let target = 100_000.0 * 739.0 / 256.0 + 3.0 * quantum;
    let cwnd = feed.startup.decision().cwnd_bytes as f64;
    assert!((target..target + 1000.0).contains(&cwnd), "{cwnd} {target}");
    assert_eq!(u64::from(feed.startup.decision().pacing_burst_bytes), quantum as u64);
}

/// Linux `bbr_tso_segs_goal`.
#[test]
fn a_quantum_is_64_kb_at_most() {
    let mut feed = Feed::new("bbr");
    feed.open_round();
    for (rate, quantum) in [(180 * MBIT, 62_794), (200 * MBIT, 65_215), (25_000 * MBIT, 65_215)] {
        feed.ack(rate, 0);
        assert_eq!(feed.startup.decision().pacing_burst_bytes, quantum, "{rate}");
    }
}

#[test]
fn a_loss_ends_nothing_and_the_window_comes_back() {
    for id in ["bbr", "bbr3"] {
        for kind in [EventKind::Loss, EventKind::Mark, EventKind::Timeout] {
            let mut feed = Feed::new(id);
            feed.round(40 * MBIT, 0);
            let (cwnd, ssthresh) = feed.windows();
            assert_eq!(ssthresh, UNSET);
            feed.tell(kind);
            assert_eq!(feed.startup.decision().phase(), Phase::Startup, "{id} {kind:?}");
            assert_eq!(feed.windows(), (cwnd, cwnd), "{id} {kind:?}: a repair reduces nothing");
            // A second one during the repair must not look like the host's own choice.
            feed.tell(EventKind::Timeout);
            assert_eq!(feed.windows().1, cwnd + 1);
            feed.startup.decision_mut().cwnd_bytes = 2000;
            feed.round(50 * MBIT, 0);
            assert!(feed.windows().0 >= 6000, "slow start from what the timeout left");
            feed.tell(EventKind::Recovered);
            assert_eq!(feed.windows(), (cwnd, UNSET), "{id} {kind:?}");
        }
    }
}

/// Linux `bbr_set_cwnd_to_recover_or_restore`: only what is sent after a repair has begun ends the round. It looks once an ACK, and
/// does not see that one repair has ended and the next begun.
#[test]
fn a_repair_begins_a_round() {
    use EventKind::{Loss, Mark, Recovered};
    for (told, goes_on) in [
        ([].as_slice(), false),
        (&[Mark], false),
        (&[Loss], true),
        (&[Recovered, Loss], false),
        (&[Loss, Recovered], true),
    ] {
        let mut feed = Feed::new("bbr");
        for _ in 0..3 {
            feed.round(100 * MBIT, 0);
        }
        let third = feed.sent;
        feed.sent += feed.flight * u64::from(MSS);
        feed.ack(100 * MBIT, 0);
        for kind in told {
            feed.tell(*kind);
        }
        feed.delivered = third;
        feed.ack(100 * MBIT, 0);
        assert_eq!(feed.startup.decision().phase() == Phase::Startup, goes_on, "{told:?}");
        feed.open_round();
        feed.ack(100 * MBIT, 0);
        assert_ne!(feed.startup.decision().phase(), Phase::Startup, "{told:?}");
    }
}

#[test]
fn after_a_timeout_or_an_undone_reduction_the_plateau_begins_anew() {
    for (kind, rounds) in [(EventKind::Timeout, 4), (EventKind::Undone, 4), (EventKind::Loss, 1)] {
        let mut feed = Feed::new("bbr");
        for _ in 0..3 {
            feed.round(100 * MBIT, 0);
        }
        feed.tell(kind);
        let left = (1..=10).find(|_| feed.round(100 * MBIT, 0) != Phase::Startup);
        assert_eq!(left, Some(rounds), "{kind:?}");
    }
}

#[test]
fn after_a_pause_the_window_comes_back_with_the_first_ack() {
    for id in ["bbr", "bbr3"] {
        let mut feed = Feed::new(id);
        feed.round(40 * MBIT, 0);
        let (cwnd, _) = feed.windows();
        feed.tell(EventKind::IdleRestart);
        feed.startup.decision_mut().cwnd_bytes = 10_000;
        feed.open_round();
        feed.ack(40 * MBIT, 0);
        assert!(feed.windows().0 >= cwnd, "{id}");
    }
}

/// 100 Mbit/s, 100 ms, packets of 1448 bytes: 863 packets.
pub(crate) fn start_up(id: &str, buffer_packets: usize) -> (Outcome, f64) {
    let algorithm = row(id);
    let pipe = Pipe::new(100_000_000, 100_000, 1448, buffer_packets);
    let config = Config {
        mss_bytes: 1448,
        initial_window_bytes: 14_480,
        handshake_rtt_us: RTT_US,
        ..config(algorithm, 10)
    };
    (play(&pipe, algorithm, &config), pipe.bdp_packets())
}

#[test]
fn on_a_clean_path_it_fills_the_pipe_queues_two_bdp_and_drains_it() {
    let (outcome, bdp) = start_up("bbr", 10_000);
    assert_eq!(outcome.loss_s, None);
    let [(draining, Phase::Leaving, window), (done, Phase::Done, _)] = outcome.phases[..] else {
        panic!("{:?}", outcome.phases)
    };
    // log2(863 / 10) = 6.4 doublings and three rounds; the queue makes the last ones longer.
    assert!((1.5..1.9).contains(&draining), "{draining}");
    assert!((2.0..3.1).contains(&(window / bdp)), "{window}");
    assert!((1.0..2.1).contains(&(outcome.queue_peak as f64 / bdp)), "{}", outcome.queue_peak);
    // A queue of q BDP drains at 1 - 0.34 of the rate.
    assert!((0.05..0.35).contains(&(done - draining)), "{}", done - draining);
    assert!((0.95..1.1).contains(&(outcome.cwnd / bdp)), "{}", outcome.cwnd);
    let decision = outcome.decision;
    assert_eq!((decision.exit_reason(), decision.cwnd_bytes), (ExitReason::Plateau, decision.ssthresh_bytes));
}

#[test]
fn its_rate_doubles_each_round() {
    let (outcome, _) = start_up("bbr", 10_000);
    let mut rounds: Vec<f64> = Vec::new();
    let mut end = 0;
    for ack in &outcome.acks {
        if ack.newest_acked_bytes > end {
            end = ack.sent_bytes;
            rounds.push(0.0);
        }
        if let Some(best) = rounds.last_mut() {
            *best = best.max(ack.delivery_bytes_per_s as f64);
        }
    }
    // The first samples are of the first window, sent within one round trip.
    for pair in rounds[1..6].windows(2) {
        assert!((1.7..2.3).contains(&(pair[1] / pair[0])), "{rounds:?}");
    }
}

#[test]
fn gains_are_two_over_ln_two_and_its_inverse() {
    let algorithm = row("bbr");
    let value = |name| {
        let parameter = algorithm.parameters.iter().find(|p| p.name == name).expect("a parameter");
        parameter.default as f64 / 256.0
    };
    near(value("pacing_gain"), 2.0 / std::f64::consts::LN_2, 0.002);
    near(value("cwnd_gain"), 2.0 / std::f64::consts::LN_2, 0.002);
    near(value("drain_gain"), std::f64::consts::LN_2 / 2.0, 0.004);
    assert!(packets(&Feed::new("bbr").startup) > 0.0);
}

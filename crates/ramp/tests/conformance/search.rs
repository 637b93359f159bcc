//! The module for Linux 3.1, and draft-chung-ccwg-search-00 §3 and §4.

use std::f64::consts::LN_2;

use rampcc::{Ack, AckFlags, Config, Decision, Event, EventKind, ExitReason, Phase, Startup};

use super::near;
use super::support::pipe::{Pipe, play};
use super::support::{ack, config, row, set};

const RTT_US: u32 = 100_000;
/// 3.5 RTTs in ten bins.
const BIN_NS: u64 = 35_000_000;
const FIRST_NS: u64 = 1_000_000_000;

fn start(id: &str, change: &[(&str, u64)]) -> Startup {
    let algorithm = row(id);
    let mut config: Config = config(algorithm, 50);
    for (name, value) in change {
        set(&mut config, algorithm, name, *value);
    }
    Startup::new(algorithm, &config)
}

/// An ACK at the end of this bin, with these totals.
pub(super) fn at_bin(bin: u64, rtt_us: u32, delivered: u64, sent: u64) -> Ack {
    Ack {
        now_ns: FIRST_NS + bin * BIN_NS + 1,
        rtt_us,
        delivered_bytes: delivered,
        sent_bytes: sent,
        flags: 0,
        ..ack(0)
    }
}

fn first(startup: &mut Startup, delivered: u64) {
    startup.on_ack(&Ack { now_ns: FIRST_NS, acked_bytes: delivered, ..at_bin(0, RTT_US, delivered, 0) });
}

/// Totals at the ends of bins from the first; the bin of the exit.
fn exit_bin(startup: &mut Startup, totals: impl Fn(u64) -> u64, bins: u64) -> Option<u64> {
    first(startup, totals(0));
    (1..=bins).find(|bin| startup.on_ack(&at_bin(*bin, RTT_US, totals(*bin), 0)).phase() == Phase::Done)
}

/// (1 + x ln 2 / n)^n for n = 2^30, the same on every machine.
fn exp2(x: f64) -> f64 {
    (0..30).fold(1.0 + x * LN_2 / f64::from(1 << 30), |power, _| power * power)
}

fn left_by_delivery(decision: &Decision) -> bool {
    decision.phase() == Phase::Done && decision.exit_reason() == ExitReason::Delivery
}

#[test]
fn a_window_is_what_lies_between_two_times() {
    // A thousand bytes in each of bins 0 to 11, nothing in bin 12, the first that can be judged. The RTT is 2.857 bins,
    // so the earlier window ended 0.857 of a bin before the end of bin 10.
    let mut startup = start("search", &[]);
    assert_eq!(exit_bin(&mut startup, |bin| 1000 * (bin + 1).min(12), 20), Some(12));
    let decision = startup.decision();
    assert!(left_by_delivery(decision));
    assert_eq!(decision.evidence, 12_000 - 3_000);
    // 85 % of bin 0, bins 1 to 9, 15 % of bin 10; twice that, of which 65 %.
    assert_eq!(decision.limit, (850 + 9_000 + 150) * 2 * 65 / 100);
    assert_eq!(decision.ssthresh_bytes, decision.cwnd_bytes);
}

#[test]
fn section_4_doubling_is_expected_and_a_plateau_is_not() {
    // With windows of ten RTTs a bin is an RTT. 1, 2, 4, .. 4096 and then 4096 each: norm_diff after n plateau RTTs.
    let total = |bin: u64| (1..=bin).map(|round| 1000 << round.min(12)).sum::<u64>();
    let norm = |bin: u64| {
        let window = |end: u64| (total(end) - total(end - 10)) as f64;
        1.0 - window(bin) / (2.0 * window(bin - 1))
    };
    for thresh in [10, 26, 35, 45] {
        let mut startup = start("search", &[("window", 100), ("thresh", thresh)]);
        startup.on_ack(&Ack { now_ns: FIRST_NS, ..at_bin(0, RTT_US, 0, 0) });
        let left = (1..40).find(|bin| {
            let ack = Ack { now_ns: FIRST_NS + bin * 100_000_000 + 1, ..at_bin(0, RTT_US, total(*bin), 0) };
            left_by_delivery(startup.on_ack(&ack))
        });
        let expected = (11..40).find(|bin| norm(*bin) * 100.0 >= thresh as f64);
        assert_eq!(left, expected, "{thresh} %");
        assert!(left.is_some_and(|bin| bin > 12), "not before the plateau");
    }
    near(norm(14), 0.35, 0.16);
}

#[test]
fn with_a_constant_rtt_it_fires_two_round_trips_after_the_path_is_full() {
    // Bytes by a time in RTTs: doubling per RTT up to time 8, then constant. The closed form fires 2.21 RTTs later.
    let total = |rtt: f64| {
        let rate = 10_000_000.0;
        let growth = |t: f64| rate * exp2(t - 8.0) / LN_2;
        if rtt < 8.0 { growth(rtt) } else { growth(8.0) + rate * (rtt - 8.0) }
    };
    for (thresh, earliest) in [(35, 2.21), (26, 1.46)] {
        let mut startup = start("search", &[("thresh", thresh)]);
        let bin = exit_bin(&mut startup, |bin| total(bin as f64 * 0.35) as u64, 60).expect("an exit");
        let late = bin as f64 * 0.35 - 8.0 - earliest;
        assert!((-0.02..0.36).contains(&late), "{late} RTTs after the closed form, a bin is 0.35");
    }
}

#[test]
fn on_a_path_the_queue_makes_it_look_back_further() {
    // 50 Mbit/s, 40 ms, a buffer without end: it fires once the RTT is about five times the first.
    let pipe = Pipe::new(50_000_000, 40_000, 1448, 10_000);
    let bdp = pipe.bdp_packets();
    let exit = |change: &[(&str, u64)]| {
        let algorithm = row("search");
        let mut config = super::config_for(&pipe, algorithm, 10);
        for (name, value) in change {
            set(&mut config, algorithm, name, *value);
        }
        let outcome = play(&pipe, algorithm, &config);
        assert!(left_by_delivery(&outcome.decision), "{:?}", outcome.decision);
        (outcome.cwnd / bdp, outcome.queue_peak as f64 / bdp)
    };
    let (newest, newest_queue) = exit(&[]);
    let (first, first_queue) = exit(&[("look_back", 1)]);
    // The closed form is of a fluid. Here a round trip's burst and a bin come on top.
    near(newest_queue, 4.19 + 0.75, 0.75);
    near(first_queue, 1.65 + 0.75, 0.75);
    assert!(newest > first + 1.0, "{newest} and {first} BDP");
}

#[test]
fn an_rtt_beyond_the_totals_decides_nothing() {
    // 13 bins of 35 ms are within reach, 14 are not; the queue then hides the plateau.
    for (rtt_us, decides) in [(489_000, true), (490_000, false)] {
        let mut startup = start("search", &[]);
        first(&mut startup, 0);
        for bin in 1..40 {
            let rtt_us = if bin < 39 { 4_000_000 } else { rtt_us };
            startup.on_ack(&at_bin(bin, rtt_us, 1000 * bin.min(28), 0));
        }
        assert_eq!(left_by_delivery(startup.decision()), decides, "{rtt_us} us");
    }
}

#[test]
fn a_bin_ends_after_its_end() {
    let mut startup = start("search", &[("alpha", 1)]);
    first(&mut startup, 0);
    let before = startup.state().to_vec();
    startup.on_ack(&Ack { now_ns: FIRST_NS + BIN_NS, ..at_bin(1, RTT_US, 1000, 0) });
    assert_eq!(startup.state(), before);
    startup.on_ack(&at_bin(1, RTT_US, 1000, 0));
    assert_ne!(startup.state(), before);
}

#[test]
fn skipped_bins_have_the_total_before() {
    let state = |bins: &[u64]| {
        let mut startup = start("search", &[("thresh", 99)]);
        first(&mut startup, 1000);
        for bin in bins {
            startup.on_ack(&at_bin(*bin, RTT_US, 1000 * (bin / 4 * 4 + 1), 0));
        }
        startup.state().to_vec()
    };
    let every: Vec<u64> = (1..=26).collect();
    assert_eq!(state(&every), state(&[4, 8, 12, 16, 20, 24, 25, 26]));
    assert_ne!(state(&every), state(&[4, 8, 12, 20, 24, 25, 26]));
}

#[test]
fn a_pause_of_the_application_measures_anew_with_the_same_bins() {
    let mut startup = start("search", &[]);
    first(&mut startup, 0);
    for bin in 1..12 {
        startup.on_ack(&at_bin(bin, RTT_US, 1000 * bin, 0));
    }
    let limited = Ack { flags: AckFlags::APP_LIMITED, ..at_bin(12, 200_000, 11_000, 0) };
    startup.on_ack(&limited);
    // Bin 12 is the first again: nothing is judged before bin 24, at the same length in spite of another RTT.
    let left = (13..40)
        .find(|bin| left_by_delivery(startup.on_ack(&at_bin(*bin, RTT_US, 11_000 + (bin - 12) * 10, 0))));
    assert_eq!(left, Some(24));
}

#[test]
fn a_silence_beyond_alpha_measures_anew() {
    // Two first RTTs are four bins. The totals stay as they are: where they go on, that is a plateau.
    for (alpha, silence, anew) in [(2, 5, true), (2, 4, false), (65_535, 5, false)] {
        let mut startup = start("search", &[("alpha", alpha)]);
        first(&mut startup, 0);
        for bin in 1..12 {
            startup.on_ack(&at_bin(bin, RTT_US, 1000 * bin, 0));
        }
        startup.on_ack(&at_bin(11 + silence, RTT_US, 11_000, 0));
        assert_eq!(left_by_delivery(startup.decision()), !anew, "alpha {alpha}, {silence} bins");
    }
}

#[test]
fn the_rollback_takes_off_what_two_round_trips_brought() {
    for (delivered, window) in [(1000, 50_000 - 4000), (20_000, 10_000)] {
        let mut startup = start("search", &[("rollback", 1)]);
        let total = |bin: u64| delivered * (bin + 1).min(12);
        assert_eq!(exit_bin(&mut startup, total, 20), Some(12));
        // The last five bins, of which the last is empty; never below ten packets.
        assert_eq!(startup.decision().cwnd_bytes, window);
        assert_eq!(startup.decision().ssthresh_bytes, window);
    }
}

#[test]
fn events_that_begin_the_measurement_again() {
    for (kind, again) in
        [(EventKind::Timeout, true), (EventKind::IdleRestart, true), (EventKind::Recovered, false)]
    {
        for id in ["search", "search4"] {
            let mut startup = start(id, &[]);
            let total = |bin: u64| 1000 * (bin + 1).min(12);
            startup.on_ack(&Ack { now_ns: FIRST_NS, ..at_bin(0, RTT_US, total(0), total(0)) });
            for bin in 1..12 {
                startup.on_ack(&at_bin(bin, RTT_US, total(bin), total(bin)));
            }
            startup.on_event(&Event { now_ns: 0, lost_bytes: 0, in_flight_bytes: 0, kind, mss_bytes: 1000 });
            let sent = |bin: u64| 1000 * (bin + 1);
            let left = (12..40).find(|bin| {
                startup.on_ack(&at_bin(*bin, RTT_US, total(*bin), sent(*bin))).phase() != Phase::Startup
            });
            assert!(left.is_none_or(|bin| (bin > 20) == again), "{id} {kind:?}: {left:?}");
            assert_eq!(left.is_none(), again && id == "search", "{id} {kind:?}: {left:?}");
        }
    }
}

#[test]
fn an_ack_without_a_sample_measures_nothing() {
    let mut startup = start("search", &[]);
    let before = startup.state().to_vec();
    startup.on_ack(&at_bin(0, 0, 1000, 0));
    assert_eq!(startup.state(), before);
}

#[test]
fn a_loss_ends_start_up_and_an_undone_one_resumes_it() {
    let mut startup = start("search", &[]);
    first(&mut startup, 0);
    let mut event =
        Event { now_ns: 0, lost_bytes: 1000, in_flight_bytes: 1000, kind: EventKind::Loss, mss_bytes: 1000 };
    assert_eq!(startup.on_event(&event).exit_reason(), ExitReason::Loss);
    event.kind = EventKind::Undone;
    assert_eq!(startup.on_event(&event).phase(), Phase::Startup);
    let total = |bin: u64| 1000 * (bin + 1).min(12);
    let left = (1..20).find(|bin| left_by_delivery(startup.on_ack(&at_bin(*bin, RTT_US, total(*bin), 0))));
    assert_eq!(left, Some(12));
}

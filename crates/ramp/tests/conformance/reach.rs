//! What a flight proves, and what follows from it, on flights whose ACKs come when a test says.

use rampcc::{AckFlags, EventKind, ExitReason, Phase};

use super::support::connection::{Connection, MS, PACKET, RTT_US};
use super::support::pipe::{Outcome, Pipe, play};
use super::support::{config, row};

/// Ten packets at one a millisecond: 100 packets in a round trip.
fn proved() -> Connection {
    let mut c = Connection::new(RTT_US, &[]);
    c.flight(9, MS, 0);
    assert_eq!((c.window(), c.pace()), (19, 0));
    c.flight(1, MS, 0);
    assert_eq!((c.window(), c.pace()), (70, 700), "the trial");
    c
}

/// What had left before the trial, and all of it.
fn tried(c: &mut Connection, gap_ns: u64) {
    while c.pace() == 700 {
        c.flight(1, gap_ns, 0);
    }
}

#[test]
fn a_clear_proof_is_tried_then_filled_then_landed_on() {
    let mut c = proved();
    tried(&mut c, MS);
    assert_eq!((c.window(), c.pace()), (105, 1050), "the fill");
    c.until_done(MS);
    assert_eq!((c.decision().exit_reason(), c.window(), c.pace()), (ExitReason::Proof, 100, 0));
    assert_eq!(c.told(), (100 * PACKET, 0));
    assert_eq!(c.decision().ssthresh_bytes, c.decision().cwnd_bytes);
}

/// Over an RTT of 100 ms a flight is at most ten times what has come back of the one before it.
#[test]
fn a_trial_is_no_larger_than_growth_allows_and_is_followed_by_a_larger_one() {
    let mut c = Connection::new(RTT_US, &[]);
    // One in 100 us: 1000 packets in a round trip, of which a trial would be 700.
    c.flight(10, MS / 10, 0);
    assert_eq!((c.window(), c.pace()), (100, 7000));
    c.flight(89, MS / 10, 0);
    assert_eq!(c.window(), 100);
    while c.window() == 100 {
        c.flight(1, MS / 10, 0);
    }
    assert_eq!((c.window(), c.pace()), (700, 7000), "all of it");
    let mut short = Connection::new(RTT_US, &[("far", 6)]);
    short.flight(10, MS / 10, 0);
    assert_eq!((short.window(), short.pace()), (60, 7000));
}

#[test]
fn a_trial_that_comes_back_slower_is_the_share() {
    let mut c = proved();
    c.until_done(4 * MS);
    // One in 4 ms: 25 in a round trip.
    assert_eq!((c.decision().exit_reason(), c.window()), (ExitReason::Share, 25));
    assert_eq!(c.told(), (25 * PACKET, 0));
}

/// It proves nothing, and closes what it was to open.
#[test]
fn a_trial_that_comes_back_in_one_ack_goes_back_to_the_search() {
    let mut c = proved();
    c.flight(9, MS, 0);
    c.together();
    assert_eq!((c.decision().phase(), c.window()), (Phase::Startup, 70));
    assert_ne!(c.pace(), 1050);
}

/// ACKs that a return link has spaced: the flights that leave faster come back faster.
#[test]
fn a_fill_that_comes_back_as_fast_as_it_left_is_filled_again() {
    let mut c = proved();
    tried(&mut c, MS);
    while c.pace() == 1050 {
        c.flight(1, MS / 2, 0);
    }
    // 1050 packets a second came back, and a quarter more is tried.
    assert!((1290..=1312).contains(&c.pace()), "{}", c.pace());
    assert_eq!(c.decision().phase(), Phase::Startup);
    c.until_done(MS / 2);
    assert_eq!(c.decision().exit_reason(), ExitReason::Proof);
    assert!((190..=205).contains(&c.window()), "{}", c.window());
}

/// What the path holds is no more than what is under way: nothing is left to try.
#[test]
fn where_the_path_is_full_already_the_first_flight_is_enough() {
    for (gap, holds) in [(10, 10), (5, 20)] {
        let mut c = Connection::new(RTT_US, &[]);
        c.flight(9, gap * MS, 0);
        assert_eq!(c.decision().phase(), Phase::Startup);
        c.flight(1, gap * MS, 0);
        assert_eq!((c.decision().exit_reason(), c.window()), (ExitReason::Proof, holds));
    }
}

/// A trial or fill beyond it ends start-up.
#[test]
fn no_landing_is_beyond_a_configured_ssthresh() {
    for (packets, reason) in
        [(110, ExitReason::Proof), (80, ExitReason::Ssthresh), (50, ExitReason::Ssthresh)]
    {
        let mut config = config(row("reach"), 10);
        config.handshake_rtt_us = RTT_US;
        config.initial_ssthresh_bytes = packets * PACKET;
        let mut c = Connection::begin(&config);
        c.until_done(MS);
        assert_eq!((c.decision().exit_reason(), c.window()), (reason, packets.min(100)));
        assert_eq!(c.decision().ssthresh_bytes, packets.min(100) * PACKET);
    }
}

/// The handshake bounds the first flight's proof: 60 ms late and all at once, ten packets prove ten in 60 ms. Without it
/// growth alone bounds what they open.
#[test]
fn bunched_acks_prove_little_and_the_handshake_tells() {
    for (handshake, window) in [(RTT_US, 23), (0, 100)] {
        let mut c = Connection::new(handshake, &[]);
        c.flight(9, 0, 60 * MS);
        c.flight(1, 1000, 60 * MS);
        assert_eq!((c.decision().phase(), c.window()), (Phase::Startup, window));
    }
}

/// Two ACKs for all of it: nothing says how evenly it came.
#[test]
fn a_flight_that_comes_back_in_two_acks_is_never_clear() {
    let mut c = Connection::new(RTT_US, &[]);
    c.bunch(5, 0);
    c.bunch(5, 5 * MS);
    assert_eq!(c.decision().phase(), Phase::Startup);
    assert!(c.window() <= 100 && c.pace() > 10_000, "no trial: {} at {}", c.window(), c.pace());
}

/// Nor in any number of writes, with any pauses: nothing opens, and nothing ends.
#[test]
fn writes_of_less_than_the_initial_window_prove_nothing() {
    for packets in 1..10 {
        for think in [0, 10 * MS, 200 * MS] {
            let mut c = Connection::writing(packets);
            for _ in 0..20 {
                c.write(MS / 5, think);
                assert_eq!(
                    (c.decision().phase(), c.window(), c.pace()),
                    (Phase::Startup, 10, 0),
                    "{packets}, {think}"
                );
            }
        }
    }
}

#[test]
fn a_flight_with_a_pause_of_the_application_is_not_clear() {
    let mut c = Connection::new(RTT_US, &[]);
    c.flight(2, MS, 0);
    c.flags |= AckFlags::APP_LIMITED;
    c.flight(1, MS, 0);
    c.flags = AckFlags::CWND_LIMITED;
    c.flight(6, MS, 0);
    assert_eq!((c.window(), c.pace()), (19, 0), "no trial");
    c.flight(1, MS, 0);
    assert!(c.window() >= 20);
}

/// What was proved before it is forgotten, whether or not start-up had ended and the end is undone.
#[test]
fn after_a_pause_measurement_begins_again() {
    for undone in [false, true] {
        let mut c = proved();
        if undone {
            c.tell(EventKind::Loss);
        }
        c.tell(EventKind::IdleRestart);
        if undone {
            c.tell(EventKind::Undone);
        }
        assert_eq!((c.decision().phase(), c.pace()), (Phase::Startup, 0));
        let decision = c.tell(EventKind::Loss);
        assert_eq!(decision.limit, 0);
    }
}

#[test]
fn a_loss_leaves_70_percent_and_a_mark_85_and_no_more_than_is_proved() {
    for (kind, in_trial, in_fill) in [(EventKind::Loss, 49, 73), (EventKind::Mark, 59, 89)] {
        let mut c = proved();
        let decision = c.tell(kind);
        assert_eq!(decision.cwnd_bytes, decision.ssthresh_bytes);
        assert_eq!((decision.phase(), decision.pacing_bytes_per_s), (Phase::Done, 0));
        assert_eq!((decision.ssthresh_bytes / PACKET, decision.limit / PACKET), (in_trial, 100), "{kind:?}");
        let mut c = proved();
        tried(&mut c, MS);
        let decision = c.tell(kind);
        assert_eq!((decision.ssthresh_bytes / PACKET, decision.limit / PACKET), (in_fill, 100), "{kind:?}");
    }
    // Of a fill half of which has come back at a quarter of the rate, that.
    let mut c = proved();
    tried(&mut c, MS);
    c.flight(90, 4 * MS, 0);
    assert_eq!(c.pace(), 1050);
    let decision = c.tell(EventKind::Loss);
    assert!((20..40).contains(&(decision.ssthresh_bytes / PACKET)), "{}", decision.ssthresh_bytes / PACKET);
    // Before anything is known the reduction is the host's.
    let mut c = Connection::new(RTT_US, &[]);
    c.flight(1, MS, 0);
    let decision = c.tell(EventKind::Loss);
    assert_eq!((decision.ssthresh_bytes, decision.limit), (rampcc::UNSET, 0));
}

/// Two packets back a nanosecond apart are no proof of a gigabyte a second.
#[test]
fn a_loss_before_a_judgement_lands_within_its_bounds() {
    let mut c = Connection::new(0, &[]);
    c.flight(1, 0, 0);
    c.flight(2, 1, 0);
    let decision = c.tell(EventKind::Loss);
    // Ten times the flight of ten packets is proved. The window is what three ACKs have made it.
    assert_eq!((decision.exit_reason(), decision.limit / PACKET), (ExitReason::Loss, 100));
    assert_eq!((decision.cwnd_bytes / PACKET, decision.ssthresh_bytes / PACKET), (9, 9));
}

/// Not even when it came.
#[test]
fn an_ack_whose_packet_left_nobody_knows_when_measures_nothing() {
    let proved = |unknown| {
        let mut c = Connection::new(RTT_US, &[]);
        c.flight(3, MS, 0);
        c.knows_when = false;
        c.flight(unknown, 20 * MS, 0);
        c.tell(EventKind::Loss).limit / PACKET
    };
    assert_eq!((proved(0), proved(1)), (100, 100));
}

#[test]
fn a_timeout_is_the_hosts() {
    let mut c = proved();
    let decision = c.tell(EventKind::Timeout);
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Done, ExitReason::Timeout));
    assert_eq!((decision.ssthresh_bytes, decision.limit / PACKET), (rampcc::UNSET, 100));
}

/// On a path of its own, with or without the round trip of the handshake.
fn on(pipe: &Pipe, handshake: bool) -> Outcome {
    let algorithm = row("reach");
    let mut config = config(algorithm, 10);
    config.mss_bytes = pipe.packet_bytes as u32;
    config.initial_window_bytes = 10 * pipe.packet_bytes;
    config.handshake_rtt_us = if handshake { (pipe.rtt_ns / 1000) as u32 } else { 0 };
    play(pipe, algorithm, &config)
}

/// 50 Mbit/s and 30 ms, with one BDP of buffer.
fn household(ack_every: usize) -> Pipe {
    let mut pipe = Pipe::new(50_000_000, 30_000, 1500, 0);
    pipe.ack_every = ack_every as _;
    pipe.access_bits_per_s = 10_000_000_000;
    pipe.buffer_packets = pipe.bdp_packets() as usize;
    pipe
}

/// Radios that wake up, SYN proxies in front of the server: start-up ends where it would, and loses nothing.
#[test]
fn a_handshake_that_was_slower_or_faster_than_the_path_costs_little() {
    for ack_every in [1, 2] {
        let pipe = household(ack_every);
        for offset_us in [-15_000, -5000, 0, 1000, 3000, 15_000, 60_000_i64] {
            let algorithm = row("reach");
            let mut config = config(algorithm, 10);
            config.mss_bytes = 1500;
            config.initial_window_bytes = 15_000;
            config.handshake_rtt_us = (30_000 + offset_us) as u32;
            let outcome = play(&pipe, algorithm, &config);
            let what = format!("{offset_us} us, one in {ack_every}");
            assert_eq!(outcome.decision.exit_reason(), ExitReason::Proof, "{what}");
            assert!((0.97..1.05).contains(&(outcome.cwnd / pipe.bdp_packets())), "{what}: {}", outcome.cwnd);
            assert!(outcome.loss_s.is_none(), "{what}");
            assert!(outcome.exit_s.expect("it leaves") < 0.28, "{what}: {:?}", outcome.exit_s);
        }
    }
}

/// GRO, phones, ACK-frequency extensions: it ends, by its own proof where there are ACKs enough to see one.
#[test]
fn receivers_that_acknowledge_few_packets_do_not_keep_start_up_going() {
    for ack_every in [4, 8, 16, 32] {
        let outcome = on(&household(ack_every), true);
        let ends = outcome.decision.exit_reason() != ExitReason::None || outcome.loss_s.is_some();
        assert!(ends, "one in {ack_every}");
        let most = 4.0 * household(1).bdp_packets();
        assert!(outcome.cwnd < most, "one in {ack_every}: {} of {most}", outcome.cwnd);
    }
}

#[test]
fn clean_paths_are_full_after_a_few_round_trips() {
    for (bits_per_s, rtt_us) in [(50_000_000, 40_000), (200_000_000, 100_000), (100_000_000, 600_000)] {
        for ack_every in [1, 2] {
            let mut pipe = Pipe::new(bits_per_s, rtt_us, 1500, 0);
            pipe.ack_every = ack_every;
            pipe.quick_acks = 16;
            pipe.access_bits_per_s = 10_000_000_000;
            let bdp = pipe.bdp_packets();
            pipe.buffer_packets = (bdp * 0.5) as usize;
            let outcome = on(&pipe, true);
            assert_eq!(outcome.decision.exit_reason(), ExitReason::Proof, "{bdp}");
            assert!((0.95..1.06).contains(&(outcome.cwnd / bdp)), "{} of {bdp}", outcome.cwnd);
            let rtts = outcome.exit_s.expect("it leaves") / (rtt_us as f64 * 1e-6);
            assert!(rtts < 9.0, "{bdp}: {rtts} round trips");
            assert!(
                outcome.queue_peak as f64 <= 0.3 * bdp + 10.0,
                "{bdp}: {} in the queue",
                outcome.queue_peak
            );
            assert!(outcome.loss_s.is_none());
        }
    }
}

/// What comes back never hides behind a queue of the flights' own, however deep the buffer is.
#[test]
fn start_up_ends_on_every_clean_path_without_a_loss() {
    for handshake in [true, false] {
        for ack_every in [1, 2] {
            for rtt_us in [1000, 30_000, 600_000] {
                let mut bdp: f64 = 0.3;
                while bdp < 3000.0 {
                    let bits_per_s = (bdp * 1500.0 * 8e6 / rtt_us as f64) as u64;
                    bdp *= 1.6;
                    if !(50_000..9_000_000_000).contains(&bits_per_s) {
                        continue;
                    }
                    let mut pipe = Pipe::new(bits_per_s, rtt_us, 1500, usize::MAX);
                    pipe.ack_every = ack_every;
                    pipe.access_bits_per_s = 10_000_000_000;
                    pipe.limit_ns = 100_000 * MS;
                    let outcome = on(&pipe, handshake);
                    let what = format!("{bits_per_s} bit/s, {rtt_us} us, {ack_every}, {handshake}");
                    let full = pipe.bdp_packets().max(10.0);
                    assert!(outcome.decision.exit_reason().is_estimate(), "{what}");
                    assert!((0.75..1.45).contains(&(outcome.cwnd / full)), "{what}: {}", outcome.cwnd / full);
                    assert!(outcome.queue_peak as f64 <= 2.0 * full, "{what}: {}", outcome.queue_peak);
                }
            }
        }
    }
}

/// Bunches blur the proofs, and the window has room for what they hold back. Where they prove nothing the
/// search is slow start, which a full buffer ends: at no more than twice what path and buffer hold.
#[test]
fn acks_in_bunches_do_not_flood_the_path() {
    for quantum_ms in [5, 10, 20, 40, 80] {
        for rtt_us in [10_000, 40_000, 200_000] {
            let held = 50e6 * quantum_ms as f64 * 1e-3 / 8.0 / 1500.0;
            let mut pipe = Pipe::new(50_000_000, rtt_us, 1500, 0);
            let bdp = pipe.bdp_packets();
            pipe.buffer_packets = (4.0 * (bdp + held)) as usize;
            pipe.ack_quantum_ns = quantum_ms * MS;
            pipe.limit_ns = 4000 * MS;
            let outcome = on(&pipe, true);
            let what = format!("{quantum_ms} ms, {rtt_us} us: {} of {bdp} + {held}", outcome.cwnd);
            if outcome.loss_s.is_some() {
                assert!(outcome.cwnd <= 2.0 * (pipe.buffer_packets as f64 + bdp + held), "{what}");
                continue;
            }
            assert!(outcome.decision.exit_reason().is_estimate(), "{what}");
            assert!((0.45 * bdp..1.5 * (bdp + held)).contains(&outcome.cwnd), "{what}");
        }
    }
}

//! What a flight proves, and what follows from it, on flights whose ACKs come as told.

use rampcc::{AckFlags, EventKind, ExitReason, Phase};

use super::support::connection::{Connection, MS, PACKET, RTT_US};
use super::support::pipe::{Outcome, Pipe, play};
use super::support::{config, row};

#[test]
fn a_clear_proof_of_a_quiet_flight_is_filled_at_once_and_landed_on() {
    let mut c = Connection::new(RTT_US - 1000, &[]);
    // Ten packets at one a millisecond: 100 packets in a round trip. Half of them are enough.
    c.flight(5, MS, 0);
    assert_eq!((c.window(), c.pace()), (15, 0));
    c.flight(1, MS, 0);
    assert_eq!((c.window(), c.pace()), (105, 1050), "the fill");
    c.until_done(MS);
    assert_eq!((c.decision().exit_reason(), c.window(), c.pace()), (ExitReason::Proof, 100, 0));
    assert_eq!(c.told(), (100 * PACKET, 0));
    assert_eq!(c.decision().ssthresh_bytes, c.decision().cwnd_bytes);
    assert!(c.now_ns <= 1000 * MS + 301 * MS, "three round trips and a packet's service: {} ns", c.now_ns);
}

/// Five packets in as many milliseconds, but the middle one half a millisecond late.
fn unquiet(c: &mut Connection) {
    c.flight(3, MS, 0);
    c.flight(1, MS + MS / 2, 0);
    c.flight(1, MS / 2, 0);
    c.flight(1, MS, 0);
}

#[test]
fn where_somebody_may_be_it_is_tried_at_half_and_ends_with_room() {
    let mut c = Connection::new(RTT_US, &[]);
    unquiet(&mut c);
    assert_eq!((c.window(), c.pace()), (50, 500), "the trial");
    // Twenty packets have left before it, and 36 make it up. A quarter of them comes back as it left.
    c.flight(23, MS, 0);
    assert_eq!((c.window(), c.pace()), (50, 500), "the trial");
    c.flight(1, MS, 0);
    assert_eq!((c.window(), c.pace()), (105, 1050), "the fill");
    assert_eq!(c.decision().phase(), Phase::Startup);
    c.until_done(MS);
    assert_eq!((c.decision().exit_reason(), c.window(), c.pace()), (ExitReason::Proof, 125, 0));
    // Half a millisecond out of step, twice, of five; and the handshake fits to 248 us.
    assert_eq!(c.told(), (100 * PACKET, 20_246));
    assert_eq!(c.decision().ssthresh_bytes, c.decision().cwnd_bytes);
    assert!(c.now_ns <= 1000 * MS + 401 * MS, "four round trips and a packet's service: {} ns", c.now_ns);
}

/// Not even with `room`, and a fill that goes there ends start-up.
#[test]
fn no_landing_is_beyond_a_configured_ssthresh() {
    for (packets, reason) in [(110, ExitReason::Proof), (80, ExitReason::Ssthresh)] {
        let mut config = config(row("reach"), 10);
        config.handshake_rtt_us = RTT_US;
        config.initial_ssthresh_bytes = packets * PACKET;
        let mut c = Connection::begin(&config);
        unquiet(&mut c);
        c.until_done(MS);
        assert_eq!((c.decision().exit_reason(), c.window()), (reason, packets));
        assert_eq!(c.decision().ssthresh_bytes, packets * PACKET);
    }
}

#[test]
fn a_trial_that_comes_back_slower_is_the_share() {
    let mut c = Connection::new(RTT_US, &[]);
    unquiet(&mut c);
    assert_eq!(c.pace(), 500);
    c.flight(4, MS, 0);
    c.until_done(4 * MS);
    // One in 4 ms: 25 in a round trip, and a quarter of room.
    assert_eq!((c.decision().exit_reason(), c.window()), (ExitReason::Share, 31));
    // The handshake fits to 248 us: of a base RTT of 100 ms and of 36 ms.
    assert_eq!(c.told(), (25 * PACKET, 234));
}

/// ACKs that a return link has spaced: the flights that leave faster come back faster.
#[test]
fn a_fill_that_comes_back_as_fast_as_it_left_is_filled_again() {
    let mut c = Connection::new(RTT_US - 1000, &[]);
    c.flight(6, MS, 0);
    assert_eq!((c.window(), c.pace()), (105, 1050), "the fill");
    // The path serves one in half a millisecond: what was under way before it, and the fill.
    c.flight(4, MS, 0);
    while c.pace() == 1050 {
        c.flight(1, MS / 2, 0);
    }
    // 1050 packets a second came back, and a quarter more is tried.
    assert!((1290..=1312).contains(&c.pace()), "{}", c.pace());
    assert_eq!(c.decision().phase(), Phase::Startup);
    c.until_done(MS / 2);
    // Three fills later it is 2000 a second: 200 in a round trip.
    assert_eq!(c.decision().exit_reason(), ExitReason::Proof);
    assert!((190..=205).contains(&c.window()), "{}", c.window());
}

/// It came faster than the rate, but after a long wait, or in two halves: that is no estimate.
#[test]
fn a_fill_that_is_not_clear_raises_nothing() {
    for in_time in [0, 40] {
        let mut c = Connection::new(RTT_US - 1000, &[]);
        c.flight(6, MS, 0);
        assert_eq!((c.window(), c.pace()), (105, 1050), "the fill");
        // What was under way before it, and of it.
        c.flight(9 + in_time, 0, 0);
        c.flight(1, 0, 60 * MS);
        c.until_done(0);
        assert_eq!((c.decision().exit_reason(), c.window()), (ExitReason::Proof, 100));
    }
}

#[test]
fn near_the_flight_the_next_has_to_agree() {
    // 20 packets in a round trip are no more than two flights of ten.
    let mut c = Connection::new(RTT_US, &[]);
    c.flight(10, 5 * MS, 0);
    assert_eq!((c.decision().phase(), c.window(), c.pace()), (Phase::Startup, 20, 0));
    // What the first flight's ACKs let out is the next.
    c.flight(19, 5 * MS, 0);
    assert_eq!((c.decision().phase(), c.window(), c.pace()), (Phase::Startup, 39, 0));
    c.flight(1, 5 * MS, 0);
    assert_eq!((c.decision().exit_reason(), c.window()), (ExitReason::Agreement, 20));
    // The handshake fits to 1248 us, of a base RTT of 100 ms and of the flight's 95 ms.
    assert_eq!(c.told(), (20 * PACKET, 511));
    let mut once = Connection::new(RTT_US, &[("near", 0)]);
    once.flight(6, 5 * MS, 0);
    assert_eq!(once.pace(), 100, "without the rule the first is believed");
}

/// The return link gives more when more ACKs wait.
#[test]
fn near_the_flight_a_rate_that_rises_is_not_confirmed() {
    let mut c = Connection::new(RTT_US, &[]);
    c.flight(10, 5 * MS, 0);
    c.flight(10, 5 * MS, 0);
    c.flight(10, 2 * MS, 0);
    assert_eq!((c.decision().phase(), c.window(), c.pace()), (Phase::Startup, 40, 0));
    // It is slow start until a proof is clear again.
    c.flight(40, MS / 2, 0);
    assert_eq!((c.decision().phase(), c.window()), (Phase::Startup, 80));
}

/// Where the proof is right, more than twice its window is only a queue.
#[test]
fn near_the_flight_the_window_stops_at_twice_the_proof() {
    let mut c = Connection::new(RTT_US, &[]);
    c.flight(10, 10 * MS, 0);
    c.flight(19, 10 * MS, 0);
    assert_eq!((c.decision().phase(), c.window()), (Phase::Startup, 20));
    c.until_done(10 * MS);
    assert_eq!((c.decision().exit_reason(), c.window()), (ExitReason::Agreement, 10));
    assert_eq!(c.told(), (10 * PACKET, 380));
}

/// Behind ACKs that come in grants each flight waits behind the one before, and none is clear. However deep the buffer, the
/// time that a flight takes to come back says when the path is full.
#[test]
fn near_the_flight_a_standing_queue_confirms_too() {
    for (rtt_us, quantum_ns) in [(600_000, 20 * MS), (300_000, 10 * MS)] {
        let mut pipe = Pipe::new(145_000_000, rtt_us, 1500, usize::MAX);
        pipe.ack_quantum_ns = quantum_ns;
        pipe.limit_ns = 30_000 * MS;
        let outcome = on(&pipe, true);
        let bdp = pipe.bdp_packets();
        assert_eq!(outcome.decision.exit_reason(), ExitReason::Agreement);
        assert!((0.95..1.3).contains(&(outcome.cwnd / bdp)), "{} of {bdp}", outcome.cwnd);
        assert!((outcome.queue_peak as f64) < 1.3 * bdp, "{} in the queue of {bdp}", outcome.queue_peak);
    }
}

/// The first ACK covers two packets, and the second of them has waited for the first.
#[test]
fn delayed_acks_do_not_make_the_first_flight_look_slow() {
    for (bits_per_s, rtt_us) in [(50_000_000, 40_000), (200_000_000, 100_000), (100_000_000, 600_000)] {
        let mut pipe = Pipe::new(bits_per_s, rtt_us, 1500, 0);
        pipe.ack_every = 2;
        pipe.quick_acks = 0;
        pipe.access_bits_per_s = 10_000_000_000;
        let bdp = pipe.bdp_packets();
        pipe.buffer_packets = (bdp * 0.5) as usize;
        let outcome = on(&pipe, true);
        assert_eq!(outcome.decision.exit_reason(), ExitReason::Proof, "{bdp}");
        assert!((0.98..1.03).contains(&(outcome.cwnd / bdp)), "{} of {bdp}", outcome.cwnd);
        let rtts = outcome.exit_s.expect("it leaves") / (rtt_us as f64 * 1e-6);
        assert!(rtts < 3.2, "{bdp}: {rtts} round trips");
    }
}

/// Ten packets in 20 us are quiet only if their quarters are told more finely than in microseconds.
#[test]
fn a_flight_of_some_microseconds_can_be_quiet() {
    let mut pipe = Pipe::new(5_000_000_000, 2_000, 1500, 2000);
    pipe.access_bits_per_s = 100_000_000_000;
    let outcome = on(&pipe, true);
    assert_eq!(outcome.decision.exit_reason(), ExitReason::Proof);
    let bdp = pipe.bdp_packets();
    assert!(
        (0.97..1.05).contains(&(outcome.cwnd / bdp)),
        "{} of {bdp}: no room where it is quiet",
        outcome.cwnd
    );
}

#[test]
fn bunched_acks_prove_little_and_the_handshake_tells() {
    // All ten at once, 60 ms late. With the base RTT known they prove nine in 60 ms, less than the
    // double of the window, which the ACKs have doubled before; without, as much as growth allows.
    for (handshake, window) in [(RTT_US, 40), (0, 320)] {
        let mut c = Connection::new(handshake, &[]);
        c.flight(9, 0, 60 * MS);
        c.flight(1, 1000, 60 * MS);
        assert_eq!((c.decision().phase(), c.window()), (Phase::Startup, window));
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
    assert_eq!((c.window(), c.pace()), (19, 0), "no trial at the half");
    c.flight(1, MS, 0);
    assert!(c.window() >= 20);
}

#[test]
fn after_a_pause_measurement_begins_again() {
    let mut c = Connection::new(RTT_US, &[]);
    c.flight(6, MS, 0);
    assert_eq!(c.pace(), 500);
    let decision = c.tell(EventKind::IdleRestart);
    assert_eq!((decision.phase(), decision.pacing_bytes_per_s), (Phase::Startup, 0));
    // What was proved before it is forgotten.
    let decision = c.tell(EventKind::Loss);
    assert_eq!((decision.ssthresh_bytes, decision.limit), (rampcc::UNSET, 0));
}

/// A loss that is undone gives start-up back as it was, but not what was proved before a pause between the two.
#[test]
fn a_pause_before_the_undoing_forgets_too() {
    for (pause, pace, proved) in [(false, 500, 100), (true, 0, 0)] {
        let mut c = Connection::new(RTT_US, &[]);
        c.flight(6, MS, 0);
        c.tell(EventKind::Loss);
        if pause {
            c.tell(EventKind::IdleRestart);
        }
        let decision = c.tell(EventKind::Undone);
        assert_eq!((decision.phase(), c.pace()), (Phase::Startup, pace));
        let decision = c.tell(EventKind::Loss);
        assert_eq!((decision.exit_reason(), decision.limit / PACKET), (ExitReason::Loss, proved));
    }
}

#[test]
fn a_loss_leaves_at_what_is_proved() {
    // In the fill. In the trial that would be 125, and no loss raises the window.
    for (handshake_us, window) in [(RTT_US - 1000, 100), (RTT_US, 50)] {
        let mut c = Connection::new(handshake_us, &[]);
        c.flight(6, MS, 0);
        let decision = c.tell(EventKind::Loss);
        assert_eq!(decision.cwnd_bytes, decision.ssthresh_bytes);
        assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Done, ExitReason::Loss));
        assert_eq!((decision.ssthresh_bytes / PACKET, decision.pacing_bytes_per_s), (window, 0));
        assert_eq!((decision.limit / PACKET, decision.evidence), (100, 0), "proved, and lost");
    }
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
    // `cap` times the flight of ten packets is proved. The window is what three ACKs have made it.
    assert_eq!((decision.exit_reason(), decision.limit / PACKET), (ExitReason::Loss, 320));
    assert_eq!((decision.cwnd_bytes / PACKET, decision.ssthresh_bytes / PACKET), (13, 13));
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
    let mut c = Connection::new(RTT_US, &[]);
    c.flight(6, MS, 0);
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

#[test]
fn clean_paths_are_full_after_four_round_trips() {
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
            assert!(rtts < 4.5, "{bdp}: {rtts} round trips");
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
            assert!((0.5 * bdp..1.35 * (bdp + held)).contains(&outcome.cwnd), "{what}");
        }
    }
}

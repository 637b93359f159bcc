//! RFC 6582.

mod support;

use rampcc::Time;
use rampcc_tcp::{Profile, Recovery};
use support::{Script, config, ms};

fn script(recovery: Recovery) -> Script {
    let mut rules = config(Profile::Era);
    rules.recovery = recovery;
    rules.limited_transmit = false;
    let mut script = Script::warmed_up(&rules, 20);
    // Holes at 0, 5 and 10: every other arrival is a duplicate ACK.
    for i in 0..2 {
        assert!(script.ack(ms(100 + i), 0, &[]).is_empty());
    }
    assert_eq!(script.ack(ms(102), 0, &[]), [0]);
    script
}

#[test]
fn inflates_by_one_segment_per_duplicate() {
    let mut script = script(Recovery::NewRenoImpatient);
    assert_eq!((script.cwnd(), script.ssthresh()), (13, 10));
    for i in 0..7 {
        assert!(script.ack(ms(103 + i), 0, &[]).is_empty());
    }
    assert_eq!(script.cwnd(), 20);
    assert_eq!(script.ack(ms(111), 0, &[]), [20], "21 segments of window, 20 outstanding");
}

#[test]
fn a_partial_ack_repairs_the_next_hole_and_deflates() {
    let mut script = script(Recovery::NewRenoImpatient);
    for i in 0..14 {
        script.ack(ms(103 + i), 0, &[]);
    }
    let before = script.cwnd();
    assert_eq!(script.ack(ms(203), 5, &[])[0], 5);
    assert_eq!(script.cwnd(), before - 5 + 1);
    assert_eq!(script.ack(ms(304), 10, &[])[0], 10);
}

#[test]
fn a_full_ack_ends_it_at_half_the_window() {
    let mut script = script(Recovery::NewRenoImpatient);
    script.ack(ms(203), 20, &[]);
    assert!(script.events.contains(&rampcc_trace::FlowEventKind::RecoveryEnd));
    assert!(script.cwnd() <= script.ssthresh());
}

fn timer_moves(recovery: Recovery) -> [bool; 2] {
    let mut script = script(recovery);
    let mut last = script.sender.poll_timeout();
    [5, 10].map(|ack| {
        script.ack(ms(200 + 20 * ack), ack, &[]);
        let moved = script.sender.poll_timeout() != last;
        last = script.sender.poll_timeout();
        moved
    })
}

#[test]
fn the_impatient_variant_restarts_the_timer_on_the_first_partial_ack_only() {
    assert_eq!(timer_moves(Recovery::NewRenoImpatient), [true, false]);
}

#[test]
fn the_steady_variant_restarts_the_timer_on_every_partial_ack() {
    assert_eq!(timer_moves(Recovery::NewRenoSteady), [true, true]);
}

#[test]
fn duplicates_of_its_own_retransmissions_do_not_start_it_again() {
    let mut script = script(Recovery::NewRenoImpatient);
    let retransmitted = script.wait();
    assert_eq!(retransmitted, [0], "the timeout");
    assert!(script.now > Time::ZERO);
    // ns-2 makes an exception for the first segment.
    let now = script.now + ms(100);
    assert_eq!(script.ack(now, 5, &[]), [5, 6]);
    for i in 1..7 {
        assert!(script.ack(now + ms(i), 5, &[]).is_empty());
    }
    let starts = script
        .events
        .iter()
        .filter(|e| matches!(e, rampcc_trace::FlowEventKind::RecoveryStart { .. }))
        .count();
    assert_eq!(starts, 1);
}

//! Loss recovery of Linux 2.6: FACK, rate halving, and windows that are never far above what is in flight.

mod support;

use rampcc_tcp::{Profile, Recovery, SenderConfig};
use rampcc_trace::{FlowEventKind, SenderState};
use support::{Script, config, ms};

fn rules(recovery: Recovery) -> SenderConfig {
    SenderConfig { recovery, ..config(Profile::Era) }
}

fn fack(flight: u64) -> Script {
    Script::warmed_up(&rules(Recovery::Fack), flight)
}

#[test]
fn a_single_sack_far_ahead_is_a_loss() {
    let mut script = fack(20);
    // 4 has arrived: 0 and 1 are three or more below it.
    assert_eq!(script.ack(ms(100), 0, &[(4, 5)]), [0]);
    assert_eq!(script.sender.sample(script.now).state, SenderState::Recovery);
    assert_eq!(script.ssthresh(), 10);

    let mut rfc = Script::warmed_up(&rules(Recovery::Sack), 20);
    assert_eq!(rfc.ack(ms(100), 0, &[(4, 5)]), [20], "RFC 6675 waits for three of them");
}

#[test]
fn the_window_falls_with_what_is_in_flight() {
    let mut script = fack(20);
    script.ack(ms(100), 0, &[(4, 5)]);
    // 20 sent, 1 SACKed, 2 lost, 1 sent again.
    assert_eq!((script.in_flight(), script.cwnd()), (18, 18));
    // Twelve more are lost with one ACK: one segment more than what is in flight, whatever ssthresh says.
    assert_eq!(script.ack(ms(101), 0, &[(17, 18), (4, 5)]), [1]);
    assert_eq!((script.in_flight(), script.cwnd(), script.ssthresh()), (6, 6, 10));
}

#[test]
fn every_second_ack_takes_a_segment_off() {
    let mut script = fack(40);
    script.ack(ms(100), 0, &[(4, 5)]);
    let mut windows = vec![script.cwnd()];
    for last in 6..14 {
        script.ack(ms(96 + last), 0, &[(4, last)]);
        windows.push(script.cwnd());
    }
    // As long as each ACK finds a loss, what is in flight bounds it.
    assert_eq!(windows, [38, 37, 36, 35, 35, 34, 34, 33, 33]);
}

#[test]
fn recovery_ends_with_little_and_slow_start_takes_over() {
    let mut script = fack(20);
    script.ack(ms(100), 0, &[(4, 5)]);
    script.ack(ms(101), 0, &[(4, 20)]);
    // Nothing but retransmissions is in flight when the last hole closes.
    assert!(script.ack(ms(200), 20, &[]).len() <= 4);
    assert_eq!(script.sender.sample(script.now).state, SenderState::Open);
    assert!(script.cwnd() <= 4 && script.ssthresh() == 10, "{} and {}", script.cwnd(), script.ssthresh());

    let mut rfc = Script::warmed_up(&rules(Recovery::Sack), 20);
    rfc.ack(ms(100), 0, &[(4, 5)]);
    rfc.ack(ms(101), 0, &[(4, 20)]);
    rfc.ack(ms(200), 20, &[]);
    assert_eq!(rfc.cwnd(), 10, "RFC 6675 goes on with half of the window");
}

/// What silences a sender whose ACKs are lost (docs/guide/cpu.md).
#[test]
fn places_that_one_ack_frees_together_are_lost_for_good() {
    let mut script = fack(40);
    // The ACKs for what arrived between the two holes were lost, so that FACK takes 1 to 26 for lost, too.
    script.ack(ms(100), 0, &[(29, 30)]);
    for end in 31..=40 {
        script.ack(ms(70 + end), 0, &[(29, end)]);
    }
    let before = script.in_flight();
    assert_eq!((before, script.cwnd()), (10, 10));
    // The receiver had 1 to 6: one ACK tells of seven retransmissions, and one segment may follow.
    assert_eq!(script.ack(ms(200), 7, &[(29, 40)]).len(), 1);
    assert_eq!((script.in_flight(), script.cwnd()), (before - 6, before - 6));
    // Their own arrival says nothing new, and lets nothing leave.
    for later in 1..=6 {
        assert!(script.ack(ms(200 + later), 7, &[(29, 40)]).is_empty());
    }
    // From now on one follows another, a round trip apart.
    for number in 8..12 {
        assert_eq!(script.ack(ms(250 + number), number, &[(29, 40)]).len(), 1);
        assert_eq!(script.in_flight(), before - 6);
    }
}

/// 0 to 3 of twenty are lost and the others arrive one by one. What leaves meanwhile.
fn repaired(rules: &SenderConfig) -> (Script, Vec<u64>) {
    let mut script = Script::warmed_up(rules, 20);
    let mut left = vec![];
    for end in 5..=20 {
        left.extend(script.ack(ms(95 + end), 0, &[(4, end)]));
    }
    (script, left)
}

#[test]
fn new_data_that_arrive_show_that_a_retransmission_is_lost() {
    let (mut script, left) = repaired(&rules(Recovery::Fack));
    assert_eq!(left[..5], [0, 1, 2, 3, 20]);
    assert!(script.ack(ms(201), 0, &[(1, 20)]).iter().all(|&number| number > 20), "0 may yet arrive");
    // 20 left after 0 had been sent again, and is here before it.
    assert_eq!(script.ack(ms(202), 0, &[(1, 21)]), [0]);
}

#[test]
fn without_new_data_only_the_timer_finds_it() {
    let (mut script, left) =
        repaired(&SenderConfig { send_buffer_bytes: 20 * support::MSS, ..rules(Recovery::Fack) });
    assert_eq!(left, [0, 1, 2, 3], "there is no room for new data");
    assert!(script.ack(ms(201), 0, &[(1, 20)]).is_empty());
    assert_eq!(script.wait(), [0]);
    assert!(script.events.iter().any(|event| matches!(event, FlowEventKind::Timeout { .. })));
}

/// Linux 2.6.15 to 2.6.23.
#[test]
fn a_search_that_goes_on_from_its_last_end_finds_no_lost_retransmission_before_it() {
    let (mut script, left) = repaired(&rules(Recovery::FackHints));
    assert_eq!(left[..5], [0, 1, 2, 3, 20]);
    assert!(script.ack(ms(201), 0, &[(1, 20)]).iter().all(|&number| number > 20));
    // Only the first block grows, and nothing has left the queue: 0 lies before the end of the last search.
    assert!(script.ack(ms(202), 0, &[(1, 21)]).iter().all(|&number| number > 20));
    assert!(script.ack(ms(203), 0, &[(1, 22)]).iter().all(|&number| number > 20));
    // A new block makes it begin at the head, and the way to the end of the older one passes 0 by.
    assert!(script.ack(ms(204), 0, &[(23, 24), (1, 22)]).contains(&0));
}

#[test]
fn what_has_waited_for_longer_than_a_timeout_is_lost_with_the_oldest() {
    let mut script = fack(20);
    script.ack(ms(100), 0, &[(4, 5)]);
    assert_eq!((script.in_flight(), script.cwnd()), (18, 18));
    // 5 to 19 left 390 ms ago, and so did 2, which is the oldest now and was not believed lost.
    let left = script.ack(ms(390), 2, &[]);
    assert_eq!(left[0], 2, "{left:?}");
    assert!(script.in_flight() <= 2 && script.cwnd() <= 2, "{} of {}", script.in_flight(), script.cwnd());
    // One hole a round trip, as long as each ACK restarts the timer.
    assert_eq!(script.ack(ms(490), 3, &[])[0], 3);
    assert!(!script.events.iter().any(|event| matches!(event, FlowEventKind::Timeout { .. })));
}

#[test]
fn after_a_timeout_the_window_stays_near_what_is_in_flight() {
    let mut script = fack(20);
    assert_eq!(script.wait(), [0]);
    let at = script.now + ms(100);
    // The ACK tells of everything but one segment.
    script.ack(at, 10, &[(11, 20)]);
    assert!(script.cwnd() <= script.in_flight() + 3);
}

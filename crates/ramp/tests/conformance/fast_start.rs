//! [PK98], as far as its abstract goes.

use rampcc::{AckFlags, EventKind, ExitReason, Hint, Phase, UNSET};

use super::sender::{PACKET, Sender, remembered};

fn with(hint: Hint) -> Sender {
    Sender::with("fast_start", hint, 150_000, |_| {})
}

#[test]
fn it_begins_with_the_remembered_window_over_the_remembered_round_trip() {
    let decision = with(remembered(80, 200_000, 600)).decision();
    assert_eq!((decision.cwnd_bytes, decision.pacing_bytes_per_s), (80 * PACKET, 400 * PACKET));
    // On a path that its round trip shows to be another, or of which none is remembered, it is slow start.
    for rtt_us in [0, 14_999, 300_000] {
        let decision = with(remembered(80, rtt_us, 600)).decision();
        assert_eq!((decision.cwnd_bytes, decision.pacing_bytes_per_s), (10 * PACKET, 0), "{rtt_us}");
    }
}

#[test]
fn without_more_than_the_initial_window_it_is_slow_start() {
    for hint in [Hint::NONE, remembered(80, 200_000, 601), remembered(10, 200_000, 0)] {
        let mut sender = with(hint);
        sender.fill();
        sender.ack(1);
        let decision = sender.decision();
        assert_eq!((decision.cwnd_bytes, decision.ssthresh_bytes), (11 * PACKET, UNSET), "{hint:?}");
    }
}

#[test]
fn a_window_that_was_right_is_kept() {
    let mut sender = with(remembered(80, 200_000, 0));
    sender.fill();
    for _ in 0..79 {
        let decision = sender.ack(1);
        assert_eq!((decision.cwnd_bytes, decision.pacing_bytes_per_s), (80 * PACKET, 0));
        assert_eq!(decision.phase(), Phase::Startup);
    }
    let decision = sender.ack(1);
    assert_eq!((decision.exit_reason(), decision.ssthresh_bytes), (ExitReason::Ssthresh, 80 * PACKET));
}

#[test]
fn what_the_receivers_window_holds_back_is_spaced_as_well() {
    let mut sender = with(remembered(80, 200_000, 0));
    sender.send(45);
    assert_eq!(sender.ack(1).pacing_bytes_per_s, 400 * PACKET);
    sender.send(35);
    assert_eq!(sender.ack(1).pacing_bytes_per_s, 0);
    let mut sender = with(remembered(80, 200_000, 0));
    sender.send(45);
    assert_eq!(sender.ack_with(1, |ack| ack.flags |= AckFlags::APP_LIMITED).pacing_bytes_per_s, 0);
}

#[test]
fn a_loss_leads_back_to_the_initial_window_and_slow_start_to_half_of_the_remembered_one() {
    let mut sender = with(remembered(80, 200_000, 0));
    sender.fill();
    sender.ack(1);
    let decision = sender.tell(EventKind::Loss, 3);
    assert_eq!((decision.phase(), decision.ssthresh_bytes), (Phase::Leaving, 10 * PACKET));
    for acked in 1..40 {
        let decision = sender.ack_with(1, |ack| ack.flags |= AckFlags::RECOVERING);
        assert_eq!(decision.ssthresh_bytes, (10 + acked).min(40) * PACKET);
    }
    let decision = sender.tell(EventKind::Recovered, 0);
    assert_eq!((decision.phase(), decision.ssthresh_bytes), (Phase::Done, 40 * PACKET));
    assert_eq!(decision.exit_reason(), ExitReason::Loss);
}

#[test]
fn marks_and_timeouts_are_the_hosts_and_what_was_none_is_taken_back() {
    for kind in [EventKind::Mark, EventKind::Timeout, EventKind::Loss] {
        let mut sender = with(remembered(80, 200_000, 0));
        sender.fill();
        let before = sender.decision();
        let decision = sender.tell(kind, 1);
        assert_eq!(decision.pacing_bytes_per_s, 0);
        assert_eq!(decision.phase(), if kind == EventKind::Loss { Phase::Leaving } else { Phase::Done });
        sender.startup.decision_mut().ssthresh_bytes = before.ssthresh_bytes;
        assert_eq!(sender.tell(EventKind::Undone, 0), before);
    }
}

#[test]
fn after_a_pause_slow_start_leads_to_the_remembered_window() {
    let mut sender = with(remembered(80, 200_000, 0));
    sender.send(20);
    sender.ack(20);
    sender.tell(EventKind::IdleRestart, 0);
    sender.startup.decision_mut().cwnd_bytes = 10 * PACKET;
    sender.fill();
    assert_eq!(sender.ack(1).cwnd_bytes, 11 * PACKET);
    sender.send(100);
    for _ in 0..69 {
        sender.ack(1);
    }
    assert_eq!((sender.cwnd(), sender.decision().exit_reason()), (80, ExitReason::Ssthresh));
}

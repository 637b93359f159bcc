//! RFC 9959, the phases of its §3 and the numbers of its appendix.

use rampcc::{AckFlags, Decision, EventKind, ExitReason, Hint, HintSource, Phase, UNSET};

use super::sender::{MS, PACKET, Sender, remembered};
use super::support::{row, set};

fn resuming(hint: Hint, rtt_us: u32) -> Sender {
    Sender::with("careful", hint, rtt_us, |_| {})
}

/// The initial window is sent and acknowledged, one packet after the other.
fn reconnoitre(sender: &mut Sender) -> Decision {
    sender.fill();
    for _ in 0..9 {
        sender.ack(1);
        sender.fill();
    }
    sender.ack(1)
}

#[test]
fn section_3_2_a_path_like_the_remembered_one_is_resumed() {
    // RTT of the handshake, ms; whether it jumps. Half the remembered RTT is too little, ten times is not yet too much.
    for (rtt_ms, jumps) in
        [(40, false), (50, false), (51, true), (100, true), (999, true), (1000, true), (1001, false)]
    {
        let mut sender = resuming(remembered(200, 100_000, 0), rtt_ms * 1000);
        let decision = reconnoitre(&mut sender);
        assert_eq!(decision.phase(), Phase::Startup);
        if jumps {
            let rate = 100 * PACKET * 1000 / u64::from(rtt_ms);
            assert_eq!((sender.cwnd(), decision.pacing_bytes_per_s), (100, rate), "{rtt_ms} ms");
        } else {
            assert_eq!((sender.cwnd(), decision.pacing_bytes_per_s), (20, 0), "{rtt_ms} ms");
        }
    }
}

#[test]
fn section_3_2_the_smallest_round_trip_counts_and_the_current_one_paces() {
    let mut sender = resuming(remembered(200, 100_000, 0), 51_000);
    sender.rtt_us = 2_000_000;
    let decision = reconnoitre(&mut sender);
    assert_eq!((sender.cwnd(), decision.pacing_bytes_per_s), (100, 50 * PACKET));
    let mut sender = resuming(remembered(200, 100_000, 0), 2_000_000);
    sender.rtt_us = 50_000;
    reconnoitre(&mut sender);
    assert_eq!(sender.cwnd(), 20);
}

#[test]
fn section_3_2_what_is_unknown_too_old_or_small_is_not_used() {
    let mut none = Hint::of(HintSource::History);
    none.rtt_us = 100_000;
    let cases = [
        Hint::NONE,
        none,
        remembered(200, 0, 0),
        remembered(200, 100_000, 3601),
        // Half of it is no more than slow start has reached by then.
        remembered(40, 100_000, 0),
    ];
    for hint in cases {
        let mut sender = resuming(hint, 100_000);
        let decision = reconnoitre(&mut sender);
        assert_eq!((sender.cwnd(), decision.pacing_bytes_per_s), (20, 0), "{hint:?}");
    }
    let mut sender = resuming(remembered(200, 100_000, 3600), 100_000);
    reconnoitre(&mut sender);
    assert_eq!(sender.cwnd(), 100);
}

#[test]
fn section_3_2_a_sender_with_too_little_to_send_waits() {
    for flags in [0, AckFlags::CWND_LIMITED | AckFlags::APP_LIMITED] {
        let mut sender = resuming(remembered(200, 100_000, 0), 100_000);
        sender.fill();
        for _ in 0..10 {
            sender.ack_with(1, |ack| ack.flags = flags);
        }
        assert!(sender.cwnd() <= 20);
        sender.fill();
        sender.ack(1);
        assert_eq!(sender.cwnd(), 100);
    }
}

#[test]
fn section_3_2_congestion_in_reconnaissance_leaves_normal_congestion_control() {
    for kind in [EventKind::Loss, EventKind::Mark, EventKind::Timeout] {
        let mut sender = resuming(remembered(200, 100_000, 0), 100_000);
        sender.fill();
        sender.ack(1);
        let decision = sender.tell(kind, 1);
        assert_eq!((decision.phase(), decision.ssthresh_bytes), (Phase::Done, UNSET), "the host's own rule");
    }
    // A loss that the host has taken back is still one that was reported.
    let mut sender = resuming(remembered(200, 100_000, 0), 100_000);
    sender.fill();
    for _ in 0..10 {
        sender.ack_with(1, |ack| ack.lost_bytes = PACKET);
        sender.fill();
    }
    assert_eq!(sender.cwnd(), 20);
}

#[test]
fn the_configured_limits_hold() {
    let algorithm = row("careful");
    let limits: [(&str, u64, u64); 3] = [("jump", 25, 50), ("max_jump", 64, 64), ("max_jump", 0, 100)];
    for (name, value, window) in limits {
        let hint = remembered(200, 100_000, 0);
        let mut sender = Sender::with("careful", hint, 100_000, |config| set(config, algorithm, name, value));
        reconnoitre(&mut sender);
        assert_eq!(sender.cwnd(), window, "{name} = {value}");
    }
}

/// 18 packets in flight, a jump to 100, and all of it sent.
fn jumped() -> Sender {
    let mut sender = resuming(remembered(200, 100_000, 0), 100_000);
    reconnoitre(&mut sender);
    assert_eq!((sender.sent, sender.acked), (28, 10));
    sender
}

#[test]
fn appendix_a_1_no_loss() {
    let mut sender = jumped();
    // The flight drains while the jump is spaced out; the window does not move.
    for _ in 0..18 {
        sender.send(5);
        assert_eq!(sender.ack(1).cwnd_bytes, 100 * PACKET);
    }
    let sent = sender.sent;
    // The first unvalidated packet: what is in flight is the window, and it is spaced no more.
    let flight = sender.sent - sender.acked;
    let decision = sender.ack(1);
    assert_eq!((decision.cwnd_bytes, decision.pacing_bytes_per_s), ((flight - 1) * PACKET, 0));
    // Then slow start goes on.
    let mut window = sender.cwnd();
    while sender.acked < sent {
        sender.fill();
        sender.ack(1);
        window += 1;
        assert_eq!(sender.cwnd(), window);
    }
    assert_eq!(sender.decision().phase(), Phase::Startup);
    // The jump is validated: a loss from now on is one like any other.
    assert_eq!(sender.tell(EventKind::Loss, 1).phase(), Phase::Done);
    assert_eq!(sender.decision().ssthresh_bytes, UNSET);
}

#[test]
fn section_3_3_a_filled_window_ends_it_as_well() {
    let mut sender = jumped();
    sender.fill();
    let decision = sender.ack(1);
    // The window was full when its last packet left; this ACK already lets it grow.
    assert_eq!((decision.cwnd_bytes, decision.pacing_bytes_per_s), (101 * PACKET, 0));
}

#[test]
fn appendix_a_2_a_jump_that_was_not_used() {
    // PipeSize is 18 at first, and 36 when the first unvalidated packet arrives.
    for (unvalidated, window) in [(0, 36), (20, 36), (36, 36), (37, 37), (40, 40)] {
        let mut sender = jumped();
        sender.send(unvalidated);
        let mut decision = sender.decision();
        for _ in 0..18 {
            decision = sender.ack(1);
        }
        assert_eq!(decision.cwnd_bytes, 100 * PACKET);
        // A round trip later the next ACK settles it.
        sender.now_ns += 100 * MS;
        decision = sender.ack(0);
        assert_eq!((decision.cwnd_bytes, decision.pacing_bytes_per_s), (window * PACKET, 0), "{unvalidated}");
    }
}

#[test]
fn appendix_a_4_a_loss_while_validating() {
    let mut sender = jumped();
    for _ in 0..18 {
        sender.send(5);
        sender.ack(1);
    }
    // PipeSize: 18 + 18, then 34 unvalidated packets.
    for _ in 0..34 {
        sender.ack(1);
        sender.fill();
    }
    let decision = sender.tell(EventKind::Loss, 1);
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Leaving, ExitReason::Loss));
    assert_eq!(decision.ssthresh_bytes, 35 * PACKET, "half of 18 + 18 + 34");
    // Nothing grows; what arrives of the jump counts, and what arrives later does not.
    let unvalidated = 28 + 90;
    while sender.acked < unvalidated {
        let decision = sender.ack_with(1, |ack| ack.flags |= AckFlags::RECOVERING);
        assert_eq!((decision.ssthresh_bytes, decision.phase()), (35 * PACKET, Phase::Leaving));
    }
    sender.ack_with(1, |ack| ack.flags |= AckFlags::RECOVERING);
    let decision = sender.tell(EventKind::Recovered, 0);
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Done, ExitReason::Loss));
    assert_eq!(decision.ssthresh_bytes, (18 + 18 + 90) * PACKET / 2, "PipeSize x Beta");
}

#[test]
fn section_3_5_a_loss_while_unvalidated_and_beta() {
    let algorithm = row("careful");
    for (beta, ssthresh) in [(50, 24_000), (70, 33_600)] {
        // Nothing is in flight when it jumps: 50 packets are sent, 20 of them acknowledged.
        let hint = remembered(200, 100_000, 0);
        let mut sender =
            Sender::with("careful", hint, 100_000, |config| set(config, algorithm, "beta", beta));
        sender.send(10);
        sender.ack(10);
        assert_eq!(sender.cwnd(), 100);
        sender.send(50);
        sender.ack_with(20, |ack| ack.newest_acked_bytes = 10 * PACKET);
        let decision = sender.tell(EventKind::Loss, 1);
        assert_eq!((decision.ssthresh_bytes, decision.pacing_bytes_per_s), (10 * PACKET, 0));
        sender.ack_with(28, |ack| ack.flags |= AckFlags::RECOVERING);
        let decision = sender.tell(EventKind::Recovered, 0);
        assert_eq!(decision.ssthresh_bytes, ssthresh);
    }
    // Two packets are the least.
    let mut sender = resuming(remembered(200, 100_000, 0), 100_000);
    sender.send(10);
    sender.ack(10);
    assert_eq!(sender.tell(EventKind::Mark, 0).ssthresh_bytes, 2 * PACKET);
    assert_eq!(sender.decision().exit_reason(), ExitReason::Ecn);
}

#[test]
fn section_3_3_another_path_is_retreated_from() {
    let mut sender = jumped();
    sender.send(30);
    sender.rtt_us = 50_000;
    let decision = sender.ack(1);
    assert_eq!((decision.cwnd_bytes, decision.pacing_bytes_per_s), (19 * PACKET / 2, 0), "half of 18 + 1");
    assert_eq!(decision.phase(), Phase::Startup);
    while sender.acked < 28 + 30 {
        assert_eq!(sender.decision().cwnd_bytes, 19 * PACKET / 2);
        assert_eq!(sender.decision().ssthresh_bytes, UNSET);
        sender.ack(1);
    }
    assert_eq!(sender.decision().ssthresh_bytes, (18 + 18 + 30) * PACKET / 2);
    // And slow start leads there.
    for _ in 0..24 {
        sender.fill();
        sender.ack(1);
    }
    let decision = sender.decision();
    assert_eq!((decision.exit_reason(), decision.cwnd_bytes), (ExitReason::Ssthresh, 33 * PACKET));
}

#[test]
fn section_3_6_a_timeout_ends_it() {
    let mut sender = jumped();
    sender.fill();
    let decision = sender.tell(EventKind::Timeout, 100);
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Done, ExitReason::Timeout));
    assert_eq!((decision.ssthresh_bytes, decision.pacing_bytes_per_s), (UNSET, 0));
    // In a retreat, too, with the reason that it had.
    let mut sender = jumped();
    sender.tell(EventKind::Loss, 1);
    let decision = sender.tell(EventKind::Timeout, 100);
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Done, ExitReason::Loss));
}

#[test]
fn a_loss_that_was_none_takes_the_retreat_back() {
    let mut sender = jumped();
    let before = sender.decision();
    let retreat = sender.tell(EventKind::Loss, 1);
    assert_eq!((retreat.phase(), retreat.pacing_bytes_per_s), (Phase::Leaving, 0));
    sender.startup.decision_mut().ssthresh_bytes = UNSET;
    assert_eq!(sender.tell(EventKind::Undone, 0), before);
    // Further congestion makes it final.
    sender.tell(EventKind::Loss, 1);
    sender.tell(EventKind::Mark, 0);
    assert_eq!(sender.tell(EventKind::Undone, 0).phase(), Phase::Done);
}

#[test]
fn a_pause_ends_the_trial() {
    let mut sender = jumped();
    sender.send(20);
    sender.tell(EventKind::IdleRestart, 0);
    sender.startup.decision_mut().cwnd_bytes = 10 * PACKET;
    let decision = sender.ack(1);
    assert_eq!((decision.cwnd_bytes, decision.pacing_bytes_per_s), (11 * PACKET, 0));
    assert_eq!(sender.tell(EventKind::Loss, 1).phase(), Phase::Done);
}

#[test]
fn a_window_beyond_ssthresh_is_left_once_it_is_validated() {
    let mut sender = Sender::with("careful", remembered(200, 100_000, 0), 100_000, |config| {
        config.initial_ssthresh_bytes = 60 * PACKET;
    });
    reconnoitre(&mut sender);
    sender.fill();
    while sender.acked < 28 + 82 {
        assert_eq!((sender.decision().phase(), sender.cwnd()), (Phase::Startup, 100));
        sender.ack(1);
        sender.fill();
    }
    assert_eq!(sender.decision().exit_reason(), ExitReason::Ssthresh);
}

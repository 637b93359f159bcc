//! draft-kazuho-ccwg-rapid-start-02.

use rampcc::{AckFlags, EventKind, ExitReason, Hint, Phase, UNSET};

use super::near;
use super::sender::{PACKET, Sender};
use super::support::{row, set};

fn starting(rtt_us: u32, beta: u64) -> Sender {
    Sender::with("rapid", Hint::NONE, rtt_us, |config| set(config, row("rapid"), "beta", beta))
}

#[test]
fn section_3_1_twice_the_initial_window_takes_a_round_trip() {
    let mut sender = starting(100_000, 70);
    let decision = sender.decision();
    assert_eq!((decision.cwnd_bytes, decision.pacing_bytes_per_s), (20 * PACKET, 200 * PACKET));
    sender.fill();
    assert_eq!(sender.ack(1).pacing_bytes_per_s, 0);
    let decision = starting(0, 70).decision();
    assert_eq!((decision.cwnd_bytes, decision.pacing_bytes_per_s), (10 * PACKET, 0));
}

#[test]
fn section_3_2_growth_by_the_rise_of_the_rounds_smallest_rtt() {
    // The smallest RTT and the largest without a queue, us: + 4 ms or + 10 %, whichever is less.
    for (least, threshold) in
        [(10_000, 11_000), (20_000, 22_000), (40_000, 44_000), (50_000, 54_000), (200_000, 204_000)]
    {
        for (rtt_us, packets) in [(threshold, 2), (threshold + 1, 1)] {
            let mut sender = starting(least, 70);
            sender.fill();
            sender.rtt_us = rtt_us;
            sender.ack(1);
            assert_eq!(sender.cwnd(), 20 + packets, "{least}: {rtt_us}");
        }
    }
}

#[test]
fn section_3_2_one_sample_without_a_queue_does_for_its_round() {
    let mut sender = starting(100_000, 70);
    sender.fill();
    sender.ack(1);
    sender.rtt_us = 150_000;
    sender.ack(1);
    assert_eq!(sender.cwnd(), 24);
    // The next round has none; an ACK without a sample says nothing either.
    sender.fill();
    while sender.acked < 20 {
        sender.ack(1);
        sender.fill();
    }
    let before = sender.cwnd();
    sender.ack(1);
    sender.ack_with(1, |ack| ack.rtt_us = 0);
    assert_eq!(sender.cwnd(), before + 2);
}

#[test]
fn rounds_to_reach_a_window() {
    for (initial, target, rounds) in [(100, 883, 5), (100, 7500, 7), (200, 883, 4), (200, 7500, 6)] {
        let mut sender = Sender::with("rapid", Hint::NONE, 100_000, |config| {
            set(config, row("rapid"), "first_window", initial);
        });
        let mut count = 0;
        while sender.cwnd() < target {
            sender.fill();
            for _ in sender.acked..sender.sent {
                sender.ack(1);
                sender.fill();
            }
            count += 1;
        }
        assert_eq!(count, rounds, "from {initial} % to {target}");
    }
}

/// beta, %; share lost; window after recovery as a share of the window before it.
const LANDINGS: [(u64, f64, f64); 10] = [
    (50, 0.0, 0.5),
    (50, 0.1, 0.45),
    (50, 0.5, 0.25),
    (50, 2.0 / 3.0, 0.1667),
    (50, 0.75, 0.1667),
    (70, 0.0, 0.7),
    (70, 0.1, 0.63),
    (70, 0.5, 0.35),
    (70, 2.0 / 3.0, 0.2333),
    (70, 0.75, 0.2333),
];

#[test]
fn section_3_3_it_lands_on_a_share_of_what_was_delivered() {
    for (beta, share, landing) in LANDINGS {
        let mut sender = starting(100_000, beta);
        sender.startup.decision_mut().cwnd_bytes = 600 * PACKET;
        sender.fill();
        sender.ack(0);
        let lost = (600.0 * share).round() as u64;
        let kind = if lost == 0 { EventKind::Mark } else { EventKind::Loss };
        // §3.3.1: the silence factor is beta + 2/3 (1 - beta), 5/6 and 9/10.
        let decision = sender.tell(kind, 0);
        assert_eq!(decision.ssthresh_bytes, 600 * PACKET * (200 + beta) / 300);
        for acked in 1..=600 - lost {
            let found = (lost * acked) / (600 - lost);
            sender.ack_with(1, |ack| {
                ack.lost_bytes = found * PACKET;
                ack.flags |= AckFlags::RECOVERING;
            });
        }
        // What the host sends again is not of that window.
        let landed = sender.decision().ssthresh_bytes;
        sender.send(1);
        assert_eq!(
            sender
                .ack_with(1, |ack| {
                    ack.newest_acked_bytes = ack.sent_bytes;
                    ack.lost_bytes = lost * PACKET;
                })
                .ssthresh_bytes,
            landed
        );
        let decision = sender.tell(EventKind::Recovered, 0);
        let reason = if lost == 0 { ExitReason::Ecn } else { ExitReason::Loss };
        assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Done, reason));
        near(decision.ssthresh_bytes as f64 / (600.0 * PACKET as f64), landing, 0.0001);
    }
}

#[test]
fn section_3_3_what_was_lost_before_does_not_count_and_the_initial_window_stays() {
    let mut sender = starting(100_000, 70);
    sender.startup.decision_mut().cwnd_bytes = 100 * PACKET;
    sender.fill();
    sender.ack_with(1, |ack| ack.lost_bytes = 50 * PACKET);
    let window = sender.decision().cwnd_bytes;
    sender.tell(EventKind::Loss, 1);
    let decision = sender.ack_with(1, |ack| ack.lost_bytes = 51 * PACKET);
    assert_eq!(decision.ssthresh_bytes, (270 * (window - PACKET) - 60 * PACKET) / 300);
    let mut sender = starting(100_000, 70);
    sender.fill();
    assert_eq!(sender.tell(EventKind::Loss, 20).ssthresh_bytes, 7 * PACKET);
}

#[test]
fn timeouts_are_the_hosts_and_what_was_none_is_taken_back() {
    for kind in [EventKind::Timeout, EventKind::Loss] {
        let mut sender = starting(100_000, 70);
        sender.fill();
        let before = sender.decision();
        let decision = sender.tell(kind, 1);
        assert_eq!(decision.phase(), if kind == EventKind::Loss { Phase::Leaving } else { Phase::Done });
        sender.startup.decision_mut().ssthresh_bytes = UNSET;
        assert_eq!(sender.tell(EventKind::Undone, 0), before);
    }
}

/// The text of August 2026: the factors are functions of beta alone, and a mark may have another than a loss. quicly's
/// is 0.85: the window is 0.95 of the one before it, and lands at 0.85 of it where nothing is lost.
#[test]
fn a_mark_may_have_a_beta_of_its_own() {
    for (kind, beta) in [(EventKind::Mark, 85), (EventKind::Loss, 70)] {
        let mut sender =
            Sender::with("rapid", Hint::NONE, 100_000, |config| set(config, row("rapid"), "ce_beta", 85));
        sender.startup.decision_mut().cwnd_bytes = 600 * PACKET;
        sender.fill();
        sender.ack(0);
        assert_eq!(sender.tell(kind, 0).ssthresh_bytes, 600 * PACKET * (200 + beta) / 300);
        sender.ack_with(600, |ack| ack.flags |= AckFlags::RECOVERING);
        assert_eq!(sender.tell(EventKind::Recovered, 0).ssthresh_bytes, 600 * PACKET * beta / 100);
    }
}

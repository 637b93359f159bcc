//! [LAJW07], and the closed forms of a path that holds B packets with a queue of b.

use rampcc::{AckFlags, Config, Environment, EventKind, ExitReason, Hint, Phase, UNSET};

use super::sender::{PACKET, Sender};
use super::support::{row, set};

/// Receive window, data and parameter in packets; `None`: no limit.
fn jumping(receiver: Option<u64>, data: Option<u64>, most: u64) -> Sender {
    Sender::with("jump", Hint::NONE, 100_000, |config| {
        config.receive_window_bytes = receiver.map_or(UNSET, |packets| packets * PACKET);
        config.size_bytes = data.map_or(UNSET, |packets| packets * PACKET);
        set(config, row("jump"), "max_jump", most);
    })
}

#[test]
fn all_that_the_receiver_takes_or_the_application_has_leaves_in_a_round_trip() {
    let table = [
        (Some(400), Some(80), 0, 80),
        (Some(80), Some(400), 0, 80),
        (Some(400), None, 0, 400),
        (None, Some(400), 64, 64),
        // Unknown data counts as enough.
        (Some(45), Some(0), 0, 45),
    ];
    for (receiver, data, most, jump) in table {
        let decision = jumping(receiver, data, most).decision();
        assert_eq!((decision.cwnd_bytes, decision.pacing_bytes_per_s), (jump * PACKET, jump * 10 * PACKET));
    }
}

/// A SYN may name a gigabyte, and a peer that never reads it costs nothing.
#[test]
fn a_receiver_that_takes_a_gigabyte_gets_what_one_without_scaling_gets() {
    let told = |config: &mut Config| config.receive_window_bytes = 1_000_000 * PACKET;
    let sender = Sender::with("jump", Hint::NONE, 100_000, told);
    assert_eq!(sender.cwnd(), 46);
    let papers = row("jump").parameters_in(Environment::Papers);
    let sender = Sender::with("jump", Hint::NONE, 100_000, |config| {
        told(config);
        config.parameter = papers;
    });
    assert_eq!(sender.cwnd(), 1_000_000);
}

#[test]
fn without_a_limit_or_a_round_trip_it_is_slow_start() {
    let without = Sender::with("jump", Hint::NONE, 0, |config| config.size_bytes = 80 * PACKET);
    for mut sender in
        [without, jumping(None, None, 0), jumping(Some(400), Some(9), 0), jumping(Some(10), None, 0)]
    {
        assert_eq!((sender.cwnd(), sender.decision().pacing_bytes_per_s), (10, 0));
        sender.fill();
        sender.ack(1);
        assert_eq!(sender.cwnd(), 11);
    }
}

#[test]
fn the_first_ack_ends_the_spacing_and_the_last_of_the_jump_the_start_up() {
    let mut sender = jumping(Some(80), None, 0);
    sender.fill();
    for acked in 1..80 {
        let decision = sender.ack(1);
        assert_eq!((decision.cwnd_bytes, decision.pacing_bytes_per_s), (80 * PACKET, 0), "{acked}");
        assert_eq!(decision.phase(), Phase::Startup);
    }
    let decision = sender.ack(1);
    assert_eq!((decision.exit_reason(), decision.ssthresh_bytes), (ExitReason::Ssthresh, 80 * PACKET));
}

#[test]
fn after_a_loss_half_of_what_arrived_stays() {
    // D, B, b: lost and landing. In the first the queue holds the rest.
    for (jump, path, queue, lost, landing) in
        [(80, 40, 20, 20, 30), (400, 40, 20, 340, 30), (80, 40, 38, 2, 39)]
    {
        assert_eq!(lost, jump - path - queue);
        let mut sender = jumping(Some(jump), None, 0);
        sender.fill();
        sender.ack(1);
        let decision = sender.tell(EventKind::Loss, 1);
        assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Leaving, ExitReason::Loss));
        // Losses are found one by one while the host repairs.
        for found in 1..=lost {
            sender.ack_with(0, |ack| {
                ack.lost_bytes = found * PACKET;
                ack.flags |= AckFlags::RECOVERING;
            });
            assert_eq!(sender.decision().ssthresh_bytes, (jump - found) * PACKET / 2);
        }
        let decision = sender.tell(EventKind::Recovered, 0);
        assert_eq!((decision.phase(), decision.ssthresh_bytes), (Phase::Done, landing * PACKET));
    }
    // Two packets are the least.
    let mut sender = jumping(Some(80), None, 0);
    sender.fill();
    sender.ack(1);
    assert_eq!(sender.tell(EventKind::Loss, 80).ssthresh_bytes, 2 * PACKET);
}

#[test]
fn only_what_was_sent_of_the_jump_counts_as_having_arrived() {
    let mut sender = jumping(Some(80), None, 0);
    sender.send(40);
    sender.ack(1);
    assert_eq!(sender.tell(EventKind::Loss, 10).ssthresh_bytes, 15 * PACKET);
}

#[test]
fn marks_and_timeouts_are_the_hosts_and_what_was_none_is_taken_back() {
    for kind in [EventKind::Mark, EventKind::Timeout, EventKind::Loss] {
        let mut sender = jumping(Some(80), None, 0);
        sender.fill();
        let before = sender.decision();
        let decision = sender.tell(kind, 1);
        assert_eq!(decision.pacing_bytes_per_s, 0);
        assert_eq!(decision.phase(), if kind == EventKind::Loss { Phase::Leaving } else { Phase::Done });
        sender.startup.decision_mut().ssthresh_bytes = UNSET;
        assert_eq!(sender.tell(EventKind::Undone, 0), before);
    }
}

#[test]
fn after_a_pause_slow_start_goes_on_from_the_hosts_window() {
    let mut sender = jumping(Some(80), None, 0);
    sender.send(20);
    sender.ack(20);
    sender.tell(EventKind::IdleRestart, 0);
    sender.startup.decision_mut().cwnd_bytes = 10 * PACKET;
    sender.fill();
    sender.ack(1);
    assert_eq!(sender.cwnd(), 11);
}

//! quicly's jumpstart: `test_jumpstart_cwnd` of its t/test.c, and the rules of cc.h.

use rampcc::{AckFlags, EventKind, ExitReason, Hint, HintSource, Phase, UNSET};

use super::sender::{PACKET, Sender, remembered};
use super::support::{row, set};

/// One that has as much to send as it likes; the window to which it jumps without history in packets.
fn with(hint: Hint, rtt_us: u32, default_jump: u64) -> Sender {
    Sender::with("quicly", hint, rtt_us, |config| {
        config.size_bytes = UNSET;
        set(config, row("quicly"), "default_jump", default_jump);
    })
}

#[test]
fn test_jumpstart_cwnd_of_quicly_and_more() {
    // Packet; remembered B/s and ms, new ms; most, packets; window. The first four are quicly's own.
    let table = [
        (1200, 1_000_000, 250, 250, 0, 250_000),
        (1200, 1_000_000, 250, 400, 0, 250_000),
        (1200, 1_000_000, 250, 125, 0, 125_000),
        (1250, 1_000_000, 250, 250, 64, 80_000),
        (1280, 12_500_000, 100, 50, 0, 625_000),
        (1280, 12_500_000, 100, 200, 0, 1_250_000),
        (1280, 12_500_000, 100, 100, 80, 102_400),
        // Another path: the jump without history.
        (1280, 12_500_000, 100, 49, 0, 25_600),
        (1280, 12_500_000, 100, 1_001, 0, 25_600),
    ];
    for (mss, rate, previous_ms, new_ms, most, window) in table {
        let mut hint = Hint::of(HintSource::History);
        (hint.bytes_per_s, hint.rtt_us) = (rate, previous_ms * 1000);
        let sender = Sender::with("quicly", hint, new_ms * 1000, |config| {
            (config.mss_bytes, config.size_bytes) = (mss, UNSET);
            config.initial_window_bytes = u64::from(mss) * 10;
            set(config, row("quicly"), "max_jump", most);
        });
        let decision = sender.decision();
        let rate = window * 1000 / u64::from(new_ms);
        assert_eq!((decision.cwnd_bytes, decision.pacing_bytes_per_s), (window, rate), "{rate} {new_ms}");
    }
}

#[test]
fn it_jumps_when_the_window_is_full_for_the_first_time_if_that_is_more_than_it_could_send_anyway() {
    // What the application has offered is not known: the first ACK shows that the window was full.
    let unknown = |jump: u64| {
        Sender::with("quicly", Hint::NONE, 100_000, |config| {
            set(config, row("quicly"), "default_jump", jump);
        })
    };
    for (jump, window) in [(19, 11), (20, 20)] {
        let mut sender = unknown(jump);
        assert_eq!((sender.cwnd(), sender.decision().pacing_bytes_per_s), (10, 0));
        sender.fill();
        sender.ack_with(1, |ack| ack.flags = 0);
        assert_eq!(sender.cwnd(), 10);
        sender.ack(1);
        assert_eq!(sender.cwnd(), window, "{jump} against 11 and 8 in flight");
    }
    // Nothing to gain, or switched off; and once only.
    for jump in [0, 10] {
        let mut sender = with(Hint::NONE, 100_000, jump);
        assert_eq!((sender.cwnd(), sender.decision().pacing_bytes_per_s), (10, 0));
        sender.fill();
        sender.ack(1);
        assert_eq!(sender.cwnd(), 11);
    }
    assert_eq!(with(Hint::NONE, 0, 20).cwnd(), 10, "no round-trip time is known");
}

#[test]
fn what_is_remembered_counts_for_an_hour() {
    assert_eq!(with(remembered(80, 100_000, 3600), 100_000, 20).cwnd(), 80);
    assert_eq!(with(remembered(80, 100_000, 3601), 100_000, 20).cwnd(), 20);
}

#[test]
fn after_the_jump_slow_start_goes_on_from_what_is_in_flight() {
    let mut sender = with(Hint::NONE, 100_000, 80);
    assert_eq!((sender.cwnd(), sender.decision().pacing_bytes_per_s), (80, 800 * PACKET));
    sender.send(70);
    let decision = sender.ack(1);
    assert_eq!((decision.cwnd_bytes, decision.pacing_bytes_per_s), (71 * PACKET, 0));
    sender.fill();
    sender.ack(2);
    assert_eq!((sender.cwnd(), sender.decision().phase()), (73, Phase::Startup));
}

#[test]
fn a_lost_jump_lands_on_seven_tenths_of_what_arrived() {
    // D, B, b: what arrives of the jump.
    for (jump, arrived) in [(80, 60), (400, 60)] {
        let mut sender = with(Hint::NONE, 100_000, jump);
        sender.fill();
        for _ in 0..40 {
            sender.ack(1);
        }
        let decision = sender.tell(EventKind::Loss, 1);
        assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Leaving, ExitReason::Loss));
        assert_eq!(decision.ssthresh_bytes, 20 * PACKET, "half of 40");
        for _ in 40..arrived {
            sender.ack_with(1, |ack| ack.flags |= AckFlags::RECOVERING);
        }
        // What was sent after the jump does not count.
        sender.ack_with(1, |ack| ack.newest_acked_bytes = (jump + 1) * PACKET);
        let decision = sender.tell(EventKind::Recovered, 0);
        assert_eq!((decision.phase(), decision.ssthresh_bytes), (Phase::Done, 42 * PACKET));
    }
    // Before any of it has arrived, half of the initial window.
    let mut sender = with(Hint::NONE, 100_000, 80);
    sender.fill();
    let decision = sender.tell(EventKind::Mark, 0);
    assert_eq!((decision.ssthresh_bytes, decision.exit_reason()), (5 * PACKET, ExitReason::Ecn));
}

#[test]
fn a_later_loss_is_one_like_any_other() {
    let mut sender = with(Hint::NONE, 100_000, 20);
    sender.fill();
    sender.ack(1);
    sender.fill();
    for _ in 0..22 {
        sender.ack(1);
        sender.fill();
    }
    // 23 packets are acknowledged, 20 of them sent in the jump.
    assert_eq!(sender.clone().tell(EventKind::Loss, 1).phase(), Phase::Leaving);
    sender.ack(1);
    let decision = sender.tell(EventKind::Loss, 1);
    assert_eq!((decision.phase(), decision.ssthresh_bytes), (Phase::Done, UNSET));
}

#[test]
fn timeouts_are_the_hosts_and_what_was_none_is_taken_back() {
    for kind in [EventKind::Timeout, EventKind::Loss] {
        let mut sender = with(Hint::NONE, 100_000, 80);
        sender.fill();
        let before = sender.decision();
        let decision = sender.tell(kind, 1);
        assert_eq!(decision.pacing_bytes_per_s, 0);
        sender.startup.decision_mut().ssthresh_bytes = UNSET;
        assert_eq!(sender.tell(EventKind::Undone, 0), before);
        // Further congestion makes it final.
        sender.tell(kind, 1);
        sender.tell(EventKind::Loss, 1);
        assert_eq!(sender.tell(EventKind::Undone, 0).phase(), Phase::Done);
    }
}

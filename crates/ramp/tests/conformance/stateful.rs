//! Stateful-TCP: the first window and its rate.

use rampcc::{AckFlags, EventKind, ExitReason, Hint, HintSource, Phase, UNSET};

use super::near;
use super::sender::Sender;

fn with(bits_per_s: u64, rtt_us: u32, age_s: u32) -> Sender {
    let mut hint = Hint::of(HintSource::History);
    (hint.bytes_per_s, hint.rtt_us, hint.age_s) = (bits_per_s / 8, rtt_us, age_s);
    Sender::with("stateful", hint, rtt_us, |config| {
        config.mss_bytes = 1460;
        config.initial_window_bytes = 14_600;
    })
}

#[test]
fn the_window_is_rate_times_round_trip_and_leaves_at_that_rate() {
    // bit/s, us; window in packets of 1460, gap in us
    for (rate, rtt_us, window, gap) in [
        (100_000_000, 50_000, 428.1, 116.8),
        (1_000_000_000, 100_000, 8561.6, 11.7),
        (10_000_000, 10_000, 8.6, 1168.0),
    ] {
        let decision = with(rate, rtt_us, 600).decision();
        near(decision.cwnd_bytes as f64 / 1460.0, window, 0.05);
        assert_eq!(decision.ssthresh_bytes, decision.cwnd_bytes);
        near(1460e6 / decision.pacing_bytes_per_s as f64, gap, 0.05);
    }
    assert_eq!(with(1_000_000, 1_000, 0).decision().cwnd_bytes, 2 * 1460);
}

#[test]
fn it_ends_when_the_window_has_left_and_an_ack_comes() {
    let mut sender = with(100_000_000, 50_000, 0);
    let window = sender.decision().cwnd_bytes;
    // The receiver's window holds back the rest: it is spaced as well.
    sender.send(45);
    let decision = sender.ack(1);
    assert_eq!((decision.phase(), decision.pacing_bytes_per_s), (Phase::Startup, 12_500_000));
    assert_eq!(decision.cwnd_bytes, window);
    sender.send(window / 1000 - 45);
    let decision = sender.ack(1);
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Done, ExitReason::Ssthresh));
    assert_eq!((decision.cwnd_bytes, decision.pacing_bytes_per_s), (window, 0));
}

#[test]
fn it_ends_with_what_the_application_had() {
    let mut sender = with(100_000_000, 50_000, 0);
    sender.send(45);
    let decision = sender.ack_with(1, |ack| ack.flags |= AckFlags::APP_LIMITED);
    assert_eq!((decision.phase(), decision.pacing_bytes_per_s), (Phase::Done, 0));
}

/// By the handshake's round trip, as Careful Resume's test has it.
#[test]
fn another_path_is_slow_start() {
    let mut hint = Hint::of(HintSource::History);
    (hint.bytes_per_s, hint.rtt_us) = (12_500_000, 50_000);
    for (rtt_us, same) in [(0, false), (25_000, false), (25_001, true), (500_000, true), (500_001, false)] {
        let decision = Sender::with("stateful", hint, rtt_us, |_| {}).decision();
        assert_eq!(decision.cwnd_bytes > 10_000, same, "{rtt_us}");
    }
}

#[test]
fn what_is_unknown_or_too_old_is_not_used() {
    for mut sender in [with(0, 50_000, 0), with(100_000_000, 0, 0), with(100_000_000, 50_000, 601)] {
        let decision = sender.decision();
        assert_eq!((decision.cwnd_bytes, decision.ssthresh_bytes), (14_600, UNSET));
        sender.send(10);
        assert_eq!(sender.ack(1).cwnd_bytes, 14_600 + 1000);
    }
}

#[test]
fn congestion_is_the_hosts_and_what_was_none_is_taken_back() {
    for kind in [EventKind::Loss, EventKind::Mark, EventKind::Timeout] {
        let mut sender = with(100_000_000, 50_000, 0);
        let before = sender.decision();
        let decision = sender.tell(kind, 1);
        assert_eq!((decision.phase(), decision.pacing_bytes_per_s), (Phase::Done, 0));
        assert_eq!(sender.tell(EventKind::Undone, 0), before);
    }
}

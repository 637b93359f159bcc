//! RFC 4782: a window at the granted rate, and what its loss costs.

use rampcc::{Ack, AckFlags, Config, Event, EventKind, ExitReason, Hint, HintSource, Phase, Startup};

use super::support::{ack, config, row};

const MS_100: u32 = 100_000;

fn start(kbits: u64, rtt_us: u32, change: impl Fn(&mut Config)) -> Startup {
    let algorithm = row("quickstart");
    let mut config = config(algorithm, 10);
    config.mss_bytes = 1460;
    config.initial_window_bytes = 14_600;
    config.handshake_rtt_us = rtt_us;
    config.hint = Hint::of(HintSource::Router);
    config.hint.bytes_per_s = kbits * 125;
    change(&mut config);
    Startup::new(algorithm, &config)
}

/// §4.4: R x T / (MSS + H) packets: 341.3, 10922.7 and 64 of 1460 + 40 bytes.
#[test]
fn the_window_is_what_the_rate_sends_in_a_round_trip() {
    for (kbits, rtt_us, packets) in
        [(40_960, MS_100, 341.33), (1_310_720, MS_100, 10_922.67), (1280, 600_000, 64.0)]
    {
        let startup = start(kbits, rtt_us, |_| {});
        let decision = startup.decision();
        super::near(decision.cwnd_bytes as f64 / 1460.0, packets, 0.01);
        // At the granted rate, headers included.
        let wire = decision.pacing_bytes_per_s as f64 * 1500.0 / 1460.0;
        super::near(wire / (kbits as f64 * 125.0), 1.0, 1e-4);
    }
}

#[test]
fn without_a_grant_or_below_the_initial_window_nothing_changes() {
    for startup in [
        start(0, MS_100, |_| {}),
        start(80, MS_100, |_| {}),
        start(40_960, 0, |_| {}),
        start(40_960, MS_100, |c| c.hint = Hint::NONE),
    ] {
        assert_eq!((startup.decision().cwnd_bytes, startup.decision().pacing_bytes_per_s), (14_600, 0));
    }
}

/// 341 packets were granted; `sent` are under way when the first is acknowledged.
fn after_first_ack(sent: u64) -> Startup {
    let mut startup = start(40_960, MS_100, |_| {});
    startup.on_ack(&told(sent, 1, sent, 0));
    startup
}

fn told(sent: u64, newest: u64, in_flight: u64, flags: u32) -> Ack {
    Ack {
        now_ns: 1_000_000_000,
        sent_bytes: sent * 1460,
        newest_acked_bytes: newest * 1460,
        delivered_bytes: newest * 1460,
        acked_bytes: 1460,
        in_flight_bytes: in_flight * 1460,
        mss_bytes: 1460,
        flags,
        ..ack(1)
    }
}

fn event(kind: EventKind) -> Event {
    Event { now_ns: 1_100_000_000, lost_bytes: 14_600, in_flight_bytes: 0, kind, mss_bytes: 1460 }
}

#[test]
fn the_first_ack_ends_the_mode_and_what_was_not_used_is_given_back() {
    let full = *after_first_ack(341).decision();
    assert_eq!((full.pacing_bytes_per_s, full.cwnd_bytes), (0, 40_960 * 125 / 10 * 1460 / 1500));
    assert_eq!(after_first_ack(200).decision().cwnd_bytes, 200 * 1460);
    // Never below what slow start had.
    assert_eq!(after_first_ack(3).decision().cwnd_bytes, 14_600);
}

/// §4.4: limited slow start from there; beyond 100 packets by 50 a round trip.
#[test]
fn slow_start_goes_on_limited() {
    let mut startup = after_first_ack(341);
    let before = startup.decision().cwnd_bytes;
    for _ in 0..340 {
        startup.on_ack(&told(341, 1, 341, AckFlags::CWND_LIMITED));
    }
    let grown = (startup.decision().cwnd_bytes - before) as f64 / 1460.0;
    // K = int(cwnd / 50): 6 up to 350 packets, then 7.
    let first = (350.0 - before as f64 / 1460.0) * 6.0;
    super::near(grown, first / 6.0 + (340.0 - first) / 7.0, 0.2);
}

/// §4.6: as if it had not been, and ssthresh at half of what arrived.
#[test]
fn a_lost_packet_of_the_granted_window_brings_back_the_initial_one() {
    for (sent, newest) in [(341, 1), (341, 344)] {
        let mut startup = after_first_ack(sent);
        startup.on_ack(&told(400, newest, 300, 0));
        let reduced = *startup.on_event(&event(EventKind::Loss));
        assert_eq!((reduced.phase(), reduced.exit_reason()), (Phase::Leaving, ExitReason::Loss));
        assert_eq!(reduced.ssthresh_bytes, 14_600);
        // 41 of the 341 turn out lost.
        let recovering = Ack { lost_bytes: 41 * 1460, ..told(410, 400, 100, AckFlags::RECOVERING) };
        startup.on_ack(&recovering);
        let left = *startup.on_event(&event(EventKind::Recovered));
        assert_eq!((left.phase(), left.exit_reason()), (Phase::Done, ExitReason::Loss));
        assert_eq!((left.cwnd_bytes, left.ssthresh_bytes), (14_600, 150 * 1460));
    }
    // A packet sent after them is not one of them.
    let mut startup = after_first_ack(341);
    startup.on_ack(&told(400, 345, 300, 0));
    let left = *startup.on_event(&event(EventKind::Loss));
    assert_eq!((left.phase(), left.ssthresh_bytes), (Phase::Done, rampcc::UNSET));
}

#[test]
fn marks_timeouts_and_undone_losses() {
    let mut startup = after_first_ack(341);
    assert_eq!(startup.on_event(&event(EventKind::Mark)).exit_reason(), ExitReason::Ecn);

    let mut startup = after_first_ack(341);
    let left = *startup.on_event(&event(EventKind::Timeout));
    assert_eq!((left.phase(), left.ssthresh_bytes), (Phase::Done, 341 * 1460 / 2));

    let mut startup = start(40_960, MS_100, |_| {});
    let rate = startup.decision().pacing_bytes_per_s;
    startup.on_event(&event(EventKind::Loss));
    let undone = *startup.on_event(&event(EventKind::Undone));
    assert_eq!((undone.phase(), undone.pacing_bytes_per_s), (Phase::Startup, rate));
    // A second loss before the repair is over ends it at once.
    startup.on_event(&event(EventKind::Loss));
    assert_eq!(startup.on_event(&event(EventKind::Timeout)).phase(), Phase::Done);
}

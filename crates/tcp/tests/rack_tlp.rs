//! RFC 8985.

mod support;

use rampcc::Time;
use rampcc_tcp::Profile;
use rampcc_trace::{FlowEventKind, SenderState};
use support::{Script, config, ms};

/// Twenty segments out at 0 ms; SRTT 100 ms after one of them is acknowledged.
fn script() -> Script {
    let mut script = Script::warmed_up(&config(Profile::Modern), 20);
    script.ack(ms(100), 1, &[]);
    script
}

fn state(script: &Script) -> SenderState {
    script.sender.sample(script.now).state
}

#[test]
fn three_sacked_segments_mean_loss_at_once() {
    let mut script = script();
    script.ack(ms(101), 1, &[(2, 3)]);
    script.ack(ms(102), 1, &[(2, 4)]);
    assert_eq!(state(&script), SenderState::Open);
    assert_eq!(script.ack(ms(103), 1, &[(2, 5)])[0], 1);
    assert_eq!(state(&script), SenderState::Recovery);
}

#[test]
fn one_sacked_segment_means_loss_a_quarter_of_the_minimum_rtt_later() {
    let mut script = script();
    script.ack(ms(101), 1, &[(2, 3)]);
    assert_eq!(script.sender.poll_timeout(), ms(101 + 25));
    assert_eq!(script.wait()[0], 1);
    assert_eq!(state(&script), SenderState::Recovery);
}

#[test]
fn a_lost_retransmission_is_found_without_a_timeout() {
    let mut script = script();
    assert_eq!(script.ack(ms(103), 1, &[(2, 5)])[0], 1);
    // Segments sent after the retransmission are SACKed a round trip later; 1 must leave again.
    let next = script.ack(ms(110), 1, &[(2, 20)]);
    let newest = *next.last().expect("SACKs let new data out");
    let again = script.ack(ms(211), 1, &[(newest, newest + 1), (2, 20)]);
    assert!(again.contains(&1), "{again:?}");
    assert!(!script.events.iter().any(|e| matches!(e, FlowEventKind::Timeout { .. })));
}

#[test]
fn waits_longer_once_it_has_seen_reordering() {
    let mut script = script();
    script.ack(ms(101), 1, &[(3, 4)]);
    script.ack(ms(102), 4, &[]);
    for (i, end) in [6, 7, 8, 9].into_iter().enumerate() {
        script.ack(ms(103 + i as u64), 4, &[(5, end)]);
    }
    assert_eq!(state(&script), SenderState::Open, "three SACKed segments are no proof any more");
    script.wait();
    assert_eq!(state(&script), SenderState::Recovery);
}

#[test]
fn a_silent_tail_is_probed_after_two_round_trips() {
    let mut script = Script::with_bytes(&config(Profile::Modern), 10_000);
    assert_eq!(script.sent().len(), 10);
    script.ack(ms(100), 5, &[]);
    assert_eq!(script.sender.poll_timeout(), ms(100 + 2 * 100 + 2));
    assert_eq!(script.wait(), [9], "the last segment");
    assert_eq!(script.cwnd(), 15, "the probe costs nothing");
    // It arrives, and everything below it counts as lost.
    assert_eq!(script.ack(ms(402), 5, &[(9, 10)])[0], 5);
    assert!(!script.events.iter().any(|e| matches!(e, FlowEventKind::Timeout { .. })));
}

#[test]
fn a_probe_carries_new_data_if_there_are_any() {
    let mut script = Script::warmed_up(&config(Profile::Modern), 4);
    script.ack(ms(100), 4, &[]);
    assert_eq!(script.wait(), [12], "eight were out");
}

#[test]
fn a_probe_that_repaired_a_loss_reduces_the_window_once() {
    let mut script = Script::new(&config(Profile::Modern));
    script.sender = rampcc_tcp::Sender::new(7, &config(Profile::Modern));
    script.sender.open(Time::ZERO);
    script.sender.write(Time::ZERO, 10_000);
    assert_eq!(script.sent().len(), 10);
    script.ack(ms(100), 9, &[]);
    let cwnd = script.cwnd();
    assert_eq!(script.wait(), [9]);
    let probe_at = script.now;
    script.ack_echoing(probe_at + ms(100), probe_at, 10, &[]);
    assert!(script.cwnd() >= cwnd, "the probe or the original: nobody knows yet");
    script.sender.write(script.now, 2_000);
    assert_eq!(script.sent(), [10, 11]);
    script.ack(script.now + ms(100), 12, &[]);
    assert_eq!(script.cwnd(), script.ssthresh(), "no duplicate was reported, so the original was lost");
    assert!(script.cwnd() < cwnd);
}

/// CoDel at 40 Mbit/s and 60 ms: five reductions in Linux, four before.
#[test]
fn what_was_lost_beyond_the_end_of_a_recovery_begins_the_next() {
    let mut script = Script::warmed_up(&config(Profile::Modern), 20);
    script.ack(ms(100), 1, &[]);
    assert_eq!(
        script.ack(ms(103), 1, &[(2, 5)]),
        [1, 22],
        "the recovery ends when all below 22 is acknowledged"
    );
    let sent = script.ack(ms(104), 1, &[(2, 20)]);
    let end = sent[sent.len() - 1] + 1;
    assert_eq!(script.ack(ms(204), 21, &[(23, end)])[..2], [21, 22], "22 is lost in the same recovery");
    let threshold = script.ssthresh();
    script.events.clear();
    script.ack(ms(304), 22, &[(23, end)]);
    assert_eq!(script.events[0], FlowEventKind::RecoveryEnd);
    assert!(matches!(script.events[1], FlowEventKind::RecoveryStart { .. }), "{:?}", script.events);
    assert!(script.ssthresh() < threshold, "{} of {threshold}", script.ssthresh());
}

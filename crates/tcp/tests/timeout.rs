//! The retransmission timer.

mod support;

use rampcc::Time;
use rampcc_tcp::{Profile, Segment, SenderConfig};
use rampcc_trace::FlowEventKind;
use support::{Script, config, ms};

#[test]
fn sends_the_first_segment_again_and_starts_over_with_one() {
    let mut script = Script::warmed_up(&config(Profile::Era), 10);
    assert_eq!(script.sender.poll_timeout(), Time::from_secs(3));
    assert_eq!(script.wait(), [0]);
    assert_eq!((script.cwnd(), script.ssthresh()), (1, 5));
    assert_eq!(script.ack(ms(3100), 1, &[]), [1, 2], "slow start over what was lost");
    assert_eq!(script.ack(ms(3200), 2, &[]), [3, 4]);
}

#[test]
fn what_is_sacked_is_not_sent_again() {
    let mut script = Script::warmed_up(&config(Profile::Era), 10);
    script.ack(ms(100), 0, &[(1, 3)]);
    assert_eq!(script.wait(), [0]);
    assert_eq!(script.ack(script.now + ms(100), 3, &[]), [3, 4]);
}

#[test]
fn backs_off_until_something_new_is_acknowledged() {
    let mut script = Script::warmed_up(&config(Profile::Era), 4);
    let mut fired = vec![];
    for _ in 0..7 {
        script.wait();
        fired.push(script.now.ns() / 1_000_000_000);
    }
    assert_eq!(fired, [3, 9, 21, 45, 93, 153, 213], "3, 6, 12, 24, 48, then 60 s each");
    let backoffs: Vec<u32> = script
        .events
        .iter()
        .filter_map(|e| if let FlowEventKind::Timeout { backoff } = e { Some(*backoff) } else { None })
        .collect();
    assert_eq!(backoffs, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(script.ssthresh(), 2, "one window, one reduction");
}

#[test]
fn ambiguous_samples_are_not_taken() {
    let mut rules = config(Profile::Era);
    rules.undo = false;
    let mut script = Script::warmed_up(&rules, 1);
    script.wait();
    script.ack(script.now + ms(1), 1, &[]);
    assert_eq!(script.sender.sample(script.now).smoothed_rtt, Time::ZERO);
}

#[test]
fn linux_adds_its_minimum_to_the_smoothed_rtt() {
    let mut rules = config(Profile::Modern);
    rules.rack_tlp = false;
    let mut script = Script::warmed_up(&rules, 10);
    script.ack(ms(100), 10, &[]);
    assert_eq!(
        script.sender.poll_timeout(),
        ms(400),
        "first sample 100 ms: 100 + max(4 x 50, 200) ms from then on"
    );
}

#[test]
fn a_finished_sender_has_no_timer() {
    let mut script = Script::with_bytes(&config(Profile::Era), 1500);
    assert_eq!(script.sent(), [0, 1]);
    script.ack(ms(100), 2, &[]);
    assert_eq!(script.sender.poll_timeout(), Time::NEVER);
    assert!(script.sender.completed());
}

#[test]
fn lost_syns_cost_the_initial_window_and_linux_forgives_one() {
    for (profile, lost, sent) in [(Profile::Modern, 1, 10), (Profile::Modern, 2, 1), (Profile::Era, 1, 1)] {
        let mut script = Script::new(&SenderConfig { handshake: true, ..config(profile) });
        assert_eq!(script.segments().len(), 1);
        for _ in 0..lost {
            script.wait();
        }
        let syn = Segment::syn(7, 40, script.now);
        let answer = Segment::syn_ack(&syn, 40, u64::MAX, true);
        let said = format!("{profile:?}, {lost} lost");
        assert_eq!(script.feed(script.now + ms(80), &answer).len(), sent, "{said}");
        // Without time stamps the answer is to any of them (Karn).
        let rtt = if profile == Profile::Modern { ms(80) } else { Time::ZERO };
        assert_eq!(script.sender.sample(script.now).smoothed_rtt, rtt, "{said}");
    }
}

#[test]
fn the_handshake_gives_the_first_rtt_and_then_the_whole_window_leaves() {
    let mut rules = config(Profile::Modern);
    rules.handshake = true;
    let mut script = Script::new(&rules);
    let syn = script.segments()[0];
    let sent = script.feed(ms(80), &Segment::syn_ack(&syn, 40, u64::MAX, true));
    assert_eq!(sent.len(), 10);
    assert_eq!(script.sender.sample(script.now).smoothed_rtt, ms(80));
    assert_eq!(script.events, [FlowEventKind::Established]);
}

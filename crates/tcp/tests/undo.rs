//! Reductions that turn out to be needless are given back.

mod support;

use rampcc::Time;
use rampcc_tcp::{Profile, Segment};
use rampcc_trace::{FlowEventKind, SenderState};
use support::{Script, config, ms};

#[test]
fn a_timeout_is_undone_when_the_original_turns_out_to_have_arrived() {
    let mut rules = config(Profile::Modern);
    rules.rack_tlp = false;
    let mut script = Script::warmed_up(&rules, 20);
    script.ack(ms(100), 10, &[]);
    let cwnd = script.cwnd();
    assert_eq!(script.wait(), [10]);
    assert_eq!(script.cwnd(), 1);
    script.ack_echoing(script.now + ms(5), ms(100), 12, &[]);
    assert!(script.events.contains(&FlowEventKind::Undone));
    assert!(script.cwnd() >= cwnd);
    assert_eq!(script.sender.sample(script.now).state, SenderState::Open);
    assert_eq!(script.sender.sample(script.now).ssthresh_bytes, rampcc::UNSET);
}

#[test]
fn a_timeout_stands_when_the_retransmission_is_answered() {
    let mut rules = config(Profile::Modern);
    rules.rack_tlp = false;
    let mut script = Script::warmed_up(&rules, 20);
    script.ack(ms(100), 10, &[]);
    script.wait();
    let sent = script.now;
    script.ack_echoing(sent + ms(100), sent, 11, &[]);
    assert!(!script.events.contains(&FlowEventKind::Undone));
    assert_eq!(script.sender.sample(script.now).state, SenderState::Loss);
}

#[test]
fn a_recovery_is_undone_when_its_retransmission_arrived_twice() {
    let mut script = Script::warmed_up(&config(Profile::Modern), 20);
    script.ack(ms(100), 1, &[]);
    let cwnd = script.cwnd();
    assert_eq!(script.ack(ms(103), 1, &[(2, 5)])[0], 1);
    let recovering = script.ack(ms(104), 20, &[]);
    assert!(script.cwnd() < cwnd, "{recovering:?}");
    let duplicate = Segment::ack(7, 40, Time::ZERO, 20, u64::MAX).with_duplicate(1, 2);
    script.feed(ms(203), &duplicate);
    assert!(script.events.contains(&FlowEventKind::Undone));
    assert!(script.cwnd() >= cwnd);
}

/// It went on as slow start without a limit.
#[test]
fn limited_slow_start_stays_limited_after_a_loss_that_was_none() {
    let mut rules = config(Profile::Modern);
    rules.startup = rampcc::algorithm("limited").expect("a row of the registry");
    rules.parameters = rules.startup.default_parameters();
    let mut script = Script::warmed_up(&rules, 200);
    script.ack(ms(100), 1, &[]);
    assert_eq!(script.ack(ms(103), 1, &[(2, 5)])[0], 1);
    script.ack(ms(104), 150, &[]);
    let duplicate = Segment::ack(7, 40, Time::ZERO, 150, u64::MAX).with_duplicate(1, 2);
    script.feed(ms(203), &duplicate);
    assert!(script.events.contains(&FlowEventKind::Undone));
    let cwnd = script.cwnd();
    assert!(cwnd >= 200, "{cwnd}");
    for number in 151..=200 {
        script.ack(ms(205), number, &[]);
    }
    // A quarter of what was acknowledged, the window being four times half of max_ssthresh.
    let grown = script.cwnd() - cwnd;
    assert!((11..=14).contains(&grown), "{grown} of 50");
}

#[test]
fn without_undo_reductions_stand() {
    let mut rules = config(Profile::Modern);
    (rules.undo, rules.frto) = (false, false);
    rules.rack_tlp = false;
    let mut script = Script::warmed_up(&rules, 20);
    script.ack(ms(100), 10, &[]);
    script.wait();
    script.ack_echoing(script.now + ms(5), ms(100), 12, &[]);
    assert!(!script.events.contains(&FlowEventKind::Undone));
}

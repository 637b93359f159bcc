//! RFC 3168: who may be marked, what a mark costs, and how its receiver tells of it.

mod support;

use rampcc::{AckFlags, EventKind, ExitReason, Time};
use rampcc_path::Packet;
use rampcc_tcp::{
    AckPolicy, Avoidance, Profile, Receiver, ReceiverConfig, Segment, SegmentKind, Sender, SenderConfig,
};
use rampcc_trace::{FlowEventKind, Told};
use support::{MSS, Script, config, ms};

fn rules() -> SenderConfig {
    SenderConfig { ecn: true, initial_window_packets: 20, ..config(Profile::Era) }
}

/// Twenty segments are out.
fn script(rules: &SenderConfig) -> Script {
    let mut script = Script::new(rules);
    let segments = script.segments();
    assert_eq!(segments.len(), 20);
    assert!(segments.iter().all(|segment| segment.markable() && segment.marks().is_none()));
    script
}

/// An ACK that tells of a mark; what leaves then.
fn told(script: &mut Script, at: Time, number: u64) -> Vec<Segment> {
    answer(script, at, number, true)
}

fn answer(script: &mut Script, at: Time, number: u64, marked: bool) -> Vec<Segment> {
    script.now = at;
    let ack = Segment::ack(7, 40, at - ms(100), number, u64::MAX).with_ecn(marked);
    script.sender.handle_segment(at, &ack);
    script.segments()
}

fn exit(script: &Script) -> Option<ExitReason> {
    script.events.iter().find_map(|event| match event {
        FlowEventKind::StartupExit { reason, .. } => Some(*reason),
        _ => None,
    })
}

#[test]
fn a_mark_halves_the_window_once_in_a_round_trip() {
    let mut script = script(&rules());
    assert!(told(&mut script, ms(100), 1).is_empty());
    // 19 segments are outstanding, and the window does not grow by this ACK.
    let window = |script: &Script| script.sender.sample(script.now).cwnd_bytes;
    assert_eq!((window(&script), script.ssthresh(), exit(&script)), (9_500, 9, Some(ExitReason::Ecn)));
    for number in 2..=11 {
        assert!(told(&mut script, ms(100 + number), number).is_empty(), "no room before {number}");
        assert_eq!(window(&script), 9_500);
    }
    let fresh = told(&mut script, ms(112), 12);
    assert_eq!(
        fresh.iter().map(|s| (s.number(), s.marks())).collect::<Vec<_>>(),
        [(20, Some((false, true)))]
    );
    let next = told(&mut script, ms(113), 13);
    assert_eq!(
        next.iter().map(|s| (s.number(), s.marks())).collect::<Vec<_>>(),
        [(21, None)],
        "it is said once"
    );
    for number in 14..=20 {
        told(&mut script, ms(100 + number), number);
    }
    assert_eq!(window(&script), 9_500, "up to 20 the receiver cannot know of the answer");
    assert!(!script.events.contains(&FlowEventKind::RecoveryEnd));
    answer(&mut script, ms(212), 21, false);
    assert!(script.events.contains(&FlowEventKind::RecoveryEnd));
    assert!(window(&script) >= 9_500);
    let (before, out) = (window(&script), script.in_flight() * MSS);
    told(&mut script, ms(213), 22);
    assert_eq!(window(&script), (out - MSS).min(before) / 2, "another round trip, another mark");
    assert_eq!(script.sender.sample(script.now).retransmitted_bytes, 0);
}

#[test]
fn the_algorithm_is_told_of_the_ack_and_of_the_mark() {
    let mut script = script(&rules());
    told(&mut script, ms(100), 1);
    let calls: Vec<Told> =
        std::iter::from_fn(|| script.sender.poll_decision()).map(|decision| decision.call.told).collect();
    let acks: Vec<u32> = calls
        .iter()
        .filter_map(|told| if let Told::Ack(ack) = told { Some(ack.flags) } else { None })
        .collect();
    assert_eq!(acks.len(), 1);
    assert_eq!(acks[0] & (AckFlags::ECE | AckFlags::CWND_LIMITED), AckFlags::ECE);
    let events: Vec<(EventKind, u64)> = calls
        .iter()
        .filter_map(
            |told| if let Told::Event(event) = told { Some((event.kind, event.lost_bytes)) } else { None },
        )
        .collect();
    assert_eq!(events, [(EventKind::Mark, 0)]);
}

#[test]
fn a_mark_costs_what_a_loss_costs_the_same_congestion_avoidance() {
    let mut rules = rules();
    rules.avoidance = Avoidance::Cubic;
    let mut script = script(&rules);
    told(&mut script, ms(100), 1);
    assert_eq!(script.sender.sample(script.now).cwnd_bytes, 19_000 * 717 / 1024);
}

#[test]
fn marks_of_a_window_that_a_loss_has_reduced_cost_nothing_more() {
    let mut script = script(&rules());
    for i in 1..=3 {
        script.ack(ms(100 + i), 0, &[(1, 1 + i)]);
    }
    let ssthresh = script.ssthresh();
    assert_eq!(exit(&script), Some(ExitReason::Loss));
    let mut sent = Vec::new();
    for i in 4..19 {
        script.now = ms(100 + i);
        let ack = Segment::ack(7, 40, ms(i), 0, u64::MAX).with_ecn(true).with_sack_block(1, 1 + i);
        script.sender.handle_segment(script.now, &ack);
        sent.extend(script.segments());
    }
    assert_eq!(script.ssthresh(), ssthresh);
    let fresh: Vec<_> = sent.iter().filter(|segment| !segment.retransmission()).collect();
    assert!(fresh.iter().all(|segment| segment.markable()));
    let answers: Vec<bool> = fresh.iter().map(|segment| segment.marks() == Some((false, true))).collect();
    assert_eq!(answers.iter().filter(|&&answers| answers).count(), 1, "{answers:?}");
    assert!(answers[0], "the first new segment answers");
}

#[test]
fn what_is_sent_again_may_not_be_marked() {
    let mut script = script(&rules());
    let mut again = Vec::new();
    for i in 1..=3 {
        script.now = ms(100 + i);
        let ack = Segment::ack(7, 40, ms(i), 0, u64::MAX).with_sack_block(1, 1 + i);
        script.sender.handle_segment(script.now, &ack);
        again.extend(script.segments().into_iter().filter(Segment::retransmission));
    }
    assert_eq!(again.iter().map(|s| (s.number(), s.markable())).collect::<Vec<_>>(), [(0, false)]);
}

#[test]
fn both_ends_must_ask_and_a_second_syn_does_not() {
    let rules = SenderConfig { handshake: true, ..rules() };
    let markable = |ecn: bool, lost_syns: u32| {
        let mut sender = Sender::new(7, &SenderConfig { ecn, ..rules.clone() });
        sender.open(Time::ZERO);
        sender.write(Time::ZERO, u64::MAX);
        let mut syn = sender.poll_transmit(Time::ZERO).expect("a SYN");
        assert_eq!((syn.kind(), syn.ecn(), syn.markable()), (SegmentKind::Syn, ecn, false));
        let mut now = Time::ZERO;
        for _ in 0..lost_syns {
            now = sender.poll_timeout();
            sender.handle_timeout(now);
            syn = sender.poll_transmit(now).expect("another SYN");
            assert!(!syn.ecn());
        }
        let mut receiver = Receiver::new(7, &ReceiverConfig::new(Profile::Era), &rules);
        receiver.handle_segment(now, &syn);
        let answer = receiver.poll_transmit(now).expect("a SYN-ACK");
        sender.handle_segment(now + ms(100), &answer);
        sender.poll_transmit(now + ms(100)).expect("data").markable()
    };
    assert_eq!([markable(true, 0), markable(true, 1), markable(false, 0)], [true, false, false]);
}

#[test]
fn a_receiver_tells_of_a_mark_until_it_is_answered() {
    let mut receiver_rules = ReceiverConfig::new(Profile::Era);
    receiver_rules.ack_policy = AckPolicy::Delayed { every: 2, timer: ms(100) };
    let mut receiver = Receiver::new(7, &receiver_rules, &rules());
    let mut acks = |number: u64, marked: bool, answers: bool| -> Vec<(u64, bool)> {
        let mut data = Segment::data(7, 40, ms(number), number, MSS as u32).with_markable(answers);
        if marked {
            data.mark();
        }
        receiver.handle_segment(ms(number), &data);
        std::iter::from_fn(|| receiver.poll_transmit(ms(number)))
            .map(|ack| (ack.number(), ack.ecn()))
            .collect()
    };
    assert!(acks(0, false, false).is_empty());
    assert_eq!(acks(1, false, false), [(2, false)]);
    assert_eq!(acks(2, true, false), [(3, true)], "the first mark is told at once");
    assert!(acks(3, false, false).is_empty());
    assert_eq!(acks(4, true, false), [(5, true)]);
    assert_eq!(acks(5, false, true), [(6, false)], "and the answer's ACK is free of it");
    assert_eq!(acks(6, true, true), [(7, true)], "unless that was marked itself");
}

//! The transport's duties towards the start-up algorithm.

mod support;

use rampcc::{ExitReason, Hint, Phase, Time};
use rampcc_tcp::{Profile, Receiver, ReceiverConfig, SenderConfig};
use rampcc_trace::FlowEventKind;
use support::{MSS, Script, config, ms};

fn exits(events: &[FlowEventKind]) -> Vec<FlowEventKind> {
    events.iter().copied().filter(|e| matches!(e, FlowEventKind::StartupExit { .. })).collect()
}

#[test]
fn slow_start_doubles_per_round_trip() {
    let mut script = Script::warmed_up(&config(Profile::Modern), 10);
    let (mut acked, mut windows) = (0, vec![]);
    for round in 1..=4 {
        acked += script.cwnd();
        script.ack(ms(100 * round), acked, &[]);
        windows.push(script.cwnd());
    }
    assert_eq!(windows, [20, 40, 80, 160]);
}

#[test]
fn counting_packets_grows_by_one_per_ack() {
    let mut script = Script::warmed_up(&config(Profile::Era), 10);
    for (i, ack) in [2, 4, 6, 8, 10].into_iter().enumerate() {
        script.ack(ms(100 + i as u64), ack, &[]);
    }
    assert_eq!(script.cwnd(), 15);
}

#[test]
fn reaching_the_threshold_is_reported_once_with_its_evidence() {
    let mut rules = config(Profile::Modern);
    rules.initial_ssthresh_packets = Some(20);
    let mut script = Script::warmed_up(&rules, 10);
    for round in 1..6 {
        script.ack(ms(100 * round), 10 * round, &[]);
    }
    assert_eq!(
        exits(&script.events),
        [FlowEventKind::StartupExit {
            reason: ExitReason::Ssthresh,
            evidence: 20 * MSS,
            limit: 20 * MSS,
            cwnd_bytes: 20 * MSS,
            deciding_sent: Time::ZERO,
        }]
    );
    assert_eq!(script.sender.sample(script.now).phase, Phase::Done);
}

#[test]
fn loss_is_reported_with_the_window_it_found() {
    let mut script = Script::warmed_up(&config(Profile::Modern), 20);
    script.ack(ms(100), 10, &[]);
    script.ack(ms(203), 10, &[(11, 14)]);
    let exits = exits(&script.events);
    assert!(
        matches!(
            exits[..],
            [FlowEventKind::StartupExit { reason: ExitReason::Loss, cwnd_bytes, deciding_sent, .. }]
                if cwnd_bytes == 30 * MSS && deciding_sent == Time::ZERO
        ),
        "{exits:?}"
    );
}

#[test]
fn a_later_exit_lets_the_window_double_for_one_more_round() {
    let mut rules = config(Profile::Modern);
    rules.initial_ssthresh_packets = Some(20);
    rules.extra_startup_rounds = 1;
    let mut script = Script::warmed_up(&rules, 10);
    script.ack(ms(100), 10, &[]);
    assert_eq!(script.cwnd(), 20);
    assert!(exits(&script.events).is_empty());
    assert_eq!(script.sender.sample(script.now).phase, Phase::Startup);
    script.ack(ms(200), 30, &[]);
    let exits = exits(&script.events);
    assert_eq!(exits.len(), 1);
    assert_eq!((script.cwnd(), script.ssthresh()), (40, 40));
    assert_eq!(script.sender.sample(script.now).phase, Phase::Done);
}

/// Every algorithm of the registry, over a pipe of 50 segments that drops what exceeds 75. What is reported of exits is what
/// the recorded decisions say.
#[test]
fn every_algorithm_finishes_and_its_exit_is_told_once() {
    for algorithm in rampcc::algorithms() {
        for profile in [Profile::Era, Profile::Modern] {
            let mut rules = SenderConfig::new(profile, algorithm);
            let bdp_bytes = 50 * u64::from(rules.mss_bytes);
            rules.hint = Hint::path(bdp_bytes, bdp_bytes * 20);
            let receiver = ReceiverConfig::new(profile);
            let adversary = support::Adversary {
                service: ms(1),
                one_way: ms(25),
                buffer: 25,
                ..support::Adversary::default()
            };
            let bytes = 3_000_000;
            let run = support::transfer(&rules, &receiver, bytes, &adversary, Time::from_secs(600));
            let what = format!("{} in {profile:?}", algorithm.id);
            let events: Vec<FlowEventKind> = run.events.iter().map(|e| e.1).collect();
            let told: Vec<ExitReason> = exits(&events)
                .iter()
                .filter_map(|e| {
                    if let FlowEventKind::StartupExit { reason, .. } = e { Some(*reason) } else { None }
                })
                .collect();
            let mut sender = run.sender;
            let first = std::iter::from_fn(|| sender.poll_decision())
                .map(|decision| decision.call.after)
                .find(|decision| decision.phase() == Phase::Done);
            assert!(!events.contains(&FlowEventKind::Undone), "{what}: what is lost is lost");
            assert_eq!(told, Vec::from_iter(first.map(|decision| decision.exit_reason())), "{what}");
            assert!(first.is_some() || run.dropped == 0, "{what} never left, and lost {}", run.dropped);
            assert_eq!(run.received, bytes, "{what}");
            let seconds = run.finished.map_or(f64::MAX, Time::secs_f64);
            assert!(seconds < 20.0, "{what} took {seconds} s");
        }
    }
}

#[test]
fn an_idle_flow_is_small() {
    let rules = config(Profile::Modern);
    let bytes = size_of::<rampcc_tcp::Sender>() + size_of::<Receiver>() + rules.startup.state_bytes();
    assert!(bytes < 2048, "{bytes} bytes");
}

//! The contract's words on events and windows, each by the list of what happens.

#[path = "../../ramp/tests/scratch/mod.rs"]
mod scratch;
mod support;

use rampcc::{AckFlags, EventKind, ExitReason, Phase, Time};
use rampcc_tcp::{Pacing, Profile, Recovery, SenderConfig};
use rampcc_trace::{FlowEventKind, FlowSample, SenderState, Told};
use scratch::forms;
use support::{MSS, Script, config, ms};

/// A row that says what its parameters say.
fn saying(mut rules: SenderConfig, said: &[(&str, u64)]) -> SenderConfig {
    (rules.startup, rules.parameters) = forms(said);
    rules
}

/// No tail probes, so that timers are timeouts.
fn modern() -> SenderConfig {
    let mut rules = config(Profile::Modern);
    rules.rack_tlp = false;
    rules
}

fn steered(id: &str) -> SenderConfig {
    let mut rules = modern();
    rules.startup = rampcc::algorithm(id).expect("a row of the registry");
    rules.parameters = rules.startup.default_parameters();
    rules
}

impl Script {
    fn sample(&self) -> FlowSample {
        self.sender.sample(self.now)
    }

    /// How start-up's end and the undoing of reductions were reported, since the last question.
    fn exits(&mut self) -> Vec<&'static str> {
        let words = self.events.iter().filter_map(|event| match event {
            FlowEventKind::StartupExit { reason, .. } => Some(reason.word()),
            FlowEventKind::Undone => Some("undone"),
            FlowEventKind::StartupResumed => Some("resumed"),
            _ => None,
        });
        let words = words.collect();
        self.events.clear();
        words
    }

    /// The events that the algorithm got, with the windows that it found and left.
    fn told(&mut self) -> Vec<(EventKind, u64, u64)> {
        let calls = std::iter::from_fn(|| self.sender.poll_decision());
        let events = calls.filter_map(|decision| match decision.call.told {
            Told::Event(event) => Some((event.kind, decision.call.before, decision.call.after)),
            _ => None,
        });
        events.map(|(kind, before, after)| (kind, before.cwnd_bytes / MSS, after.cwnd_bytes / MSS)).collect()
    }

    /// The first 20 segments have left and 10 of them are acknowledged; the timer expires.
    fn timed_out(rules: &SenderConfig) -> Self {
        let mut script = Self::recording(rules);
        script.ack(ms(100), 10, &[]);
        assert_eq!(script.wait(), [10]);
        script
    }

    fn recording(rules: &SenderConfig) -> Self {
        let mut script = Self::warmed_up(rules, 20);
        script.events.clear();
        script
    }

    /// An ACK of something that left before anything was sent again.
    fn original(&mut self, number: u64) {
        self.ack_echoing(self.now + ms(5), ms(100), number, &[]);
    }
}

#[test]
fn a_timeout_of_what_the_last_one_sent_again_is_not_told_again() {
    for id in ["slow_start", "hystartpp", "enhanced", "hystart"] {
        let mut script = Script::timed_out(&steered(id));
        assert_eq!(script.wait(), [10], "{id}");
        let kinds: Vec<_> = script.told().iter().map(|told| told.0).collect();
        assert_eq!(kinds, [EventKind::Timeout], "{id}");
        script.original(12);
        // It went on as a slow start that nothing would end.
        assert_ne!(script.sample().phase, Phase::Done, "{id}");
    }
}

#[test]
fn what_start_up_does_not_take_up_again_grows_no_further() {
    let mut script = Script::recording(&steered("hystartpp"));
    script.ack(ms(100), 10, &[]);
    assert_eq!(script.ack(ms(101), 10, &[(11, 14)])[0], 10);
    assert_eq!(script.sample().state, SenderState::Recovery);
    let window = script.cwnd();
    assert_eq!(script.wait(), [10]);
    script.original(16);
    let kinds: Vec<_> = script.told().iter().map(|told| told.0).collect();
    assert_eq!(kinds, [EventKind::Loss, EventKind::Timeout, EventKind::Undone]);
    assert_eq!(script.exits(), ["loss", "undone"]);
    let restored = script.sample();
    assert_eq!(restored.phase, Phase::Done, "two congestions are final");
    assert!(restored.cwnd_bytes >= window * MSS, "{restored:?}");
    assert!(restored.ssthresh_bytes <= restored.cwnd_bytes, "{restored:?}");
    let next = 16 + script.in_flight();
    script.ack(script.now + ms(100), next, &[]);
    assert!(script.cwnd() <= restored.cwnd_bytes / MSS + 2, "{} of {restored:?}", script.cwnd());
}

#[test]
fn an_exit_that_is_taken_back_is_none() {
    let mut script = Script::timed_out(&steered("slow_start"));
    script.original(12);
    assert_eq!(script.exits(), ["timeout", "undone", "resumed"]);
    assert_eq!(script.sample().phase, Phase::Startup);
    let una = 12 + script.in_flight();
    script.ack(script.now + ms(100), una, &[]);
    script.ack(script.now + ms(100), una, &[(una + 1, una + 5)]);
    assert_eq!(script.exits(), ["loss"], "the exit of the run");
}

#[test]
fn an_exit_before_a_timeout_that_begins_start_up_again_stays() {
    let mut rules = steered("hystart");
    rules.initial_ssthresh_packets = Some(20);
    let mut script = Script::recording(&rules);
    script.ack(ms(100), 10, &[]);
    assert_eq!(script.exits(), ["ssthresh"]);
    assert_eq!(script.wait(), [10]);
    assert_eq!(script.sample().phase, Phase::Startup, "it begins again");
    script.original(30);
    assert_eq!(script.exits(), ["undone"]);
    let una = script.sender.sample(script.now).delivered_bytes / MSS;
    script.ack(script.now + ms(100), una, &[(una + 1, una + 5)]);
    assert_eq!(script.exits(), [""; 0], "the second exit is not the run's");
}

#[test]
fn undone_is_told_before_the_host_restores_the_windows_and_they_are_its_own() {
    let rules = saying(modern(), &[("undone", 3)]);
    let mut script = Script::timed_out(&rules);
    script.original(12);
    let told = script.told();
    assert_eq!(told[1], (EventKind::Undone, 1, 3), "{told:?}");
    assert_eq!((script.cwnd(), script.ssthresh()), (30, 30), "that of before the timeout, not the row's");
    assert_eq!(script.sample().phase, Phase::Done, "which does not go on");
}

#[test]
fn a_threshold_set_on_a_timeout_in_recovery_stands() {
    let rules = saying(modern(), &[("keep", 50), ("expired", 7)]);
    let mut script = Script::recording(&rules);
    script.ack(ms(100), 10, &[]);
    script.ack(ms(101), 10, &[(11, 14)]);
    assert_eq!(script.sample().state, SenderState::Recovery);
    let reduced = script.ssthresh();
    assert!(reduced > 7, "{reduced}");
    script.wait();
    assert_eq!((script.sample().state, script.ssthresh()), (SenderState::Loss, 7));
    assert_eq!(script.sample().phase, Phase::Startup);
}

/// Each pause began them again.
#[test]
fn a_pause_between_extra_rounds_prolongs_none() {
    let mut rules = modern();
    rules.initial_ssthresh_packets = Some(20);
    rules.extra_startup_rounds = 2;
    let mut script = Script::offering(&rules, 10 * MSS);
    assert_eq!(script.sent().len(), 10);
    script.ack(ms(100), 10, &[]);
    script.sender.write(ms(100), 20 * MSS);
    assert_eq!(script.sent().len(), 20);
    script.ack(ms(200), 30, &[]);
    assert_eq!((script.cwnd(), script.sample().phase), (40, Phase::Startup), "the first of two");
    script.now = Time::from_secs(5);
    script.sender.write(script.now, 10 * MSS);
    assert_eq!(script.sent().len(), 10);
    script.ack(script.now + ms(100), 40, &[]);
    assert_eq!(script.exits(), ["ssthresh"]);
    assert_eq!(script.sample().phase, Phase::Done);
}

/// A row that goes on after a loss, and while the host repairs it asks for 30 % of what was in flight, or 80 %.
#[test]
fn every_recovery_ends_at_the_threshold_that_is_set_during_it() {
    let bare = |recovery| {
        let mut rules = config(Profile::Era);
        (rules.recovery, rules.prr) = (recovery, false);
        rules
    };
    let mut ns2 = config(Profile::Ns2);
    ns2.handshake = false;
    let hosts = [
        bare(Recovery::NewRenoImpatient),
        bare(Recovery::NewRenoSteady),
        bare(Recovery::Sack),
        modern(),
        config(Profile::Modern),
        SenderConfig { recovery: Recovery::NewRenoImpatient, ..ns2.clone() },
        ns2,
    ];
    for rules in hosts {
        for keep in [30, 80] {
            let what = format!("{:?}, prr {}, keep {keep}", rules.recovery, rules.prr);
            let sack = matches!(rules.recovery, Recovery::Sack | Recovery::SackNs2);
            let mut script = Script::warmed_up(&saying(rules.clone(), &[("keep", keep)]), 20);
            // 0 and 10 are missing of 20.
            for arrived in (1..10).chain(11..20) {
                let blocks: &[_] = match (sack, arrived) {
                    (false, _) => &[],
                    (true, 1..10) => &[(1, arrived + 1)],
                    (true, _) => &[(11, arrived + 1), (1, 10)],
                };
                script.ack(ms(100 + arrived), 0, blocks);
            }
            assert_eq!(script.sample().state, SenderState::Recovery, "{what}");
            let lost = std::iter::from_fn(|| script.sender.poll_decision())
                .find_map(|decision| match decision.call.told {
                    Told::Event(event) => Some(event),
                    _ => None,
                })
                .expect("a loss");
            let goal = lost.in_flight_bytes * keep / 100;
            script.ack(ms(210), 10, if sack { &[(11, 20)] } else { &[] });
            assert_eq!(
                (script.sample().state, script.sample().ssthresh_bytes),
                (SenderState::Recovery, goal)
            );
            let next = script.sender.sample(script.now).sent_bytes / MSS
                - script.sender.sample(script.now).retransmitted_bytes / MSS;
            script.ack(ms(320), next, &[]);
            let end = script.sample();
            assert_eq!(end.state, SenderState::Open, "{what}");
            // Slow start has this ACK where recovery ends before it grows the window.
            let grown = end.cwnd_bytes.saturating_sub(goal);
            assert!(end.cwnd_bytes >= goal && grown <= MSS, "{what}: {} not {goal}", end.cwnd_bytes);
        }
    }
}

/// 80 % of a thousand packets per round trip, where ten were left.
#[test]
fn a_share_is_one_of_the_window_as_it_is_after_a_pause_or_a_timeout() {
    let mut rules = modern();
    (rules.linux_pacer, rules.pacing) = (false, Pacing::Algorithm);
    let said = [("window", 1000), ("percent", 80), ("leave", 100)];
    let mut script = Script::offering(&saying(rules, &said), 100 * MSS);
    let mut sent = script.sent().len();
    while sent < 100 {
        sent += script.wait().len();
    }
    script.ack(script.now + ms(100), 100, &[]);
    assert_eq!((script.sample().phase, script.cwnd()), (Phase::Done, 1000));
    let share = |sample: FlowSample| {
        let (window, rtt) = (u128::from(sample.cwnd_bytes), u128::from(sample.smoothed_rtt.ns()));
        u64::try_from(window * 80 * 10_000_000 / rtt).expect("a rate")
    };
    script.now += Time::from_secs(5);
    script.sender.write(script.now, 30 * MSS);
    assert_eq!(script.sent().len(), 1, "each has its gap");
    let paused = script.sample();
    assert_eq!((paused.cwnd_bytes, paused.pacing_bytes_per_s), (10 * MSS, share(paused)));
    while script.sample().in_flight_bytes < 10 * MSS {
        script.wait();
    }
    while script.sample().state != SenderState::Loss {
        script.wait();
    }
    let expired = script.sample();
    assert_eq!((expired.cwnd_bytes, expired.pacing_bytes_per_s), (MSS, share(expired)));
}

#[test]
fn an_exit_in_init_is_told_after_the_connection_is_established() {
    let rules = saying(modern(), &[("window", 40), ("leave", 0)]);
    let mut script = Script::new(&rules);
    assert_eq!(script.sent().len(), 40);
    assert_eq!(
        script.events,
        [
            FlowEventKind::Established,
            FlowEventKind::StartupExit {
                reason: ExitReason::Known,
                evidence: 40 * MSS,
                limit: 40 * MSS,
                cwnd_bytes: 40 * MSS,
                deciding_sent: Time::ZERO,
            }
        ]
    );
}

#[test]
fn waiting_for_an_answer_to_a_doubt_is_not_the_applications_doing() {
    let rules = saying(modern(), &[("expired", 20)]);
    let mut script = Script::offering(&SenderConfig { initial_window_packets: 20, ..rules }, 41 * MSS);
    assert_eq!(script.sent().len(), 20);
    script.ack(ms(100), 10, &[]);
    assert_eq!(script.wait(), [10]);
    // All that is new leaves; 11 to 39 wait to be sent again, if the next ACK says so.
    let at = script.now;
    assert_eq!(script.ack_echoing(at + ms(100), at, 11, &[]), [40]);
    script.sender.write(script.now, MSS);
    assert_eq!(script.sent(), [41]);
    let at = script.now;
    script.ack_echoing(at + ms(100), at, 11, &[(41, 42)]);
    let calls = std::iter::from_fn(|| script.sender.poll_decision());
    let last =
        calls.filter_map(|call| if let Told::Ack(ack) = call.call.told { Some(ack) } else { None }).last();
    let last = last.expect("start-up goes on");
    assert_eq!(last.newest_acked_bytes, 43 * MSS, "41 was the last to leave, after 10 had left twice");
    assert_eq!(last.flags & AckFlags::APP_LIMITED, 0);
}

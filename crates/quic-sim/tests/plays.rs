//! What the backend plays, and what it refuses.

mod common;

use std::sync::atomic::AtomicBool;

use common::{Log, play};
use rampcc::{ExitReason, Time};
use rampcc_backend::{Backend, Play};
use rampcc_quic_sim::{Stack, VirtualQuic};
use rampcc_scenario::{Arm, Scenario};
use rampcc_trace::{FlowDecision, Observer, Replay};

const NOQ: VirtualQuic = VirtualQuic(Stack::Noq);
const QUINN: VirtualQuic = VirtualQuic(Stack::Quinn);

const PATHS: [&str; 3] = [
    "[path]\nrate = \"100 Mbit/s\"\nrtt = \"40 ms\"\nbuffer = \"1 bdp\"\n[[flow]]\nsize = \"10 MB\"\n",
    "[path]\nrate = \"50 Mbit/s\"\nrtt = \"100 ms\"\nbuffer = \"0.5 bdp\"\n[[flow]]\nsize = \"10 MB\"\n",
    "[path]\nrate = \"20 Mbit/s\"\nrtt = \"60 ms\"\nbuffer = \"2 bdp\"\n[[flow]]\nsize = \"4 MB\"\n",
];

#[test]
fn the_same_run_is_the_same_again() {
    for id in ["slow_start", "paced"] {
        let (one, other) = (play(&NOQ, PATHS[0], id), play(&NOQ, PATHS[0], id));
        assert!(one.samples.len() > 1_000, "every ACK is sampled");
        assert_eq!(one, other, "{id}");
    }
}

#[test]
fn stacks_own_controls_leave_at_the_first_loss() {
    let of = |backend: &'static VirtualQuic| backend.controls().iter().map(move |control| (backend, control));
    for (backend, control) in of(&NOQ).chain(of(&QUINN)) {
        let name = control.name;
        let scenario = Scenario::parse("test", PATHS[1], None).expect("a scenario");
        let mut log = Log::default();
        let play = Play { scenario: &scenario, control: Some(control), seed: 1 };
        backend.check(&scenario, Some(control)).expect("it can be played");
        backend.run(&play, &mut log, &AtomicBool::new(false)).expect("it runs");
        assert_eq!(log.exit.map(|exit| exit.1), Some(ExitReason::Loss), "{name}");
        assert!(log.completed < Time::from_secs(10), "{name}: {}", log.completed);
    }
}

/// Every call of the algorithm is recorded, and its core takes every decision again.
#[test]
fn recorded_calls_are_the_cores_byte_for_byte() {
    struct Recording(Vec<FlowDecision>);
    impl Observer for Recording {
        fn wants_decisions(&self) -> bool {
            true
        }
        fn on_decision(&mut self, decision: &FlowDecision) {
            self.0.push(decision.clone());
        }
    }
    for (backend, id) in [(&NOQ, "paced"), (&NOQ, "hystartpp"), (&QUINN, "search")] {
        let scenario = Scenario::parse("test", PATHS[2], None).expect("a scenario");
        let scenario = scenario.with_arm(&Arm::parse(id).expect("a row"));
        let mut recording = Recording(Vec::new());
        let play = Play { scenario: &scenario, control: None, seed: 1 };
        backend.run(&play, &mut recording, &AtomicBool::new(false)).expect("it runs");
        let mut recorded = Replay::recorded();
        for decision in &recording.0 {
            recorded.handle_decision(decision).expect("the same again");
        }
        assert!(recorded.compared() > 10, "{id}: {} calls", recorded.compared());
        assert!(
            recorded.courses().all(|(_, course)| course.algorithm == id && course.exit.is_some()),
            "{id}"
        );
    }
}

/// noq ends a connection that has a stream in more than 1024 pieces, and slow start overshoots this path by thousands of
/// packets; HyStart leaves before it does.
#[test]
fn an_overshoot_ends_the_connection() {
    let path =
        "[path]\nrate = \"300 Mbit/s\"\nrtt = \"30 ms\"\nbuffer = \"1 bdp\"\n[[flow]]\nsize = \"20 MB\"\n";
    let (over, within) = (play(&NOQ, path, "slow_start"), play(&NOQ, path, "hystart"));
    assert!(over.lost && over.completed == Time::ZERO, "{:?}", over.exit);
    assert!(!within.lost && within.completed > Time::ZERO, "{:?}", within.exit);
}

/// quinn spaces packets by a rule of its own, and takes a window that is exactly full for too full: a row that sets a window alone
/// leaves a little later than over noq.
#[test]
fn a_row_over_quinn_does_as_over_noq() {
    for id in ["slow_start", "hystartpp"] {
        let spaced = format!("{}[sender]\npacing = \"always\"\n", PATHS[0]);
        let (noq, quinn) = (play(&NOQ, &spaced, id), play(&QUINN, &spaced, id));
        assert_eq!(quinn, play(&QUINN, &spaced, id), "the same again");
        let (one, other) = (noq.exit.expect("it leaves"), quinn.exit.expect("it leaves"));
        let apart = |a: f64, b: f64| (a / b - 1.0).abs();
        assert!(apart(one.0.secs_f64(), other.0.secs_f64()) < 0.05, "{id}: {one:?} {other:?}");
        assert_eq!(one.1, other.1, "{id}");
        assert!(apart(one.2 as f64, other.2 as f64) < 0.05, "{id}: {one:?} {other:?}");
        assert!(apart(noq.completed.secs_f64(), quinn.completed.secs_f64()) < 0.05, "{id}");
    }
}

#[test]
fn rows_that_space_packets_are_refused_over_quinn_by_what_they_need() {
    let unmet = |id: &str, backend: &dyn Backend| {
        rampcc::algorithm(id).expect("a row").unmet(backend.lacks()).map(|lacking| lacking.reason).next()
    };
    for id in ["paced", "bbr3"] {
        assert_eq!(unmet(id, &NOQ), None, "{id}");
        assert!(unmet(id, &QUINN).is_some_and(|reason| reason.contains("its own rule")), "{id}");
    }
    assert_eq!(unmet("hystartpp", &QUINN), None);
}

#[test]
fn what_quic_hosts_do_not_have_is_named() {
    let refused = |text: &str| {
        let scenario = Scenario::parse("test", text, None).expect("a scenario");
        NOQ.check(&scenario, None).expect_err("it is refused").join("; ")
    };
    let era = format!("profile = \"era\"\n{}", PATHS[0]);
    assert!(refused(&era).contains("abc-limit"), "{}", refused(&era));
    let small = format!("{}\n[sender]\nmss = \"500 B\"\n", PATHS[0]);
    assert!(refused(&small).contains("1200 bytes"), "{}", refused(&small));
}

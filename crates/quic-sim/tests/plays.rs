//! What the backend plays, and what it refuses.

mod common;

use std::sync::atomic::AtomicBool;

use common::{Log, play};
use rampcc::{ExitReason, Time};
use rampcc_backend::{Backend, Play};
use rampcc_quic_sim::VirtualQuic;
use rampcc_scenario::Scenario;

const PATHS: [&str; 3] = [
    "[path]\nrate = \"100 Mbit/s\"\nrtt = \"40 ms\"\nbuffer = \"1 bdp\"\n[[flow]]\nsize = \"10 MB\"\n",
    "[path]\nrate = \"50 Mbit/s\"\nrtt = \"100 ms\"\nbuffer = \"0.5 bdp\"\n[[flow]]\nsize = \"10 MB\"\n",
    "[path]\nrate = \"20 Mbit/s\"\nrtt = \"60 ms\"\nbuffer = \"2 bdp\"\n[[flow]]\nsize = \"4 MB\"\n",
];

#[test]
fn the_same_run_is_the_same_again() {
    for id in ["slow_start", "paced"] {
        let (one, other) = (play(&VirtualQuic, PATHS[0], id), play(&VirtualQuic, PATHS[0], id));
        assert!(one.samples.len() > 1_000, "every ACK is sampled");
        assert_eq!(one, other, "{id}");
    }
}

#[test]
fn noqs_own_controls_leave_at_the_first_loss() {
    for name in ["noq_cubic", "noq_newreno"] {
        let control = VirtualQuic.controls().iter().find(|control| control.name == name).expect("a row");
        let scenario = Scenario::parse("test", PATHS[1], None).expect("a scenario");
        let mut log = Log::default();
        let play = Play { scenario: &scenario, control: Some(control), seed: 1 };
        VirtualQuic.check(&scenario, Some(control)).expect("it can be played");
        VirtualQuic.run(&play, &mut log, &AtomicBool::new(false)).expect("it runs");
        assert_eq!(log.exit.map(|exit| exit.1), Some(ExitReason::Loss), "{name}");
        assert!(log.completed < Time::from_secs(10), "{name}: {}", log.completed);
    }
}

/// noq ends a connection that has a stream with more than 1024 gaps, and slow start overshoots this path by thousands of
/// packets; HyStart leaves before it does.
#[test]
fn an_overshoot_ends_the_connection() {
    let path =
        "[path]\nrate = \"300 Mbit/s\"\nrtt = \"30 ms\"\nbuffer = \"1 bdp\"\n[[flow]]\nsize = \"20 MB\"\n";
    let (over, within) = (play(&VirtualQuic, path, "slow_start"), play(&VirtualQuic, path, "hystart"));
    assert!(over.lost && over.completed == Time::ZERO, "{:?}", over.exit);
    assert!(!within.lost && within.completed > Time::ZERO, "{:?}", within.exit);
}

#[test]
fn what_quic_hosts_do_not_have_is_named() {
    let refused = |text: &str| {
        let scenario = Scenario::parse("test", text, None).expect("a scenario");
        VirtualQuic.check(&scenario, None).expect_err("it is refused").join("; ")
    };
    let era = format!("profile = \"era\"\n{}", PATHS[0]);
    assert!(refused(&era).contains("abc-limit"), "{}", refused(&era));
    let small = format!("{}\n[sender]\nmss = \"500 B\"\n", PATHS[0]);
    assert!(refused(&small).contains("1200 bytes"), "{}", refused(&small));
}

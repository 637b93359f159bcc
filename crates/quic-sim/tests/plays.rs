//! The real stack in virtual time does what the simulator's TCP does where their rules are alike.

use std::sync::atomic::AtomicBool;

use rampcc::{ExitReason, Time};
use rampcc_backend::{Backend, Play};
use rampcc_quic_sim::VirtualQuic;
use rampcc_scenario::{Arm, Scenario};
use rampcc_sim::Simulator;
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, Observer};

#[derive(Debug, Default, PartialEq)]
struct Log {
    established: Time,
    exit: Option<(Time, ExitReason, u64)>,
    completed: Time,
    samples: Vec<FlowSample>,
}

impl Observer for Log {
    fn on_event(&mut self, event: &FlowEvent) {
        match event.kind {
            FlowEventKind::Established => self.established = event.now,
            FlowEventKind::StartupExit { reason, cwnd_bytes, .. } => {
                self.exit = Some((event.now, reason, cwnd_bytes));
            }
            FlowEventKind::Completed { .. } => self.completed = event.now,
            _ => {}
        }
    }

    fn on_flow(&mut self, sample: &FlowSample) {
        self.samples.push(*sample);
    }
}

fn play(backend: &dyn Backend, path: &str, id: &str) -> Log {
    let scenario = Scenario::parse("test", path, None).expect("a scenario");
    let arm = Arm::parse(id).expect("a row");
    let mut log = Log::default();
    let play = Play { scenario: &scenario.with_arm(&arm), control: None, seed: 1 };
    backend.check(play.scenario, None).expect("it can be played");
    backend.run(&play, &mut log, &AtomicBool::new(false)).expect("it runs");
    log
}

const PATHS: [&str; 3] = [
    "[path]\nrate = \"100 Mbit/s\"\nrtt = \"40 ms\"\nbuffer = \"1 bdp\"\n[[flow]]\nsize = \"10 MB\"\n",
    "[path]\nrate = \"50 Mbit/s\"\nrtt = \"100 ms\"\nbuffer = \"0.5 bdp\"\n[[flow]]\nsize = \"10 MB\"\n",
    "[path]\nrate = \"20 Mbit/s\"\nrtt = \"60 ms\"\nbuffer = \"2 bdp\"\n[[flow]]\nsize = \"4 MB\"\n",
];

fn apart(one: f64, other: f64) -> f64 {
    (one / other - 1.0).abs()
}

/// Packets are 1472 bytes where a segment has 1448 bytes of payload: 1.7 % are units.
#[test]
fn rows_that_set_a_window_alone_leave_as_over_tcp() {
    for path in PATHS {
        for id in ["slow_start", "hystart", "hystartpp", "best", "search4"] {
            let (tcp, quic) = (play(&Simulator, path, id), play(&VirtualQuic, path, id));
            let ((tcp_at, tcp_reason, tcp_window), (at, reason, window)) =
                (tcp.exit.expect("TCP leaves"), quic.exit.expect("QUIC leaves"));
            let what =
                format!("{id} on {path}: {tcp_at} {tcp_reason:?} {tcp_window}, {at} {reason:?} {window}");
            assert_eq!(reason, tcp_reason, "{what}");
            assert!(apart(at.secs_f64(), tcp_at.secs_f64()) < 0.05, "{what}");
            assert!(apart(window as f64, tcp_window as f64) < 0.05, "{what}");
            let (took, tcp_took) = (quic.completed.secs_f64(), tcp.completed.secs_f64());
            assert!(apart(took, tcp_took) < 0.05, "{what}: {took} s, {tcp_took} s");
        }
    }
}

#[test]
fn rows_that_pace_find_the_same_path() {
    for path in &PATHS[..2] {
        for id in ["paced", "reach"] {
            let (tcp, quic) = (play(&Simulator, path, id), play(&VirtualQuic, path, id));
            let ((_, tcp_reason, tcp_window), (_, reason, window)) =
                (tcp.exit.expect("TCP leaves"), quic.exit.expect("QUIC leaves"));
            assert_eq!(reason, tcp_reason, "{id} on {path}");
            assert!(apart(window as f64, tcp_window as f64) < 0.05, "{id} on {path}: {window}, {tcp_window}");
        }
    }
}

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

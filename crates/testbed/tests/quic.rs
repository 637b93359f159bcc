//! QUIC over UDP sockets. Judged by what does not depend on how busy the machine is.
#![cfg(target_os = "linux")]

mod support;

use std::sync::atomic::AtomicBool;

use rampcc::Time;
use rampcc_backend::{Backend, BackendError, Control, Play, Played};
use rampcc_quic_sim::{Stack, VirtualQuic};
use rampcc_scenario::{Arm, Scenario};
use rampcc_testbed::RealQuic;
use rampcc_trace::{FlowEventKind, Replay};
use support::{Seen, alone, ready};

const REAL: RealQuic = RealQuic { keep_refused: true };
const PATH: &str =
    "[path]\nrate = \"20 Mbit/s\"\nrtt = \"40 ms\"\nbuffer = \"1 bdp\"\n[[flow]]\nsize = \"1 MB\"\n";
const BYTES: u64 = 1_000_000;

fn count(seen: &Seen, wanted: impl Fn(&FlowEventKind) -> bool) -> usize {
    seen.of(0, wanted).len()
}

fn scenario(text: &str, row: &str) -> Scenario {
    let scenario = Scenario::parse("test", text, None).expect("the text is a scenario");
    scenario.with_arm(&Arm::parse(row).expect("a row"))
}

fn control(name: &str) -> Option<&'static Control> {
    REAL.controls().iter().find(|control| control.name == name)
}

fn run(scenario: &Scenario, control: Option<&Control>) -> (Seen, Played) {
    let _alone = alone();
    let mut seen = Seen { decided: true, ..Seen::default() };
    let play = Play { scenario, control, seed: 1 };
    REAL.check(scenario, control).expect("it can be played");
    let played = REAL.run(&play, &mut seen, &AtomicBool::new(false)).expect("it is played");
    (seen, played)
}

/// The core over noq, and the own controllers of both stacks: everything arrives, and what is reported of it fits together.
#[test]
fn a_download_arrives_whole_over_sockets_and_tls() {
    let Some(()) = ready() else { return };
    for name in ["hystart", "noq_cubic", "quinn_cubic"] {
        let own = control(name);
        let row = if own.is_some() { "slow_start" } else { name };
        let (seen, played) = run(&scenario(PATH, row), own);
        let flow = played.outcome.flows[0];
        assert_eq!(flow.received_bytes, BYTES, "{name}");
        // Not before the path's rate allows it: 1 MB at 20 Mbit/s, and two round trips before.
        assert!(flow.completed > Time::from_ms(400), "{name}: {}", flow.completed);
        assert_eq!(played.outcome.end, flow.completed, "{name}");
        let full = BYTES / 1472;
        assert!((full..2 * full).contains(&flow.data_packets), "{name}: {} packets", flow.data_packets);
        for (what, count) in [
            ("opened", count(&seen, |kind| matches!(kind, FlowEventKind::Opened { .. }))),
            ("established", count(&seen, |kind| matches!(kind, FlowEventKind::Established))),
            ("left start-up", count(&seen, |kind| matches!(kind, FlowEventKind::StartupExit { .. }))),
            ("completed", count(&seen, |kind| matches!(kind, FlowEventKind::Completed { bytes: BYTES }))),
        ] {
            assert_eq!(count, 1, "{name}: {what}");
        }
        let dropped = count(&seen, |kind| matches!(kind, FlowEventKind::Dropped { data: true, .. }));
        assert_eq!(dropped as u64, flow.dropped_packets, "{name}");
        assert!(seen.samples.len() > 50, "{name}: {} samples", seen.samples.len());
        assert!(seen.order.is_sorted(), "{name}: in order of time");
        // No sample beats the path.
        let rtts = || seen.samples.iter().map(|sample| sample.rtt).filter(|rtt| *rtt > Time::ZERO);
        assert!(rtts().min().is_some_and(|least| least >= Time::from_ms(40)), "{name}");
        let emulation = played.emulation.expect("a run in real time tells of itself");
        let hosts = emulation.hosts.expect("the hosts are threads");
        assert!(hosts.count > flow.data_packets && hosts.max_us >= hosts.p99_us, "{name}: {hosts:?}");
        assert!(hosts.p99_us > 0.0, "{name}: {hosts:?}");
    }
}

#[test]
fn recorded_calls_are_the_cores_byte_for_byte() {
    let Some(()) = ready() else { return };
    for id in ["paced", "hystartpp"] {
        let (seen, _) = run(&scenario(PATH, id), None);
        let mut recorded = Replay::recorded();
        for decision in &seen.decisions {
            recorded.handle_decision(decision).expect("the same again");
        }
        assert!(recorded.compared() > 10, "{id}: {} calls", recorded.compared());
    }
}

#[test]
fn a_run_ends_where_the_scenario_does_and_when_it_is_interrupted() {
    let Some(()) = ready() else { return };
    let endless = "[path]\nrate = \"2 Mbit/s\"\nrtt = \"40 ms\"\n[[flow]]\nsize = \"100 MB\"\n";
    let cut = scenario(&format!("duration = \"1 s\"\n{endless}"), "hystart");
    let (seen, played) = run(&cut, None);
    assert_eq!(played.outcome.end, Time::from_secs(1));
    assert!(played.outcome.flows[0].received_bytes < 300_000, "{:?}", played.outcome.flows);
    assert_eq!(count(&seen, |kind| matches!(kind, FlowEventKind::Unfinished { .. })), 1);

    let _alone = alone();
    let endless = scenario(endless, "hystart");
    let play = Play { scenario: &endless, control: None, seed: 1 };
    let stopped = REAL.run(&play, &mut Seen::default(), &AtomicBool::new(true));
    assert!(matches!(stopped, Err(BackendError::Interrupted { .. })), "{stopped:?}");
}

/// What virtual time refuses, what one download is not, and what the emulator cannot do.
#[test]
fn what_cannot_be_played_is_refused_by_its_name() {
    let refused = |text: &str| {
        let scenario = Scenario::parse("test", text, None).expect("a scenario");
        REAL.check(&scenario, None).expect_err("it is refused").join("; ")
    };
    let path = "[path]\nrate = \"20 Mbit/s\"\nrtt = \"40 ms\"\n";
    for (text, said) in [
        (
            format!("{path}[[flow]]\nsize = \"1 MB\"\n[[flow]]\nsize = \"1 MB\"\n"),
            "one flow, and no other traffic",
        ),
        (
            format!("{path}[[flow]]\nresponses = {{ size = \"10 kB\", count = 9, think = \"10 ms\" }}\n"),
            "`size` is one number of bytes",
        ),
        (format!("{PATH}[sender]\necn = true\n"), "`ecn` is on"),
        (format!("{PATH}[sender]\nheaders = \"60 B\"\n"), "`headers` of 60 bytes"),
        (format!("{PATH}[sender]\nmss = \"500 B\"\n"), "1200 bytes"),
        (PATH.replace("20 Mbit/s", "1 Gbit/s"), "the emulator is rated to"),
        (PATH.replace("40 ms", "1 ms"), "too short"),
        (format!("profile = \"era\"\n{PATH}"), "abc-limit"),
    ] {
        let found = refused(&text);
        assert!(found.contains(said), "{text}: {found}");
    }
    let virtually = VirtualQuic(Stack::Noq);
    assert_eq!(REAL.controls(), virtually.controls(), "the same rows");
    assert_eq!(REAL.lacks().len(), virtually.lacks().len());
}

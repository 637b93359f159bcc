//! Quick-Start over a simulated path: routers that grant, refuse, or do not know it.

use std::sync::atomic::AtomicBool;

use rampcc::{Time, algorithm};
use rampcc_scenario::{Arm, Scenario};
use rampcc_sim::simulate;
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, Observer};

/// The window at each ACK, and when the transfer was over.
#[derive(Default)]
struct Seen {
    windows: Vec<(Time, u64)>,
    thresholds: Vec<u64>,
    completed: Vec<Time>,
    lost: u64,
}

impl Observer for Seen {
    fn on_flow(&mut self, sample: &FlowSample) {
        self.windows.push((sample.now, sample.cwnd_bytes));
        self.thresholds.push(sample.ssthresh_bytes);
        self.lost = sample.lost_bytes;
    }
    fn on_event(&mut self, event: &FlowEvent) {
        if matches!(event.kind, FlowEventKind::Completed { .. }) {
            self.completed.push(event.now);
        }
    }
}

fn play(text: &str, id: &str) -> Seen {
    let scenario = Scenario::parse("quick-start", text, None).expect("a scenario");
    let algorithm = algorithm(id).expect("a row");
    let arm = Arm::new(algorithm);
    let mut seen = Seen::default();
    simulate(&scenario.with_arm(&arm), 1, &mut seen, &AtomicBool::new(false)).expect("it runs");
    seen
}

/// The papers' profile: no receive window is in the way. That of a Linux SYN-ACK is 64 kB at most.
fn path(quick_start: &str) -> String {
    format!(
        "profile = \"era\"\nsize = \"2 MB\"\n[path]\nrate = \"100 Mbit/s\"\nrtt = \"200 ms\"\nbuffer = \"1 bdp\"\n{quick_start}\n"
    )
}

fn seconds(seen: &Seen) -> f64 {
    seen.completed[0].ns() as f64 / 1e9
}

#[test]
fn a_grant_saves_the_round_trips_of_slow_start() {
    let granted = play(&path("quick-start = \"grant\""), "quickstart");
    let slow = play(&path(""), "slow_start");
    // 81.92 Mbit/s over 200 ms: 2.048 MB less headers; all of it leaves in the first round trip after the handshake.
    let window = granted.windows[0].1 as f64;
    assert!((window / (2_048_000.0 * 1448.0 / 1488.0) - 1.0).abs() < 0.01, "{window}");
    assert!(seconds(&granted) < 0.65 && seconds(&slow) > 1.4, "{} {}", seconds(&granted), seconds(&slow));
    assert_eq!(granted.lost, 0);
}

#[test]
fn a_router_that_refuses_or_does_not_know_it_leaves_limited_slow_start() {
    let limited = play(&path(""), "limited");
    for policy in ["quick-start = \"refuse\"", "quick-start = \"unaware\"", ""] {
        let seen = play(&path(policy), "quickstart");
        assert_eq!(seen.windows, limited.windows, "{policy}");
    }
}

#[test]
fn one_router_that_does_not_know_it_is_enough() {
    let line = |second: &str| {
        format!(
            "profile = \"era\"\nbottleneck = \"b\"\n\
             [[link]]\nname = \"a\"\nfrom = \"x\"\nto = \"r\"\nrate = \"100 Mbit/s\"\ndelay = \"50 ms\"\nbuffer = \"1 MB\"\nquick-start = \"grant\"\n\
             [[link]]\nname = \"b\"\nfrom = \"r\"\nto = \"y\"\nrate = \"20 Mbit/s\"\ndelay = \"50 ms\"\nbuffer = \"1 MB\"\nquick-start = \"{second}\"\n\
             [[link]]\nname = \"c\"\nfrom = \"y\"\nto = \"x\"\nrate = \"100 Mbit/s\"\ndelay = \"100 ms\"\nbuffer = \"1 MB\"\nboth-ways = false\n\
             [[flow]]\nfrom = \"x\"\nto = \"y\"\nsize = \"2 MB\"\n"
        )
    };
    let window = |second: &str| play(&line(second), "quickstart").windows[0].1;
    assert_eq!(window("unaware"), 2 * 1448);
    // 17 Mbit/s are left: 10.24; over a bit more than 200 ms, less headers.
    let granted = window("grant") as f64;
    assert!((granted / (10_240_000.0 / 8.0 * 0.2 * 1448.0 / 1488.0) - 1.0).abs() < 0.03, "{granted}");
}

#[test]
fn a_grant_that_the_queue_cannot_hold_ends_in_slow_start() {
    // A router that counts on 100 Mbit/s, behind it a link of 10 that is no router of its own.
    let text = "profile = \"era\"\nbottleneck = \"b\"\n\
        [[link]]\nname = \"a\"\nfrom = \"x\"\nto = \"r\"\nrate = \"100 Mbit/s\"\ndelay = \"50 ms\"\nbuffer = \"1 MB\"\nquick-start = \"grant\"\n\
        [[link]]\nname = \"b\"\nfrom = \"r\"\nto = \"y\"\nrate = [{ at = \"0 s\", rate = \"100 Mbit/s\" }, { at = \"0.15 s\", rate = \"10 Mbit/s\" }]\ndelay = \"50 ms\"\nbuffer = \"50 kB\"\nquick-start = \"grant\"\n\
        [[link]]\nname = \"c\"\nfrom = \"y\"\nto = \"x\"\nrate = \"100 Mbit/s\"\ndelay = \"100 ms\"\nbuffer = \"1 MB\"\nboth-ways = false\n\
        [[flow]]\nfrom = \"x\"\nto = \"y\"\nsize = \"2 MB\"\n";
    let seen = play(text, "quickstart");
    assert!(seen.lost > 0);
    assert_eq!(seen.completed.len(), 1);
    // Back at the initial window or below, and ssthresh is at most half of what was granted.
    assert!(seen.windows.iter().any(|(_, cwnd)| *cwnd <= 2 * 1448));
    assert!(seen.thresholds.iter().any(|limit| *limit <= 1_000_000));
}

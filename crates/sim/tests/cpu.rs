//! Processors of hosts: what they cost, against arithmetic.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use common::play;
use rampcc::Time;
use rampcc_scenario::{Arm, Scenario};
use rampcc_sim::simulate;
use rampcc_trace::{CpuSample, FlowEvent, FlowEventKind, FlowSample, Observer, Outcome};

/// 1000 full segments per second.
const PATH: &str = "profile = 'era'\nduration = '10 s'\n[path]\nrate = '12 Mbit/s'\nrtt = '40 ms'\nbuffer = 'unlimited'\n\
                    [sender]\nsend-buffer = '100 kB'\n";

/// Node 0 sends, node 1 receives.
#[derive(Default)]
struct Hosts {
    loads: BTreeMap<u32, Vec<CpuSample>>,
    timeouts: u32,
    /// Repairs of what is missing, by duplicates or by the timer.
    losses: u32,
    delivered: u64,
    /// Bytes delivered in each second.
    by_second: BTreeMap<u64, u64>,
}

impl Observer for Hosts {
    fn on_flow(&mut self, sample: &FlowSample) {
        let fresh = sample.delivered_bytes - self.delivered;
        self.delivered = sample.delivered_bytes;
        *self.by_second.entry(sample.now.ns() / 1_000_000_000).or_default() += fresh;
    }
    fn on_cpu(&mut self, sample: &CpuSample) {
        self.loads.entry(sample.node).or_default().push(*sample);
    }
    fn on_event(&mut self, event: &FlowEvent) {
        let timeout = matches!(event.kind, FlowEventKind::Timeout { .. });
        self.timeouts += u32::from(timeout);
        self.losses += u32::from(timeout || matches!(event.kind, FlowEventKind::RecoveryStart { .. }));
    }
}

impl Hosts {
    fn peak(&self, node: u32) -> u32 {
        self.loads[&node].iter().map(|sample| sample.load_permille).max().unwrap_or(0)
    }
    fn full(&self, node: u32) -> usize {
        self.loads[&node].iter().filter(|sample| sample.load_permille >= 990).count()
    }
}

fn scenario(text: &str, algorithm: &str) -> Scenario {
    let scenario = Scenario::parse("x", text, None).unwrap_or_else(|e| panic!("{}\n{text}", e.explain()));
    scenario.with_arm(&Arm::parse(algorithm).expect("an arm"))
}

fn run_with(text: &str, algorithm: &str) -> (Outcome, Hosts) {
    let mut hosts = Hosts::default();
    let scenario = scenario(text, algorithm);
    let outcome = simulate(&scenario, 1, &mut hosts, &AtomicBool::new(false)).expect("it runs");
    (outcome, hosts)
}

fn run(text: &str) -> (Outcome, Hosts) {
    run_with(text, "slow_start")
}

#[test]
fn who_does_not_ask_has_no_processors() {
    assert!(run(PATH).1.loads.is_empty());
}

#[test]
fn processors_that_cost_nothing_change_nothing() {
    let free = format!("{PATH}[cpu]\nvisit = '0 s'\npacket = '0 s'\nbase-load = 0\n");
    let (plain, free) = (play(&scenario(PATH, "slow_start"), 1).1, play(&scenario(&free, "slow_start"), 1).1);
    assert!(plain.flows.len() > 1000);
    assert_eq!(plain.flows, free.flows);
    assert_eq!(plain.events, free.events);
}

#[test]
fn load_is_what_packets_and_entries_cost() {
    // An ACK for two segments: 500 ACKs per second take 100 us each, 1000 segments that leave the queue 20 us each.
    let text = format!(
        "{PATH}[receiver]\nacks = 'delayed'\n[cpu]\nvisit = '20 us'\npacket = '100 us'\nbase-load = 0.3\n"
    );
    let (_, hosts) = run(&text);
    for (node, expected) in [(0, 300 + 50 + 20), (1, 300 + 100)] {
        let samples = &hosts.loads[&node];
        assert_eq!(samples.len(), 100, "one for 100 ms");
        assert!(samples.iter().enumerate().all(|(i, s)| s.now == Time::from_ms(100 * (i as u64 + 1))));
        let later = &samples[50..];
        let mean = later.iter().map(|sample| sample.load_permille).sum::<u32>() / later.len() as u32;
        assert!(mean.abs_diff(expected) <= 5, "node {node}: {mean}, expected {expected}");
    }
}

#[test]
fn a_receiver_takes_no_more_than_its_processor_can() {
    // 2 ms for a packet: 500 segments per second of the 1000 that the path carries.
    let text = format!("{PATH}[cpu]\npacket = '2 ms'\nvisit = '0 s'\nbase-load = 0\n");
    let (outcome, hosts) = run(&text);
    let segments =
        outcome.flows[0].received_bytes / u64::from(scenario(PATH, "slow_start").flows[0].sender.mss_bytes);
    assert!((4800..=5000).contains(&segments), "{segments} in 10 s");
    assert!(hosts.full(1) >= 93, "{}", hosts.full(1));
}

#[test]
fn a_walk_for_every_block_fills_the_processor_and_a_tree_does_not() {
    let run = |search: &str| {
        run(&format!(
            "profile = 'era'\nduration = '6 s'\n[path]\nrate = '400 Mbit/s'\nrtt = '120 ms'\nbuffer = '1 bdp'\n\
             [sender]\nsend-buffer = '12 MB'\n[cpu]\nsearch = '{search}'\nvisit = '20 ns'\n"
        ))
    };
    let (list, hint, tree) = (run("list").1, run("hint").1, run("tree").1);
    assert!(list.full(0) >= 5, "{} windows of 100 ms", list.full(0));
    assert!(list.full(0) > hint.full(0), "{} and {}", list.full(0), hint.full(0));
    assert!(tree.peak(0) < 600, "{}", tree.peak(0));
}

/// The guide's path: a second is still if less than 1 % of what the path carries arrives in it.
#[test]
fn the_guides_path_stands_still_after_slow_start_and_not_after_hystart() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/cpu.md");
    let guide = fs::read_to_string(guide).expect("the guide is part of the source");
    let list =
        guide.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("it has an example");
    let (hint, tree) = (list.replace("\"list\"", "\"hint\""), list.replace("\"list\"", "\"tree\""));
    assert!(hint != list && tree != list);
    // From second 6 on start-up is over.
    let still = |hosts: &Hosts| (6..30).filter(|second| hosts.by_second[second] < 50_000_000 / 100).count();
    for (text, algorithm, full, expires, stands) in [
        (list, "slow_start", 50..=70, true, true),
        (&hint, "slow_start", 11..=15, true, false),
        (&tree, "slow_start", 0..=0, false, false),
        (list, "hystart", 0..=0, false, false),
    ] {
        let (_, hosts) = run_with(text, algorithm);
        let seconds = &hosts.by_second;
        assert!(full.contains(&hosts.full(0)), "{algorithm}: {} windows of 100 ms", hosts.full(0));
        assert_eq!((hosts.timeouts > 0, still(&hosts) > 0), (expires, stands), "{algorithm}: {seconds:?}");
    }
}

/// A host that takes 2 ms for a packet, of which 1000 a second arrive. With room for ten the others are lost; without a limit
/// all wait.
#[test]
fn what_does_not_fit_before_the_processor_is_lost() {
    let received = |outcome: &Outcome| outcome.flows[0].received_bytes;
    let slow = "[cpu]\npacket = '2 ms'\nbase-load = 0\n";
    let (waiting, all) = run(&format!("{PATH}{slow}"));
    let (lossy, some) = run(&format!("{PATH}{slow}ring = 10\n"));
    assert_eq!(all.losses, 0);
    assert!(some.losses > 0, "{} recoveries", some.losses);
    let dropped: u64 = lossy.links.iter().map(|link| link.dropped.packets).sum();
    assert_eq!(dropped, 0, "no link drops anything");
    assert!(received(&lossy) > received(&waiting) / 4, "the connection goes on");
}

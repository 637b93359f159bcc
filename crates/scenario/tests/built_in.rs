//! The scenarios that come with ramp.

use rampcc::Time;
use rampcc_path::{Limit, QueueConfig};
use rampcc_scenario::{Arm, PathFacts, Scenario, TraceFile, TrafficKind};

fn open(name: &str) -> Scenario {
    Scenario::open(name).unwrap_or_else(|e| panic!("{}", e.explain()))
}

fn limit(scenario: &Scenario) -> Limit {
    match scenario.topology.links[scenario.bottleneck].config.queue {
        QueueConfig::DropTail { limit }
        | QueueConfig::Red { limit, .. }
        | QueueConfig::CoDel { limit, .. }
        | QueueConfig::RandomDrop { limit, .. }
        | QueueConfig::Policer { limit, .. } => limit,
    }
}

/// Wire packets of 1500 bytes (or of the scenario's size) per BDP.
fn bdp_packets(scenario: &Scenario) -> f64 {
    scenario.facts(0).bdp_bytes as f64 / f64::from(scenario_mss(scenario))
}

fn scenario_mss(scenario: &Scenario) -> u32 {
    scenario.flows.first().map_or_else(
        || {
            let TrafficKind::Poisson { sender, .. } = &scenario.traffic[0].kind else {
                panic!("no flow to measure")
            };
            sender.mss_bytes
        },
        |f| f.sender.mss_bytes,
    )
}

#[track_caller]
fn near(found: f64, expected: f64, share: f64) {
    assert!((found - expected).abs() <= expected * share, "found {found}, expected {expected}");
}

#[test]
fn every_one_parses_and_describes_itself() {
    let names: Vec<_> = Scenario::built_in_names().collect();
    assert!(names.len() >= 18, "{names:?}");
    for name in names {
        let text = Scenario::built_in_text(name).expect("listed");
        let scenario = Scenario::parse(name, text, None).unwrap_or_else(|e| panic!("{}", e.explain()));
        assert_eq!(scenario.name, name);
        assert_eq!(scenario.text, text);
        assert!(scenario.description.len() > 80, "{name}: say what path it is and what to expect");
        assert!(scenario.description.ends_with('.'), "{name}");
        let built_in = |file: &TraceFile| file.path.to_string_lossy().starts_with("ramp:");
        assert!(scenario.files.iter().all(built_in), "{name}: a built-in scenario has no files beside it");
        let PathFacts { base_rtt, bdp_bytes, buffer_bytes, .. } = scenario.facts(0);
        assert!(base_rtt > Time::ZERO && bdp_bytes > 0 && buffer_bytes < u64::MAX, "{name}");
    }
    assert!(Scenario::built_in("geo-satellit").is_none());
}

#[test]
fn every_one_has_something_under_test() {
    for name in Scenario::built_in_names() {
        let scenario = open(name);
        let drawn = scenario.traffic.iter().any(|t| match t.kind {
            TrafficKind::Cbr { .. } => false,
            TrafficKind::Poisson { under_test_share, .. }
            | TrafficKind::Web { under_test_share, .. }
            | TrafficKind::Listed { under_test_share, .. } => under_test_share > 0.0,
        });
        assert!(drawn || scenario.flows.iter().any(|f| f.under_test), "{name}");
        let arm = Arm::parse("ideal").unwrap();
        for flow in scenario.with_arm(&arm).flows.iter().filter(|f| f.under_test) {
            assert_eq!(flow.sender.startup.id, "ideal");
            assert!(flow.sender.hint.window_bytes > 0 && flow.sender.hint.bytes_per_s > 0, "{name}");
        }
    }
}

#[test]
fn geo_paths_are_those_of_the_best_paper() {
    for name in ["geo-satellite", "geo-viasat"] {
        let scenario = open(name);
        // 150 Mbit/s x 0.6 s = 11.25 MB on the wire.
        near(scenario.facts(0).bdp_bytes as f64, 11.25e6 * 1448.0 / 1500.0, 0.002);
        assert_eq!(limit(&scenario), Limit::Bytes(36_000_000));
        let queue = &scenario.topology.links[scenario.bottleneck].config.queue;
        let QueueConfig::RandomDrop { above_bytes: 18_000_000, probability, .. } = queue else {
            panic!("{queue:?}")
        };
        near(*probability, 0.25, 0.0);
    }
    assert_eq!(limit(&open("best-geo")), Limit::Bytes(5_625_000));
}

#[test]
fn hystart_paths_are_those_of_the_paper() {
    let fig9 = open("hystart-dumbbell");
    near(bdp_packets(&fig9), 883.0, 0.002);
    assert_eq!(limit(&fig9), Limit::Packets(883));
    assert_eq!(fig9.facts(1), fig9.facts(0));
    let fig14 = open("hystart-red");
    near(bdp_packets(&fig14), 100.0, 0.015);
    assert_eq!(limit(&fig14), Limit::Packets(100));
}

#[test]
fn paced_start_paths_are_those_of_the_paper() {
    let fig7 = open("paced-start-fig7");
    near(bdp_packets(&fig7), 1000.0, 0.002);
    let dumbbell = open("paced-start-dumbbell");
    // 102 senders and 102 receivers, and the two routers between them.
    assert_eq!(dumbbell.topology.nodes.len(), 204 + 2);
    assert_eq!(dumbbell.traffic[0].pairs.len(), 2 * 102 * 102);
    near(bdp_packets(&dumbbell), 100.0, 0.03);
    let lot = open("paced-start-parking-lot");
    assert_eq!(lot.topology.nodes.len(), 11 + 11 * 12);
    assert_eq!(lot.traffic[0].pairs.len(), 132 * 120, "each flow crosses at least one backbone link");
    let (first, last) = (11, 11 + 11 * 12 - 1);
    assert_eq!(lot.route(first, last).unwrap().len(), 12);
    // The longest path's BDP is the buffer: 20 Mbit/s x 400 ms = 1000 packets of 1000 bytes.
    assert_eq!(limit(&lot), Limit::Packets(1000));
}

#[test]
fn the_enhanced_start_path_is_that_of_the_paper() {
    let fig1 = open("enhanced-start-fig1");
    // 100.4 ms of propagation, and what two side links and the bottleneck take to send.
    near(fig1.facts(0).base_rtt.secs_f64(), 0.1004 + 0.0002 + 2.0 * 0.000_016, 0.001);
    near(bdp_packets(&fig1), 502.0, 0.005);
    assert_eq!(limit(&fig1), Limit::Packets(250));
    assert_eq!(fig1.route(0, 3).map(|r| r.len()), Some(3));
}

#[test]
fn other_paths_have_the_size_they_claim() {
    for (name, mbit_per_s, rtt_ms) in [
        ("data-centre", 25_000.0, 0.1),
        ("transatlantic-10g", 10_000.0, 90.0),
        ("shallow-buffer-50mbps-40ms", 50.0, 40.0),
        ("deep-buffer", 20.0, 40.0),
        ("lossy-wireless", 30.0, 60.0),
        ("wifi", 20.0, 30.0),
        ("cable", 10.0, 30.0),
    ] {
        let facts = open(name).facts(0);
        near(facts.bdp_bytes as f64, mbit_per_s * 1e6 / 8.0 * rtt_ms / 1e3 * 1448.0 / 1500.0, 0.1);
        assert_eq!(facts.capacity.len(), 1, "{name}");
    }
    assert!(open("lte").facts(0).capacity.len() > 100);
    assert_eq!(
        open("leo-handovers").facts(0).capacity.iter().filter(|(_, r)| r.bits_per_s() == 0).count(),
        8
    );
}

#[test]
fn a_wrong_name_is_told_with_the_nearest_one() {
    let error = Scenario::open("geo-satelite").unwrap_err().explain();
    assert!(error.contains("there is no scenario `geo-satelite`; did you mean `geo-satellite`?"), "{error}");
    assert!(error.contains("`wifi`") && error.contains("path of a scenario file"), "{error}");
    let error = Scenario::open("no/such/file.toml").unwrap_err().explain();
    assert!(error.starts_with("cannot read no/such/file.toml: "), "{error}");
}

#[test]
fn every_one_says_what_it_does_not_know() {
    for name in Scenario::built_in_names() {
        let scenario = open(name);
        let text = Scenario::built_in_text(name).unwrap();
        assert!(text.contains("\n[uncertain]\n"), "{name}");
        assert!(scenario.uncertain.len() >= 3, "{name}");
        let near = scenario.neighbourhood(8, 1).unwrap_or_else(|e| panic!("{name}: {}", e.explain()));
        assert_eq!(near.paths.len(), 8, "{name}");
        for (uncertain, described) in near.fields.iter().zip(&near.described) {
            assert!(
                uncertain.reason.len() > 8 && uncertain.reason.ends_with('.'),
                "{name}: {}",
                uncertain.field
            );
            assert!(described.is_some(), "{name}: where is the described path in {}?", uncertain.field);
        }
    }
}

//! Measured links: a Starlink pair on one clock, and an LTE trace.

use std::path::PathBuf;
use std::sync::Arc;

use rampcc::Time;
use rampcc_path::{Capacity, Limit, Propagation, QueueConfig};
use rampcc_scenario::{AdHoc, Scenario};

/// The folder of measured links.
fn traces() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scenarios/traces")
}

fn mean_mbit_per_s(scenario: &Scenario) -> f64 {
    let facts = scenario.facts(0);
    let wire = facts.capacity.iter().map(|(_, r)| r.bits_per_s() as f64 * 1500.0 / 1448.0).sum::<f64>();
    wire / facts.capacity.len() as f64 / 1e6
}

#[test]
fn the_starlink_pair_keeps_its_clock() {
    let path = AdHoc {
        trace: Some("starlink.down.gz".into()),
        delay_trace: Some("starlink.delay.gz".into()),
        duration: Some("120 s".into()),
        ..AdHoc::default()
    };
    let scenario = path.scenario(Some(&traces())).unwrap_or_else(|e| panic!("{}", e.explain()));
    assert!((mean_mbit_per_s(&scenario) - 48.7).abs() < 0.5, "{}", mean_mbit_per_s(&scenario));
    assert_eq!(
        scenario.facts(0).base_rtt,
        Time::from_ms(7),
        "the smallest one-way delay, and nothing on the way back"
    );
    assert_eq!(scenario.trace_offset_range, Time::from_ms(120_052));
    let late = scenario.at_seed(3).topology.links[0].config.clone();
    let (Capacity::Trace(trace), Propagation::Trace { offset, .. }) = (late.capacity, late.delay.propagation)
    else {
        panic!("both are traces")
    };
    assert_eq!(trace.offset, offset);
}

#[test]
fn what_comes_with_ramp_is_found_from_anywhere() {
    let path =
        |trace: &str| AdHoc { trace: Some(trace.into()), rtt: Some("40ms".into()), ..AdHoc::default() };
    let ours = path("ramp:subway-lte.down").scenario(None).unwrap_or_else(|e| panic!("{}", e.explain()));
    let beside =
        path("subway-lte.down.gz").scenario(Some(&traces())).unwrap_or_else(|e| panic!("{}", e.explain()));
    assert_eq!(ours.files[0].checksum, beside.files[0].checksum);
    assert_eq!(ours.topology.links[0].config.capacity, beside.topology.links[0].config.capacity);
    let told = path("ramp:subway.down").scenario(None).expect_err("there is none").explain();
    assert!(told.contains("no file ramp:subway.down comes with ramp"), "{told}");
    assert!(told.contains("`ramp:starlink.delay`, `ramp:starlink.down`, `ramp:subway-lte.down`"), "{told}");
}

#[test]
fn the_starlink_scenario_is_the_measured_link() {
    let scenario = Scenario::built_in("leo-starlink").expect("it ships");
    assert!((mean_mbit_per_s(&scenario) - 48.7).abs() < 3.0, "{}", mean_mbit_per_s(&scenario));
    // 7 ms at least on the way forth, 20 ms back, and what an ACK takes to send.
    let rtt = scenario.facts(0).base_rtt;
    assert!((Time::from_ms(27)..Time::from_us(27_100)).contains(&rtt), "{rtt}");
    assert_eq!(scenario.trace_offset_range, Time::from_ms(120_052));
}

#[test]
fn the_lte_trace_gets_a_buffer_in_time() {
    let path = AdHoc {
        trace: Some("subway-lte.down.gz".into()),
        rtt: Some("40ms".into()),
        duration: Some("120 s".into()),
        ..AdHoc::default()
    };
    let scenario = path.scenario(Some(&traces())).unwrap_or_else(|e| panic!("{}", e.explain()));
    assert!((mean_mbit_per_s(&scenario) - 6.65).abs() < 0.1, "{}", mean_mbit_per_s(&scenario));
    assert_eq!(scenario.facts(0).base_rtt, Time::from_ms(40));
    let QueueConfig::DropTail { limit: Limit::Bytes(bytes) } = scenario.topology.links[0].config.queue else {
        panic!("bytes")
    };
    assert!((50_000..500_000).contains(&bytes), "{bytes}");
}

#[test]
fn a_trace_is_read_once_for_the_described_path_and_its_neighbours() {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("read-once");
    std::fs::create_dir_all(&directory).expect("a directory for the test");
    for (name, text) in [("rate", "1\n2\n40\n"), ("delay", "20\n25\n")] {
        std::fs::write(directory.join(name), text).expect("it can be written");
    }
    let path = AdHoc {
        trace: Some("rate".into()),
        delay_trace: Some("delay".into()),
        rtt: Some("40ms".into()),
        ..AdHoc::default()
    };
    let scenario = path.scenario(Some(&directory)).unwrap_or_else(|e| panic!("{}", e.explain()));
    // Opening them again would now fail.
    std::fs::remove_dir_all(&directory).expect("it can be removed");
    let around = scenario.neighbourhood(8, 1).unwrap_or_else(|e| panic!("{}", e.explain()));
    assert_eq!(around.paths.len(), 8);
    let measured = |scenario: &Scenario| {
        let link = scenario.topology.links[scenario.bottleneck].config.clone();
        match (link.capacity, link.delay.propagation) {
            (Capacity::Trace(trace), Propagation::Trace { values, .. }) => (trace.at, values),
            other => panic!("both are traces: {other:?}"),
        }
    };
    let (at, values) = measured(&scenario);
    for neighbour in &around.paths {
        let (near_at, near_values) = measured(&neighbour.scenario);
        assert!(Arc::ptr_eq(&at, &near_at) && Arc::ptr_eq(&values, &near_values));
        assert_eq!(neighbour.scenario.files, scenario.files);
    }
}

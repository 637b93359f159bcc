//! Measured links that lie beside the project: a Starlink pair on one clock, and an LTE trace.

use std::path::PathBuf;

use ramp::Time;
use ramp_path::{Capacity, Limit, Propagation, QueueConfig};
use ramp_scenario::{AdHoc, Scenario};

/// The folder of measured data, or `None` on a machine without it. In CI it must be there.
#[expect(clippy::disallowed_methods, reason = "where data lies is a property of the machine")]
fn data() -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let directory = std::env::var_os("RAMP_SHARED").map_or_else(beside, PathBuf::from).join("data");
    if directory.is_dir() {
        return Some(directory);
    }
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{} is missing", directory.display());
    eprintln!("skipped: {} is missing; set RAMP_SHARED", directory.display());
    None
}

fn mean_mbit_per_s(scenario: &Scenario) -> f64 {
    let facts = scenario.facts(0);
    let wire = facts.capacity.iter().map(|(_, r)| r.bits_per_s() as f64 * 1500.0 / 1448.0).sum::<f64>();
    wire / facts.capacity.len() as f64 / 1e6
}

#[test]
fn the_starlink_pair_keeps_its_clock() {
    let Some(data) = data() else { return };
    let path = AdHoc {
        trace: Some("leocc-starlink/bw_example.txt.gz".into()),
        delay_trace: Some("leocc-starlink/delay_example.txt.gz".into()),
        duration: Some("120 s".into()),
        ..AdHoc::default()
    };
    let scenario = path.scenario(Some(&data)).unwrap_or_else(|e| panic!("{}", e.explain()));
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
fn the_lte_trace_gets_a_buffer_in_time() {
    let Some(data) = data() else { return };
    let path = AdHoc {
        trace: Some("mahimahi-cellular/Verizon-LTE-short.down.gz".into()),
        rtt: Some("40ms".into()),
        duration: Some("140 s".into()),
        ..AdHoc::default()
    };
    let scenario = path.scenario(Some(&data)).unwrap_or_else(|e| panic!("{}", e.explain()));
    assert!((mean_mbit_per_s(&scenario) - 5.03).abs() < 0.1, "{}", mean_mbit_per_s(&scenario));
    assert_eq!(scenario.facts(0).base_rtt, Time::from_ms(40));
    let QueueConfig::DropTail { limit: Limit::Bytes(bytes) } = scenario.topology.links[0].config.queue else {
        panic!("bytes")
    };
    assert!((50_000..500_000).contains(&bytes), "{bytes}");
}

//! What the Enhanced Start paper claims with its figures, on the shipped scenario of its topology.

mod common;

use common::{Log, ms, play};
use rampcc_scenario::{Arm, Scenario, Setting};

const EVERY_ACK: &str = "enhanced:rtt-source=every-ack";
const MSS: u32 = 960;

/// The paper's path with these settings, and more at the end of its file.
fn run(arm: &str, settings: &[String], more: &str) -> Log {
    let settings: Vec<Setting> =
        settings.iter().map(|text| Setting::parse(text).expect("a setting")).collect();
    let scenario = Scenario::open_with("enhanced-start-fig1", &settings).expect("a shipped scenario");
    let text = format!("{}\n{more}", scenario.text);
    let scenario = Scenario::parse(&scenario.name, &text, None).expect("the text is a scenario");
    play(&scenario.with_arm(&Arm::parse(arm).expect("an arm")), 1).1
}

/// Mbit/s on the wire over the run's twenty seconds.
fn throughput(arm: &str, settings: &[String]) -> f64 {
    let delivered = run(arm, settings, "").flows.last().expect("samples").delivered_bytes;
    delivered as f64 / f64::from(MSS) * 8e3 / 20e6
}

/// A bottleneck in Mbit/s, its delay one way, half a BDP of buffer.
fn path(rate: u32, one_way_ms: u32) -> Vec<String> {
    let buffer = rate * one_way_ms / 8;
    vec![
        format!("path.rate={rate} Mbit/s"),
        format!("path.rtt={}.4 ms", 2 * one_way_ms),
        format!("path.buffer={buffer} packets"),
    ]
}

#[test]
fn figure_3_beta_hardly_matters() {
    let with = |arm: &str, beta: u32| throughput(arm, &[format!("algorithm.enhanced.beta={beta}")]);
    let [one, three, ten] = [1, 3, 10].map(|beta| with("enhanced", beta));
    assert!(one > 33.0 && three > 37.0 && ten < 1.02 * three, "{one} {three} {ten}");
    // With the RTT of every ACK it decides.
    assert!(with(EVERY_ACK, 10) > 1.8 * with(EVERY_ACK, 1));
}

#[test]
fn figure_4_it_takes_what_other_traffic_leaves_behind() {
    let udp = "[[traffic]]\nkind = 'cbr'\nrate = '10 Mbit/s'\nstart = '1 s'\nend = '5 s'\n";
    let at = |log: &Log, s: f64| log.cwnd_packets(ms(s * 1e3), MSS);
    let log = run("enhanced", &[], udp);
    // The share of the path that is left: 377 of 502 packets; then all of it.
    assert!((340.0..440.0).contains(&at(&log, 4.9)), "{}", at(&log, 4.9));
    assert!(at(&log, 6.5) > 500.0, "{}", at(&log, 6.5));
    let every_ack = run(EVERY_ACK, &[], udp);
    assert!(at(&every_ack, 20.0) < 430.0, "{}", at(&every_ack, 20.0));
}

#[test]
fn figure_5_it_scales_with_the_bandwidth() {
    let used = |arm: &str, rate: u32| throughput(arm, &path(rate, 50)) / f64::from(rate);
    for rate in [10, 20, 40, 70, 100, 150] {
        let share = used("enhanced", rate);
        assert!(share > 0.8, "{share} of {rate} Mbit/s");
    }
    // Limited slow start does not, and neither does the RTT of every ACK.
    for arm in ["limited", EVERY_ACK] {
        let share = used(arm, 150);
        assert!(share < 0.42, "{arm}: {share}");
    }
}

#[test]
fn figure_6_longer_delays_change_little() {
    let used = |arm: &str, one_way_ms: u32| throughput(arm, &path(40, one_way_ms)) / 40.0;
    for one_way_ms in [10, 30, 50, 70, 100] {
        let share = used("enhanced", one_way_ms);
        assert!(share > 0.8, "{share} at {one_way_ms} ms");
    }
    for arm in ["limited", EVERY_ACK] {
        let share = used(arm, 100);
        assert!(share < 0.42, "{arm}: {share}");
    }
}

//! What `ramp compare` says of its runs.

mod support;

use std::fmt::Write as _;

use serde_json::Value;
use support::Place;

/// A mahimahi trace whose rate differs from second to second between 4 and 40 Mbit/s, 30 s long.
fn uneven_trace() -> String {
    let mut text = String::new();
    for second in 0..30_u32 {
        let every = [1, 2, 3, 0][(second.wrapping_mul(2_654_435_761) >> 13) as usize % 4];
        for ms in 0..1000 {
            let times = if every == 0 { 3 } else { u32::from(ms % every == 0) };
            for _ in 0..times {
                writeln!(text, "{}", second * 1000 + ms + 1).unwrap();
            }
        }
    }
    text
}

fn compared(place: &Place, arguments: &[&str]) -> Value {
    let mut all = vec!["compare"];
    all.extend_from_slice(arguments);
    all.extend_from_slice(&["--out", "out", "--json"]);
    serde_json::from_str(&place.stdout(&all)).unwrap()
}

#[test]
fn a_run_on_a_trace_is_held_against_its_own_stretch_of_it() {
    let place = Place::new("own_path");
    place.write("link.down", &uneven_trace());
    let json = compared(
        &place,
        &[
            "--trace",
            "link.down",
            "--rtt",
            "50ms",
            "--size",
            "3MB",
            "--algorithms",
            "ideal,hystart",
            "--runs",
            "5",
        ],
    );
    let seeds = json["seeds"].as_array().unwrap();
    for arm in json["arms"].as_array().unwrap() {
        let run = &arm["representative"];
        let path = &run["path"];
        let position = seeds.iter().position(|seed| *seed == run["seed"]).unwrap();
        let measured = arm["metrics"]["exit_window_bdp"]["values"][position].as_f64().unwrap();
        let shown = run["exit"]["cwnd_bytes"].as_f64().unwrap() / path["bdp_bytes"].as_f64().unwrap();
        assert!((measured - shown).abs() < 1e-9, "{}: {measured} in the table, {shown} shown", arm["label"]);
        assert!(path["mean_bytes_per_s"].as_f64().unwrap() > 0.0);
    }
    // The same command without a random start has one path, and says nothing of others.
    let json = compared(
        &place,
        &[
            "--trace",
            "link.down",
            "--rtt",
            "50ms",
            "--size",
            "3MB",
            "--set",
            "path.random-trace-offset=false",
        ],
    );
    assert!(json["arms"][0]["representative"]["path"].is_null());
}

const CERTAIN: [&str; 8] =
    ["--rate", "20mbit", "--rtt", "40ms", "--size", "500kB", "--algorithms", "ideal,slow_start,limited"];

#[test]
fn a_path_without_randomness_is_played_once_and_decides() {
    let place = Place::new("played_once");
    for runs in [&[][..], &["--runs", "7"][..]] {
        let json = compared(&place, &[&CERTAIN[..], runs].concat());
        assert_eq!(json["seeds"], serde_json::json!([1]));
        assert_eq!(json["context"]["chance"], false);
        let findings: Vec<&str> = (json["pairs"].as_array().unwrap().iter())
            .filter(|pair| pair["metric"] == "download_time")
            .filter_map(|pair| pair["finding"].as_str())
            .collect();
        assert!(!findings.is_empty() && !findings.contains(&"cannot_tell"), "{findings:?}");
    }
    assert_eq!(place.files("out/runs").iter().filter(|(name, _)| !name.contains("later")).count(), 3);
    let table = place.stdout(&["report", "out"]);
    assert!(table.contains("This path has no randomness: one run suffices."), "{table}");
    assert!(!table.contains('±'), "{table}");
    // Jitter is chance: every run counts.
    let json = compared(&place, &[&CERTAIN[..], &["--jitter", "1ms", "--runs", "3"]].concat());
    assert_eq!(
        (&json["seeds"], &json["context"]["chance"]),
        (&serde_json::json!([1, 2, 3]), &Value::Bool(true))
    );
}

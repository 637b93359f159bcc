//! What `ramp compare` says of its runs.

mod support;

use std::fmt::Write as _;

use serde_json::Value;
use support::{Place, stderr, words};

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
        &words("--trace link.down --rtt 50ms --size 3MB --algorithms ideal,hystart --runs 5"),
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
        &words("--trace link.down --rtt 50ms --size 3MB --set path.random-trace-offset=false"),
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

#[test]
fn the_summary_of_a_run_has_the_units_of_the_table() {
    let place = Place::new("run_summary");
    let run =
        place.ramp(&["run", "--rate", "20mbit", "--rtt", "40ms", "--size", "500kB", "--samples", "run.csv"]);
    let said = stderr(&run);
    let bare = |line: &str| [" count", " share", " bytes"].iter().any(|unit| line.ends_with(unit));
    assert!(!said.lines().any(bare), "{said}");
    assert!(said.contains("window at exit / BDP"), "{said}");
    let names: Vec<&str> =
        said.lines().filter_map(|line| line.strip_prefix("  ")?.split("   ").next()).collect();
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert!(names.len() > 10 && unique.len() == names.len(), "{said}");
}

#[test]
fn a_download_that_does_not_finish_is_slower_for_certain() {
    let place = Place::new("cut_off");
    let path = ["--rate", "20mbit", "--rtt", "200ms", "--jitter", "1ms", "--size", "3MB", "--duration", "6s"];
    let rows = ["--algorithms", "slow_start,limited:max_ssthresh=2", "--runs", "4"];
    let json = compared(&place, &[&path[..], &rows[..]].concat());
    let summary = |arm: usize| &json["arms"][arm]["metrics"]["download_time"];
    assert_eq!((&summary(0)["n"], &summary(1)["n"]), (&serde_json::json!(4), &serde_json::json!(0)));
    let pair = (json["pairs"].as_array().unwrap().iter())
        .find(|pair| pair["metric"] == "download_time" && pair["against"] == "slow_start")
        .unwrap();
    assert_eq!((&pair["finding"], &pair["at_least"]), (&serde_json::json!("higher"), &Value::Bool(true)));
    let notes = json["notes"].to_string();
    assert!(notes.contains("4 of 4 runs did not finish within 6 s"), "{notes}");
}

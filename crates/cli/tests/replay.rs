//! `ramp run --decisions` and `ramp replay`.

mod support;

use std::path::Path;

use serde_json::Value;
use support::Place;

const PATH: [&str; 8] = ["--rate", "20mbit", "--rtt", "40ms", "--size", "2MB", "--buffer", "1bdp"];

fn record(place: &Place, algorithm: &str, file: &str) {
    let arguments = [&["run", "--algorithm", algorithm, "--decisions", file], &PATH[..]].concat();
    assert_eq!(place.stdout(&arguments), "", "samples were not asked for");
}

fn answer(place: &Place, arguments: &[&str]) -> Value {
    serde_json::from_str(&place.stdout(&[&["replay"], arguments, &["--format", "json"]].concat())).unwrap()
}

#[test]
fn a_simulation_decides_again_as_recorded_and_tells_what_others_would_have_done() {
    let place = Place::new("replay");
    for algorithm in ["slow_start", "hystart", "best", "paced", "hystart11:low_window=32"] {
        for file in ["run.csv", "run.jsonl"] {
            record(&place, algorithm, file);
            let json = answer(&place, &[file]);
            assert!(json["differs"].is_null(), "{algorithm}: {json}");
            let calls = json["rows"][0]["calls"].as_u64().unwrap();
            assert_eq!(json["compared"].as_u64(), Some(calls), "{algorithm}: {json}");
        }
    }
    record(&place, "slow_start", "slow.csv");
    let json = answer(&place, &["slow.csv", "--algorithm", "slow_start", "--algorithm", "hystart"]);
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    let [recorded, same, hystart] = [&rows[0], &rows[1], &rows[2]];
    assert_eq!((&recorded["recorded"], &same["recorded"]), (&Value::from(true), &Value::from(false)));
    for field in ["left_ns", "reason", "evidence", "limit", "cwnd_bytes", "ssthresh_bytes", "parameters"] {
        assert_eq!(recorded[field], same[field], "{field}");
    }
    assert_eq!(recorded["reason"], "loss");
    assert!(["delay", "ack-train"].contains(&hystart["reason"].as_str().unwrap()), "{hystart}");
    assert!(hystart["left_ns"].as_u64() < recorded["left_ns"].as_u64(), "{hystart}");

    // What the run itself said of its exit.
    let arguments = [&["run", "--algorithm", "slow_start", "--json"], &PATH[..]].concat();
    let samples = place.stdout(&arguments);
    let exit = samples.lines().find(|line| line.contains("\"startup_exit\"")).unwrap();
    let exit: Value = serde_json::from_str(exit).unwrap();
    assert_eq!(exit["time_ns"], recorded["left_ns"]);
    assert_eq!(exit["reason"], recorded["reason"]);

    let text = place.stdout(&["replay", "slow.csv", "-a", "hystart", "-a", "limited"]);
    assert!(text.contains("hystart would have left at") && text.contains("Open loop"), "{text}");
    assert!(text.contains("slow_start decides here as recorded, byte for byte"), "{text}");
    let csv = place.stdout(&["replay", "slow.csv", "-a", "hystart", "--format", "csv"]);
    let lines: Vec<&str> = csv.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(lines.len() == 3 && lines[0].starts_with("row,flow,recorded,algorithm,"), "{csv}");
}

/// The flow that is listed first opens last, and the other one has an algorithm of its own.
#[test]
fn every_flow_has_its_own_algorithm_and_parameters() {
    let place = Place::new("replay-flows");
    place.write(
        "two.toml",
        "duration = \"20 s\"\n[dumbbell]\npairs = 2\nrate = \"20 Mbit/s\"\nrtt = \"40 ms\"\nbuffer = \"1 bdp\"\n\
         access = { rate = \"1 Gbit/s\", delay = \"1 ms\" }\n\
         [[flow]]\nfrom = \"sender-1\"\nto = \"receiver-1\"\nstart = \"5 s\"\nsize = \"1 MB\"\n\
         [[flow]]\nalgorithm = \"hystart11\"\nfrom = \"sender-2\"\nto = \"receiver-2\"\nsize = \"1 MB\"\n",
    );
    place.stdout(&["run", "two.toml", "--algorithm", "hystart:low_window=64", "--decisions", "two.csv"]);
    let opened: Vec<String> =
        place.read("two.csv").lines().filter(|line| line.starts_with("open,")).map(str::to_owned).collect();
    let json = answer(&place, &["two.csv", "-a", "hystart"]);
    assert!(json["differs"].is_null(), "{json}");
    let rows = json["rows"].as_array().unwrap();
    let row = |flow: u64, recorded: bool| {
        let found = rows.iter().find(|row| row["flow"] == flow && row["recorded"] == recorded);
        found.unwrap_or_else(|| panic!("flow {flow}: {json}"))
    };
    assert_eq!(opened.len(), 2, "{opened:?}");
    assert!(row(0, true)["opened_ns"].as_u64() > row(1, true)["opened_ns"].as_u64(), "{json}");
    assert_eq!(row(0, true)["algorithm"], "hystart");
    assert!(row(0, true)["parameters"].as_str().unwrap().contains("low_window=64 "), "{json}");
    assert_eq!(
        (&row(1, true)["algorithm"], &row(1, true)["row"]),
        (&"hystart11".into(), &"hystart11".into())
    );
    let own = row(1, true)["parameters"].as_str().unwrap();
    assert!(own.contains("low_window=16"), "{json}");
    // What the same algorithm had in that flow, or in the run.
    for flow in [0, 1] {
        assert!(row(flow, false)["parameters"].as_str().unwrap().contains("low_window=64 "), "{json}");
    }
    assert_eq!(row(0, false)["left_ns"], row(0, true)["left_ns"]);
}

#[test]
fn the_same_run_is_the_same_with_its_decisions_recorded() {
    let place = Place::new("replay-same");
    let samples = |more: &[&str], file: &str| {
        let arguments = [&["run", "--algorithm", "best", "--samples", file], more, &PATH[..]].concat();
        place.stdout(&arguments);
        let text = place.read(file);
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(samples(&[], "plain.csv"), samples(&["--decisions", "decisions.csv"], "recorded.csv"));
    assert!(place.read("decisions.csv").contains("\nopen,"));
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let place = Place::new("replay-wrong");
    record(&place, "best", "run.csv");
    let broken = place.read("run.csv").replacen("\nack,", "\nack,x", 1);
    place.write("broken.csv", &broken);
    place.write("empty.csv", "# seed: 1\nrecord,time_ns\n");
    let same = [&["run", "--samples", "a.csv", "--decisions", "a.csv"], &PATH[..]].concat();
    for (arguments, said) in [
        (vec!["replay", "none.csv"], "none.csv: "),
        (vec!["replay", "broken.csv"], "`time_ns`: found `x"),
        (vec!["replay", "empty.csv"], "it holds no beginning of a connection"),
        (vec!["replay", "run.csv", "-a", "nosuch"], "nosuch"),
        (vec!["replay", "run.csv", "-a", "best:colour=1"], "colour"),
        (vec!["run", "--decisions", "run.txt"], "cannot infer the format"),
        (same, "name the same file"),
    ] {
        place.fails(2, &arguments, &[said]);
    }
    assert!(!place.path("a.csv").exists());
}

/// What is recorded over a QUIC stack is a vector for implementations in other languages: the headers, compiled and called from Python,
/// take every decision again, and a decision that was changed is found.
#[test]
fn decisions_over_quic_are_vectors_for_other_languages() {
    let place = Place::new("vectors");
    for (row, file) in [("hystartpp", "one.jsonl"), ("paced", "two.jsonl")] {
        let path = ["run", "--on", "quic", "--rate", "20mbit", "--rtt", "50ms", "--size", "500kB"];
        place.stdout(&[&path[..], &["--algorithm", row, "--decisions", file]].concat());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let check = |file: &str| {
        let mut python = std::process::Command::new("python3");
        python
            .arg(root.join("crates/quic/c/check_vectors.py"))
            .arg(root.join("include"))
            .arg(place.path(file));
        python.output().expect("the tests need python3")
    };
    for file in ["one.jsonl", "two.jsonl"] {
        let checked = check(file);
        let said = String::from_utf8_lossy(&checked.stdout).into_owned();
        assert!(checked.status.success() && said.contains("every decision as recorded"), "{checked:?}");
    }
    let text = std::fs::read_to_string(place.path("one.jsonl")).unwrap();
    let wrong = text.replacen("\"after_cwnd_bytes\":", "\"after_cwnd_bytes\":1", 5);
    std::fs::write(place.path("wrong.jsonl"), wrong).unwrap();
    let checked = check("wrong.jsonl");
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(!checked.status.success() && said.contains("cwnd_bytes"), "{checked:?}");
}

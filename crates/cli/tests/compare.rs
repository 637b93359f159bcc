//! `ramp compare` and `ramp report`: results, reuse, formats.

mod support;

use serde_json::Value;
use support::{Place, SMALL, stderr, words};

fn small(extra: &[&'static str]) -> Vec<&'static str> {
    [&words(SMALL), extra].concat()
}

#[test]
fn writes_results_and_says_where() {
    let place = Place::new("writes_results");
    let table = place.stdout(&small(&["--out", "out"]));
    assert!(table.contains("slow_start") && table.contains("hystart"), "{table}");
    assert!(table.trim_end().ends_with("report: out/report.html"), "{table}");
    let names: Vec<String> = place.files("out").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["comparison.csv", "comparison.json", "plan.json", "report.html", "runs.csv"]);
    let real = place.files("out/runs").iter().filter(|(name, _)| !name.contains("later")).count();
    assert_eq!(real, 4);
    let page = place.read("out/report.html");
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"));
}

#[test]
fn results_go_to_a_directory_named_for_the_scenario() {
    let place = Place::new("default_directory");
    let table = place.stdout(&words(SMALL));
    let last = table.trim_end().lines().last().unwrap();
    assert!(last.starts_with("report: ramp-results/ad-hoc-"), "{last}");
}

#[test]
fn a_second_call_reuses_every_run_and_changes_no_byte() {
    let place = Place::new("reuse");
    let first = place.stdout(&small(&["--out", "out"]));
    let kept = (place.files("out"), place.files("out/runs"));
    let again = place.ramp(&small(&["--out", "out"]));
    assert!(stderr(&again).contains("4 of 4 runs were finished already"), "{}", stderr(&again));
    assert_eq!(String::from_utf8(again.stdout).unwrap(), first);
    assert!((place.files("out"), place.files("out/runs")) == kept);
}

#[test]
fn a_label_that_means_something_else_has_other_results() {
    let place = Place::new("labels");
    let command = |row: &'static str| {
        let mut words = small(&["--out", "out", "--json"]);
        words[10] = row;
        words
    };
    let median = |row| {
        let json: Value = serde_json::from_str(&place.stdout(&command(row))).unwrap();
        assert_eq!(json["arms"][0]["label"], "x");
        json["arms"][0]["metrics"]["download_time"]["median"].as_f64().unwrap()
    };
    let (early, late) = (median("x=limited:max_ssthresh=5"), median("x=limited:max_ssthresh=100"));
    assert!(late < early, "{late} against {early}");
    let plain = place.ramp(&command("limited:max_ssthresh=100"));
    assert!(stderr(&plain).contains("2 of 2 runs were finished already"), "{}", stderr(&plain));
}

#[test]
fn only_missing_runs_are_played() {
    let place = Place::new("more_runs");
    place.stdout(&small(&["--out", "out"]));
    let mut more = small(&["--out", "out"]);
    more[12] = "3";
    let output = place.ramp(&more);
    assert!(stderr(&output).contains("4 of 6 runs were finished already"), "{}", stderr(&output));
}

#[test]
fn no_cache_plays_everything_again() {
    let place = Place::new("no_cache");
    let first = place.stdout(&small(&["--out", "out"]));
    let output = place.ramp(&small(&["--out", "out", "--no-cache"]));
    assert!(!stderr(&output).contains("finished already"), "{}", stderr(&output));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), first);
}

#[test]
fn a_damaged_result_is_played_again() {
    let place = Place::new("damaged");
    place.stdout(&small(&["--out", "out"]));
    let kept = place.files("out/runs");
    place.write(&format!("out/runs/{}", kept[0].0), "{\"half\":");
    let output = place.ramp(&small(&["--out", "out"]));
    assert!(output.status.success());
    assert!(place.files("out/runs") == kept);
}

#[test]
fn the_same_command_gives_the_same_bytes_however_many_cores() {
    let place = Place::new("same_bytes");
    place.stdout(&small(&["--out", "one", "--jobs", "1"]));
    place.stdout(&small(&["--out", "two", "--jobs", "2"]));
    assert!(place.read("one/comparison.json") == place.read("two/comparison.json"));
    assert!(place.read("one/report.html") == place.read("two/report.html"));
    assert!(place.files("one/runs") == place.files("two/runs"));
}

#[test]
fn json_and_csv_are_for_machines() {
    let place = Place::new("formats");
    let json: Value = serde_json::from_str(&place.stdout(&small(&["--out", "out", "--json"]))).unwrap();
    let labels: Vec<&str> =
        json["arms"].as_array().unwrap().iter().filter_map(|a| a["label"].as_str()).collect();
    assert_eq!(labels, ["slow_start", "hystart"]);
    assert_eq!(json["seeds"], serde_json::json!([1, 2]));
    assert_eq!(json["format"], 1);
    assert!(!json["verdict"].as_str().unwrap().is_empty());
    let csv = place.stdout(&small(&["--out", "out", "--csv"]));
    let rows = csv.lines().filter(|line| !line.starts_with('#')).count();
    assert!(rows > 2, "{csv}");
    assert!(csv.contains("hystart") && csv.contains("\n# format: 1\n"), "{csv}");
}

#[test]
fn outputs_begin_with_how_to_make_them_again() {
    let place = Place::new("provenance");
    let json: Value = serde_json::from_str(&place.stdout(&small(&["--out", "out", "--json"]))).unwrap();
    let provenance = &json["provenance"];
    let command = provenance["command"].as_str().unwrap();
    assert_eq!(command, format!("ramp {SMALL}"));
    assert!(provenance["version"].as_str().unwrap().starts_with(env!("CARGO_PKG_VERSION")));
    assert!(place.read("out/comparison.csv").starts_with("# version: "));
    assert!(place.read("out/report.html").contains(command));
}

#[test]
fn report_judges_stored_runs_again() {
    let place = Place::new("report");
    let table = place.stdout(&small(&["--out", "out"]));
    let page = place.read("out/report.html");
    std::fs::remove_file(place.path("out/report.html")).unwrap();
    assert_eq!(place.stdout(&["report", "out"]), table);
    assert!(place.read("out/report.html") == page);
}

/// A header of the core as a candidate is that algorithm, under a key of its own.
#[test]
fn a_candidate_is_one_more_row_that_is_kept_by_its_code() {
    let place = Place::new("candidate");
    let core = concat!(env!("CARGO_MANIFEST_DIR"), "/../../include/ramp/hystart.h");
    let text = std::fs::read_to_string(core).unwrap();
    place.write("hystart.h", &text);
    let words = small(&["--out", "out", "--json", "--candidate", "hystart.h"]);
    let output = place.ramp(&words);
    let json: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    let of = |label: &str| {
        let mut arms = json["arms"].as_array().unwrap().iter();
        arms.find(|arm| arm["label"] == label).unwrap()["metrics"]["download_time"]["mean"].as_f64().unwrap()
    };
    assert!((of("hystart") - of("hystart (hystart.h)")).abs() < 1e-12 && of("hystart") > 0.0);
    let found = |count: &str| {
        let said = stderr(&place.ramp(&words));
        assert!(said.contains(&format!("{count} of 6 runs were finished already")), "{said}");
    };
    found("6");
    place.write("hystart.h", &format!("{text}/* A remark is no change. */\n"));
    found("6");
    place.write("hystart.h", &format!("{text}typedef int ramp_changed;\n"));
    found("4");
    let ran = |words: &[&str]| {
        let path = ["--rate", "20mbit", "--rtt", "40ms", "--buffer", "1bdp", "--size", "500kB"];
        let all = place.stdout(&[&["run"], words, &path].concat());
        all.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
    };
    let samples = ran(&["--algorithm", "hystart"]);
    assert!(samples.len() > 100 && samples == ran(&["--candidate", "hystart.h"]));
    let wrong = place.ramp(&small(&["--candidate", "none.h"]));
    assert!(wrong.status.code() == Some(2) && stderr(&wrong).contains("none.h"), "{}", stderr(&wrong));
}

/// Slow start with `within` at each ACK.
#[cfg(target_os = "linux")]
fn broken(place: &Place, within: &str) {
    let core = concat!(env!("CARGO_MANIFEST_DIR"), "/../../include/ramp/slow_start.h");
    let text = std::fs::read_to_string(core).unwrap();
    let text = text.replace("slow_start", "mine").replace("SLOW_START", "MINE");
    let asked = "\tif (d->phase == RAMP_DONE)\n";
    place.write("mine.h", &text.replace(asked, &format!("{within}\n{asked}")));
}

#[cfg(target_os = "linux")]
#[test]
fn a_candidate_that_crashes_is_named_and_finished_runs_are_kept() {
    let place = Place::new("candidate_crash");
    broken(&place, "*(volatile int *)8 = 1;");
    let told = "your candidate mine.h crashed (SIGSEGV) on ";
    let words = small(&["--out", "out", "--jobs", "1", "--candidate", "mine.h"]);
    let output = place.ramp(&words);
    let said = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "");
    assert!(output.status.code() == Some(1) && said.contains(told) && said.contains(", seed 1"), "{said}");
    broken(&place, "");
    let said = stderr(&place.ramp(&words));
    assert!(said.contains("of 6 runs were finished already"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_a_candidate_that_hangs() {
    use std::process::Command;
    let place = Place::new("candidate_hangs");
    broken(&place, "for (volatile int i = 0;; i++)\n\t\t;");
    for signal in ["INT", "TERM"] {
        // `timeout` sends the signal once the candidate is there, and 9 much later where that does nothing.
        let words = small(&["--out", "out", "--candidate", "mine.h"]);
        let output = Command::new("timeout")
            .args(["--preserve-status", "-k", "60", "-s", signal, "3", env!("CARGO_BIN_EXE_ramp")])
            .args(&words)
            .current_dir(place.path("."))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(130), "{signal}: {}", stderr(&output));
    }
}

#[test]
fn swept_parameters_become_rows() {
    let place = Place::new("sweep_rows");
    let json: Value = serde_json::from_str(&place.stdout(&words(
        "compare --rate 20mbit --rtt 40ms --size 500kB --runs 1 --out out --json --algorithms hystart --sweep algorithm.hystart.low_window=16,32",
    )))
    .unwrap();
    let labels: Vec<&str> =
        json["arms"].as_array().unwrap().iter().filter_map(|a| a["label"].as_str()).collect();
    assert_eq!(labels.len(), 2, "{labels:?}");
    assert!(labels.iter().any(|l| l.contains("low_window") && l.contains("32")), "{labels:?}");
}

#[test]
fn swept_scenario_fields_become_comparisons() {
    let place = Place::new("sweep_scenarios");
    let mut command = small(&["--out", "out", "--sweep", "path.buffer=0.5 bdp,2 bdp"]);
    command.drain(5..7);
    let table = place.stdout(&command);
    assert_eq!(table.lines().filter(|l| l.starts_with("report: out/path.buffer")).count(), 2, "{table}");
}

#[test]
fn another_comparison_never_overwrites_a_report() {
    let place = Place::new("no_overwrite");
    let report = |table: &str| {
        let last = table.trim_end().lines().last().unwrap();
        last.strip_prefix("report: ").unwrap().to_owned()
    };
    let rows = |rows: &'static str, out: &[&'static str]| {
        let mut words = small(out);
        words[10] = rows;
        words
    };
    for out in [&[][..], &["--out", "out"]] {
        let first = report(&place.stdout(&rows("slow_start,hystart", out)));
        let page = place.read(&first);
        let other = place.ramp(&rows("hystart,limited", out));
        assert!(stderr(&other).contains("2 of 4 runs were finished already"), "{}", stderr(&other));
        let second = report(&String::from_utf8(other.stdout).unwrap());
        assert_ne!(first, second);
        assert!(place.read(&first) == page, "it was overwritten");
        assert!(place.read(&second).contains("limited"));
        let again = report(&place.stdout(&rows("hystart,limited", out)));
        assert_eq!(again, second, "the same comparison, the same place");
        let directory = second.strip_suffix("/report.html").unwrap();
        assert!(place.stdout(&["report", directory]).contains("limited"));
    }
}

#[test]
fn a_directory_of_somebody_elses_is_left_alone() {
    let place = Place::new("foreign");
    place.write("report.html", "mine");
    let output = place.ramp(&small(&["--out", "."]));
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("report.html that ramp did not write"), "{}", stderr(&output));
    assert_eq!(place.read("report.html"), "mine");
    assert_eq!(place.files(".").len(), 1);
}

#[test]
fn rows_that_are_the_same_are_played_once() {
    let place = Place::new("same_rows");
    let mut words = small(&["--out", "out", "--json"]);
    words[10] = "a=hystart,b=hystart:low_window=16,limited";
    let json: Value = serde_json::from_str(&place.stdout(&words)).unwrap();
    let arm = |label: &str| {
        let mut arm = json["arms"].as_array().unwrap().iter().find(|a| a["label"] == label).unwrap().clone();
        arm["metrics"].take()
    };
    assert_eq!(arm("a"), arm("b"));
    assert_ne!(arm("a"), arm("limited"));
    let real = place.files("out/runs").iter().filter(|(name, _)| !name.contains("later")).count();
    assert_eq!(real, 4);
    assert_eq!(place.stdout(&["report", "out", "--json"]), place.stdout(&words));
}

#[test]
fn traces_begin_where_the_command_line_says() {
    let place = Place::new("trace_offset");
    let lines = (1..=3000).map(|ms| ms.to_string()).collect::<Vec<_>>().join("\n");
    place.write("link", &lines);
    place.write("path.toml", "size = '50 kB'\n[path]\ntrace = 'link'\nrtt = '20 ms'\ntrace-offset = '2 s'\n");
    let text = |path: &[&'static str]| {
        let rest = ["--algorithms", "limited", "--runs", "1", "--out", "out", "--json"];
        let json = place.stdout(&[&["compare"], path, &rest[..]].concat());
        let json: Value = serde_json::from_str(&json).unwrap();
        json["provenance"]["scenario_text"].as_str().unwrap().to_owned()
    };
    let ad_hoc = ["--trace", "link", "--rtt", "20ms", "--size", "50kB"];
    assert!(text(&ad_hoc).contains("random-trace-offset = true"));
    let fixed = text(&[&ad_hoc[..], &["--trace-offset", "1s"]].concat());
    assert!(fixed.contains("trace-offset = \"1s\"") && !fixed.contains("random"), "{fixed}");
    let random = text(&["path.toml", "--trace-offset", "random"]);
    assert!(random.contains("random-trace-offset = true") && !random.contains("2 s"), "{random}");
    let none = ["compare", "--rate", "5mbit", "--rtt", "20ms", "--trace-offset", "1s"];
    place.fails(2, &none, &["there is no trace", "--trace-offset 1s"]);
}

#[test]
fn a_parameter_of_a_row_that_nobody_plays_is_refused() {
    let place = Place::new("unplayed");
    let set = ["--set", "algorithm.best.threshold=2MB/s", "--out", "out"];
    let command = |rows: &'static str| {
        [
            &["compare", "--rate", "5mbit", "--rtt", "20ms", "--size", "50kB", "--exact", "-a", rows][..],
            &set[..],
        ]
        .concat()
    };
    place.fails(2, &command("slow_start,hystart"), &["changes nothing", "`best`", "-a best"]);
    assert!(!place.path("out").exists());
    place.stdout(&command("slow_start,best"));
}

#[test]
fn a_sweep_is_one_document_one_table_and_one_page() {
    let place = Place::new("sweep_together");
    let mut command = small(&["--sweep", "path.buffer=0.5 bdp,2 bdp"]);
    command.drain(5..7);
    let table = place.stdout(&[&command[..], &["--out", "out"]].concat());
    assert!(table.trim_end().ends_with("overview: out/index.html"), "{table}");
    let page = place.read("out/index.html");
    for link in ["path.buffer-0.5-bdp/report.html", "path.buffer-2-bdp/report.html"] {
        assert!(page.contains(link), "no {link}");
        assert!(place.path("out").join(link).is_file());
    }
    for out in [&["--out", "out"][..], &[]] {
        let document = place.stdout(&[&command[..], out, &["--json"]].concat());
        let json: Value = serde_json::from_str(&document).unwrap();
        assert_eq!(json["fields"], serde_json::json!(["path.buffer"]));
        let points = json["comparisons"].as_array().unwrap();
        let values: Vec<&Value> = points.iter().map(|point| &point["values"]["path.buffer"]).collect();
        assert_eq!(values, ["0.5 bdp", "2 bdp"]);
        assert!(points.iter().all(|point| point["comparison"]["arms"].as_array().unwrap().len() == 2));
        let csv = place.stdout(&[&command[..], out, &["--csv"]].concat());
        let rows: Vec<&str> = csv.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(rows[0].starts_with("path.buffer,algorithm,"), "{csv}");
        assert_eq!(rows.iter().filter(|row| row.contains("algorithm,")).count(), 1);
        for value in ["0.5 bdp,slow_start,", "2 bdp,hystart,"] {
            assert!(rows.iter().any(|row| row.starts_with(value)), "no {value}");
        }
    }
    assert_eq!(place.stdout(&["report", "out"]), table);
    assert!(place.read("out/index.html") == page);
    // What is missing is left out, and said.
    std::fs::remove_dir_all(place.path("out/path.buffer-2-bdp/runs")).unwrap();
    let half = place.ramp(&["report", "out", "--json"]);
    assert!(stderr(&half).contains("without path.buffer=2 bdp"), "{}", stderr(&half));
    let json: Value = serde_json::from_slice(&half.stdout).unwrap();
    assert_eq!(json["comparisons"].as_array().unwrap().len(), 1);
}

//! Ctrl-C and SIGTERM keep what is finished.
#![cfg(unix)]

mod support;

use std::fs;
use std::process::{Command, Stdio};

use flate2::read::GzDecoder;
use support::{Place, stderr, words};

/// Enough runs that the signal finds most of them waiting. Without jitter there would be one run.
const MANY: &str = "compare --jitter 1ms --rate 100mbit --rtt 40ms --buffer 1bdp --size 5MB --algorithms slow_start,hystart \
                    --runs 2000 --exact --jobs 1 --out out";

#[test]
fn ctrl_c_keeps_finished_runs_and_says_how_to_go_on() {
    let place = Place::new("interrupt");
    let mut child =
        place.command(&words(MANY)).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let runs = place.path("out/runs");
    let finished = || {
        fs::read_dir(&runs)
            .is_ok_and(|mut d| d.any(|e| e.unwrap().path().extension().is_some_and(|x| x == "json")))
    };
    while !finished() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before the first result");
        std::thread::yield_now();
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("of 4000 runs are finished and kept in out"), "{said}");
    assert!(said.contains(&format!("to continue: ramp {MANY}")), "{said}");
    let kept = place.files("out/runs");
    assert!(!kept.is_empty() && kept.len() < 4000);
    for (name, contents) in &kept {
        assert!(!name.contains(".part"), "{name} is left over");
        serde_json::from_slice::<serde_json::Value>(contents).unwrap();
    }
    let report = place.ramp(&["report", "out"]);
    assert!(report.status.success(), "{}", stderr(&report));
    assert!(stderr(&report).contains("of 4000 runs are finished"), "{}", stderr(&report));
}

/// The last command line that is accepted: nothing is planned beforehand that would take time or memory.
#[test]
fn a_million_runs_begin_at_once_and_end_at_once() {
    let place = Place::new("interrupt_million");
    let command = MANY.replace("--runs 2000", "--runs 1000000");
    let mut child =
        place.command(&words(&command)).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let finished = || fs::read_dir(place.path("out/runs")).is_ok_and(|d| d.count() > 2);
    while !finished() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before the first result");
        std::thread::yield_now();
    }
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("of 2000000 runs are finished"), "{}", stderr(&output));
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    if let Some(kilobytes) = peak.map(|kb| kb.trim().parse::<u64>().unwrap()) {
        assert!(kilobytes < 100_000, "{kilobytes} kB");
    }
    assert!(place.files("out/runs").len() < 100_000);
    let said = stderr(&place.ramp(&["report", "out"]));
    assert!(said.contains("of 2000000 runs are finished; to play the rest: ramp compare"), "{said}");
    assert!(said.contains("--out out"), "{said}");
}

#[test]
fn a_reproduction_that_is_told_to_end_keeps_finished_runs_and_says_how_to_go_on() {
    let command = ["reproduce", "--paper", "hystart", "--jobs", "1", "--out", "out"];
    for signal in ["-TERM", "-INT"] {
        let place = Place::new("interrupt_reproduce");
        let mut child =
            place.command(&command).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let runs = place.path("out/runs");
        let kept = |path: fs::DirEntry| path.path().extension().is_some_and(|x| x == "gz");
        while !fs::read_dir(&runs).is_ok_and(|mut d| d.any(|e| kept(e.unwrap()))) {
            assert!(child.try_wait().unwrap().is_none(), "it ended before the first result");
            std::thread::yield_now();
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
        assert!(stderr(&output).contains(&command.join(" ")), "{}", stderr(&output));
        for (name, contents) in &place.files("out/runs") {
            let run = serde_json::from_reader::<_, serde_json::Value>(GzDecoder::new(contents.as_slice()));
            run.unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
}

//! `ramp gate`: what it says of changes, and the script that runs it in CI.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use support::{Place, stderr};

mod support;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// Sure enough for a test: of obvious changes, and soon.
const TERMS: [&str; 4] = ["--alpha", "20", "--margin", "4"];

/// Slow start under a name of its own; `limit`: the window at which it leaves, in packets.
fn header(limit: u32) -> String {
    let core = std::fs::read_to_string(format!("{ROOT}/include/ramp/slow_start.h")).unwrap();
    let text = core.replace("slow_start", "mine").replace("SLOW_START", "MINE");
    let grown = "ramp_leave_at_ssthresh(d);";
    assert!(text.contains(grown), "{text}");
    text.replace(
        grown,
        &format!("if (d->cwnd_bytes >= {limit} * (ramp_u64)a->mss_bytes) d->ssthresh_bytes = d->cwnd_bytes;\n\t{grown}"),
    )
}

fn gate(place: &Place, words: &[&str]) -> Output {
    place.ramp(&[&["gate"], words, &TERMS].concat())
}

#[test]
fn the_same_is_not_worse_and_what_is_worse_is_found() {
    let place = Place::new("gate");
    // A directory may have any name, also one like a header's.
    std::fs::create_dir(place.path("new.h")).unwrap();
    place.write("mine.h", &header(1_000_000));
    place.write("new.h/mine.h", &header(1_000_000));
    let same = gate(&place, &["mine.h", "new.h/mine.h", "--json"]);
    assert_eq!(same.status.code(), Some(0), "{}", stderr(&same));
    let answer: Value = serde_json::from_slice(&same.stdout).unwrap();
    assert_eq!((&answer["verdict"], &answer["worst"]), (&"not_worse".into(), &Value::Null));
    assert_eq!((&answer["old"], &answer["new"]), (&"mine".into(), &"mine (new)".into()));
    for measure in answer["measures"].as_array().unwrap() {
        let number = |key: &str| measure[key].as_f64().unwrap();
        assert!(number("mean").abs() < 1e-12 && number("high") <= number("margin"), "{measure}");
    }
    // Again, from what it has kept.
    let again = gate(&place, &["mine.h", "new.h/mine.h", "--json"]);
    assert!(same.stdout == again.stdout, "{answer} {}", String::from_utf8_lossy(&again.stdout));

    place.write("new.h/mine.h", &header(20));
    let worse = gate(&place, &["mine.h", "new.h/mine.h", "--markdown", "gate.md"]);
    assert_eq!(worse.status.code(), Some(1), "{}", stderr(&worse));
    let said = String::from_utf8(worse.stdout).unwrap();
    assert!(said.contains("`mine (new)` is worse than `mine`: "), "{said}");
    let markdown = place.read("gate.md");
    assert!(
        markdown.starts_with("**`mine (new)` is worse")
            && markdown.contains("| download time, 1.25 times at most |"),
        "{markdown}"
    );
    // The worst path is one that anybody can play.
    let replay = said
        .lines()
        .find_map(|line| line.strip_prefix("To play both over it ten times, first with that seed: ramp "))
        .unwrap();
    assert!(markdown.contains(replay), "{markdown}");
    let words: Vec<&str> = replay.split(' ').collect();
    let played = place.ramp(&[&words[..], &["--json"]].concat());
    assert!(played.status.success(), "{}", stderr(&played));
    let text = String::from_utf8(played.stdout).unwrap();
    assert!(text.contains("\"mine\"") && text.contains("mine (mine.h)"), "{replay}: {text}");
    // With the seed and the size that the gate played first; runs that suffice to rank the two, where there is chance at all.
    let comparison: Value = serde_json::from_str(&text).unwrap();
    let seed = words.iter().find_map(|word| word.strip_prefix("seed=")).unwrap();
    assert_eq!(comparison["seeds"][0].to_string(), seed, "{replay}");
    let runs = if comparison["context"]["chance"] == Value::Bool(true) { 10 } else { 1 };
    assert_eq!(comparison["seeds"].as_array().unwrap().len(), runs, "{replay}");
    let headline = comparison["headline"].as_str().unwrap();
    assert!(!headline.contains("too few"), "{headline}");
    let mut labels: Vec<&str> =
        comparison["arms"].as_array().unwrap().iter().map(|row| row["label"].as_str().unwrap()).collect();
    labels.sort_unstable();
    assert_eq!(labels, ["mine", "mine (mine.h)", "slow_start"]);
}

#[test]
fn a_header_that_crashes_is_wrong_input_and_not_worse() {
    let place = Place::new("gate_crash");
    let crash =
        header(3).replace("if (d->cwnd_bytes >= 3", "*(volatile int *)8 = 1;\n\tif (d->cwnd_bytes >= 3");
    assert!(crash.contains("volatile"), "{crash}");
    place.write("mine.h", &crash);
    let crashed = gate(&place, &["slow_start", "mine.h"]);
    assert_eq!(crashed.status.code(), Some(2), "{}", stderr(&crashed));
    assert!(stderr(&crashed).contains("crashed (SIGSEGV)"), "{}", stderr(&crashed));
}

/// In CI exit code 1 says that the change is worse, and nothing else.
#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_is_not_worse() {
    let place = Place::new("gate_unwritten");
    for words in [["--markdown", "/proc/none.md"], ["--out", "/proc/none"]] {
        let output = gate(&place, &[&["hystart", "hystart"][..], &words].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("/proc/none"), "{words:?}: {}", stderr(&output));
    }
}

#[test]
fn too_few_pairs_do_not_tell() {
    let place = Place::new("gate_few");
    let few = gate(&place, &["slow_start", "hystart", "--pairs", "3"]);
    assert_eq!(few.status.code(), Some(3), "{}", stderr(&few));
    let said = String::from_utf8(few.stdout).unwrap();
    assert!(said.starts_with("3 pairs do not tell whether `hystart` is worse than `slow_start`."), "{said}");
}

#[test]
fn what_is_no_start_up_is_refused() {
    let place = Place::new("gate_wrong");
    for (words, what) in [
        (&["hystart", "none.h"][..], "none.h"),
        (&["hystart", "hystrat"], "hystart"),
        (&["hystart", "modern"], "is not one start-up"),
        (&["hystart", "ideal"], "knows the path in advance"),
        (&["hystart"], "NEW"),
        (&["hystart", "best", "--alpha", "0"], "more than 0 and less than 50"),
        (&["hystart", "best", "--markdown", "none/gate.md"], "none/gate.md cannot be written"),
        (&["--self-test", "--algorithms", "hystrat"], "no algorithm `hystrat`"),
    ] {
        let output = place.ramp(&[&["gate"], words].concat());
        let said = stderr(&output);
        assert!(output.status.code() == Some(2) && said.contains(what), "{words:?}: {said}");
    }
    assert!(!place.path("ramp-results").exists(), "something was played");
}

#[test]
fn the_self_test_counts_alarms_and_finds_mutants() {
    let place = Place::new("gate_self");
    let words = ["--self-test", "--algorithms", "hystart", "--alike", "2", "--pairs", "16", "--json"];
    let output = gate(&place, &words);
    // Sixteen pairs do not find nine of ten.
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let tested: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = |key: &str| tested[key].as_array().unwrap().clone();
    assert!(all("alike").len() == 2 && all("alike").iter().all(|one| one["verdict"] != "worse"), "{tested}");
    let found: Vec<Value> = all("mutants")
        .iter()
        .filter(|one| one["verdict"] == "worse")
        .map(|one| one["name"].clone())
        .collect();
    for mutant in ["hystart_half", "hystart_first_rtt", "hystart_iw4"] {
        assert!(found.contains(&mutant.into()), "{found:?}");
    }
    // The row does not show what it never does.
    let unpaced = all("mutants").into_iter().find(|one| one["name"] == "hystart_unpaced").unwrap();
    assert_eq!(
        (&unpaced["differs"], &unpaced["verdict"]),
        (&false.into(), &"cannot_tell".into()),
        "{unpaced}"
    );
}

/// The steps of the action, as a runner plays them.
#[test]
fn in_ci_each_changed_header_is_held_to_its_old_text() {
    let script = format!("{ROOT}/packaging/gate/gate");
    let action = std::fs::read_to_string(format!("{ROOT}/packaging/gate/action.yml")).unwrap();
    let run = action.lines().filter_map(|line| line.trim().strip_prefix("run: ")).next_back().unwrap();
    assert_eq!(run, "'\"$GITHUB_ACTION_PATH/gate\" \"${{ inputs.base }}\"'");
    assert!(action.contains("RAMP_GATE_ARGS: ${{ inputs.arguments }}") && Path::new(&script).is_file());

    let place = Place::new("gate_ci");
    let git = |words: &[&str]| {
        let known = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"];
        let output = Command::new("git").current_dir(&place.0).args(known).args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    };
    let gate = |base: &[&str]| {
        let mut command = Command::new(&script);
        command.current_dir(&place.0).args(base).env("RAMP", env!("CARGO_BIN_EXE_ramp"));
        command.env("RAMP_GATE_ARGS", TERMS.join(" ")).env("GITHUB_STEP_SUMMARY", place.path("summary.md"));
        command.output().unwrap()
    };
    git(&["init", "--quiet"]);
    place.write("mine.h", &header(1_000_000));
    place.write("other.h", "/* no start-up */\n");
    git(&["add", "mine.h", "other.h"]);
    git(&["commit", "--quiet", "--message", "one"]);
    let first = gate(&[]);
    assert!(first.status.success() && stderr(&first).contains("no commit HEAD^"), "{}", stderr(&first));
    assert_eq!(gate(&["none"]).status.code(), Some(2));

    place.write("other.h", "/* still none */\n");
    git(&["commit", "--quiet", "--all", "--message", "two"]);
    let none = gate(&[]);
    assert!(none.status.success() && stderr(&none).contains("0 changed start-ups"), "{}", stderr(&none));

    place.write("mine.h", &header(20));
    git(&["commit", "--quiet", "--all", "--message", "three"]);
    let worse = gate(&["HEAD^"]);
    assert_eq!(worse.status.code(), Some(1), "{}", stderr(&worse));
    assert!(
        place.read("summary.md").starts_with("**`mine (new)` is worse than `mine`"),
        "{}",
        place.read("summary.md")
    );
    assert_eq!(gate(&["HEAD~2"]).status.code(), Some(1));
}

//! `ramp compare` on neighbouring paths.

mod support;

use serde_json::Value;
use support::{Place, stderr, words};

/// A short path of unknown jitter.
const PATH: &str = "compare --rate 50mbit --rtt 100ms --buffer 1bdp --size 4MB --algorithms slow_start,hystart,same=hystart,ideal";

fn path(more: &[&'static str]) -> Vec<&'static str> {
    [&words(PATH)[..], more].concat()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn field<'v>(comparison: &'v Value, name: &str) -> Option<&'v Value> {
    let fields = comparison["carries"]["neighbourhood"]["fields"].as_array().unwrap();
    fields.iter().find(|field| field["field"] == name)
}

#[test]
fn every_row_says_how_far_it_carries() {
    let place = Place::new("carries");
    let found = json(&place.stdout(&path(&["--neighbours", "20", "--out", "out", "--json"])));
    let carried = |label: &str| {
        let arms = found["arms"].as_array().unwrap();
        arms.iter().find(|arm| arm["label"] == label).unwrap()["carries"].clone()
    };
    for label in ["slow_start", "hystart"] {
        assert!((0.0..=1.0).contains(&carried(label).as_f64().unwrap()), "{label}");
    }
    assert_eq!(carried("hystart"), carried("same"), "steered alike");
    assert_eq!(carried("ideal"), Value::Null, "it knows the path");
    assert_eq!(found["carries"]["neighbourhood"]["paths"].as_array().unwrap().len(), 20);
    assert_eq!(found["carries"]["decided"], 20);
    // What was stated is known, what was not has its usual range.
    assert!(field(&found, "path.buffer").is_none() && field(&found, "path.rate").is_none());
    assert_eq!(field(&found, "path.reverse.rate").unwrap()["values"], "1 to 50 Mbit/s");
    assert_eq!(field(&found, "path.loss").unwrap()["described"], 0.0);
    // Three rows are steered differently.
    assert_eq!(place.files("out/neighbours/runs").len(), 3 * 20);
    assert!(found["verdict"].as_str().unwrap().contains("of 20 neighbouring paths"), "{}", found["verdict"]);
}

#[test]
fn runs_on_neighbouring_paths_are_found_again() {
    let place = Place::new("carries_again");
    let command = path(&["--neighbours", "8", "--jitter", "1ms", "--runs", "2", "--out", "out"]);
    let table = place.stdout(&command);
    assert!(table.contains("carries"), "{table}");
    let kept = (place.files("out"), place.files("out/neighbours/runs"));
    let again = place.ramp(&command);
    assert!(stderr(&again).contains("30 of 30 runs were finished already"), "{}", stderr(&again));
    assert_eq!(String::from_utf8(again.stdout).unwrap(), table);
    // Missing ones are played again, and one by one they are the same.
    for (name, _) in kept.1.iter().take(5) {
        std::fs::remove_file(place.path(&format!("out/neighbours/runs/{name}"))).unwrap();
    }
    let again = place.ramp(&[&command[..], &["--jobs", "1"]].concat());
    assert!(stderr(&again).contains("25 of 30 runs were finished already"), "{}", stderr(&again));
    assert!(place.files("out/neighbours/runs") == kept.1);
    // Judged again from what is there.
    std::fs::remove_file(place.path("out/report.html")).unwrap();
    assert_eq!(place.stdout(&["report", "out"]), table);
    let page =
        |files: &[(String, Vec<u8>)]| files.iter().find(|(name, _)| name == "report.html").unwrap().1.clone();
    place.stdout(&command);
    assert!(page(&place.files("out")) == page(&kept.0));
    // More paths are played on top of those.
    let more = path(&["--neighbours", "12", "--jitter", "1ms", "--runs", "2", "--out", "out"]);
    let more = place.ramp(&more);
    assert!(stderr(&more).contains("30 of 42 runs were finished already"), "{}", stderr(&more));
}

#[test]
fn an_exact_path_has_no_neighbours() {
    let place = Place::new("carries_exact");
    place
        .write("known.toml", "size = \"1 MB\"\n[path]\nrate = \"50 Mbit/s\"\nrtt = \"50 ms\"\n[uncertain]\n");
    for (out, command) in [
        ("one", path(&["--exact", "--json", "--out", "one"])),
        ("two", path(&["--neighbours", "0", "--json", "--out", "two"])),
        ("three", vec!["compare", "known.toml", "--algorithms", "hystart", "--json", "--out", "three"]),
    ] {
        let found = json(&place.stdout(&command));
        assert!(found.get("carries").is_none(), "{out}");
        assert!(
            !place.path(out).join("neighbours").exists() && !place.path(out).join("neighbours.json").exists()
        );
    }
}

#[test]
fn the_nearest_loss_can_be_opened_and_is_the_same() {
    let place = Place::new("carries_loss");
    // Without jitter HyStart leaves in time; with much of it far too early, and Limited Slow-Start is faster.
    let command = [
        &["compare", "--rate", "50mbit", "--rtt", "100ms", "--buffer", "1bdp", "--size", "8MB"][..],
        &["--algorithms", "hystart,limited", "--set", "path.reverse.jitter=0ms"],
        &["--uncertain", "path.reverse.jitter=0ms..60ms", "--neighbours", "32", "--out", "out", "--json"],
    ]
    .concat();
    let found = json(&place.stdout(&command));
    assert_eq!(
        field(&found, "path.reverse.jitter").unwrap()["values"],
        "0 to 60 ms",
        "set, and still not known"
    );
    let loss = &found["carries"]["nearest_loss"];
    let index = loss["path"].as_u64().unwrap() as usize;
    assert!(loss["regret"].as_f64().unwrap() > 0.10);
    assert_eq!(loss["scenario"].as_str().unwrap(), place.read("out/nearest-loss.toml"));
    assert!(place.read("out/report.html").contains("nearest-loss.toml"));
    let opened = json(&place.stdout(&words(
        "compare out/nearest-loss.toml --algorithms hystart,limited --runs 1 --json --out opened",
    )));
    assert!(opened.get("carries").is_none(), "in a neighbour nothing is uncertain");
    assert_eq!(opened["leader"], loss["winner"]);
    for label in ["hystart", "limited"] {
        let there =
            found["carries"]["rows"].as_array().unwrap().iter().find(|row| row["label"] == label).unwrap();
        let here = opened["arms"].as_array().unwrap().iter().find(|arm| arm["label"] == label).unwrap();
        assert_eq!(here["metrics"]["download_time"]["values"][0], there["values"][index], "{label}");
    }
}

#[test]
fn sweeps_have_no_neighbours_unless_asked() {
    let place = Place::new("carries_sweep");
    let sweep = ["--sweep", "path.buffer=0.5 bdp,2 bdp"];
    place.stdout(&path(&[sweep[0], sweep[1], "--out", "plain"]));
    let held = |out: &str| {
        let below = place.path(out);
        let entries = std::fs::read_dir(&below).unwrap().map(|e| e.unwrap().path());
        entries
            .filter(|p| p.join("comparison.json").is_file())
            .map(|p| p.join("neighbours.json").is_file())
            .collect()
    };
    let plain: Vec<bool> = held("plain");
    assert_eq!(plain, [false, false]);
    place.stdout(&path(&[sweep[0], sweep[1], "--neighbours", "4", "--out", "asked"]));
    assert_eq!(held("asked"), [true, true]);
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    let place = Place::new("carries_input");
    place.write(
        "wrong.toml",
        "size = \"1 MB\"\n[path]\nrate = \"50 Mbit/s\"\nrtt = \"50 ms\"\n[uncertain]\n\"path.rate\" = \"0 to 5 Mbit/s\"\n",
    );
    let cases: [(&[&str], &[&str]); 11] = [
        (&["--uncertain", "path.rtt"], &["path.rtt", "FIELD=LOW..HIGH"]),
        (&["--uncertain", "path.rtt=5ms..1ms"], &["5 is not below 1"]),
        (&["--uncertain", "path.rtt=1ms..5mbit"], &["different kinds"]),
        (&["--uncertain", "path.bufer=1bdp..2bdp"], &["bufer", "there is no such field"]),
        (&["--uncertain", "path.rate=1..5PB"], &["--uncertain path.rate=1..5PB", "`PB` is not a unit"]),
        (&["--uncertain", "path.queue=codel,codel"], &["`codel` is there twice"]),
        (
            &["--uncertain", "path.loss=0..1%", "--uncertain", "path.loss=0..2%"],
            &["the field is given twice"],
        ),
        (
            &["--uncertain", "path.loss=0..1%", "--neighbours", "0"],
            &["--uncertain says what may be drawn", "0 are wanted"],
        ),
        (
            &["--uncertain", "flow.0.size=1MB..5MB"],
            &["`--uncertain flow.0.size=1MB..5MB`", "no `[[flow]]` table"],
        ),
        (&["--exact", "--neighbours", "3"], &["--exact", "--neighbours"]),
        (&["--neighbours", "many"], &["--neighbours", "many"]),
    ];
    for (more, parts) in cases {
        place.fails(2, &[&words(PATH)[..], more, &["--out", "out"]].concat(), parts);
    }
    // A wrong range is one, whether or not a neighbour is wanted.
    for command in [
        &["compare", "wrong.toml", "--out", "out"][..],
        &["compare", "wrong.toml", "--out", "out", "--exact"],
        &["compare", "wrong.toml", "--out", "out", "--neighbours", "0"],
        &["compare", "wrong.toml", "--out", "out", "--algorithms", "hystart"],
        &["compare", "wrong.toml", "--out", "out", "--sweep", "path.rtt=50ms,60ms"],
        &["run", "wrong.toml"],
    ] {
        let output = place.ramp(command);
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        let told = stderr(&output);
        assert!(told.contains("wrong.toml line 6") && told.contains("it must not be"), "{command:?}: {told}");
    }
    assert!(!place.path("out").exists());
}

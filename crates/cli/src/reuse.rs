//! Results are found again by what decides them: tests over whole commands and over every parameter there is.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use ramp_scenario::{Arm, Scenario, Setting};

use crate::backend::Backend;
use crate::play::{Run, digest};
use crate::rows::Row;
use crate::terminal::Terminal;
use crate::{Cli, Command, compare};

const PATH: &str = "size = '50 kB'\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n";

/// A directory that goes away with the test.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ramp-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Every algorithm as it is and with each parameter at the ends of its range and beside its default, twice: under its
/// own label and under one that all share.
fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for algorithm in ramp::algorithms() {
        let plain = Arm { label: algorithm.id.to_owned(), algorithm, set: Vec::new() };
        rows.push(Row::from(plain.clone()));
        for p in &algorithm.parameters {
            let values = [p.minimum, p.maximum, p.default, p.default.saturating_add(1).min(p.maximum)];
            for value in values {
                let set = vec![(p.name.to_owned(), value)];
                rows.push(Row::from(Arm { label: format!("{} {value}", p.name), set, ..plain.clone() }));
            }
        }
    }
    if let Some(cubic) = crate::kernel::row("cubic") {
        rows.push(Row { label: "cubic".to_owned(), steering: crate::rows::Steering::Kernel(cubic) });
    }
    let same_label = rows.clone().into_iter().map(|row| Row { label: "x".to_owned(), ..row });
    rows.extend(same_label.collect::<Vec<_>>());
    rows
}

/// Paths that differ in one thing each, one of them in a file's contents alone.
fn scenarios(place: &Place) -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    let settings = [
        "",
        "path.rate=11 Mbit/s",
        "path.buffer=2 bdp",
        "path.jitter=1 ms",
        "size=51 kB",
        "profile=era",
        "duration=9 s",
        "algorithm.hystart.low_window=17",
        "algorithm.enhanced.beta=10",
        "sender.initial-window=4",
        "name=other",
    ];
    for setting in settings.map(|text| (!text.is_empty()).then(|| Setting::parse(text).unwrap())) {
        let settings: Vec<Setting> = setting.into_iter().collect();
        scenarios.push(Scenario::parse_with("path.toml", PATH, None, &settings).unwrap());
    }
    for lines in ["1\n2\n3\n", "1\n2\n4\n"] {
        fs::write(place.0.join("link"), lines).unwrap();
        let text = "size = '50 kB'\n[path]\ntrace = 'link'\nrtt = '20 ms'\nrandom-trace-offset = true\n";
        scenarios.push(Scenario::parse("path.toml", text, Some(&place.0)).unwrap());
    }
    scenarios
}

#[test]
fn two_runs_have_one_key_only_if_they_are_the_same() {
    let place = Place::new("keys");
    let rows = rows();
    let mut by_key: BTreeMap<String, String> = BTreeMap::new();
    let mut by_meaning: BTreeMap<String, String> = BTreeMap::new();
    let mut runs = 0;
    for scenario in &scenarios(&place) {
        let digest = digest(scenario);
        for row in &rows {
            let steering = row.steering(scenario);
            for (seed, extra_startup_rounds) in [(1, 0), (2, 0), (1, 1)] {
                let run = Run {
                    scenario,
                    digest: &digest,
                    row,
                    steering: &steering,
                    backend: Backend::Sim,
                    seed,
                    extra_startup_rounds,
                    curves: false,
                };
                let key = serde_json::to_string(&run.key()).unwrap();
                let kernel = match row.steering {
                    crate::rows::Steering::Core(_) => None,
                    crate::rows::Steering::Kernel(row) => Some(crate::kernel::name(row)),
                };
                let meaning = format!("{kernel:?} {seed} {:?}", run.scenario());
                let same = by_key.entry(key.clone()).or_insert_with(|| meaning.clone());
                assert!(*same == meaning, "one key for two runs: {key}");
                let same = by_meaning.entry(meaning).or_insert_with(|| key.clone());
                assert_eq!(*same, key, "two keys for one run");
                runs += 1;
            }
        }
    }
    // Labels alone make no difference, so half of them are found again.
    assert!(by_key.len() * 2 <= runs && by_key.len() > 1000, "{} keys, {runs} runs", by_key.len());
}

/// Pieces that meet often, so that most commands find results of others.
fn command() -> impl Strategy<Value = Vec<String>> {
    let row = (
        select(vec!["", "x=", "y=", "hystart="]),
        select(vec![
            "hystart",
            "hystart:low_window=2",
            "hystart:low_window=16",
            "enhanced:beta=1",
            "enhanced:beta=10",
            "slow_start",
            "best",
            "limited:max_ssthresh=5",
        ]),
    );
    let rows = proptest::collection::vec(row, 1..=3);
    let path = (select(vec!["5mbit", "10mbit"]), select(vec!["10ms", "20ms"]), select(vec!["20kB", "60kB"]));
    let set = select(vec![
        "",
        "algorithm.hystart.low_window=2",
        "algorithm.enhanced.beta=10",
        "profile=era",
        "path.jitter=1ms",
    ]);
    (rows, path, set, 1..=3_u64, 1..=2_u32).prop_map(|(rows, (rate, rtt, size), set, seed, runs)| {
        let mut words = ["ramp", "compare", "--json", "--exact"].map(str::to_owned).to_vec();
        let mut labels = Vec::new();
        let mut texts = Vec::new();
        for (label, row) in rows {
            let name = if label.is_empty() { row.replace(':', " ") } else { label.to_owned() };
            let bare = name.trim_end_matches('=').to_owned();
            if !labels.contains(&bare) {
                labels.push(bare);
                texts.push(format!("{label}{row}"));
            }
        }
        let options = [
            ("--rate", rate.to_owned()),
            ("--rtt", rtt.to_owned()),
            ("--size", size.to_owned()),
            ("--seed", seed.to_string()),
            ("--runs", runs.to_string()),
            ("--algorithms", texts.join(",")),
        ];
        words.extend(options.into_iter().flat_map(|(name, value)| [name.to_owned(), value]));
        if !set.is_empty() {
            words.extend(["--set".to_owned(), set.to_owned()]);
        }
        words
    })
}

fn play(words: &[String], more: &[&str], place: &Path) -> String {
    let place = place.to_str().unwrap().to_owned();
    let more = more.iter().map(|word| (*word).to_owned());
    let words = words.iter().cloned().chain(more).chain(["--out".to_owned(), place]);
    let cli = Cli::try_parse_from(words.clone()).unwrap();
    let Command::Compare(args) = cli.command else { panic!("{:?}", words.collect::<Vec<_>>()) };
    let mut out = Vec::new();
    let terminal = Terminal { width: 120, colour: false };
    compare::compare(&args, terminal, &mut out).unwrap_or_else(|error| panic!("{words:?}: {error}"));
    String::from_utf8(out).unwrap()
}

#[test]
fn kept_results_are_those_that_playing_gives() {
    let place = Place::new("reuse");
    let (kept, fresh) = (place.0.join("kept"), place.0.join("fresh"));
    let config = Config { cases: 1000, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let outcome = runner.run(&command(), |words| {
        prop_assert_eq!(play(&words, &[], &kept), play(&words, &["--no-cache"], &fresh));
        Ok(())
    });
    outcome.unwrap();
}

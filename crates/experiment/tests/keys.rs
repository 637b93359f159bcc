//! A run's key tells it from every other run: over every parameter there is, and scenarios that differ in one thing each.

mod support;

use std::collections::BTreeMap;
use std::fs;

use rampcc_backend::Control;
use rampcc_experiment::{Row, Run, Steering, digest};
use rampcc_scenario::{Arm, Scenario, Setting};
use rampcc_sim::Simulator;
use support::Place;

const PATH: &str = "size = '50 kB'\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n";

static QUICK: Control = Control {
    name: "quick",
    owner: "test",
    backend: "test",
    meaning: "a control that a backend has of its own",
    simulated_by: None,
    like: None,
    definition: "",
};

/// Every algorithm as it is and with each parameter at the ends of its range and next to its default, twice: under its
/// own label and under one that all share.
fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for algorithm in rampcc::algorithms() {
        let plain = Arm::new(algorithm);
        rows.push(Row::from(plain.clone()));
        for p in &algorithm.parameters {
            let values = [p.minimum, p.maximum, p.default, p.default.saturating_add(1).min(p.maximum)];
            for value in values {
                let set = vec![(p.name.to_owned(), value)];
                rows.push(Row::from(Arm { label: format!("{} {value}", p.name), set, ..plain.clone() }));
            }
        }
    }
    rows.push(Row { label: "quick".to_owned(), steering: Steering::Own(&QUICK), brought: false, code: None });
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
            for (seed, extra_startup_rounds) in [(1, 0), (2, 0), (1, 1)] {
                let run = Run { seed, extra_startup_rounds, ..Run::of(scenario, &digest, row, &Simulator) };
                let key = serde_json::to_string(&run.key()).unwrap();
                let own = row.control().map(|control| control.name);
                let meaning = format!("{own:?} {seed} {:?}", run.scenario());
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

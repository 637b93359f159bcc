//! Results are found again by what decides them: a test over whole commands.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::terminal::Terminal;
use crate::{Cli, Command, compare};

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

/// Pieces that meet often, so that most commands find results of others.
fn command() -> impl Strategy<Value = Vec<String>> {
    let row = (
        select(vec!["", "x=", "y=", "z="]),
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
        // A parameter of a row that is not played is refused.
        let of = set.strip_prefix("algorithm.").and_then(|key| key.split('.').next());
        let played = of.is_none_or(|id| texts.iter().any(|text| text.contains(id)));
        if !set.is_empty() && played {
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
    kept_is_fresh("reuse", 200);
}

#[test]
#[ignore = "long: make test-long"]
fn kept_results_are_those_that_playing_gives_at_length() {
    kept_is_fresh("reuse-long", 1000);
}

fn kept_is_fresh(name: &str, cases: u32) {
    let place = Place::new(name);
    let (kept, fresh) = (place.0.join("kept"), place.0.join("fresh"));
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let outcome = runner.run(&command(), |words| {
        prop_assert_eq!(play(&words, &[], &kept), play(&words, &["--no-cache"], &fresh));
        Ok(())
    });
    outcome.unwrap();
}

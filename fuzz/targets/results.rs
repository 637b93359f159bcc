//! A results directory as `ramp report` opens it: a plan and its runs, a sweep's plan, two backends' plan.
//!
//! A line that begins with `>` says what file of the directory the lines below it are: `> plan.json`, `> runs/1.json`.
#![no_main]

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use libfuzzer_sys::{Corpus, fuzz_target};
use rampcc_experiment::{Found, judge_again};
use rampcc_lab::report::TextStyle;

const FILES: usize = 8;

static PLACE: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("ramp-fuzz-results-{}", std::process::id())));

fuzz_target!(|text: &str| -> Corpus {
    let _ = fs::remove_dir_all(&*PLACE);
    let results = PLACE.join("results");
    fs::create_dir_all(results.join("runs")).expect("a directory");
    for file in text.split("> ").skip(1).take(FILES) {
        let (name, body) = file.split_once('\n').unwrap_or((file, ""));
        let inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let path = results.join(name);
        if !inside || name.len() > 100 || fs::create_dir_all(path.parent().expect("below it")).is_err() {
            return Corpus::Reject;
        }
        if fs::write(path, body).is_err() {
            return Corpus::Reject;
        }
    }
    match judge_again(&results, None, &()) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(Found::Comparisons(all)) => {
            for results in all {
                assert!(results.json().is_ok() && !results.csv().is_empty());
                assert!(!results.text(&TextStyle::default()).is_empty() && results.page().is_file());
            }
        }
        Ok(Found::Sweep(swept)) => assert!(!swept.json().is_empty() && swept.points().count() > 0),
    }
    // Nothing is written outside the directory.
    assert_eq!(fs::read_dir(&*PLACE).expect("it is there").count(), 1);
    Corpus::Keep
});

//! Files of a league: paths, weights, arms of an ablation, and names of its own paths.
//!
//! The first byte says what the rest is: `w` weights, `a` arms, `n` a name, else paths.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::{Corpus, fuzz_target};
use rampcc_experiment::{ExperimentError, Row};
use rampcc_league::goals::Arms;
use rampcc_league::{Population, Weights, Which, path};
use rampcc_scenario::Setting;

/// Larger ones only take longer.
const TEXT_MAX: usize = 16 << 10;

static PUBLIC: LazyLock<Population> = LazyLock::new(|| Population::open(&Which::Public).expect("ramp's own"));
static REACH: LazyLock<Row> = LazyLock::new(|| Row::parse("reach", &[]).expect("a row"));

fuzz_target!(|text: &str| -> Corpus {
    if text.len() > TEXT_MAX {
        return Corpus::Reject;
    }
    let mut letters = text.chars();
    let (kind, rest) = (letters.next(), letters.as_str());
    match kind {
        Some('w') => weights(rest),
        Some('a') => arms(rest),
        Some('n') => match path(&format!("league:{rest}"), &[]).expect("a name of the league's") {
            Ok(scenario) => assert_eq!(scenario.name, rest),
            Err(error) => refused(&error),
        },
        _ => paths(text),
    }
    Corpus::Keep
});

fn refused(error: &ExperimentError) {
    let told = error.to_string();
    assert!(error.is_input() && !told.is_empty() && told.len() < 4 * TEXT_MAX, "{told}");
}

fn weights(text: &str) {
    match Weights::parse("fuzz.toml", text, &PUBLIC) {
        Err(error) => refused(&error),
        Ok(weights) => {
            let all: Vec<f64> = PUBLIC.access().iter().map(|access| weights.of(access)).collect();
            assert!(all.iter().all(|weight| weight.is_finite() && *weight >= 0.0), "{all:?}");
            assert!(all.iter().any(|weight| *weight > 0.0), "nothing counts");
        }
    }
}

fn arms(text: &str) {
    match Arms::parse("fuzz.toml", text).and_then(|arms| arms.rows(&REACH)) {
        Err(error) => refused(&error),
        Ok(rows) => assert!(!rows.is_empty() && rows.iter().all(|row| row.label.starts_with("reach "))),
    }
}

fn paths(text: &str) {
    let population = match Population::parse("fuzz.toml", text, None) {
        Err(error) => return refused(&error),
        Ok(population) => population,
    };
    let names: Vec<&str> = population.paths.iter().map(|path| path.name.as_str()).collect();
    assert!(!names.is_empty() && population.paths.iter().all(|path| !path.access.is_empty()));
    assert!(population.access().len() <= names.len());
    let few = population.clone().of_each(1);
    assert_eq!(few.paths.len(), population.access().len(), "one of each access type");
    match population.clone().up_to(10_000) {
        Err(error) => refused(&error),
        Ok(short) => assert_eq!(short.paths.len(), names.len()),
    }
    let setting = Setting::parse("horizon=30 s").expect("a field of every scenario");
    if let Err(error) = population.with(&[setting]) {
        refused(&error);
    }
}

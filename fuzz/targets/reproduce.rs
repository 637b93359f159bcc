//! Files of published experiments, with their formulae: read and planned, or refused with a place. Nothing is played.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use rampcc_reproduce::{Experiment, Extent, ReproduceError, Work};
use rampcc_sim::Simulator;

/// Larger ones only take longer.
const TEXT_MAX: usize = 16 << 10;

fuzz_target!(|text: &str| -> Corpus {
    if text.len() > TEXT_MAX {
        return Corpus::Reject;
    }
    let experiment = match Experiment::read("fuzz.toml", text) {
        Err(error) => {
            if let ReproduceError::File(file) = &error {
                assert!(file.line >= 1 && file.line <= text.lines().count() + 1, "{error}");
            }
            refused(&error);
            return Corpus::Keep;
        }
        Ok(experiment) => experiment,
    };
    match Work::plan([&experiment], Extent { quick: true, backend: &Simulator, variant: None }) {
        Err(error) => refused(&error),
        Ok(work) => assert!(experiment.is_played() || work.runs() == 0),
    }
    Corpus::Keep
});

fn refused(error: &ReproduceError) {
    assert!(error.is_input() && !error.to_string().is_empty(), "{error:?}");
}

//! A command line, its words on a line each: understood or refused, never a panic. Nothing is played.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let words = std::iter::once("ramp").chain(text.lines());
    if let Err(told) = rampcc_cli::understood(words) {
        assert!(!told.trim().is_empty());
    }
});

//! What the speed examples share: arguments, wall time, memory.

#![allow(dead_code, reason = "each example uses its own part")]
#![expect(clippy::disallowed_methods, reason = "these programs measure wall time")]

use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use rampcc_scenario::Scenario;
use rampcc_sim::simulate;
use rampcc_trace::Outcome;

#[path = "../../tests/common/mod.rs"]
pub(crate) mod build;

/// The value of `name=value` on the command line, or `default`.
pub(crate) fn argument<T: FromStr>(name: &str, default: T) -> T {
    let value = std::env::args().find_map(|arg| arg.strip_prefix(name)?.strip_prefix('=').map(str::to_owned));
    match value.map(|value| (value.parse(), value)) {
        None => default,
        Some((Ok(parsed), _)) => parsed,
        Some((Err(_), value)) => {
            eprintln!("{name}: cannot read `{value}`");
            std::process::exit(2);
        }
    }
}

/// Plays `scenario` without an observer; also seconds of wall time.
pub(crate) fn play(scenario: &Scenario) -> (Outcome, f64) {
    let begin = Instant::now();
    match simulate(scenario, scenario.seed, &mut (), &AtomicBool::new(false)) {
        Ok(outcome) => (outcome, begin.elapsed().as_secs_f64()),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}

/// Largest resident set so far, MB; 0 where the system does not tell.
pub(crate) fn peak_memory_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
    kb.unwrap_or(0.0) / 1e3
}

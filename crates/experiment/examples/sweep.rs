//! Plans, plays, sweeps, judges, and judges again: `cargo run -p rampcc-experiment --example sweep -- DIRECTORY`.
#![expect(clippy::print_stdout, reason = "it is a command")]

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use rampcc_backend::Backend;
use rampcc_experiment::{Experiment, ExperimentError, Found, Request, judge_again};
use rampcc_lab::report::TextStyle;
use rampcc_scenario::Scenario;
use rampcc_sim::Simulator;

fn main() -> Result<(), ExperimentError> {
    let directory = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("sweep-results"), PathBuf::from);
    let backends: [&dyn Backend; 1] = [&Simulator];
    let mut request = Request::new(&backends, |settings| Ok(Scenario::open_with("cable", settings)?));
    request.algorithms = vec!["hystart".into(), "best".into()];
    request.sweep = vec!["path.buffer=0.5 bdp,2 bdp".into()];
    request.runs = Some(3);
    request.out = Some(directory.clone());

    let experiment = Experiment::plan(request, &())?;
    let finished = experiment.play(&(), &AtomicBool::new(false))?;
    println!("{} runs, {} of them found again", finished.runs, finished.played.reused);

    // Nothing is played here: what is on disk is judged again.
    if let Found::Sweep(swept) = judge_again(&directory, None, &())? {
        for (values, results) in swept.points() {
            println!("\n{values}\n{}", results.text(&TextStyle { width: 100, colour: false }));
        }
    }
    Ok(())
}

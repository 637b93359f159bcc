//! One run, and what is kept of it.

mod log;

use std::sync::atomic::AtomicBool;

pub(crate) use log::Log;
use rampcc_backend::{Backend, Play};
use rampcc_scenario::{Arm, Scenario};

pub(crate) fn play(backend: &dyn Backend, path: &str, id: &str) -> Log {
    let scenario = Scenario::parse("test", path, None).expect("a scenario");
    let arm = Arm::parse(id).expect("a row");
    let mut log = Log::default();
    let play = Play { scenario: &scenario.with_arm(&arm), control: None, seed: 1 };
    backend.check(play.scenario, None).expect("it can be played");
    backend.run(&play, &mut log, &AtomicBool::new(false)).expect("it runs");
    log
}

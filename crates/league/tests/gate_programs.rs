//! Gates between programs, played by something that is none: the simulator under other names.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};

use rampcc::Time;
use rampcc_backend::{Backend, BackendError, Control, Play, Played, Result};
use rampcc_experiment::{ExperimentError, Progress, Row};
use rampcc_league::gate::{PATHS, Programs, Terms, Verdict};
use rampcc_scenario::{Arm, Scenario};
use rampcc_sim::Simulator;
use rampcc_tcp::ReceiveWindow;
use rampcc_trace::Observer;

const fn control(name: &'static str) -> Control {
    let (meaning, definition) = ("no program", name);
    Control { name, owner: "fake", backend: "fake", meaning, simulated_by: None, like: None, definition }
}

static CONTROLS: [Control; 7] = [
    control("plain"),
    control("same"),
    control("small"),
    control("slow"),
    control("still"),
    control("busy"),
    control("broken"),
];

thread_local! {
    /// Rows that have been played, and the end of their run.
    static PLAYED: RefCell<Vec<(&'static str, Time)>> = const { RefCell::new(Vec::new()) };
}

#[derive(Debug)]
struct Fake;

impl Backend for Fake {
    fn name(&self) -> &'static str {
        "fake"
    }
    fn identity(&self) -> String {
        "fake".to_owned()
    }
    fn controls(&self) -> &'static [Control] {
        &CONTROLS
    }
    fn check(&self, _: &Scenario, _: Option<&Control>) -> Result<(), Vec<String>> {
        Ok(())
    }
    fn run(&self, asked: &Play<'_>, observer: &mut dyn Observer, interrupted: &AtomicBool) -> Result<Played> {
        let steered = match asked.control.map(|control| control.name) {
            Some("still") if asked.scenario.stop.after < LONG => {
                return Err(BackendError::Failed("not one byte crossed the path".to_owned()));
            }
            Some("plain" | "same" | "slow" | "still") => "slow_start",
            Some("small") => "slow_start:initial_window=1",
            Some("busy") => return Err(BackendError::Refused("the machine was busy".to_owned())),
            _ => return Err(BackendError::Failed("it ended with exit status 3".to_owned())),
        };
        let mut scenario = asked.scenario.with_arm(&Arm::parse(steered).unwrap());
        let name = asked.control.map_or("", |control| control.name);
        if ["slow", "still"].contains(&name) {
            scenario.flows[0].receiver.window = ReceiveWindow::Fixed(3000);
        }
        PLAYED.with_borrow_mut(|played| played.push((name, scenario.stop.after)));
        Simulator.run(&Play { scenario: &scenario, control: None, seed: asked.seed }, observer, interrupted)
    }
}

struct Silent;

impl Progress for Silent {}

fn question(new: &str) -> Programs<'static> {
    let backends: [&'static dyn Backend; 1] = [&Fake];
    let row = |name: &str| Row::parse(name, &backends).unwrap();
    Programs { old: row("plain"), new: row(new), terms: Terms::of_programs(), seed: None, backend: &Fake }
}

fn ask(new: &str) -> Result<rampcc_league::gate::Gate, ExperimentError> {
    question(new).ask(&Silent, &|| true, &AtomicBool::new(false))
}

#[test]
fn what_is_worse_is_told_from_what_is_the_same() {
    let same = ask("same").unwrap();
    assert_eq!((same.verdict, same.differs, same.refused), (Verdict::NotWorse, false, 0), "{same:?}");
    assert!(same.pairs < 100 && same.paths.len() == PATHS, "{same:?}");
    let small = ask("small").unwrap();
    assert_eq!(small.verdict, Verdict::Worse, "{small:?}");
    let worst = small.worst.unwrap();
    assert!(worst.ratio > 1.0 && small.paths.contains(&worst.path), "{worst:?}");
    // Another definition of a row draws other paths.
    assert_ne!(same.paths, small.paths);
}

/// No path of a gate takes an old program that is quick longer than so much.
const LONG: Time = Time::from_secs(12);

#[test]
fn what_takes_too_long_is_cut_and_is_worse() {
    let slow = ask("slow").unwrap();
    assert_eq!((slow.verdict, slow.refused), (Verdict::Worse, 0), "{slow:?}");
    assert!(slow.pairs < 20, "{slow:?}");
    let worst = slow.worst.unwrap();
    assert!(worst.old_s.is_some() && worst.ratio > 2.0, "{worst:?}");
    let played = PLAYED.with_borrow_mut(std::mem::take);
    assert_eq!(played.len() as u32, 2 * slow.pairs);
    // The old one has the path's time, and the new one that of the old one twice over, for which it has to come second.
    for pair in played.chunks(2) {
        let [("plain", old), ("slow", new)] = pair else { panic!("{played:?}") };
        assert!(*old > LONG && *new < LONG, "{played:?}");
    }
}

/// Who stands still at first has sent nothing when it is cut: it is no failure, and it is worse.
#[test]
fn what_has_sent_nothing_when_it_is_cut_has_the_whole_time() {
    let still = ask("still").unwrap();
    assert_eq!((still.verdict, still.refused), (Verdict::Worse, 0), "{still:?}");
}

#[test]
fn the_time_may_be_over_before_it_is_sure() {
    let left = Cell::new(3);
    let time_left = || left.replace(left.get() - 1) > 0;
    let gate = question("same").ask(&Silent, &time_left, &AtomicBool::new(false)).unwrap();
    assert_eq!((gate.verdict, gate.pairs), (Verdict::CannotTell, 3));
}

#[test]
fn what_cannot_be_played_is_no_answer() {
    let error = ask("broken").unwrap_err();
    assert!(
        error.is_input() && error.to_string().contains("broken, seed 1 failed: it ended with exit status 3"),
        "{error}"
    );
    let error = ask("busy").unwrap_err();
    assert!(error.to_string().contains("too busy for 10 pairs in a row"), "{error}");
    let interrupted = AtomicBool::new(true);
    let error = question("same").ask(&Silent, &|| true, &interrupted).unwrap_err();
    assert!(
        matches!(error, ExperimentError::Interrupted { .. }) && interrupted.load(Ordering::Relaxed),
        "{error}"
    );
}

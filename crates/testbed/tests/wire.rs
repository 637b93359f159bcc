//! The end of start-up as the path shows it, against the end that the kernel tells of its own flows.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, reason = "docs/guide/programs.md has its table")]

#[path = "../../linux/tests/support/judged.rs"]
mod judged;
#[path = "../../linux/tests/support/ready.rs"]
mod ready;

use std::sync::atomic::AtomicBool;

use judged::{judged, require};
use rampcc::Time;
use rampcc_scenario::Scenario;
use rampcc_testbed::{Options, Row, Task, exit_on_wire, missing_capabilities, play};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, Observer};

const PATHS: [[&str; 3]; 8] = [
    ["20 Mbit/s", "40 ms", "1 bdp"],
    ["50 Mbit/s", "60 ms", "0.5 bdp"],
    ["100 Mbit/s", "30 ms", "0.1 bdp"],
    ["100 Mbit/s", "30 ms", "2 bdp"],
    ["10 Mbit/s", "100 ms", "4 bdp"],
    ["30 Mbit/s", "200 ms", "0.3 bdp"],
    ["200 Mbit/s", "20 ms", "1 bdp"],
    ["5 Mbit/s", "30 ms", "8 bdp"],
];

/// What the kernel tells of the end of start-up, and the round trip then.
#[derive(Default)]
struct Told {
    exit: Option<Time>,
    rtt: Time,
}

impl Observer for Told {
    fn on_flow(&mut self, sample: &FlowSample) {
        if self.exit.is_none() && sample.smoothed_rtt != Time::ZERO {
            self.rtt = sample.smoothed_rtt;
        }
    }
    fn on_event(&mut self, event: &FlowEvent) {
        if matches!(event.kind, FlowEventKind::StartupExit { .. }) {
            self.exit.get_or_insert(event.now);
        }
    }
}

/// Rounds by which the wire is late; `None`: only one of the two knows of an end.
fn error(path: [&str; 3], row: Row) -> Option<f64> {
    let [rate, rtt, buffer] = path;
    let text = format!("size = '4 MB'\n[path]\nrate = '{rate}'\nrtt = '{rtt}'\nbuffer = '{buffer}'\n");
    let scenario = Scenario::parse("test", &text, None).expect("the text is a scenario");
    let mut options = Options { keep_refused: true, ..Options::default() };
    options.emulator.record_packets = true;
    let mut told = Told::default();
    let task = Task { options, ..Task::new(&scenario, row, 1) };
    let played = play(&task, &mut told, &AtomicBool::new(false)).expect("it is played");
    let seen = exit_on_wire(&played.report, &scenario);
    let rounds =
        told.exit.zip(seen).map(|(exit, (at, _))| (at.secs_f64() - exit.secs_f64()) / told.rtt.secs_f64());
    let ms =
        |time: Option<Time>| time.map_or("-".to_owned(), |time| format!("{:.0} ms", time.secs_f64() * 1e3));
    println!(
        "| {rate}, {rtt}, {buffer} | {} | {} | {} {} | {} |",
        row.name(),
        ms(told.exit),
        ms(seen.map(|seen| seen.0)),
        seen.map_or("", |seen| seen.1.word()),
        rounds.map_or("-".to_owned(), |rounds| format!("{rounds:+.2}"))
    );
    rounds
}

#[test]
fn the_path_knows_the_end_of_start_up_within_a_round() {
    let missing = missing_capabilities();
    let obstacle = (!missing.is_empty()).then(|| format!("needs {}", missing.join(" and ")));
    let Some(()) = ready::unobstructed(obstacle.or_else(ready::no_tun).as_deref()) else { return };
    judged(|| {
        let rows = || [Row::Cubic, Row::Reno].into_iter().filter(|row| row.offered());
        let errors: Vec<Option<f64>> =
            PATHS.into_iter().flat_map(|path| rows().map(move |row| error(path, row))).collect();
        let within = errors.iter().flatten().filter(|rounds| rounds.abs() <= 1.0).count();
        println!("{within} of {} within one round", errors.len());
        require(within * 10 >= errors.len() * 9, || format!("{within} of {} are: {errors:?}", errors.len()))
    });
}

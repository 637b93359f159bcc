//! A sample of paths on two backends, of which the second one is a simulator with set errors.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rampcc_backend::{Backend, BackendError, Clock, Control, Play, Played, Result};
use rampcc_experiment::{ExperimentError, Progress, Row};
use rampcc_lab::LeftOut;
use rampcc_league::Population;
use rampcc_league::sides::{Agreement, Sides, SidesRequest, judge, page, text};
use rampcc_scenario::{Arm, Scenario};
use rampcc_sim::Simulator;
use rampcc_trace::Observer;

use place::Place;

#[path = "../../experiment/tests/support/place.rs"]
mod place;

const PATHS: &str = "\
[near-1]
access = \"near\"
size = \"1 MB\"
path.rate = \"20 Mbit/s\"
path.rtt = \"20 ms\"

[near-2]
access = \"near\"
size = \"1 MB\"
path.rate = \"30 Mbit/s\"
path.rtt = \"40 ms\"

[slow]
access = \"near\"
size = \"1 MB\"
path.rate = \"0.1 Mbit/s\"
path.rtt = \"40 ms\"

[far-1]
access = \"far\"
duration = \"60 s\"
stop = \"duration\"
size = \"100 MB\"
path.rate = \"20 Mbit/s\"
path.rtt = \"200 ms\"
path.buffer = \"0.3 bdp\"

[far-2]
access = \"far\"
size = \"1 MB\"
path.rate = \"900 Mbit/s\"
path.rtt = \"200 ms\"
";

/// How a backend errs.
#[derive(Clone, Copy, PartialEq)]
enum Errs {
    Never,
    /// Plays two algorithms under each other's names.
    Swaps,
    /// Refuses the runs of slow start.
    Refuses,
}

struct Other(Errs);

impl Backend for Other {
    fn name(&self) -> &'static str {
        "other"
    }
    fn identity(&self) -> String {
        format!("other {}", self.0 as u8)
    }
    fn clock(&self) -> Clock {
        Clock::Real
    }
    fn check(&self, scenario: &Scenario, _: Option<&Control>) -> Result<(), Vec<String>> {
        if scenario.name == "far-2" { Err(vec!["it is too fast".to_owned()]) } else { Ok(()) }
    }
    fn run(&self, play: &Play<'_>, observer: &mut dyn Observer, interrupted: &AtomicBool) -> Result<Played> {
        let id = play.scenario.steering.algorithm.id;
        let as_played = match (self.0, id) {
            (Errs::Refuses, "slow_start") => return Err(BackendError::Refused("busy".to_owned())),
            (Errs::Swaps, "slow_start") => "suss",
            (Errs::Swaps, "suss") => "slow_start",
            _ => id,
        };
        let scenario = play.scenario.with_arm(&Arm::parse(as_played).unwrap());
        Simulator.run(&Play { scenario: &scenario, ..*play }, observer, interrupted)
    }
}

fn sample(backend: &Other, count: usize) -> Result<Population, ExperimentError> {
    Population::parse("mine.toml", PATHS, None).unwrap().sample(backend, count, 2_000_000)
}

fn request<'a>(place: &Place, other: &'a Other) -> SidesRequest<'a> {
    SidesRequest {
        population: sample(other, 40).unwrap(),
        rows: ["slow_start", "suss", "ideal"].map(|name| Row::parse(name, &[]).unwrap()).to_vec(),
        left_out: Vec::new(),
        sizes: vec![100_000, 1_000_000],
        seeds: 1,
        backends: [&Simulator, other],
        out: place.0.clone(),
        reuse: true,
    }
}

fn play(request: &SidesRequest<'_>) -> (Sides, Agreement) {
    let sides = request.play(&(), &AtomicBool::new(false)).unwrap();
    let agreement = judge(&sides);
    (sides, agreement)
}

#[test]
fn a_sample_takes_turns_over_access_types_and_leaves_out_what_cannot_be_carried_or_takes_long() {
    let all = sample(&Other(Errs::Never), 40).unwrap();
    let names: Vec<&str> = all.paths.iter().map(|path| path.name.as_str()).collect();
    assert_eq!(names, ["far-1", "near-1", "near-2"]);
    let far = &all.paths[0].scenario;
    assert!(far.stop.when_complete, "a run ends with its download");
    // 2 MB at 20 Mbit/s take 1.2 s.
    assert!(far.stop.after.secs_f64() < 16.0, "{:?}", far.stop);
    assert_eq!(far.flows[0].source.size_bytes(), 2_000_000);
    let two = sample(&Other(Errs::Never), 2).unwrap();
    assert_eq!(two.paths.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["far-1", "near-1"]);

    let none =
        "[far-2]\naccess = \"far\"\nsize = \"1 MB\"\npath.rate = \"900 Mbit/s\"\npath.rtt = \"200 ms\"\n";
    let none = Population::parse("none.toml", none, None).unwrap();
    let error = none.sample(&Other(Errs::Never), 40, 1_000_000).unwrap_err();
    assert!(error.is_input() && error.to_string().contains("far-2: it is too fast"), "{error}");
}

#[test]
fn backends_that_are_alike_agree_and_what_is_finished_is_found_again() {
    let place = Place::new("sides-alike");
    let other = Other(Errs::Never);
    let request = request(&place, &other);
    let (first, agreement) = play(&request);
    assert_eq!((first.runs, first.found), (3 * 3 * 2, 0));
    assert_eq!(agreement.ranks, Some([1.0, 1.0]));
    assert!(agreement.ratio.cases == 9 && (agreement.ratio.mean - 1.0).abs() < 1e-12, "{agreement:?}");
    assert!(agreement.apart.is_empty() && agreement.order.turned <= 0.0 && agreement.order.same > 0.0);
    assert!(agreement.rows.last().unwrap().yardstick && agreement.rows.last().unwrap().ranks.is_none());
    let (again, _) = play(&request);
    assert_eq!((again.runs, again.found), (18, 18));
    assert_eq!(text::csv(&again), text::csv(&first));
    assert_eq!(text::csv(&first).lines().count(), 1 + 3 * 3 * 2, "a line for each path, row and size");
    let mut radio = first;
    radio.paths[0].access = "near, by radio".to_owned();
    assert!(text::csv(&radio).contains(",\"near, by radio\","), "{}", text::csv(&radio));
}

#[test]
fn where_the_backends_differ_is_said() {
    let place = Place::new("sides-swapped");
    let other = Other(Errs::Swaps);
    let left_out = vec![LeftOut { rows: vec!["best".to_owned()], why: "it paces".to_owned() }];
    let (_, agreement) = play(&SidesRequest { left_out, ..request(&place, &other) });
    assert_eq!(agreement.ranks, Some([-1.0, -1.0]), "two rows change places");
    assert!(agreement.order.turned > 0.0 && agreement.order.same <= 0.0, "{:?}", agreement.order);
    let (faster, slower, cases) = &agreement.order.most[0];
    assert_eq!((faster.as_str(), slower.as_str()), ("slow_start", "suss"));
    let lines = text::differences(&agreement, 9).join("\n");
    assert!(lines.contains("slow_start is faster than suss on other, and slower on sim"), "{lines}");
    assert!(*cases >= 1 && lines.contains("on far-1 (left start-up: "), "{lines}");
    let html = page(&agreement, "1.0", "ramp league --on other");
    for told in [
        "Spearman -1.00",
        "slow_start is faster than suss on other",
        "far-1",
        "<circle",
        "best is missing here: it paces.",
    ] {
        assert!(html.contains(told), "{told}");
    }
}

#[test]
fn refused_runs_are_named_and_the_others_stand() {
    let place = Place::new("sides-refused");
    let other = Other(Errs::Refuses);
    let (sides, agreement) = play(&request(&place, &other));
    assert_eq!(sides.refused.len(), 3);
    assert!(
        sides.refused[0].to_string().starts_with("slow_start on far-1, seed 1: busy"),
        "{:?}",
        sides.refused
    );
    let row = |label: &str| agreement.rows.iter().find(|row| row.label == label).unwrap();
    assert_eq!((row("slow_start").ratio.cases, row("suss").ratio.cases), (0, 3));
    assert!(row("slow_start").ranks.is_none() && agreement.ranks.is_none(), "one row has no rank");
    assert!(text::verdict(&agreement).contains("no ranks"));
}

/// Raises a flag with the n-th run.
struct After(AtomicUsize, AtomicBool);

impl Progress for After {
    fn on_finish(&self, _: &str) {
        if self.0.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.1.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn an_interruption_loses_nothing_that_is_finished() {
    let place = Place::new("sides-interrupted");
    let other = Other(Errs::Never);
    let request = request(&place, &other);
    let after = After(AtomicUsize::new(12), AtomicBool::new(false));
    let error = request.play(&after, &after.1).unwrap_err();
    let ExperimentError::Interrupted { finished, runs: 18, .. } = error else { panic!("{error}") };
    assert!((12..18).contains(&finished));
    assert_eq!(play(&request).0.found, finished);
}

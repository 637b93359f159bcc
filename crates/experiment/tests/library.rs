//! What a program does with the library: plans, plays on backends of its own, interrupts, sweeps, judges again.

mod support;

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rampcc_backend::Backend;
use rampcc_experiment::{
    Ahead, Experiment, ExperimentError, Found, Progress, Request, Results, Row, Run, digest, judge_again,
};
use rampcc_lab::Comparison;
use rampcc_scenario::Scenario;
use rampcc_sim::Simulator;
use rampcc_trace::{Format, Writer};

use support::{Place, Replay};

/// Short, and different with each seed.
const PATH: &str = "size = '200 kB'\nruns = 2\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\njitter = '1 ms'\n";
const ROWS: [&str; 2] = ["slow_start", "hystart"];

fn request<'a>(backends: &'a [&'a dyn Backend], place: &Place) -> Request<'a> {
    let mut request =
        Request::new(backends, |settings| Ok(Scenario::parse_with("short", PATH, None, settings)?));
    request.algorithms = ROWS.map(str::to_owned).to_vec();
    request.around.paths = Some(0);
    request.out = Some(place.0.join("out"));
    request
}

fn play(request: Request<'_>) -> Result<Found, ExperimentError> {
    Ok(Experiment::plan(request, &())?.play(&(), &AtomicBool::new(false))?.found)
}

fn only(found: Found) -> Results {
    match found {
        Found::Comparisons(mut all) if all.len() == 1 => all.remove(0),
        _ => panic!("one comparison was asked for"),
    }
}

/// Every run of the simulator, written as `ramp run` does.
fn recorded() -> Replay {
    let scenario = Scenario::parse("short", PATH, None).unwrap();
    let mut replay = Replay::default();
    for algorithm in ROWS {
        let row = Row::parse(algorithm, &[]).unwrap();
        for seed in 1..=2 {
            let digest = digest(&scenario);
            let run = Run { seed, ..Run::of(&scenario, &digest, &row, &Simulator) };
            let mut file = Vec::new();
            let mut writer = Writer::new(&mut file, Format::JsonLines, &run.provenance("")).unwrap();
            run.watch("", &mut writer, &AtomicBool::new(false)).unwrap();
            writer.finish().unwrap();
            replay.0.insert((algorithm, seed), file);
        }
    }
    replay
}

fn means(comparison: &Comparison) -> Vec<(String, Option<u64>)> {
    let metric =
        |arm: &rampcc_lab::ArmSummary| arm.metrics.get("download_time").map(|summary| summary.mean.to_bits());
    comparison.arms.iter().map(|arm| (arm.label.clone(), metric(arm))).collect()
}

#[test]
fn a_backend_is_a_crate_and_a_line() {
    let place = Place::new("library_backend");
    let replay = recorded();
    let backends: [&dyn Backend; 2] = [&Simulator, &replay];
    let mut both = request(&backends, &place);
    both.on = backends.to_vec();
    let results = only(play(both).unwrap());
    let [simulated, replayed] = results.comparisons() else { panic!("two sides") };
    assert_eq!(means(simulated), means(replayed));
    assert!(means(simulated).iter().all(|(_, mean)| mean.is_some()));
    assert!(place.0.join("out/replay/runs").is_dir() && place.0.join("out/report.html").is_file());

    let mut other = request(&backends, &place);
    other.on = vec![&replay];
    other.algorithms = vec!["best".to_owned()];
    let error = play(other).err().expect("it is not recorded");
    assert!(error.is_input(), "{error}");
    assert_eq!(error.to_string(), "replay cannot play `short`:\n- nothing of best is recorded");
}

/// Keeps what it gets, and stops after the first result.
#[derive(Default)]
struct Impatient {
    told: Mutex<Vec<String>>,
    stop: AtomicBool,
}

impl Progress for Impatient {
    fn on_backend(&self, ahead: &Ahead<'_>) {
        self.told.lock().unwrap().push(format!("{}: {} runs", ahead.backend.name(), ahead.runs));
    }
    fn on_finish(&self, run: &str) {
        self.told.lock().unwrap().push(run.to_owned());
        self.stop.store(true, Ordering::Relaxed);
    }
}

#[test]
fn what_is_interrupted_goes_on_from_there() {
    let place = Place::new("library_interrupt");
    let backends: [&dyn Backend; 1] = [&Simulator];
    let many = || Request { runs: Some(50), ..request(&backends, &place) };
    let progress = Impatient::default();
    let error = Experiment::plan(many(), &()).unwrap().play(&progress, &progress.stop).err();
    let Some(ExperimentError::Interrupted { finished, runs, place: kept }) = error else {
        panic!("{error:?}");
    };
    assert!(finished >= 1 && finished < runs && runs == 100, "{finished} of {runs}");
    let told = progress.told.into_inner().unwrap();
    assert_eq!((told[0].as_str(), told.len()), ("sim: 100 runs", 1 + finished));
    assert_eq!(fs::read_dir(kept.join("runs")).unwrap().count(), finished);

    let done = Experiment::plan(many(), &()).unwrap().play(&(), &AtomicBool::new(false)).unwrap();
    assert!(done.played.reused >= finished && done.played.finished() == 100);
}

#[test]
fn a_sweep_is_judged_again_from_its_directory() {
    let place = Place::new("library_sweep");
    let backends: [&dyn Backend; 1] = [&Simulator];
    let swept = Request { sweep: vec!["path.buffer=0.5 bdp,2 bdp".to_owned()], ..request(&backends, &place) };
    let Found::Sweep(first) = play(swept).unwrap() else { panic!("it is a sweep") };
    let Found::Sweep(again) = judge_again(&place.0.join("out"), None, &()).unwrap() else {
        panic!("it is a sweep");
    };
    assert_eq!(first.json(), again.json());
    assert_eq!(first.points().count(), 2);
    let labels: Vec<&str> = again.points().map(|(label, _)| label).collect();
    assert_eq!(labels, ["path.buffer=0.5 bdp", "path.buffer=2 bdp"]);
    assert!(again.pages()[0].is_file());
}

#[test]
fn a_plan_that_leads_out_of_its_directory_is_refused_before_anything_is_written() {
    let place = Place::new("library_outside");
    let backends: [&dyn Backend; 1] = [&Simulator];
    let swept = Request { sweep: vec!["path.buffer=0.5 bdp,2 bdp".to_owned()], ..request(&backends, &place) };
    play(swept).unwrap();
    let out = place.0.join("out");
    let path = out.join("sweep-plan.json");
    let mut plan: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let own = |plan: &serde_json::Value, point: usize| {
        out.join(plan["points"][point]["place"].as_str().expect("a directory"))
    };
    let elsewhere = place.0.join("of/others");
    fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
    fs::rename(own(&plan, 1), &elsewhere).unwrap();
    let pages = [own(&plan, 0).join("report.html"), elsewhere.join("report.html")];
    for named in ["../of/others", elsewhere.to_str().unwrap()] {
        plan["points"][1]["place"] = named.into();
        fs::write(&path, plan.to_string()).unwrap();
        for page in &pages {
            let _ = fs::remove_file(page);
        }
        let error = judge_again(&out, None, &()).err().expect("it is refused");
        let said = error.to_string();
        assert!(error.is_input() && said.contains("sweep-plan.json`: `points[1].place`"), "{said}");
        assert!(said.contains(named), "{said}");
        assert!(pages.iter().all(|page| !page.exists()));
    }
}

#[test]
fn what_is_wrong_names_the_field() {
    let place = Place::new("library_wrong");
    let backends: [&dyn Backend; 1] = [&Simulator];
    let replay = Replay::default();
    let wrong: [(&str, Request<'_>); 5] = [
        ("algorithms", Request { algorithms: vec![" ".to_owned()], ..request(&backends, &place) }),
        ("sweep", Request { sweep: vec!["size=1MB,1MB".to_owned()], ..request(&backends, &place) }),
        ("seed", Request { seed: Some(u64::MAX), ..request(&backends, &place) }),
        ("on", Request { on: vec![&replay], ..request(&backends, &place) }),
        ("on", Request { on: Vec::new(), ..request(&backends, &place) }),
    ];
    for (named, request) in wrong {
        match Experiment::plan(request, &()).err() {
            Some(ExperimentError::Request { field, .. }) => assert_eq!(field, named),
            other => panic!("{named}: {other:?}"),
        }
    }
    assert!(!place.0.join("out").exists());
}

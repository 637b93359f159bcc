//! A small league from end to end: played, found again, judged; a candidate; what goes wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rampcc_experiment::{ExperimentError, Progress, Row};
use rampcc_league::{Entrant, League, Population, Request, Standing, Weights, candidate, text};
use rampcc_sim::Simulator;

const PATHS: &str = "\
[short]
access = \"near\"
size = \"1 MB\"
path.rate = \"20 Mbit/s\"
path.rtt = \"20 ms\"

[long]
access = \"far\"
size = \"1 MB\"
path.rate = \"20 Mbit/s\"
path.rtt = \"200 ms\"
path.reverse.jitter = \"5 ms\"

[beside]
access = \"far\"
duration = \"6 s\"
stop = \"duration\"
flow = [{ name = \"download\", size = \"1 MB\", start = \"3 s\" }, { name = \"running\", algorithm = \"hystart\" }]
path.rate = \"10 Mbit/s\"
path.rtt = \"40 ms\"
";

/// A directory that goes away with the test.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("league-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn entrants(names: &[&str]) -> Vec<Entrant> {
    names.iter().map(|name| Row::parse(name, &[]).unwrap().into()).collect()
}

fn request(place: &Place, names: &[&str]) -> Request<'static> {
    Request {
        population: Population::parse("mine.toml", PATHS, None).unwrap(),
        entrants: entrants(names),
        sizes: vec![100_000, 1_000_000],
        seeds: 2,
        backend: &Simulator,
        workers: None,
        out: place.0.clone(),
        reuse: true,
        pairs: false,
    }
}

fn play(request: &Request<'_>) -> League {
    request.play(&(), &AtomicBool::new(false)).unwrap()
}

fn standing(league: &League, label: &str) -> Standing {
    let table = league.judge(&Weights::default());
    table.standings.into_iter().find(|standing| standing.label == label).unwrap()
}

const NAMES: [&str; 3] = ["slow_start", "hystart", "ideal"];

#[test]
fn a_second_call_plays_nothing_and_finds_the_same() {
    let place = Place::new("again");
    let first = play(&request(&place, &NAMES));
    // One run where nothing is random, two elsewhere.
    assert_eq!(first.runs, (12, 0));
    let again = play(&request(&place, &NAMES));
    assert_eq!(again.runs, (12, 12));
    assert_eq!(text::csv(&first), text::csv(&again));
    // A process that died while it wrote left half a line.
    let log = place.0.join("runs.jsonl");
    let whole = fs::read(&log).unwrap();
    fs::write(&log, &whole[..whole.len() - 20]).unwrap();
    let mended = play(&request(&place, &NAMES));
    assert_eq!(mended.runs, (12, 11));
    assert_eq!(text::csv(&first), text::csv(&mended));
    assert_eq!(play(&request(&place, &NAMES)).runs, (12, 12));
    let fresh = play(&Request { reuse: false, ..request(&place, &NAMES) });
    assert_eq!((fresh.runs, text::csv(&first)), ((12, 0), text::csv(&fresh)));
}

#[test]
fn figures_are_those_of_the_runs() {
    let place = Place::new("figures");
    let league = play(&request(&place, &NAMES));
    let ideal = standing(&league, "ideal");
    assert!((ideal.ideal.mean - 1.0).abs() < 1e-12 && ideal.yardstick);
    assert!((ideal.harm.as_ref().unwrap().lost - 1.0).abs() < 1e-9);
    let slow = standing(&league, "slow_start");
    // 1 MB over a clean path of 20 Mbit/s and 200 ms: the pipe is full after five round trips.
    let times = league.times();
    let long =
        times.cases.iter().position(|case| league.paths[case.path].name == "long" && case.size == 1).unwrap();
    let ratio = times.over[league.row("slow_start").unwrap()][long];
    assert!((1.3..3.0).contains(&ratio.ideal), "{ratio:?}");
    assert!(ratio.causal < ratio.ideal && ratio.causal > 1.0 && ratio.rtts > 1.0 && !ratio.cut, "{ratio:?}");
    assert!((slow.slow_start.as_ref().unwrap().mean - 1.0).abs() < 1e-12);
    assert!(slow.best > 0.0 && slow.near_best >= slow.best);
    assert!(slow.clean.as_ref().unwrap().worst_path == "short", "jitter and company are not clean");
    assert!(slow.cost.startup_lost[0] > standing(&league, "ideal").cost.startup_lost[0]);
    // Weights: only the near path counts.
    let file = place.0.join("mix.toml");
    fs::write(&file, "near = 1\n").unwrap();
    let weights = Weights::load(&file, &Population::parse("mine.toml", PATHS, None).unwrap()).unwrap();
    let near = league.judge(&weights);
    let near = near.standings.iter().find(|standing| standing.label == "slow_start").unwrap();
    assert_eq!(near.ideal.worst_path, "short");
    assert!((near.ideal.mean - near.ideal.worst).abs() < 1e-12 && near.harm.is_none());
}

#[test]
fn a_header_of_the_core_is_a_candidate_that_does_the_same() {
    let place = Place::new("candidate");
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ramp/hystart.h");
    let taken = ["hystart".to_owned()];
    let same = candidate(&header.display().to_string(), ("cc", &taken)).unwrap();
    assert_eq!(same.row.label, "hystart (hystart.h)");
    let other = candidate(&format!("{}:low_window=64", header.display()), ("cc", &taken)).unwrap();
    let mut request = request(&place, &NAMES);
    request.entrants.extend([same, other]);
    let league = play(&request);
    let times = league.times();
    let seconds = |row: usize| times.over[row].iter().map(|ratio| ratio.seconds).collect::<Vec<_>>();
    assert_eq!(seconds(1), seconds(3));
    assert_ne!(seconds(1), seconds(4));
    assert!(league.rows[3].candidate && !league.rows[1].candidate);
}

#[test]
fn a_header_that_does_not_compile_says_what_it_has_to_define() {
    let place = Place::new("broken");
    let header = place.0.join("broken.h");
    fs::write(&header, "struct ramp_broken { int x; };\n").unwrap();
    let error = candidate(&header.display().to_string(), ("cc", &[])).unwrap_err();
    let told = format!("{:?}", miette::Report::new(error));
    assert!(told.contains("does not compile") && told.contains("RAMP_BROKEN_PARAMETERS"), "{told}");
    let error = candidate("no-such-file.h", ("cc", &[])).unwrap_err();
    assert!(error.to_string().contains("no-such-file.h"), "{error}");
    fs::write(place.0.join("Bad-Name.h"), "").unwrap();
    let error = candidate(&place.0.join("Bad-Name.h").display().to_string(), ("cc", &[])).unwrap_err();
    assert!(error.is_input() && error.to_string().contains("is not that of an algorithm"), "{error}");
    let error = candidate(&header.display().to_string(), ("no-such-compiler", &[])).unwrap_err();
    assert!(error.to_string().contains("no-such-compiler"), "{error}");
}

/// Raises a flag after so many runs.
struct After(AtomicUsize, AtomicBool);

impl Progress for After {
    fn on_finish(&self, _: &str) {
        if self.0.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.1.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn an_interrupted_league_goes_on_from_there() {
    let place = Place::new("interrupted");
    let after = After(AtomicUsize::new(3), AtomicBool::new(false));
    let error = request(&place, &NAMES).play(&after, &after.1).unwrap_err();
    assert!(matches!(error, ExperimentError::Interrupted { runs: 12, .. }), "{error}");
    let found = play(&request(&place, &NAMES)).runs.1;
    assert!((3..12).contains(&found), "{found}");
}

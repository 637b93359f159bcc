//! A small league from end to end: played, found again, judged; a candidate; what goes wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rampcc_backend::Backend;
use rampcc_experiment::{Experiment, ExperimentError, Found, Progress, Request as Comparison, Row};
use rampcc_league::{
    Apart, Case, League, Outcome, Population, Request, Standing, Weights, Which, candidate, text,
};
use rampcc_scenario::Setting;
use rampcc_sim::Simulator;
use rampcc_tcp::ReceiverConfig;

use apart::apart;
use place::Place;

#[path = "support/apart.rs"]
mod apart;
#[path = "../../experiment/tests/support/place.rs"]
mod place;

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

fn entrants(names: &[&str]) -> Vec<Row> {
    names.iter().map(|name| Row::parse(name, &[]).unwrap()).collect()
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
        crowds: false,
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
    let place = Place::new("league-again");
    let first = play(&request(&place, &NAMES));
    // One run where nothing is random, two elsewhere, and one of the running flow without a download.
    assert_eq!((first.runs, first.found), (13, 0));
    let again = play(&request(&place, &NAMES));
    assert_eq!((again.runs, again.found), (13, 13));
    assert_eq!(text::csv(&first), text::csv(&again));
    // A process that died while it wrote left half a line.
    let log = place.0.join("runs.jsonl");
    let whole = fs::read(&log).unwrap();
    fs::write(&log, &whole[..whole.len() - 20]).unwrap();
    let mended = play(&request(&place, &NAMES));
    assert_eq!((mended.runs, mended.found), (13, 12));
    assert_eq!(text::csv(&first), text::csv(&mended));
    assert_eq!(play(&request(&place, &NAMES)).found, 13);
    let fresh = play(&Request { reuse: false, ..request(&place, &NAMES) });
    assert_eq!((fresh.found, text::csv(&first)), (0, text::csv(&fresh)));
}

/// Says how many runs are played.
#[derive(Default)]
struct Started(AtomicUsize);

impl Progress for Started {
    fn on_start(&self, _: &str) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_comparison_of_one_path_takes_the_leagues_runs() {
    let place = Place::new("league-compared");
    let league = Request { out: place.0.join("league"), ..request(&place, &NAMES) };
    let played = play(&league);
    let path = &league.population.paths[1];
    let backends: [&dyn Backend; 1] = [&Simulator];
    let compare = |out: PathBuf| {
        let mut asked = Comparison::new(&backends, |_| Ok(path.scenario.clone()));
        asked.algorithms = NAMES.map(str::to_owned).to_vec();
        asked.runs = Some(2);
        asked.around.paths = Some(0);
        asked.out = Some(out);
        let started = Started::default();
        let done = Experiment::plan(asked, &()).unwrap().play(&started, &AtomicBool::new(false)).unwrap();
        let Found::Comparisons(found) = done.found else { panic!("nothing is swept") };
        (found[0].comparisons()[0].clone(), done.played.reused, started.0.into_inner())
    };
    // Elsewhere, all of it is played.
    let (fresh, reused, started) = compare(place.0.join("compared"));
    assert_eq!((reused, started), (0, 6));
    // Next to the league, none.
    let (found, reused, started) = compare(place.0.clone());
    assert_eq!((reused, started), (6, 0));
    assert_eq!((&found.arms, &found.pairs), (&fresh.arms, &fresh.pairs));
    let slow = played.row("slow_start").unwrap();
    let seconds: Vec<Option<f64>> =
        played.paths[1].outcomes[slow].iter().map(|run| *run.seconds.last().unwrap()).collect();
    assert_eq!(found.arm("slow_start").unwrap().metric("download_time").unwrap().values, seconds);
}

#[test]
fn figures_are_those_of_the_runs() {
    let place = Place::new("league-figures");
    let league = play(&request(&place, &NAMES));
    let ideal = standing(&league, "ideal");
    assert!((ideal.ideal.mean - 1.0).abs() < 1e-12 && ideal.yardstick);
    let slow = standing(&league, "slow_start");
    // 1 MB over a clean path of 20 Mbit/s and 200 ms: the pipe is full after five round trips.
    let times = league.times();
    let long =
        times.cases.iter().position(|case| league.paths[case.path].name == "long" && case.size == 1).unwrap();
    let ratio = times.over[league.row("slow_start").unwrap()][long];
    assert!((1.3..3.0).contains(&ratio.ideal), "{ratio:?}");
    assert!(ratio.causal >= ratio.ideal && ratio.rtts > 1.0 && !ratio.cut, "{ratio:?}");
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
fn a_running_flow_is_charged_only_what_it_loses_because_of_the_download() {
    let place = Place::new("league-harm");
    let text = PATHS.replace("rtt = \"40 ms\"", "rtt = \"40 ms\"\npath.loss = \"1 %\"");
    let population = Population::parse("mine.toml", &text, None).unwrap();
    let league = play(&Request { population, ..request(&place, &NAMES) });
    let path = league.paths.iter().find(|path| path.name == "beside").unwrap();
    let lost = |runs: &[Outcome]| {
        runs.iter().map(|run| run.others.unwrap().lost_packets).sum::<f64>() / runs.len() as f64
    };
    let (beside, alone) = (lost(&path.outcomes[league.row("slow_start").unwrap()]), lost(&path.alone));
    assert!(alone > 0.0, "the path makes it lose packets anyway");
    let harm = standing(&league, "slow_start").harm.unwrap();
    assert_eq!((harm.paths, harm.lost_path.as_str()), (1, "beside"));
    assert!((harm.lost[0] - (beside - alone) / path.holds_packets.unwrap()).abs() < 1e-9, "{harm:?}");
    assert!(harm.goodput < 1.0, "{harm:?}");
    assert!(league.paths.iter().filter(|other| !other.alone.is_empty()).count() == 1);
}

#[test]
fn what_ends_before_the_yardstick_is_left_out_and_counted() {
    let place = Place::new("league-cut");
    // 100 kB have time, 1 MB has none.
    let text = PATHS.replace(
        "size = \"1 MB\"\npath.rate = \"20 Mbit/s\"\npath.rtt = \"20 ms\"",
        "size = \"1 MB\"\nduration = \"0.2 s\"\npath.rate = \"20 Mbit/s\"\npath.rtt = \"20 ms\"",
    );
    let population = Population::parse("mine.toml", &text, None).unwrap();
    let league = play(&Request { population, ..request(&place, &NAMES) });
    let times = league.times();
    assert_eq!((times.cases.len(), times.left_out.len()), (5, 1));
    let left_out = times.left_out[0];
    assert_eq!((league.paths[left_out.path].name.as_str(), left_out.size), ("short", 1));
    let table = league.judge(&Weights::default());
    assert_eq!(table.left_out, 1);
    assert!(text::legend(&table).contains("1 path and size is left out"));
    assert!(table.standings.iter().all(|standing| standing.ideal.worst_path != "short"));
}

#[test]
fn a_path_left_out_leaves_its_weight_to_those_of_its_access_type() {
    let place = Place::new("league-weight");
    let text = PATHS
        .replace("[short]\naccess = \"near\"", "[short]\naccess = \"far\"\nduration = \"0.2 s\"")
        .replace("[long]\naccess = \"far\"", "[long]\naccess = \"near, by radio\"");
    let population = Population::parse("mine.toml", &text, None).unwrap();
    let league = play(&Request { population, ..request(&place, &NAMES) });
    let times = league.times();
    let row = league.row("slow_start").unwrap();
    let over = |name: &str| {
        let of_path = |case: &Case| league.paths[case.path].name == name && case.size == 1;
        times.over[row][times.cases.iter().position(of_path).unwrap()].ideal
    };
    let mean = (over("long") * over("beside")).sqrt();
    assert!((standing(&league, "slow_start").ideal.mean - mean).abs() < 1e-9, "{mean}");
    assert!(text::csv(&league).contains("\nlong,\"near, by radio\",100000,slow_start,"));
}

#[test]
fn a_path_whose_downloads_are_all_small_counts_by_those() {
    let place = Place::new("league-small");
    let text = PATHS.replacen("size = \"1 MB\"", "size = \"100 kB\"", 1);
    let population = || Population::parse("mine.toml", &text, None).unwrap();
    let league = play(&Request { population: population(), ..request(&place, &NAMES) });
    let table = league.judge(&Weights::default());
    assert_eq!((table.pooled.as_slice(), table.weights.len()), ([100_000, 1_000_000].as_slice(), 2));
    assert!(text::legend(&table).contains("Paths without a download of 1 MB count by their smaller ones."));
    let times = league.times();
    let row = league.row("slow_start").unwrap();
    let over = |name: &str, size: usize| {
        let of_path = |case: &Case| league.paths[case.path].name == name && case.size == size;
        times.over[row][times.cases.iter().position(of_path).unwrap()].ideal
    };
    let mean = (over("short", 0) * (over("long", 1) * over("beside", 1)).sqrt()).sqrt();
    assert!((standing(&league, "slow_start").ideal.mean - mean).abs() < 1e-9, "{mean}");

    // Other weights have files of their own.
    let weights = Weights::parse("mix.toml", "near = 3\nfar = 1\n", &population()).unwrap();
    let files =
        [&table, &league.judge(&weights)].map(|table| league.write(&place.0, table, "ramp").unwrap().report);
    assert_ne!(files[0], files[1]);
}

#[test]
fn what_ideal_never_ends_is_an_error() {
    let place = Place::new("league-nothing");
    let text = "[short]\naccess = \"near\"\nsize = \"1 MB\"\nduration = \"50 ms\"\npath.rate = \"20 Mbit/s\"\npath.rtt = \"80 ms\"\n";
    let population = Population::parse("mine.toml", text, None).unwrap();
    let asked = Request { population, ..request(&place, &NAMES) };
    let error = asked.play(&(), &AtomicBool::new(false)).expect_err("nothing is compared").to_string();
    assert!(error.contains("`ideal` ends no download on the 1 path"), "{error}");
}

/// Clean paths whose pipes hold from one packet to 3400.
const CLEAN: &str = "\
[tiny]
access = \"a\"
size = \"1 MB\"
path.rate = \"1 Mbit/s\"
path.rtt = \"12 ms\"
path.buffer = \"4 bdp\"

[middle]
access = \"a\"
size = \"1 MB\"
path.rate = \"20 Mbit/s\"
path.rtt = \"30 ms\"

[large]
access = \"b\"
size = \"10 MB\"
path.rate = \"400 Mbit/s\"
path.rtt = \"100 ms\"
path.buffer = \"0.1 bdp\"

[window]
access = \"b\"
size = \"1 MB\"
path.rate = \"20 Mbit/s\"
path.rtt = \"30 ms\"
receiver.window = \"32 KiB\"
";

#[test]
fn nobody_beats_the_bound() {
    let place = Place::new("league-bound");
    let names = ["slow_start", "hystart", "jump", "quicly", "spread", "swiftstart", "rapid", "ideal"];
    let sizes = vec![100_000, 1_000_000, 10_000_000];
    let population = Population::parse("mine.toml", CLEAN, None).unwrap();
    let league = play(&Request { population, sizes, ..request(&place, &names) });
    let times = league.times();
    for (row, over) in league.rows.iter().zip(&times.over) {
        for (case, ratio) in times.cases.iter().zip(over) {
            let path = &league.paths[case.path].name;
            assert!(ratio.causal > 0.999, "{} on {path}: {ratio:?}", row.label);
        }
    }
    // And it is no idle one: who knows the path is near.
    let ideal = standing(&league, "ideal");
    assert!(ideal.clean.unwrap().mean < 1.1, "{:?}", ideal.causal);
}

#[test]
fn rows_that_do_the_same_share_a_line_and_every_run_has_one_of_its_own() {
    let place = Place::new("league-same");
    let names = ["slow_start", "hystart", "careful", "ideal"];
    let league = play(&request(&place, &names));
    let careful = standing(&league, "careful");
    assert_eq!(careful.same_as.as_deref(), Some("slow_start"), "it has no history here");
    let table = league.judge(&Weights::default());
    let lines = text::time(&table).rows;
    assert_eq!(lines.len(), 3);
    assert!(text::legend(&table).contains("as much as with slow_start, whose line they share: careful"));
    let first = &table.standings[0];
    assert!(first.over_first.is_none());
    let second = table.standings[1].over_first.unwrap();
    assert!(second.low <= second.ratio && second.ratio <= second.high, "{second:?}");
    assert!((second.ratio - table.standings[1].ideal.mean / first.ideal.mean).abs() < 1e-9);
    let runs = text::runs(&league, "1", "ramp league");
    let lines: Vec<&str> = runs.lines().collect();
    // Three comments, names; four runs of each row, and the running flow's own.
    assert_eq!(lines.len(), 4 + 4 * names.len() + 1);
    assert!(lines.iter().skip(3).all(|line| line.split(',').count() == lines[3].split(',').count()));
    assert!(lines[4].starts_with("short,near,slow_start,1,1000000,"), "{}", lines[4]);
}

#[test]
fn a_header_of_the_core_is_a_candidate_that_does_the_same() {
    let place = Place::new("league-candidate");
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ramp/hystart.h");
    let taken = ["hystart".to_owned()];
    let same = candidate(&header.display().to_string(), &apart(), &taken).unwrap();
    assert_eq!(same.label, "hystart (hystart.h)");
    let other = candidate(&format!("{}:low_window=64", header.display()), &apart(), &taken).unwrap();
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
fn places_are_shared_where_the_population_cannot_tell_and_the_front_needs_others() {
    let place = Place::new("league-among");
    let mut request = request(&place, &["slow_start", "jump", "ideal"]);
    request.seeds = 1;
    let table = play(&request).judge(&Weights::default());
    assert!(table.front().is_empty() && text::among(&table).is_none());
    assert!(table.standings.iter().all(|s| s.places.is_none() == s.yardstick));
    for standing in table.standings.iter().filter_map(|s| Some((s.places?, s.over_first))) {
        let ([first, last], over) = standing;
        assert!(first <= last && last <= 3, "{standing:?}");
        assert_eq!(first == 1, over.is_none_or(|over| over.tied()), "{standing:?}");
    }
    request.crowds = true;
    let league = play(&request);
    let table = league.judge(&Weights::default());
    let of = |label: &str| table.standings.iter().find(|s| s.label == label).unwrap().among.unwrap();
    let own = of("slow_start");
    assert_eq!((own.own, own.others, own.dropped, own.starts_dropped), (1.0, [1.0; 3], 1.0, 1.0));
    assert!(of("ideal").starts_dropped > 1.0, "{:?}", of("ideal"));
    let crowds = league.crowds.as_ref().unwrap();
    assert_eq!(crowds.access, ["20 starts", "web load, half"]);
    // The fastest is always on it; another only where it is gentler.
    let front = table.front();
    assert_eq!(front[0], table.standings[0].label);
    let gentler = front.windows(2).all(|both| of(both[1]).others[1] < of(both[0]).others[1]);
    assert!(gentler && !front.contains(&"ideal"), "{front:?}");
    assert!(rampcc_league::page(&league, &table, "1", "ramp league").contains("plane-chart"));
}

/// Plain slow start that takes back whatever the host reduces.
fn greedy(place: &Place) -> String {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ramp/slow_start.h");
    let honest =
        fs::read_to_string(core).unwrap().replace("slow_start", "greedy").replace("SLOW_START", "GREEDY");
    let told = "ramp_leave_on_event(&s->growth, e, d);";
    assert!(honest.contains(told));
    let taken = "if (d->phase == RAMP_DONE)\n\t\td->cwnd_bytes = d->ssthresh_bytes = 1u << 30;";
    let header = place.0.join("greedy.h");
    fs::write(&header, honest.replace(told, &format!("{taken}\n\t{told}"))).unwrap();
    header.display().to_string()
}

#[test]
fn a_candidate_that_writes_to_its_window_after_start_up_gains_nothing() {
    let place = Place::new("league-greedy");
    let mut request = request(&place, &["slow_start"]);
    let shallow =
        PATHS.replace("path.rate = \"20 Mbit/s\"", "path.rate = \"20 Mbit/s\"\npath.buffer = \"20 packets\"");
    request.population = Population::parse("mine.toml", &shallow, None).unwrap();
    request.entrants.push(candidate(&greedy(&place), &apart(), &["slow_start".to_owned()]).unwrap());
    let league = play(&request);
    let runs = |row: usize| {
        let outcomes = league.paths.iter().flat_map(|path| &path.outcomes[row]);
        outcomes.map(|run| (run.seconds.clone(), run.lost_bytes)).collect::<Vec<_>>()
    };
    assert!(runs(0).iter().any(|run| run.1 > 0.0), "{:?}", runs(0));
    assert_eq!(runs(0), runs(1));
}

#[test]
fn a_header_that_does_not_compile_says_what_it_has_to_define() {
    let place = Place::new("league-broken");
    let header = place.0.join("broken.h");
    fs::write(&header, "struct ramp_broken { int x; };\n").unwrap();
    let error = candidate(&header.display().to_string(), &apart(), &[]).unwrap_err();
    // Not as a report, whose lines break where the path is long.
    let (told, help) = (error.to_string(), miette::Diagnostic::help(&error).expect("help").to_string());
    assert!(told.contains("does not compile") && told.contains("RAMP_BROKEN_PARAMETERS"), "{told}");
    assert!(help.contains("RAMP_BROKEN_PARAMETERS") && help.contains("ramp_broken_on_ack"), "{help}");
    let error = candidate("no-such-file.h", &apart(), &[]).unwrap_err();
    assert!(error.is_input() && error.to_string().contains("no-such-file.h"), "{error}");
    let missing = Path::new("no-such-file.toml");
    let error = Population::open(&Which::File(missing)).unwrap_err();
    assert!(error.is_input() && error.to_string().contains("no-such-file.toml"), "{error}");
    let population = Population::parse("mine.toml", PATHS, None).unwrap();
    let error = Weights::load(missing, &population).unwrap_err();
    assert!(error.is_input() && error.to_string().contains("no-such-file.toml"), "{error}");
    fs::write(place.0.join("Bad-Name.h"), "struct ramp_bad_name;\n").unwrap();
    let error = candidate(&place.0.join("Bad-Name.h").display().to_string(), &apart(), &[]).unwrap_err();
    assert!(error.is_input() && error.to_string().contains("is not that of an algorithm"), "{error}");
    let error = candidate(
        &header.display().to_string(),
        &Apart { compiler: "no-such-compiler".to_owned(), ..apart() },
        &[],
    )
    .unwrap_err();
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
    let place = Place::new("league-interrupted");
    let after = After(AtomicUsize::new(3), AtomicBool::new(false));
    let error = request(&place, &NAMES).play(&after, &after.1).unwrap_err();
    assert!(matches!(error, ExperimentError::Interrupted { runs: 13, .. }), "{error}");
    let found = play(&request(&place, &NAMES)).found;
    assert!((3..13).contains(&found), "{found}");
}

#[test]
fn a_setting_holds_on_every_path_and_is_told() {
    let place = Place::new("settings");
    let mut request = request(&place, &["slow_start", "ideal"]);
    let plain = play(&request);
    let settings = [Setting::parse("receiver.timestamps=off").unwrap()];
    request.population = request.population.with(&settings).unwrap();
    let all = |off: &dyn Fn(&ReceiverConfig) -> bool| {
        request.population.paths.iter().all(|path| path.scenario.flows.iter().all(|flow| off(&flow.receiver)))
    };
    assert!(all(&|receiver| !receiver.stamps()));
    let set = play(&request);
    assert_eq!(
        (set.title.as_str(), set.found),
        ("mine.toml with receiver.timestamps=off", 0),
        "none is found"
    );
    assert!(set.paths.iter().all(|path| path.text.contains("timestamps = \"off\"")), "{:?}", set.paths);
    // No row here reads timestamps.
    let results = |league: &League| {
        let mut paths = league.paths.clone();
        for path in &mut paths {
            path.text.clear();
        }
        format!("{paths:?}")
    };
    assert_eq!(results(&set), results(&plain));
    let names = [plain, set].map(|league| {
        let judged = league.judge(&Weights::default());
        league.write(&place.0, &judged, "ramp league").unwrap().report
    });
    assert_ne!(names[0], names[1]);
    let wrong = [Setting::parse("receiver.timestamps=never").unwrap()];
    let error = request.population.with(&wrong).unwrap_err();
    assert!(
        error.is_input() && format!("{:?}", miette::Report::new(error)).contains("receiver.timestamps=never")
    );
}

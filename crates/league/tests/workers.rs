//! Runs that other processes play: the same results as those of this one, in whatever order they come.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use rampcc_backend::Backend;
use rampcc_experiment::{
    Experiment, ExperimentError, Found, Keep, Received, Request as Comparison, Row, Sent, Task, Tasks,
    Workers,
};
use rampcc_league::{League, Population, Request, candidate, perform, text};
use rampcc_scenario::Scenario;
use rampcc_sim::Simulator;

use apart::apart;
use place::Place;

#[path = "support/apart.rs"]
mod apart;
#[path = "../../experiment/tests/support/place.rs"]
mod place;

/// A path with a measured link, which workers have not got, and one with chance.
const PATHS: &str = "\
[down]
access = \"lte\"
size = \"500 kB\"
path.trace = \"link.down\"
path.rtt = \"40 ms\"

[jitter]
access = \"cable\"
size = \"500 kB\"
path.rate = \"10 Mbit/s\"
path.rtt = \"20 ms\"
path.jitter = \"1 ms\"
";

impl Place {
    /// Twelve packets in twelve milliseconds are the measured link: 12 Mbit/s.
    fn measured(name: &str) -> Self {
        let place = Self::new(&format!("workers-{name}"));
        let trace: Vec<String> = (1..=12).map(|ms: u32| ms.to_string()).collect();
        fs::write(place.0.join("link.down"), trace.join("\n")).unwrap();
        place
    }

    fn population(&self) -> Population {
        Population::parse("mine.toml", PATHS, Some(&self.0)).unwrap()
    }

    /// Every file below a directory.
    fn files(&self, directory: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut ahead = vec![self.0.join(directory)];
        while let Some(place) = ahead.pop() {
            for entry in fs::read_dir(&place).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    ahead.push(path);
                } else {
                    let name = path.strip_prefix(self.0.join(directory)).unwrap().to_path_buf();
                    found.insert(name, fs::read(path).unwrap());
                }
            }
        }
        found
    }
}

/// Workers that answer in the opposite order, in a directory of their own, and are gone after so many answers.
struct Backwards {
    life: usize,
    played: Mutex<usize>,
}

impl Backwards {
    fn new(life: usize) -> Self {
        Self { life, played: Mutex::new(0) }
    }

    fn played(&self) -> usize {
        *self.played.lock().unwrap()
    }
}

impl Workers for Backwards {
    fn play(&self, tasks: &mut Tasks<'_>, keep: &mut Keep<'_>) -> Result<(), ExperimentError> {
        let mut all = tasks.collect::<Result<Vec<_>, _>>()?;
        all.reverse();
        for sent in all {
            if self.played() == self.life {
                return Err(ExperimentError::Run { run: "all".to_owned(), cause: "gone".to_owned() });
            }
            *self.played.lock().unwrap() += 1;
            keep(sent.number, &answer(&sent.path, &sent.task)?)?;
        }
        Ok(())
    }
}

/// As a worker does it, from text alone.
fn answer(path: &str, task: &str) -> Result<String, ExperimentError> {
    let received = Received::read(path)?;
    let task: Task = serde_json::from_str(task)?;
    perform(&task, &received, &Simulator, &apart(), &AtomicBool::new(false))
}

const BACKENDS: [&dyn Backend; 1] = [&Simulator];

fn compare(place: &Place, out: &str, workers: Option<&dyn Workers>) -> Result<String, ExperimentError> {
    let text = "size = '300 kB'\nruns = 6\n[path]\ntrace = 'link.down'\nrtt = '40 ms'\njitter = '1 ms'\n";
    let scenario = |settings: &[_]| Ok(Scenario::parse_with("measured", text, Some(&place.0), settings)?);
    let mut request = Comparison::new(&BACKENDS, scenario);
    request.algorithms = ["slow_start", "hystart:low_window=4"].map(str::to_owned).to_vec();
    request.around.uncertain = vec!["path.rtt=20ms..80ms".to_owned()];
    request.around.paths = Some(3);
    request.out = Some(place.0.join(out));
    request.workers = workers;
    match Experiment::plan(request, &())?.play(&(), &AtomicBool::new(false))?.found {
        Found::Comparisons(results) => results[0].json(),
        Found::Sweep(_) => panic!("nothing is swept"),
    }
}

fn league(place: &Place, out: &str, workers: Option<&dyn Workers>) -> Result<League, ExperimentError> {
    let mut entrants: Vec<Row> =
        ["slow_start", "hystart", "ideal"].map(|row| Row::parse(row, &BACKENDS).unwrap()).into();
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ramp/hystart.h");
    let text = format!("{}:low_window=64", header.display());
    entrants.push(candidate(&text, &apart(), &["hystart".to_owned()])?);
    let request = Request {
        population: place.population(),
        entrants,
        sizes: vec![100_000, 500_000],
        seeds: 2,
        backend: &Simulator,
        workers,
        out: place.0.join(out),
        reuse: true,
        pairs: true,
        crowds: false,
    };
    request.play(&(), &AtomicBool::new(false))
}

#[test]
fn a_comparison_has_the_same_bytes() {
    let place = Place::measured("compare");
    let alone = compare(&place, "alone", None).unwrap();
    let workers = Backwards::new(usize::MAX);
    assert_eq!(compare(&place, "workers", Some(&workers)).unwrap(), alone);
    let (alone, theirs) = (place.files("alone"), place.files("workers"));
    // Runs, those drawn once more, those that leave later, and neighbours; each has a file.
    let runs = alone.keys().filter(|name| name.components().any(|part| part.as_os_str() == "runs")).count();
    assert!(runs > 2 * 6 + 2 * 3, "{runs}");
    assert!(alone.keys().eq(theirs.keys()));
    for (name, bytes) in &alone {
        assert!(theirs[name] == *bytes, "{} differs", name.display());
    }
    assert!(workers.played() >= runs);
}

#[test]
fn a_league_has_the_same_results_and_goes_on_where_its_workers_died() {
    let place = Place::measured("league");
    let alone = league(&place, "alone", None).unwrap();
    let dying = Backwards::new(4);
    let error = league(&place, "workers", Some(&dying)).unwrap_err();
    assert!(error.to_string().contains("gone"), "{error}");
    let workers = Backwards::new(usize::MAX);
    let found = league(&place, "workers", Some(&workers)).unwrap();
    assert_eq!((found.runs, found.found), (alone.runs, 4));
    assert_eq!(workers.played(), alone.runs - 4);
    assert_eq!(text::csv(&found), text::csv(&alone));
    assert_eq!(format!("{:?}", found.together), format!("{:?}", alone.together));
    let sorted = |directory| {
        let files = place.files(directory);
        let lines = |name: &str| {
            let text = String::from_utf8(files[Path::new(name)].clone()).unwrap();
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        lines("runs.jsonl")
    };
    assert_eq!(sorted("alone"), sorted("workers"));
}

/// Looks at the tasks, and plays none.
#[derive(Default)]
struct Looking(Mutex<Vec<Sent>>);

impl Workers for Looking {
    fn play(&self, tasks: &mut Tasks<'_>, _: &mut Keep<'_>) -> Result<(), ExperimentError> {
        let all = tasks.collect::<Result<Vec<_>, _>>()?;
        self.0.lock().unwrap().extend(all);
        Err(ExperimentError::Run { run: "all".to_owned(), cause: "only looked at".to_owned() })
    }
}

#[test]
fn a_task_carries_its_files_and_is_refused_by_another_ramp_and_on_another_path() {
    let place = Place::measured("refused");
    let looking = Looking::default();
    assert!(league(&place, "looked", Some(&looking)).is_err());
    let tasks = looking.0.into_inner().unwrap();
    let (down, jitter) = (&tasks[0], tasks.last().unwrap());
    assert_eq!(tasks.iter().filter(|sent| Arc::ptr_eq(&sent.path, &down.path)).count(), 4, "one parcel");
    fs::remove_file(place.0.join("link.down")).unwrap();
    assert!(answer(&down.path, &down.task).unwrap().contains("\"download_time\":"));
    let refused = |path: &str, task: &str| answer(path, task).unwrap_err().to_string();
    let version = rampcc_experiment::VERSION;
    assert_eq!(
        refused(
            &down.path,
            &down.task.replace(&format!("\"version\":\"{version}\""), "\"version\":\"0.0.1\"")
        ),
        format!(
            "the worker that is to play slow_start, seed 1 cannot: its ramp is `{version}`, and the plan's `0.0.1`"
        )
    );
    assert!(refused(&jitter.path, &down.task).contains("its path is `"));
    assert!(
        refused(&down.path, &down.task.replace("\"algorithm\":\"slow_start\"", "\"algorithm\":\"newer\""))
            .contains("it has no algorithm `newer`")
    );
    // And who plans does not send what has changed since.
    fs::write(place.0.join("link.down"), "1\n2\n").unwrap();
    let before = place.population();
    fs::write(place.0.join("link.down"), "1\n3\n").unwrap();
    let error = before.paths[0].scenario.carry().unwrap_err().to_string();
    assert!(error.contains("link.down") && error.contains("changed"), "{error}");
}

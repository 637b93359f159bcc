//! One algorithm held to the goals of a start-up, and taken apart; what stands on its page.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use rampcc_experiment::{Code, Row};
use rampcc_league::goals::{
    Arms, Bench, Goals, Judged, Marked, Played, Set, Sheet, With, ablation, judged, markdown, sheets,
};
use rampcc_league::{Extent, Population};
use rampcc_sim::Simulator;

use place::Place;

#[path = "../../experiment/tests/support/place.rs"]
mod place;

const PATHS: &str = "\
[clean]
access = \"a\"
size = \"1 MB\"
path.rate = \"20 Mbit/s\"
path.rtt = \"30 ms\"

[noisy]
access = \"a\"
size = \"1 MB\"
path.rate = \"50 Mbit/s\"
path.rtt = \"100 ms\"
path.reverse.jitter = \"5 ms\"
";
/// Of reach's settings, two.
const ARMS: &str =
    "arms = [\n{ set = \"trial=100\", label = \"no trial\" },\n{ set = \"cap=2,far=2\" },\n]\n";

fn rows(names: &[&str]) -> Vec<Row> {
    names.iter().map(|name| Row::parse(name, &[]).unwrap()).collect()
}

fn play(place: &Place, entrants: Vec<Row>) -> Played {
    let bench = Bench {
        entrants,
        backend: &Simulator,
        out: place.0.clone(),
        reuse: true,
        quick: true,
        command: "ramp league".to_owned(),
    };
    let population = Population::parse("mine", PATHS, None).unwrap();
    let extent = Extent::new(population, false, &[100_000, 1_000_000], Some(1)).unwrap();
    let with = With { pairs: false, traffic: true };
    bench.play(vec![extent], with, &(), &AtomicBool::new(false)).unwrap()
}

fn judged_by(value: f64, goal: f64) -> Judged {
    if value <= goal { Judged::Met } else { Judged::Missed }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a table of a page has between its markers, cell by cell.
fn cells(page: &str, name: &str) -> Vec<Vec<String>> {
    let (_, rest) = page.split_once(&format!("\n<!-- {name}: ")).expect("the place");
    let (table, _) = rest.split_once("<!-- end -->").expect("its end");
    let lines = table.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---"));
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    lines.map(cells).collect()
}

/// The same of sheets.
fn sheet_cells(sheets: &[Sheet]) -> Vec<Vec<String>> {
    let text: String = sheets.iter().map(markdown).collect();
    cells(&format!("\n<!-- x: -->\n{text}<!-- end -->\n"), "x")
}

#[test]
fn the_page_of_reach_has_these_tables() {
    let place = Place::new("league-goals");
    let entrants = rows(&["reach", "hystart", "slow_start", "ideal"]);
    let reach = judged(&entrants).unwrap().clone();
    let arms = Arms::parse("mine.toml", ARMS).unwrap();
    let all = entrants.into_iter().chain(arms.rows(&reach).unwrap()).collect();
    let played = play(&place, all);
    let [first, second] = sheets(&played, &reach, &Goals::own().unwrap());
    let value = |sheet: &Sheet, measure: &str, column: usize| {
        let line = sheet.lines.iter().find(|line| line.measure.starts_with(measure)).expect(measure);
        line.cells[column].clone()
    };
    // The same figures as in the league's own table.
    let own = &played.populations[0].standings.iter().find(|row| row.label == "reach").unwrap();
    let mean = value(&first, "download time over `ideal`", 1);
    let numbers: Vec<f64> = mean.text.split([' ', '(', ')']).filter_map(|word| word.parse().ok()).collect();
    let [found, low, high] = numbers[..] else { panic!("{}", mean.text) };
    assert_eq!(format!("{found:.3}"), format!("{:.3}", own.ideal.mean));
    assert!(low < found && found < high, "{}", mean.text);
    let judged = [judged_by(low, 1.12), judged_by(high, 1.12)];
    assert_eq!(mean.judged, if judged[0] == judged[1] { judged[0] } else { Judged::CannotTell });
    assert_eq!(value(&first, "worst", 1).judged, Judged::Free);
    assert_eq!(value(&second, "a running flow's losses", 3).text, "1.00", "beside itself");
    assert_eq!(
        value(&second, "state", 1).text,
        rampcc::algorithm("reach").unwrap().state_bytes().to_string()
    );
    let geo = played.geo.iter().find(|geo| geo.access == "grants with 5 to 50 Mbit/s").unwrap();
    let seconds = geo.of("reach").unwrap().seconds;
    assert!(seconds > geo.of("ideal").unwrap().seconds && seconds < geo.of("slow_start").unwrap().seconds);
    let taken = value(&second, "GEO, grants with 5 to 50", 1);
    let most = 1.1 * geo.of("ideal").unwrap().seconds;
    assert_eq!((taken.text, taken.judged), (format!("{seconds:.1}"), judged_by(seconds, most)));
    // Two columns of the first row's population, four rows of the second.
    assert_eq!((first.head.len(), second.head.len()), (3, 5));

    // The page has the same lines with the same goals, for three populations.
    let page = fs::read_to_string(root().join("docs/algorithms/reach.md")).unwrap();
    let [here, there] = [sheet_cells(&[first, second]), cells(&page, "goals")];
    let named = |cells: &[Vec<String>]| -> Vec<[String; 2]> {
        let words = |cell: &String| cell.split(", on ").next().unwrap_or_default().to_owned();
        cells.iter().map(|line| [words(&line[0]), line[1].clone()]).collect()
    };
    assert_eq!(named(&there), named(&here));
    assert_eq!(there[0].len(), 8, "three populations of two rows");
    assert!(Marked::find(&page, "goals").is_some() && Marked::find(&page, "ablation").is_some());
    // And every setting of the file.
    let lines = |file: &str, page: &str| {
        let count = Arms::load(&root().join(file)).unwrap().rows(&reach).unwrap().len();
        let there = cells(page, "ablation");
        assert_eq!(there.len(), count + 2, "a head, reach as it is, and a line for each setting of {file}");
        there
    };
    let there = lines("league/reach.toml", &page);

    let sheet = ablation(&played, &arms, &reach).unwrap();
    let here = sheet_cells(std::slice::from_ref(&sheet));
    assert_eq!(here[0], there[0]);
    let labels: Vec<&str> = here.iter().map(|line| line[0].as_str()).collect();
    assert_eq!(labels, ["", "as it is", "no trial (`trial` 100)", "`cap` 2, `far` 2"]);
    assert_ne!(here[1][1..], here[3][1..], "a setting makes a difference");
}

#[test]
fn sets_are_whole_or_quick() {
    let count = |set: Set, quick| {
        let extent = set.extent(quick, &[]).unwrap();
        (extent.population.paths.len(), extent.seeds)
    };
    assert_eq!([count(Set::Beside, false), count(Set::Beside, true)], [(54, 1), (4, 1)]);
    assert_eq!([count(Set::Geo, false), count(Set::Geo, true)], [(12, 3), (6, 1)]);
    assert_eq!([count(Set::Hosts, false), count(Set::Hosts, true)], [(45, 3), (21, 1)]);
    assert_eq!([count(Set::Policers, false), count(Set::Policers, true)], [(32, 3), (8, 1)]);
    assert_eq!([count(Set::Crowds, false), count(Set::Crowds, true)], [(23, 3), (5, 1)]);
    for path in Set::Geo.extent(false, &[]).unwrap().population.paths {
        assert_eq!(path.scenario.flows[0].source.size_bytes(), 80_000_000, "{}", path.name);
    }
}

#[test]
fn one_algorithm_is_judged() {
    let error = |names: &[&str]| judged(&rows(names)).unwrap_err();
    assert!(error(&["hystart", "slow_start", "ideal"]).to_string().contains("there is none"));
    let two = error(&["reach", "best", "hystart"]);
    assert!(two.is_input() && two.to_string().contains("`reach` and `best` are two"), "{two}");
    assert_eq!(judged(&rows(&["hystart", "best", "ideal"])).unwrap().label, "best");
    let told = Row {
        code: Some(Code { text: "".into(), digest: String::new(), player: None }),
        ..rows(&["ideal"]).remove(0)
    };
    let error = judged(std::slice::from_ref(&told)).unwrap_err();
    assert!(error.to_string().contains("knows the path in advance"), "{error}");
}

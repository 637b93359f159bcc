//! A small experiment from its file to its page.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use rampcc_backend::{Backend, Clock, Control, Play, Played, Result};
use rampcc_experiment::{ExperimentError, Playing, Progress, Store};
use rampcc_reproduce::{Done, Experiment, Extent, ReproduceError, Tally, Work, tally, write_gallery};
use rampcc_scenario::Scenario;
use rampcc_sim::Simulator;
use rampcc_trace::Observer;

use place::Place;

#[path = "../../experiment/tests/support/place.rs"]
mod place;

const FILE: &str = r#"
id = "sample-fig1"
paper = "past"
figure = "Figure 1"
title = "Loss over buffer"
kind = "run"
inline = '''
size = "300 kB"
[path]
rate = "10 Mbit/s"
rtt = "40 ms"
'''
runs = 2
quick = { runs = 1, at = ["5 packets"] }

[[arm]]
label = "SS"
algorithm = "slow_start"
[[arm]]
label = "told"
algorithm = "ideal"

[[sweep]]
name = "buffer"
field = "path.buffer"
values = ["5 packets", "100 packets"]

[metric.lost]
of = "flow_lost"
[metric.second]
of = "flow_time"
flow = 2
[metric.early]
of = "utilisation"
window = ["0 s", "100 ms"]

[[plot]]
form = "lines"
metric = "lost"
[[plot]]
form = "time"
metric = "cwnd"
at = ["5 packets"]
[[plot]]
form = "cdf"
metric = "flow_time"

[[claim]]
text = "Slow start loses packets in a small buffer."
where = "here"
check = "lost[SS@5 packets] > 0"
[[claim]]
text = "None are lost in a large one."
where = "here"
check = "lost[SS@100 packets] <= 0"
[[claim]]
text = "Who is told begins faster."
where = "here"
check = "early[told] > early[SS]"
at = ["100 packets"]
[[claim]]
text = "Slow start is the faster one."
where = "nowhere"
check = "download_time[SS] < download_time[told]"
[claim.reason]
why = "Nobody has claimed it."
found = ["1.1 <= download_time[SS@5 packets] / download_time[told@5 packets] <= 9"]
[[claim]]
text = "Both are slow."
where = "nowhere"
check = "download_time[SS] > 100"
[claim.reason]
why = "It was found for other times."
found = ["20 <= download_time[SS@5 packets] <= 90"]
[[claim]]
text = "ACKs decide."
where = "nowhere"
check = "download_time[told@100 packets] > 100"
[claim.reason]
why = "They do not."
found = ["0 <= download_time[told@100 packets] <= 9"]
choice = "ACKs"
[claim.linux]
why = "Nor there."
found = ["0 <= download_time[told@100 packets] <= 9"]
[[claim]]
text = "A second flow is fast."
where = "nowhere"
check = "second[SS@100 packets] > 0"
[claim.reason]
why = "There is none."
found = ["-1 <= second[SS@100 packets] <= 1"]
[[claim]]
text = "Loss is as in the table."
where = "nowhere"
check = "lost[told] <= paper"
paper = { "5 packets" = 1000, "100 packets" = 0 }
[claim.reason]
why = "It is."
found = ["0 <= lost[told] <= paper"]

[[choice]]
name = "ACKs"
points = [{ label = "every second", set = ["receiver.acks=delayed"] }]
"#;

fn play(
    place: &Place,
    quick: bool,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Done, ReproduceError> {
    let experiment = Experiment::read("sample.toml", FILE).unwrap();
    play_on(&experiment, Extent { quick, backend: &Simulator, variant: None }, place, progress, stop)
}

fn play_on(
    experiment: &Experiment,
    extent: Extent<'_>,
    place: &Place,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Done, ReproduceError> {
    let work = Work::plan([experiment], extent)?;
    let store = Store::create_compressed(&place.0)?;
    let playing = Playing {
        command: "ramp reproduce sample.toml",
        seconds: Some(&|| 0.0),
        ..Playing::new(&store, extent.backend, progress, stop)
    };
    work.play(&playing)
}

#[test]
fn a_curve_has_its_metrics_scale() {
    let scaled = FILE.replacen("metric = \"cwnd\"", "metric = \"thousandths\"", 1).replacen(
        "[[plot]]",
        "[metric.thousandths]\nof = \"cwnd\"\nscale = 1000\nunit = \"thousandths\"\n[[plot]]",
        1,
    );
    let highest = |text: &str| {
        let place = Place::new("reproduce_scale");
        let experiment = Experiment::read("sample.toml", text).unwrap();
        let extent = Extent { quick: false, backend: &Simulator, variant: None };
        let done = play_on(&experiment, extent, &place, &(), &AtomicBool::new(false)).unwrap();
        let panels = &done.experiments[0].figure.panels;
        let curve = panels.iter().find(|panel| panel.x.label.contains("time")).expect("a curve over time");
        curve.series.iter().flat_map(|series| &series.points).map(|dot| dot.y).fold(0.0, f64::max)
    };
    let [plain, scaled] = [FILE, &scaled].map(highest);
    assert!(plain > 0.0 && (scaled / plain - 1000.0).abs() < 1e-6, "{plain} {scaled}");
}

#[test]
fn a_file_becomes_verdicts_and_pages_and_runs_are_found_again() {
    let place = Place::new("reproduce_play");
    let calm = AtomicBool::new(false);
    let first = play(&place, false, &(), &calm).unwrap();
    // The path leaves nothing to chance: one run of each arm at each point, as described and under the choice.
    assert_eq!((first.fresh, first.reused), (8, 0));
    let claims = &first.experiments[0].claims;
    let holds: Vec<Option<bool>> = claims.iter().map(|claim| claim.holds).collect();
    let (yes, no) = (Some(true), Some(false));
    assert_eq!(holds, [yes, yes, yes, no, no, no, no, yes], "{claims:#?}");
    let explained: Vec<bool> = claims.iter().map(|claim| claim.reason.is_some()).collect();
    assert_eq!(explained, [false, false, false, true, false, false, false, false], "{claims:#?}");
    for (claim, why) in [
        (4, "it was found for 20 <= "),
        (5, "under no value of the choice `ACKs`"),
        (6, "a value is missing"),
    ] {
        let told = claims[claim].reason_fails.as_ref().unwrap();
        assert!(claims[claim].unexplained() && told.contains(why), "{told}");
    }
    assert!(claims[7].measured.starts_with("5 packets: "), "{}", claims[7].measured);
    assert!(!claims[3].unexplained() && claims[3].measured.contains("5 packets"), "{}", claims[3].measured);
    assert_eq!(tally(&first.experiments), Tally { held: 4, checked: 8, ..Tally::default() });

    write_gallery(&place.0, &first.experiments, "ramp reproduce sample.toml").unwrap();
    let page = fs::read_to_string(place.0.join("sample-fig1.html")).unwrap();
    assert!(page.contains("4 of 8 checked claims hold") && page.contains("Nobody has claimed it."));
    assert!(page.contains("id=\"choices\"") && page.contains("every second"));
    assert!(
        page.contains("ramp reproduce &#39;sample.toml&#39;")
            || page.contains("ramp reproduce 'sample.toml'")
    );
    assert_eq!(
        page.matches("class=\"plot-wide\"").count(),
        4,
        "lines, a curve, and a distribution for each point"
    );
    let results = fs::read(place.0.join("results.json")).unwrap();

    let again = play(&place, false, &(), &calm).unwrap();
    assert_eq!((again.fresh, again.reused), (0, 8));
    write_gallery(&place.0, &again.experiments, "ramp reproduce sample.toml").unwrap();
    assert_eq!(fs::read(place.0.join("results.json")).unwrap(), results, "the same bytes");

    // A file that is damaged counts as absent.
    let run = fs::read_dir(place.0.join("runs")).unwrap().next().unwrap().unwrap().path();
    fs::write(&run, "{").unwrap();
    let mended = play(&place, false, &(), &calm).unwrap();
    write_gallery(&place.0, &mended.experiments, "ramp reproduce sample.toml").unwrap();
    assert_eq!(fs::read(place.0.join("results.json")).unwrap(), results);
    assert!(fs::metadata(run).unwrap().len() > 100);
}

#[test]
fn what_is_kept_is_compressed_and_about_as_large_as_told() {
    let place = Place::new("reproduce_size");
    play(&place, false, &(), &AtomicBool::new(false)).unwrap();
    let files: Vec<_> = fs::read_dir(place.0.join("runs")).unwrap().map(Result::unwrap).collect();
    assert!(
        files.len() == 8 && files.iter().all(|file| file.path().extension().unwrap() == "gz"),
        "{files:?}"
    );
    let kept: u64 = files.iter().map(|file| file.metadata().unwrap().len()).sum();

    let experiment = Experiment::read("sample.toml", FILE).unwrap();
    let extent = Extent { quick: false, backend: &Simulator, variant: None };
    let told = Work::plan([&experiment], extent).unwrap().bytes();
    assert!(told / 2 < kept && kept < told * 2, "{told} bytes told, {kept} kept");
}

#[test]
fn only_means_have_an_interval() {
    let text = r#"
id = "sample-fig2"
paper = "past"
figure = "Figure 2"
title = "Times by chance"
kind = "run"
inline = '''
size = "300 kB"
[path]
rate = "10 Mbit/s"
rtt = "40 ms"
loss = "2 %"
'''
runs = 4
[[arm]]
label = "SS"
algorithm = "slow_start"
[metric.time]
of = "download_time"
[metric.least]
of = "download_time"
over = "min"
[[plot]]
form = "bars"
metric = "time"
[[plot]]
form = "bars"
metric = "least"
[[claim]]
text = "The least is less."
where = "here"
check = "least[SS] < time[SS]"
"#;
    let place = Place::new("reproduce_intervals");
    let experiment = Experiment::read("sample.toml", text).unwrap();
    let extent = Extent { quick: false, backend: &Simulator, variant: None };
    let done = play_on(&experiment, extent, &place, &(), &AtomicBool::new(false)).unwrap();
    let panels = &done.experiments[0].figure.panels;
    let intervals: Vec<bool> =
        panels.iter().map(|panel| panel.series[0].points[0].interval.is_some()).collect();
    assert_eq!(intervals, [true, false]);
}

#[test]
fn what_a_quick_run_cannot_show_is_not_checked() {
    let place = Place::new("reproduce_quick");
    let done = play(&place, true, &(), &AtomicBool::new(false)).unwrap();
    assert_eq!(done.fresh, 2);
    let holds: Vec<Option<bool>> = done.experiments[0].claims.iter().map(|claim| claim.holds).collect();
    assert_eq!(holds[0], Some(true));
    assert_eq!(holds[1], None, "its point is not played");
    let figure = &done.experiments[0].figure;
    assert_eq!(
        figure.quick.as_deref(),
        Some(
            "1 of 2 points, one run of each row, none of what the paper leaves open. ramp reproduce sample.toml plays all."
        )
    );
    let reasons: Vec<&str> = figure.claims.iter().filter_map(|claim| claim.reason.as_deref()).collect();
    assert!(reasons.contains(&"Nobody has claimed it."), "nothing is below: {reasons:?}");
    assert!(figure.facts.contains(&("buffer".to_owned(), "5 packets".to_owned())), "{:?}", figure.facts);
}

/// A claim that slow start wins, which does not hold, with a proof.
fn with_proof(check: &str, beside: &str) -> rampcc_reproduce::Judged {
    let base = FILE.split("[[claim]]").next().unwrap();
    let file = format!(
        "{base}[[recorded]]\nlabel = \"ns\"\nby = \"a simulator\"\nvalues = {{ lost = {{ \"5 packets\" = 3 }} }}\n\
         [[claim]]\ntext = \"It wins.\"\nwhere = \"here\"\ncheck = \"download_time[SS] < download_time[told]\"\n\
         [claim.proof]\nwhy = \"It cannot.\"\nchecks = [\"2 < 3\", \"{check}\"]\n{beside}"
    );
    let experiment = Experiment::read("sample.toml", &file).unwrap_or_else(|error| panic!("{error}"));
    let place = Place::new("reproduce_proof");
    let extent = Extent { quick: false, backend: &Simulator, variant: None };
    let mut done = play_on(&experiment, extent, &place, &(), &AtomicBool::new(false)).unwrap();
    write_gallery(&place.0, &done.experiments, "ramp reproduce sample.toml").unwrap();
    let results = fs::read_to_string(place.0.join("results.json")).unwrap();
    let apart = tally(&done.experiments).contradicted;
    assert!(results.contains(&format!("\"contradicted\": {apart},")), "{results}");
    done.experiments.remove(0)
}

#[test]
fn a_claim_that_its_source_contradicts_is_counted_apart() {
    let judged = with_proof("lost[ns@5 packets] < lost[SS@5 packets]", "");
    let claim = &judged.claims[0];
    let found = claim.contradicted.as_ref().unwrap_or_else(|| panic!("{claim:?}"));
    assert_eq!((found.why.as_str(), found.proof.len()), ("It cannot.", 2));
    assert!(claim.holds == Some(false) && !claim.unexplained());
    assert_eq!(tally([&judged]), Tally { contradicted: 1, ..Tally::default() });
    let drawn = &judged.figure.panels[0].series;
    assert!(drawn.iter().any(|series| series.label == "ns" && series.points.len() == 1), "{drawn:?}");
}

#[test]
fn a_proof_that_does_not_hold_makes_the_claim_one_that_fails() {
    let judged = with_proof("lost[ns@5 packets] > 3", "");
    let claim = &judged.claims[0];
    assert!(claim.contradicted.is_none() && claim.unexplained(), "{claim:?}");
    assert!(
        claim.reason_fails.as_ref().unwrap().contains("the proof fails at lost[ns@5 packets] > 3; now 3"),
        "{claim:?}"
    );
    assert_eq!(tally([&judged]), Tally { checked: 1, ..Tally::default() });
    let judged = with_proof(
        "3 < 2",
        "[claim.reason]\nwhy = \"So it is.\"\nfound = [\"1 <= download_time[SS] / download_time[told] <= 9\"]\n",
    );
    assert!(judged.claims[0].reason.is_some() && !judged.claims[0].unexplained());
}

/// Those whose proof needs runs and takes only seconds.
#[test]
fn proofs_that_need_runs_hold() {
    for (id, claim) in [("es-fig8", 4), ("best-tab1", 2)] {
        let experiment = rampcc_reproduce::named(id).unwrap();
        let place = Place::new(&format!("reproduce_{id}"));
        let extent = Extent { quick: true, backend: &Simulator, variant: None };
        let done = play_on(&experiment, extent, &place, &(), &AtomicBool::new(false)).unwrap();
        let claim = &done.experiments[0].claims[claim];
        assert!(claim.contradicted.is_some(), "{id}: {claim:?}");
    }
}

/// Stops after the first result.
#[derive(Default)]
struct Impatient(AtomicBool);

impl Progress for Impatient {
    fn on_finish(&self, _: &str) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn what_is_interrupted_goes_on_from_there() {
    let place = Place::new("reproduce_interrupt");
    let impatient = Impatient::default();
    let error = play(&place, false, &impatient, &impatient.0).unwrap_err();
    let ReproduceError::Experiment(ExperimentError::Interrupted { finished, runs, .. }) = error else {
        panic!("{error:?}");
    };
    assert!(finished >= 1 && finished < runs && runs == 8, "{finished} of {runs}");
    let done = play(&place, false, &(), &AtomicBool::new(false)).unwrap();
    assert_eq!((done.reused, done.fresh), (finished, 8 - finished));
}

/// The simulator, as if its time were the machine's.
struct InRealTime;

impl Backend for InRealTime {
    fn name(&self) -> &'static str {
        "real"
    }
    fn title(&self) -> &'static str {
        "a backend in real time"
    }
    fn meaning(&self) -> &'static str {
        Simulator.meaning()
    }
    fn identity(&self) -> String {
        Simulator.identity()
    }
    fn clock(&self) -> Clock {
        Clock::Real
    }
    fn check(&self, scenario: &Scenario, control: Option<&Control>) -> Result<(), Vec<String>> {
        Simulator.check(scenario, control)
    }
    fn run(&self, play: &Play<'_>, observer: &mut dyn Observer, interrupted: &AtomicBool) -> Result<Played> {
        Simulator.run(play, observer, interrupted)
    }
}

#[test]
fn a_claim_may_fail_for_another_reason_in_the_kernel() {
    let place = Place::new("reproduce_real");
    let experiment = Experiment::read("sample.toml", FILE).unwrap();
    let real = Extent { quick: false, backend: &InRealTime, variant: None };
    let done = play_on(&experiment, real, &place, &(), &AtomicBool::new(false)).unwrap();
    let claims = &done.experiments[0].claims;
    assert_eq!(claims[5].reason.as_deref(), Some("Nor there."), "{:?}", claims[5]);
    assert!(claims[3].reason.is_some(), "the one that is there for both: {:?}", claims[3]);
}

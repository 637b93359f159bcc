//! Backends side by side: which runs are paired, what is said, and that every format holds it.

use fixture::{sample_comparison, sample_context};
use rampcc_lab::report::{TextStyle, html, sides_csv, sides_json, sides_text, text};
use rampcc_lab::{
    Comparison, Emulation, Explanation, Finding, JudgeOptions, RunRecord, SideBySide, SidesWords, Words,
    explain_exit, judge, side_by_side,
};
use rampcc_trace::Provenance;

#[path = "support/fixture.rs"]
mod fixture;

fn run(arm: &str, seed: u64, time_s: f64, emulation: Option<Emulation>) -> RunRecord {
    let provenance = Provenance { arm: arm.to_owned(), seed, ..Provenance::default() };
    let metrics =
        [("download_time".to_owned(), time_s), ("retransmissions".to_owned(), 0.0)].into_iter().collect();
    RunRecord { provenance, metrics, emulation, ..RunRecord::default() }
}

fn judged(backend: &str, runs: &[RunRecord]) -> Comparison {
    let provenance = Provenance {
        scenario: "made-up".to_owned(),
        backend: backend.to_owned(),
        command: "ramp compare --on sim,linux".to_owned(),
        ..Provenance::default()
    };
    judge(runs, &JudgeOptions::new(provenance, sample_context()))
}

fn emulation(marked: bool) -> Emulation {
    Emulation {
        kernel: "Linux 6.12".to_owned(),
        marked: if marked { vec!["one packet was 9 ms late".to_owned()] } else { Vec::new() },
        attempts: 1,
        lateness_p99_us: 40.0,
        lateness_max_us: 300.0,
        tolerated_us: 500.0,
        realtime: true,
        samples: 100,
        sockets: "Sockets: as the path asks".to_owned(),
        ..Emulation::default()
    }
}

/// Comparisons side by side, and what they say.
fn together(names: &[&str], sides: &[Comparison]) -> (SideBySide, SidesWords) {
    let all = side_by_side(names, &sides.iter().collect::<Vec<_>>());
    let words = SidesWords::of(&all, sides);
    (all, words)
}

/// Seeds 1 to 4 on one side, 2 and 3 on the other; `cubic` on the other alone.
fn both() -> (SideBySide, SidesWords) {
    let first = judged("sim", &(1..=4).map(|seed| run("best", seed, seed as f64, None)).collect::<Vec<_>>());
    let second = judged(
        "linux-6.12",
        &[
            run("best", 2, 2.2, Some(emulation(false))),
            run("best", 3, 3.3, Some(emulation(true))),
            run("cubic", 2, 5.0, Some(emulation(false))),
        ],
    );
    together(&["sim", "linux"], &[first, second])
}

#[test]
fn runs_are_paired_by_their_seeds() {
    let (both, _) = both();
    let best = both.rows.iter().find(|row| row.label == "best").unwrap();
    assert_eq!(best.n, [4, 2]);
    let time = best.metric("download_time").unwrap();
    let difference = time.difference(1).unwrap();
    assert_eq!(difference.n, 2);
    assert!((difference.mean - 0.25).abs() < 1e-9 && (difference.ratio.unwrap() - 1.1).abs() < 1e-9);
    assert_eq!(difference.finding, Finding::CannotTell, "two runs are no proof, however alike");
    assert!((time.values[0].as_ref().unwrap().mean - 2.5).abs() < 1e-9);
    let cubic = both.rows.iter().find(|row| row.label == "cubic").unwrap().metric("download_time").unwrap();
    assert!(cubic.values[0].is_none() && cubic.differences == [None]);
    assert_eq!(both.provenance.backend, "sim, linux-6.12");
}

#[test]
fn the_terminal_shows_both_sides_their_difference_and_how_true_the_path_was() {
    let (both, words) = both();
    let shown = sides_text(&both, &words, &TextStyle { width: 140, colour: false });
    let line = shown.lines().find(|line| line.starts_with("best")).unwrap();
    assert!(line.contains("+10.0 % ± 0.0"), "{shown}");
    assert!(
        shown.contains("best: its download time on linux differs by +10.0 % from that on sim."),
        "{shown}"
    );
    assert!(shown.contains("Linux 6.12, in real time: 1 of 3 runs marked"), "{shown}");
    assert!(shown.contains("(best 1); the first because one packet was 9 ms late."), "{shown}");
    assert!(shown.contains("Sockets: as the path asks."), "{shown}");
    for width in [20, 60, 100] {
        let narrow = sides_text(&both, &words, &TextStyle { width, colour: false });
        assert!(narrow.lines().all(|line| line.chars().count() <= width), "{width}:\n{narrow}");
    }
}

/// As a reader of a file has it, who finds words for what explains an exit.
fn without_explanations(mut all: SideBySide) -> SideBySide {
    let runs = all.rows.iter_mut().flat_map(|row| row.representatives.iter_mut().flatten());
    runs.for_each(|run| run.explanation = Explanation::default());
    all
}

#[test]
fn files_hold_both_sides() {
    let (both, words) = both();
    let csv = sides_csv(&both);
    assert!(csv.contains("\nbest,false,download_time,s,sim,linux,4,2,2.5,2.75,2,0.25"), "{csv}");
    assert!(csv.contains("\ncubic,false,download_time,s,sim,linux,0,1,,5,,,"), "{csv}");
    let json = sides_json(&both, &words).unwrap();
    assert_eq!(serde_json::from_str::<SideBySide>(&json).unwrap(), without_explanations(both));
    let written: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(written["verdict"], words.verdict.as_str());
    assert_eq!(written["notes"].as_array().unwrap().len(), words.notes.len());
    assert!(
        words.notes.iter().any(|note| note == "linux: cubic: 1 of 2 runs are there."),
        "{:?}",
        words.notes
    );
}

#[test]
fn the_page_shows_curves_of_both_and_escapes_what_it_is_given() {
    let sample = sample_comparison();
    let (mut both, words) = together(&["sim", "<linux>"], &[sample.clone(), sample.clone()]);
    both.provenance.command = "ramp '<script>'".to_owned();
    let page = html::render_sides(&both, &words, &["sim/report.html", "a\"b/report.html"]);
    assert!(page.starts_with("<!doctype html>"));
    assert!(!page.contains("<linux>") && !page.contains("'<script>'") && !page.contains("a\"b"));
    let curves = page.matches("<polyline").count();
    assert_eq!(curves, 2 * sample.arms.len());
    assert!(page.contains("href=\"sim/report.html\""));
    assert!(
        words.verdict.contains("have the same download time on <linux> as on sim within 5 %"),
        "{}",
        words.verdict
    );
}

/// The simulator, the kernel and QUIC, each with a time for `best`; the kernel and QUIC in real time.
fn three() -> (SideBySide, SidesWords) {
    let side = |backend: &str, time_s: f64, emulated: bool| {
        let emulation = emulated.then(|| emulation(backend == "linux"));
        judged(backend, &[run("best", 1, time_s, emulation.clone()), run("reach", 1, 2.0, emulation)])
    };
    let sides = [side("sim", 2.0, false), side("linux", 2.02, true), side("quic-real", 3.0, true)];
    together(&["sim", "linux", "quic-real"], &sides)
}

#[test]
fn rows_agree_where_the_runs_show_it() {
    let side = |backend: &str, best: f64, reach: f64| {
        let seeds = 1..=4;
        let near =
            |seed: u64| 1.0 + 0.002 * if backend == "sim" { seed as f64 } else { (seed * seed) as f64 / 4.0 };
        // Its runs differ by far more than the margin.
        let wild = |seed: u64| if seed.is_multiple_of(2) { 1.0 } else { reach };
        let emulation = (backend != "sim").then(|| emulation(false));
        let runs: Vec<_> = seeds
            .flat_map(|seed| {
                [("best", best * near(seed)), ("hystart", 2.0 * near(seed)), ("reach", wild(seed))]
                    .map(|(label, time_s)| run(label, seed, time_s, emulation.clone()))
            })
            .collect();
        judged(backend, &runs)
    };
    let sides = [side("sim", 2.0, 1.0), side("linux", 3.0, 2.0)];
    let (_, words) = together(&["sim", "linux"], &sides);
    assert_eq!(
        words.verdict,
        "Of 3 rows that both played, 1 has the same download time on linux as on sim within 5 %, 1 differs by more and \
         the runs do not tell for 1; the largest difference is +49.8 % (best)."
    );
}

#[test]
fn each_side_after_the_first_is_held_against_the_first() {
    let (all, words) = three();
    let time = all.rows.iter().find(|row| row.label == "best").unwrap().metric("download_time").unwrap();
    let ratio = |side| time.difference(side).and_then(|difference| difference.ratio).unwrap();
    assert!((ratio(1) - 1.01).abs() < 1e-9 && (ratio(2) - 1.5).abs() < 1e-9);
    assert!(time.difference(0).is_none() && time.difference(3).is_none());
    assert_eq!(all.emulations.keys().collect::<Vec<_>>(), ["linux", "quic-real"]);
    assert!(
        words.verdict.contains("the runs do not tell for 2"),
        "one run of each tells nothing: {}",
        words.verdict
    );

    let shown = sides_text(&all, &words, &TextStyle { width: 160, colour: false });
    let line = shown.lines().find(|line| line.starts_with("best")).unwrap();
    assert!(line.contains("+1.0 %") && line.contains("+50.0 %"), "{shown}");
    assert!(shown.contains("made-up, sim, linux and quic-real:"), "{shown}");
    assert!(
        shown.contains("linux: Linux 6.12, in real time: 2 runs marked")
            || shown.contains("linux: Linux 6.12, in real time: 2 of 2 runs marked"),
        "{shown}"
    );
    assert!(shown.contains("quic-real: Linux 6.12, in real time: 2 runs ok"), "{shown}");
    for width in [20, 60, 100] {
        let narrow = sides_text(&all, &words, &TextStyle { width, colour: false });
        assert!(narrow.lines().all(|line| line.chars().count() <= width), "{width}:\n{narrow}");
    }

    let csv = sides_csv(&all);
    assert!(csv.contains("\nbest,false,download_time,s,sim,linux,1,1,2,2.02,1,"), "{csv}");
    assert!(csv.contains("\nbest,false,download_time,s,sim,quic-real,1,1,2,3,1,1,"), "{csv}");
    let again: SideBySide = serde_json::from_str(&sides_json(&all, &words).unwrap()).unwrap();
    assert_eq!(again, without_explanations(all));
}

#[test]
fn a_page_of_three_has_a_column_and_a_curve_for_each() {
    let sample = sample_comparison();
    let (all, words) = together(&["sim", "linux", "quic"], &[sample.clone(), sample.clone(), sample.clone()]);
    let page = html::render_sides(&all, &words, &["sim.html", "linux.html", "quic.html"]);
    assert_eq!(page.matches("<polyline").count(), 3 * sample.arms.len());
    assert!(page.contains("on sim, linux and quic</h1>") && page.contains("href=\"quic.html\""));
    let body = page.split("<tbody>").nth(1).unwrap();
    let row = body.split("</tr>").next().unwrap();
    // Four metrics with two differences each, and a reason for each side.
    assert_eq!(row.matches("<td").count(), 4 * 5 + 3, "{row}");
}

#[test]
fn a_comparison_in_real_time_says_how_it_was_played() {
    let comparison = judged(
        "linux-6.12",
        &[run("best", 1, 2.0, Some(emulation(false))), run("cubic", 1, 3.0, Some(emulation(true)))],
    );
    let shown = text(&comparison, &TextStyle::default());
    assert!(shown.contains("1 of 2 runs marked"), "{shown}");
    assert!(
        Words::of(&comparison).method.iter().any(|sentence| sentence.contains("with the TCP of Linux 6.12"))
    );
    let page = html::render(&comparison);
    assert!(page.contains("How true the path was") && page.contains("Played by"));
    let simulated = sample_comparison();
    assert_eq!(simulated.emulation, None);
    assert!(!html::render(&simulated).contains("How true the path was"));
}

#[test]
fn a_comparison_that_the_kernel_does_not_tell_is_not_made_up() {
    let mut record = fixture::sample_records().into_iter().find(|r| r.exit.is_some()).unwrap();
    let exit = record.exit.as_mut().unwrap();
    (exit.reason, exit.evidence, exit.limit) = (rampcc_lab::ExitReason::Delay, 0, 0);
    let words = explain_exit(&record, &sample_context(), None);
    assert!(words.contains("because its delay test saw the round-trip time rise"), "{words}");
}

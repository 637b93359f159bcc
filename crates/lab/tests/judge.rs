//! From made-up runs to what may be said about them.

use fixture::{sample_comparison, sample_context, sample_options, sample_records};
use proptest::prelude::*;
use rampcc::ExitReason;
use rampcc_lab::report::{TextStyle, text};
use rampcc_lab::{Comparison, Context, Finding, JudgeOptions, RunRecord, Test, Words, judge};
use rampcc_trace::Provenance;

#[path = "support/fixture.rs"]
mod fixture;

/// As text.
fn notes(comparison: &Comparison) -> Vec<String> {
    Words::of(comparison).notes.iter().map(ToString::to_string).collect()
}

fn run(arm: &str, seed: u64, values: &[(&str, f64)]) -> RunRecord {
    RunRecord {
        provenance: Provenance { arm: arm.to_owned(), seed, ..Provenance::default() },
        metrics: values.iter().map(|(id, value)| ((*id).to_owned(), *value)).collect(),
        ..RunRecord::default()
    }
}

fn options() -> JudgeOptions {
    JudgeOptions::new(
        Provenance { scenario: "made-up".to_owned(), ..Provenance::default() },
        sample_context(),
    )
}

/// Download times of each arm, one per seed.
fn judged(arms: &[(&str, &[f64])]) -> Comparison {
    let runs: Vec<RunRecord> = arms
        .iter()
        .flat_map(|(arm, times)| {
            (1..).zip(*times).map(|(seed, time)| run(arm, seed, &[("download_time", *time)]))
        })
        .collect();
    judge(&runs, &options())
}

fn finding(comparison: &Comparison, arm: &str, against: &str) -> Finding {
    comparison.pair("download_time", arm, against).unwrap().finding
}

#[test]
fn the_yardstick_never_wins_and_its_distance_is_named() {
    let comparison =
        judged(&[("best", &[4.0, 4.1, 4.2]), ("ideal", &[3.0, 3.1, 3.2]), ("hystart", &[8.0, 8.2, 8.42])]);
    assert_eq!(comparison.leader.as_deref(), Some("best"));
    assert_eq!(comparison.yardstick.as_deref(), Some("ideal"));
    assert!(
        Words::of(&comparison).verdict.starts_with("best downloads 36 MB in 4.10 s"),
        "{}",
        Words::of(&comparison).verdict
    );
    assert!(
        Words::of(&comparison).verdict.contains("2.00 times as fast as hystart"),
        "{}",
        Words::of(&comparison).verdict
    );
    assert!(
        Words::of(&comparison)
            .verdict
            .ends_with(" ideal, told the rate and BDP in advance, takes 3.10 s, 24 % less."),
        "{}",
        Words::of(&comparison).verdict
    );
}

#[test]
fn a_yardstick_that_the_runs_cannot_tell_apart_is_no_finding() {
    let comparison = judged(&[("best", &[4.0, 4.4, 3.7]), ("ideal", &[4.3, 3.9, 4.2])]);
    assert_eq!(finding(&comparison, "best", "ideal"), Finding::CannotTell);
    let said = Words::of(&comparison);
    assert!(said.verdict.ends_with(" takes 4.13 s, 3 % more, which may be chance."), "{}", said.verdict);
}

/// The leader has the best mean; the test is of logarithms or ranks.
#[test]
fn a_rival_that_is_ahead_run_by_run_is_not_too_few_runs() {
    let paced: Vec<f64> = (0..60).map(|n| if n % 7 == 0 { 3.0 } else { 1.0 + f64::from(n) * 1e-5 }).collect();
    let comparison = judged(&[("paced", &paced), ("hystart", &[1.25; 60])]);
    assert_eq!(comparison.leader.as_deref(), Some("hystart"));
    assert_eq!(finding(&comparison, "paced", "hystart"), Finding::Lower);
    let said = &Words::of(&comparison).verdict;
    assert!(said.contains(", though run by run paced is ahead (p"), "{said}");
    assert!(!said.contains("too few"), "{said}");
}

/// Three runs that came out equal are no proof where there is chance; six are.
#[test]
fn equal_runs_are_as_sure_as_their_signs() {
    let of = |runs: usize| judged(&[("a", &vec![1.0; runs]), ("b", &vec![2.0; runs])]);
    assert_eq!(finding(&of(3), "b", "a"), Finding::CannotTell);
    assert!(
        Words::of(&of(3)).verdict.contains("(about 6 that vary like these would do)"),
        "{}",
        Words::of(&of(3)).verdict
    );
    assert!(text(&of(3), &TextStyle::default()).contains("2.00x, the same in every run"));
    assert_eq!(of(3).pair("download_time", "b", "a").unwrap().test, Test::Sign);
    assert_eq!(finding(&of(6), "b", "a"), Finding::Higher);
    // Too few for a proof, and yet nothing tells these apart.
    let row = |arm: &'static str, peak: f64| {
        (1..4).map(move |seed| run(arm, seed, &[("download_time", seed as f64), ("queue_peak", peak)]))
    };
    let same = judge(&row("a", 1.0).chain(row("b", 2.0)).collect::<Vec<_>>(), &options());
    assert_eq!(finding(&same, "b", "a"), Finding::CannotTell);
    let said = Words::of(&same).verdict;
    assert!(said.contains(", as fast as b (less than 5 % apart)") && !said.contains("too few"), "{said}");
    let shown = text(&same, &TextStyle::default());
    assert!(shown.contains("+0.0 %, the same in every run"), "{shown}");
}

#[test]
fn pairing_finds_what_means_would_hide() {
    // The path's luck moves both by seconds; the arm itself costs a tenth.
    let comparison = judged(&[("a", &[2.0, 9.0, 4.0, 6.0, 3.0]), ("b", &[2.2, 9.9, 4.41, 6.6, 3.31])]);
    assert_eq!(finding(&comparison, "b", "a"), Finding::Higher);
    let pair = comparison.pair("download_time", "b", "a").unwrap();
    assert!((pair.ratio.unwrap() - 1.1).abs() < 0.005);
}

#[test]
fn no_difference_is_said_only_when_it_was_shown() {
    let close = judged(&[("a", &[4.0, 4.1, 4.2, 4.3, 4.1]), ("b", &[4.02, 4.13, 4.19, 4.33, 4.12])]);
    assert_eq!(finding(&close, "b", "a"), Finding::Equivalent);
    assert!(
        Words::of(&close).verdict.contains(", as fast as b (less than 5 % apart)"),
        "{}",
        Words::of(&close).verdict
    );

    let noisy = judged(&[("a", &[2.0, 9.0, 4.0, 6.0]), ("b", &[8.0, 3.0, 7.0, 5.0])]);
    assert_eq!(finding(&noisy, "b", "a"), Finding::CannotTell);
    assert!(
        Words::of(&noisy).verdict.contains("but 4 runs are too few to rank it against b (about "),
        "{}",
        Words::of(&noisy).verdict
    );
    assert!(!Words::of(&noisy).verdict.contains("as fast as"), "{}", Words::of(&noisy).verdict);
}

#[test]
fn one_run_shows_nothing() {
    let comparison = judged(&[("a", &[2.0]), ("b", &[9.0])]);
    assert_eq!(finding(&comparison, "b", "a"), Finding::CannotTell);
    assert!(
        Words::of(&comparison).verdict.contains("but 1 run is too few to rank it against b."),
        "{}",
        Words::of(&comparison).verdict
    );
    assert!(
        notes(&comparison).iter().any(|note| note.starts_with("One run each")),
        "{:?}",
        notes(&comparison)
    );
}

#[test]
fn one_run_decides_where_nothing_is_left_to_chance() {
    let runs = [run("a", 1, &[("download_time", 1.07)]), run("b", 1, &[("download_time", 2.09)])];
    let context = Context { chance: false, ..sample_context() };
    let comparison = judge(&runs, &JudgeOptions { context, ..options() });
    assert_eq!(finding(&comparison, "b", "a"), Finding::Higher);
    assert!(
        notes(&comparison).contains(&"This path has no randomness: one run suffices.".to_owned()),
        "{:?}",
        notes(&comparison)
    );
    let text = text(&comparison, &TextStyle::default());
    assert!(!text.contains('±') && text.contains("+95 %"), "{text}");
}

#[test]
fn finishing_comes_before_speed() {
    let steady = || (1..=2).map(|seed| run("steady", seed, &[("download_time", 5.0), ("unfinished", 0.0)]));
    for (lost, why) in [(0.0, ""), (1.0, ": 1 lost the connection")] {
        let mut runs = vec![run("quick", 1, &[("download_time", 1.0), ("unfinished", 0.0)])];
        runs.push(run("quick", 2, &[("unfinished", 1.0), ("connections_lost", lost)]));
        runs.extend(steady());
        let comparison = judge(&runs, &options());
        assert_eq!(comparison.leader.as_deref(), Some("steady"));
        let note = format!("quick: 1 of 2 runs did not finish within 60 s{why}.");
        assert!(notes(&comparison).contains(&note), "{:?}", notes(&comparison));
    }
}

#[test]
fn what_did_not_finish_is_slower_than_the_limit() {
    // A GEO download: eight of ten runs of one row are not done after two minutes.
    let context = Context { end_s: 120.0, ..sample_context() };
    let judged = |label: &str, done: u64| {
        let mut runs = Vec::new();
        for seed in 1..=10 {
            runs.push(run(
                "best",
                seed,
                &[("download_time", 10.6 + seed as f64 * 0.01), ("unfinished", 0.0)],
            ));
            if seed <= done {
                runs.push(run(label, seed, &[("download_time", 110.0 + seed as f64), ("unfinished", 0.0)]));
            } else {
                let cut_off = run(label, seed, &[("unfinished", 1.0), ("goodput", 5.0)]);
                runs.push(RunRecord { download_at_least_s: Some(120.0), ..cut_off });
            }
        }
        judge(&runs, &JudgeOptions { context: context.clone(), ..options() })
    };
    let some = judged("enhanced", 2);
    let pair = some.pair("download_time", "enhanced", "best").unwrap();
    assert_eq!((pair.finding, pair.n, pair.at_least), (Finding::Higher, 10, true));
    assert!(
        Words::of(&some).verdict.contains("It is at least 11.1 times as fast as enhanced"),
        "{}",
        Words::of(&some).verdict
    );
    assert!(
        notes(&some).contains(&"enhanced: 8 of 10 runs did not finish within 120 s.".to_owned()),
        "{:?}",
        notes(&some)
    );
    let shown = text(&some, &TextStyle::default());
    assert!(shown.contains("≥ 118 s, 2 of 10 done") && shown.contains("≥ 11.1x"), "{shown}");
    // So is what knows the path.
    let known = judged("ideal", 2);
    let said = Words::of(&known).verdict;
    assert!(said.contains(" takes 118 s or more, at least "), "{said}");
    let shown = text(&known, &TextStyle::default());
    assert!(shown.contains("≥ 118 s, 2 of 10 done") && shown.contains("≥ 11.1x"), "{shown}");
    // None at all: the same, and it does not lead.
    let none = judged("enhanced", 0);
    assert_eq!(none.leader.as_deref(), Some("best"));
    assert_eq!(finding(&none, "enhanced", "best"), Finding::Higher);
    assert!(text(&none, &TextStyle::default()).contains("not finished"));
}

#[test]
fn how_many_runs_would_decide_is_said() {
    let slow = [10.1, 9.0, 11.9, 10.3, 9.4, 12.4, 9.1, 11.2, 10.9, 9.9];
    let quick = [9.6, 9.3, 10.8, 10.4, 9.0, 10.9, 9.5, 10.2, 11.0, 9.2];
    let comparison = judged(&[("a", &quick), ("b", &slow)]);
    let pair = comparison.pair("download_time", "b", "a").unwrap();
    assert_eq!(pair.finding, Finding::CannotTell);
    let needed = pair.runs_needed.unwrap();
    assert!((11..60).contains(&needed), "{needed}");
    assert!(
        Words::of(&comparison).headline.contains(&format!(
            "10 runs are too few to rank it against b (about {needed} that vary like these would do)"
        )),
        "{}",
        Words::of(&comparison).headline
    );
    // That many more of the same do decide.
    let repeated =
        |values: &[f64]| -> Vec<f64> { values.iter().copied().cycle().take(2 * needed as usize).collect() };
    let more = judged(&[("a", &repeated(&quick)), ("b", &repeated(&slow))]);
    assert_ne!(finding(&more, "b", "a"), Finding::CannotTell);
}

#[test]
fn a_path_that_lets_nothing_through_has_no_leader() {
    let runs: Vec<_> =
        ["a", "b"].iter().flat_map(|arm| (1..=3).map(|seed| run(arm, seed, &[("goodput", 0.0)]))).collect();
    let comparison = judge(&runs, &options());
    assert_eq!(comparison.leader, None);
    assert_eq!(Words::of(&comparison).verdict, "Nothing got through: no algorithm delivered a byte.");
}

#[test]
fn endless_flows_are_judged_by_goodput_and_more_is_better() {
    let runs: Vec<_> = (1..=4)
        .flat_map(|seed| {
            let luck = seed as f64 / 10.0;
            [run("a", seed, &[("goodput", 20.0 + luck)]), run("b", seed, &[("goodput", 10.0 + luck)])]
        })
        .collect();
    let comparison = judge(&runs, &options());
    assert_eq!((comparison.primary.as_str(), comparison.leader.as_deref()), ("goodput", Some("a")));
    assert_eq!(comparison.pair("goodput", "b", "a").unwrap().finding, Finding::Lower);
    assert!(
        Words::of(&comparison).verdict.contains("gets 1.98 times as much as b"),
        "{}",
        Words::of(&comparison).verdict
    );
}

#[test]
fn two_throughputs_are_called_bimodal() {
    let comparison = judged(&[
        ("hystart", &[2.0, 20.0, 2.1, 20.5, 1.9, 19.0, 2.2, 21.0]),
        ("paced", &[2.0, 2.1, 2.2, 2.0, 2.1, 2.0, 2.1, 2.2]),
    ]);
    let modes = comparison.arm("hystart").unwrap().metric("download_time").unwrap().modes.unwrap();
    assert!((modes.low_share - 0.5).abs() < 1e-12);
    assert!(notes(&comparison).iter().any(|note| note.contains("hystart: download time is bimodal")));
}

#[test]
fn a_tail_is_named_and_its_interval_is_not_trusted() {
    let comparison = judged(&[
        ("hystart", &[1.0, 1.1, 1.2, 1.05, 1.15, 1.08, 1.12, 1.02, 1.18, 3.0]),
        ("paced", &[1.0, 1.1, 1.2, 1.05, 1.15, 1.08, 1.12, 1.02, 1.18, 1.07]),
    ]);
    let notes = notes(&comparison);
    let tails: Vec<_> = notes.iter().filter(|note| note.contains("has a long tail")).collect();
    assert_eq!(tails.len(), 1, "{notes:?}");
    assert!(tails[0].starts_with("hystart: download time has a long tail"), "{}", tails[0]);
    assert!(notes.iter().any(|note| note.ends_with("by the means alone: hystart +18 %.")), "{notes:?}");
}

#[test]
fn what_if_runs_explain_and_do_not_count() {
    let comparison = sample_comparison();
    assert!(comparison.arms.iter().all(|arm| arm.n == 12));
    let hystart = comparison.arm("hystart").unwrap().representative.as_ref().unwrap();
    let said = hystart.explanation.to_string();
    assert!(said.contains("; one round later it would have been"), "{said}");
}

#[test]
fn nothing_is_compared_with_nothing() {
    let empty = judge(&[], &options());
    assert_eq!(Words::of(&empty).verdict, "No run has finished, so there is nothing to compare.");
    let only_ideal = judged(&[("ideal", &[3.0, 3.1])]);
    assert_eq!(Words::of(&only_ideal).verdict, "Only the reference has run, so there is nothing to compare.");
    let alone = judged(&[("best", &[3.0, 3.1, 3.2])]);
    assert!(
        Words::of(&alone).verdict.starts_with("best downloads 36 MB in 3.10 s"),
        "{}",
        Words::of(&alone).verdict
    );
    let unfinished = judge(
        &[run("a", 1, &[("unfinished", 1.0), ("goodput", 1.0)])],
        &JudgeOptions { primary: Some("download_time".to_owned()), ..options() },
    );
    assert_eq!(
        Words::of(&unfinished).verdict,
        "No algorithm finished the transfer before the end of the run."
    );
}

#[test]
fn asked_for_arms_keep_their_order_and_missing_ones_their_row() {
    let runs = [run("b", 1, &[("download_time", 1.0)]), run("a", 1, &[("download_time", 2.0)])];
    let arms = ["c", "b", "a"].map(str::to_owned).to_vec();
    let comparison = judge(&runs, &JudgeOptions { arms, ..options() });
    assert_eq!(comparison.arms.iter().map(|arm| arm.label.as_str()).collect::<Vec<_>>(), ["c", "b", "a"]);
    assert!(notes(&comparison).contains(&"c: 0 of 1 runs are there.".to_owned()), "{:?}", notes(&comparison));
}

#[test]
fn the_order_of_records_does_not_matter() {
    let mut records = sample_records();
    records.reverse();
    assert!(judge(&records, &sample_options()) == sample_comparison());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_runs_are_judged(
        runs in prop::collection::vec((0..4usize, 0..6u64, prop::option::of(0.0..1e3_f64), prop::option::of(-1.0..1e9_f64)), 0..40),
    ) {
        let records: Vec<_> = runs
            .iter()
            .map(|(arm, seed, time, other)| {
                let mut values = Vec::new();
                values.extend(time.map(|time| ("download_time", time)));
                values.extend(other.map(|other| ("lost_packets", other)));
                run(["a", "b", "hystart", "ideal"][*arm], *seed, &values)
            })
            .collect();
        let comparison = judge(&records, &options());
        prop_assert!(Words::of(&comparison).verdict.ends_with('.'));
        prop_assert!(comparison.leader.as_deref() != Some("ideal"));
        for pair in &comparison.pairs {
            prop_assert!(pair.p.is_none_or(|p| (0.0..=1.0).contains(&p)));
            prop_assert!(pair.finding != Finding::Equivalent || pair.p_equivalence.is_some_and(|p| p < 0.05));
        }
        let text = serde_json::to_string(&comparison).unwrap();
        prop_assert!(serde_json::from_str::<Comparison>(&text).is_ok());
    }
}

#[test]
fn a_cause_that_is_rare_explains_nothing() {
    let sentence = |records: &[RunRecord]| Words::of(&judge(records, &sample_options())).verdict;
    let mut records = sample_records();
    let seed =
        judge(&records, &sample_options()).arm("hystart").unwrap().representative.as_ref().unwrap().seed;
    let usual = sentence(&records);
    assert!(usual.contains("in its median run because"), "{usual}");
    for record in &mut records {
        if record.provenance.arm == "hystart" && record.provenance.seed == seed {
            record.exit.as_mut().unwrap().reason = ExitReason::Loss;
        }
    }
    let rare = sentence(&records);
    assert!(rare.contains(", which leaves because of delay in ") && !rare.contains("lost packets"), "{rare}");
}

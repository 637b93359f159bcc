//! What a lead costs others, and whose values a table has.

use fixture::sample_context;
use rampcc_lab::report::{TextStyle, text};
use rampcc_lab::{Comparison, Context, JudgeOptions, RunRecord, Words, Writes, judge};
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

#[test]
fn costs_that_read_alike_decide_nothing() {
    let row = |arm: &'static str, queue: f64| {
        (1..=6).map(move |seed| {
            run(
                arm,
                seed,
                &[("download_time", 8.0 + seed as f64), ("queue_peak", queue), ("lost_packets", 0.0)],
            )
        })
    };
    // Five microseconds of queue; the third fills it.
    let runs = row("a", 61.015).chain(row("b", 61.01)).chain(row("c", 2_000.0));
    let comparison = judge(&runs.collect::<Vec<_>>(), &options());
    assert_eq!((comparison.leader.as_deref(), comparison.gentlest.as_deref()), (Some("a"), Some("a")));
    let facts = Words::of(&comparison).facts;
    assert!(
        facts.iter().any(|said| said.contains("a is among the gentlest: queue peak 61.0 ms")),
        "{facts:?}"
    );
}

#[test]
fn values_of_several_flows_are_said_to_be_means() {
    let of = |context: Context| {
        let runs: Vec<_> = (1..=3)
            .map(|seed| run("best", seed, &[("download_time", 1.0), ("unfinished", 2.0)]))
            .chain((1..=3).map(|seed| {
                run("paced", seed, &[("download_time", 2.0), ("unfinished", 0.0), ("startups_ended", 1.5)])
            }))
            .collect();
        let comparison = judge(&runs, &JudgeOptions { context, ..options() });
        (text(&comparison, &TextStyle { width: 200, colour: false }), notes(&comparison).join(" "))
    };
    let means = "means over a run's flows under test";
    assert!(!of(sample_context()).1.contains(means));
    let listed = of(Context { flows_under_test: 2, ..sample_context() }).1;
    assert!(
        listed.contains(means) && listed.contains("over the flows that left, a run's 1.5 of 2 for paced"),
        "{listed}"
    );
    let (table, notes) = of(Context { generated: true, size_bytes: None, ..sample_context() });
    assert!(
        table.contains("generated flows for ") && table.contains("for a download, the mean of its flows"),
        "{table}"
    );
    assert!(
        notes.contains(means) && notes.contains("those do not count") && !notes.contains("did not finish"),
        "{notes}"
    );
}

#[test]
fn an_application_that_writes_more_than_the_path_carries_is_named() {
    let of = |bytes: u64| {
        let writes = Some(Writes { bytes, interval_s: Some(1.0), ..Writes::default() });
        let context = Context { writes, application_limited: true, ..sample_context() };
        let runs: Vec<_> = (1..=3).map(|seed| run("best", seed, &[("write_time", 1.0)])).collect();
        let comparison = judge(&runs, &JudgeOptions { context, ..options() });
        (comparison.primary.clone(), notes(&comparison).join(" "), Words::of(&comparison).verdict)
    };
    let (primary, pauses, verdict) = of(1_000_000);
    assert_eq!(primary, "write_time");
    assert!(
        pauses.contains("count its pauses") && !pauses.contains("more than the path carries"),
        "{pauses}"
    );
    assert!(verdict.contains("delivers a chunk of 1 MB in 1.00 s"), "{verdict}");
    let (_, overloaded, _) = of(1_000_000_000);
    assert!(overloaded.contains("writes 8 Gbit/s, more than the path carries"), "{overloaded}");
}

#[test]
fn others_that_fare_better_are_not_harmed() {
    let row = |arm: &'static str, goodput: f64| {
        (1..=6).map(move |seed| {
            run(arm, seed, &[("download_time", 8.0 + seed as f64), ("others_goodput", goodput)])
        })
    };
    let comparison =
        judge(&row("ideal", 10.0).chain(row("a", 12.0)).chain(row("b", 4.0)).collect::<Vec<_>>(), &options());
    let facts = Words::of(&comparison).facts;
    let said = "a is the gentlest: harm to others' goodput 0 % (b: 60 %)";
    assert!(facts.iter().any(|fact| fact.contains(said)), "{facts:?}");
}

#[test]
fn among_equals_the_gentlest_is_named() {
    // A deep buffer: equally fast, but one fills it.
    let runs: Vec<_> = (1..=4)
        .flat_map(|seed| {
            let luck = seed as f64 / 100.0;
            let of = |arm, time: f64, queue: f64, lost: f64| {
                run(
                    arm,
                    seed,
                    &[("download_time", time + luck), ("queue_peak", queue), ("lost_packets", lost)],
                )
            };
            [
                of("slow_start", 8.00, 2_000.0, 3_478.0),
                of("enhanced", 8.05, 61.0, 0.0),
                of("limited", 12.0, 5.0, 0.0),
            ]
        })
        .collect();
    let comparison = judge(&runs, &options());
    assert_eq!(comparison.leader.as_deref(), Some("slow_start"));
    assert_eq!(comparison.gentlest.as_deref(), Some("enhanced"), "limited is gentler and no equal");
    let fact = "Of these equals, enhanced is the gentlest: queue peak 61.0 ms, packets lost overall 0 (slow_start: 2.00 s, 3478).";
    assert!(
        Words::of(&comparison).facts.iter().any(|said| said == fact),
        "{:?}",
        Words::of(&comparison).facts
    );
}

#[test]
fn a_leader_that_another_betters_stands_first_and_names_it() {
    let of = |arm, time: f64, queue: f64, lost: f64| {
        (1..=4).map(move |seed| {
            let time = time + seed as f64 / 100.0;
            run(arm, seed, &[("download_time", time), ("queue_peak", queue), ("lost_packets", lost)])
        })
    };
    let rows = of("slow_start", 8.0, 39.6, 98.0)
        .chain(of("best", 8.001, 32.4, 0.0))
        .chain(of("paced", 8.2, 23.4, 0.0));
    let comparison = judge(&rows.collect::<Vec<_>>(), &options());
    let fact = "Of these equals, best is among the gentlest: queue peak 32.4 ms, packets lost overall 0 (slow_start: 39.6 ms, 98; \
                gentler still, paced: queue peak 23.4 ms).";
    let facts = Words::of(&comparison).facts;
    assert!(facts.iter().any(|said| said == fact), "{facts:?}");
    let table = text(&comparison, &TextStyle::default());
    let line = |label: &str| table.lines().position(|line| line.starts_with(label)).expect("a row");
    assert!(line("best ") < line("slow_start ") && line("slow_start ") < line("paced "), "{table}");
}

#[test]
fn harm_is_what_others_lose_beside_the_yardstick() {
    let runs: Vec<_> = (1..=3)
        .flat_map(|seed| {
            [
                run("ideal", seed, &[("others_goodput", 10.0), ("others_download_time", 2.0)]),
                run("slow_start", seed, &[("others_goodput", 7.5), ("others_download_time", 4.0)]),
            ]
        })
        .collect();
    let comparison = judge(&runs, &options());
    let mean = |id: &str| comparison.arm("slow_start").unwrap().metric(id).unwrap().mean;
    assert!((mean("harm_goodput") - 0.25).abs() < 1e-12);
    assert!((mean("harm_download_time") - 0.5).abs() < 1e-12);
    assert!(comparison.arm("ideal").unwrap().metric("harm_goodput").is_none());
}

#[test]
fn what_others_pay_for_a_lead_is_said() {
    let said = |of_best: f64| {
        let row = |arm: &'static str, time: f64, others: f64, lost: f64| {
            (1..=4).map(move |seed| {
                let near = 1.0 + 0.01 * seed as f64;
                let values = [
                    ("download_time", time * near + 0.01 * (seed * seed) as f64),
                    ("others_download_time", others * near),
                    ("others_lost_packets", lost),
                ];
                run(arm, seed, &values)
            })
        };
        let runs: Vec<RunRecord> =
            row("best", 4.0, of_best, 150.0).chain(row("hystart", 8.0, 0.2, 50.0)).collect();
        notes(&judge(&runs, &options()))
    };
    let dear = said(0.3);
    let told = "best: competing flows' downloads take 50 % longer than with hystart, and lose 150 packets instead of 50.";
    assert!(dear.iter().any(|note| note == told), "{dear:?}");
    assert!(!said(0.21).iter().any(|note| note.contains("competing")), "5 % is no price");
}

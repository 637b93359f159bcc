//! How far an answer carries: shares, regrets, what turns it, the nearest loss.

use fixture::{sample_carries, sample_comparison, sample_neighbours};
use rampcc_lab::carries::{Carries, Neighbourhood};
use rampcc_lab::report::{TextStyle, csv, html, json, text};
use rampcc_lab::{Comparison, RunRecord, Words};

#[path = "support/fixture.rs"]
mod fixture;

fn sentence(comparison: &Comparison) -> String {
    Words::of(comparison).reach.expect("neighbours were played")
}

fn carries(comparison: &Comparison) -> &Carries {
    comparison.carries.as_ref().expect("neighbours were played")
}

fn value<'a>(
    records: &'a mut [RunRecord],
    label: &str,
    path: usize,
    neighbourhood: &Neighbourhood,
) -> &'a mut RunRecord {
    let hash = &neighbourhood.paths[path].scenario_hash;
    records
        .iter_mut()
        .find(|r| r.provenance.arm == label && r.provenance.scenario_hash == *hash)
        .expect("every row was played on every path")
}

#[test]
fn a_row_carries_as_far_as_it_is_near_the_best() {
    let comparison = sample_carries();
    let found = carries(&comparison);
    assert_eq!((found.decided, comparison.leader.as_deref()), (64, Some("best")));
    // `best` is late below 0.35 of the range: 22 of 64 paths. paced, 2 % behind it elsewhere, is near it everywhere.
    let share = |label: &str| comparison.arms.iter().find(|arm| arm.label == label).unwrap().carries;
    let (leader, paced) = (share("best").unwrap(), share("paced").unwrap());
    assert!((0.65..0.70).contains(&leader), "{leader}");
    assert!((paced - 1.0).abs() < 1e-12, "{paced}");
    assert_eq!(share("slow_start"), Some(0.0));
    assert_eq!(share("ideal"), None, "the yardstick is never the best");
    assert_eq!(found.holds, (leader * 64.0).round() as u32);
    for row in &found.rows {
        for (value, regret) in row.values.iter().zip(&row.regrets) {
            assert!(regret.is_some(), "{}", row.label);
            assert!(row.yardstick || regret.unwrap() >= 0.0, "{}", row.label);
            assert!(value.is_some() || row.label == "hystart");
        }
    }
}

#[test]
fn the_field_that_turns_the_answer_is_found_and_where() {
    let comparison = sample_carries();
    let found = carries(&comparison);
    let turning = found.turning().expect("one field decides alone");
    assert_eq!(found.neighbourhood.fields[turning.field].field, "path.reverse.rate");
    assert!(turning.index > 0.8 && turning.p < 0.01, "{turning:?}");
    let split = turning.split.as_ref().unwrap();
    assert!((0.3..0.36).contains(&split.at), "{split:?}");
    assert_eq!(split.holds_above.0, split.holds_above.1);
    assert_eq!(split.holds_below.0, 0);
    for other in found.influences.iter().filter(|i| i.field != turning.field) {
        assert!(other.p > 0.05, "{other:?}");
    }
    for part in [
        "best is within 5 % of the fastest on 42 of 64 neighbouring paths",
        "the return link's rate turns it: below 4 Mbit/s on 0 of 22, above on 42 of 42",
        "below it paced leads on 22); paced carries further, 64. There hystart is more than 5 % slower on",
    ] {
        assert!(sentence(&comparison).contains(part), "no `{part}` in {}", sentence(&comparison));
        assert!(Words::of(&comparison).verdict.contains(part), "{}", Words::of(&comparison).verdict);
    }
}

#[test]
fn the_nearest_loss_is_the_nearest() {
    let comparison = sample_carries();
    let found = carries(&comparison);
    let loss = found.nearest_loss.as_ref().unwrap();
    assert_eq!(loss.winner, "paced");
    assert!(loss.regret > 0.10);
    let leader = found.rows.iter().find(|row| row.label == "best").unwrap();
    let distance = |path: usize| {
        let at = &found.neighbourhood.paths[path].at;
        // The choice of a queue has no place of its own.
        f64::midpoint((at[0] - 0.5) * (at[0] - 0.5), (at[2] - 0.6) * (at[2] - 0.6)).sqrt()
    };
    assert!((loss.distance - distance(loss.path)).abs() < 1e-12);
    for path in (0..64).filter(|path| leader.regrets[*path].unwrap() > 0.10) {
        assert!(distance(path) >= loss.distance);
    }
}

#[test]
fn an_unfinished_run_is_later_than_the_end() {
    let (neighbourhood, mut records) = sample_neighbours();
    for label in ["best", "paced"] {
        value(&mut records, label, 60, &neighbourhood).metrics.clear();
    }
    let comparison = sample_comparison().with_neighbours(&neighbourhood, &records);
    let found = carries(&comparison);
    let leader = found.rows.iter().find(|row| row.label == "best").unwrap();
    assert_eq!(leader.values[60], None);
    assert!(leader.regrets[60].unwrap() > 5.0, "the end of the run, 60 s, against the best");
    assert_eq!(found.holds, 41);
    // Where nothing finishes there is no best.
    for record in records.iter_mut().filter(|r| r.provenance.seed == 61) {
        record.metrics.clear();
    }
    let comparison = sample_comparison().with_neighbours(&neighbourhood, &records);
    assert_eq!(carries(&comparison).decided, 63);
    let said = sentence(&comparison);
    assert!(
        said.contains(
            "on 41 of 63 neighbouring paths (1 more is undecided: no row finishes there within 60.0 s); "
        ),
        "{said}"
    );
    let share = comparison.arms.iter().find(|arm| arm.label == "best").unwrap().carries.unwrap();
    assert!((share - 41.0 / 63.0).abs() < 1e-12);
    assert!(html::render(&comparison).contains("(41 of 63)</td>"), "the report's table has both numbers");
}

#[test]
fn without_a_leader_the_row_that_carries_furthest_is_named() {
    let (neighbourhood, mut records) = sample_neighbours();
    for record in records.iter_mut().filter(|record| [5, 61].contains(&record.provenance.seed)) {
        record.metrics.clear();
    }
    let mut comparison = sample_comparison();
    comparison.leader = None;
    let said = sentence(&comparison.with_neighbours(&neighbourhood, &records));
    assert!(
        said.starts_with(
            "paced carries furthest: it is within 5 % of the fastest on 62 of 62 neighbouring paths (2 more are undecided: no row finishes there within 60.0 s)."
        ),
        "{said}"
    );
}

#[test]
fn a_rival_without_results_is_compared_where_both_have_one() {
    let (neighbourhood, mut records) = sample_neighbours();
    records.retain(|record| record.provenance.arm != "hystart" || record.provenance.seed != 3);
    let comparison = sample_comparison().with_neighbours(&neighbourhood, &records);
    assert_eq!(carries(&comparison).decided, 63, "a path without a run of every row decides nothing");
    assert!(sentence(&comparison).contains("(1 more is undecided)"), "{}", sentence(&comparison));
}

#[test]
fn an_answer_that_holds_everywhere_says_so() {
    let (neighbourhood, mut records) = sample_neighbours();
    for path in 0..64 {
        value(&mut records, "best", path, &neighbourhood).metrics.insert("download_time".into(), 1.0);
    }
    let comparison = sample_comparison().with_neighbours(&neighbourhood, &records);
    let found = carries(&comparison);
    assert_eq!(
        sentence(&comparison),
        "best is within 5 % of the fastest on all 64 neighbouring paths. There hystart is more than 5 % slower on all of them."
    );
    assert!(found.nearest_loss.is_none() && found.turning().is_none());
    assert!(
        html::render(&comparison).contains("On none of these paths does the leader lose by more than 10")
    );
}

#[test]
fn without_neighbours_nothing_changes() {
    let plain = sample_comparison();
    assert_eq!(plain.clone().with_neighbours(&Neighbourhood::default(), &[]), plain);
    let (neighbourhood, _) = sample_neighbours();
    assert_eq!(plain.clone().with_neighbours(&neighbourhood, &[]), plain);
    assert!(!html::render(&plain).contains("id=\"carries\""));
    // Paths that were not played by every row decide nothing.
    let (neighbourhood, mut records) = sample_neighbours();
    records.retain(|r| r.provenance.arm != "paced" || r.provenance.seed > 10);
    assert_eq!(carries(&plain.with_neighbours(&neighbourhood, &records)).decided, 54);
}

#[test]
fn runs_of_another_backend_are_called_simulated() {
    let (neighbourhood, mut records) = sample_neighbours();
    for record in &mut records {
        record.provenance.backend = "other".into();
    }
    let comparison = sample_comparison().with_neighbours(&neighbourhood, &records);
    let found = carries(&comparison);
    assert_eq!(found.backend.as_deref(), Some("other"));
    assert!(
        sentence(&comparison).contains("of 64 simulated neighbouring paths"),
        "{}",
        sentence(&comparison)
    );
    assert!(
        Words::of(&comparison).method.last().unwrap().contains("not those of what played the comparison")
    );
}

#[test]
fn every_report_has_it() {
    let comparison = sample_carries();
    let table = text(&comparison, &TextStyle { width: 140, colour: false });
    assert!(table.contains("carries") && table.contains("100 %"), "{table}");
    let parsed: serde_json::Value = serde_json::from_str(&json(&comparison).unwrap()).unwrap();
    let paced = parsed["arms"].as_array().unwrap().iter().find(|arm| arm["label"] == "paced").unwrap();
    assert_eq!(paced["carries"], 1.0);
    assert_eq!(parsed["carries"]["neighbourhood"]["paths"].as_array().unwrap().len(), 64);
    let csv = csv(&comparison);
    let head = csv.lines().find(|line| line.starts_with("algorithm,")).unwrap();
    assert!(head.ends_with(",carries"));
    assert!(csv.lines().filter(|line| line.starts_with("paced,")).all(|line| line.ends_with(",1")));
    let page = html::render(&comparison);
    for part in [
        "id=\"carries\"",
        "data-field=\"path.reverse.rate\"",
        "nearest-loss.toml",
        "The return link&#39;s rate",
    ] {
        assert!(page.contains(part), "no {part}");
    }
    assert_eq!(html::render(&sample_carries()), page, "the same bytes");
}

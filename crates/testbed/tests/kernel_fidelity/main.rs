//! The simulator against the kernel: recorded runs and the table of `docs/fidelity.md`, and a few runs live.
#![cfg(target_os = "linux")]
#[path = "../../../ramp/tests/support/blessed.rs"]
mod blessed;
mod cases;
mod compare;
mod live;
#[path = "../../../linux/tests/support/ready.rs"]
mod ready;
mod record;
mod report;
mod run;

use compare::{Compared, EXPLAINED};

#[test]
fn the_simulator_does_what_the_kernel_did() {
    let compared = compare::all();
    let table = report::table(&compared);
    eprintln!("{table}");
    let unexplained: Vec<String> = compared.iter().filter_map(Compared::unexplained).collect();
    assert!(unexplained.is_empty(), "beyond the aims, and not explained:\n{}", unexplained.join("\n"));
    report::check_document(&table);
}

#[test]
fn every_explanation_is_needed_and_given() {
    let compared = compare::all();
    for (case, row, heading) in EXPLAINED {
        let found = compared.iter().find(|c| c.case == *case && c.row == *row);
        let found = found.unwrap_or_else(|| panic!("{case}, {row}: not compared"));
        assert!(!found.beyond().is_empty(), "{case}, {row} is within the aims and needs no `{heading}`");
        assert!(report::explained(heading), "{case}, {row}: docs/fidelity.md has no heading `{heading}`");
    }
}

#[test]
fn recorded_runs_are_those_of_the_table() {
    let runs = record::read();
    assert!(
        runs.iter().all(|r| Some(r) == record::parsed(&r.text()).as_ref()),
        "what is written can be read"
    );
    for run in &runs {
        let case = cases::CASES.iter().find(|case| case.name == run.case);
        let case = case.unwrap_or_else(|| panic!("no case is called `{}`", run.case));
        assert!(case.rows().any(|(row, _)| row == run.row), "{} has no row `{}`", run.case, run.row);
        assert!((1..=case.seeds(&run.row)).contains(&run.seed), "{}: seed {}", run.case, run.seed);
    }
    let whole = cases::CASES.iter().filter(|case| {
        let rows = case.rows().filter(|(row, _)| runs.iter().any(|r| r.case == case.name && r.row == *row));
        rows.count() >= 4
    });
    assert!(whole.count() >= 8, "at least eight paths with four rows each");
}

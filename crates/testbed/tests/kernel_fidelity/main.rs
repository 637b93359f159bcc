//! The simulator against the kernel: recorded runs and the table of `docs/fidelity.md`, and a few runs live.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "whether this is CI, and whether to rewrite the document")]

mod cases;
mod compare;
mod live;
mod record;
mod report;
mod run;

use compare::{Compared, EXPLAINED};

#[test]
fn the_simulator_does_what_the_kernel_did() {
    let compared = compare::all();
    let table = report::table(&compared);
    eprintln!("{table}");
    let unexplained: Vec<String> = compared.iter().flat_map(Compared::unexplained).collect();
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
fn every_run_of_the_table_is_recorded() {
    let runs = record::read();
    for case in &cases::CASES {
        for (row, _) in case.rows() {
            let seeds: Vec<u64> =
                runs.iter().filter(|r| r.case == case.name && r.row == row).map(|r| r.seed).collect();
            assert_eq!(seeds, (1..=case.seeds).collect::<Vec<_>>(), "{}, {row}", case.name);
        }
    }
    assert!(
        runs.iter().all(|r| Some(r) == record::parsed(&r.text()).as_ref()),
        "what is written can be read"
    );
}

//! The simulator against ns-2 and ns-3, whose results are in `oracles/`; the tables of `docs/fidelity.md`.

#[path = "../../../ramp/tests/support/blessed.rs"]
mod blessed;
mod bulk;
mod classes;
#[path = "../common/mod.rs"]
mod common;
mod dumbbell;
mod measure;
mod ns2;
mod ns3;
mod oracle;
mod quickstart;
mod report;
mod rows;
mod topology;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use bulk::{Bulk, Compared};
use quickstart::Granted;

#[test]
fn runs_of_other_simulators_come_out_the_same() {
    let ns2 = play(&ns2::cases(), Bulk::compare);
    let ns3 = play(&ns3::cases(), Bulk::compare);
    let loads = play(&dumbbell::CASES, |(workload, variant, ssthresh)| {
        dumbbell::compare(workload, variant, *ssthresh)
    });
    let granted = play(&quickstart::all(), Granted::compare);
    let drawn = play(&rows::all(), rows::Drawn::compare);
    let classed = play(&classes::all(), classes::Classed::compare);
    let tables = format!(
        "ns-2, drawn at random:\n\n{}\nns-2, drawn by class:\n\n{}\nns-2, one flow:\n\n{}\nns-2, Quick-Start:\n\n{}\nns-2, many flows:\n\n{}\nns-3, one flow:\n\n{}",
        report::drawn(&drawn),
        report::classed(&classed),
        report::single_flows(&ns2),
        report::granted(&granted),
        report::loads(&loads),
        report::single_flows(&ns3),
    );
    eprintln!("{tables}");
    let mut faults: Vec<String> = ns2.iter().chain(&ns3).flat_map(Compared::faults).collect();
    faults.extend(loads.iter().flat_map(dumbbell::Load::faults));
    faults.extend(granted.iter().flat_map(Granted::faults));
    let share = |holds: &dyn Fn(&rows::Drawn) -> bool| {
        drawn.iter().filter(|row| holds(row)).count() as f64 / drawn.len() as f64
    };
    let as_often = share(&|row| row.agreements()[2]);
    if as_often < 0.95 {
        faults.push(format!("the timer expires as often in {as_often} of the rows drawn"));
    }
    let repeated = classed.iter().filter(|row| row.agrees() || row.repeats()).count();
    let agreeing = classed.iter().filter(|row| row.agrees()).count();
    if (agreeing as f64) < 0.98 * repeated as f64 {
        faults.push(format!("of {repeated} rows by class that ns-2 repeats {agreeing} agree"));
    }
    assert!(classed.len() == 240, "{} rows by class", classed.len());
    assert!(drawn.len() >= 200, "{} rows", drawn.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    report::check_document(&tables);
}

#[test]
fn every_difference_beyond_five_percent_is_explained() {
    for case in ns2::cases().into_iter().chain(ns3::cases()) {
        let allowed = case.allowed;
        if allowed.throughput > 0.05 || allowed.drops > 0.05 {
            assert!(report::explained(allowed.reason), "{}: no heading `{}`", case.name, allowed.reason);
        }
    }
    for granted in play(&quickstart::all(), Granted::compare) {
        let reason = granted.reason();
        assert!(reason.is_empty() || report::explained(reason), "no heading `{reason}`");
    }
    for reason in [rows::Reason::Vegas, rows::Reason::Rounding, rows::Reason::Unknown] {
        assert!(report::explained(reason.heading()), "no heading `{}`", reason.heading());
    }
}

#[test]
fn runs_are_the_same_every_time() {
    let case = &ns2::cases()[8];
    let text = || report::single_flows(&[case.compare()]);
    assert_eq!(text(), text());
}

/// Applies `run` to every case on all cores; results in order.
fn play<C: Sync, R: Send>(cases: &[C], run: impl Fn(&C) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next, run) = (sender.clone(), &next, &run);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(index) else { return };
                    sender.send((index, run(case))).expect("the receiver outlives the threads");
                }
            });
        }
    });
    drop(sender);
    let mut results: Vec<_> = receiver.iter().collect();
    results.sort_by_key(|(index, _)| *index);
    assert_eq!(results.len(), cases.len(), "a result per case");
    results.into_iter().map(|(_, result)| result).collect()
}

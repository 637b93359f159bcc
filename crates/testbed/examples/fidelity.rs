//! Plays what `docs/fidelity.md` compares on this machine's kernel, and records it:
//! `cargo run --release -p rampcc-testbed --features bpf --example fidelity -- [CASE]...`, as root.
//!
//! Without arguments everything is played, which takes half an hour; a case is a number or part of a name. Runs that
//! were recorded before are replaced. Afterwards `make bless` rewrites the table.
#![cfg_attr(target_os = "linux", allow(clippy::print_stdout, reason = "it is a program"))]

#[cfg(target_os = "linux")]
#[path = "../tests/kernel_fidelity/cases.rs"]
mod cases;
#[cfg(target_os = "linux")]
#[path = "../tests/kernel_fidelity/record.rs"]
mod record;
#[cfg(target_os = "linux")]
#[path = "../tests/kernel_fidelity/run.rs"]
#[expect(dead_code, reason = "the test simulates too")]
mod run;

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;

    use clap::Parser;
    use rampcc_testbed::{Options, TestbedError, Verdict};

    use crate::cases::{CASES, Case, ROWS, others};
    use crate::record::{self, HEAD, Recorded};
    use crate::run::Run;

    /// A run that the machine disturbed is played again so often.
    const ATTEMPTS: u32 = 4;

    /// Plays the fidelity table's runs on this machine's kernel.
    #[derive(Debug, Parser)]
    struct Arguments {
        /// Numbers or parts of names; unless given, all.
        cases: Vec<String>,
        /// Only these rows.
        #[arg(long, value_delimiter = ',')]
        rows: Vec<String>,
    }

    pub(crate) fn main() {
        let Arguments { cases, rows } = Arguments::parse();
        for (number, case) in CASES.iter().enumerate() {
            let named = |text: &String| match text.parse::<usize>() {
                Ok(wanted) => wanted == number,
                Err(_) => case.name.contains(text.as_str()),
            };
            if cases.is_empty() || cases.iter().any(named) {
                for (row, arm) in
                    case.rows().filter(|(row, _)| rows.is_empty() || rows.iter().any(|r| r == row))
                {
                    record(
                        case,
                        row,
                        (1..=case.seeds(row)).filter_map(|seed| measure(case, row, arm, seed)).collect(),
                    );
                }
            }
        }
    }

    /// One run: the first that the machine left alone, or the last of several; `None`: it was too busy for any.
    fn measure(case: &Case, row: &str, arm: &str, seed: u64) -> Option<Recorded> {
        let mut last = None;
        for _ in 0..ATTEMPTS {
            let (run, played) = match Run::played(case, row, arm, seed, &Options::default()) {
                Ok(result) => result,
                Err(TestbedError::Refused { .. }) => continue,
                Err(error) => panic!("{}, {row}, seed {seed}: {error}", case.name),
            };
            let good = played.report.verdict == Verdict::Ok && played.samples.lost() == 0;
            let verdict = if good { "ok" } else { "marked" }.to_owned();
            let (case, row, kernel) = (case.name.to_owned(), row.to_owned(), played.kernel);
            let recorded = Recorded { case, row, seed, run, verdict, kernel };
            print!("{}", recorded.text());
            last = Some(recorded);
            if good {
                break;
            }
        }
        last
    }

    fn record(case: &Case, row: &str, runs: Vec<Recorded>) {
        let mut all = if record::path().exists() { record::read() } else { Vec::new() };
        all.retain(|run| run.case != case.name || run.row != row);
        all.extend(runs);
        let place = |run: &Recorded| {
            let case = CASES.iter().position(|case| case.name == run.case);
            let mut rows = ROWS.iter().map(|(row, _)| *row).chain(others());
            (case, rows.position(|row| row == run.row), run.seed)
        };
        all.retain(|run| place(run).0.is_some() && place(run).1.is_some());
        all.sort_by_key(place);
        let text: String =
            std::iter::once(format!("{HEAD}\n")).chain(all.iter().map(Recorded::text)).collect();
        fs::write(record::path(), text).expect("the record can be written");
    }
}

//! What kernels did, recorded next to this file: one line for each run.

use std::path::PathBuf;

use crate::run::Run;

/// A run in the kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recorded {
    pub(crate) case: String,
    pub(crate) row: String,
    pub(crate) seed: u64,
    pub(crate) run: Run,
    /// `ok`, or what was wrong with the emulator.
    pub(crate) verdict: String,
    pub(crate) kernel: String,
}

pub(crate) const HEAD: &str =
    "case,row,seed,exit window,exit s,reason,download s,retransmissions,emulator,kernel";

/// Where the runs lie.
pub(crate) fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/kernel_fidelity/kernel.csv")
}

/// All recorded runs.
///
/// # Panics
/// If the file is not there or not as this module writes it.
pub(crate) fn read() -> Vec<Recorded> {
    let text = std::fs::read_to_string(path()).expect("the recorded runs lie beside the test");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(HEAD), "the head of {}", path().display());
    lines.map(|line| parsed(line).unwrap_or_else(|| panic!("not a run: {line}"))).collect()
}

/// A run from its line; `None`: it is none.
pub(crate) fn parsed(line: &str) -> Option<Recorded> {
    Recorded::parse(line.trim_end())
}

impl Recorded {
    /// One line.
    pub(crate) fn text(&self) -> String {
        let number =
            |value: Option<f64>, decimals: usize| value.map_or(String::new(), |v| format!("{v:.decimals$}"));
        let Run { exit_window, exit_s, reason, download_s, retransmissions } = &self.run;
        format!(
            "{},{},{},{},{},{reason},{},{retransmissions},{},{}\n",
            self.case.replace(',', ";"),
            self.row,
            self.seed,
            number(*exit_window, 0),
            number(*exit_s, 4),
            number(*download_s, 4),
            self.verdict,
            self.kernel,
        )
    }

    fn parse(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.split(',').collect();
        let [case, row, seed, exit_window, exit_s, reason, download_s, retransmissions, verdict, kernel] =
            cells.as_slice().try_into().ok()?;
        let number = |cell: &str| (!cell.is_empty()).then(|| cell.parse().ok()).flatten();
        let run = Run {
            exit_window: number(exit_window),
            exit_s: number(exit_s),
            reason: (*reason).to_owned(),
            download_s: number(download_s),
            retransmissions: retransmissions.parse().ok()?,
        };
        let text = |cell: &str| cell.to_owned();
        let seed = seed.parse().ok()?;
        let case = case.replace(';', ",");
        Some(Self { case, row: text(row), seed, run, verdict: text(verdict), kernel: text(kernel) })
    }
}

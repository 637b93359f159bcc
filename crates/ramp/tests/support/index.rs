//! The table of all rows in `docs/algorithms/README.md`. What the registry says is written and checked by the test
//! `documents`; the two columns of times are kept as they are, and written by the two examples that measure them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use rampcc::{Algorithm, LINUX_LACKS, QUIC_LACKS, algorithms};

const OPENING: &str =
    "<!-- rows: from the registry; `RAMP_BLESS=1 cargo test -p rampcc --test documents` rewrites -->\n";
const CLOSING: &str = "<!-- end -->\n";
const HEAD: &str = "| row | groups | source | needs | runs on | state, bytes | ns per ACK | in the kernel, ns over CUBIC |\n\
                    |---|---|---|---|---|---|---|---|\n";

/// A column of times; a measurement of one does not name the other.
#[allow(dead_code, reason = "each program writes one column")]
#[derive(Clone, Copy)]
pub(crate) enum Times {
    Native,
    Kernel,
}

/// Both times of a row.
type Cells = [String; 2];

/// The page.
pub(crate) fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/algorithms/README.md")
}

/// The page as it should be: with every row of the registry, these times and those that are there.
pub(crate) fn page(text: &str, times: &BTreeMap<&str, (Times, String)>) -> String {
    let (before, rest) = text.split_once(OPENING).expect("the table's beginning");
    let (table, after) = rest.split_once(CLOSING).expect("the table's end");
    let mut cells = known(table);
    for (id, (column, time)) in times {
        cells.entry((*id).to_owned()).or_insert_with(unmeasured)[*column as usize].clone_from(time);
    }
    let mut page = format!("{before}{OPENING}{HEAD}");
    for algorithm in algorithms() {
        let mut times = cells.remove(algorithm.id).unwrap_or_else(unmeasured);
        if !algorithm.runs_without(LINUX_LACKS) {
            times[Times::Kernel as usize] = String::from("–");
        }
        page += &row(algorithm, &times);
    }
    page + CLOSING + after
}

/// Writes these times into the page.
#[allow(dead_code, reason = "the test writes no times")]
pub(crate) fn write_times(column: Times, times: Vec<(&str, f64)>) {
    let times = times.into_iter().map(|(id, ns)| (id, (column, format!("{ns:.0}")))).collect();
    let text = fs::read_to_string(path()).expect("the page");
    fs::write(path(), page(&text, &times)).expect("the page is writable");
}

fn unmeasured() -> Cells {
    ["?".to_owned(), "?".to_owned()]
}

/// Times by row.
fn known(table: &str) -> BTreeMap<String, Cells> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let id = cells.first()?.strip_prefix("[`")?.split('`').next()?.to_owned();
        let [.., native, kernel] = cells[..] else { return None };
        Some((id, [native.to_owned(), kernel.to_owned()]))
    };
    table.lines().filter_map(row).collect()
}

fn row(algorithm: &Algorithm, [native, kernel]: &Cells) -> String {
    let words = |all: Vec<&str>| if all.is_empty() { "–".to_owned() } else { all.join(", ") };
    let (id, source, state) = (algorithm.id, algorithm.source, algorithm.state_bytes());
    let groups = words(algorithm.traits.families().map(|family| family.word).collect());
    let needs = words(algorithm.traits.needs().map(|need| need.word).collect());
    let kinds = [("linux", LINUX_LACKS), ("quic", QUIC_LACKS)];
    let runs = kinds
        .into_iter()
        .filter(|(_, lacks)| algorithm.runs_without(lacks))
        .fold("sim".to_owned(), |runs, (kind, _)| runs + ", " + kind);
    let mut row = String::new();
    writeln!(
        row,
        "| [`{id}`]({id}.md) | {groups} | {source} | {needs} | {runs} | {state} | {native} | {kernel} |"
    )
    .expect("writing to a string");
    row
}

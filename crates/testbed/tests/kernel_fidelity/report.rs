//! The table, as it stands in `docs/fidelity.md`.

use std::fmt::Write as _;

use crate::blessed::{self, anchor};
use crate::compare::{Compared, Pair, Spread};
use crate::record;

const BEGIN: &str = "<!-- made by the test `kernel_fidelity`; `make bless` -->\n";
const END: &str = "<!-- end -->\n";

const HEAD: [&str; 14] = [
    "row",
    "exit for",
    "kernel",
    "exit at",
    "kernel",
    "",
    "exit s",
    "kernel",
    "download s",
    "kernel",
    "",
    "sent again",
    "kernel",
    "",
];

pub(crate) fn table(all: &[Compared]) -> String {
    let mut text = String::new();
    let mut kernels: Vec<String> = record::read().into_iter().map(|run| run.kernel).collect();
    kernels.sort();
    kernels.dedup();
    let (runs, disturbed) = all.iter().fold((0, 0), |sum, c| (sum.0 + c.runs, sum.1 + c.disturbed));
    let _ = writeln!(
        text,
        "{runs} runs of Linux {}; {disturbed} of them were disturbed by the machine.",
        kernels.join(", ")
    );
    let mut case = "";
    for c in all {
        if c.case != case {
            case = c.case;
            let _ = write!(text, "\n**{case}**\n\n{}", line(&HEAD.map(str::to_owned)));
            let _ =
                write!(text, "{}", line(&HEAD.map(|h| if h == "row" { "---" } else { "--:" }.to_owned())));
        }
        let beyond = c.beyond();
        let shown = |pair: &Pair, name: &str| match pair.difference() {
            Some(difference) if beyond.contains(&name) => format!("**{}**", signed(difference)),
            Some(difference) => signed(difference),
            None => String::new(),
        };
        let row = c
            .heading()
            .map_or_else(|| c.row.to_owned(), |heading| format!("{} ([why](#{}))", c.row, anchor(heading)));
        text += &line(&[
            row,
            c.reason[0].clone(),
            c.reason[1].clone(),
            cell(c.exit_window.simulated, 0),
            cell(c.exit_window.kernel, 0),
            shown(&c.exit_window, "exit window"),
            cell(c.exit_s.simulated, 2),
            cell(c.exit_s.kernel, 2),
            cell(c.download_s.simulated, 2),
            cell(c.download_s.kernel, 2),
            shown(&c.download_s, "download time"),
            cell(c.retransmissions.simulated, 0),
            cell(c.retransmissions.kernel, 0),
            shown(&c.retransmissions, "retransmissions"),
        ]);
    }
    text
}

pub(crate) fn check_document(table: &str) {
    blessed::between(&blessed::page("fidelity.md"), BEGIN, END, &format!("\n{table}\n"));
}

pub(crate) fn explained(heading: &str) -> bool {
    blessed::has_heading(&blessed::page("fidelity.md"), heading)
}

/// The median, and the range if there is one.
fn cell(spread: Option<Spread>, decimals: usize) -> String {
    let Some(Spread { median, least, most }) = spread else { return "-".to_owned() };
    let [median, least, most] = [median, least, most].map(|value| format!("{value:.decimals$}"));
    if least == most { median } else { format!("{median} ({least}-{most})") }
}

/// Per cent, without a minus before what rounds to nothing.
fn signed(share: f64) -> String {
    let rounded = (1000.0 * share).round() / 10.0;
    if !rounded.is_finite() {
        String::new()
    } else if rounded.total_cmp(&-0.0).is_eq() {
        "+0.0 %".to_owned()
    } else {
        format!("{rounded:+.1} %")
    }
}

fn line(cells: &[String; 14]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

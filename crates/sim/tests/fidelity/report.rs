//! The tables, as they stand in `docs/fidelity.md`.

use crate::blessed::{self, anchor};
use crate::bulk::{Compared, Pair};
use crate::classes::{CLASSES, Classed};
use crate::dumbbell::Load;
use crate::oracle::number;
use crate::quickstart::Granted;
use crate::rows::{Drawn, Reason, agreements};

const BEGIN: &str = "<!-- made by the test `fidelity`; `make bless` -->\n";
const END: &str = "<!-- end -->\n";

/// A cell and the numbers in it.
type Cells = Vec<String>;

/// Single flows, as an aligned Markdown table.
pub(crate) fn single_flows(rows: &[Compared]) -> String {
    let head = [
        "run",
        "Mbit/s",
        "oracle",
        "",
        "drops",
        "oracle",
        "",
        "first drop",
        "oracle",
        "exit at",
        "oracle",
        "RTO",
        "oracle",
        "curve",
        "start-up",
        "see",
    ];
    let cells = rows.iter().map(|row| {
        let mut cells = vec![row.name.clone()];
        cells.extend(compared(row.throughput, 2));
        cells.extend(compared(row.drops, 0));
        cells.extend(both(row.first_drop, 3));
        cells.extend(both(row.exit_cwnd, 0));
        cells.extend(both(row.timeouts, 0));
        cells.extend([row.curve, row.startup].map(percent));
        cells.push(if row.allowed.reason.is_empty() {
            String::new()
        } else {
            format!("[why](#{})", anchor(row.allowed.reason))
        });
        cells
    });
    markdown(&head, cells)
}

/// Rows drawn at random: how many agree, and each that does not.
pub(crate) fn drawn(rows: &[Drawn]) -> String {
    let head = ["agent", "rows", "agree", "Mbit/s within 1 %", "drops within 2 %", "RTO equal"];
    let mut summary: Vec<Cells> = Vec::new();
    for agent in ["Sack1", "Newreno", "Newreno-steady", "Vegas", "all"] {
        let rows: Vec<_> = rows.iter().filter(|row| agent == "all" || row.row["agent"] == agent).collect();
        let count = |holds: &dyn Fn([bool; 3]) -> bool| {
            rows.iter().filter(|row| holds(row.agreements())).count().to_string()
        };
        summary.push(vec![
            agent.to_owned(),
            rows.len().to_string(),
            count(&|[throughput, drops, timeouts]| throughput && drops && timeouts),
            count(&|agreed| agreed[0]),
            count(&|agreed| agreed[1]),
            count(&|agreed| agreed[2]),
        ]);
    }
    let failing = [
        "row",
        "agent",
        "kbit/s",
        "ms",
        "packets",
        "beside",
        "Mbit/s",
        "ns-2",
        "",
        "drops",
        "ns-2",
        "",
        "first drop",
        "ns-2",
        "RTO",
        "ns-2",
        "see",
    ];
    let cells =
        rows.iter().filter_map(|row| row.reason().map(|reason| (row, reason))).map(|(row, reason)| {
            let mut cells: Cells =
                ["row", "agent", "rate_kbps"].map(|column| row.row[column].clone()).into_iter().collect();
            cells.push(format!("{:.1}", number(&row.row, "delay_us").unwrap_or(0.0) / 1e3));
            cells.extend(["buffer", "cross"].map(|column| row.row[column].clone()));
            cells.extend(compared(row.throughput_mbps, 3));
            cells.extend(compared(row.drops, 0));
            cells.extend(both(row.first_drop_s, 3));
            cells.extend(both(row.timeouts, 0));
            cells.push(format!("[why](#{})", anchor(reason.heading())));
            cells
        });
    format!(
        "{}\nEvery row that does not agree:\n\n{}",
        markdown(&head, summary.into_iter()),
        markdown(&failing, cells)
    )
}

/// Rows drawn by class: how many agree, and each flow that does not.
pub(crate) fn classed(rows: &[Classed]) -> String {
    let head = ["class", "rows", "agree", "of the rest, ns-2 unlike itself"];
    let line = |name: &str, of: &dyn Fn(&Classed) -> bool| {
        let rows: Vec<_> = rows.iter().filter(|row| of(row)).collect();
        let agreeing = rows.iter().filter(|row| row.agrees()).count();
        let rounded = rows.iter().filter(|row| row.reason() == Some(Reason::Rounding)).count();
        let rest = if agreeing == rows.len() { String::new() } else { rounded.to_string() };
        vec![name.to_owned(), rows.len().to_string(), agreeing.to_string(), rest]
    };
    let summary = CLASSES.iter().map(|(class, words)| line(words, &|row| row.row["cls"] == *class));
    let summary: Vec<Cells> = summary.chain([line("all", &|_| true)]).collect();
    let failing =
        ["row", "class", "flow", "agent", "Mbit/s", "ns-2", "", "drops", "ns-2", "", "RTO", "ns-2", "see"];
    let cells = rows.iter().filter_map(|row| Some((row, row.reason()?))).flat_map(|(row, reason)| {
        let wrong = row.flows.iter().enumerate().filter(|(_, pairs)| agreements(**pairs) != [true; 3]);
        wrong.map(move |(flow, [throughput, drops, timeouts])| {
            let agent = row.row["agents"].split(';').nth(flow).unwrap_or_default();
            let mut cells: Cells =
                vec![row.row["row"].clone(), row.row["cls"].clone(), flow.to_string(), agent.to_owned()];
            cells.extend(compared(*throughput, 3));
            cells.extend(compared(*drops, 0));
            cells.extend(both(*timeouts, 0));
            cells.push(format!("[why](#{})", anchor(reason.heading())));
            cells
        })
    });
    let cells: Vec<Cells> = cells.collect();
    format!(
        "{}\nEvery flow that does not agree:\n\n{}",
        markdown(&head, summary.into_iter()),
        markdown(&failing, cells.into_iter())
    )
}

/// Grants of Quick-Start's routers, and the downloads after them.
pub(crate) fn granted(rows: &[Granted]) -> String {
    let head = [
        "run",
        "window granted",
        "ns-2",
        "",
        "download s",
        "ns-2",
        "",
        "drops",
        "ns-2",
        "RTO",
        "ns-2",
        "see",
    ];
    let cells = rows.iter().map(|row| {
        let mut cells = vec![row.name.clone()];
        cells.extend(compared(row.window, 0));
        cells.extend(compared(row.download_s, 3));
        cells.extend(both(row.drops, 0));
        cells.extend(both(row.timeouts, 0));
        cells.push(match row.reason() {
            "" => String::new(),
            reason => format!("[why](#{})", anchor(reason)),
        });
        cells
    });
    markdown(&head, cells)
}

/// Loads of many flows.
pub(crate) fn loads(rows: &[Load]) -> String {
    let head = [
        "workload",
        "median Mbit/s",
        "oracle",
        "",
        "mean Mbit/s",
        "oracle",
        "",
        "loss %",
        "oracle",
        "",
        "lossy flows",
        "oracle",
        "flows with RTO",
        "oracle",
    ];
    let cells = rows.iter().map(|row| {
        let mut cells = vec![row.name.clone()];
        let hundredfold = |x: Option<f64>| x.map(|x| 100.0 * x);
        let loss = Pair { ours: hundredfold(row.loss.ours), theirs: hundredfold(row.loss.theirs) };
        let [median, mean, lost, lossy, rto] = row.spread;
        cells.extend(beside(compared(row.median_mbps, 4), median, 4));
        cells.extend(beside(compared(row.mean_mbps, 4), mean, 4));
        cells.extend(beside(compared(loss, 3), lost.map(|share| 100.0 * share), 3));
        cells.extend(beside(both(row.lossy_flows, 0), lossy, 0));
        cells.extend(beside(both(row.flows_with_rto, 0), rto, 0));
        cells
    });
    markdown(&head, cells)
}

/// Compares the tables of the document with these.
pub(crate) fn check_document(tables: &str) {
    blessed::between(&blessed::page("fidelity.md"), BEGIN, END, &format!("\n{tables}\n"));
}

/// Whether the document explains `reason` under a heading of its own.
pub(crate) fn explained(reason: &str) -> bool {
    blessed::has_heading(&blessed::page("fidelity.md"), reason)
}

fn compared(pair: Pair, decimals: usize) -> Cells {
    let mut cells = both(pair, decimals);
    cells.push(pair.difference().filter(|d| d.is_finite()).map_or(String::new(), |d| signed(100.0 * d)));
    cells
}

/// With what the oracle's other seeds give, where they differ.
fn beside(mut cells: Cells, [least, most]: [f64; 2], decimals: usize) -> Cells {
    if least < most {
        cells[1] = format!("{} ({least:.decimals$} to {most:.decimals$})", cells[1]);
    }
    cells
}

/// Without a minus before what rounds to nothing, so that the document is the same everywhere.
fn signed(percent: f64) -> String {
    let rounded = (10.0 * percent).round() / 10.0;
    if rounded.total_cmp(&-0.0).is_eq() { "+0.0 %".to_owned() } else { format!("{rounded:+.1} %") }
}

fn both(pair: Pair, decimals: usize) -> Cells {
    [pair.ours, pair.theirs].map(|value| value.map_or("-".to_owned(), |v| format!("{v:.decimals$}"))).into()
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

fn markdown<const N: usize>(head: &[&str; N], rows: impl Iterator<Item = Cells>) -> String {
    let mut table: Vec<Cells> = vec![head.map(str::to_owned).into()];
    table.extend(rows);
    let mut widths = [0; N];
    for row in &table {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width).max(3);
        }
    }
    let mut lines = Vec::new();
    for (i, row) in table.iter().enumerate() {
        lines.push(line(widths.iter().zip(row).enumerate().map(|(column, (width, cell))| {
            let fill = " ".repeat(width - cell.chars().count());
            if column == 0 { format!("{cell}{fill}") } else { format!("{fill}{cell}") }
        })));
        if i == 0 {
            lines.push(line(widths.iter().enumerate().map(|(column, width)| {
                format!("{}{}", "-".repeat(width - 1), if column == 0 { "-" } else { ":" })
            })));
        }
    }
    lines.concat()
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

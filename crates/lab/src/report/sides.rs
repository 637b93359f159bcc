//! Backends side by side, for a terminal and for programs.

use serde::Serialize;

use super::machine::{Numbered, Table, some};
use super::table::{Cell, Column, Tone, lay_out};
use super::text::{TextStyle, exits, path_facts, say};
use crate::comparison::{Finding, Representative};
use crate::format::{count, list, number, quantity, seconds, with_interval};
use crate::metric::{self, Definition};
use crate::sides::{Difference, SideBySide, SideRow, SidesWords};
use crate::summary::Summary;

/// Every row on every side with the differences, and how far the sides agree.
pub fn sides_text(both: &SideBySide, words: &SidesWords, style: &TextStyle) -> String {
    let mut out = String::new();
    let facts = path_facts(&both.context, None).join(", ");
    let sides = listed(&both.sides);
    say(&mut out, &format!("{}, {sides}: {facts}", both.provenance.scenario), Tone::Plain, style);
    out.push('\n');
    let rows = ordered(both);
    let yardsticks = rows.iter().filter(|row| row.yardstick).count();
    let groups = [rows.len() - yardsticks, yardsticks];
    out.push_str(&lay_out(columns(both, &rows), &groups, style.width, style.colour));
    out.push('\n');
    say(&mut out, &words.verdict, Tone::Heading, style);
    for text in emulations(both) {
        say(&mut out, &text, Tone::Aside, style);
    }
    for note in &words.notes {
        say(&mut out, note, Tone::Unclear, style);
    }
    out
}

/// `sim, linux and quic`.
pub(super) fn listed(sides: &[String]) -> String {
    list(&sides.iter().map(String::as_str).collect::<Vec<_>>())
}

/// How true the path was, and what the sockets were: of each side in real time, with its name where there are several.
pub(super) fn emulations(all: &SideBySide) -> Vec<String> {
    let name = |side: &str| {
        if all.emulations.len() > 1 { format!("{side}: ") } else { String::new() }
    };
    let there = all.sides.iter().filter_map(|side| Some((side, all.emulations.get(side)?)));
    there
        .flat_map(|(side, emulation)| [name(side) + &emulation.sentence(), format!("{}.", emulation.sockets)])
        .collect()
}

/// Rows in the order of the deciding metric on the last side that has them; yardsticks last.
pub(super) fn ordered(both: &SideBySide) -> Vec<&SideRow> {
    let key = |row: &SideRow| {
        let value = row.metric(&both.primary).and_then(|side| side.values.iter().flatten().next_back());
        value.map_or(f64::INFINITY, |summary| summary.mean)
    };
    let mut rows: Vec<&SideRow> = both.rows.iter().collect();
    rows.sort_by(|a, b| a.yardstick.cmp(&b.yardstick).then(key(a).total_cmp(&key(b))));
    rows
}

/// A number in words.
type Show = fn(f64) -> String;

fn columns<'a>(both: &'a SideBySide, rows: &[&SideRow]) -> Vec<Column<'a>> {
    let info = both.info(&both.primary);
    let unit = info.map_or("s", |info| info.unit.as_str());
    let name = info.map_or("download time", |info| info.name.as_str());
    let column = |heading: [&'a str; 2], rank, cell: &dyn Fn(&SideRow) -> Cell| Column {
        heading,
        right: true,
        rank,
        cells: rows.iter().map(|row| cell(row)).collect(),
    };
    let plain = |text: String| Cell { text, tone: Tone::Plain };
    let dash = || plain("–".to_owned());
    let value = |row: &SideRow, id: &str, side: usize, show: &dyn Fn(&Summary) -> String| {
        let summary = row.metric(id).and_then(|metric| metric.values[side].as_ref());
        summary.map_or_else(dash, |summary| plain(show(summary)))
    };
    let sides = || both.sides.iter().map(String::as_str).enumerate();
    let above = |side: usize, title: &'a str| if side == 0 { title } else { "" };
    let mut columns =
        vec![Column { right: false, ..column(["", "algorithm"], 0, &|row| plain(row.label.clone())) }];
    for (side, name_of_side) in sides() {
        let shown = |summary: &Summary| with_interval(summary, unit);
        columns.push(column([above(side, name), name_of_side], 1, &|row| {
            value(row, &both.primary, side, &shown)
        }));
        if side > 0 {
            columns.push(column(["", "difference"], 2, &|row| difference_cell(both, row, side)));
        }
    }
    let bdp: Show = |value| format!("{value:.2}");
    let means: [(&str, Definition, u8, Show); 3] = [
        ("left start-up", metric::EXIT_TIME, 4, seconds),
        ("window / BDP", metric::EXIT_WINDOW_BDP, 3, bdp),
        ("retransmissions", metric::RETRANSMISSIONS, 5, count),
    ];
    for (title, metric, rank, show) in means {
        for (side, name_of_side) in sides() {
            let shown = |summary: &Summary| show(summary.mean);
            columns.push(column([above(side, title), name_of_side], rank, &|row| {
                value(row, metric.id, side, &shown)
            }));
        }
    }
    for (side, name_of_side) in sides() {
        let reasons = |row: &SideRow| plain(exits(&row.exits[side]));
        columns
            .push(Column { right: false, ..column([above(side, "because of"), name_of_side], 6, &reasons) });
    }
    columns
}

fn difference_cell(both: &SideBySide, row: &SideRow, side: usize) -> Cell {
    let difference = row.metric(&both.primary).and_then(|metric| metric.difference(side));
    let Some(difference) = difference else { return Cell::default() };
    let tone = match difference.finding {
        Finding::Equivalent => Tone::Good,
        Finding::CannotTell => Tone::Plain,
        Finding::Lower | Finding::Higher => Tone::Unclear,
    };
    let unit = both.info(&both.primary).map_or("s", |info| info.unit.as_str());
    Cell { text: difference_text(difference, unit), tone }
}

/// `+1.2 % ± 0.4`, or in the metric's unit where a ratio makes no sense.
pub(super) fn difference_text(difference: &Difference, unit: &str) -> String {
    let Some(ratio) = difference.ratio else {
        return match unit {
            _ if difference.mean == 0.0 => "0".to_owned(),
            "packets" | "count" if difference.mean > 0.0 => format!("+{}", count(difference.mean)),
            "packets" | "count" => count(difference.mean),
            _ => quantity(difference.mean, unit),
        };
    };
    if ratio >= 2.0 {
        return format!("{}x", number(ratio));
    }
    let percent = (ratio - 1.0) * 100.0;
    let mut text = if percent.abs() < 0.05 { "0.0 %".to_owned() } else { format!("{percent:+.1} %") };
    if let Some(interval) = difference.ratio_interval {
        text.push_str(&format!(" ± {:.1}", (interval.high - interval.low) * 50.0));
    }
    text
}

/// One line per row, metric and side after the first, after the provenance as comments.
pub fn sides_csv(both: &SideBySide) -> String {
    let mut table = Table::new(&[
        "algorithm",
        "yardstick",
        "metric",
        "unit",
        "first",
        "second",
        "first_runs",
        "second_runs",
        "first_mean",
        "second_mean",
        "pairs",
        "difference",
        "difference_low_95",
        "difference_high_95",
        "ratio",
        "ratio_low_95",
        "ratio_high_95",
        "finding",
    ]);
    for row in &both.rows {
        for info in &both.metrics {
            let Some(metric) = row.metric(&info.id) else { continue };
            for (side, name) in both.sides.iter().enumerate().skip(1) {
                let mean = |at: usize| some(metric.values[at].as_ref().map(|summary| summary.mean));
                let difference = metric.difference(side);
                let interval = difference.and_then(|d| d.interval);
                let ratios = difference.and_then(|d| d.ratio_interval);
                table.row(&[
                    row.label.clone(),
                    row.yardstick.to_string(),
                    info.id.clone(),
                    info.unit.clone(),
                    both.sides[0].clone(),
                    name.clone(),
                    row.n[0].to_string(),
                    row.n[side].to_string(),
                    mean(0),
                    mean(side),
                    difference.map_or_else(String::new, |d| d.n.to_string()),
                    some(difference.map(|d| d.mean)),
                    some(interval.map(|i| i.low)),
                    some(interval.map(|i| i.high)),
                    some(difference.and_then(|d| d.ratio)),
                    some(ratios.map(|i| i.low)),
                    some(ratios.map(|i| i.high)),
                    difference.map_or("", |d| super::machine::finding(d.finding)).to_owned(),
                ]);
            }
        }
    }
    both.provenance.comment() + &super::machine::numbered() + &table.text
}

/// Sides as JSON.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    both: SideBySide,
    #[serde(flatten)]
    words: &'a SidesWords,
}

impl<'a> Written<'a> {
    /// Everything but curves.
    fn new(both: &SideBySide, words: &'a SidesWords) -> Self {
        let mut both = both.clone();
        let runs = both.rows.iter_mut().flat_map(|row| row.representatives.iter_mut().flatten());
        runs.for_each(Representative::without_curves);
        Self { both, words }
    }
}

/// Everything but curves.
pub fn sides_json(both: &SideBySide, words: &SidesWords) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(&Numbered::new(Written::new(both, words)))? + "\n")
}

/// What [`sides_json`] writes, as a part of a larger document.
pub fn sides_json_value(
    both: &SideBySide,
    words: &SidesWords,
) -> Result<serde_json::Value, serde_json::Error> {
    serde_json::to_value(Written::new(both, words))
}

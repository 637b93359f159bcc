//! Two backends side by side, for a terminal and for programs.

use super::machine::{Table, some};
use super::table::{Cell, Column, Tone, lay_out};
use super::text::{TextStyle, exits, path_facts, say};
use crate::comparison::{Finding, Representative};
use crate::format::{count, number, quantity, seconds, with_interval};
use crate::sides::{Difference, Side, SideBySide, SideRow};

/// Both sides of every row with their differences, and how far they agree.
pub fn sides_text(both: &SideBySide, style: &TextStyle) -> String {
    let mut out = String::new();
    let facts = path_facts(&both.context, None).join(", ");
    let [first, second] = &both.sides;
    say(
        &mut out,
        &format!("{}, {first} and {second}: {facts}", both.provenance.scenario),
        Tone::Plain,
        style,
    );
    out.push('\n');
    let rows = ordered(both);
    let yardsticks = rows.iter().filter(|row| row.yardstick).count();
    let groups = [rows.len() - yardsticks, yardsticks];
    out.push_str(&lay_out(columns(both, &rows), &groups, style.width, style.colour));
    out.push('\n');
    say(&mut out, &both.verdict, Tone::Heading, style);
    if let Some(emulation) = &both.emulation {
        say(&mut out, &emulation.sentence(), Tone::Aside, style);
        say(&mut out, &format!("{}.", emulation.sockets), Tone::Aside, style);
    }
    for note in &both.notes {
        say(&mut out, note, Tone::Unclear, style);
    }
    out
}

/// Rows with both sides first, in the order of the deciding metric on the second; yardsticks last.
pub(super) fn ordered(both: &SideBySide) -> Vec<&SideRow> {
    let key = |row: &SideRow| {
        let value =
            row.metric(&both.primary).and_then(|side| side.values[1].as_ref().or(side.values[0].as_ref()));
        value.map_or(f64::INFINITY, |summary| summary.mean)
    };
    let mut rows: Vec<&SideRow> = both.rows.iter().collect();
    rows.sort_by(|a, b| a.yardstick.cmp(&b.yardstick).then(key(a).total_cmp(&key(b))));
    rows
}

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
    let primary = |row: &SideRow, side: usize| {
        let summary = row.metric(&both.primary).and_then(|metric| metric.values[side].clone());
        summary.map_or_else(dash, |summary| plain(with_interval(&summary, unit)))
    };
    let mean = |row: &SideRow, id: &str, side: usize, show: &dyn Fn(f64) -> String| {
        let summary = row.metric(id).and_then(|metric| metric.values[side].as_ref());
        summary.map_or_else(dash, |summary| plain(show(summary.mean)))
    };
    let reasons = |row: &SideRow, side: usize| plain(exits(&row.exits[side]));
    let bdp = |value: f64| format!("{value:.2}");
    let [first, second] = both.sides.each_ref().map(String::as_str);
    vec![
        Column { right: false, ..column(["", "algorithm"], 0, &|row| plain(row.label.clone())) },
        column([name, first], 1, &|row| primary(row, 0)),
        column(["", second], 1, &|row| primary(row, 1)),
        column(["", "difference"], 2, &|row| difference_cell(both, row.metric(&both.primary))),
        column(["left start-up", first], 4, &|row| mean(row, "exit_time", 0, &seconds)),
        column(["", second], 4, &|row| mean(row, "exit_time", 1, &seconds)),
        column(["window / BDP", first], 3, &|row| mean(row, "exit_window_bdp", 0, &bdp)),
        column(["", second], 3, &|row| mean(row, "exit_window_bdp", 1, &bdp)),
        Column { right: false, ..column(["because of", first], 6, &|row| reasons(row, 0)) },
        Column { right: false, ..column(["", second], 6, &|row| reasons(row, 1)) },
        column(["retransmissions", first], 5, &|row| mean(row, "retransmissions", 0, &count)),
        column(["", second], 5, &|row| mean(row, "retransmissions", 1, &count)),
    ]
}

fn difference_cell(both: &SideBySide, side: Option<&Side>) -> Cell {
    let Some(difference) = side.and_then(|side| side.difference.as_ref()) else { return Cell::default() };
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

/// One line per row and metric, after the provenance as comments.
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
            let Some(side) = row.metric(&info.id) else { continue };
            let mean = |at: usize| some(side.values[at].as_ref().map(|summary| summary.mean));
            let difference = side.difference.as_ref();
            let interval = difference.and_then(|d| d.interval);
            let ratios = difference.and_then(|d| d.ratio_interval);
            table.row(&[
                row.label.clone(),
                row.yardstick.to_string(),
                info.id.clone(),
                info.unit.clone(),
                both.sides[0].clone(),
                both.sides[1].clone(),
                row.n[0].to_string(),
                row.n[1].to_string(),
                mean(0),
                mean(1),
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
    both.provenance.comment() + &super::machine::numbered() + &table.text
}

/// Everything but curves.
pub fn sides_json(both: &SideBySide) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(&super::machine::Numbered::new(without_curves(both)))? + "\n")
}

/// What [`sides_json`] writes, as a part of a larger document.
pub fn sides_json_value(both: &SideBySide) -> Result<serde_json::Value, serde_json::Error> {
    serde_json::to_value(without_curves(both))
}

fn without_curves(both: &SideBySide) -> SideBySide {
    let mut both = both.clone();
    let runs = both.rows.iter_mut().flat_map(|row| row.representatives.iter_mut().flatten());
    runs.for_each(Representative::without_curves);
    both
}

//! A comparison at a glance, for a terminal.

use rampcc::figures::span;

use super::names::quoted;
use super::table::{Cell, Column, TIED, Tone, lay_out, wrap};
use crate::comparison::{ArmSummary, Comparison, ExitCount, Finding};
use crate::format::{bit_rate, bytes, count, list, number, quantity, seconds, share, with_interval};
use crate::metric::{Better, Definition, MetricInfo};
use crate::standing::standing;
use crate::words::grouped;
use crate::{Context, Met, Words, metric};

/// Capabilities of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextStyle {
    /// Characters per line.
    pub width: usize,
    /// True if it takes ANSI colours.
    pub colour: bool,
}

impl Default for TextStyle {
    fn default() -> Self {
        Self { width: 100, colour: false }
    }
}

/// The table, the verdict and what else must be known.
///
/// Algorithms stand in the order of the metric that decides, the leader first, the reference apart below. Columns that do not
/// fit are left out, the least important first; a very narrow terminal gets a list.
pub fn text(comparison: &Comparison, style: &TextStyle) -> String {
    let mut out = String::new();
    say(&mut out, &heading(comparison), Tone::Plain, style);
    let (contenders, yardsticks) = rows(comparison);
    let groups = [contenders.len(), yardsticks.len()];
    let rows: Vec<&ArmSummary> = contenders.into_iter().chain(yardsticks).collect();
    out.push('\n');
    if !rows.is_empty() {
        out.push_str(&lay_out(columns(comparison, &rows), &groups, style.width, style.colour));
        out.push('\n');
    }
    let words = Words::of(comparison);
    say(&mut out, &quoted(comparison, &words.verdict), Tone::Heading, style);
    if let Some(emulation) = &comparison.emulation {
        say(&mut out, &emulation.sentence(), Tone::Aside, style);
        say(&mut out, &format!("{}.", emulation.sockets), Tone::Aside, style);
    }
    for note in grouped(&words.notes) {
        say(&mut out, &quoted(comparison, &note.to_string()), Tone::Unclear, style);
    }
    out
}

pub(super) fn say(out: &mut String, text: &str, tone: Tone, style: &TextStyle) {
    for line in wrap(text, style.width) {
        out.push_str(&tone.paint(&line, style.colour));
        out.push('\n');
    }
}

/// "geo-viasat: 144 Mbit/s, 600 ms, BDP 10.8 MB, buffer 1 BDP; 36 MB; 12 runs each (seeds 1 to 12)".
fn heading(comparison: &Comparison) -> String {
    let mut parts = path_facts(&comparison.context, comparison.met.as_ref());
    parts.push(match comparison.seeds.as_slice() {
        [] => "no runs".to_owned(),
        [_] if !comparison.context.chance => "one run each".to_owned(),
        [seed] => format!("one run each (seed{TIED}{seed})"),
        [first, .., last] => {
            format!("{} runs each (seeds{TIED}{first}{TIED}to{TIED}{last})", comparison.seeds.len())
        }
    });
    format!("{}: {}", comparison.provenance.scenario, parts.join(", "))
}

/// "buffer 1.00 BDP", or why it is not the number that the scenario states.
fn buffer_text(found: f64, stated: Option<f64>) -> String {
    let found = number(found);
    match stated.filter(|stated| number(*stated) != found) {
        Some(stated) => format!("buffer {found} BDP ({stated} bdp, of the delay alone)"),
        None => format!("buffer {found} BDP"),
    }
}

/// "150 Mbit/s (145 Mbit/s payload)", "600 ms RTT", "BDP 10.8 MB", "buffer 1 BDP", "36 MB to send".
pub(super) fn path_facts(context: &Context, met: Option<&Met>) -> Vec<String> {
    let mut parts = Vec::new();
    let first = context.capacity.first().map_or(0.0, |step| step.bytes_per_s * 8.0);
    let bdp = met.map_or(context.bdp_bytes as f64, |met| met.bdp_bytes.mean);
    match met {
        Some(met) => {
            let [mean, low, high] = [met.bytes_per_s.mean, met.bytes_per_s.low, met.bytes_per_s.high];
            let [mean, low, high] = [mean, low, high].map(|rate| bit_rate(rate * 8.0));
            let runs =
                if low == high { String::new() } else { format!(" ({} in its runs)", span(&low, &high)) };
            parts.push(format!("{mean} payload on average{runs}"));
        }
        None if context.capacity.len() > 1 && context.base_rtt_s > 0.0 => {
            parts.push(format!("{} payload on average", bit_rate(bdp * 8.0 / context.base_rtt_s)));
        }
        None if first > 0.0 => {
            parts.push(format!("{} ({} payload)", bit_rate(first * context.wire_factor()), bit_rate(first)));
        }
        None => {}
    }
    if context.base_rtt_s > 0.0 {
        parts.push(format!("{} RTT", seconds(context.base_rtt_s)));
    }
    if bdp > 0.0 {
        parts.push(format!("BDP {}", bytes(bdp)));
        parts.push(match context.buffer_bytes {
            Some(buffer) => buffer_text(
                buffer as f64 / bdp,
                context.buffer_stated_bdp.filter(|_| met.is_none() && !context.policed()),
            ),
            None => "unlimited buffer".to_owned(),
        });
    }
    // Several flows under test alone are told below.
    let beside =
        |(heading, text): &(String, String)| heading == "Traffic" && !text.ends_with("flows under test");
    if !context.generated && context.words.iter().any(beside) {
        parts.push("beside other traffic".to_owned());
    }
    if !context.early_drops.is_empty() {
        parts.push(context.early_drops.clone());
    }
    if context.generated {
        parts.push(format!("generated flows for {}", seconds(context.end_s)));
    } else if let Some(writes) = context.writes {
        let written = writes.in_words(context.size_bytes);
        parts.push(match context.flows_under_test {
            ..=1 => written,
            flows => format!("{written} on each of {flows} flows"),
        });
    } else if let Some(size) = context.size_bytes {
        let size = bytes(size as f64);
        parts.push(match context.flows_under_test {
            ..=1 => format!("{size} to send"),
            flows => format!("{flows} flows of {size} each to send"),
        });
    } else if context.end_s > 0.0 {
        let end = seconds(context.end_s);
        parts.push(match context.flows_under_test {
            ..=1 => format!("data for {end}"),
            flows => format!("{flows} flows within {end}"),
        });
    }
    parts
}

/// Contenders, the best first and those without a value last, and yardsticks.
fn rows(comparison: &Comparison) -> (Vec<&ArmSummary>, Vec<&ArmSummary>) {
    let (mut yardsticks, mut contenders): (Vec<_>, Vec<_>) =
        comparison.arms.iter().partition(|arm| arm.yardstick);
    let sign =
        if comparison.primary_info().is_some_and(|info| info.better == Better::Higher) { -1.0 } else { 1.0 };
    for arms in [&mut contenders, &mut yardsticks] {
        arms.sort_by(|a, b| {
            let key = |arm: &ArmSummary| {
                let summary = arm.metric(&comparison.primary);
                (
                    // It may be the gentlest of several that are equally fast.
                    comparison.leader.as_ref() != Some(&arm.label),
                    // What did not get anywhere comes last.
                    std::cmp::Reverse(summary.map_or(0, |s| if s.n == 0 { 0 } else { s.n + s.unfinished() })),
                    summary.map_or(f64::INFINITY, |s| sign * s.mean),
                )
            };
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.total_cmp(&b.2))
        });
    }
    (contenders, yardsticks)
}

fn columns(comparison: &Comparison, rows: &[&ArmSummary]) -> Vec<Column<'static>> {
    let info = comparison.primary_info();
    let column = |heading, rank, cell: &dyn Fn(&ArmSummary) -> String| Column {
        heading,
        right: true,
        rank,
        cells: rows
            .iter()
            .map(|arm| Cell { text: cell(arm), tone: if arm.yardstick { Tone::Aside } else { Tone::Plain } })
            .collect(),
    };
    let mean = |arm: &ArmSummary, metric: Definition, show: &dyn Fn(f64) -> String| {
        arm.of(metric).map_or("–".to_owned(), |summary| show(summary.mean))
    };
    let primary_heading = match info.map(|info| info.id.as_str()) {
        None => ["download", "time"],
        Some(id) if id == metric::DOWNLOAD_TIME.id => ["download", "time"],
        Some(id) if id == metric::WRITE_TIME.id => ["write", "time"],
        Some(id) if id == metric::GOODPUT.id => ["", "goodput"],
        Some(_) => ["deciding", "metric"],
    };
    let window = if comparison.on_wire() { "in flight at" } else { "window at" };
    let mut columns = vec![
        Column { right: false, ..column(["", "algorithm"], 0, &|arm| arm.label.clone()) },
        Column { right: false, ..column(primary_heading, 1, &|arm| primary(arm, info)) },
        column(["vs", "leader"], 1, &|arm| standing(comparison, arm).unwrap_or_default()),
        column(["left", "start-up"], 2, &|arm| left(arm)),
        Column { right: false, ..column(["", "because of"], 5, &|arm| exits(&arm.exits)) },
        column([window, "exit / BDP"], 3, &|arm| mean(arm, metric::EXIT_WINDOW_BDP, &|v| format!("{v:.2}"))),
        column(["lost in", "start-up"], 4, &|arm| mean(arm, metric::STARTUP_LOST_PACKETS, &count)),
        column(["start-up", "used"], 7, &|arm| mean(arm, metric::STARTUP_UTILISATION, &share)),
        column(["queue", "peak"], 8, &|arm| mean(arm, metric::QUEUE_PEAK, &|v| quantity(v, "ms"))),
    ];
    if comparison.carries.is_some() {
        let cell = |arm: &ArmSummary| arm.carries.map_or("–".to_owned(), share);
        columns.insert(3, column(["", "carries"], 4, &cell));
    }
    for (row, arm) in rows.iter().enumerate() {
        let tone = tone(comparison, arm, info);
        if tone != Tone::Plain {
            for column in columns.iter_mut().take(3) {
                column.cells[row].tone = tone;
            }
        }
    }
    columns
}

fn primary(arm: &ArmSummary, info: Option<&MetricInfo>) -> String {
    let Some((info, summary)) = info.and_then(|info| Some((info, arm.metric(&info.id)?))) else {
        return if arm.n == 0 { "not run" } else { "not finished" }.to_owned();
    };
    if summary.n == 0 {
        let why = if arm.lost_all_connections() { "connection lost" } else { "not finished" };
        return why.to_owned();
    }
    let mut text = with_interval(summary, &info.unit);
    if summary.unfinished() > 0 {
        text = format!("≥ {}, {} of {} done", quantity(summary.mean, &info.unit), summary.n, arm.n);
    } else if summary.n < arm.n {
        text.push_str(&format!(", {} of {}", summary.n, arm.n));
    }
    if summary.modes.is_some() {
        text.push_str(" *");
    }
    text
}

fn tone(comparison: &Comparison, arm: &ArmSummary, info: Option<&MetricInfo>) -> Tone {
    let (Some(leader), Some(info)) = (&comparison.leader, info) else { return Tone::Plain };
    if arm.yardstick {
        return Tone::Aside;
    }
    match comparison.pair(&info.id, &arm.label, leader).map(|pair| pair.finding) {
        _ if *leader == arm.label => Tone::Good,
        Some(Finding::Equivalent) => Tone::Good,
        Some(Finding::CannotTell) => Tone::Unclear,
        _ => Tone::Plain,
    }
}

/// "3.20 s", or "1.37 s, 2 of 5" where not every run leaves start-up.
fn left(arm: &ArmSummary) -> String {
    let Some(summary) = arm.of(metric::EXIT_TIME) else { return "–".to_owned() };
    let of = if summary.n < arm.n { format!(", {} of {}", summary.n, arm.n) } else { String::new() };
    seconds(summary.mean) + &of
}

/// "delay", or "delay 9, loss 3" where runs differ.
pub(super) fn exits(exits: &[ExitCount]) -> String {
    match exits {
        [] => "–".to_owned(),
        [only] => only.reason.word().to_owned(),
        several => {
            let several: Vec<String> =
                several.iter().map(|e| format!("{} {}", e.reason.word(), e.runs)).collect();
            list(&several.iter().map(String::as_str).collect::<Vec<_>>()).replace(" and ", ", ")
        }
    }
}

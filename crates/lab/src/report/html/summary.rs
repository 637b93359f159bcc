//! The table that answers in half a minute.

use super::charts::standing;
use super::data::styles;
use super::number::{interval_below, interval_of, show, show_interval, show_mean, show_short};
use super::stood_for;
use super::text::{Html, Text};
use crate::metric::{self, Definition};
use crate::{ArmSummary, Better, Comparison, ExitCount, Finding, MetricInfo, Summary};

/// Metrics besides the deciding one, in the order of the terminal's table.
const COLUMNS: [Definition; 4] =
    [metric::EXIT_WINDOW_BDP, metric::STARTUP_LOST_PACKETS, metric::STARTUP_UTILISATION, metric::QUEUE_PEAK];

/// The summary table; contenders ordered by the deciding metric, the yardstick below and apart.
pub(super) fn table(html: &mut Html, comparison: &Comparison) {
    let columns = columns(comparison);
    let styles = styles(&comparison.arms);
    html.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Summary table\">\n");
    html.raw("<table class=\"sortable\" id=\"summary-table\">\n");
    html.raw("<caption class=\"visually-hidden\">Each algorithm over all runs. Headings sort.</caption>\n<thead><tr>");
    html.raw("<th scope=\"col\"><button type=\"button\">Algorithm</button></th>");
    for column in &columns {
        heading(html, column);
    }
    html.raw("</tr></thead>\n");
    let (yardsticks, contenders): (Vec<usize>, Vec<usize>) =
        (0..comparison.arms.len()).partition(|&arm| comparison.arms[arm].yardstick);
    for (class, body) in [("contenders", contenders), ("yardstick", yardsticks)] {
        if body.is_empty() {
            continue;
        }
        html.add(format_args!("<tbody class=\"{class}\">\n"));
        for arm in body {
            row(html, comparison, arm, &columns, styles[arm]);
        }
        html.raw("</tbody>\n");
    }
    html.raw("</table></div>\n");
}

/// Which dashes go with the colour `style % 8`, as `core.js` has it: forty looks.
pub(super) const fn dash(style: usize) -> usize {
    if style < 32 { (style / 4 + style / 16) % 4 } else { 4 }
}

/// A line as the legend draws it.
pub(super) fn swatch(html: &mut Html, arm: &ArmSummary, style: usize) {
    if arm.yardstick { stroke(html, "var(--arm-ideal)", "3 3") } else { swatch_of(html, style) }
}

pub(super) fn swatch_of(html: &mut Html, style: usize) {
    stroke(html, &format!("var(--arm-{})", style % 8), dash_of(style));
}

pub(super) fn dash_of(style: usize) -> &'static str {
    const DASHES: [&str; 5] = ["", "9 3", "2 3", "10 3 2 3", "16 4"];
    DASHES[dash(style)]
}

pub(super) fn stroke(html: &mut Html, colour: &str, dash: &str) {
    html.add(format_args!(
        "<svg class=\"swatch\" viewBox=\"0 0 22 10\" aria-hidden=\"true\"><line x1=\"0\" x2=\"22\" y1=\"5\" y2=\"5\" \
         stroke=\"{colour}\" stroke-width=\"2.5\" stroke-dasharray=\"{dash}\"/></svg>"
    ));
}

struct Column<'a> {
    info: Option<&'a MetricInfo>,
    title: &'a str,
    shows: Shows,
}

/// What a column shows of its metric.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shows {
    /// Mean and interval.
    Mean,
    /// The same for the metric that decides, drawn, too.
    Deciding,
    /// How the arm stands against the leader.
    Standing,
    /// How far it carries.
    Carries,
    /// Why start-up ended; the metric says when.
    Exit,
}

fn columns(comparison: &Comparison) -> Vec<Column<'_>> {
    let find = |id: &str| comparison.metrics.iter().find(|metric| metric.id == id);
    let mut columns = Vec::new();
    if let Some(info) = find(&comparison.primary) {
        columns.push(Column { info: Some(info), title: &info.name, shows: Shows::Deciding });
        if comparison.leader.is_some() {
            columns.push(Column { info: Some(info), title: "vs leader", shows: Shows::Standing });
        }
    }
    if comparison.carries.is_some() {
        columns.push(Column { info: None, title: "carries", shows: Shows::Carries });
    }
    columns.push(Column { info: find(metric::EXIT_TIME.id), title: "left start-up", shows: Shows::Exit });
    let rest = COLUMNS.iter().map(|metric| metric.id).filter(|id| *id != comparison.primary).filter_map(find);
    columns.extend(rest.map(|info| Column { info: Some(info), title: &info.name, shows: Shows::Mean }));
    columns
}

fn heading(html: &mut Html, column: &Column<'_>) {
    let sort = match column.info.map(|info| info.better) {
        _ if column.shows != Shows::Deciding => "",
        Some(Better::Higher) => " aria-sort=\"descending\"",
        _ => " aria-sort=\"ascending\"",
    };
    let class = if column.shows == Shows::Exit { " class=\"text\"" } else { "" };
    let meaning = match (column.shows, column.info) {
        (Shows::Carries, _) => {
            "share of the neighbouring paths on which it is within the margin of the leader there"
        }
        (Shows::Standing, _) => "paired, seed by seed; see the differences below",
        (_, Some(info)) => &info.meaning,
        _ => "",
    };
    html.add(format_args!(
        "<th scope=\"col\"{class}{sort}><button type=\"button\" title=\"{}\">{}</button></th>",
        Text(meaning),
        Text(&capital(column.title))
    ));
}

fn row(html: &mut Html, comparison: &Comparison, arm: usize, columns: &[Column<'_>], style: usize) {
    let summary = &comparison.arms[arm];
    html.add(format_args!(
        "<tr data-arm=\"{arm}\"><th scope=\"row\" data-value=\"{}\">",
        Text(&summary.label)
    ));
    swatch(html, summary, style);
    html.add(format_args!("<span class=\"label\" title=\"{0}\">{0}</span>", Text(&summary.label)));
    tags(html, comparison, summary);
    html.raw("</th>");
    for column in columns {
        match (column.shows, column.info) {
            (Shows::Carries, _) => carries_cell(html, summary, comparison),
            (Shows::Exit, _) => exit_cell(html, summary, column),
            (Shows::Standing, Some(info)) => standing_cell(html, comparison, summary, info),
            (shows, Some(info)) => metric_cell(html, comparison, summary, info, shows == Shows::Deciding),
            (_, None) => {}
        }
    }
    html.raw("</tr>\n");
}

fn tags(html: &mut Html, comparison: &Comparison, arm: &ArmSummary) {
    if arm.yardstick {
        html.raw(
            "<span class=\"tag\" title=\"It knows the path: for scale, not a contender\">yardstick</span>",
        );
    }
    if arm.metric(&comparison.primary).is_some_and(|summary| summary.modes.is_some()) {
        html.raw("<span class=\"tag warn\" title=\"The runs fall into two groups; see the distributions\">two groups</span>");
    }
    let unfinished = arm.n - arm.metric(&comparison.primary).map_or(0, |summary| summary.n.min(arm.n));
    if unfinished > 0 {
        html.add(format_args!(
            "<span class=\"tag warn\" title=\"Runs without a value in the deciding metric\">{unfinished} unfinished</span>"
        ));
    }
    let others = stood_for(comparison, arm);
    if !others.is_empty() {
        html.add(format_args!(
            "<span class=\"tag\" title=\"The same in every run: {}\">{} more alike</span>",
            Text(&others.join(", ")),
            others.len()
        ));
    }
    let wanted = comparison.seeds.len();
    if (arm.n as usize) < wanted {
        html.add(format_args!("<span class=\"tag warn\">{} of {wanted} runs</span>", arm.n));
    }
}

/// Rows that are alike here need not be alike elsewhere.
fn carries_cell(html: &mut Html, arm: &ArmSummary, comparison: &Comparison) {
    let key = arm.carries.map_or(String::new(), |carries| format!("{carries:e}"));
    let mut text = arm.carries.map_or("–".to_owned(), |carries| show_short(carries, "share"));
    let alike = stood_for(comparison, arm);
    let rows = comparison.carries.iter().flat_map(|carries| &carries.rows);
    let others: Vec<(&String, String)> = rows
        .filter(|row| alike.contains(&row.label.as_str()))
        .filter_map(|row| Some((&row.label, show_short(row.carries?, "share"))))
        .collect();
    if others.iter().any(|(_, other)| *other != text) {
        let each: Vec<String> =
            others.iter().map(|(label, other)| format!("{} {other}", Text(label))).collect();
        text.push_str(&format!(" <small>{}</small>", each.join(", ")));
    }
    html.add(format_args!("<td data-value=\"{key}\">{text}</td>"));
}

fn exit_cell(html: &mut Html, arm: &ArmSummary, column: &Column<'_>) {
    let time = column.info.and_then(|info| Some((arm.metric(&info.id)?, info)));
    let key = time.map_or(String::new(), |(summary, _)| format!("{:e}", summary.mean));
    html.add(format_args!("<td class=\"text\" data-value=\"{key}\">{}", Text(&reasons(&arm.exits))));
    if let Some((summary, info)) = time {
        html.add(format_args!(" <span class=\"interval\">at {}", show(summary.mean, &info.unit)));
        if let Some(interval) = summary.interval.filter(|i| i.low < i.high) {
            html.add(format_args!(" ({})", show_interval(&interval, &info.unit)));
        }
        html.raw("</span>");
    }
    html.raw("</td>");
}

fn standing_cell(html: &mut Html, comparison: &Comparison, arm: &ArmSummary, info: &MetricInfo) {
    let pair = comparison.pairs.iter().find(|p| {
        p.metric == info.id && p.arm == arm.label && Some(&p.against) == comparison.leader.as_ref()
    });
    let leader = comparison.leader.as_ref() == Some(&arm.label);
    // Sorted by the ratio: the leader is 1, the yardstick stands in a body of its own.
    let key = match pair {
        _ if leader => "1".to_owned(),
        Some(pair) => format!("{:e}", pair.ratio.unwrap_or(pair.difference)),
        None => String::new(),
    };
    let class = match pair.map(|pair| pair.finding) {
        _ if leader => "good",
        Some(Finding::Equivalent) => "good",
        Some(Finding::CannotTell) => "unclear",
        _ => "",
    };
    let text = standing(comparison, arm).unwrap_or_else(|| "–".to_owned());
    html.add(format_args!("<td data-value=\"{key}\"><span class=\"{class}\">{}</span></td>", Text(&text)));
}

/// `delay`, or with several reasons `delay 24, loss 6`.
pub(super) fn reasons(exits: &[ExitCount]) -> String {
    match exits {
        [] => "–".to_owned(),
        [only] => only.reason.word().to_owned(),
        several => {
            several.iter().map(|e| format!("{} {}", e.reason.word(), e.runs)).collect::<Vec<_>>().join(", ")
        }
    }
}

fn metric_cell(html: &mut Html, comparison: &Comparison, arm: &ArmSummary, info: &MetricInfo, dots: bool) {
    let Some(summary) = arm.metric(&info.id) else {
        html.raw("<td data-value=\"\">–</td>");
        return;
    };
    let best = if is_best(comparison, arm, info) { " best" } else { "" };
    let deciding = if dots { "deciding" } else { "" };
    html.add(format_args!("<td class=\"{deciding}{best}\" data-value=\"{:e}\">", summary.mean));
    if dots {
        interval_bar(html, comparison, info, summary);
    }
    let interval = interval_below(interval_of(summary), &info.unit);
    html.add(format_args!("<span>{}{interval}</span></td>", show_mean(summary, &info.unit)));
}

/// Whether the arm's mean is the best of the contenders' as it is printed. What most of them reach is not marked, nor what a row has
/// that never finishes.
pub(super) fn is_best(comparison: &Comparison, arm: &ArmSummary, info: &MetricInfo) -> bool {
    let sign = match info.better {
        Better::Lower => 1.0,
        Better::Higher => -1.0,
        Better::Neither => return false,
    };
    let finishes =
        |arm: &ArmSummary| arm.metric(&comparison.primary).is_none_or(|summary| summary.unfinished() < arm.n);
    let printed = |arm: &ArmSummary| arm.metric(&info.id).map(|s| (sign * s.mean, show(s.mean, &info.unit)));
    let all: Vec<(f64, String)> =
        comparison.arms.iter().filter(|arm| !arm.yardstick && finishes(arm)).filter_map(printed).collect();
    let Some((_, best)) = all.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else { return false };
    let alike = all.iter().filter(|(_, text)| text == best).count();
    alike * 2 <= all.len()
        && !arm.yardstick
        && finishes(arm)
        && printed(arm).is_some_and(|(_, text)| &text == best)
}

/// Mean and interval on one scale for the whole column.
fn interval_bar(html: &mut Html, comparison: &Comparison, info: &MetricInfo, summary: &Summary) {
    const WIDTH: f64 = 120.0;
    let ends = |s: &Summary| s.interval.map_or((s.mean, s.mean), |i| (i.low.min(s.mean), i.high.max(s.mean)));
    let all = || comparison.arms.iter().filter_map(|arm| arm.metric(&info.id)).map(ends);
    let (low, high) = all().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), (a, b)| (l.min(a), h.max(b)));
    let logarithmic = low > 0.0 && high / low > 12.0;
    let map = |v: f64| if logarithmic { libm::log(v) } else { v };
    let span = map(high) - map(low);
    if span <= 0.0 || !span.is_finite() {
        return;
    }
    let x = |v: f64| 5.0 + (map(v) - map(low)) / span * (WIDTH - 10.0);
    let (a, b) = ends(summary);
    html.add(format_args!(
        "<svg class=\"dots\" viewBox=\"0 0 120 12\" aria-hidden=\"true\">\
         <line x1=\"0\" x2=\"120\" y1=\"6\" y2=\"6\" stroke=\"var(--line)\"/>\
         <line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"6\" y2=\"6\" stroke=\"var(--ink-2)\" stroke-width=\"3\" stroke-linecap=\"round\"/>\
         <circle cx=\"{:.1}\" cy=\"6\" r=\"3.6\" fill=\"var(--ink)\"/></svg>",
        x(a),
        x(b),
        x(summary.mean)
    ));
}

/// The first letter large.
pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

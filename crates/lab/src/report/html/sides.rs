//! Backends side by side as one page: a table of all with their differences, and their windows over time.

use rampcc_trace::FlowSeries;

use super::curves::flow_shown;
use super::frame::{brand, document_head, fact_list};
use super::number::{interval_below, interval_of, show, show_mean};
use super::summary::{capital, reasons, stroke};
use super::text::{Html, Text};
use crate::comparison::Finding;
use crate::metric::{self, Definition};
use crate::report::sides::{difference_text, emulations, listed, ordered};
use crate::sides::{Side, SideBySide, SideRow, SidesWords};
use crate::{Context, Representative};

/// Metrics in the table, each on both sides.
const COLUMNS: [Definition; 3] = [metric::EXIT_TIME, metric::EXIT_WINDOW_BDP, metric::RETRANSMISSIONS];
/// A chart, in units of its own.
const CHART: (f64, f64) = (340.0, 150.0);
const POINTS: usize = 400;

/// The whole document; `places` are where the sides' own reports are, as links.
pub(super) fn page(both: &SideBySide, words: &SidesWords, places: &[&str]) -> String {
    let mut html = Html::default();
    let sides = listed(&both.sides);
    let title = format!("{}: {sides}", both.provenance.scenario);
    document_head(&mut html, &both.provenance.version, &title);
    html.raw("<body>\n<div class=\"page\">\n<header class=\"bar\">");
    brand(&mut html);
    html.raw("<nav aria-label=\"Reports\">");
    for (side, place) in both.sides.iter().zip(places) {
        html.add(format_args!("<a href=\"{}\">Everything on {}</a>", Text(place), Text(side)));
    }
    html.raw("</nav></header>\n<main>\n<div>\n");
    html.add(format_args!(
        "<h1><b>{}</b> on {}</h1>\n<p class=\"verdict\">{}</p>\n",
        Text(&both.provenance.scenario),
        Text(&sides),
        Text(&words.verdict)
    ));
    if !words.notes.is_empty() {
        html.raw("<div class=\"warning\">");
        words.notes.iter().for_each(|note| html.add(format_args!("<p>{}</p>\n", Text(note))));
        html.raw("</div>\n");
    }
    html.raw("<dl class=\"facts\">\n");
    fact_list(&mut html, &both.context, None);
    html.raw("</dl>\n</div>\n<section id=\"summary\">\n<h2>Side by side</h2>\n");
    html.add(format_args!(
        "<p class=\"note\">Means over runs; differences are {} against {}, seed by seed, with 95 % intervals where there \
         is more than one run. Green: the same within {:.0} %.</p>\n",
        Text(&listed(&both.sides[1..])),
        Text(&both.sides[0]),
        both.margin * 100.0
    ));
    table(&mut html, both);
    for text in emulations(both) {
        html.add(format_args!("<p class=\"note small\">{}</p>\n", Text(&text)));
    }
    html.raw("</section>\n");
    charts(&mut html, both);
    html.add(format_args!(
        "<section id=\"again\">\n<h2>Make it again</h2>\n<div class=\"copy\"><pre tabindex=\"0\">{}</pre></div>\n\
         <p class=\"note small\">ramp {} · backends {}</p>\n</section>\n</main>\n<footer>Made by ramp {}. This file needs no \
         network.</footer>\n</div>\n</body>\n</html>\n",
        Text(&both.provenance.command),
        Text(&both.provenance.version),
        Text(&both.provenance.backend),
        Text(&both.provenance.version)
    ));
    html.into_string()
}

fn table(html: &mut Html, both: &SideBySide) {
    let columns: Vec<&str> =
        std::iter::once(both.primary.as_str()).chain(COLUMNS.map(|metric| metric.id)).collect();
    let columns: Vec<_> = columns.iter().filter_map(|id| both.info(id)).collect();
    html.raw(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Side by side\">\n<table>\n\
         <caption class=\"visually-hidden\">Each algorithm on every side</caption>\n<thead><tr><th scope=\"col\" rowspan=\"2\">Algorithm</th>",
    );
    for info in &columns {
        html.add(format_args!(
            "<th scope=\"colgroup\" colspan=\"{}\">{}</th>",
            2 * both.sides.len() - 1,
            Text(&capital(&info.name))
        ));
    }
    html.add(format_args!(
        "<th scope=\"colgroup\" colspan=\"{}\">Because of</th></tr>\n<tr>",
        both.sides.len()
    ));
    for _ in &columns {
        for (at, side) in both.sides.iter().enumerate() {
            html.add(format_args!("<th scope=\"col\">{}</th>", Text(side)));
            html.raw(if at > 0 { "<th scope=\"col\">difference</th>" } else { "" });
        }
    }
    for side in &both.sides {
        html.add(format_args!("<th scope=\"col\" class=\"text\">{}</th>", Text(side)));
    }
    html.raw("</tr></thead>\n<tbody>\n");
    for row in ordered(both) {
        html.add(format_args!("<tr><th scope=\"row\">{}</th>", Text(&row.label)));
        for info in &columns {
            for side in 0..both.sides.len() {
                cells(html, row.metric(&info.id), side, &info.unit);
            }
        }
        for exits in &row.exits {
            let words = if exits.is_empty() { "–".to_owned() } else { reasons(exits) };
            html.add(format_args!("<td class=\"text\">{}</td>", Text(&words)));
        }
        html.raw("</tr>\n");
    }
    html.raw("</tbody></table></div>\n");
}

/// A value, and its difference to the first side's.
fn cells(html: &mut Html, metric: Option<&Side>, side: usize, unit: &str) {
    // The heading has said it.
    let shown = if unit == "BDP" { "" } else { unit };
    match metric.and_then(|metric| metric.values[side].as_ref()) {
        None => html.raw("<td>–</td>"),
        Some(summary) => html.add(format_args!(
            "<td>{}{}</td>",
            show_mean(summary, shown),
            interval_below(interval_of(summary), shown)
        )),
    }
    if side == 0 {
        return;
    }
    match metric.and_then(|metric| metric.difference(side)) {
        None => html.raw("<td>–</td>"),
        Some(difference) => {
            let class = match difference.finding {
                Finding::Equivalent => "good",
                Finding::CannotTell => "",
                Finding::Lower | Finding::Higher => "unclear",
            };
            let text = difference_text(difference, unit);
            html.add(format_args!("<td><span class=\"{class}\">{}</span></td>", Text(&text)));
        }
    }
}

fn charts(html: &mut Html, both: &SideBySide) {
    let rows: Vec<&SideRow> = ordered(both)
        .into_iter()
        .filter(|row| row.representatives.iter().flatten().any(|run| flow_shown(run).is_some()))
        .collect();
    if rows.is_empty() {
        return;
    }
    html.raw(
        "<section id=\"time\">\n<h2>Congestion windows</h2>\n<p class=\"note\">Of runs of the same seed where all sides have one \
         drawn:",
    );
    for (at, side) in both.sides.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let (colour, dash) = STROKES[at % STROKES.len()];
        html.raw(comma);
        html.raw(" ");
        stroke(html, colour, dash);
        html.add(format_args!(" {}", Text(side)));
    }
    html.raw(
        "; the dot is the end of start-up, the dashed line the BDP.</p>\n<div class=\"grid-3 sides\">\n",
    );
    for row in rows {
        html.add(format_args!("<figure class=\"figure\"><header><h3>{}</h3></header>", Text(&row.label)));
        chart(html, row, &both.context);
        html.raw("</figure>\n");
    }
    html.raw("</div>\n</section>\n");
}

/// Of the sides, again from the first where there are more.
const STROKES: [(&str, &str); 4] =
    [("var(--arm-1)", "5 3"), ("var(--arm-0)", ""), ("var(--arm-2)", "2 2"), ("var(--arm-3)", "8 3 2 3")];

/// A window as steps over time since the opening.
fn curve(flow: &FlowSeries) -> Vec<(f64, f64)> {
    let points = flow.time_s.iter().zip(&flow.cwnd_bytes).map(|(t, cwnd)| (t - flow.opened_s, *cwnd as f64));
    points.filter(|(t, _)| *t >= 0.0).collect()
}

fn chart(html: &mut Html, row: &SideRow, context: &Context) {
    let (width, height) = CHART;
    // The largest value stands above the curves.
    let (left, bottom, head) = (4.0, 16.0, 14.0);
    let runs = || row.representatives.iter().map(Option::as_ref);
    let curves: Vec<Vec<(f64, f64)>> =
        runs().map(|run| run.and_then(flow_shown).map_or(Vec::new(), curve)).collect();
    let exit = |run: Option<&Representative>| {
        run.and_then(|run| run.exit.as_ref()).map(|exit| (exit.time_s, exit.cwnd_bytes as f64))
    };
    let exits: Vec<Option<(f64, f64)>> = runs().map(exit).collect();
    let end = curves.iter().filter_map(|curve| curve.last()).map(|(t, _)| *t).fold(0.0, f64::max);
    let last_exit = exits.iter().flatten().map(|(t, _)| *t).fold(0.0, f64::max);
    let until = if last_exit > 0.0 { (last_exit * 1.5 + 4.0 * context.base_rtt_s).min(end) } else { end };
    let bdp = context.bdp_bytes as f64;
    let seen = |curve: &Vec<(f64, f64)>| {
        curve.iter().filter(|(t, _)| *t <= until).map(|(_, y)| *y).fold(0.0, f64::max)
    };
    let top = curves.iter().map(seen).fold(bdp, f64::max) * 1.08;
    if until <= 0.0 || top <= 0.0 {
        return;
    }
    let x = |t: f64| left + t / until * (width - 2.0 * left);
    let y = |value: f64| (height - bottom - head) * (1.0 - (value / top).min(1.0)) + head + 2.0;
    html.add(format_args!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"Congestion windows of {}\">\
         <line x1=\"{left}\" x2=\"{}\" y1=\"{2:.1}\" y2=\"{2:.1}\" stroke=\"var(--line-strong)\"/>",
        Text(&row.label),
        width - left,
        y(0.0)
    ));
    if bdp > 0.0 {
        html.add(format_args!(
            "<line x1=\"{left}\" x2=\"{}\" y1=\"{1:.1}\" y2=\"{1:.1}\" stroke=\"var(--reference)\" stroke-dasharray=\"4 4\"/>",
            width - left,
            y(bdp)
        ));
    }
    for (curve, (colour, dash)) in curves.iter().zip(STROKES.into_iter().cycle()) {
        let inside: Vec<&(f64, f64)> = curve.iter().filter(|(t, _)| *t <= until).collect();
        let every = inside.len().div_ceil(POINTS).max(1);
        let points: Vec<String> =
            inside.iter().step_by(every).map(|(t, value)| format!("{:.1},{:.1}", x(*t), y(*value))).collect();
        html.add(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\" stroke-dasharray=\"{dash}\"/>",
            points.join(" ")
        ));
    }
    for ((t, cwnd), (colour, _)) in
        exits.iter().zip(STROKES.into_iter().cycle()).filter_map(|(exit, style)| Some(((*exit)?, style)))
    {
        html.add(format_args!(
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.6\" fill=\"{colour}\" stroke=\"var(--paper)\"/>",
            x(t),
            y(cwnd)
        ));
    }
    html.add(format_args!(
        "<text x=\"{left}\" y=\"{0}\" font-size=\"11\" fill=\"var(--ink-3)\">0</text>\
         <text x=\"{1}\" y=\"{0}\" font-size=\"11\" fill=\"var(--ink-3)\" text-anchor=\"end\">{2}</text>\
         <text x=\"{1}\" y=\"11\" font-size=\"11\" fill=\"var(--ink-3)\" text-anchor=\"end\">{3}</text></svg>",
        height - 2.0,
        width - left,
        show(until, "s"),
        show(top, "bytes")
    ));
}

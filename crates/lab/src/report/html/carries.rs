//! Reach of the answer: regret against each uncertain field, all paths as a table, and the nearest loss.

use rampcc::figures::counted;

use super::data::styles;
use super::number::show_short;
use super::summary::{capital, swatch};
use super::tables::copyable;
use super::text::{Html, Text, encoded};
use crate::carries::{CarriedRow, Carries, Influence, LOSS, UncertainField, field_name};
use crate::format::{quantity, share};
use crate::{ArmSummary, Comparison, Words};

const STYLE: &str = include_str!("../../../assets/report/carries.css");
/// Rows drawn besides the leader.
const RIVALS: usize = 3;
/// Fields that are shown at once: those whose influence is certain, but no fewer and no more than these.
const FEWEST: usize = 2;
const MOST: usize = 3;
/// Below this a field's influence is certain.
const CERTAIN: f64 = 0.05;
/// Of a figure, in the units of its view box.
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 170.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 34.0;
/// Regrets that may be marked on the axis.
const MARKS: [f64; 9] = [0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];
/// Beyond this regret everything is drawn at the edge.
const HIGHEST: f64 = 10.0;

/// The section, if neighbours were played.
pub(super) fn section(html: &mut Html, comparison: &Comparison, words: &Words) {
    let Some(carries) = &comparison.carries else { return };
    html.add(format_args!("<style>{STYLE}</style>\n<section id=\"carries\">\n<h2>How far it carries</h2>\n"));
    html.add(format_args!("<p class=\"note\">{}", Text(words.reach.as_deref().unwrap_or_default())));
    html.add(format_args!(
        " Played: one run of each algorithm on {} drawn from what the scenario does not know. Regret is how much worse an \
         algorithm is there than the contender that leads there.</p>\n",
        counted(carries.neighbourhood.paths.len(), "path")
    ));
    let drawn = drawn(comparison, carries);
    if !drawn.is_empty() {
        let fields = order(carries);
        let certain = fields.iter().filter(|influence| influence.p < CERTAIN).count();
        let (first, rest) = fields.split_at(certain.clamp(FEWEST, MOST).min(fields.len()));
        let figures = |html: &mut Html, fields: &[Influence]| {
            html.raw("<div class=\"carries-grid\" data-carries>\n");
            for influence in fields {
                figure(html, comparison, carries, influence, &drawn);
            }
            html.raw("</div>\n");
        };
        figures(html, first);
        key(html, comparison, &drawn);
        if !rest.is_empty() {
            let fields = if rest.len() == 1 { "field" } else { "fields" };
            html.add(format_args!(
                "<details class=\"others\"><summary>The other {} {fields}</summary>\n",
                rest.len()
            ));
            figures(html, rest);
            html.raw("</details>\n");
        }
    }
    nearest(html, comparison, carries);
    shares(html, comparison, carries);
    paths(html, comparison, carries);
    html.raw("</section>\n");
}

/// The leader and those that carry furthest, each with its place among the arms.
fn drawn<'a>(comparison: &'a Comparison, carries: &'a Carries) -> Vec<(usize, &'a CarriedRow)> {
    let place = |row: &CarriedRow| comparison.arms.iter().position(|arm| arm.label == row.label);
    let mut rows: Vec<&CarriedRow> = carries.rows.iter().filter(|row| !row.yardstick).collect();
    rows.sort_by(|a, b| {
        let leads = |row: &CarriedRow| Some(&row.label) == comparison.leader.as_ref();
        let share = |row: &CarriedRow| row.carries.unwrap_or_default();
        leads(b).cmp(&leads(a)).then(share(b).total_cmp(&share(a)))
    });
    rows.truncate(1 + RIVALS);
    rows.into_iter().filter_map(|row| Some((place(row)?, row))).collect()
}

/// All fields, those that decide most first; without a judgement in their own order.
fn order(carries: &Carries) -> Vec<Influence> {
    if !carries.influences.is_empty() {
        return carries.influences.clone();
    }
    let plain = |field| Influence { field, index: 0.0, p: 1.0, split: None };
    (0..carries.neighbourhood.fields.len()).map(plain).collect()
}

fn figure(
    html: &mut Html,
    comparison: &Comparison,
    carries: &Carries,
    influence: &Influence,
    drawn: &[(usize, &CarriedRow)],
) {
    let Some(field) = carries.neighbourhood.fields.get(influence.field) else { return };
    let title = capital(&field_name(&field.field));
    html.add(format_args!(
        "<figure data-field=\"{}\"><figcaption><h3>{}</h3><p>",
        Text(&field.field),
        Text(&title)
    ));
    if carries.influences.is_empty() {
        html.add(format_args!("{}</p></figcaption>", Text(&field.values)));
    } else {
        let certain = if influence.p < CERTAIN { "" } else { ", not certain" };
        let explains = share(influence.index);
        html.add(format_args!("explains {} of the regret{certain}</p></figcaption>", Text(&explains)));
    }
    let highest = drawn
        .iter()
        .flat_map(|(_, row)| row.regrets.iter().flatten())
        .fold(comparison.margin * 2.0, |high, regret| high.max(*regret))
        .min(HIGHEST);
    let y = |regret: f64| {
        let share = libm::log1p(regret.clamp(0.0, highest)) / libm::log1p(highest);
        HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)
    };
    let x = |at: f64| LEFT + at * (WIDTH - LEFT - RIGHT);
    html.add(format_args!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Regret against {}, {}; the table below has the numbers\">",
        Text(&field_name(&field.field)),
        Text(&field.values)
    ));
    html.add(format_args!(
        "<rect class=\"band\" x=\"{LEFT}\" width=\"{}\" y=\"{:.1}\" height=\"{:.1}\"/>",
        WIDTH - LEFT - RIGHT,
        y(comparison.margin),
        y(0.0) - y(comparison.margin)
    ));
    axes(html, field, highest, x, y);
    if let Some(described) = field.described {
        html.add(format_args!(
            "<line class=\"described\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{TOP}\" y2=\"{1:.1}\"><title>the described path</title></line>",
            x(described),
            y(0.0)
        ));
    }
    let styles = styles(&comparison.arms);
    for (index, (arm, row)) in drawn.iter().enumerate().rev() {
        let mut dots = String::new();
        for (path, regret) in carries.neighbourhood.paths.iter().zip(&row.regrets) {
            if let (Some(at), Some(regret)) = (path.at.get(influence.field), regret) {
                dots.push_str(&format!("M{:.1} {:.1}h0", x(*at), y(*regret)));
            }
        }
        let class = if index == 0 { "leader" } else { "rival" };
        html.add(format_args!(
            "<path class=\"regrets {class}\" data-arm=\"{arm}\" d=\"{dots}\" stroke=\"var(--arm-{})\"/>",
            styles[*arm] % 8
        ));
    }
    html.raw("</svg>");
    if !field.reason.is_empty() {
        html.add(format_args!("<p class=\"small\">{}: {}</p>", Text(&field.values), Text(&field.reason)));
    }
    html.raw("</figure>\n");
}

fn axes(
    html: &mut Html,
    field: &UncertainField,
    highest: f64,
    x: impl Fn(f64) -> f64,
    y: impl Fn(f64) -> f64,
) {
    let mut last = f64::INFINITY;
    for mark in MARKS.into_iter().filter(|mark| *mark <= highest) {
        let at = y(mark);
        if last - at < 14.0 && mark > 0.0 {
            continue;
        }
        last = at;
        let text = if mark < 1.0 { share(mark) } else { format!("{}×", mark + 1.0) };
        html.add(format_args!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
            WIDTH - RIGHT,
            LEFT - 5.0,
            at + 4.0
        ));
    }
    let mut label = |at: f64, anchor: &str, text: &str| {
        html.add(format_args!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            x(at),
            HEIGHT - BOTTOM + 16.0,
            Text(text)
        ));
    };
    if let Some((low, high)) = field.range {
        let middle = if field.logarithmic { libm::sqrt(low * high) } else { f64::midpoint(low, high) };
        let show = |value: f64| crate::carries::short(&value.to_string());
        label(0.0, "start", &show(low));
        label(0.5, "middle", &show(middle));
        label(1.0, "end", format!("{} {}", show(high), field.unit).trim_end());
    } else {
        label(0.5, "middle", &field.values);
    }
}

/// Which dots are whose.
fn key(html: &mut Html, comparison: &Comparison, drawn: &[(usize, &CarriedRow)]) {
    let styles = styles(&comparison.arms);
    html.raw("<p class=\"note small carries-key\">");
    for (index, (arm, row)) in drawn.iter().enumerate() {
        let role = if index == 0 { ", the leader" } else { "" };
        html.add(format_args!(
            "<span data-arm=\"{arm}\"><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><circle cx=\"5\" cy=\"5\" r=\"4\" \
             fill=\"var(--arm-{})\"/></svg> {}{role}</span> ",
            styles[*arm] % 8,
            Text(&row.label)
        ));
    }
    html.add(format_args!(
        "Dashed: the described path. Shaded: within {} of the leader there.</p>\n",
        Text(&share(comparison.margin))
    ));
}

fn nearest(html: &mut Html, comparison: &Comparison, carries: &Carries) {
    let (Some(loss), Some(leader)) = (&carries.nearest_loss, &comparison.leader) else {
        if carries.decided > 0 {
            html.add(format_args!(
                "<p>On none of these paths does the leader lose by more than {}.</p>\n",
                Text(&share(LOSS))
            ));
        }
        return;
    };
    let values = carries.neighbourhood.paths.get(loss.path).map_or(&[][..], |path| &path.values);
    let described: Vec<String> = (carries.neighbourhood.fields.iter().zip(values))
        .map(|(field, value)| format!("{} {value}", field_name(&field.field)))
        .collect();
    html.add(format_args!(
        "<h3>The nearest path on which {} loses</h3>\n<p>{} is worse than {} by {} there: {}.</p>\n",
        Text(leader),
        Text(leader),
        Text(&loss.winner),
        Text(&share(loss.regret)),
        Text(&described.join(", "))
    ));
    let Some(text) = &loss.scenario else { return };
    html.add(format_args!(
        "<p><a download=\"nearest-loss.toml\" href=\"data:text/plain;charset=utf-8,{}\">nearest-loss.toml</a> makes it again: \
         <code>ramp compare nearest-loss.toml</code></p>\n<details><summary>The scenario</summary>",
        encoded(text, |byte| byte.is_ascii_alphanumeric())
    ));
    copyable(html, text);
    html.raw("</details>\n");
}

/// How far each row carries.
fn shares(html: &mut Html, comparison: &Comparison, carries: &Carries) {
    let styles = styles(&comparison.arms);
    html.raw(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"How far each algorithm carries\">\n<table>\
         <caption class=\"visually-hidden\">Each algorithm over all neighbouring paths</caption>\n<thead><tr><th scope=\"col\">Algorithm</th>",
    );
    html.add(format_args!(
        "<th scope=\"col\">Within {} of the leader there</th><th scope=\"col\">Median regret</th><th scope=\"col\">Largest regret</th>\
         <th scope=\"col\">Unfinished</th></tr></thead>\n<tbody>\n",
        Text(&share(comparison.margin))
    ));
    let found = |arm: &ArmSummary| carries.rows.iter().find(|row| row.label == arm.label);
    for (arm, style) in comparison.arms.iter().zip(styles) {
        let Some(row) = found(arm) else { continue };
        let mut regrets: Vec<f64> = row.regrets.iter().flatten().copied().collect();
        regrets.sort_by(f64::total_cmp);
        let at =
            |index: Option<usize>| index.and_then(|i| regrets.get(i)).map_or("–".to_owned(), |r| share(*r));
        let unfinished =
            row.regrets.iter().zip(&row.values).filter(|(r, v)| r.is_some() && v.is_none()).count();
        html.raw("<tr><th scope=\"row\">");
        swatch(html, arm, style);
        html.add(format_args!(
            "{}</th><td>{}</td><td>{}</td><td>{}</td><td>{unfinished}</td></tr>\n",
            Text(&row.label),
            row.carries.map_or("–".to_owned(), |share| {
                format!("{} ({} of {})", show_short(share, "share"), carries.paths(row), carries.decided)
            }),
            Text(&at(Some(regrets.len() / 2))),
            Text(&at(regrets.len().checked_sub(1)))
        ));
    }
    html.raw("</tbody></table></div>\n");
}

/// Every path with its values, who is the best there, and how the leader does.
fn paths(html: &mut Html, comparison: &Comparison, carries: &Carries) {
    let unit = comparison.primary_info().map_or("", |info| info.unit.as_str());
    let leader = carries.rows.iter().find(|row| Some(&row.label) == comparison.leader.as_ref());
    html.raw(
        "<details><summary>All paths</summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All paths\">\n\
         <table><thead><tr><th scope=\"col\">Path</th>",
    );
    for field in &carries.neighbourhood.fields {
        html.add(format_args!("<th scope=\"col\">{}</th>", Text(&capital(&field_name(&field.field)))));
    }
    html.raw("<th scope=\"col\">Best</th><th scope=\"col\">Its value</th><th scope=\"col\">Leader’s regret</th></tr></thead>\n<tbody>\n");
    for (index, path) in carries.neighbourhood.paths.iter().enumerate() {
        html.add(format_args!("<tr><th scope=\"row\">{}</th>", index + 1));
        for value in &path.values {
            html.add(format_args!("<td>{}</td>", Text(value)));
        }
        let best = carries
            .rows
            .iter()
            .filter(|row| !row.yardstick)
            .find(|row| row.values[index].is_some() && row.regrets[index].is_some_and(|r| r <= 1e-12));
        html.add(format_args!(
            "<td>{}</td><td>{}</td><td>{}</td></tr>\n",
            Text(best.map_or("–", |row| &row.label)),
            Text(
                &best
                    .and_then(|row| row.values[index])
                    .map_or("–".to_owned(), |value| quantity(value, unit))
            ),
            Text(&leader.and_then(|row| row.regrets[index]).map_or("–".to_owned(), share))
        ));
    }
    html.raw("</tbody></table></div>\n</details>\n");
}

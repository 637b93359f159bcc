//! One page over the comparisons of a sweep: lines over the swept value, a table, and a way to each report.

mod axis;
mod swept;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use self::swept::Swept;
use super::charts::standing;
use super::data::styles;
use super::frame::{Script, brand, document_head, page_end, theme_button};
use super::number::show_mean;
use super::summary::{capital, swatch};
use super::tables::copyable;
use super::text::{Html, Text};
use crate::{ArmSummary, Comparison, MetricInfo, Words};

/// Comparisons over the values of swept fields.
#[derive(Clone, Debug)]
pub struct Overview<'a> {
    /// The swept fields, as in `path.buffer`.
    pub fields: Vec<String>,
    /// In the order of the sweep.
    pub points: Vec<SweptPoint<'a>>,
}

/// One comparison of a sweep.
#[derive(Clone, Debug)]
pub struct SweptPoint<'a> {
    /// The value of each field as it was typed, in the order of [`Overview::fields`].
    pub values: Vec<String>,
    /// Where its report is, as a link relative to the overview; `None`: there is none.
    pub report: Option<String>,
    /// What was found.
    pub comparison: &'a Comparison,
}

/// An overview of a sweep as one self-contained page; text of the comparisons may hold anything.
pub fn render_overview(overview: &Overview<'_>) -> String {
    let mut html = Html::default();
    let Some(first) = overview.points.first().map(|point| point.comparison) else {
        document_head(&mut html, "", "Nothing was swept");
        html.raw("<body>\n<main><p>The sweep has no value.</p></main>\n</body>\n</html>\n");
        return html.into_string();
    };
    let swept = Swept::new(overview);
    let scenario = &first.provenance.scenario;
    document_head(&mut html, &first.provenance.version, &format!("{scenario} over {}", swept.fields()));
    html.raw("<body>\n<a class=\"skip\" href=\"#table\">To the table</a>\n<div class=\"page\">\n<header class=\"bar\">");
    brand(&mut html);
    html.raw(
        "<nav aria-label=\"Sections\"><a href=\"#lines\">Over the values</a><a href=\"#table\">Table</a>\
         <a href=\"#words\">In words</a><a href=\"#again\">Reproduce</a></nav>",
    );
    theme_button(&mut html);
    html.add(format_args!(
        "</header>\n<main>\n<div>\n<h1>Start-up algorithms on <b>{}</b> over <b>{}</b></h1>\n<p class=\"verdict\">{}</p>\n</div>\n",
        Text(scenario),
        Text(&swept.fields()),
        Text(&swept.sentence())
    ));
    lines_section(&mut html, &swept);
    table_section(&mut html, &swept);
    words_section(&mut html, overview);
    html.raw("<section id=\"again\">\n<h2>Reproduce</h2>\n");
    copyable(&mut html, &first.provenance.command);
    html.add(format_args!(
        "<p class=\"note small\">ramp {} · backend {}</p>\n</section>\n",
        Text(&first.provenance.version),
        Text(&first.provenance.backend)
    ));
    let json = serde_json::to_string(&swept.data()).expect("the data block has string keys only");
    page_end(&mut html, &first.provenance.version, &json, Script::Overview);
    html.into_string()
}

fn lines_section(html: &mut Html, swept: &Swept<'_>) {
    html.raw(
        "<section id=\"lines\">\n<h2>Over the values</h2>\n<p class=\"note\">Means over runs; bars are 95 % intervals. A \
         click on a name hides its line.",
    );
    if swept.cut_off() {
        html.raw(" A triangle stands for runs of which some did not finish: their mean is at least that.");
    }
    html.raw(
        "</p>\n<noscript><p class=\"warning\">The chart needs scripts; the table does \
         not.</p></noscript>\n<div class=\"tools needs-script\" role=\"toolbar\" aria-label=\"Algorithms\">\
         <div class=\"chips\" id=\"chips\" role=\"group\" aria-label=\"Algorithms shown\"></div>\
         <button type=\"button\" id=\"show-all\" disabled>All</button><span class=\"spacer\"></span>\
         <label class=\"choice\">Metric <select id=\"metric\">",
    );
    for (index, info) in swept.metrics().iter().enumerate() {
        html.add(format_args!("<option value=\"{index}\">{}</option>", Text(&capital(&info.name))));
    }
    html.raw(
        "</select></label></div>\n<p id=\"announce\" class=\"visually-hidden\" aria-live=\"polite\"></p>\n",
    );
    for (index, (title, _)) in swept.facets().iter().enumerate() {
        let title = if title.is_empty() { swept.fields() } else { title.clone() };
        html.add(format_args!(
            "<div class=\"chart needs-script\" data-facet=\"{index}\"><header><h3>{0}</h3></header><div class=\"plot\" \
             tabindex=\"0\" role=\"application\" aria-roledescription=\"chart\" aria-label=\"Means over {0}. Arrow keys \
             go from value to value.\"></div><div class=\"values\" aria-hidden=\"true\"></div></div>\n",
            Text(&title)
        ));
    }
    html.raw("</section>\n");
}

fn table_section(html: &mut Html, swept: &Swept<'_>) {
    let Some(info) = swept.info else { return };
    html.add(format_args!(
        "<section id=\"table\">\n<h2>{}</h2>\n<p class=\"note\">Mean over runs, and how it stands against the leader of its \
         line.</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0} over the values\">\n\
         <table id=\"sweep-table\"><caption class=\"visually-hidden\">{0} of each algorithm at each value</caption>\n<thead><tr>",
        Text(&capital(&info.name))
    ));
    html.add(format_args!(
        "<th scope=\"col\">{}</th><th scope=\"col\" class=\"text\">Leader</th>",
        Text(&swept.fields())
    ));
    let owned: Vec<ArmSummary> = swept.arms.iter().map(|arm| (*arm).clone()).collect();
    for (arm, style) in swept.arms.iter().zip(styles(&owned)) {
        html.raw("<th scope=\"col\">");
        swatch(html, arm, style);
        html.add(format_args!("{}</th>", Text(&arm.label)));
    }
    html.raw("</tr></thead>\n<tbody>\n");
    for point in &swept.overview.points {
        let value = point.values.join(", ");
        html.raw("<tr><th scope=\"row\">");
        match &point.report {
            Some(place) => html.add(format_args!("<a href=\"{}\">{}</a>", Text(place), Text(&value))),
            None => html.add(format_args!("{}", Text(&value))),
        }
        let leader = point.comparison.leader.as_deref().unwrap_or("–");
        html.add(format_args!("</th><td class=\"text\">{}</td>", Text(leader)));
        for arm in &swept.arms {
            cell(html, point.comparison, &arm.label, info);
        }
        html.raw("</tr>\n");
    }
    html.raw("</tbody></table></div>\n</section>\n");
}

fn cell(html: &mut Html, comparison: &Comparison, label: &str, info: &MetricInfo) {
    let found = comparison.arm(label).and_then(|arm| Some((arm, arm.metric(&info.id)?)));
    let Some((arm, summary)) = found else {
        html.raw("<td>–</td>");
        return;
    };
    let leads = comparison.leader.as_deref() == Some(label);
    let class = if leads { " class=\"best\"" } else { "" };
    html.add(format_args!("<td{class} data-value=\"{:e}\">{}", summary.mean, show_mean(summary, &info.unit)));
    if summary.n < arm.n {
        html.add(format_args!(" <span class=\"interval\">{} of {} runs</span>", summary.n, arm.n));
    }
    if let Some(standing) = standing(comparison, arm).filter(|_| !leads) {
        html.add(format_args!(" <span class=\"interval\">{}</span>", Text(&standing)));
    }
    html.raw("</td>");
}

fn words_section(html: &mut Html, overview: &Overview<'_>) {
    html.raw("<section id=\"words\">\n<h2>In words</h2>\n<ul class=\"exits\">\n");
    let mut notes: BTreeMap<String, usize> = BTreeMap::new();
    for point in &overview.points {
        html.raw("<li><h3>");
        let value = point.values.join(", ");
        match &point.report {
            Some(place) => html.add(format_args!("<a href=\"{}\">{}</a>", Text(place), Text(&value))),
            None => html.add(format_args!("{}", Text(&value))),
        }
        let words = Words::of(point.comparison);
        html.add(format_args!("</h3><p>{}</p></li>\n", Text(&words.verdict)));
        for note in &words.notes {
            *notes.entry(note.plain()).or_default() += 1;
        }
    }
    html.raw("</ul>\n");
    // What holds everywhere stands here; the rest is in the reports.
    let everywhere: Vec<&String> =
        notes.iter().filter(|(_, n)| **n == overview.points.len()).map(|(note, _)| note).collect();
    if !everywhere.is_empty() {
        html.raw("<div class=\"warning\">");
        for note in everywhere {
            html.add(format_args!("<p>{}</p>\n", Text(note)));
        }
        html.raw("</div>\n");
    }
    html.raw("</section>\n");
}

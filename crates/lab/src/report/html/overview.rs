//! One page over the comparisons of a sweep: lines over the swept value, a table, and a way to each report.

use std::collections::BTreeMap;

use serde::Serialize;

use super::charts::standing;
use super::data::styles;
use super::frame::{Script, brand, document_head, page_end, theme_button};
use super::number::{kind, round, show};
use super::summary::{capital, swatch};
use super::tables::copyable;
use super::text::{Html, Text};
use crate::{ArmSummary, Comparison, MetricInfo};

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

/// What the chart can show beside the metric that decides.
const METRICS: [&str; 8] = [
    "goodput",
    "exit_time",
    "exit_window_bdp",
    "startup_lost_packets",
    "startup_utilisation",
    "queue_peak",
    "retransmissions",
    "unfinished",
];

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

/// A sweep with its rows gathered.
struct Swept<'a> {
    overview: &'a Overview<'a>,
    /// Rows of all comparisons, each as it is where it first appears, in that order; yardsticks last.
    arms: Vec<&'a ArmSummary>,
    /// What decides.
    info: Option<&'a MetricInfo>,
    /// Index of the field on the horizontal axis: the one with the most values.
    along: usize,
}

#[derive(Serialize)]
struct Data {
    arms: Vec<Arm>,
    overview: Lines,
}

#[derive(Serialize)]
struct Arm {
    label: String,
    yardstick: bool,
    style: usize,
}

#[derive(Serialize)]
struct Lines {
    axis: String,
    /// Whether the values are numbers of one kind, so that their distances mean something.
    numeric: bool,
    metrics: Vec<Metric>,
    /// One for each combination of the other fields.
    facets: Vec<Facet>,
}

#[derive(Serialize)]
struct Metric {
    title: String,
    kind: &'static str,
}

#[derive(Serialize)]
struct Facet {
    title: String,
    points: Vec<Point>,
    /// By metric, arm and point: mean, and the ends of its interval.
    values: Vec<Vec<Vec<Option<[f64; 3]>>>>,
}

#[derive(Serialize)]
struct Point {
    x: f64,
    text: String,
}

impl<'a> Swept<'a> {
    fn new(overview: &'a Overview<'a>) -> Self {
        let mut arms: Vec<&ArmSummary> = Vec::new();
        for arm in overview.points.iter().flat_map(|point| &point.comparison.arms) {
            if arms.iter().all(|known| known.label != arm.label) {
                arms.push(arm);
            }
        }
        arms.sort_by_key(|arm| arm.yardstick);
        let info = overview.points.iter().find_map(|point| point.comparison.primary_info());
        let values = |field: usize| {
            let mut seen: Vec<&str> =
                overview.points.iter().filter_map(|p| p.values.get(field)).map(String::as_str).collect();
            seen.sort_unstable();
            seen.dedup();
            seen.len()
        };
        // The first of several that have equally many.
        let along = (0..overview.fields.len()).rev().max_by_key(|&field| values(field)).unwrap_or(0);
        Self { overview, arms, info, along }
    }

    fn fields(&self) -> String {
        self.overview.fields.join(" and ")
    }

    fn value(&self, point: &'a SweptPoint<'a>) -> &'a str {
        point.values.get(self.along).map_or("", String::as_str)
    }

    /// Who is ahead where.
    fn sentence(&self) -> String {
        let mut ahead: Vec<(&str, Vec<String>)> = Vec::new();
        let mut nobody = 0;
        for point in &self.overview.points {
            let Some(best) = point.comparison.leader.as_deref() else {
                nobody += 1;
                continue;
            };
            let place = point.values.join(", ");
            match ahead.iter_mut().find(|(label, _)| *label == best) {
                Some((_, places)) => places.push(place),
                None => ahead.push((best, vec![place])),
            }
        }
        ahead.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
        let all = self.overview.points.len();
        let name = self.info.map_or("the deciding metric", |info| info.name.as_str());
        let mut text = match ahead.as_slice() {
            [] => "No value has a leader.".to_owned(),
            [(label, places)] if places.len() == all => {
                format!("{label} leads in {name} at all {all} values of {}.", self.fields())
            }
            several => {
                let parts: Vec<String> = several
                    .iter()
                    .map(|(label, places)| {
                        format!("{label} at {} of {all} ({})", places.len(), places.join("; "))
                    })
                    .collect();
                format!("In {name}, {} depends on {}: {}.", "who leads", self.fields(), parts.join(", "))
            }
        };
        if nobody > 0 && !ahead.is_empty() {
            text.push_str(&format!(" At {nobody} nobody finished."));
        }
        text
    }

    /// Points that share the values of all other fields, in the order of the sweep.
    fn facets(&self) -> Vec<(String, Vec<&'a SweptPoint<'a>>)> {
        let mut facets: Vec<(String, Vec<&SweptPoint<'_>>)> = Vec::new();
        for point in &self.overview.points {
            let others: Vec<String> = (self.overview.fields.iter().zip(&point.values).enumerate())
                .filter(|(field, _)| *field != self.along)
                .map(|(_, (field, value))| format!("{field} {value}"))
                .collect();
            let title = others.join(", ");
            match facets.iter_mut().find(|(known, _)| *known == title) {
                Some((_, points)) => points.push(point),
                None => facets.push((title, vec![point])),
            }
        }
        facets
    }

    fn metrics(&self) -> Vec<&'a MetricInfo> {
        let find = |id: &str| {
            let all = self.overview.points.iter().flat_map(|point| &point.comparison.metrics);
            all.into_iter().find(|info| info.id == id)
        };
        let rest = METRICS.iter().filter(|id| self.info.is_none_or(|info| info.id != **id));
        self.info.into_iter().chain(rest.filter_map(|id| find(id))).collect()
    }

    fn data(&self) -> Data {
        let owned: Vec<ArmSummary> = self.arms.iter().map(|arm| (*arm).clone()).collect();
        let arms = self.arms.iter().zip(styles(&owned)).map(|(arm, style)| Arm {
            label: arm.label.clone(),
            yardstick: arm.yardstick,
            style,
        });
        let texts: Vec<&str> = self.overview.points.iter().map(|point| self.value(point)).collect();
        let numbers = numbers(&texts);
        let metrics = self.metrics();
        let facet = |(title, points): (String, Vec<&'a SweptPoint<'a>>)| {
            let point = |point: &&SweptPoint<'_>| {
                let text = self.value(point);
                let place = texts.iter().position(|known| *known == text).unwrap_or(0);
                let x = numbers.as_ref().map_or(place as f64, |numbers| numbers[place]);
                Point { x, text: text.to_owned() }
            };
            let mut points = points;
            if numbers.is_some() {
                points.sort_by(|a, b| point(a).x.total_cmp(&point(b).x));
            }
            let of = |info: &MetricInfo| {
                let (_, factor) = kind(&info.unit);
                let arm = |arm: &&ArmSummary| {
                    let at = |point: &&SweptPoint<'_>| {
                        let summary = point.comparison.arm(&arm.label)?.metric(&info.id)?;
                        let ends = summary.interval.map_or((summary.mean, summary.mean), |i| (i.low, i.high));
                        Some([summary.mean, ends.0, ends.1].map(|v| round(v * factor)))
                    };
                    points.iter().map(at).collect()
                };
                self.arms.iter().map(arm).collect()
            };
            Facet {
                title,
                values: metrics.iter().map(|info| of(info)).collect(),
                points: points.iter().map(point).collect(),
            }
        };
        Data {
            arms: arms.collect(),
            overview: Lines {
                axis: self.overview.fields.get(self.along).cloned().unwrap_or_default(),
                numeric: numbers.is_some(),
                metrics: metrics
                    .iter()
                    .map(|info| Metric { title: capital(&info.name), kind: kind(&info.unit).0 })
                    .collect(),
                facets: self.facets().into_iter().map(facet).collect(),
            },
        }
    }
}

/// The values as numbers on one scale, if they are: `5 Mbit/s` and `1 Gbit/s` are, `1 bdp` and `36 MB` are not.
fn numbers(texts: &[&str]) -> Option<Vec<f64>> {
    let mut dimension = None;
    let mut numbers = Vec::new();
    for text in texts {
        let (number, kind) = quantity(text)?;
        if dimension.get_or_insert_with(|| kind.clone()) != &kind {
            return None;
        }
        numbers.push(number);
    }
    Some(numbers)
}

/// A number in the base unit of what it measures.
fn quantity(text: &str) -> Option<(f64, String)> {
    const FACTORS: [(&str, f64, &str); 20] = [
        ("ns", 1e-9, "time"),
        ("us", 1e-6, "time"),
        ("µs", 1e-6, "time"),
        ("ms", 1e-3, "time"),
        ("s", 1.0, "time"),
        ("min", 60.0, "time"),
        ("h", 3600.0, "time"),
        ("bit/s", 1.0, "rate"),
        ("kbit/s", 1e3, "rate"),
        ("mbit/s", 1e6, "rate"),
        ("gbit/s", 1e9, "rate"),
        ("bit", 1.0, "rate"),
        ("kbit", 1e3, "rate"),
        ("mbit", 1e6, "rate"),
        ("gbit", 1e9, "rate"),
        ("b", 1.0, "bytes"),
        ("kb", 1e3, "bytes"),
        ("mb", 1e6, "bytes"),
        ("gb", 1e9, "bytes"),
        ("%", 0.01, "share"),
    ];
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || ".+-_".contains(c))).unwrap_or(text.len());
    let number: f64 = text[..end].replace('_', "").parse().ok()?;
    let unit = text[end..].trim().to_lowercase();
    match FACTORS.iter().find(|(name, _, _)| *name == unit) {
        Some((_, factor, kind)) => Some((number * factor, (*kind).to_owned())),
        None => Some((number, unit)),
    }
}

fn lines_section(html: &mut Html, swept: &Swept<'_>) {
    html.raw(
        "<section id=\"lines\">\n<h2>Over the values</h2>\n<p class=\"note\">Means over runs; bars are 95 % intervals. A \
         click on a name hides its line.</p>\n<noscript><p class=\"warning\">The chart needs scripts; the table does \
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
    html.add(format_args!("<td{class} data-value=\"{:e}\">{}", summary.mean, show(summary.mean, &info.unit)));
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
    let mut notes: BTreeMap<&str, usize> = BTreeMap::new();
    for point in &overview.points {
        html.raw("<li><h3>");
        let value = point.values.join(", ");
        match &point.report {
            Some(place) => html.add(format_args!("<a href=\"{}\">{}</a>", Text(place), Text(&value))),
            None => html.add(format_args!("{}", Text(&value))),
        }
        html.add(format_args!("</h3><p>{}</p></li>\n", Text(&point.comparison.verdict)));
        for note in &point.comparison.notes {
            *notes.entry(note.trim_start_matches("* ")).or_default() += 1;
        }
    }
    html.raw("</ul>\n");
    // What holds everywhere stands here; the rest is in the reports.
    let everywhere: Vec<&str> =
        notes.iter().filter(|(_, n)| **n == overview.points.len()).map(|(note, _)| *note).collect();
    if !everywhere.is_empty() {
        html.raw("<div class=\"warning\">");
        for note in everywhere {
            html.add(format_args!("<p>{}</p>\n", Text(note)));
        }
        html.raw("</div>\n");
    }
    html.raw("</section>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::sample_comparison;

    fn data(html: &str) -> serde_json::Value {
        let (_, rest) = html.split_once("id=\"report-data\">").expect("a data block");
        serde_json::from_str(rest.split_once("</script>").expect("its end").0).expect("valid JSON")
    }

    #[test]
    fn numbers_share_a_scale_or_are_names() {
        assert_eq!(numbers(&["5mbit", "1 Gbit/s"]), Some(vec![5e6, 1e9]));
        assert_eq!(numbers(&["0.25 bdp", "4 bdp"]), Some(vec![0.25, 4.0]));
        assert_eq!(numbers(&["16", "32"]), Some(vec![16.0, 32.0]));
        assert_eq!(numbers(&["1 bdp", "36 MB"]), None);
        assert_eq!(numbers(&["drop-tail", "codel"]), None);
        assert_eq!(numbers(&["unlimited"]), None);
    }

    #[test]
    fn every_value_has_a_line_a_link_and_its_place_on_the_axis() {
        let first = sample_comparison();
        let mut second = first.clone();
        second.leader = Some("paced".to_owned());
        let point = |value: &str, comparison| SweptPoint {
            values: vec![value.to_owned()],
            report: Some(format!("path.buffer-{value}/report.html")),
            comparison,
        };
        let overview = Overview {
            fields: vec!["path.buffer".to_owned()],
            points: vec![point("4bdp", &first), point("1bdp", &second)],
        };
        let html = render_overview(&overview);
        assert!(html.contains("<a href=\"path.buffer-4bdp/report.html\">4bdp</a>"));
        assert!(html.contains("best at 1 of 2 (4bdp), paced at 1 of 2 (1bdp)"), "{html}");
        let data = data(&html);
        let facet = &data["overview"]["facets"][0];
        assert_eq!(facet["points"][0]["text"], "1bdp");
        assert_eq!(facet["points"][1]["x"], 4.0);
        assert_eq!(data["arms"].as_array().map(Vec::len), Some(first.arms.len()));
        let best = data["arms"].as_array().and_then(|arms| arms.iter().position(|a| a["label"] == "best"));
        let mean = facet["values"][0][best.expect("a row")][0][0].as_f64().expect("a mean");
        let expected = first.arm("best").and_then(|arm| arm.metric("download_time")).expect("a metric").mean;
        assert!((mean - expected).abs() < expected * 1e-4, "{mean} {expected}");
    }

    #[test]
    fn two_fields_give_a_chart_for_each_value_of_the_shorter_one() {
        let comparison = sample_comparison();
        let points =
            [("1bdp", "1%"), ("2bdp", "1%"), ("4bdp", "1%"), ("1bdp", "0%"), ("2bdp", "0%"), ("4bdp", "0%")];
        let overview = Overview {
            fields: vec!["path.buffer".to_owned(), "path.loss".to_owned()],
            points: points
                .iter()
                .map(|(a, b)| SweptPoint {
                    values: vec![(*a).to_owned(), (*b).to_owned()],
                    report: None,
                    comparison: &comparison,
                })
                .collect(),
        };
        let data = data(&render_overview(&overview));
        assert_eq!(data["overview"]["axis"], "path.buffer");
        let titles: Vec<&str> = data["overview"]["facets"]
            .as_array()
            .expect("facets")
            .iter()
            .filter_map(|facet| facet["title"].as_str())
            .collect();
        assert_eq!(titles, ["path.loss 1%", "path.loss 0%"]);
    }

    #[test]
    fn hostile_text_stays_text_and_nothing_is_a_page() {
        const ATTACK: &str = "</script><script>alert(1)</script><!--'\"&";
        let mut comparison = sample_comparison();
        comparison.verdict.push_str(ATTACK);
        comparison.provenance.scenario.push_str(ATTACK);
        comparison.arms[0].label.push_str(ATTACK);
        comparison.leader = Some(ATTACK.to_owned());
        let overview = Overview {
            fields: vec![ATTACK.to_owned()],
            points: vec![SweptPoint {
                values: vec![ATTACK.to_owned()],
                report: Some(ATTACK.to_owned()),
                comparison: &comparison,
            }],
        };
        let html = render_overview(&overview);
        assert!(!html.contains("<script>alert"));
        let empty = render_overview(&Overview { fields: Vec::new(), points: Vec::new() });
        assert!(empty.ends_with("</html>\n"));
    }
}

//! Agreement as one HTML file.

use std::fmt::Write as _;

use rampcc_lab::report::html::{Page, escaped};

use super::agreement::Agreement;
use super::text;
use crate::page::plain_table;
use crate::text::Cells;

const STYLE: &str = "\
h3 { margin-top: 22px; }
.dots { width: 100%; min-width: 600px; max-width: 860px; height: auto; display: block; margin: 12px 0; }
.dots text { fill: var(--ink-2); font-size: 12px; }
.dots circle { fill: var(--accent); fill-opacity: 0.45; }
.dots line { stroke: var(--grid); }
.dots line.one { stroke: var(--line-strong); }
";
/// Of each kind of difference.
const MOST: usize = 12;
/// Drawn from half to twice.
const TWICE: f64 = 2.0;

/// The page; `command` makes it again.
pub fn page(agreement: &Agreement, version: &str, command: &str) -> String {
    let [first, second] = agreement.backends;
    let title = format!("The league on {second} and {first}, {} paths", agreement.population);
    Page {
        version,
        title: &title,
        sections: &[
            ("ranks", "Ranks"),
            ("differences", "Where they differ"),
            ("paths", "Paths"),
            ("again", "Method"),
        ],
        style: STYLE,
        body: &body(agreement, command),
        json: "{\"arms\":[]}",
        script: "",
        plays: false,
    }
    .html()
}

fn body(agreement: &Agreement, command: &str) -> String {
    let [first, second] = agreement.backends;
    let scroll = |name: &str, table: &Cells| {
        format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\">{}</div>\n",
            plain_table(table)
        )
    };
    let lines = text::differences(agreement, MOST);
    let mut list = String::new();
    for line in &lines {
        write!(list, "<li>{}</li>", escaped(line)).expect("a string grows");
    }
    if lines.is_empty() {
        list += "<li>Nowhere by more than 10 %, and no two algorithms change places by more than 5 %.</li>";
    }
    format!(
        "<div>\n<h1>The same algorithms and paths on <b>{second}</b> and <b>{first}</b>, {}</h1>\n<p class=\"verdict\">{}</p>\n</div>\n\
         <section id=\"ranks\">\n<h2>Ranks</h2>\n<p class=\"note\">Download times as geometric means over all cases, over those of \
         the fastest algorithm, on each; and {second} over {first}, each case against the same case.</p>\n{}\
         <h3>Every case</h3>\n<p class=\"note\">A dot is a path and a size: download time on {second} over that on {first}.</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Every case\">{}</div>\
         </section>\n<section id=\"differences\">\n<h2>Where they differ</h2>\n<ul>{list}</ul>\n{}</section>\n\
         <section id=\"paths\">\n<h2>Paths</h2>\n<p class=\"note\">Ranks: Kendall's correlation of the algorithms at the path's largest \
         size; – where no two differ by 5 %.</p>\n{}</section>\n\
         <section id=\"again\">\n<h2>Method</h2>\n<p class=\"note\">{}</p>\n<div class=\"copy\"><pre>{}</pre><button type=\"button\" \
         class=\"needs-script\" data-copy>Copy</button></div>\n</section>\n",
        escaped(&agreement.population),
        escaped(&text::verdict(agreement)),
        scroll("Ranks", &text::rows(agreement)),
        dots(agreement),
        scroll("Access types", &text::access(agreement)),
        scroll("Paths", &text::paths(agreement)),
        escaped(&text::method(agreement).replace('`', "")),
        escaped(command),
    )
}

/// Every ratio of every row on a logarithmic axis from half to twice; what lies beyond is at its end.
fn dots(agreement: &Agreement) -> String {
    let (left, width, line, top) = (150.0, 680.0, 20.0, 26.0);
    let rows: Vec<_> = agreement.rows.iter().filter(|row| !row.ratios.is_empty()).collect();
    let height = top + line * rows.len() as f64 + 6.0;
    let x = |ratio: f64| {
        let share = libm::log(ratio) / libm::log(TWICE);
        left + width * (share.clamp(-1.0, 1.0) + 1.0) / 2.0
    };
    let mut svg = format!(
        "<svg class=\"dots\" viewBox=\"0 0 {:.0} {height:.0}\" role=\"img\" aria-label=\"Ratios of download times by algorithm\">",
        left + width + 20.0
    );
    for (tick, name) in
        [(0.5, "0.5"), (0.8, "0.8"), (0.9, "0.9"), (1.0, "1"), (1.1, "1.1"), (1.25, "1.25"), (2.0, "2")]
    {
        let class = if name == "1" { " class=\"one\"" } else { "" };
        let at = x(tick);
        write!(
            svg,
            "<line{class} x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{top}\" y2=\"{height:.0}\"/>\
             <text x=\"{at:.1}\" y=\"16\" text-anchor=\"middle\">{name}</text>"
        )
        .expect("a string grows");
    }
    for (place, row) in rows.iter().enumerate() {
        let y = top + line * (place as f64 + 0.5);
        write!(
            svg,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 10.0,
            y + 4.0,
            escaped(&row.label)
        )
        .expect("a string grows");
        for ratio in &row.ratios {
            write!(svg, "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>", x(*ratio)).expect("a string grows");
        }
    }
    svg + "</svg>\n"
}

//! The page of one figure.

use super::chart::{Size, chart};
use super::{Choice, Claim, Contradiction, Figure, Panel, Shape};
use crate::report::html::frame::{Script, brand, document_head, page_end, theme_button};
use crate::report::html::playground::link_of_command;
use crate::report::html::summary::swatch_of;
use crate::report::html::tables::copyable;
use crate::report::html::text::{Html, Text};

/// What a page adds to the style of all reports.
pub(super) const STYLE: &str = include_str!("../../../../assets/report/gallery.css");

/// The page of a figure; its text may hold anything.
pub fn render_figure(figure: &Figure) -> String {
    let mut html = Html::default();
    document_head(&mut html, &figure.version, &format!("{} – {}", figure.id, figure.title));
    let (place, words) =
        if figure.claims.is_empty() { ("again", "To the command") } else { ("claims", "To the claims") };
    html.add(format_args!("<style>\n{STYLE}</style>\n<body>\n<a class=\"skip\" href=\"#{place}\">{words}</a>\n<div class=\"page\">\n<header class=\"bar\">"));
    brand(&mut html);
    html.raw("<nav aria-label=\"Sections\"><a href=\"index.html\">All figures</a>");
    if !figure.claims.is_empty() {
        html.raw("<a href=\"#claims\">Claims</a>");
    }
    if !figure.choices.is_empty() {
        html.raw("<a href=\"#choices\">Choices</a>");
    }
    html.raw("<a href=\"#again\">Reproduce</a></nav>");
    theme_button(&mut html);
    html.add(format_args!(
        "</header>\n<main>\n<h1>{} · <b>{}</b> · {}</h1>\n<p class=\"verdict\">{}</p>\n<p class=\"note\">{}</p>\n",
        Text(&figure.paper),
        Text(&figure.figure),
        Text(&figure.kind),
        Text(&figure.title),
        Text(figure.about.trim())
    ));
    if let Some(quick) = &figure.quick {
        html.add(format_args!("<p class=\"warning\">Quick: {}</p>\n", Text(quick)));
    }
    if let Some(variant) = &figure.variant {
        html.add(format_args!("<p class=\"warning\">A variant of the experiment: {}</p>\n", Text(variant)));
    }
    if let Some(substitute) = &figure.substitute {
        html.add(format_args!("<p class=\"warning\">Played instead: {}</p>\n", Text(substitute)));
    }
    panels(&mut html, &figure.panels);
    claims(&mut html, &figure.claims);
    choices(&mut html, &figure.choices);
    facts(&mut html, figure);
    page_end(&mut html, &figure.version, "{}", Script::Gallery);
    html.into_string()
}

fn panels(html: &mut Html, panels: &[Panel]) {
    let Some(first) = panels.first() else { return };
    html.raw("<section id=\"plots\">\n<h2 class=\"visually-hidden\">Plots</h2>\n");
    let labels = |panel: &Panel| panel.series.iter().map(|s| (s.label.clone(), s.style)).collect::<Vec<_>>();
    let shared = panels.iter().all(|panel| labels(panel) == labels(first));
    if shared {
        legend(html, first);
    }
    html.raw(if panels.len() > 1 { "<div class=\"plot-grid\">\n" } else { "<div>\n" });
    for panel in panels {
        html.raw("<figure class=\"plot-figure\">\n");
        if !panel.title.is_empty() {
            html.add(format_args!("<figcaption>{}</figcaption>\n", Text(&panel.title)));
        }
        if !shared {
            legend(html, panel);
        }
        chart(html, panel, Size::Wide);
        chart(html, panel, Size::Narrow);
        html.raw("</figure>\n");
    }
    html.raw("</div>\n</section>\n");
}

fn legend(html: &mut Html, panel: &Panel) {
    html.raw("<ul class=\"legend\">");
    for series in &panel.series {
        html.raw("<li>");
        if panel.shape == Shape::Bars {
            html.add(format_args!(
                "<i class=\"bar-swatch\" style=\"background: var(--arm-{})\"></i>",
                series.style % 8
            ));
        } else {
            swatch_of(html, series.style);
        }
        html.add(format_args!("{}</li>", Text(&series.label)));
    }
    html.raw("</ul>\n");
}

/// A tick, a cross or a dash, with a word for those who cannot see it.
pub(super) fn mark(html: &mut Html, holds: Option<bool>) {
    html.raw(match holds {
        Some(true) => "<span class=\"mark holds\" role=\"img\" aria-label=\"holds\">✓</span>",
        Some(false) => "<span class=\"mark fails\" role=\"img\" aria-label=\"does not hold\">✗</span>",
        None => "<span class=\"mark\" role=\"img\" aria-label=\"not checked\">–</span>",
    });
}

fn claims(html: &mut Html, claims: &[Claim]) {
    if claims.is_empty() {
        return;
    }
    let checked = claims.iter().filter(|claim| claim.counts().is_some()).count();
    let held = claims.iter().filter(|claim| claim.counts() == Some(true)).count();
    let contradicted = match claims.iter().filter(|claim| claim.contradicted.is_some()).count() {
        0 => String::new(),
        1 => " One more is contradicted by the paper itself.".to_owned(),
        more => format!(" {more} more are contradicted by the paper itself."),
    };
    html.add(format_args!(
        "<section id=\"claims\">\n<h2>What the paper claims</h2>\n<p class=\"note\">{held} of {checked} checked claims hold.{contradicted}</p>\n<ol class=\"claims\">\n"
    ));
    for claim in claims {
        html.raw("<li>");
        if claim.contradicted.is_some() {
            html.raw(
                "<span class=\"mark\" role=\"img\" aria-label=\"contradicted by the paper itself\">≠</span>",
            );
        } else {
            mark(html, claim.holds);
        }
        html.add(format_args!(
            "<div><p>{} <span class=\"place\">{}</span></p>\n<dl>",
            Text(&claim.text),
            Text(&claim.place)
        ));
        if !claim.source.is_empty() {
            html.add(format_args!("<div><dt>paper</dt><dd>{}</dd></div>", Text(&claim.source)));
        }
        html.add(format_args!("<div><dt>measured</dt><dd>{}</dd></div>", Text(&claim.measured)));
        html.add(format_args!(
            "<div><dt>checked</dt><dd><code>{}</code></dd></div></dl>\n",
            Text(&claim.check)
        ));
        if let Some(Contradiction { why, proof }) = &claim.contradicted {
            html.add(format_args!(
                "<p class=\"reason\">The paper contradicts it: {}</p>\n<ul class=\"proof\">",
                Text(why)
            ));
            for (check, found) in proof {
                html.add(format_args!("<li><code>{}</code> {}</li>", Text(check), Text(found)));
            }
            html.raw("</ul>\n");
        }
        if let Some(reason) = &claim.reason {
            html.add(format_args!("<p class=\"reason\">{}</p>\n", Text(reason.trim())));
        }
        if claim.counts() == Some(false) && claim.reason.is_none() {
            let why = claim.reason_fails.as_deref();
            let words =
                why.map_or_else(String::new, |why| format!(" The one in its file does not count: {why}."));
            html.add(format_args!("<p class=\"reason\">No reason is known.{}</p>\n", Text(&words)));
        }
        html.raw("</div></li>\n");
    }
    html.raw("</ol>\n</section>\n");
}

fn choices(html: &mut Html, choices: &[Choice]) {
    if choices.is_empty() {
        return;
    }
    html.raw(
        "<section id=\"choices\">\n<h2>What the paper leaves open</h2>\n<p class=\"note\">The same claims under other values of \
         what the paper does not state.</p>\n",
    );
    for choice in choices {
        html.add(format_args!(
            "<h3>{0} <span class=\"place\">{1}</span></h3>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table><thead><tr><th scope=\"col\">Claim</th>",
            Text(&choice.name),
            Text(&match choice.runs {
                0 => String::new(),
                1 => "one run each".to_owned(),
                runs => format!("{runs} runs each"),
            })
        ));
        for value in &choice.values {
            html.add(format_args!("<th scope=\"col\" class=\"text\">{}</th>", Text(value)));
        }
        html.raw("</tr></thead>\n<tbody>\n");
        for (text, cells) in &choice.claims {
            html.add(format_args!("<tr><th scope=\"row\" class=\"claim\">{}</th>", Text(text)));
            for (holds, measured) in cells {
                html.raw("<td class=\"text\">");
                mark(html, *holds);
                html.add(format_args!(" {}</td>", Text(measured)));
            }
            html.raw("</tr>\n");
        }
        html.raw("</tbody></table></div>\n");
    }
    html.raw("</section>\n");
}

fn facts(html: &mut Html, figure: &Figure) {
    html.raw("<section id=\"again\">\n<h2>How it was made</h2>\n");
    if !figure.facts.is_empty() {
        html.raw("<dl class=\"parameters\">\n");
        for (name, value) in &figure.facts {
            html.add(format_args!("<div><dt>{}</dt><dd>{}</dd></div>\n", Text(name), Text(value)));
        }
        html.raw("</dl>\n");
    }
    if !figure.taken.is_empty() {
        html.raw("<h3>Taken where the paper is silent</h3>\n<ul class=\"taken\">\n");
        for taken in &figure.taken {
            html.add(format_args!("<li>{}</li>\n", Text(taken)));
        }
        html.raw("</ul>\n");
    }
    for (what, command) in &figure.commands {
        html.add(format_args!("<h3>{}</h3>\n", Text(what)));
        copyable(html, command);
        link_of_command(html, command);
    }
    html.add(format_args!("<p class=\"note small\">{}</p>\n</section>\n", Text(&figure.reference)));
}

//! The page of all figures.

use super::chart::{Size, chart};
use super::page::STYLE;
use super::{Claim, Figure, Panel};
use crate::report::html::frame::{Script, brand, document_head, page_end, theme_button};
use crate::report::html::tables::copyable;
use crate::report::html::text::{Html, Text};

/// Figures together.
#[derive(Clone, Debug, Default)]
pub struct Index<'a> {
    /// In order; those of one paper stand together.
    pub figures: Vec<&'a Figure>,
    /// The command that makes all of it again.
    pub command: String,
    /// What is not as in the whole gallery: a quick run, a variant.
    pub notice: Option<String>,
    /// Sentences above the figures.
    pub summary: Vec<String>,
    /// Version of ramp.
    pub version: String,
}

/// The index; text may hold anything.
pub fn render_index(index: &Index<'_>) -> String {
    let mut html = Html::default();
    document_head(&mut html, &index.version, "Reproduced experiments");
    html.add(format_args!(
        "<style>\n{STYLE}</style>\n<body>\n<a class=\"skip\" href=\"#figures\">To the figures</a>\n<div class=\"page\">\n<header class=\"bar\">"
    ));
    brand(&mut html);
    html.raw("<nav aria-label=\"Papers\">");
    let mut papers: Vec<&str> = Vec::new();
    for figure in &index.figures {
        if !papers.contains(&figure.paper.as_str()) {
            papers.push(&figure.paper);
        }
    }
    for (number, paper) in papers.iter().enumerate() {
        html.add(format_args!("<a href=\"#paper-{number}\">{}</a>", Text(paper)));
    }
    html.raw("</nav>");
    theme_button(&mut html);
    let (held, checked) = counts(index.figures.iter().copied().filter(|figure| !figure.computed));
    html.add(format_args!(
        "</header>\n<main id=\"figures\">\n<h1>Published experiments, <b>reproduced</b></h1>\n\
         <p class=\"verdict\">{held} of {checked} checked claims hold.</p>\n"
    ));
    if let Some(notice) = &index.notice {
        html.add(format_args!("<p class=\"warning\">{}</p>\n", Text(notice)));
    }
    for line in &index.summary {
        html.add(format_args!("<p class=\"note\">{}</p>\n", Text(line)));
    }
    for (number, paper) in papers.iter().enumerate() {
        let figures: Vec<&Figure> =
            index.figures.iter().copied().filter(|figure| figure.paper == **paper).collect();
        let (held, checked) = counts(figures.iter().copied().filter(|figure| !figure.computed));
        html.add(format_args!(
            "<section id=\"paper-{number}\">\n<h2>{}</h2>\n<p class=\"note\">{}. {held} of {checked} claims hold.</p>\n<ul class=\"cards\">\n",
            Text(paper),
            Text(figures.first().map_or("", |figure| figure.reference.as_str()))
        ));
        for figure in figures {
            card(&mut html, figure);
        }
        html.raw("</ul>\n</section>\n");
    }
    html.raw("<section id=\"again\">\n<h2>Reproduce</h2>\n");
    copyable(&mut html, &index.command);
    html.raw("</section>\n");
    page_end(&mut html, &index.version, "{}", Script::Gallery);
    html.into_string()
}

fn counts<'f>(figures: impl Iterator<Item = &'f Figure>) -> (usize, usize) {
    let checked = figures.flat_map(|figure| &figure.claims).filter_map(Claim::counts);
    checked.fold((0, 0), |(held, all), holds| (held + usize::from(holds), all + 1))
}

fn card(html: &mut Html, figure: &Figure) {
    let (held, checked) = counts(std::iter::once(figure));
    html.add(format_args!("<li class=\"card\"><a href=\"{}.html\">", Text(&figure.id)));
    let seen = |panel: &&Panel| panel.series.iter().flat_map(|series| &series.points).any(|dot| dot.y != 0.0);
    if let Some(panel) = figure.panels.iter().find(seen) {
        chart(html, panel, Size::Thumbnail);
    }
    html.add(format_args!(
        "<b>{}</b><span>{}</span></a><p class=\"marks\">",
        Text(&figure.figure),
        Text(&figure.title)
    ));
    if checked > 0 {
        let class = if held == checked { "good" } else { "warn" };
        html.add(format_args!("<span class=\"tag {class}\">{held} of {checked} hold</span>"));
    }
    let contradicted = figure.claims.iter().filter(|claim| claim.contradicted.is_some()).count();
    if contradicted > 0 {
        html.add(format_args!("<span class=\"tag\">≠ {contradicted}</span>"));
    }
    if figure.kind != "run" {
        html.add(format_args!("<span class=\"tag\">{}</span>", Text(&figure.kind)));
    }
    html.add(format_args!("<code>{}</code></p></li>\n", Text(&figure.id)));
}

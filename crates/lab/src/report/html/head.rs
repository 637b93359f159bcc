//! The top of the page: what was found, what else must be known, and what the path is.

use super::charts;
use super::data;
use super::frame::{brand, fact, fact_list, theme_button};
use super::playground;
use super::text::{Html, Text};
use crate::report::names::{Piece, pieces};
use crate::words::grouped;
use crate::{Comparison, Context, Words};

/// From the body to the end of the facts about the path.
pub(super) fn opening(html: &mut Html, comparison: &Comparison, words: &Words) {
    html.raw(
        "<body>\n<a class=\"skip\" href=\"#summary\">To the summary</a>\n<div class=\"page\">\n<header class=\"bar\">",
    );
    brand(html);
    html.raw("<nav aria-label=\"Sections\">");
    let curves = data::has_curves(comparison);
    let sizes = charts::sizes_of(comparison).len() > 1;
    let sections = [
        ("summary", "Summary", true),
        ("time", "Over time", curves),
        ("rate", "Rate", curves),
        ("carries", "How far", comparison.carries.is_some()),
        ("exits", "Exits", true),
        ("sizes", "By size", sizes),
        ("trade-off", "Costs", comparison.arms.len() > 1),
        ("distributions", "Runs", true),
        ("differences", "Differences", !comparison.pairs.is_empty()),
        ("again", "Reproduce", true),
    ];
    for (id, name, _) in sections.iter().filter(|(_, _, there)| *there) {
        html.add(format_args!("<a href=\"#{id}\">{name}</a>"));
    }
    html.raw("</nav>");
    playground::link(html, &comparison.provenance);
    theme_button(html);
    html.raw("</header>\n<main>\n<div>\n");
    found(html, comparison, words);
    html.raw("</div>\n");
}

/// The answer, what else must be known, and the path.
pub(super) fn found(html: &mut Html, comparison: &Comparison, words: &Words) {
    html.add(format_args!(
        "<h1>Start-up algorithms on <b>{}</b></h1>\n",
        Text(&comparison.provenance.scenario)
    ));
    headline(html, comparison, words);
    let notes = grouped(&words.notes);
    if !notes.is_empty() {
        html.raw("<div class=\"warning\">");
        for note in notes {
            html.add(format_args!("<p>{}</p>\n", named(comparison, &note.plain())));
        }
        html.raw("</div>\n");
    }
    html.raw("<dl class=\"facts\">\n");
    facts(html, comparison);
    html.raw("</dl>\n");
    path_words(html, &comparison.context);
}

/// What the leader achieves in large letters, the facts next to it as a list.
fn headline(html: &mut Html, comparison: &Comparison, words: &Words) {
    let headline = [Some(&words.headline), words.elsewhere.as_ref()]
        .into_iter()
        .flatten()
        .cloned()
        .collect::<Vec<_>>()
        .join(" ");
    html.add(format_args!("<p class=\"verdict\">{}</p>\n", named(comparison, &headline)));
    let mut facts = words.facts.iter().chain(&words.reach).peekable();
    if facts.peek().is_some() {
        html.raw("<ul class=\"findings\">\n");
        for fact in facts {
            html.add(format_args!("<li>{}</li>\n", named(comparison, fact)));
        }
        html.raw("</ul>\n");
    }
}

/// What the path is, for who has never seen the scenario.
fn path_words(html: &mut Html, path: &Context) {
    if path.description.is_empty() && path.words.is_empty() {
        return;
    }
    html.raw("<div class=\"path\">\n");
    if !path.description.is_empty() {
        html.add(format_args!("<p>{}</p>\n", Text(&path.description)));
    }
    html.raw("<dl>\n");
    for (heading, text) in &path.words {
        html.add(format_args!("<div><dt>{}</dt><dd>{}</dd></div>\n", Text(heading), Text(text)));
    }
    html.raw("</dl>\n</div>\n");
}

/// Text with the rows' names set off.
fn named(comparison: &Comparison, text: &str) -> String {
    let mut html = Html::default();
    for piece in pieces(comparison, text) {
        match piece {
            Piece::Name(label) => html.add(format_args!("<b>{}</b>", Text(label))),
            Piece::Other(text) => html.add(format_args!("{}", Text(text))),
        }
    }
    html.into_string()
}

fn facts(html: &mut Html, comparison: &Comparison) {
    fact_list(html, &comparison.context, comparison.met.as_ref());
    let seeds = match (comparison.seeds.first(), comparison.seeds.last()) {
        (Some(first), Some(last)) if first != last => format!("seeds {first} to {last}"),
        (Some(only), _) => format!("seed {only}"),
        _ => "none".to_owned(),
    };
    fact(html, "Runs per algorithm", &comparison.seeds.len().to_string(), &seeds);
    if let Some(emulation) = &comparison.emulation {
        fact(html, "Played by", &emulation.kernel, "in real time");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::sample_comparison;

    fn with_labels(labels: [&str; 3]) -> Comparison {
        let mut comparison = sample_comparison();
        comparison.arms.truncate(labels.len());
        for (arm, label) in comparison.arms.iter_mut().zip(labels) {
            label.clone_into(&mut arm.label);
        }
        comparison
    }

    #[test]
    fn names_with_spaces_are_set_off_and_the_longer_one_counts() {
        let comparison = with_labels(["hystart", "hystart low_window=32", "best"]);
        assert_eq!(
            named(&comparison, "hystart low_window=32 beats hystart: the best? best."),
            "<b>hystart low_window=32</b> beats <b>hystart</b>: the <b>best</b>? <b>best</b>."
        );
        assert_eq!(named(&comparison, "hystart11 bests"), "hystart11 bests");
    }
}

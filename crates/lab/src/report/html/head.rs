//! The top of the page: what was found, what must be known beside it, and what the path is.

use super::charts;
use super::data;
use super::frame::{brand, fact, fact_list, theme_button};
use super::playground;
use super::text::{Html, Text};
use crate::report::names::{Piece, pieces};
use crate::{Comparison, Context};

/// From the body to the end of the facts about the path.
pub(super) fn opening(html: &mut Html, comparison: &Comparison) {
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
    found(html, comparison);
    html.raw("</div>\n");
}

/// The answer, what must be known beside it, and the path.
pub(super) fn found(html: &mut Html, comparison: &Comparison) {
    html.add(format_args!(
        "<h1>Start-up algorithms on <b>{}</b></h1>\n",
        Text(&comparison.provenance.scenario)
    ));
    headline(html, comparison);
    let notes = grouped_notes(comparison);
    if !notes.is_empty() {
        html.raw("<div class=\"warning\">");
        for note in notes {
            html.add(format_args!("<p>{}</p>\n", named(comparison, &note)));
        }
        html.raw("</div>\n");
    }
    html.raw("<dl class=\"facts\">\n");
    facts(html, comparison);
    html.raw("</dl>\n");
    path_words(html, &comparison.context);
}

/// What the leader achieves in large letters, the facts beside it as a list.
fn headline(html: &mut Html, comparison: &Comparison) {
    html.add(format_args!("<p class=\"verdict\">{}</p>\n", named(comparison, &comparison.headline)));
    let carries =
        comparison.carries.iter().map(|carries| &carries.sentence).filter(|sentence| !sentence.is_empty());
    let mut facts = comparison.facts.iter().chain(carries).peekable();
    if facts.peek().is_some() {
        html.raw("<ul class=\"findings\">\n");
        for fact in facts {
            html.add(format_args!("<li>{}</li>\n", named(comparison, fact)));
        }
        html.raw("</ul>\n");
    }
}

/// Notes that say the same of several rows, as one: `a, b and 3 more: ...`.
pub(in crate::report) fn grouped_notes(comparison: &Comparison) -> Vec<String> {
    const NAMED: usize = 4;
    let labels = comparison
        .arms
        .iter()
        .flat_map(|arm| std::iter::once(&arm.label).chain(&arm.alike).map(String::as_str))
        .collect::<Vec<_>>();
    let mut groups: Vec<(Vec<&str>, &str)> = Vec::new();
    for note in &comparison.notes {
        let note = note.trim_start_matches("* ");
        let said_of = |label: &&str| note.strip_prefix(*label)?.strip_prefix(": ");
        let label =
            labels.iter().copied().filter(|label| said_of(label).is_some()).max_by_key(|label| label.len());
        let Some((label, text)) = label.and_then(|label| Some((label, said_of(&label)?))) else {
            groups.push((Vec::new(), note));
            continue;
        };
        match groups.iter_mut().find(|(of, known)| !of.is_empty() && *known == text) {
            Some((of, _)) => of.push(label),
            None => groups.push((vec![label], text)),
        }
    }
    let told = |(of, text): &(Vec<&str>, &str)| match of.as_slice() {
        [] => (*text).to_owned(),
        [first] => format!("{first}: {text}"),
        several if several.len() <= NAMED => format!("{}: {text}", several.join(", ")),
        several => {
            format!("{} and {} more: {text}", several[..NAMED - 1].join(", "), several.len() + 1 - NAMED)
        }
    };
    groups.iter().map(told).collect()
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
    fact_list(html, &comparison.context);
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

    #[test]
    fn the_same_note_on_several_rows_is_one() {
        let mut comparison = with_labels(["a", "a b", "c"]);
        comparison.notes =
            ["a: late.", "* a b: late.", "One run each.", "c: late.", "c: lost."].map(str::to_owned).to_vec();
        assert_eq!(grouped_notes(&comparison), ["a, a b, c: late.", "One run each.", "c: lost."]);
    }
}

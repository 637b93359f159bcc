//! The top of the page: what was found, what must be known beside it, and what the path is.

use super::charts;
use super::data;
use super::frame::{brand, fact, fact_list, theme_button};
use super::playground;
use super::text::{Html, Text};
use crate::{Comparison, Context, Note, Words};

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

/// The answer, what must be known beside it, and the path.
pub(super) fn found(html: &mut Html, comparison: &Comparison, words: &Words) {
    html.add(format_args!(
        "<h1>Start-up algorithms on <b>{}</b></h1>\n",
        Text(&comparison.provenance.scenario)
    ));
    headline(html, comparison, words);
    let notes = grouped_notes(&words.notes);
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
fn headline(html: &mut Html, comparison: &Comparison, words: &Words) {
    html.add(format_args!("<p class=\"verdict\">{}</p>\n", named(comparison, &words.headline)));
    let mut facts = words.facts.iter().chain(&words.reach).peekable();
    if facts.peek().is_some() {
        html.raw("<ul class=\"findings\">\n");
        for fact in facts {
            html.add(format_args!("<li>{}</li>\n", named(comparison, fact)));
        }
        html.raw("</ul>\n");
    }
}

/// Notes that say the same of several rows, as one: `a, b and 3 more: ...`.
fn grouped_notes(notes: &[Note]) -> Vec<String> {
    const NAMED: usize = 4;
    let mut groups: Vec<(Vec<&str>, &str)> = Vec::new();
    for note in notes {
        let Some(row) = note.row.as_deref() else {
            groups.push((Vec::new(), &note.text));
            continue;
        };
        match groups.iter_mut().find(|(of, known)| !of.is_empty() && *known == note.text) {
            Some((of, _)) => of.push(row),
            None => groups.push((vec![row], &note.text)),
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

/// Text with the rows' names set off: `best` and `ideal` are words, too. Of two names the longer one counts.
fn named(comparison: &Comparison, text: &str) -> String {
    let part_of_name = |c: char| c.is_alphanumeric() || "_+-@=.:".contains(c);
    let mut labels: Vec<&str> = comparison.arms.iter().map(|arm| arm.label.as_str()).collect();
    labels.retain(|label| !label.is_empty());
    labels.sort_by_key(|label| std::cmp::Reverse(label.len()));
    // A full stop or a colon ends a sentence as well as it may stand in a name.
    let ends = |rest: &str| {
        let mut after = rest.chars();
        match after.next() {
            None => true,
            Some('.' | ':') => after.next().is_none_or(|c| !part_of_name(c)),
            Some(c) => !part_of_name(c),
        }
    };
    let mut html = Html::default();
    let mut rest = text;
    let mut at_start = true;
    while let Some(c) = rest.chars().next() {
        let label =
            labels.iter().find(|label| at_start && rest.starts_with(**label) && ends(&rest[label.len()..]));
        if let Some(label) = label {
            html.add(format_args!("<b>{}</b>", Text(label)));
            rest = &rest[label.len()..];
            at_start = false;
            continue;
        }
        html.add(format_args!("{}", Text(&rest[..c.len_utf8()])));
        rest = &rest[c.len_utf8()..];
        at_start = !part_of_name(c);
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
        let notes = [
            Note::of("a", "late."),
            Note { starred: true, ..Note::of("a b", "late.") },
            Note::of_all("One run each."),
            Note::of("c", "late."),
            Note::of("c", "lost."),
        ];
        assert_eq!(grouped_notes(&notes), ["a, a b, c: late.", "One run each.", "c: lost."]);
    }
}

//! The rows' names within a sentence: `best`, `ideal` and `paced` are words, too.

use crate::Comparison;

/// A part of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// A row's label.
    Name(&'t str),
    /// What is between two of them.
    Other(&'t str),
}

/// A sentence taken apart. Of two labels that begin at the same place the longer one counts.
pub(super) fn pieces<'t>(comparison: &Comparison, text: &'t str) -> Vec<Piece<'t>> {
    let arms = comparison.arms.iter().map(|arm| &arm.label);
    let left_out = comparison.left_out.iter().flat_map(|left_out| &left_out.rows);
    let mut labels: Vec<&str> = arms.chain(left_out).map(String::as_str).collect();
    labels.retain(|label| !label.is_empty());
    labels.sort_by_key(|label| std::cmp::Reverse(label.len()));
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    let mut at_start = true;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let label = labels.iter().find(|label| at_start && rest.strip_prefix(**label).is_some_and(ends));
        if let Some(label) = label {
            if from < at {
                pieces.push(Piece::Other(&text[from..at]));
            }
            pieces.push(Piece::Name(&rest[..label.len()]));
            at += label.len();
            from = at;
            at_start = false;
        } else {
            at += c.len_utf8();
            at_start = !part_of_name(c);
        }
    }
    if from < at {
        pieces.push(Piece::Other(&text[from..at]));
    }
    pieces
}

/// The same for readers of plain text, who see names in backticks as everywhere else.
pub(super) fn quoted(comparison: &Comparison, text: &str) -> String {
    let part = |piece| match piece {
        Piece::Name(label) => format!("`{label}`"),
        Piece::Other(text) => text.to_owned(),
    };
    pieces(comparison, text).into_iter().map(part).collect()
}

fn part_of_name(c: char) -> bool {
    c.is_alphanumeric() || "_+-@=.:`".contains(c)
}

/// Whether a name may end before `rest`: a full stop or a colon ends a sentence as well as it may stand in a name.
fn ends(rest: &str) -> bool {
    let mut after = rest.chars();
    match after.next() {
        None => true,
        Some('.' | ':') => after.next().is_none_or(|c| !part_of_name(c)),
        Some(c) => !part_of_name(c),
    }
}

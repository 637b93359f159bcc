//! The terms of `docs/glossary.md`.

const GLOSSARY: &str = include_str!("../glossary.md");

/// Every term with its meaning, in alphabetical order.
pub(crate) fn terms() -> impl Iterator<Item = (&'static str, String)> {
    GLOSSARY.split("\n\n").filter_map(|entry| {
        let (term, meaning) = entry.trim().strip_prefix("**")?.split_once("**: ")?;
        Some((term, meaning.split_whitespace().collect::<Vec<_>>().join(" ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_a_term_and_they_are_in_order() {
        let terms: Vec<&str> = terms().map(|(term, _)| term).collect();
        assert_eq!(terms.len(), GLOSSARY.matches("\n**").count());
        assert!(terms.len() >= 30, "{} terms", terms.len());
        assert!(terms.is_sorted(), "{terms:?}");
    }
}

//! Place of a field in a text.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A text as its user wrote it, where what was read is that text with changes.
#[derive(Debug)]
pub(crate) struct Written<'a> {
    pub(crate) text: &'a str,
    table: Spanned<DeTable<'a>>,
}

impl<'a> Written<'a> {
    /// `None`: it is not TOML, or nothing.
    pub(crate) fn new(text: &'a str) -> Option<Self> {
        let table = DeTable::parse(text).ok().filter(|table| !table.get_ref().is_empty())?;
        Some(Self { text, table })
    }

    /// The name or the value of a dotted field, or else the innermost table that it would stand in.
    pub(crate) fn place(&self, field: &str, name: bool) -> Range<usize> {
        let inner = within(self.table.get_ref(), field, name);
        inner.unwrap_or_else(|| self.table.span())
    }
}

/// The field whose name is the longest, as names may hold dots.
fn within(table: &DeTable<'_>, field: &str, name: bool) -> Option<Range<usize>> {
    let rest = |key: &str| field.strip_prefix(key).filter(|r| r.is_empty() || r.starts_with(['.', '[']));
    let named = table.iter().filter_map(|(key, value)| Some((key, value, rest(key.get_ref())?)));
    let (key, value, rest) = named.min_by_key(|(_, _, rest)| rest.len())?;
    if rest.is_empty() && name {
        return Some(key.span());
    }
    Some(below(value, rest, name))
}

fn below(value: &Spanned<DeValue<'_>>, field: &str, name: bool) -> Range<usize> {
    let inner = match value.get_ref() {
        DeValue::Array(list) => {
            let index = field.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            let element =
                index.and_then(|(index, rest)| Some((list.get(index.parse::<usize>().ok()?)?, rest)));
            element.map(|(element, rest)| below(element, rest, name))
        }
        DeValue::Table(table) => field.strip_prefix('.').and_then(|rest| within(table, rest, name)),
        _ => None,
    };
    inner.unwrap_or_else(|| value.span())
}

//! Settings on top of a file: `path.buffer=0.25bdp`. They become part of the scenario's text.

use std::path::Path;

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use crate::error::{Result, ScenarioError, shortened};
use crate::model::Scenario;
use crate::parse::Given;
use crate::traces::Traces;

/// Most parts of a dotted key.
const DEPTH_MAX: usize = 8;
/// Longest setting.
const LENGTH_MAX: usize = 64 << 10;

/// One field of a scenario file, set from elsewhere.
#[derive(Clone, Debug)]
pub struct Setting {
    /// As given, for messages.
    text: String,
    key: Vec<String>,
    /// `None`: the field is removed.
    value: Option<Value>,
}

impl Setting {
    /// From `KEY=VALUE`: a dotted field and a value as in TOML, where a text needs no quotes.
    ///
    /// Without a value, the field is removed. In lists of tables, a number names one (`flow.0.size`) and
    /// otherwise all are meant (`flow.size`).
    pub fn parse(text: &str) -> Result<Self> {
        match text.split_once('=') {
            Some((key, value)) => Self::new(text, key, value),
            None => Err(wrong(text, "there is no `=`")),
        }
    }

    /// One setting for each of the values in `KEY=VALUE,VALUE,…`.
    pub fn sweep(text: &str) -> Result<Vec<Self>> {
        let Some((key, values)) = text.split_once('=') else { return Err(wrong(text, "there is no `=`")) };
        if values.trim().is_empty() {
            return Err(wrong(text, "there is no value"));
        }
        list(values)
            .into_iter()
            .map(|value| Self::new(&format!("{}={value}", key.trim()), key, value))
            .collect()
    }

    /// The dotted key.
    pub fn key(&self) -> String {
        self.key.join(".")
    }

    /// As given.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn new(text: &str, key: &str, value: &str) -> Result<Self> {
        let key: Vec<String> = key.split('.').map(|part| part.trim().to_owned()).collect();
        if text.len() > LENGTH_MAX {
            return Err(wrong(text, "it is too long"));
        }
        if !is_field(&key.join(".")) {
            return Err(wrong(text, "the part before `=` is not a field"));
        }
        let trimmed = value.trim();
        let value = match trimmed {
            "" => None,
            // A value that is not TOML is text: `0.25bdp`, `reno`.
            _ => Some(trimmed.parse().unwrap_or_else(|_| Value::from(trimmed))),
        };
        Ok(Self { text: text.to_owned(), key, value })
    }

    pub(crate) fn apply(&self, document: &mut DocumentMut) -> Result {
        self.apply_to(document.as_table_mut(), &self.key)
    }

    fn apply_to(&self, table: &mut dyn TableLike, key: &[String]) -> Result {
        let Some((name, rest)) = key.split_first() else { return Ok(()) };
        if rest.is_empty() {
            match &self.value {
                Some(new) => set(table, name, new.clone()),
                None => {
                    table.remove(name);
                }
            }
            return Ok(());
        }
        if let Some(Item::Value(Value::String(kind))) = table.get(name) {
            // `queue = "red"` with `queue.min` becomes a table of that kind.
            let mut described = InlineTable::new();
            described.insert("kind", Value::from(kind.value().as_str()));
            table.insert(name, value(described));
        }
        if table.get(name).is_none() {
            if self.value.is_none() {
                return Ok(());
            }
            if rest[0].parse::<usize>().is_ok() {
                let problem = if key.len() == self.key.len() {
                    format!("there is no `[[{name}]]` table to have that number")
                } else {
                    format!("there is no list `{name}` to have that number")
                };
                return Err(wrong(&self.text, &problem));
            }
            table.insert(name, self.new_table(name));
        }
        match table.get_mut(name) {
            Some(Item::Value(Value::Array(list))) => self.apply_to_list(name, list, rest),
            Some(Item::ArrayOfTables(list)) => {
                let (one, rest) = match rest[0].parse::<usize>() {
                    Ok(index) => (Some(index), &rest[1..]),
                    Err(_) => (None, rest),
                };
                let length = list.len();
                if one.is_some_and(|index| index >= length) || rest.is_empty() {
                    return Err(wrong(
                        &self.text,
                        &format!("there are {length} `[[{name}]]` tables, counted from 0, each with fields"),
                    ));
                }
                for (_, element) in
                    list.iter_mut().enumerate().filter(|(i, _)| one.is_none_or(|index| index == *i))
                {
                    self.apply_to(element, rest)?;
                }
                Ok(())
            }
            Some(item) => match item.as_table_like_mut() {
                Some(inner) => self.apply_to(inner, rest),
                None => Err(wrong(&self.text, &format!("`{name}` is not a table in this scenario"))),
            },
            None => Ok(()),
        }
    }

    /// As for lists of tables: `jitter.0.max` is one, `jitter.max` all.
    fn apply_to_list(&self, name: &str, list: &mut Array, rest: &[String]) -> Result {
        let (one, rest) = match rest[0].parse::<usize>() {
            Ok(index) => (Some(index), &rest[1..]),
            Err(_) => (None, rest),
        };
        let length = list.len();
        let problem = || {
            let problem =
                format!("`{name}` is a list of {length}, counted from 0, and not all are tables with fields");
            wrong(&self.text, &problem)
        };
        if one.is_some_and(|index| index >= length) || rest.is_empty() {
            return Err(problem());
        }
        for (_, element) in list.iter_mut().enumerate().filter(|(i, _)| one.is_none_or(|index| index == *i)) {
            let Some(inner) = element.as_inline_table_mut() else { return Err(problem()) };
            self.apply_to(inner, rest)?;
        }
        Ok(())
    }

    /// A missing parent, as people would write it: `[path]` and `[algorithm.best]`, but `queue = { … }`.
    fn new_table(&self, name: &str) -> Item {
        if self.key[0] == name || self.key[0] == "algorithm" || name == "reverse" {
            let mut table = Table::new();
            table.set_implicit(true);
            return Item::Table(table);
        }
        value(InlineTable::new())
    }

    /// Whether an error at `field` may come from this setting.
    pub(crate) fn concerns(&self, field: &str) -> bool {
        let parts: Vec<&str> = field.split('.').map(|part| part.split('[').next().unwrap_or(part)).collect();
        let key: Vec<&str> =
            self.key.iter().map(String::as_str).filter(|part| part.parse::<usize>().is_err()).collect();
        parts.starts_with(&key) || key.starts_with(&parts)
    }
}

impl Scenario {
    /// [`Scenario::parse`] after changing the text by `settings`, in order.
    ///
    /// An error names the place in `text`; one in what a setting has put there names the setting, and what stood in its place.
    pub fn parse_with(
        name: &str,
        text: &str,
        directory: Option<&Path>,
        settings: &[Setting],
    ) -> Result<Self> {
        if settings.is_empty() {
            return Self::parse(name, text, directory);
        }
        let Ok(mut document) = text.parse::<DocumentMut>() else {
            // Only the message with its place is missing here.
            return Self::parse(name, text, directory);
        };
        for setting in settings {
            setting.apply(&mut document)?;
            if let Some(uncertain) = document.get_mut("uncertain").and_then(Item::as_table_like_mut) {
                // What is set is known.
                let known: Vec<String> =
                    uncertain.iter().map(|(f, _)| f.to_owned()).filter(|f| setting.concerns(f)).collect();
                for field in known {
                    uncertain.remove(&field);
                }
            }
        }
        let changed = document.to_string();
        let given = Given { name, text: &changed, written: Some(text), directory, traces: Traces::default() };
        let mut scenario = Self::parse_blaming(&given, settings)?;
        scenario.original.text = Some(text.to_owned());
        Ok(scenario)
    }

    /// An error in a field that one of `settings` has put there names it.
    pub(crate) fn parse_blaming(given: &Given<'_>, settings: &[Setting]) -> Result<Self> {
        let setting = |field: &str| {
            settings.iter().rev().find(|s| s.concerns(field)).map(|setting| setting.text.as_str())
        };
        Self::parse_text(given).map_err(|error| error.set_by(setting))
    }
}

/// Whether a text may name a field.
pub(crate) fn is_field(key: &str) -> bool {
    let named =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_+".contains(c));
    key.split('.').count() <= DEPTH_MAX && key.split('.').all(named)
}

/// The parts of `values` between commas that are in no bracket and no quotes.
pub(crate) fn list(values: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut start) = (0usize, false, 0);
    let mut parts = Vec::new();
    for (i, c) in values.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '{' | '[' if !quoted => depth += 1,
            '}' | ']' if !quoted => depth = depth.saturating_sub(1),
            ',' if !quoted && depth == 0 => {
                parts.push(values[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(values[start..].trim());
    parts
}

fn set(table: &mut dyn TableLike, name: &str, new: Value) {
    let decor = table.get(name).and_then(Item::as_value).map(|old| old.decor().clone());
    let mut new = new;
    match decor {
        Some(decor) => *new.decor_mut() = decor,
        None => new.decor_mut().clear(),
    }
    table.insert(name, Item::Value(new));
}

fn wrong(text: &str, problem: &str) -> ScenarioError {
    ScenarioError::Setting {
        text: shortened(text),
        problem: problem.to_owned(),
        allowed:
            "FIELD=VALUE with a field of the scenario file, such as path.buffer=0.25bdp or flow.0.size=10MB"
                .to_owned(),
    }
}

//! A TOML table read field by field, each with its place for errors.

use std::ops::{Range, RangeInclusive};
use std::sync::LazyLock;

use rampcc::{Rate, Time};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{File, Result, ScenarioError, listed, nearest, shortened};
use crate::field::{TIME_MAX, Table};
use crate::names::{Named, Tagged, names};
use crate::units::{self, Buffer, Wrong};

/// Largest rate that may be written.
const RATE_MAX: Rate = Rate::from_bits_per_s(1_000_000_000_000_000);
/// Largest size that may be written: 1 EB.
const BYTES_MAX: u64 = 1_000_000_000_000_000_000;

/// A table whose fields are all known to the schema.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    pub(crate) file: &'a File<'a>,
    /// Dotted path; empty for the root.
    pub(crate) path: String,
    pub(crate) span: Range<usize>,
    schema: &'static Table,
    table: &'a DeTable<'a>,
}

#[derive(Clone, Debug)]
pub(crate) struct Value<'a> {
    pub(crate) file: &'a File<'a>,
    /// Dotted path.
    pub(crate) field: String,
    pub(crate) span: Range<usize>,
    raw: &'a DeValue<'a>,
}

/// Name, place of the name, value.
type Free<'a> = (&'a str, Range<usize>, Value<'a>);

impl<'a> Section<'a> {
    pub(crate) fn root(file: &'a File<'a>, table: &'a Spanned<DeTable<'a>>, schema: &'static Table) -> Self {
        Self { file, path: String::new(), span: table.span(), schema, table: table.get_ref() }.checked()
    }

    fn checked(self) -> Self {
        for (key, _) in self.table {
            let name: &str = key.get_ref();
            if self.schema.entry(name).is_some() {
                continue;
            }
            let names = || self.schema.entries().map(|f| f.name);
            let absent = nearest(name, names().filter(|known| !self.table.contains_key(*known)));
            let near = absent.or_else(|| nearest(name, names()));
            let problem = match near {
                Some(near) => format!("there is no such field; did you mean `{near}`?"),
                None => "there is no such field".to_owned(),
            };
            if let Some(absent) = absent {
                self.file.means(self.join(absent));
            }
            let unknown = self.file.error(key.span(), &self.join(name), &problem, &listed(names()));
            self.file.keep::<()>(Err(unknown));
        }
        self
    }

    /// What `read` makes of a field; `None` where it is absent, or wrong: that is reported with all other mistakes.
    pub(crate) fn read<T>(
        &self,
        name: &'static str,
        read: impl FnOnce(&Value<'a>) -> Result<T>,
    ) -> Option<T> {
        self.file.keep(read(&self.get(name)?))
    }

    /// As [`Section::read`], of a field that must be there.
    pub(crate) fn needed<T>(
        &self,
        name: &'static str,
        read: impl FnOnce(&Value<'a>) -> Result<T>,
    ) -> Option<T> {
        self.file.keep(self.need(name).and_then(|value| read(&value)))
    }

    /// A table within this one, if it is there.
    pub(crate) fn inner(&self, name: &'static str, schema: &'static Table) -> Option<Self> {
        self.read(name, |value| value.section(schema))
    }

    /// Whether nothing wrong was found in this table so far: only then its fields can contradict each other.
    pub(crate) fn is_sound(&self) -> bool {
        self.file.is_sound(&self.path)
    }

    /// The value of a field, if it is there.
    pub(crate) fn get(&self, name: &'static str) -> Option<Value<'a>> {
        debug_assert!(self.schema.entry(name).is_some(), "{name} is not in the schema");
        let value = self.table.get(name)?;
        Some(Value { file: self.file, field: self.join(name), span: value.span(), raw: value.get_ref() })
    }

    /// The value of a field that must be there.
    pub(crate) fn need(&self, name: &'static str) -> Result<Value<'a>> {
        self.get(name).ok_or_else(|| {
            let allowed = self.schema.entry(name).map_or_else(String::new, |entry| entry.kind.allowed());
            self.error(name, "it is missing", &allowed)
        })
    }

    /// Keys with their places, for tables of freely named entries.
    pub(crate) fn error(&self, name: &str, problem: &str, allowed: &str) -> ScenarioError {
        self.file.error(self.span.clone(), &self.join(name), problem, allowed)
    }

    fn join(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// What the schema says of the table as a whole.
    pub(crate) const fn schema(&self) -> &'static Table {
        self.schema
    }
}

impl<'a> Value<'a> {
    pub(crate) fn error(&self, problem: &str, allowed: &str) -> ScenarioError {
        self.file.error(self.span.clone(), &self.field, problem, allowed)
    }

    /// `found 3 potatoes: it is …`
    fn wrong(&self, problem: &str, allowed: &str) -> ScenarioError {
        self.error(&format!("found {}: {problem}", self.found()), allowed)
    }

    fn unexpected(&self, allowed: &str) -> ScenarioError {
        self.error(&format!("found {}", self.found()), allowed)
    }

    /// The value for a message.
    pub(crate) fn found(&self) -> String {
        match self.raw {
            DeValue::String(text) => format!("\"{}\"", shortened(text)),
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {
                shortened(self.file.text.get(self.span.clone()).unwrap_or_default())
            }
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        }
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self.raw, DeValue::String(_))
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self.raw, DeValue::Array(_))
    }

    pub(crate) fn is_table(&self) -> bool {
        matches!(self.raw, DeValue::Table(_))
    }

    pub(crate) fn is_flag(&self) -> bool {
        matches!(self.raw, DeValue::Boolean(_))
    }

    /// Whether it is this very word.
    pub(crate) fn is(&self, word: &str) -> bool {
        self.raw.as_str() == Some(word)
    }

    pub(crate) fn text(&self) -> Result<&'a str> {
        self.raw.as_str().ok_or_else(|| self.unexpected("a text in quotes"))
    }

    pub(crate) fn flag(&self) -> Result<bool> {
        self.raw.as_bool().ok_or_else(|| self.unexpected("true or false"))
    }

    /// One of the words that `T` has.
    pub(crate) fn one_of<T: Named>(&self) -> Result<T> {
        let words = names::<T>();
        let allowed = listed(words.iter().copied());
        let Some(text) = self.raw.as_str() else { return Err(self.unexpected(&allowed)) };
        let found = T::NAMES.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        found.ok_or_else(|| match nearest(text, words.iter().copied()) {
            Some(near) => self.wrong(&format!("did you mean `{near}`?"), &allowed),
            None => self.unexpected(&allowed),
        })
    }

    pub(crate) fn time(&self) -> Result<Time> {
        if self.integer() == Some(0) {
            return Ok(Time::ZERO);
        }
        let time = self.quantity(units::time, units::TIME)?;
        if time > TIME_MAX { Err(self.wrong("it is too large", "a time up to 366 days")) } else { Ok(time) }
    }

    pub(crate) fn time_in(&self, range: &RangeInclusive<Time>) -> Result<Time> {
        let time = self.time()?;
        if !range.contains(&time) {
            let allowed = format!("a time from {} to {}", range.start(), range.end());
            return Err(self.wrong("it is out of range", &allowed));
        }
        Ok(time)
    }

    /// A rate above zero.
    pub(crate) fn rate(&self) -> Result<Rate> {
        let rate = self.rate_or_outage()?;
        if rate == Rate::default() {
            return Err(self.wrong("it must not be zero", units::RATE));
        }
        Ok(rate)
    }

    pub(crate) fn rate_or_outage(&self) -> Result<Rate> {
        if self.integer() == Some(0) {
            return Ok(Rate::default());
        }
        let rate = self.quantity(units::rate, units::RATE)?;
        if rate > RATE_MAX {
            Err(self.wrong("it is too large", "a rate up to 1000 Tbit/s"))
        } else {
            Ok(rate)
        }
    }

    pub(crate) fn bytes(&self, range: &RangeInclusive<u64>) -> Result<u64> {
        let bytes = if self.integer() == Some(0) { 0 } else { self.quantity(units::bytes, units::BYTES)? };
        let (least, most) = (*range.start(), BYTES_MAX.min(*range.end()));
        if bytes < least || bytes > most {
            let allowed = format!("a size from {least} to {most} B");
            return Err(self.wrong("it is out of range", &allowed));
        }
        Ok(bytes)
    }

    pub(crate) fn buffer(&self) -> Result<Buffer> {
        // Zero needs no unit anywhere, but a queue does not hold nothing.
        let none = self.integer() == Some(0);
        let buffer = if none { Buffer::Bytes(0) } else { self.quantity(units::buffer, units::BUFFER)? };
        match buffer {
            Buffer::Packets(0) | Buffer::Bytes(0) | Buffer::Bdp(..=0.0) => {
                Err(self.wrong("a queue holds at least one packet", units::BUFFER))
            }
            Buffer::Bytes(n) if n > BYTES_MAX => {
                Err(self.wrong("it is too large", "up to 1 EB; or \"unlimited\""))
            }
            buffer => Ok(buffer),
        }
    }

    pub(crate) fn packets(&self, range: &RangeInclusive<u64>) -> Result<u64> {
        let found = match self.integer() {
            Some(value) => Some(value),
            None => Some(i128::from(self.quantity(units::packets, units::PACKETS)?)),
        };
        found.and_then(|v| u64::try_from(v).ok()).filter(|v| range.contains(v)).ok_or_else(|| {
            let allowed = format!("packets from {} to {}", range.start(), range.end());
            self.wrong("it is out of range", &allowed)
        })
    }

    pub(crate) fn count(&self, range: &RangeInclusive<u64>) -> Result<u64> {
        let allowed = format!("a whole number from {} to {}", range.start(), range.end());
        let Some(value) = self.integer() else { return Err(self.unexpected(&allowed)) };
        u64::try_from(value)
            .ok()
            .filter(|v| range.contains(v))
            .ok_or_else(|| self.wrong("it is out of range", &allowed))
    }

    pub(crate) fn number(&self, range: &RangeInclusive<f64>) -> Result<f64> {
        let allowed = format!("a number from {} to {}", range.start(), range.end());
        match self.plain() {
            Some(value) if range.contains(&value) => Ok(value),
            Some(_) => Err(self.wrong("it is out of range", &allowed)),
            None => Err(self.unexpected(&allowed)),
        }
    }

    pub(crate) fn probability(&self) -> Result<f64> {
        match (self.plain(), self.raw) {
            (Some(value), _) if (0.0..=1.0).contains(&value) => Ok(value),
            (None, DeValue::String(text)) => {
                units::probability(text).map_err(|wrong| self.wrong(&wrong, units::PROBABILITY))
            }
            _ => Err(self.unexpected(units::PROBABILITY)),
        }
    }

    /// A number or a text, by `parse`; for values with units of their own.
    pub(crate) fn quantity<T>(&self, parse: impl Fn(&str) -> Result<T, Wrong>, allowed: &str) -> Result<T> {
        match self.raw {
            DeValue::String(text) => parse(text).map_err(|wrong| self.wrong(&wrong, allowed)),
            DeValue::Integer(_) | DeValue::Float(_) => Err(self.wrong("it has no unit", allowed)),
            _ => Err(self.unexpected(allowed)),
        }
    }

    /// A text without its quotes, or a number as it is written.
    pub(crate) fn scalar(&self) -> Option<&'a str> {
        match self.raw {
            DeValue::String(text) => Some(text),
            DeValue::Integer(_) | DeValue::Float(_) => self.file.text.get(self.span.clone()),
            _ => None,
        }
    }

    /// The whole number it is, if it is one.
    pub(crate) fn integer(&self) -> Option<i128> {
        match self.raw {
            DeValue::Integer(n) => i128::from_str_radix(n.as_str(), n.radix()).ok(),
            _ => None,
        }
    }

    /// The finite number it is, if it is one.
    pub(crate) fn plain(&self) -> Option<f64> {
        match self.raw {
            DeValue::Float(n) => n.as_str().parse().ok().filter(|v: &f64| v.is_finite()),
            DeValue::Integer(_) => self.integer().map(|n| n as f64),
            _ => None,
        }
    }

    /// Its elements; a single value counts as a list of one.
    pub(crate) fn elements(&self) -> Vec<Self> {
        match self.raw {
            DeValue::Array(array) => array
                .iter()
                .enumerate()
                .map(|(i, v)| Value {
                    file: self.file,
                    field: format!("{}[{i}]", self.field),
                    span: v.span(),
                    raw: v.get_ref(),
                })
                .collect(),
            _ => vec![self.clone()],
        }
    }

    /// As a table of the schema.
    pub(crate) fn section(&self, schema: &'static Table) -> Result<Section<'a>> {
        let DeValue::Table(table) = self.raw else {
            return Err(
                self.unexpected(&format!("a table with {}", listed(schema.entries().map(|f| f.name))))
            );
        };
        Ok(Section { file: self.file, path: self.field.clone(), span: self.span.clone(), schema, table }
            .checked())
    }

    pub(crate) fn entries(&self, allowed: &str) -> Result<Vec<Free<'a>>> {
        let DeValue::Table(table) = self.raw else { return Err(self.unexpected(allowed)) };
        Ok(table
            .iter()
            .map(|(key, value)| {
                let name: &str = key.get_ref();
                let field = format!("{}.{name}", self.field);
                (name, key.span(), Self { file: self.file, field, span: value.span(), raw: value.get_ref() })
            })
            .collect())
    }

    /// The `kind` of a table, or the word itself where a word stands for a table of defaults.
    pub(crate) fn kind<T: Named>(&self) -> Result<T> {
        let DeValue::Table(table) = self.raw else { return self.one_of() };
        match table.get("kind") {
            Some(kind) => {
                let field = format!("{}.kind", self.field);
                Value { file: self.file, field, span: kind.span(), raw: kind.get_ref() }.one_of()
            }
            None => Err(self.error("`kind` is missing", &listed(names::<T>().into_iter()))),
        }
    }

    /// The same with the table, which is empty for a word.
    pub(crate) fn tagged<T: Tagged>(&self) -> Result<(T, Section<'a>)> {
        let kind: T = self.kind()?;
        let DeValue::Table(_) = self.raw else {
            static EMPTY: LazyLock<DeTable<'static>> = LazyLock::new(DeTable::new);
            let (path, span) = (self.field.clone(), self.span.clone());
            return Ok((kind, Section { file: self.file, path, span, schema: kind.table(), table: &EMPTY }));
        };
        Ok((kind, self.section(kind.table())?))
    }
}

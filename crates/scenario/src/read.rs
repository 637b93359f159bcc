//! Fields as the schema has them: of its kind, in its range, or its default.

use rampcc::{Rate, Time};

use crate::document::{Section, Value};
use crate::error::Result;
use crate::field::{Default, Entry, Kind, Table};
use crate::names::Named;

impl<'a> Section<'a> {
    /// A field as the schema has it; `None` where it is absent, or wrong.
    pub(crate) fn maybe<T: Read<'a>>(&self, name: &'static str) -> Option<T> {
        let Entry { kind, default, .. } = entry(self.schema(), name);
        let read = |value: &Value<'a>| T::read(value, *kind);
        if matches!(default, Default::Required) { self.needed(name, read) } else { self.read(name, read) }
    }

    /// A field, or the schema's default. What stands for one that is wrong or missing is of no use.
    pub(crate) fn of<T: Read<'a>>(&self, name: &'static str) -> T {
        self.maybe(name).unwrap_or_else(|| default_of(self.schema(), name))
    }

    /// Puts a field in its place, if it is there.
    pub(crate) fn set<T: Read<'a>>(&self, name: &'static str, place: &mut T) {
        if let Some(value) = self.maybe(name) {
            *place = value;
        }
    }
}

/// What a field of some kind is in Rust.
pub(crate) trait Read<'a>: Sized {
    /// The value, which is of this kind and in its range.
    fn read(value: &Value<'a>, kind: Kind) -> Result<Self>;

    /// What the schema says that holds without it; for what must be there, anything.
    fn without(entry: &Entry) -> Self;
}

/// What holds without a field.
pub(crate) fn default_of<'a, T: Read<'a>>(table: &'static Table, name: &str) -> T {
    T::without(entry(table, name))
}

fn entry(table: &'static Table, name: &str) -> &'static Entry {
    table.entry(name).unwrap_or_else(|| panic!("`{name}` is not in the schema"))
}

/// The schema and the parser disagree about a kind: any scenario with the table shows it.
fn mismatch<T>(what: &impl std::fmt::Debug) -> T {
    panic!("the schema says {what:?} where another kind is read")
}

impl Read<'_> for Time {
    fn read(value: &Value<'_>, kind: Kind) -> Result<Self> {
        match kind {
            Kind::Time(least, most) => value.time_in(&(least..=most)),
            other => mismatch(&other),
        }
    }

    fn without(entry: &Entry) -> Self {
        match entry.default {
            Default::At(time) => time,
            Default::Required => Self::ZERO,
            _ => mismatch(entry),
        }
    }
}

impl Read<'_> for u64 {
    fn read(value: &Value<'_>, kind: Kind) -> Result<Self> {
        match kind {
            Kind::Count(least, most) => value.count(&(least..=most)),
            Kind::Bytes(least, most) => value.bytes(&(least..=most)),
            Kind::Packets(least, most) => value.packets(&(least..=most)),
            other => mismatch(&other),
        }
    }

    fn without(entry: &Entry) -> Self {
        match entry.default {
            Default::Count(count) => count,
            Default::Required => 1,
            _ => mismatch(entry),
        }
    }
}

/// Where the schema's range is one of 32 bits.
impl Read<'_> for u32 {
    fn read(value: &Value<'_>, kind: Kind) -> Result<Self> {
        let wide = <u64 as Read>::read(value, kind)?;
        Ok(Self::try_from(wide).unwrap_or_else(|_| mismatch(&kind)))
    }

    fn without(entry: &Entry) -> Self {
        Self::try_from(<u64 as Read>::without(entry)).unwrap_or_else(|_| mismatch(entry))
    }
}

impl Read<'_> for f64 {
    fn read(value: &Value<'_>, kind: Kind) -> Result<Self> {
        match kind {
            Kind::Number(least, most) => value.number(&(least..=most)),
            Kind::Probability => value.probability(),
            other => mismatch(&other),
        }
    }

    fn without(entry: &Entry) -> Self {
        match entry.default {
            Default::Number(number) => number,
            Default::Required => 1.0,
            _ => mismatch(entry),
        }
    }
}

impl Read<'_> for bool {
    fn read(value: &Value<'_>, kind: Kind) -> Result<Self> {
        if matches!(kind, Kind::Flag) { value.flag() } else { mismatch(&kind) }
    }

    fn without(entry: &Entry) -> Self {
        if let Default::Flag(flag) = entry.default { flag } else { mismatch(entry) }
    }
}

impl Read<'_> for Rate {
    fn read(value: &Value<'_>, kind: Kind) -> Result<Self> {
        if matches!(kind, Kind::Rate) { value.rate() } else { mismatch(&kind) }
    }

    fn without(entry: &Entry) -> Self {
        if let Default::Required = entry.default { Self::from_bits_per_s(1_000_000) } else { mismatch(entry) }
    }
}

impl<'a> Read<'a> for &'a str {
    fn read(value: &Value<'a>, kind: Kind) -> Result<Self> {
        if matches!(kind, Kind::Text) { value.text() } else { mismatch(&kind) }
    }

    fn without(entry: &Entry) -> Self {
        if let Default::Name(text) = entry.default { text } else { mismatch(entry) }
    }
}

impl<T: Named> Read<'_> for T {
    fn read(value: &Value<'_>, kind: Kind) -> Result<Self> {
        if matches!(kind, Kind::OneOf(_)) { value.one_of() } else { mismatch(&kind) }
    }

    fn without(entry: &Entry) -> Self {
        let Default::Name(name) = entry.default else { return mismatch(entry) };
        T::NAMES.iter().find(|(known, _)| *known == name).map_or_else(|| mismatch(entry), |(_, value)| *value)
    }
}

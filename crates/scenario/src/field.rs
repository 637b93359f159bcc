//! What a field of a scenario file is: its kind with its range, its default, and what it does.

use rampcc::Time;
use rampcc_tcp::{Profile, ReceiverConfig, SenderConfig};

use crate::names::{Named, names};
use crate::units::Buffer;

/// Longest time that may be written: a leap year.
pub(crate) const TIME_MAX: Time = Time::from_secs(366 * 86_400);
pub(crate) const US: Time = Time::from_us(1);
pub(crate) const DAY: Time = Time::from_secs(86_400);

/// One table of a scenario file.
#[derive(Debug)]
pub struct Table {
    /// As written, e.g. `[path]`; for tables inside a field, the field and the kind: `queue = { kind = "red" }`.
    pub name: &'static str,
    /// Purpose.
    pub meaning: &'static str,
    /// Its fields, in groups of which some are other tables' as well.
    pub(crate) groups: &'static [&'static [Entry]],
    /// For tables with a link's fields: what holds for them here.
    pub(crate) link: Option<LinkDefaults>,
}

/// What a link's fields are where the link does not say it itself.
#[derive(Debug)]
pub(crate) struct LinkDefaults {
    pub(crate) rate: &'static str,
    pub(crate) buffer: Buffer,
}

/// One field of a table, for readers.
#[derive(Debug)]
pub struct Field {
    /// As written.
    pub name: &'static str,
    /// Values allowed.
    pub allowed: String,
    /// Value without it.
    pub default: String,
    /// Meaning.
    pub meaning: &'static str,
}

/// One field of a table, for the parser: everything that is said or held of it is made from this.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) default: Default,
    pub(crate) meaning: &'static str,
}

/// What a value may be, ends of ranges included.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Text,
    Flag,
    Rate,
    Probability,
    Time(Time, Time),
    Bytes(u64, u64),
    Packets(u64, u64),
    Count(u64, u64),
    Number(f64, f64),
    /// One of these words.
    OneOf(fn() -> Vec<&'static str>),
    /// One of these words, or a table with one of them as its `kind`.
    Tagged(fn() -> Vec<&'static str>),
    /// More than one kind; in words.
    Words(&'static str),
}

/// What holds without a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Default {
    /// Nothing: it must be there.
    Required,
    At(Time),
    Flag(bool),
    Number(f64),
    /// A whole number, of what the kind counts.
    Count(u64),
    Name(&'static str),
    /// What the profile has.
    Sender(fn(&SenderConfig) -> Self),
    /// What the profile has.
    Receiver(fn(&ReceiverConfig) -> Self),
    /// What the table has for its links.
    Link,
    /// Something that depends; in words.
    Words(&'static str),
}

pub(crate) const TEXT: Kind = Kind::Text;
pub(crate) const FLAG: Kind = Kind::Flag;
pub(crate) const RATE: Kind = Kind::Rate;
pub(crate) const PROBABILITY: Kind = Kind::Probability;
pub(crate) const TIME: Kind = Kind::Time(Time::ZERO, TIME_MAX);

pub(crate) const fn time(least: Time, most: Time) -> Kind {
    Kind::Time(least, most)
}

pub(crate) const fn bytes(least: u64, most: u64) -> Kind {
    Kind::Bytes(least, most)
}

pub(crate) const fn packets(least: u64, most: u64) -> Kind {
    Kind::Packets(least, most)
}

pub(crate) const fn count(least: u64, most: u64) -> Kind {
    Kind::Count(least, most)
}

pub(crate) const fn number(least: f64, most: f64) -> Kind {
    Kind::Number(least, most)
}

pub(crate) const fn words(allowed: &'static str) -> Kind {
    Kind::Words(allowed)
}

pub(crate) const fn one_of<T: Named>() -> Kind {
    Kind::OneOf(names::<T>)
}

pub(crate) const fn tagged<T: Named>() -> Kind {
    Kind::Tagged(names::<T>)
}

impl Table {
    pub(crate) fn entries(&self) -> impl Iterator<Item = &'static Entry> + use<> {
        self.groups.iter().copied().flatten()
    }

    pub(crate) fn entry(&self, name: &str) -> Option<&'static Entry> {
        self.entries().find(|entry| entry.name == name)
    }

    /// What its links hold by default.
    pub(crate) fn buffer(&self) -> Buffer {
        self.link.as_ref().map_or(Buffer::Unlimited, |link| link.buffer)
    }

    /// Its fields.
    pub fn fields(&self) -> impl Iterator<Item = Field> {
        self.entries().map(|entry| Field {
            name: entry.name,
            allowed: entry.kind.allowed(),
            default: match (&entry.default, entry.name, &self.link) {
                (Default::Link, "rate", Some(link)) => link.rate.to_owned(),
                (Default::Link, _, Some(link)) => link.buffer.to_string(),
                (default, ..) => default.shown(entry.kind),
            },
            meaning: entry.meaning,
        })
    }
}

impl Kind {
    /// What a value may be, in words.
    pub(crate) fn allowed(self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Flag => "true, false".to_owned(),
            Self::Rate => "rate".to_owned(),
            Self::Probability => "probability".to_owned(),
            Self::Time(Time::ZERO, TIME_MAX) => "time".to_owned(),
            Self::Time(least, most) => format!("time from {least} to {most}"),
            Self::Bytes(0 | 1, u64::MAX) => "bytes".to_owned(),
            Self::Bytes(least, most) => format!("bytes, {least} B to {most} B"),
            Self::Packets(least, most) => format!("packets, {least} to {most}"),
            Self::Count(0, u64::MAX) => "whole number".to_owned(),
            Self::Count(least, most) => format!("{least} to {most}"),
            Self::Number(least, most) => format!("number from {least} to {most}"),
            Self::OneOf(names) => names().join(", "),
            Self::Tagged(names) => format!("{}, or a table with `kind`", names().join(", ")),
            Self::Words(words) => words.to_owned(),
        }
    }
}

impl Default {
    fn shown(self, kind: Kind) -> String {
        match self {
            Self::Required => "required".to_owned(),
            Self::At(Time::ZERO) => "0 s".to_owned(),
            Self::At(time) => time.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Count(count) if matches!(kind, Kind::Bytes(..)) => match count {
                _ if count > 0 && count % (1 << 20) == 0 => format!("{} MiB", count >> 20),
                _ if count > 0 && count % (1 << 10) == 0 => format!("{} KiB", count >> 10),
                _ => format!("{count} B"),
            },
            Self::Count(count) => count.to_string(),
            Self::Name("") => "empty".to_owned(),
            Self::Name(name) | Self::Words(name) => name.to_owned(),
            Self::Sender(of) => {
                by_profile(|profile| of(&SenderConfig::new(profile, &rampcc::algorithms()[0])).shown(kind))
            }
            Self::Receiver(of) => by_profile(|profile| of(&ReceiverConfig::new(profile)).shown(kind)),
            Self::Link => unreachable!("the table says it"),
        }
    }
}

/// `modern / era / ns2`, which is as era where it has none of its own; once where all are the same.
fn by_profile(of: impl Fn(Profile) -> String) -> String {
    let mut all = [Profile::Modern, Profile::Era, Profile::Ns2].map(of).to_vec();
    if all[1] == all[2] {
        all.pop();
        if all[0] == all[1] {
            all.pop();
        }
    }
    all.join(" / ")
}

/// A table, and what is in its braces: `"name": kind => default, "meaning";`.
macro_rules! table {
    ($id:ident: $name:expr, $meaning:expr
     $(, last $last:path)* $(, link $links:path, $rate:expr, $buffer:expr)?;
     $($field:literal: $kind:expr => $default:expr, $what:expr;)*) => {
        pub(crate) static $id: $crate::field::Table = $crate::field::Table {
            name: $name,
            meaning: $meaning,
            groups: &[
                $crate::field::entries!($($field: $kind => $default, $what;)*),
                $($last,)*
                $($links,)?
            ],
            link: $crate::field::link_defaults!($($rate, $buffer)?),
        };
    };
}

/// Fields that are several tables'.
macro_rules! entries {
    ($($field:literal: $kind:expr => $default:expr, $what:expr;)*) => {
        &[$($crate::field::Entry { name: $field, kind: $kind, default: $default, meaning: $what }),*]
    };
}

macro_rules! link_defaults {
    () => {
        None
    };
    ($rate:expr, $buffer:expr) => {
        Some($crate::field::LinkDefaults { rate: $rate, buffer: $buffer })
    };
}

pub(crate) use {entries, link_defaults, table};

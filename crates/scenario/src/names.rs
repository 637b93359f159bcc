//! Words that stand for values, each once.

use rampcc_path::{QuickStartPolicy, Ties};
use rampcc_tcp::{AckPolicy, Avoidance, Pacing, Profile, Recovery, Search};

use crate::field::Table;

/// A value that is written as one of a few words.
pub(crate) trait Named: Copy + PartialEq + 'static {
    const NAMES: &'static [(&'static str, Self)];
}

/// A [`Named`] that is the `kind` of a table, each with fields of its own.
pub(crate) trait Tagged: Named {
    fn table(self) -> &'static Table;
}

pub(crate) fn names<T: Named>() -> Vec<&'static str> {
    T::NAMES.iter().map(|(name, _)| *name).collect()
}

pub(crate) fn name<T: Named>(value: T) -> &'static str {
    T::NAMES.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| name)
}

macro_rules! named {
    ($($type:ident { $($value:ident = $name:literal),* $(,)? })*) => {
        $(impl $crate::names::Named for $type {
            const NAMES: &'static [(&'static str, Self)] = &[$(($name, Self::$value)),*];
        })*
    };
}

/// Kinds with a table each, in the order of the reference.
macro_rules! kinds {
    ($type:ident { $($value:ident = $name:literal: $table:path),* $(,)? }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $type { $($value),* }

        $crate::names::named! { $type { $($value = $name),* } }

        impl $crate::names::Tagged for $type {
            fn table(self) -> &'static $crate::field::Table {
                match self { $(Self::$value => &$table),* }
            }
        }
    };
}

pub(crate) use {kinds, named};

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopping {
    Complete,
    Duration,
}

/// An acknowledgement policy without its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acks {
    Quick,
    Delayed,
    Linux,
    FreeBsd,
}

impl Acks {
    pub(crate) fn of(policy: AckPolicy) -> Self {
        match policy {
            AckPolicy::Quick => Self::Quick,
            AckPolicy::Delayed { .. } => Self::Delayed,
            AckPolicy::Linux { .. } => Self::Linux,
            AckPolicy::FreeBsd { .. } => Self::FreeBsd,
        }
    }
}

/// Receivers of the HyStart paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    Linux,
    FreeBsd,
    WindowsXp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SizeKind {
    Constant,
    Exponential,
    Pareto,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Log,
    Linear,
}

named! {
    Profile { Modern = "modern", Era = "era", Ns2 = "ns2" }
    Stopping { Complete = "complete", Duration = "duration" }
    Avoidance { Reno = "reno", Cubic = "cubic", Vegas = "vegas", Westwood = "westwood", Bbr = "bbr", Bbr3 = "bbr3" }
    Recovery {
        Sack = "sack", Fack = "fack", FackHints = "fack-hints", SackNs2 = "sack-ns2", NewRenoImpatient = "newreno-impatient", NewRenoSteady = "newreno-steady",
        NewRenoFlywheel = "newreno-flywheel", Tahoe = "tahoe",
    }
    Ties { Departure = "departure", Arrival = "arrival" }
    QuickStartPolicy { Unaware = "unaware", Refuse = "refuse", Grant = "grant" }
    Search { List = "list", Hint = "hint", HintInOrder = "hint-in-order", Tree = "tree" }
    Pacing { Algorithm = "algorithm", Always = "always" }
    Acks { Quick = "quick", Delayed = "delayed", Linux = "linux", FreeBsd = "freebsd" }
    System { Linux = "linux", FreeBsd = "freebsd", WindowsXp = "windows-xp" }
    SizeKind { Constant = "constant", Exponential = "exponential", Pareto = "pareto" }
    Scale { Log = "log", Linear = "linear" }
}

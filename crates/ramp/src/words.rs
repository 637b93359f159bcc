//! The contract's lists in files: each entry by its word.

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{EventKind, ExitReason, HintSource, Phase};

macro_rules! by_word {
    ($($list:ident),+) => {$(
        impl Serialize for $list {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl<'de> Deserialize<'de> for $list {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = String::deserialize(deserializer)?;
                Self::from_word(&word).ok_or_else(|| {
                    let known = Self::ALL.map(Self::word).join(", ");
                    D::Error::invalid_value(Unexpected::Str(&word), &known.as_str())
                })
            }
        }
    )+};
}

by_word!(EventKind, ExitReason, HintSource, Phase);

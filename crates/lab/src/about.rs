//! What a row is.

use serde::{Deserialize, Serialize, Serializer};

/// What a row of a comparison is; [`About::words`] say it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// An algorithm of the registry.
    Algorithm {
        /// Its identifier.
        id: String,
        /// What is not as usual, `NAME=VALUE` each.
        settings: Vec<String>,
    },
    /// An algorithm of a header that is in no registry.
    Header {
        /// Its identifier.
        id: String,
    },
    /// A control of a backend's own.
    Own {
        /// Who has it.
        owner: String,
        /// As its owner calls it.
        name: String,
        /// How it is made; may be empty.
        definition: String,
    },
}

impl About {
    /// In sentences: the algorithm's idea, and the settings that are not as usual.
    pub fn words(&self) -> String {
        match self {
            Self::Header { id } => format!("{id}: a header that is in no registry."),
            Self::Own { owner, name, definition } if definition.is_empty() => {
                let article = if owner == "kernel" { "The " } else { "" };
                format!("{article}{owner}'s own {name}.")
            }
            Self::Own { name, definition, .. } => format!("{name}: {definition}."),
            Self::Algorithm { id, settings } => {
                let Some(algorithm) = rampcc::algorithm(id) else { return format!("{id}.") };
                let idea = algorithm.idea.trim_end_matches('.');
                let with = if settings.is_empty() {
                    String::new()
                } else {
                    format!(" With {}.", settings.join(", "))
                };
                format!("{}: {idea}.{with}", algorithm.name)
            }
        }
    }
}

/// As text, empty where nothing is known: files for programs are read by no part of ramp.
#[expect(clippy::ref_option, reason = "serde's signature")]
pub(crate) fn in_words<S: Serializer>(about: &Option<About>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&about.as_ref().map(About::words).unwrap_or_default())
}

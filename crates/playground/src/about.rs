//! What there is to choose from.

use rampcc::{Algorithm, Traits};
use rampcc_experiment::{VERSION, groups};
use rampcc_scenario::Scenario;
use serde::Serialize;
use toml_edit::{DocumentMut, Item};

/// Fields of a path that a form shows, by their options.
const FIELDS: [(&str, &[&str]); 11] = [
    ("rate", &["path", "rate"]),
    ("rtt", &["path", "rtt"]),
    ("buffer", &["path", "buffer"]),
    ("size", &["size"]),
    ("trace", &["path", "trace"]),
    ("loss", &["path", "loss"]),
    ("queue", &["path", "queue"]),
    ("jitter", &["path", "jitter"]),
    ("reverse-rate", &["path", "reverse", "rate"]),
    ("cross-traffic", &["path", "cross-traffic"]),
    ("duration", &["duration"]),
];

/// Everything that a page offers.
#[derive(Serialize)]
pub(crate) struct About {
    version: &'static str,
    scenarios: Vec<Shipped>,
    groups: Vec<Group>,
    algorithms: Vec<Row>,
}

#[derive(Serialize)]
struct Shipped {
    name: &'static str,
    description: String,
}

#[derive(Serialize)]
struct Group {
    word: &'static str,
    meaning: &'static str,
}

#[derive(Serialize)]
struct Row {
    id: &'static str,
    name: &'static str,
    idea: &'static str,
    groups: Vec<&'static str>,
    yardstick: bool,
    parameters: Vec<Parameter>,
}

#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    default: u64,
    meaning: &'static str,
}

impl About {
    pub(crate) fn new() -> Self {
        let shipped = |name: &'static str| {
            let description = Scenario::built_in(name).map_or(String::new(), |s| s.description);
            Shipped { name, description }
        };
        Self {
            version: VERSION,
            scenarios: Scenario::built_in_names().map(shipped).collect(),
            groups: groups().map(|(word, meaning)| Group { word, meaning }).collect(),
            algorithms: rampcc::algorithms().iter().map(row).collect(),
        }
    }
}

fn row(algorithm: &'static Algorithm) -> Row {
    let default = algorithm.traits.has(Traits::DEFAULT).then_some("default");
    let families = algorithm.traits.families().map(|each| each.word);
    let parameter =
        |p: &'static rampcc::Parameter| Parameter { name: p.name, default: p.default, meaning: p.meaning };
    Row {
        id: algorithm.id,
        name: algorithm.name,
        idea: algorithm.idea,
        groups: default.into_iter().chain(families).collect(),
        yardstick: algorithm.traits.has(Traits::KNOWS_PATH),
        parameters: algorithm.parameters.iter().map(parameter).collect(),
    }
}

/// What a scenario's text says in the fields of the form.
pub(crate) fn fields(text: &str) -> Vec<(&'static str, String)> {
    let Ok(document) = text.parse::<DocumentMut>() else { return Vec::new() };
    let found = FIELDS.iter().filter_map(|(option, keys)| {
        let item = keys.iter().try_fold(document.as_item(), |item, key| item.get(key))?;
        let words = match item {
            Item::Value(value) => {
                value.as_str().map_or_else(|| value.to_string().trim().to_owned(), str::to_owned)
            }
            _ => return None,
        };
        Some((*option, words.split_whitespace().collect::<Vec<_>>().join(" ")))
    });
    found.collect()
}

//! What `ramp explain` knows besides algorithms, paths, metrics and terms: whatever else a command, a list or a file calls by a
//! name.

use std::iter;

use rampcc_backend::Backend;
use rampcc_league::{columns, recommend};
use rampcc_scenario::schema;

use crate::backends;
use crate::explain::parameter_range;

/// A name with what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Topic {
    /// As it is written.
    pub(crate) name: String,
    /// What it is: `command`, `field of [path]`.
    pub(crate) kind: String,
    /// In sentences.
    pub(crate) meaning: String,
}

impl Topic {
    fn new(name: impl Into<String>, kind: impl Into<String>, meaning: impl Into<String>) -> Self {
        Self { name: name.into(), kind: kind.into(), meaning: meaning.into() }
    }
}

/// Headings of tables that stand in no list of their own: the heading, the command, the meaning.
const HEADINGS: [[&str; 3]; 14] = [
    ["calls", "replay", "Calls of the algorithm that were replayed."],
    ["limit", "replay", "What the evidence was held against, as a rule of the algorithm has it."],
    ["measure", "gate", "What may become worse: the download time first, then its price."],
    ["change", "gate", "By how much the new start-up differs from the old one, on average."],
    [
        "verdict",
        "gate",
        "Whether the change is certainly within the margin (not worse), certainly beyond it (worse), or neither.",
    ],
    ["marked runs", "league", "Runs in which the emulator was later than the path tolerates."],
    ["cases", "league", "Paths times sizes of the download that both sides have."],
    [
        "scope",
        "status",
        "Which new connections have the algorithm: a control group, a route, a network namespace or the system.",
    ],
    ["runs", "status", "What new connections of the scope run."],
    ["state", "status", "Whether what was attached is still in force."],
    ["since", "status", "How long ago it was attached."],
    ["opened", "status", "Connections that began with the algorithm."],
    ["open", "status", "Those of them that have not ended."],
    [
        "plain CUBIC",
        "status",
        "Those that ran as the kernel's own CUBIC, because the algorithm could have no memory for them.",
    ],
];

/// All of them but commands; several may have the same name.
pub(crate) fn all() -> Vec<Topic> {
    [backends(), groups(), kernel_rows(), access(), kinds(), tables(), parameters(), fields(), headings()]
        .concat()
}

/// Those of a name, `commands` among them: as it is written, or as the last part of it, such as `buffer` of `path.buffer`.
pub(crate) fn called(name: &str, commands: &[Topic]) -> Vec<Topic> {
    let plain = |text: &str| text.trim().to_lowercase().replace(['-', ' '], "_");
    let name = plain(name);
    let name = name.strip_prefix("algorithm.").unwrap_or(&name);
    let all = [commands, &all()].concat();
    let same: Vec<Topic> = all.iter().filter(|topic| plain(&topic.name) == name).cloned().collect();
    // A heading may be called as a field is.
    if same.iter().any(|topic| !headings().contains(topic)) {
        return same;
    }
    let last = |topic: &&Topic| topic.name.rsplit_once('.').is_some_and(|(_, last)| plain(last) == name);
    let mut found: Vec<Topic> = all.iter().filter(last).cloned().collect();
    // Tables share fields: each meaning once.
    let mut told = Vec::new();
    found.retain(|topic| {
        let new = !told.contains(&topic.meaning);
        told.push(topic.meaning.clone());
        new
    });
    [same, found].concat()
}

pub(crate) fn headings() -> Vec<Topic> {
    let lists: [(&str, &[columns::Column]); 4] = [
        ("league`, times", &columns::TIME),
        ("league`, costs", &columns::COST),
        ("league`, among others", &columns::AMONG),
        ("recommend`", &recommend::COLUMNS),
    ];
    let others = HEADINGS.into_iter().map(|[name, of, meaning]| (name, format!("{of}`"), meaning));
    let all = lists.into_iter().flat_map(|(of, columns)| {
        columns.iter().map(move |(name, meaning)| (*name, of.to_owned(), *meaning))
    });
    let topic = |(name, of, meaning): (&str, String, &str)| {
        Topic::new(name, format!("column of `ramp {of}"), sentence(meaning))
    };
    others.chain(all).map(topic).collect()
}

/// What paths of the league belong to.
fn access() -> Vec<Topic> {
    let all = rampcc_league::ACCESS.into_iter().filter_map(|name| Some((name, rampcc_league::about(name)?)));
    all.map(|(name, (what, reason))| {
        Topic::new(name, "access type of `ramp league`", format!("{} {reason}", sentence(&what)))
    })
    .collect()
}

pub(crate) fn commands(program: &clap::Command) -> Vec<Topic> {
    let all = program.get_subcommands().filter(|command| !command.is_hide_set());
    all.map(|command| {
        let name = command.get_name();
        let about = command.get_long_about().or(command.get_about()).map(ToString::to_string);
        let about = about.unwrap_or_default();
        let parts = about.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
        let about: Vec<String> = parts.map(|part| sentence(&part)).collect();
        Topic::new(name, "command", format!("{} `ramp {name} --help` has its options.", about.join(" ")))
    })
    .collect()
}

fn backends() -> Vec<Topic> {
    let all = backends::every();
    all.map(|backend| Topic::new(backend.name(), "backend, for --on", sentence(backend.meaning()))).collect()
}

fn groups() -> Vec<Topic> {
    let members = |word: &'static str| {
        let backends: [&dyn Backend; 0] = [];
        let rows = rampcc_experiment::Sweep::parse(&[])
            .and_then(|sweep| sweep.rows(&[word.to_owned()], &backends))
            .unwrap_or_default();
        rows.into_iter().map(|row| row.label).collect::<Vec<_>>().join(", ")
    };
    let topic = |(word, meaning): (&'static str, &'static str)| {
        Topic::new(word, "group, for --algorithms", format!("{} {}.", sentence(meaning), members(word)))
    };
    rampcc_experiment::groups().map(topic).collect()
}

fn kernel_rows() -> Vec<Topic> {
    let of = |backend: &'static dyn Backend| {
        let own = backend.controls().iter().filter(|control| control.backend == backend.name());
        own.map(|control| {
            Topic::new(control.name, format!("row of --on {}", control.backend), sentence(control.meaning))
        })
    };
    backends::ALL.iter().copied().flat_map(of).collect()
}

/// The name in quotes of `queue = { kind = "red" }`.
fn kind_of(table: &str) -> Option<(&str, &str)> {
    let (field, rest) = table.split_once("kind = \"")?;
    let field = field.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    Some((field, rest.split('"').next()?))
}

fn kinds() -> Vec<Topic> {
    let of = |table: &'static schema::Table| {
        let (field, kind) = kind_of(table.name)?;
        let own = table.fields().filter(|known| known.name != "kind");
        let own: Vec<String> = own.map(|known| format!("{} ({})", known.name, known.default)).collect();
        let own = if own.is_empty() { String::new() } else { format!(" Fields: {}.", own.join(", ")) };
        Some(Topic::new(kind, format!("kind of {field}"), format!("{}{own}", sentence(table.meaning))))
    };
    schema::tables().into_iter().filter_map(of).collect()
}

/// What a field of a table is called before its dot: `path` of `[path]`, `queue` of `queue = { kind = "red" }`.
fn prefix(table: &str) -> &str {
    if table == "top level" {
        return "";
    }
    let end = table.find([']', '=', '"']).unwrap_or(table.len());
    table[..end].trim_matches(['[', ' '])
}

fn tables() -> Vec<Topic> {
    let bracketed = schema::tables()
        .into_iter()
        .filter(|table| table.name.starts_with('[') && kind_of(table.name).is_none());
    bracketed
        .map(|table| {
            let fields: Vec<&str> = table.fields().map(|field| field.name).collect();
            let meaning = format!("{} Fields: {}.", sentence(table.meaning), fields.join(", "));
            Topic::new(prefix(table.name), "table of a scenario file", meaning)
        })
        .collect()
}

fn fields() -> Vec<Topic> {
    let of = |table: &'static schema::Table| {
        let before = prefix(table.name);
        table.fields().filter(|field| field.name != "kind").map(move |field| {
            let name =
                if before.is_empty() { field.name.to_owned() } else { format!("{before}.{}", field.name) };
            let meaning = format!(
                "{} Allowed: {}. Default: {}.",
                sentence(field.meaning),
                field.allowed,
                field.default
            );
            Topic::new(name, format!("field of a scenario file, {}", table.name), meaning)
        })
    };
    schema::tables().into_iter().flat_map(of).collect()
}

fn parameters() -> Vec<Topic> {
    let of = |algorithm: &'static rampcc::Algorithm| {
        algorithm.parameters.iter().map(move |parameter| {
            let (default, range, unit) = parameter_range(parameter);
            let meaning = format!(
                "{} Default: {default}; allowed: {range}; unit: {unit}. Source: {}",
                sentence(parameter.meaning),
                sentence(parameter.source)
            );
            let name = format!("{}.{}", algorithm.id, parameter.name);
            Topic::new(
                name,
                format!("parameter, --set algorithm.{}.{}=VALUE", algorithm.id, parameter.name),
                meaning,
            )
        })
    };
    rampcc::algorithms().iter().flat_map(of).collect()
}

/// With a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    let stop = if text.is_empty() || text.ends_with(['.', '!', '?']) { "" } else { "." };
    first.into_iter().flatten().chain(letters).chain(iter::once(stop).flat_map(str::chars)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_listed_is_a_topic() {
        let about = "Attach to this host\n\nUntil the next boot.";
        let attach = clap::Command::new("attach").long_about(about);
        let hidden = clap::Command::new("child").hide(true);
        let commands = commands(&clap::Command::new("ramp").subcommands([attach, hidden]));
        assert_eq!(commands.len(), 1);
        assert!(
            commands[0].meaning.starts_with("Attach to this host. Until the next boot. "),
            "{commands:?}"
        );
        for (name, kind, meaning) in [
            ("attach", "command", "ramp attach --help"),
            ("sim", "backend", "simulator"),
            ("deployed", "group", "hystart"),
            ("cubic_no_hystart", "row of --on linux", "HyStart"),
            ("red", "kind of queue", "max-p (0.1)"),
            ("gilbert-elliott", "kind of loss", "to-bad"),
            ("cbr", "kind of traffic", "packet"),
            ("parking-lot", "table", "hops"),
            ("path.buffer", "field", "Default: "),
            ("queue.max-p", "field", "Default: 0.1"),
            ("algorithm.hystart.low_window", "parameter", "Default: 16"),
            ("hystart.low-window", "parameter", "Default: 16"),
            ("low_window", "parameter", "Default: 16"),
            ("initial-window", "field", "[sender]"),
            ("plain CUBIC", "column of `ramp status`", "memory"),
            ("calls", "column of `ramp replay`", "replayed"),
            ("fastest", "column of `ramp league`, times", "no other row is faster"),
            ("geo", "access type", "geostationary"),
            ("crowd loses", "column of `ramp recommend`", "dropped"),
            ("front", "column of `ramp league`, among others", "gentle"),
        ] {
            let found = called(name, &commands);
            let fits = |topic: &Topic| {
                topic.kind.contains(kind) && format!("{} {}", topic.kind, topic.meaning).contains(meaning)
            };
            assert!(found.iter().any(fits), "{name}: {found:?}");
        }
        assert_eq!(called("no such thing", &commands), []);
    }
}

//! What a stack lets people set of the start of a connection: `stacks/*.toml`, or a file of the same form.

use std::path::Path;

use rampcc::Traits;
use rampcc_experiment::{ExperimentError, Result, Row, Steering};
use rampcc_scenario::nearest;
use serde::Deserialize;

/// Stacks that ramp knows, by name.
const STACKS: [(&str, &str); 5] = [
    ("linux", include_str!("../../stacks/linux.toml")),
    ("msquic", include_str!("../../stacks/msquic.toml")),
    ("nginx", include_str!("../../stacks/nginx.toml")),
    ("quiche", include_str!("../../stacks/quiche.toml")),
    ("quinn", include_str!("../../stacks/quinn.toml")),
];

/// What a stack lets people set.
#[derive(Clone, Debug)]
pub struct Stack {
    /// Its name in prose.
    pub title: String,
    /// What must be known of it.
    pub notes: String,
    /// What it offers, one by one.
    pub offers: Vec<Offered>,
    /// Every combination, the stack's own default among them.
    pub choices: Vec<Choice>,
}

/// One thing that a stack lets people set.
#[derive(Clone, Debug)]
pub struct Offered {
    /// `initial window`, `start-up` or `pacing`.
    pub part: &'static str,
    /// As the stack calls it, or the values that are tried.
    pub name: String,
    /// True of what the stack does by itself.
    pub default: bool,
    /// How to set it.
    pub set: String,
    /// Where that is said.
    pub source: String,
}

/// An initial window, a start-up and a pacing that go together.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Packets.
    pub initial_window: u32,
    /// As the stack calls it.
    pub start_up: String,
    /// As the stack calls it; empty: the start-up paces by itself.
    pub pacing: String,
    /// True of what the stack does by default.
    pub default: bool,
    /// How to set it, where that differs from the default.
    pub set: Vec<String>,
    /// How it is played.
    pub row: Row,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    title: String,
    notes: String,
    /// Another stack, whose choices it has.
    like: Option<String>,
    initial_window: Option<Windows>,
    #[serde(default)]
    start_up: Vec<Offer>,
    #[serde(default)]
    pacing: Vec<Offer>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Windows {
    values: Vec<u32>,
    default: u32,
    set: String,
    source: String,
    /// Of the stack's packets; for settings in bytes.
    #[serde(default = "full")]
    packet_bytes: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Offer {
    name: String,
    /// A row, as `--algorithms` takes it; of start-ups.
    algorithm: Option<String>,
    /// More settings of the row.
    #[serde(default)]
    play: Vec<String>,
    #[serde(default)]
    default: bool,
    set: String,
    source: String,
}

fn full() -> u64 {
    1448
}

impl Stack {
    /// Names of those that ramp knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        STACKS.iter().map(|(name, _)| *name)
    }

    /// One that ramp knows, or a file that ends in `.toml`.
    ///
    /// # Errors
    ///
    /// There is none, or the file is wrong.
    pub fn open(name: &str) -> Result<Self> {
        if let Some((_, text)) = STACKS.iter().find(|(known, _)| *known == name) {
            return Self::parse(&format!("stacks/{name}.toml"), text);
        }
        if Path::new(name).extension().is_none_or(|ending| ending != "toml") {
            let near = nearest(name, Self::names());
            let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            let known: Vec<&str> = Self::names().collect();
            return Err(input(
                format!("--stack {name}: there is no such stack"),
                format!("{near}one of {}, or a file of the form of stacks/linux.toml", known.join(", ")),
            ));
        }
        let text =
            rampcc_scenario::read_small(Path::new(name)).map_err(|cause| ExperimentError::Request {
                field: "stack",
                problem: format!("names a file that cannot be read, {name}: {cause}"),
                help: None,
            })?;
        Self::parse(name, &text)
    }

    /// From a file's text.
    ///
    /// # Errors
    ///
    /// What is wrong in it.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let wrong =
            |problem: String| input(format!("{name}: {problem}"), "the form of stacks/linux.toml".to_owned());
        let file: File = toml::from_str(text).map_err(|error| wrong(error.to_string().trim().to_owned()))?;
        if let Some(like) = &file.like {
            if file.initial_window.is_some() || !file.start_up.is_empty() || !file.pacing.is_empty() {
                return Err(wrong("`like` goes alone: the choices are those of the other stack".to_owned()));
            }
            let Some((_, text)) = STACKS.iter().find(|(known, _)| known == like && *known != name) else {
                return Err(wrong(format!("`like` names no stack: {like}")));
            };
            let other = Self::parse(like, text)?;
            return Ok(Self { title: file.title, notes: file.notes, ..other });
        }
        let Some(windows) = &file.initial_window else {
            return Err(wrong("there is no [initial-window]".to_owned()));
        };
        if !windows.values.contains(&windows.default) {
            return Err(wrong(format!("`values` of [initial-window] lack the default, {}", windows.default)));
        }
        for (table, options) in [("start-up", &file.start_up), ("pacing", &file.pacing)] {
            let defaults = options.iter().filter(|option| option.default).count();
            if defaults != 1 {
                return Err(wrong(format!("{defaults} of [[{table}]] say `default = true`, and one has to")));
            }
        }
        let unsourced = |option: &Offer| option.source.trim().is_empty();
        if windows.source.trim().is_empty() || file.start_up.iter().chain(&file.pacing).any(unsourced) {
            return Err(wrong("`source` is empty".to_owned()));
        }
        let mut choices = Vec::new();
        for packets in &windows.values {
            for start_up in &file.start_up {
                choices.extend(combined(windows, *packets, start_up, &file.pacing).map_err(&wrong)?);
            }
        }
        let offers = offers(windows, &file.start_up, &file.pacing);
        Ok(Self { title: file.title, notes: file.notes, offers, choices })
    }

    /// The place of what the stack does by default.
    pub fn default(&self) -> usize {
        self.choices.iter().position(|choice| choice.default).unwrap_or(0)
    }
}

fn offers(windows: &Windows, start_up: &[Offer], pacing: &[Offer]) -> Vec<Offered> {
    let values: Vec<String> = windows.values.iter().map(u32::to_string).collect();
    let window = Offered {
        part: "initial window",
        name: format!("{} packets (default: {})", values.join(", "), windows.default),
        default: false,
        set: windows.set.replace("{packets}", "PACKETS").replace("{bytes}", "BYTES"),
        source: windows.source.clone(),
    };
    let of = |part: &'static str| {
        move |offer: &Offer| Offered {
            part,
            name: offer.name.clone(),
            default: offer.default,
            set: offer.set.clone(),
            source: offer.source.clone(),
        }
    };
    let start_up = start_up.iter().map(of("start-up"));
    std::iter::once(window).chain(start_up).chain(pacing.iter().map(of("pacing"))).collect()
}

/// A window and a start-up with each pacing; one that paces by itself goes with the default alone.
fn combined(
    windows: &Windows,
    packets: u32,
    start_up: &Offer,
    pacings: &[Offer],
) -> Result<Vec<Choice>, String> {
    let Some(algorithm) = &start_up.algorithm else {
        return Err(format!("start-up `{}` has no `algorithm`", start_up.name));
    };
    let mut choices = Vec::new();
    for pacing in pacings {
        let settings = [format!("initial-window={packets}")].into_iter();
        let settings: Vec<String> =
            settings.chain(start_up.play.clone()).chain(pacing.play.clone()).collect();
        let joint = if algorithm.contains(':') { "," } else { ":" };
        let text = format!("{algorithm}{joint}{}", settings.join(","));
        let row = Row::parse(&text, &[]).map_err(|error| format!("start-up `{}`: {error}", start_up.name))?;
        let Steering::Core(arm) = &row.steering else {
            return Err(format!("start-up `{}` is no algorithm of the registry", start_up.name));
        };
        let own = arm.algorithm.traits.has(Traits::PACES);
        if own && !pacing.default {
            continue;
        }
        let window = windows.set.replace("{packets}", &packets.to_string());
        let window = window.replace("{bytes}", &(u64::from(packets) * windows.packet_bytes).to_string());
        let set = [
            (packets != windows.default).then_some(window),
            (!start_up.default).then(|| start_up.set.clone()),
            (!pacing.default && !own).then(|| pacing.set.clone()),
        ];
        let shown = if own { String::new() } else { pacing.name.clone() };
        let label = [packets.to_string(), start_up.name.clone(), shown.clone()];
        let label: Vec<&str> = label.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        choices.push(Choice {
            initial_window: packets,
            start_up: start_up.name.clone(),
            pacing: shown,
            default: packets == windows.default && start_up.default && pacing.default,
            set: set.into_iter().flatten().collect(),
            row: Row { label: label.join(" / "), ..row },
        });
    }
    Ok(choices)
}

fn input(message: String, help: String) -> ExperimentError {
    ExperimentError::Input { message, help: Some(help) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_stack_has_choices_one_of_which_is_its_default() {
        for name in Stack::names() {
            let stack = Stack::open(name).unwrap();
            assert_eq!(stack.choices.iter().filter(|choice| choice.default).count(), 1, "{name}");
            assert!(stack.choices[stack.default()].set.is_empty(), "{name}: the default needs no setting");
            let labels: BTreeSet<&str> = stack.choices.iter().map(|c| c.row.label.as_str()).collect();
            assert_eq!(labels.len(), stack.choices.len(), "{name}");
            assert!(stack.choices.iter().all(|choice| choice.default || !choice.set.is_empty()), "{name}");
        }
        let (linux, nginx) = (Stack::open("linux").unwrap(), Stack::open("nginx").unwrap());
        assert_eq!(linux.choices.len(), nginx.choices.len());
        let quinn = Stack::open("quinn").unwrap();
        let larger = quinn.choices.iter().find(|choice| choice.initial_window == 32).unwrap();
        assert!(larger.set[0].contains("initial_window(38400)"), "{:?}", larger.set);
    }

    #[test]
    fn what_paces_by_itself_has_one_pacing() {
        let linux = Stack::open("linux").unwrap();
        let of = |name: &str| {
            linux.choices.iter().filter(|c| c.start_up == name && c.initial_window == 10).count()
        };
        assert_eq!((of("cubic"), of("bbr")), (2, 1));
    }

    #[test]
    fn mistakes_are_told() {
        let linux = STACKS[0].1;
        for (from, to, problem) in [
            ("default = 10", "default = 11", "lack the default, 11"),
            ("algorithm = \"hystart\"", "algorithm = \"histart\"", "did you mean `hystart`"),
            ("play = [\"pacing=always\"]", "play = [\"pacing=alwayz\"]", "did you mean `always`"),
            ("title =", "titlee =", "unknown field `titlee`"),
            ("default = true\n", "", "0 of [[start-up]] say `default = true`"),
            ("algorithm = \"hystart\"\n", "", "start-up `cubic` has no `algorithm`"),
        ] {
            let error = Stack::parse("mine.toml", &linux.replace(from, to)).unwrap_err();
            assert!(error.is_input() && error.to_string().contains(problem), "{from}: {error}");
        }
        let error = Stack::open("quin").unwrap_err();
        assert!(error.to_string().contains("no such stack"), "{error}");
        let like = "title = 'x'\nnotes = ''\nlike = 'windows'\n";
        assert!(Stack::parse("mine.toml", like).unwrap_err().to_string().contains("names no stack"));
    }
}

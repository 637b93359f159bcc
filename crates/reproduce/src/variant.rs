//! Changes of experiments without changing their files.

use rampcc_experiment::ExperimentError;
use rampcc_scenario::Setting;
use sha2::{Digest, Sha256};

use crate::error::{ReproduceError, Result, one_of};
use crate::experiment::{Experiment, Set};

/// Values that replace those of the files, for everything that is played.
#[derive(Debug, Default)]
pub struct Variant {
    set: Vec<Set>,
    choices: Vec<Chosen>,
    runs: Option<u32>,
}

/// A value of a choice, by their names.
#[derive(Debug)]
struct Chosen {
    text: String,
    choice: String,
    value: String,
}

impl Variant {
    /// From `FIELD=VALUE`s, `NAME=VALUE`s of choices, and a number of runs.
    ///
    /// # Errors
    ///
    /// A text without `=`, or a field that cannot be one. Names are checked against each experiment, in
    /// [`crate::Work::plan`].
    pub fn parse(set: &[String], choices: &[String], runs: Option<u32>) -> Result<Self> {
        let set = set.iter().map(|text| {
            let setting = Setting::parse(text).map_err(ExperimentError::from)?;
            Ok(Set { setting, place: None })
        });
        let chosen = |text: &String| {
            let (choice, value) = text.split_once('=').ok_or_else(|| ReproduceError::Input {
                message: format!("--choice `{text}`: there is no `=`"),
                help: Some("expected NAME=VALUE, as `ramp reproduce ID --show` lists them".to_owned()),
            })?;
            Ok(Chosen { text: text.clone(), choice: choice.trim().into(), value: value.trim().into() })
        };
        Ok(Self {
            set: set.collect::<Result<_>>()?,
            choices: choices.iter().map(chosen).collect::<Result<_>>()?,
            runs,
        })
    }

    /// Whether nothing is changed.
    pub fn is_plain(&self) -> bool {
        self.set.is_empty() && self.choices.is_empty() && self.runs.is_none()
    }

    pub(crate) fn runs(&self) -> Option<u32> {
        self.runs
    }

    /// What it sets in an experiment: the values of choices first.
    pub(crate) fn sets(&self, experiment: &Experiment) -> Result<Vec<Set>> {
        let mut sets = Vec::new();
        for Chosen { text, choice, value } in &self.choices {
            let wrong = |problem: String, allowed: String| ReproduceError::Input {
                message: format!("--choice `{text}`: {problem}"),
                help: Some(format!("expected {allowed}")),
            };
            let id = &experiment.id;
            if experiment.choices.is_empty() {
                let allowed = "an experiment that leaves something open, or `--set`".to_owned();
                return Err(wrong(format!("`{id}` has no choices"), allowed));
            }
            let names = || experiment.choices.iter().map(|known| known.name.as_str());
            let known = experiment.choices.iter().find(|known| known.name == *choice).ok_or_else(|| {
                wrong(
                    format!("`{id}` has no choice `{choice}`"),
                    one_of(choice, names().collect::<Vec<_>>().into_iter()),
                )
            })?;
            let values = || known.points.iter().map(|point| point.label.as_str());
            let point = known.points.iter().find(|point| point.label == *value).ok_or_else(|| {
                let allowed = one_of(value, values().collect::<Vec<_>>().into_iter());
                wrong(format!("the choice `{choice}` of `{id}` has no value `{value}`"), allowed)
            })?;
            sets.extend(point.set.iter().cloned());
        }
        sets.extend(self.set.iter().cloned());
        Ok(sets)
    }

    /// As options of the command, each with its value.
    pub(crate) fn options(&self) -> Vec<(&'static str, String)> {
        let choices = self.choices.iter().map(|chosen| ("--choice", chosen.text.clone()));
        let set = self.set.iter().map(|set| ("--set", set.setting.text().to_owned()));
        choices.chain(set).chain(self.runs.map(|runs| ("--runs", runs.to_string()))).collect()
    }

    /// For people.
    pub(crate) fn words(&self) -> String {
        let word = |(option, value): (&str, String)| match option {
            "--runs" => format!("{value} runs"),
            _ => value,
        };
        self.options().into_iter().map(word).collect::<Vec<_>>().join(" · ")
    }

    /// Name of a directory that no other variant has.
    pub(crate) fn folder(&self) -> String {
        let words = self.words();
        let digest = Sha256::digest(words.as_bytes());
        let plain =
            |c: char| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_lowercase() } else { '-' };
        let name: String = words.chars().map(plain).collect();
        let parts: Vec<&str> = name.split('-').filter(|part| !part.is_empty()).collect();
        let name: String = parts.join("-").chars().take(60).collect();
        format!("with-{name}-{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2])
    }
}

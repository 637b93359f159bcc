//! What a page asks to compare, in the words of `ramp compare`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use rampcc_backend::Backend;
use rampcc_experiment::{Around, ExperimentError, Request};
use rampcc_scenario::{AdHoc, Scenario, Setting};
use rampcc_sim::Simulator;
use rampcc_trace::quoted;
use serde::{Deserialize, Serialize};

/// Everything that plays.
static BACKENDS: [&dyn Backend; 1] = [&Simulator];

/// Name of a pasted scenario's file in commands.
const FILE: &str = "my-path.toml";

/// Options of `ramp compare` that describe a path and need no file, in the order in which commands have them.
const OPTIONS: [&str; 12] = [
    "rate",
    "rtt",
    "buffer",
    "size",
    "trace",
    "delay-trace",
    "loss",
    "queue",
    "jitter",
    "reverse-rate",
    "profile",
    "duration",
];

/// A comparison to play.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ask {
    /// Name of a scenario that ships; without it and without `text` the options describe the path.
    pub scenario: Option<String>,
    /// Text of a scenario file.
    pub text: Option<String>,
    /// Options of the path by their names on the command line, without dashes.
    pub options: BTreeMap<String, String>,
    /// `FIELD=VALUE` each.
    pub set: Vec<String>,
    /// Rows and groups; empty: the default ones.
    pub algorithms: Vec<String>,
    /// Runs of each row; `None`: what the scenario says.
    pub runs: Option<u32>,
    /// Seed of the first run; `None`: what the scenario says.
    pub seed: Option<u64>,
    /// Number of neighbouring paths; `None`: 64.
    pub neighbours: Option<u32>,
    /// `FIELD=LOW..HIGH` each.
    pub uncertain: Vec<String>,
}

impl Ask {
    /// The path.
    ///
    /// # Errors
    ///
    /// An unknown option, or whatever the scenario's parser finds.
    pub fn scenario(&self) -> Result<Scenario, ExperimentError> {
        let path = self.path()?;
        match (&self.text, &self.scenario) {
            (Some(text), _) => Ok(Scenario::parse_with(FILE, text, Some(Path::new("")), &path.changes()?)?),
            // A name that is no built-in scenario could only be a file, and a browser has none.
            (None, Some(name)) if Scenario::built_in_text(name).is_some() => {
                Ok(Scenario::open_with(name, &path.changes()?)?)
            }
            (None, Some(name)) => Ok(Scenario::open(name)?),
            (None, None) => Ok(path.scenario(Some(Path::new("")))?),
        }
    }

    fn path(&self) -> Result<AdHoc, ExperimentError> {
        if let Some(unknown) = self.options.keys().find(|key| !OPTIONS.contains(&key.as_str())) {
            return Err(ExperimentError::Input {
                message: format!("there is no option `{unknown}` of a path"),
                help: Some(format!("expected one of {}", OPTIONS.join(", "))),
            });
        }
        let option = |name: &str| self.options.get(name).cloned();
        Ok(AdHoc {
            rate: option("rate"),
            rtt: option("rtt"),
            buffer: option("buffer"),
            size: option("size"),
            trace: option("trace"),
            delay_trace: option("delay-trace"),
            trace_offset: None,
            loss: option("loss"),
            queue: option("queue"),
            jitter: option("jitter"),
            reverse_rate: option("reverse-rate"),
            profile: option("profile"),
            duration: option("duration"),
            settings: self.set.iter().map(|text| Setting::parse(text)).collect::<Result<_, _>>()?,
        })
    }

    /// The same for an experiment.
    pub fn request(&self) -> Request<'static> {
        let ask = self.clone();
        Request {
            algorithms: self.algorithms.clone(),
            runs: self.runs,
            seed: self.seed,
            around: Around { uncertain: self.uncertain.clone(), paths: self.neighbours },
            command: self.command(),
            typed: self.command(),
            ..Request::new(&BACKENDS, move |_| ask.scenario())
        }
    }

    /// The command that prints the same numbers.
    pub fn command(&self) -> String {
        let mut words = vec!["ramp".to_owned(), "compare".to_owned()];
        match (&self.text, &self.scenario) {
            (Some(_), _) => words.push(FILE.to_owned()),
            (None, Some(name)) => words.push(name.clone()),
            (None, None) => {}
        }
        let mut option = |name: &str, value: &str| {
            words.push(format!("--{name}"));
            words.push(value.to_owned());
        };
        for name in OPTIONS {
            if let Some(value) = self.options.get(name) {
                option(name, value);
            }
        }
        self.set.iter().for_each(|text| option("set", text));
        self.uncertain.iter().for_each(|text| option("uncertain", text));
        if !self.algorithms.is_empty() {
            option("algorithms", &self.algorithms.join(","));
        }
        let numbers = [
            ("runs", self.runs.map(u64::from)),
            ("seed", self.seed),
            ("neighbours", self.neighbours.map(u64::from)),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                option(name, &number.to_string());
            }
        }
        let quoted: Vec<String> = words.iter().map(|word| quoted(OsStr::new(word))).collect();
        quoted.join(" ")
    }
}

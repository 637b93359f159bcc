//! What each access type counts.

use std::collections::BTreeMap;
use std::path::Path;

use rampcc_experiment::{ExperimentError, Result};
use rampcc_scenario::nearest;

use crate::population::Population;

/// A mix of access types with its sources.
const TODAY: &str = include_str!("../../population/today.toml");

/// What an access type has of today's mix.
pub(crate) fn today(access: &str) -> f64 {
    let table: toml::Table = TODAY.parse().expect("the file is part of the program");
    table.get(access).and_then(toml::Value::as_integer).map_or(0.0, |weight| weight as f64)
}

/// Weight by access type; one that is not named counts 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights(BTreeMap<String, f64>);

impl Weights {
    /// From a TOML file, a line such as `cable = 3` for each access type; the others count nothing.
    pub fn load(path: &Path, population: &Population) -> Result<Self> {
        let text = rampcc_scenario::read_small(path).map_err(|cause| ExperimentError::Request {
            field: "weights",
            problem: format!("names a file that cannot be read, {}: {cause}", path.display()),
            help: None,
        })?;
        Self::parse(&path.display().to_string(), &text, population)
    }

    /// The same from numbers that are at hand.
    pub fn of_types(given: &BTreeMap<String, f64>, population: &Population) -> Result<Self> {
        let table = given.iter().map(|(kind, weight)| (kind.clone(), toml::Value::Float(*weight))).collect();
        Self::checked(&table, "weights", |_: &str| "weights".to_owned(), population)
    }

    /// The same from the file's text.
    pub fn parse(name: &str, text: &str, population: &Population) -> Result<Self> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            input(format!("{name}: {}", error.to_string().trim()), allowed(population))
        })?;
        let place = |kind: &str| {
            let sets = |line: &str| line.trim_start().trim_start_matches(['"', '\'']).starts_with(kind);
            let line = text.lines().position(sets).map(|n| format!(", line {}", n + 1));
            format!("{name}{}", line.unwrap_or_default())
        };
        Self::checked(&table, name, place, population)
    }

    fn checked(
        table: &toml::Table,
        name: &str,
        place: impl Fn(&str) -> String,
        population: &Population,
    ) -> Result<Self> {
        let known = population.access();
        let mut weights: BTreeMap<String, f64> = known.iter().map(|kind| (kind.clone(), 0.0)).collect();
        for (kind, value) in table {
            let Some(weight) = weights.get_mut(kind) else {
                let near = nearest(kind, known.iter().map(String::as_str));
                let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
                let message = format!("{}: the population has no access type `{kind}`", place(kind));
                return Err(input(message, format!("{near}{}", allowed(population))));
            };
            let number = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
            let Some(number) = number.filter(|number| number.is_finite() && *number >= 0.0) else {
                let message = format!("{}: `{kind}` is {value}", place(kind));
                return Err(input(message, "a number from 0".to_owned()));
            };
            *weight = number;
        }
        if weights.values().all(|weight| *weight <= 0.0) {
            return Err(input(format!("{name}: nothing counts"), allowed(population)));
        }
        Ok(Self(weights))
    }

    /// Of an access type.
    pub fn of(&self, access: &str) -> f64 {
        self.0.get(access).copied().unwrap_or(1.0)
    }
}

fn input(message: String, help: String) -> ExperimentError {
    ExperimentError::Input { message, help: Some(help) }
}

fn allowed(population: &Population) -> String {
    format!("a line `TYPE = NUMBER` for each of {}", population.access().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::Which;

    #[test]
    fn what_is_not_named_counts_nothing_and_mistakes_have_a_line() {
        let population = Population::open(&Which::Public).unwrap();
        let weights = Weights::parse("mix.toml", "cable = 3\nwifi = 1.5\n", &population).unwrap();
        for (kind, weight) in [("cable", 3.0), ("wifi", 1.5), ("geo", 0.0)] {
            assert!((weights.of(kind) - weight).abs() < 1e-12, "{kind}");
        }
        assert!((Weights::default().of("geo") - 1.0).abs() < 1e-12);
        let given = |kind: &str, weight| BTreeMap::from([(kind.to_owned(), weight)]);
        let weights = Weights::of_types(&given("cable", 3.0), &population).unwrap();
        assert!((weights.of("cable") - 3.0).abs() < 1e-12 && weights.of("geo").abs() < 1e-12);
        for (kind, weight) in [("cabel", 1.0), ("cable", -1.0), ("cable", f64::NAN), ("cable", 0.0)] {
            let error = Weights::of_types(&given(kind, weight), &population).unwrap_err().to_string();
            assert!(error.starts_with("weights: "), "{error}");
        }
        for (text, problem) in [
            ("# mine\ncabel = 3\n", "line 2: the population has no access type `cabel`"),
            ("\n\"cable\" = -1\n", "line 2: `cable` is -1"),
            ("cable = -1\n", "line 1: `cable` is -1"),
            ("cable = \"much\"\n", "line 1"),
            ("cable = 0\n", "nothing counts"),
            ("cable 3\n", "mix.toml"),
        ] {
            let error = Weights::parse("mix.toml", text, &population).unwrap_err();
            assert!(error.is_input() && error.to_string().contains(problem), "{error}");
        }
    }

    #[test]
    fn todays_mix_is_one_of_the_populations_access_types() {
        let population = Population::open(&Which::Public).unwrap();
        let weights = Weights::parse("today.toml", TODAY, &population).unwrap();
        let sum: f64 = population.access().iter().map(|kind| weights.of(kind)).sum();
        assert!((sum - 100.0).abs() < 1e-12, "{sum} %");
        for kind in population.access() {
            assert!((weights.of(&kind) - today(&kind)).abs() < 1e-12, "{kind}");
        }
    }
}

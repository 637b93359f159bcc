//! Goals as data: what a value may be at most.

use std::collections::BTreeMap;
use std::path::Path;

use rampcc_experiment::{ExperimentError, Result};
use serde::Deserialize;

use super::sheet::MEASURES;
use super::traffic::HELD;

/// The project's own.
const OWN: &str = include_str!("../../population/goals.toml");

/// What a value may be at most, by its measure; one that is not named has no goal.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goals {
    /// Of a row on each population.
    #[serde(default)]
    populations: BTreeMap<String, f64>,
    /// Of what hosts and crowds do.
    #[serde(default)]
    traffic: BTreeMap<String, f64>,
    /// Of downloads over the satellite.
    #[serde(default)]
    geo: BTreeMap<String, f64>,
    #[serde(default)]
    state: BTreeMap<String, f64>,
}

/// Goals of downloads over the satellite: over those of slow start, and of the yardstick.
pub(super) const OVER_STANDARD: &str = "over_standard";
pub(super) const OVER_IDEAL: &str = "over_ideal";
/// Goal of what a connection keeps.
pub(super) const BYTES: &str = "bytes";

impl Goals {
    /// Those of `league/goals.toml`.
    pub fn own() -> Result<Self> {
        Self::parse("league/goals.toml", OWN)
    }

    /// From a TOML file.
    pub fn load(path: &Path) -> Result<Self> {
        let text = rampcc_scenario::read_small(path).map_err(|cause| ExperimentError::Request {
            field: "goals",
            problem: format!("names a file that cannot be read, {}: {cause}", path.display()),
            help: None,
        })?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// From its text.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let wrong =
            |message: String, help: &str| ExperimentError::Input { message, help: Some(help.to_owned()) };
        let goals: Self = toml::from_str(text).map_err(|error| {
            let tables = "tables [populations], [traffic], [geo] and [state], a line `MEASURE = NUMBER` each";
            wrong(format!("{name}: {}", error.to_string().trim()), tables)
        })?;
        let tables = [
            (
                "populations",
                &goals.populations,
                MEASURES.iter().map(|measure| measure.id).collect::<Vec<_>>(),
            ),
            ("traffic", &goals.traffic, HELD.iter().map(|held| held.id).collect()),
            ("geo", &goals.geo, vec![OVER_STANDARD, OVER_IDEAL]),
            ("state", &goals.state, vec![BYTES]),
        ];
        for (table, of, known) in tables {
            for (measure, goal) in of {
                if !known.contains(&measure.as_str()) {
                    let allowed = format!("expected some of {}", known.join(", "));
                    return Err(wrong(format!("{name}: [{table}] has no measure `{measure}`"), &allowed));
                }
                if !goal.is_finite() || *goal < 0.0 {
                    return Err(wrong(
                        format!("{name}: [{table}] {measure} is {goal}"),
                        "a number from 0 on",
                    ));
                }
            }
        }
        Ok(goals)
    }

    pub(super) fn of_population(&self, measure: &str) -> Option<f64> {
        self.populations.get(measure).copied()
    }

    pub(super) fn of_traffic(&self, measure: &str) -> Option<f64> {
        self.traffic.get(measure).copied()
    }

    pub(super) fn of_geo(&self, measure: &str) -> Option<f64> {
        self.geo.get(measure).copied()
    }

    pub(super) fn state_bytes(&self) -> Option<f64> {
        self.state.get(BYTES).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_goal_is_for_is_known() {
        assert_eq!(Goals::own().unwrap().of_population("time_mean"), Some(1.12));
        let none = Goals::parse("mine.toml", "").unwrap();
        assert_eq!((none.of_population("time_mean"), none.state_bytes()), (None, None));
        for (text, problem) in [
            ("[populations]\nmean = 1", "mine.toml: [populations] has no measure `mean`"),
            ("[geo]\nover_ideal = -1", "[geo] over_ideal is -1"),
            ("[cable]", "mine.toml: TOML parse error at line 1"),
            ("[state]\nbytes = \"few\"", "line 2"),
        ] {
            let error = Goals::parse("mine.toml", text).unwrap_err();
            assert!(error.is_input() && error.to_string().contains(problem), "{error}");
        }
    }
}

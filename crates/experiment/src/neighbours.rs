//! The same rows on paths like the described one: drawn, played by the simulator, found again.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rampcc_backend::{Backend, Clock};
use rampcc_lab::carries::{NeighbourPath, Neighbourhood, UncertainField};
use rampcc_lab::{Comparison, RunRecord};
use rampcc_scenario::{Heading, Scenario, Uncertain, Values, standalone};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::context::digest;
use crate::error::{ExperimentError, Result};
use crate::plan::PlannedRow;
use crate::play::{Played, Playing};
use crate::row::Row;
use crate::run::{Kept, Run};
use crate::store::{Store, lean};

/// Paths, unless the command line says otherwise.
const COUNT: u32 = 64;
/// What is kept of them, in a results directory; their runs are in `neighbours/runs`.
const PLAN: &str = "neighbours.json";
const DIRECTORY: &str = "neighbours";
/// A path on which the leader loses.
pub(crate) const NEAREST_LOSS: &str = "nearest-loss.toml";

/// Neighbourhood of the described path to play.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// Fields that are not known, and what they may be, on top of what the scenario says: `path.reverse.rate=1mbit..50mbit`.
    pub uncertain: Vec<String>,
    /// Paths to draw; `None`: 64, or none where fields of the scenario are swept.
    pub paths: Option<u32>,
}

/// What a results directory knows of its neighbouring paths: written before the first of their runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct NeighboursPlan {
    neighbourhood: Neighbourhood,
    /// Of each path, as a scenario file.
    scenarios: Vec<String>,
    rows: Vec<PlannedRow>,
    version: String,
    backend: String,
}

/// Neighbouring paths and the rows that the simulator can play on them.
pub(crate) struct Neighbours<'a> {
    plan: NeighboursPlan,
    paths: Vec<Scenario>,
    rows: Vec<Row>,
    simulator: &'a dyn Backend,
}

impl Around {
    /// The scenario with what is added to what it says is not known.
    pub fn apply(&self, scenario: Scenario) -> Result<Scenario> {
        if self.paths == Some(0) && !self.uncertain.is_empty() {
            let problem = "says what may be drawn, and of neighbouring paths 0 are wanted";
            return Err(ExperimentError::request("uncertain", problem));
        }
        let more = Uncertain::parse_all(&self.uncertain)?;
        Ok(if more.is_empty() { scenario } else { scenario.without_assumed().with_uncertain(&more) })
    }

    /// How many paths; `swept`: values of the scenario's fields are compared already.
    fn count(&self, swept: bool) -> u32 {
        let usual = if swept && self.uncertain.is_empty() { 0 } else { COUNT };
        self.paths.unwrap_or(usual)
    }

    /// The paths around a scenario, for `simulator` to play; `None`: none are asked for, or nothing is uncertain, or there is
    /// nothing to compare.
    pub(crate) fn draw<'a>(
        &self,
        scenario: &Scenario,
        rows: &[Row],
        first_seed: u64,
        swept: bool,
        simulator: &'a dyn Backend,
    ) -> Result<Option<Neighbours<'a>>> {
        let count = self.count(swept);
        scenario.check_uncertain()?;
        let rows: Vec<Row> = rows.iter().filter_map(Row::simulated).collect();
        // One contender is the best everywhere.
        if count == 0 || rows.iter().filter(|row| !row.yardstick()).count() < 2 {
            return Ok(None);
        }
        let (neighbourhood, paths) = neighbourhood(scenario, count, first_seed)?;
        if paths.is_empty() {
            // Without a wish, a scenario whose every value is certain has no neighbours.
            return match self.paths {
                None => Ok(None),
                Some(_) => Err(ExperimentError::request(
                    "neighbours",
                    "has nothing to vary here: state ranges in `[uncertain]`, or with `--uncertain FIELD=RANGE`",
                )),
            };
        }
        let planned = |row: &Row| PlannedRow { departures: None, ..PlannedRow::new(row, scenario) };
        let directory = scenario.directory.as_ref().filter(|_| !scenario.files.is_empty());
        let place = directory.and_then(|directory| std::path::absolute(directory).ok());
        let text = |(path, neighbour): (&NeighbourPath, &Scenario)| {
            let description = format!("A path near {} on which another algorithm is better.", scenario.name);
            let heading = Heading { name: "nearest-loss", description: &description, seed: path.seed };
            standalone(&neighbour.text, heading, place.as_deref())
        };
        let plan = NeighboursPlan {
            scenarios: neighbourhood.paths.iter().zip(&paths).map(text).collect(),
            neighbourhood,
            rows: rows.iter().map(planned).collect(),
            version: crate::version::VERSION.to_owned(),
            backend: simulator.identity(),
        };
        Ok(Some(Neighbours { plan, paths, rows, simulator }))
    }
}

/// So many paths from the ranges of what is not known of a scenario, each with a seed of its own from `first_seed` on. None: nothing is
/// uncertain.
pub fn neighbourhood(
    scenario: &Scenario,
    count: u32,
    first_seed: u64,
) -> Result<(Neighbourhood, Vec<Scenario>)> {
    let near = scenario.neighbourhood(count, first_seed)?;
    let fields = near.fields.iter().zip(&near.described).map(|(f, described)| field(f, *described)).collect();
    let path = |(number, path): (u64, &rampcc_scenario::Neighbour)| NeighbourPath {
        scenario_hash: digest(&path.scenario),
        seed: first_seed.wrapping_add(number),
        at: path.at.clone(),
        values: path.values.clone(),
    };
    let paths = (0..).zip(&near.paths).map(path).collect();
    Ok((Neighbourhood { fields, paths }, near.paths.into_iter().map(|path| path.scenario).collect()))
}

fn field(uncertain: &Uncertain, described: Option<f64>) -> UncertainField {
    let (range, unit, logarithmic) = match &uncertain.values {
        Values::Range(range) => (Some((range.low, range.high)), range.unit.clone(), range.logarithmic),
        Values::Choice(_) => (None, String::new(), false),
    };
    UncertainField {
        field: uncertain.field.clone(),
        values: uncertain.values.describe(),
        range,
        unit,
        logarithmic,
        reason: uncertain.reason.clone(),
        assumed: uncertain.assumed,
        described,
    }
}

impl Neighbours<'_> {
    /// What tells one neighbourhood from another, whatever the number of paths.
    pub(crate) fn identity(&self) -> impl Iterator<Item = &str> {
        self.plan.neighbourhood.fields.iter().flat_map(|f| [f.field.as_str(), &f.values])
    }

    /// The rows that are played: those that are steered alike are played once.
    fn played(&self) -> Vec<usize> {
        let rows = &self.plan.rows;
        let first = |row: usize| rows.iter().position(|other| other.steering == rows[row].steering);
        (0..rows.len()).filter(|row| first(*row) == Some(*row)).collect()
    }

    /// One run of each row that is played on each path, path by path.
    pub(crate) fn all_runs(&self) -> impl Iterator<Item = Run<'_>> + Send {
        let played = self.played();
        let paths = self.paths.iter().zip(&self.plan.neighbourhood.paths);
        paths.flat_map(move |(scenario, path)| {
            let run = |row: usize| Run {
                scenario,
                digest: &path.scenario_hash,
                row: &self.rows[row],
                steering: Cow::Borrowed(&self.plan.rows[row].steering),
                backend: self.simulator,
                seed: path.seed,
                extra_startup_rounds: 0,
                kept: Kept::default(),
            };
            played.iter().map(|row| run(*row)).collect::<Vec<_>>()
        })
    }

    /// A comparison with what the runs that are finished say of how far it carries.
    pub(crate) fn judge(&self, comparison: Comparison, records: &[RunRecord]) -> Comparison {
        self.plan.judge(comparison, records)
    }

    /// How many paths there are.
    pub(crate) fn paths(&self) -> usize {
        self.paths.len()
    }

    /// How many runs there are.
    pub(crate) fn runs(&self) -> usize {
        self.played().len() * self.paths.len()
    }

    /// Play what is missing, and judge. `None`: interrupted before the last run.
    pub(crate) fn play(
        &self,
        comparison: Comparison,
        relatives: Vec<PathBuf>,
        playing: &Playing<'_>,
    ) -> Result<(Option<Comparison>, Played)> {
        playing.store.write_json(PLAN, &self.plan)?;
        let below = relatives.into_iter().map(|place| place.join(DIRECTORY)).collect();
        let runs = Store::create(&playing.store.path(DIRECTORY))?.with_relatives(below);
        let all = self.all_runs();
        let (records, done) = Playing { store: &runs, clock: Clock::Virtual, ..*playing }.records(all)?;
        if done.finished() < self.runs() {
            return Ok((None, done));
        }
        Ok((Some(self.plan.judge(comparison, &records)), done))
    }
}

impl NeighboursPlan {
    /// The comparison with what these runs say of how far it carries.
    fn judge(&self, comparison: Comparison, records: &[RunRecord]) -> Comparison {
        let labelled: Vec<RunRecord> = (records.iter())
            .flat_map(|record| {
                let alike = self.rows.iter().filter(|row| row.steering == record.steering);
                alike.map(|row| {
                    let mut record = record.clone();
                    row.label.clone_into(&mut record.provenance.arm);
                    record
                })
            })
            .collect();
        let mut comparison = comparison.with_neighbours(&self.neighbourhood, &labelled);
        if let Some(loss) = comparison.carries.as_mut().and_then(|carries| carries.nearest_loss.as_mut()) {
            loss.scenario = self.scenarios.get(loss.path).cloned();
        }
        comparison
    }
}

/// The comparison of a results directory with whatever runs on neighbouring paths it has.
pub(crate) fn judged(store: &Store, comparison: Comparison) -> Result<Comparison> {
    if !store.path(PLAN).is_file() {
        return Ok(comparison);
    }
    let plan: NeighboursPlan = store.read_json(PLAN)?;
    let Ok(runs) = Store::open(&store.path(DIRECTORY)) else { return Ok(comparison) };
    let own = |record: &RunRecord| {
        let made = &record.provenance;
        made.version == plan.version && made.backend == plan.backend && record.extra_startup_rounds == 0
    };
    let mut records: Vec<RunRecord> = runs.all_runs().filter(own).map(lean).collect();
    records.sort_by_key(RunRecord::key);
    Ok(plan.judge(comparison, &records))
}

/// Forgets neighbours of an earlier call that are not wanted any more; their runs stay.
pub(crate) fn forget(directory: &Path) {
    let _ = std::fs::remove_file(directory.join(PLAN));
}

//! Which of the settings that a stack allows to choose for paths that are not known: a league whose rows are the choices.

mod judge;
mod stack;
mod starts;
mod text;

use rampcc_experiment::{ExperimentError, Result, Row, neighbourhood};
use rampcc_lab::carries::Neighbourhood;
use rampcc_scenario::{Scenario, Setting};

pub use judge::{BySize, Flip, Judged, Recommendation};
pub use stack::{Choice, Offered, Stack};
pub use starts::{Crowd, Starts};
pub use text::{COLUMNS, sentences, table};

use crate::asked::KNOWN_SIZES;
use crate::play::League;
use crate::population::{Path, Population};

/// Downloads unless others are asked for, bytes.
const SIZES: [u64; 3] = [100_000, 1_000_000, 10_000_000];

/// The paths that the choice is for.
#[derive(Clone, Debug)]
pub struct Paths {
    /// What is played.
    pub population: Population,
    /// Where the paths were drawn from, if from stated ranges.
    pub ranges: Option<Neighbourhood>,
}

impl Paths {
    /// So many paths from the ranges of what is not known of a scenario.
    ///
    /// # Errors
    ///
    /// Nothing is uncertain, or a range ends at something that is not possible.
    pub fn around(scenario: &Scenario, count: u32) -> Result<Self> {
        let (ranges, scenarios) = neighbourhood(scenario, count, scenario.seed)?;
        if scenarios.is_empty() {
            return Err(ExperimentError::Input {
                message: format!("nothing of {} is uncertain, so there is one path", scenario.name),
                help: Some(
                    "--uncertain FIELD=LOW..HIGH, or a scenario with [uncertain]; for one path: ramp compare"
                        .to_owned(),
                ),
            });
        }
        let path = |(number, (place, mut scenario)): (usize, (_, Scenario))| {
            let place: &rampcc_lab::carries::NeighbourPath = place;
            scenario.seed = place.seed;
            Path { name: format!("{:02}", number + 1), access: String::new(), scenario }
        };
        let paths = ranges.paths.iter().zip(scenarios).enumerate().map(path).collect();
        let population = Population { name: scenario.name.clone(), paths, settings: Vec::new() };
        Ok(Self { population, ranges: Some(ranges) })
    }

    /// Those of a population.
    pub fn of(population: Population) -> Self {
        Self { population, ranges: None }
    }

    /// With downloads of these sizes, on each path those that it has; none: 100 kB, 1 MB and 10 MB, and a smaller one if a path has none of these.
    ///
    /// # Errors
    ///
    /// A path has no download of a size that is known.
    pub fn with_sizes(mut self, sizes: &[u64]) -> Result<(Self, Vec<u64>)> {
        let of = |path: &Path| rampcc_experiment::context(&path.scenario).size_bytes;
        // A path that says no size has any.
        let bytes: Vec<u64> = self.population.paths.iter().map(|path| of(path).unwrap_or(u64::MAX)).collect();
        let (least, most) = (bytes.iter().min().copied(), bytes.iter().max().copied());
        let mut wanted = sizes.to_vec();
        if let (true, Some(least), Some(most)) = (wanted.is_empty(), least, most) {
            wanted.extend(SIZES.iter().filter(|size| **size <= most));
            if least < SIZES[0] {
                wanted
                    .extend(KNOWN_SIZES.iter().rev().map(|(_, bytes)| *bytes).find(|bytes| *bytes <= least));
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        let seeds: Vec<u64> = self.population.paths.iter().map(|path| path.scenario.seed).collect();
        self.population = self.population.up_to(wanted.last().copied().unwrap_or(0))?;
        for (path, seed) in self.population.paths.iter_mut().zip(seeds) {
            path.scenario.seed = seed;
        }
        Ok((self, wanted))
    }

    /// With fields set on every path.
    ///
    /// # Errors
    ///
    /// A setting does not go with a path.
    pub fn set(mut self, settings: &[Setting]) -> Result<Self> {
        self.population = self.population.with(settings)?;
        Ok(self)
    }
}

impl Stack {
    /// A row for each choice, in their order, and the yardstick.
    pub fn entrants(&self) -> Result<Vec<Row>> {
        let mut rows: Vec<Row> = self.choices.iter().map(|choice| choice.row.clone()).collect();
        if let Some(ideal) = rampcc::having(rampcc::Traits::KNOWS_PATH).next() {
            rows.push(Row::parse(ideal.id, &[])?);
        }
        Ok(rows)
    }

    /// What the runs say; the league's rows are those of [`entrants`](Self::entrants), and every size counts alike.
    pub fn judge(&self, league: &League, starts: &Starts, ranges: Option<&Neighbourhood>) -> Recommendation {
        judge::recommendation(self, starts, &League { pooled_from: 0, ..league.clone() }, ranges)
    }
}

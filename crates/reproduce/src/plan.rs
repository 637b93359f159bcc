//! The runs that experiments take.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rampcc_backend::{Backend, Clock};
use rampcc_experiment::{Row, Run, VERSION, check, digest};
use rampcc_scenario::Scenario;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::error::ReproduceError;
use crate::experiment::{Experiment, How, Set};
use crate::file::{Form, Whose};
use crate::quantity::{Own, Quantity};
use crate::record::{BINS_MAX, FLOWS_MAX};
use crate::variant::Variant;

/// How much of an experiment is played, and on what.
#[derive(Clone, Copy, Debug)]
pub struct Extent<'a> {
    /// Fewer runs and points, no choices.
    pub quick: bool,
    /// What plays.
    pub backend: &'a dyn Backend,
    /// Other values than those of the files; choices are not played then.
    pub variant: Option<&'a Variant>,
}

impl Extent<'_> {
    /// Where pages go, of runs that are kept in `out`: none replaces that of another extent.
    pub fn pages(&self, out: &Path) -> PathBuf {
        let real = (self.backend.clock() == Clock::Real).then(|| self.backend.name());
        let parts = real.into_iter().chain(self.quick.then_some("quick")).map(str::to_owned);
        let parts: Vec<String> = parts.chain(self.variant.map(Variant::folder)).collect();
        if parts.is_empty() { out.to_path_buf() } else { out.join(parts.join("-")) }
    }
}

/// One experiment with its runs.
pub(crate) struct Plan<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) extent: Extent<'a>,
    /// Points that are played.
    pub(crate) points: Vec<usize>,
    pub(crate) seeds: Vec<u64>,
    /// What the variant sets.
    pub(crate) varied: Vec<Set>,
    /// The described conditions first, then those of each choice's points.
    pub(crate) settings: Vec<Conditions>,
}

/// Every cell under the same choice.
pub(crate) struct Conditions {
    /// Number of the choice and of its point; `None`: as described.
    pub(crate) choice: Option<(usize, usize)>,
    pub(crate) seeds: Vec<u64>,
    pub(crate) cells: Vec<Cell>,
}

/// One arm at one point.
#[derive(Clone)]
pub(crate) struct Cell {
    pub(crate) point: usize,
    pub(crate) arm: usize,
    pub(crate) scenario: Arc<Scenario>,
    digest: Arc<str>,
    row: Arc<Row>,
    steering: Arc<str>,
    curves: bool,
}

/// One run to be played, with where it is kept.
pub(crate) struct Job<'a> {
    pub(crate) cell: &'a Cell,
    pub(crate) extent: Extent<'a>,
    pub(crate) seed: u64,
    pub(crate) curves: bool,
    /// Whether the bandwidth of single ACKs is kept.
    pub(crate) acks: bool,
    /// Whether flows beside those under test are kept: web sessions have a hundred thousand.
    pub(crate) others: bool,
    pub(crate) bin: rampcc::Time,
}

impl<'a> Plan<'a> {
    /// Makes every scenario, so that what is wrong with one is known before anything is played.
    pub(crate) fn new(experiment: &'a Experiment, extent: Extent<'a>) -> Result<Self, ReproduceError> {
        let linux = extent.backend.clock() == Clock::Real;
        let named = match &experiment.linux {
            Some(linux_at) if linux && !linux_at.at.is_empty() => &linux_at.at,
            _ if extent.quick => &experiment.quick.1,
            _ => &Vec::new(),
        };
        let points: Vec<usize> =
            (0..experiment.points.len()).filter(|point| experiment.is_at(*point, named)).collect();
        let mut plan =
            Self { experiment, extent, points, seeds: Vec::new(), varied: Vec::new(), settings: Vec::new() };
        if !experiment.is_played() {
            return Ok(plan);
        }
        if let Some(variant) = extent.variant {
            plan.varied = variant.sets(experiment)?;
        }
        let described = plan.conditions(None)?;
        plan.seeds.clone_from(&described.seeds);
        plan.settings.push(described);
        if !linux && extent.variant.is_none() {
            for (choice, dimension) in experiment.choices.iter().enumerate() {
                for point in 0..dimension.points.len() {
                    // Made even where it is not played: a mistake in it is a mistake.
                    let conditions = plan.conditions(Some((choice, point)))?;
                    if !extent.quick {
                        plan.settings.push(conditions);
                    }
                }
            }
        }
        Ok(plan)
    }

    fn conditions(&self, choice: Option<(usize, usize)>) -> Result<Conditions, ReproduceError> {
        let experiment = self.experiment;
        let mut cells = Vec::new();
        let mut chance = false;
        let (mut runs, mut first) = (1, 1);
        for &point in &self.points {
            for (arm, row) in experiment.arms.iter().enumerate() {
                let How::Played { algorithm, set } = &row.how else { continue };
                let sets = self.sets(point, set, choice);
                let scenario = experiment.scenario(&sets)?;
                let row = Row::parse(algorithm, &[])?;
                check(self.extent.backend, &scenario, std::slice::from_ref(&row)).map_err(|error| {
                    experiment.wrong(
                        &experiment.arms[arm].place,
                        "arm",
                        &error.to_string(),
                        "what the backend plays",
                    )
                })?;
                self.windows_fit(&scenario)?;
                chance |= scenario.has_chance();
                (runs, first) = (scenario.runs, scenario.seed);
                cells.push(Cell {
                    point,
                    arm,
                    digest: digest(&scenario).into(),
                    steering: row.steering(&scenario).into(),
                    row: Arc::new(row),
                    scenario: Arc::new(scenario),
                    curves: choice.is_none() && self.draws(point),
                });
            }
        }
        let real = self.extent.backend.clock() == Clock::Real;
        let full = experiment.runs.unwrap_or(runs);
        let runs = match (real, self.extent.quick, choice) {
            (true, ..) => experiment.linux.as_ref().and_then(|linux| linux.runs).unwrap_or(3),
            (_, true, _) => experiment.quick.0,
            (_, _, Some((choice, _))) => experiment.choice_runs[choice].unwrap_or(full),
            _ => full,
        };
        let runs = self.extent.variant.and_then(Variant::runs).unwrap_or(runs);
        let runs = if chance || real { runs.max(1) } else { 1 };
        let first = experiment.seed.unwrap_or(first);
        let seeds = (0..u64::from(runs)).filter_map(|i| first.checked_add(i)).collect();
        Ok(Conditions { choice, seeds, cells })
    }

    /// Fails where a metric looks at what comes after the end of the run.
    fn windows_fit(&self, scenario: &Scenario) -> Result<(), ReproduceError> {
        let end = scenario.stop.after.secs_f64();
        for (name, metric) in &self.experiment.metrics {
            if let Some((_, to)) = metric.window.filter(|(_, to)| *to > end) {
                let problem = format!("it ends at {to} s, and the run at {end} s");
                let field = format!("metric.{name}.window");
                let allowed = format!("an end of at most {end} s, or a longer `duration`");
                return Err(self.experiment.wrong(&metric.window_place, &field, &problem, &allowed));
            }
        }
        Ok(())
    }

    /// What is set for a cell: the later one wins.
    fn sets<'s>(&'s self, point: usize, arm: &'s [Set], choice: Option<(usize, usize)>) -> Vec<&'s Set> {
        let experiment = self.experiment;
        let linux = experiment.linux.as_ref().filter(|_| self.extent.backend.clock() == Clock::Real);
        let swept = experiment.dimensions.iter().zip(&experiment.points[point]);
        let chosen = choice.map(|(choice, at)| &experiment.choices[choice].points[at].set);
        experiment
            .set
            .iter()
            .chain(swept.flat_map(|(dimension, at)| &dimension.points[*at].set))
            .chain(arm)
            .chain(chosen.into_iter().flatten())
            .chain(linux.into_iter().flat_map(|linux| &linux.set))
            .chain(&self.varied)
            .collect()
    }

    /// What the source leaves open and what is taken, here.
    pub(crate) fn taken(&self) -> Vec<String> {
        let linux = self.experiment.linux.as_ref().filter(|_| self.extent.backend.clock() == Clock::Real);
        let there = linux.into_iter().flat_map(|linux| &linux.taken);
        let there = there.map(|taken| format!("On {}: {taken}", self.extent.backend.name()));
        self.experiment.taken.iter().cloned().chain(there).collect()
    }

    /// Whether curves over time of a point are drawn.
    fn draws(&self, point: usize) -> bool {
        let mut plots = self.experiment.plots.iter().filter(|plot| plot.form == Form::Time);
        plots.any(|plot| self.experiment.is_at(point, &plot.at))
    }

    /// Every run.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = Job<'_>> {
        self.settings.iter().flat_map(move |conditions| {
            let first = conditions.seeds.first().copied();
            conditions.seeds.iter().flat_map(move |&seed| {
                conditions.cells.iter().map(move |cell| self.job(cell, seed, Some(seed) == first))
            })
        })
    }

    pub(crate) fn job<'p>(&'p self, cell: &'p Cell, seed: u64, first: bool) -> Job<'p> {
        let acks = self.experiment.metrics.values();
        let acks = acks.into_iter().any(|metric| metric.quantity == Quantity::Own(Own::AckBandwidth));
        let others = self.experiment.metrics.values().any(|metric| metric.whose != Whose::Test);
        let curves = cell.curves && first;
        Job { cell, extent: self.extent, seed, curves, acks, others, bin: self.experiment.bin }
    }
}

/// Everything that decides what is kept of a run.
#[derive(Serialize)]
struct Key<'k> {
    run: rampcc_lab::RunKey,
    bin_ns: u64,
    curves: bool,
    acks: bool,
    others: bool,
    watch: &'k str,
}

impl Job<'_> {
    pub(crate) fn run(&self) -> Run<'_> {
        Run {
            scenario: &self.cell.scenario,
            digest: &self.cell.digest,
            row: &self.cell.row,
            steering: &self.cell.steering,
            backend: self.extent.backend,
            seed: self.seed,
            extra_startup_rounds: 0,
            curves: self.curves,
        }
    }

    /// What it takes on disk, roughly: four columns a flow and three beside them, seven characters a bin.
    pub(crate) fn bytes(&self) -> u64 {
        let scenario = &self.cell.scenario;
        let bins = (scenario.stop.after.ns() / self.bin.ns().max(1)).min(BINS_MAX as u64);
        let flows = scenario.flows.len().min(FLOWS_MAX) as u64;
        3000 + bins * (4 * flows + 3) * 7
    }

    /// Where it is kept, below the results directory.
    pub(crate) fn file(&self) -> String {
        let key = Key {
            run: self.run().key(),
            bin_ns: self.bin.ns(),
            curves: self.curves,
            acks: self.acks,
            others: self.others,
            watch: env!("RAMP_WATCH"),
        };
        let digest = Sha256::digest(serde_json::to_vec(&key).expect("a key is plain data"));
        let algorithm = self.cell.steering.split(' ').next().unwrap_or_default();
        let digest = u128::from_be_bytes(std::array::from_fn(|at| digest[at]));
        format!("runs/{algorithm}-{}-{digest:032x}.json", self.seed)
    }
}

/// Version of ramp, for pages.
pub(crate) fn version() -> &'static str {
    VERSION
}

impl Cell {
    /// The scenario as the arm plays it.
    pub(crate) fn row_scenario(&self) -> Scenario {
        self.row.scenario(&self.scenario)
    }
}

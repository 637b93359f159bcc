//! The runs that experiments take.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rampcc::Time;
use rampcc_backend::{Backend, Clock};
use rampcc_experiment::{Kept, Row, Run, VERSION, check, digest};
use rampcc_lab::flows::{BINS_MAX, FLOWS_MAX, FlowsWanted};
use rampcc_scenario::Scenario;

use crate::error::Result;
use crate::experiment::{Experiment, How, Set};
use crate::file::{Form, Whose};
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
    pub(crate) points: Vec<usize>,
    pub(crate) seeds: Vec<u64>,
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

impl<'a> Plan<'a> {
    /// Makes every scenario, so that what is wrong with one is known before anything is played.
    pub(crate) fn new(experiment: &'a Experiment, extent: Extent<'a>) -> Result<Self> {
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

    fn conditions(&self, choice: Option<(usize, usize)>) -> Result<Conditions> {
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
    fn windows_fit(&self, scenario: &Scenario) -> Result {
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

    pub(crate) fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        self.settings.iter().flat_map(move |conditions| {
            let first = conditions.seeds.first().copied();
            conditions.seeds.iter().flat_map(move |&seed| {
                conditions.cells.iter().map(move |cell| self.run(cell, seed, Some(seed) == first))
            })
        })
    }

    pub(crate) fn run<'p>(&'p self, cell: &'p Cell, seed: u64, first: bool) -> Run<'p> {
        let mut metrics = self.experiment.metrics.values();
        let acks = metrics.any(|metric| metric.quantity.is_of_acks());
        let others = self.experiment.metrics.values().any(|metric| metric.whose != Whose::Test);
        let flows = FlowsWanted { bin: self.experiment.bin, acks, others };
        Run {
            scenario: &cell.scenario,
            digest: &cell.digest,
            row: &cell.row,
            steering: Cow::Borrowed(&cell.steering),
            backend: self.extent.backend,
            seed,
            extra_startup_rounds: 0,
            kept: Kept { curves: cell.curves && first, flows: Some(flows) },
        }
    }
}

/// What a compressed run takes on disk, roughly: a byte for each value of its bins, four columns a flow and three besides
/// them, and two thousand for all else.
pub(crate) fn bytes(run: &Run<'_>) -> u64 {
    let scenario = run.scenario;
    let width = run.kept.flows.map_or(1, |flows| flows.bin.ns()).max(1);
    let bins = (seconds(scenario) * 1e9 / width as f64).min(BINS_MAX as f64) as u64;
    let others = run.kept.flows.is_some_and(|flows| flows.others) && !scenario.traffic.is_empty();
    let flows = if others { FLOWS_MAX } else { scenario.flows.len().clamp(1, FLOWS_MAX) } as u64;
    2000 + bins * (4 * flows + 3)
}

/// How long a run lasts, roughly: where it ends with its flows, their time at the bottleneck's rate and ten seconds.
fn seconds(scenario: &Scenario) -> f64 {
    let (latest, tests) = (scenario.stop.after, scenario.flows.iter().filter(|flow| flow.under_test));
    let sizes = tests.map(|flow| flow.source.size_bytes());
    let sum = sizes.fold(0, u64::saturating_add);
    if !scenario.stop.when_complete || sum == u64::MAX || scenario.flows.is_empty() {
        return latest.secs_f64();
    }
    let capacity = &scenario.topology.links[scenario.bottleneck].config.capacity;
    let rate = capacity.mean_rate(Time::ZERO, latest).bits_per_s().max(1);
    latest.secs_f64().min(10.0 + sum as f64 * 8.0 / rate as f64)
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

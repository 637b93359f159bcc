//! One comparison: a scenario on one backend.

use std::borrow::Cow;
use std::path::PathBuf;

use rampcc_backend::{Backend, Clock};
use rampcc_lab::{Comparison, Context};
use rampcc_scenario::Scenario;
use rampcc_trace::Provenance;

use crate::context::{context, digest};
use crate::error::{ExperimentError, Result};
use crate::neighbours::{self, Neighbours};
use crate::place;
use crate::plan::{Plan, PlannedRow};
use crate::play::{Played, Playing};
use crate::playable::Playable;
use crate::request::Request;
use crate::row::Row;
use crate::run::{Kept, Run};
use crate::store::Store;
use crate::version::VERSION;

/// Comparisons of at most this many runs keep the curves of all: about as many are drawn.
const FEW_RUNS: u64 = 4;
/// Runs of each row in real time, unless the request says otherwise.
const REAL_TIME_RUNS: u32 = 3;

/// One comparison: a scenario, what plays it, its rows, its seeds and its place.
pub(crate) struct Variant<'a> {
    pub(crate) backend: &'a dyn Backend,
    pub(crate) scenario: Scenario,
    pub(crate) rows: Vec<Row>,
    pub(crate) neighbours: Option<Neighbours<'a>>,
    pub(crate) plan: Plan,
    pub(crate) directory: PathBuf,
}

impl<'a> Variant<'a> {
    /// Without its place yet; `swept`: the request compares values of the scenario's fields.
    pub(crate) fn new(
        request: &Request<'a>,
        swept: bool,
        backend: &'a dyn Backend,
        scenario: Scenario,
        rows: Playable,
    ) -> Result<Self> {
        let first = request.seed.unwrap_or(scenario.seed);
        // Real time always leaves something to chance; virtual time only what the scenario does.
        let real_time = backend.clock() == Clock::Real;
        let chance = real_time || scenario.has_chance();
        let usual = if real_time { scenario.runs.min(REAL_TIME_RUNS) } else { scenario.runs };
        let asked = request.runs.unwrap_or(usual).max(1);
        let count = if chance { u64::from(asked) } else { 1 };
        if first.checked_add(count - 1).is_none() {
            let problem = format!("{first} and {count} runs go beyond the largest seed, {}", u64::MAX);
            return Err(ExperimentError::request("seed", problem));
        }
        let digest = digest(&scenario);
        let provenance = Provenance {
            version: VERSION.to_owned(),
            command: request.command.clone(),
            backend: backend.identity(),
            scenario: scenario.name.clone(),
            scenario_hash: digest.clone(),
            scenario_text: scenario.text.clone(),
            arm: String::new(),
            seed: first,
        };
        let rows_planned: Vec<PlannedRow> =
            rows.here.iter().map(|row| PlannedRow::new(row, &scenario)).collect();
        let neighbours = match request.simulator() {
            Some(simulator) => request.around.draw(&scenario, &rows.here, first, swept, simulator)?,
            None => None,
        };
        let around = neighbours.iter().flat_map(Neighbours::identity);
        let steered = rows_planned.iter().flat_map(|row| [row.label.as_str(), &row.steering]);
        let plan = Plan {
            identity: place::identity(
                [digest.as_str(), backend.name()].into_iter().chain(steered).chain(around),
            ),
            typed: request.typed.clone(),
            provenance,
            context: Context { chance, words: scenario.in_words(backend.hosts()), ..context(&scenario) },
            rows: rows_planned,
            left_out: rows.left_out,
            first_seed: first,
            runs: count,
        };
        Ok(Self { backend, scenario, rows: rows.here, neighbours, plan, directory: PathBuf::new() })
    }

    /// Its results, and where else some of its runs may lie.
    pub(crate) fn store(&self, request: &Request<'_>) -> Result<Store> {
        Ok(Store::create(&self.directory)?.with_relatives(self.relatives(request)))
    }

    fn relatives(&self, request: &Request<'_>) -> Vec<PathBuf> {
        let hash = &self.plan.provenance.scenario_hash;
        if request.reuse {
            place::relatives(&self.directory, request.out.as_deref(), hash)
        } else {
            Vec::new()
        }
    }

    /// How many are played.
    pub(crate) fn runs(&self) -> usize {
        self.runs_here() + self.neighbours.as_ref().map_or(0, Neighbours::runs)
    }

    /// How many of them on the described path.
    pub(crate) fn runs_here(&self) -> usize {
        self.plan.played_rows().len() * usize::try_from(self.plan.runs).unwrap_or(usize::MAX)
    }

    /// One run of every row that the simulator knows on every neighbouring path, unless interrupted.
    pub(crate) fn look_around(
        &self,
        request: &Request<'_>,
        comparison: Option<Comparison>,
        playing: &Playing<'_>,
    ) -> Result<(Option<Comparison>, Played)> {
        let Some(neighbours) = &self.neighbours else {
            neighbours::forget(&self.directory);
            return Ok((comparison, Played::default()));
        };
        let Some(comparison) = comparison else { return Ok((None, Played::default())) };
        neighbours.play(comparison, self.relatives(request), playing)
    }

    /// All real runs; then for each row those of the seeds that are drawn, with curves, and the first of them once more
    /// leaving start-up a round later. No comparison: interrupted before the last of them.
    pub(crate) fn play(&self, playing: &Playing<'_>) -> Result<(Option<Comparison>, Played)> {
        let real_time = self.backend.clock() == Clock::Real;
        // A run in real time is not played twice, and few runs are all drawn: they keep their curves at once.
        let curves = real_time || self.plan.runs <= FEW_RUNS;
        let run = |row, seed| Run { kept: Kept { curves, flows: None }, ..self.run(row, seed) };
        let rows = self.plan.played_rows();
        // In real time the machine's own drift must not always meet the same row last.
        let of_seed = |seed: u64| {
            let turned = real_time && (seed - self.plan.first_seed) % 2 == 1;
            let order: Vec<usize> = if turned { rows.iter().rev().copied().collect() } else { rows.clone() };
            order.into_iter().map(move |row| run(row, seed))
        };
        let (real, played) = playing.records(self.plan.seeds().flat_map(of_seed))?;
        if played.finished() + played.refused.len() < self.runs_here() {
            return Ok((None, played));
        }
        let mut records = self.plan.shared(real);
        let comparison = self.plan.judge(&records);
        if real_time {
            return Ok((Some(comparison), played));
        }
        let closer = self.closer(&comparison);
        let count = closer.len();
        let (later, more) = Playing { progress: &(), ..*playing }.records(closer.into_iter())?;
        if more.finished() < count {
            return Ok((None, played));
        }
        records.extend(self.plan.shared(later));
        Ok((Some(self.plan.judge(&records)), played))
    }

    /// Row number so many on the described path, without curves.
    pub(crate) fn run(&self, row: usize, seed: u64) -> Run<'_> {
        Run {
            scenario: &self.scenario,
            digest: &self.plan.provenance.scenario_hash,
            row: &self.rows[row],
            steering: Cow::Borrowed(&self.plan.rows[row].steering),
            backend: self.backend,
            seed,
            extra_startup_rounds: 0,
            kept: Kept::default(),
        }
    }

    /// Once all real runs are judged: those of the drawn seeds, with curves, and of each row the first of them leaving start-up a
    /// round later.
    pub(crate) fn closer(&self, comparison: &Comparison) -> Vec<Run<'_>> {
        let rows = self.plan.played_rows();
        let closer = rows.iter().flat_map(|&row| {
            let arm = comparison.arm(&self.rows[row].label);
            let drawn = arm.map_or(&[][..], |arm| &arm.drawn);
            let later = drawn.first().filter(|drawn| drawn.exit.is_some());
            let later = later.map(|drawn| Run { extra_startup_rounds: 1, ..self.run(row, drawn.seed) });
            drawn
                .iter()
                .map(move |drawn| Run { kept: Kept::CURVES, ..self.run(row, drawn.seed) })
                .chain(later)
        });
        closer.collect()
    }
}

//! The same rows on the same paths, on two backends: whether what the simulator says of a path holds elsewhere.

mod agreement;
mod asked;
mod page;
mod runs;
pub mod text;

pub use agreement::{Access, Agreement, Apart, OnPath, Order, RowSides, judge};
pub use asked::{Files, rows};
pub use page::page;
pub use runs::Timed;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rampcc_backend::{Backend, Clock};
use rampcc_experiment::{Ahead, ExperimentError, Progress, Row, Run, check, context, digest};
use rampcc_lab::Context;
use rayon::prelude::*;

use crate::features::Features;
use crate::log::Log;
use crate::playing::{Counts, Ended, Named, Playing};
use crate::population::{Path, Population};

/// Finished runs of a results directory.
const RUNS: &str = "sides.jsonl";

/// What to play.
#[derive(Debug)]
pub struct SidesRequest<'a> {
    /// Paths that both backends carry ([`Population::sample`]).
    pub population: Population,
    /// Who, as the second backend plays it; the first one plays a control of the second one's own by the algorithm that leaves
    /// start-up as it does.
    pub rows: Vec<Row>,
    /// Sizes of downloads, ascending.
    pub sizes: Vec<u64>,
    /// Runs of each row on each path; where the path leaves nothing to chance, the first backend plays one if its time is virtual.
    pub seeds: u32,
    /// Who plays: the one that is doubted, and the one that it is held against.
    pub backends: [&'a dyn Backend; 2],
    /// Results directory.
    pub out: PathBuf,
    /// True to take results that are there.
    pub reuse: bool,
}

/// Everything that was played.
#[derive(Clone, Debug)]
pub struct Sides {
    /// Of the population.
    pub name: String,
    /// The same with what is set on its paths, as tables call it.
    pub title: String,
    /// Names of the backends.
    pub backends: [&'static str; 2],
    /// What decides the runs of the second one: a kernel's release.
    pub identity: String,
    /// Sizes, ascending.
    pub sizes: Vec<u64>,
    /// Labels of the rows, and whether each knows the path.
    pub rows: Vec<(String, bool)>,
    /// The paths.
    pub paths: Vec<SidesPath>,
    /// Number of runs, and how many of them were found.
    pub runs: (usize, usize),
    /// Runs that the machine was too busy for; which, and why.
    pub refused: Vec<String>,
}

/// A path with its runs.
#[derive(Clone, Debug)]
pub struct SidesPath {
    /// Its name.
    pub name: String,
    /// Its access type.
    pub access: String,
    /// What it is like.
    pub features: Features,
    /// The sizes that fit into its file: so many of the league's.
    pub sizes: usize,
    /// By row: each backend's runs, by seed.
    pub runs: Vec<[Vec<Timed>; 2]>,
}

struct Prepared<'a> {
    path: &'a Path,
    digest: String,
    context: Context,
    sizes: Vec<u64>,
}

/// A run to be made.
struct Task<'a> {
    path: &'a Prepared<'a>,
    row: &'a Row,
    backend: &'a dyn Backend,
    /// Of path, row and backend.
    place: (usize, usize, usize),
    seed: u64,
}

impl SidesRequest<'_> {
    /// Plays what is missing: on backends whose time is the machine's one run after the other.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Interrupted`] where `interrupted` was raised before the last run: what is finished is kept.
    pub fn play(&self, progress: &dyn Progress, interrupted: &AtomicBool) -> Result<Sides, ExperimentError> {
        let paths: Vec<Prepared<'_>> =
            self.population.paths.iter().map(|path| self.prepare(path)).collect::<Result<_, _>>()?;
        let rows = [self.first_rows()?, self.rows.clone()];
        for (backend, rows) in self.backends.iter().zip(&rows) {
            for path in &paths {
                check(*backend, &path.path.scenario, rows)?;
            }
        }
        let counts = Counts::default();
        let log = Log::open(&self.out, RUNS)?;
        let playing = Playing { log, reuse: self.reuse, counts: &counts, progress, interrupted };
        let refused = Mutex::new(Vec::new());
        let tasks = [0, 1].map(|side| self.tasks(&paths, &rows[side], side));
        let total = tasks.iter().map(Vec::len).sum();
        let longest = paths.iter().map(|p| p.path.scenario.stop.after).max().unwrap_or_default();
        let mut played: Vec<SidesPath> = paths.iter().map(|path| self.path(path)).collect();
        for (backend, tasks) in self.backends.into_iter().zip(&tasks) {
            let runs = tasks.len();
            progress.on_backend(&Ahead { backend, runs, runs_here: runs, longest });
            let one = |task: &Task<'_>| task.one(&playing, &refused);
            let results: Result<Vec<Option<Timed>>, ExperimentError> = match backend.clock() {
                Clock::Real => tasks.iter().map(one).collect(),
                Clock::Virtual => tasks.par_iter().with_max_len(1).map(one).collect(),
            };
            progress.on_end();
            for (task, timed) in tasks.iter().zip(results?) {
                let (path, row, side) = task.place;
                played[path].runs[row][side].extend(timed);
            }
        }
        let finished = counts.finished.load(Ordering::Relaxed);
        let refused = refused.into_inner().unwrap_or_default();
        if finished + refused.len() < total {
            let place = self.out.clone();
            return Err(ExperimentError::Interrupted { finished, runs: total, place });
        }
        Ok(Sides {
            name: self.population.name.clone(),
            title: self.population.title(),
            backends: self.backends.map(Backend::name),
            identity: self.backends[1].identity(),
            sizes: self.sizes.clone(),
            rows: self.rows.iter().map(|row| (row.label.clone(), row.yardstick())).collect(),
            paths: played,
            runs: (total, counts.found.load(Ordering::Relaxed)),
            refused,
        })
    }

    /// The rows as the first backend plays them.
    fn first_rows(&self) -> Result<Vec<Row>, ExperimentError> {
        let simulated = |row: &Row| {
            row.simulated().ok_or_else(|| ExperimentError::Input {
                message: format!("{} has nothing like `{}`", self.backends[0].title(), row.label),
                help: Some("name rows that both backends have".to_owned()),
            })
        };
        self.rows.iter().map(simulated).collect()
    }

    fn prepare<'p>(&self, path: &'p Path) -> Result<Prepared<'p>, ExperimentError> {
        let context = context(&path.scenario);
        let largest = context.size_bytes.unwrap_or(0);
        let sizes: Vec<u64> = self.sizes.iter().copied().filter(|size| *size <= largest).collect();
        if sizes.is_empty() {
            return Err(ExperimentError::Input {
                message: format!("path `{}` sends less than the smallest size asked for", path.name),
                help: Some("a smaller --sizes, or a larger `size`".to_owned()),
            });
        }
        Ok(Prepared { path, digest: digest(&path.scenario), context, sizes })
    }

    fn path(&self, prepared: &Prepared<'_>) -> SidesPath {
        SidesPath {
            name: prepared.path.name.clone(),
            access: prepared.path.access.clone(),
            features: Features::of(&prepared.path.scenario),
            sizes: prepared.sizes.len(),
            runs: vec![[Vec::new(), Vec::new()]; self.rows.len()],
        }
    }

    fn tasks<'t>(&self, paths: &'t [Prepared<'t>], rows: &'t [Row], side: usize) -> Vec<Task<'t>>
    where
        Self: 't,
    {
        let backend = self.backends[side];
        let mut tasks = Vec::new();
        for (index, path) in paths.iter().enumerate() {
            let scenario = &path.path.scenario;
            let again = scenario.has_chance() || backend.clock() == Clock::Real;
            let seeds = if again { self.seeds } else { 1 };
            for seed in (scenario.seed..).take(seeds as usize) {
                let of_row = |(place, row)| Task { path, row, backend, place: (index, place, side), seed };
                tasks.extend(rows.iter().enumerate().map(of_row));
            }
        }
        tasks
    }
}

impl Task<'_> {
    /// A run; `None`: refused or interrupted.
    fn one(
        &self,
        playing: &Playing<'_, Timed>,
        refused: &Mutex<Vec<String>>,
    ) -> Result<Option<Timed>, ExperimentError> {
        let scenario = &self.path.path.scenario;
        let run = Run {
            scenario,
            digest: &self.path.digest,
            row: self.row,
            steering: &self.row.steering(scenario),
            backend: self.backend,
            seed: self.seed,
            extra_startup_rounds: 0,
            curves: false,
        };
        let name = format!("{} on {}", self.row.label, self.path.path.name);
        let key = Timed::key(&run.key(), &self.path.sizes);
        let named = Named { key: &key, name: &name, seed: self.seed };
        let of_path = (&self.path.context, self.path.sizes.as_slice());
        let play = |interrupted: &_| Ok(Timed::new(&run.watch("", &mut (), interrupted)?, of_path));
        match playing.one(named, play)? {
            Ended::With(timed) => Ok(Some(timed)),
            Ended::Interrupted => Ok(None),
            Ended::Refused(cause) => {
                refused.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{named}: {cause}"));
                Ok(None)
            }
        }
    }
}

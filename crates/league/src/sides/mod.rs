//! The same rows on the same paths, on two backends: whether what the simulator says of a path holds elsewhere.

mod agreement;
mod asked;
mod page;
pub mod text;

pub use agreement::{Access, Agreement, Apart, OnPath, Order, RowSides, judge};
pub use asked::{Files, SampleAsked, rows};
pub use page::page;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use rampcc_backend::{Backend, Clock};
use rampcc_experiment::{
    Ahead, ExperimentError, Played, Playing, Progress, Refused, Result, Row, Run, Store, check, context,
    digest,
};
use rampcc_lab::{Context, LeftOut, RunRecord};

use crate::features::Features;
use crate::outcome::Outcome;
use crate::population::{Path, Population};

/// What to play.
#[derive(Debug)]
pub struct SidesRequest<'a> {
    /// Paths that both backends carry ([`Population::sample`]).
    pub population: Population,
    /// Who, as the second backend plays it; the first one plays a control of the second one's own by the algorithm that leaves
    /// start-up as it does.
    pub rows: Vec<Row>,
    /// Rows that the second backend cannot play, and why.
    pub left_out: Vec<LeftOut>,
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
    /// Those that the second backend cannot play, and why.
    pub left_out: Vec<LeftOut>,
    /// The paths.
    pub paths: Vec<SidesPath>,
    /// Number of runs.
    pub runs: usize,
    /// How many of them were found.
    pub found: usize,
    /// Runs that the machine was too busy for; which, and why.
    pub refused: Vec<Refused>,
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
    pub runs: Vec<[Vec<Outcome>; 2]>,
}

struct Prepared<'a> {
    path: &'a Path,
    digest: String,
    context: Context,
    sizes: Vec<u64>,
}

impl SidesRequest<'_> {
    /// Plays what is missing: on backends whose time is the machine's one run after the other.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Interrupted`] where `interrupted` was raised before the last run: what is finished is kept.
    pub fn play(&self, progress: &dyn Progress, interrupted: &AtomicBool) -> Result<Sides> {
        let paths: Vec<Prepared<'_>> =
            self.population.paths.iter().map(|path| self.prepare(path)).collect::<Result<_, _>>()?;
        let rows = [self.first_rows()?, self.rows.clone()];
        for (backend, rows) in self.backends.iter().zip(&rows) {
            for path in &paths {
                check(*backend, &path.path.scenario, rows)?;
            }
        }
        let store = Store::lines(&self.out)?;
        let mut places = [Vec::new(), Vec::new()];
        let runs: [Vec<Run<'_>>; 2] =
            std::array::from_fn(|side| self.runs(&paths, &rows[side], side, &mut places));
        let total = runs.iter().map(Vec::len).sum();
        let longest = paths.iter().map(|p| p.path.scenario.stop.after).max().unwrap_or_default();
        let mut found: Vec<SidesPath> = paths.iter().map(|path| self.path(path)).collect();
        let mut all = Played::default();
        for (side, backend) in self.backends.into_iter().enumerate() {
            let (runs, places) = (&runs[side], &places[side]);
            progress.on_backend(&Ahead { backend, runs: runs.len(), runs_here: runs.len(), longest });
            let playing = Playing {
                reuse: self.reuse,
                on_paths: true,
                ..Playing::new(&store, backend, progress, interrupted)
            };
            let outcome = |number: usize, record: RunRecord| {
                let path = &paths[places[number].0];
                Outcome::new(&record, &path.context, &path.sizes)
            };
            let played = playing.all(runs.iter().cloned(), outcome);
            progress.on_end();
            let (outcomes, played) = played?;
            for (number, outcome) in outcomes {
                let (path, row) = places[number];
                found[path].runs[row][side].push(outcome);
            }
            all.add(played);
        }
        let finished = all.finished();
        if finished + all.refused.len() < total {
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
            left_out: self.left_out.clone(),
            paths: found,
            runs: total,
            found: all.reused,
            refused: all.refused,
        })
    }

    /// The rows as the first backend plays them.
    fn first_rows(&self) -> Result<Vec<Row>> {
        let simulated = |row: &Row| {
            row.simulated().ok_or_else(|| ExperimentError::Input {
                message: format!("{} has nothing like `{}`", self.backends[0].title(), row.label),
                help: Some("name rows that both backends have".to_owned()),
            })
        };
        self.rows.iter().map(simulated).collect()
    }

    fn prepare<'p>(&self, path: &'p Path) -> Result<Prepared<'p>> {
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

    /// The runs of a backend, and of each the numbers of its path and row.
    fn runs<'t>(
        &self,
        paths: &'t [Prepared<'t>],
        rows: &'t [Row],
        side: usize,
        places: &mut [Vec<(usize, usize)>; 2],
    ) -> Vec<Run<'t>>
    where
        Self: 't,
    {
        let backend = self.backends[side];
        let mut runs = Vec::new();
        for (index, path) in paths.iter().enumerate() {
            let scenario = &path.path.scenario;
            let again = scenario.has_chance() || backend.clock() == Clock::Real;
            let seeds = if again { self.seeds } else { 1 };
            let of_path: Vec<Run<'_>> =
                rows.iter().map(|row| Run::of(scenario, &path.digest, row, backend)).collect();
            for seed in (scenario.seed..).take(seeds as usize) {
                places[side].extend((0..rows.len()).map(|row| (index, row)));
                runs.extend(of_path.iter().map(|run| Run { seed, ..run.clone() }));
            }
        }
        runs
    }
}

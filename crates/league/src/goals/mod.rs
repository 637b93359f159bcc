//! One algorithm against the goals of a start-up, and what each of its mechanisms and constants brings.
//!
//! [`Bench`] plays it on populations, beside a running flow ([`Set::Beside`]) and over a geostationary satellite whose return link is not
//! known ([`Set::Geo`]). [`goals`] and [`ablation`] make sheets of that for a page.

mod ablation;
mod geo;
mod page;
mod sheet;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use rampcc_backend::Backend;
use rampcc_experiment::{ExperimentError, Progress, Row};
use rampcc_scenario::Setting;

use crate::asked::Extent;
use crate::judge::{Standing, Table, Weights};
use crate::play::{League, Request};
use crate::population::Population;

pub use ablation::{Arms, ablation};
pub use geo::Geo;
pub use page::{Marked, markdown};
pub use sheet::{Cell, Line, Sheet, goals};

const BESIDE: &str = include_str!("../../population/beside.toml");
const GEO: &str = include_str!("../../population/geo.toml");
/// The running flow is looked at for as long as a large download takes; its own time is that of a small one.
const BESIDE_SIZES: [u64; 2] = [100_000, 100_000_000];
/// Downloads over the satellite.
const GEO_SIZE: u64 = 80_000_000;

/// What is played beside populations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// Drop-tail paths with a running flow that a download joins.
    Beside,
    /// A geostationary path over what is not known of its return link.
    Geo,
}

impl Set {
    /// Its paths, with `settings` on each. `quick`: four with a running flow and one of each return link, one run each.
    pub fn extent(self, quick: bool, settings: &[Setting]) -> Result<Extent, ExperimentError> {
        let (name, text, sizes) = match self {
            Self::Beside => ("beside", BESIDE, BESIDE_SIZES.as_slice()),
            Self::Geo => ("geo", GEO, [GEO_SIZE].as_slice()),
        };
        let (of_each, seeds) = match (self, quick) {
            (Self::Beside, false) => (usize::MAX, 1),
            (Self::Beside, true) => (4, 1),
            (Self::Geo, false) => (usize::MAX, 3),
            (Self::Geo, true) => (1, 1),
        };
        let population = Population::parse(name, text, None)?.of_each(of_each).with(settings)?;
        Extent::new(population, false, (sizes, Some(seeds)))
    }
}

/// Who plays, and where results are kept.
pub struct Bench<'a> {
    /// Everybody, yardstick included.
    pub entrants: Vec<Row>,
    /// Plays.
    pub backend: &'a dyn Backend,
    /// Results directory.
    pub out: PathBuf,
    /// True to take results that are there.
    pub reuse: bool,
    /// True for some paths only.
    pub quick: bool,
    /// What plays it again, for the files.
    pub command: String,
}

/// What was played.
#[derive(Clone, Debug)]
pub struct Played {
    /// By population.
    pub populations: Vec<Table>,
    /// Beside a running flow.
    pub beside: Table,
    /// Over the satellite.
    pub geo: Vec<Geo>,
}

impl Bench<'_> {
    /// Plays what is missing on these populations, with `pairs` two at a time too, and on both sets, with the first one's settings, and
    /// writes the files of each.
    ///
    /// # Errors
    ///
    /// As [`Request::play`].
    pub fn play(
        &self,
        populations: Vec<Extent>,
        pairs: bool,
        (progress, interrupted): (&dyn Progress, &AtomicBool),
    ) -> Result<Played, ExperimentError> {
        let mut pairs = pairs;
        let settings = populations.first().map_or_else(Vec::new, |first| first.population.settings.clone());
        let mut play = |extent: Extent| -> Result<League, ExperimentError> {
            let league = self.request(extent, pairs).play(progress, interrupted)?;
            pairs = false;
            Ok(league)
        };
        let judged = |league: &League| -> Result<Table, ExperimentError> {
            let table = league.judge(&Weights::default());
            league.write(&self.out, &table, &self.command)?;
            Ok(table)
        };
        let mut tables = Vec::new();
        for extent in populations {
            tables.push(judged(&play(extent)?)?);
        }
        let beside = judged(&play(Set::Beside.extent(self.quick, &settings)?)?)?;
        let geo = play(Set::Geo.extent(self.quick, &settings)?)?;
        judged(&geo)?;
        Ok(Played { populations: tables, beside, geo: Geo::all(&geo) })
    }

    fn request(&self, extent: Extent, pairs: bool) -> Request<'_> {
        Request {
            population: extent.population,
            entrants: self.entrants.clone(),
            sizes: extent.sizes,
            seeds: extent.seeds,
            backend: self.backend,
            workers: None,
            out: self.out.clone(),
            reuse: self.reuse,
            pairs,
        }
    }
}

/// The one of `rows` that goals are for: none of those that are always there.
pub fn judged(rows: &[Row]) -> Result<&Row, ExperimentError> {
    let always = [rampcc::standard().id, rampcc::of_cubic().id];
    let mut own = rows
        .iter()
        .filter(|row| row.code.is_some() || !(row.yardstick() || always.contains(&row.label.as_str())));
    match (own.next(), own.next()) {
        (Some(row), None) => Ok(row),
        (first, second) => {
            let problem = match first.zip(second) {
                Some((first, second)) => format!("`{}` and `{}` are two", first.label, second.label),
                None => "there is none".to_owned(),
            };
            Err(ExperimentError::Request {
                field: "algorithms",
                problem: format!("has to name the one algorithm that is judged: {problem}"),
                help: Some(format!(
                    "--algorithms NAME or --candidate FILE.h; {} and ideal play beside it anyway",
                    always.join(", ")
                )),
            })
        }
    }
}

fn standing<'a>(table: &'a Table, label: &str) -> Option<&'a Standing> {
    table.standings.iter().find(|standing| standing.label == label)
}

fn yardstick(table: &Table) -> Option<&Standing> {
    table.standings.iter().find(|standing| standing.yardstick)
}

/// What a running flow loses beside an algorithm over what it loses beside the yardstick.
fn harm(table: &Table, label: &str) -> Option<f64> {
    let lost = |standing: &Standing| Some(standing.harm.as_ref()?.lost[0]);
    let ideal = lost(yardstick(table)?).filter(|lost| *lost > 0.0)?;
    Some(lost(standing(table, label)?)? / ideal)
}

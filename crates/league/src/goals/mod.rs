//! One algorithm against the goals of a start-up, and what each of its mechanisms and constants brings.
//!
//! [`Bench`] plays it on populations, next to a running flow ([`Set::Beside`]) and over a geostationary satellite whose return link is not
//! known ([`Set::Geo`]). [`sheets`] and [`ablation`] make sheets of that for a page.

mod ablation;
mod data;
mod geo;
mod page;
mod sheet;
mod traffic;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use rampcc_backend::Backend;
use rampcc_experiment::{ExperimentError, Progress, Result, Row, Steering};
use rampcc_scenario::Setting;

use crate::asked::Extent;
use crate::judge::{Standing, Table, Weights};
use crate::play::{League, Request};
use crate::population::Population;

pub use ablation::{Arms, ablation};
pub use data::Goals;
pub use geo::Geo;
pub use page::{Marked, markdown};
pub use sheet::{Cell, Judged, Line, Sheet, sheets};
pub use traffic::Traffic;

const BESIDE: &str = include_str!("../../population/beside.toml");
const GEO: &str = include_str!("../../population/geo.toml");
const HOSTS: &str = include_str!("../../population/hosts.toml");
const POLICERS: &str = include_str!("../../population/policers.toml");
/// The running flow is looked at for as long as a large download takes; its own time is that of a small one.
const BESIDE_SIZES: [u64; 2] = [100_000, 100_000_000];
/// Downloads over the satellite.
const GEO_SIZE: u64 = 80_000_000;
/// Downloads of hosts and behind policers: as long as their files say.
const HOST_SIZES: [u64; 4] = [1_000_000, 2_000_000, 10_000_000, 20_000_000];

/// Populations drawn from each for the interval of a goal: the Monte Carlo error of an end is then about 4 % of its width.
const RESAMPLES: usize = 300;

/// What is played besides populations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// Drop-tail paths with a running flow that a download joins.
    Beside,
    /// A geostationary path over what is not known of its return link.
    Geo,
    /// One thing each that hosts do.
    Hosts,
    /// A token bucket without a queue.
    Policers,
    /// Many starts at a time, web loads, and small writes.
    Crowds,
}

impl Set {
    /// Its paths, with `settings` on each. `quick`: at most four of each kind, or one of each return link and crowd, one run each.
    pub fn extent(self, quick: bool, settings: &[Setting]) -> Result<Extent> {
        let (name, text, sizes) = match self {
            Self::Beside => ("beside", BESIDE, BESIDE_SIZES.as_slice()),
            Self::Geo => ("geo", GEO, [GEO_SIZE].as_slice()),
            Self::Hosts => ("hosts", HOSTS, HOST_SIZES.as_slice()),
            Self::Policers => ("policers", POLICERS, [1_000_000, 5_000_000].as_slice()),
            Self::Crowds => ("crowds", crate::crowds::PATHS, HOST_SIZES.as_slice()),
        };
        let (of_each, seeds) = match (self, quick) {
            (Self::Beside, false) => (usize::MAX, 1),
            (Self::Beside, true) => (4, 1),
            (Self::Hosts | Self::Policers, true) => (4, 1),
            (Self::Geo | Self::Crowds, true) => (1, 1),
            (Self::Geo | Self::Hosts | Self::Policers | Self::Crowds, false) => (usize::MAX, 3),
        };
        let population = Population::parse(name, text, None)?.of_each(of_each).with(settings)?;
        Extent::new(population, false, sizes, Some(seeds))
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

/// What is played besides populations, if it is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct With {
    /// Two at a time.
    pub pairs: bool,
    /// [`Set::Hosts`], [`Set::Policers`] and [`Set::Crowds`], and how sure the populations' values are.
    pub traffic: bool,
}

/// What was played.
#[derive(Clone, Debug)]
pub struct Played {
    /// By population.
    pub populations: Vec<Table>,
    /// By population: those drawn from it, if anybody asks how sure it is.
    pub resampled: Vec<Vec<Table>>,
    /// Next to a running flow.
    pub beside: Table,
    /// Over the satellite.
    pub geo: Vec<Geo>,
    /// What hosts and crowds do.
    pub traffic: Option<Traffic>,
}

impl Bench<'_> {
    /// Plays what is missing on these populations, next to a running flow, over the satellite, and what `with` says, with the first
    /// population's settings, and writes the files of each.
    ///
    /// # Errors
    ///
    /// As [`Request::play`].
    pub fn play(
        &self,
        populations: Vec<Extent>,
        with: With,
        progress: &dyn Progress,
        interrupted: &AtomicBool,
    ) -> Result<Played> {
        let mut pairs = with.pairs;
        let settings = populations.first().map_or_else(Vec::new, |first| first.population.settings.clone());
        let mut play = |extent: Extent| -> Result<League> {
            let league = self.request(extent, pairs).play(progress, interrupted)?;
            pairs = false;
            Ok(league)
        };
        let judged = |league: &League| -> Result<Table> {
            let table = league.judge(&Weights::default());
            league.write(&self.out, &table, &self.command)?;
            Ok(table)
        };
        let mut tables = Vec::new();
        let mut resampled = Vec::new();
        let labels: Vec<&str> = self.entrants.iter().map(|row| row.label.as_str()).collect();
        for extent in populations {
            let league = play(extent)?;
            tables.push(judged(&league)?);
            let draws = if with.traffic { RESAMPLES } else { 0 };
            resampled.push(league.resampled(&Weights::default(), &labels, draws));
        }
        let beside = judged(&play(Set::Beside.extent(self.quick, &settings)?)?)?;
        let geo = play(Set::Geo.extent(self.quick, &settings)?)?;
        judged(&geo)?;
        let traffic = if with.traffic {
            let crowds = Set::Crowds.extent(self.quick, &settings)?;
            Some(Traffic {
                hosts: play(Set::Hosts.extent(self.quick, &settings)?)?,
                policers: play(Set::Policers.extent(self.quick, &settings)?)?,
                crowds: self.request(crowds, false).play_crowds(progress, interrupted)?,
            })
        } else {
            None
        };
        Ok(Played { populations: tables, resampled, beside, geo: Geo::all(&geo), traffic })
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
            crowds: false,
        }
    }
}

/// The one of `rows` that goals are for: none of those that are always there.
pub fn judged(rows: &[Row]) -> Result<&Row> {
    let always = [rampcc::standard().id, rampcc::of_cubic().id];
    let mut own = rows
        .iter()
        .filter(|row| row.code.is_some() || !(row.yardstick() || always.contains(&row.label.as_str())));
    match (own.next(), own.next()) {
        (Some(row), None) if knows_path(row) => Err(ExperimentError::Request {
            field: "algorithms",
            problem: format!("names `{}`, which knows the path in advance", row.label),
            help: Some("goals are for those that have to find out".to_owned()),
        }),
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
                    "--algorithms NAME or --candidate FILE.h; {} and ideal play with it anyway",
                    always.join(", ")
                )),
            })
        }
    }
}

fn knows_path(row: &Row) -> bool {
    matches!(&row.steering, Steering::Core(arm) if arm.algorithm.traits.has(rampcc::Traits::KNOWS_PATH))
}

fn standing<'a>(table: &'a Table, label: &str) -> Option<&'a Standing> {
    table.standings.iter().find(|standing| standing.label == label)
}

fn yardstick(table: &Table) -> Option<&Standing> {
    table.standings.iter().find(|standing| standing.yardstick)
}

/// What a running flow loses next to an algorithm, beyond what it loses anyway, over what it loses next to plain slow start.
fn harm(table: &Table, label: &str) -> Option<f64> {
    let lost = |label: &str| Some(standing(table, label)?.harm.as_ref()?.lost[0]);
    let standard = lost(rampcc::standard().id).filter(|lost| *lost > 0.0)?;
    Some(lost(label)? / standard)
}

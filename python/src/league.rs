//! The league.

use std::collections::BTreeMap;
use std::path::PathBuf;

use arrow_array::{BooleanArray, Float64Array, StringArray, UInt64Array};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rampcc_experiment::ExperimentError;
use rampcc_league::{
    Apart, Extent, Files, KNOWN_SIZES, League, Over, Population, Request, Standing, Weights, Which, entrants,
};

use crate::asked::{BACKENDS, read, threads, within};
use crate::elsewhere::apart;
use crate::error::wrong;
use crate::table::{Columns, Table};
use crate::work::{Around, Hands, done};

/// What to play.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct LeagueAsked {
    algorithms: Vec<String>,
    candidates: Vec<String>,
    compiler: String,
    held_out: bool,
    fresh: Option<u64>,
    paths: Option<PathBuf>,
    weights: Option<BTreeMap<String, f64>>,
    sizes: Vec<String>,
    seeds: Option<i64>,
    quick: bool,
    out: PathBuf,
    reuse: bool,
    jobs: Option<i64>,
    distribute: Option<Py<PyAny>>,
    command: String,
}

impl LeagueAsked {
    fn which(&self) -> PyResult<Which<'_>> {
        match (&self.paths, self.fresh, self.held_out) {
            (None, None, false) => Ok(Which::Public),
            (None, None, true) => Ok(Which::HeldOut),
            (None, Some(seed), false) => Ok(Which::Fresh(seed)),
            (Some(path), None, false) => Ok(Which::File(path)),
            _ => {
                Err(wrong("`held_out`, `fresh` and `paths` each name the population\nhelp: give one of them"))
            }
        }
    }

    fn bytes(&self) -> PyResult<Vec<u64>> {
        let known = |name: &String| {
            let plain = name.replace(' ', "");
            let found = KNOWN_SIZES.iter().find(|(known, _)| *known == plain);
            found.map(|(_, bytes)| *bytes).ok_or_else(|| {
                let names = KNOWN_SIZES.map(|(name, _)| name).join(", ");
                wrong(format!("`sizes` has `{name}`\nhelp: expected some of {names}"))
            })
        };
        self.sizes.iter().map(known).collect()
    }
}

/// What comes out.
struct Judged {
    league: League,
    table: rampcc_league::Table,
    files: Files,
}

/// Plays every algorithm on every path of a population; `standings` and `downloads` are tables.
#[pyfunction]
pub(crate) fn league<'py>(py: Python<'py>, asked: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    let asked: LeagueAsked = read(asked)?;
    let (which, sizes) = (asked.which()?, asked.bytes()?);
    let seeds = within("seeds", asked.seeds, 1..=1000)?;
    let hands = Hands { threads: threads(asked.jobs)?, distribute: asked.distribute.as_ref() };
    let apart = apart(py, &asked.compiler)?;
    let judged = done(py, &hands, |around| {
        let extent = Extent::new(Population::open(&which)?, asked.quick, &sizes, seeds)?;
        play(&asked, &apart, extent, around)
    })?;
    let result = PyDict::new(py);
    result.set_item("standings", standings(&judged.table)?)?;
    result.set_item("downloads", downloads(&judged.league)?)?;
    result.set_item("population", &judged.table.population)?;
    result.set_item("report", &judged.files.report)?;
    result.set_item("json", &judged.files.json)?;
    Ok(result)
}

fn play(
    asked: &LeagueAsked,
    apart: &Apart,
    extent: Extent,
    around: Around<'_>,
) -> Result<Judged, ExperimentError> {
    let Extent { population, sizes, seeds } = extent;
    let weights = match &asked.weights {
        Some(weights) => Weights::of_types(weights, &population)?,
        None => Weights::default(),
    };
    let request = Request {
        population,
        entrants: entrants(&asked.algorithms, &asked.candidates, apart, BACKENDS)?,
        sizes,
        seeds,
        backend: BACKENDS[0],
        workers: around.workers,
        out: asked.out.clone(),
        reuse: asked.reuse,
        pairs: true,
        crowds: asked.paths.is_none(),
    };
    let league = request.play(around.progress, around.interrupted)?;
    let table = league.judge(&weights);
    let files = league.write(&asked.out, &table, &asked.command)?;
    Ok(Judged { league, table, files })
}

/// A line for each algorithm, the fastest first, yardsticks last.
fn standings(table: &rampcc_league::Table) -> PyResult<Table> {
    let all = || table.standings.iter();
    let number = |of: fn(&Standing) -> f64| all().map(of);
    let some = |of: fn(&Standing) -> Option<f64>| all().map(of);
    let of_sizes = |columns: Columns, (index, bytes): (usize, &u64)| {
        let mean = |over: &Over| over.mean;
        let name = format!("over_ideal_{bytes}_bytes");
        columns.with::<Float64Array, _>(&name, all().map(|s| s.by_size[index].ideal.as_ref().map(mean)))
    };
    let columns = Columns::default()
        .all::<StringArray, _>("algorithm", all().map(|s| s.label.as_str()))
        .all::<BooleanArray, _>("yardstick", all().map(|s| s.yardstick))
        .all::<BooleanArray, _>("candidate", all().map(|s| s.candidate))
        .all::<Float64Array, _>("over_ideal", number(|s| s.ideal.mean))
        .all::<Float64Array, _>("over_ideal_median", number(|s| s.ideal.median))
        .all::<Float64Array, _>("over_ideal_p95", number(|s| s.ideal.p95))
        .all::<Float64Array, _>("over_ideal_worst", number(|s| s.ideal.worst))
        .all::<StringArray, _>("worst_path", all().map(|s| s.ideal.worst_path.as_str()))
        .all::<Float64Array, _>("over_causal", number(|s| s.causal.mean))
        .all::<Float64Array, _>("over_causal_p95", number(|s| s.causal.p95))
        .all::<Float64Array, _>("extra_rtts_median", number(|s| s.extra_rtts[0]))
        .all::<Float64Array, _>("extra_rtts_p95", number(|s| s.extra_rtts[1]))
        .all::<Float64Array, _>("above_two_share", number(|s| s.ideal.above_two))
        .all::<Float64Array, _>("best_share", number(|s| s.best))
        .all::<Float64Array, _>("near_best_share", number(|s| s.near_best))
        .with::<Float64Array, _>(
            "slower_than_slow_start_share",
            some(|s| Some(s.slow_start.as_ref()?.slower)),
        )
        .with::<Float64Array, _>("slower_than_cubic_share", some(|s| Some(s.cubic.as_ref()?.slower)))
        .all::<Float64Array, _>("startup_lost", number(|s| s.cost.startup_lost[0]))
        .all::<Float64Array, _>("startup_lost_p95", number(|s| s.cost.startup_lost[1]))
        .all::<Float64Array, _>("startup_lost_worst", number(|s| s.cost.startup_lost[2]))
        .all::<Float64Array, _>("lost_share", number(|s| s.cost.lost))
        .all::<Float64Array, _>("sent_again_share", number(|s| s.cost.again))
        .all::<Float64Array, _>("queue_ms_median", number(|s| s.cost.queue_ms[0]))
        .all::<Float64Array, _>("queue_ms_p95", number(|s| s.cost.queue_ms[1]))
        .with::<Float64Array, _>("harm_lost", some(|s| Some(s.harm.as_ref()?.lost[0])))
        .with::<Float64Array, _>("harm_goodput_share", some(|s| Some(s.harm.as_ref()?.goodput)))
        .with::<Float64Array, _>("others_mean_over_slow_start", some(|s| Some(s.among?.others[0])))
        .with::<Float64Array, _>("others_p95_over_slow_start", some(|s| Some(s.among?.others[1])))
        .with::<Float64Array, _>("others_p99_over_slow_start", some(|s| Some(s.among?.others[2])))
        .with::<Float64Array, _>("web_drops_over_slow_start", some(|s| Some(s.among?.dropped)))
        .with::<Float64Array, _>("starts_drops_over_slow_start", some(|s| Some(s.among?.starts_dropped)));
    table.sizes.iter().enumerate().fold(columns, of_sizes).table()
}

/// A line for each path, size and algorithm, as in the file of the command.
fn downloads(league: &League) -> PyResult<Table> {
    let times = league.times();
    let mut lines = Vec::new();
    for (index, case) in times.cases.iter().enumerate() {
        let path = &league.paths[case.path];
        let rows = league.rows.iter().zip(&times.over);
        lines.extend(rows.map(|(row, over)| (path, league.sizes[case.size], row, over[index])));
    }
    Columns::default()
        .all::<StringArray, _>("path", lines.iter().map(|line| line.0.name.as_str()))
        .all::<StringArray, _>("access", lines.iter().map(|line| line.0.access.as_str()))
        .all::<UInt64Array, _>("bytes", lines.iter().map(|line| line.1))
        .all::<StringArray, _>("algorithm", lines.iter().map(|line| line.2.label.as_str()))
        .all::<Float64Array, _>("seconds", lines.iter().map(|line| line.3.seconds))
        .all::<Float64Array, _>("over_ideal", lines.iter().map(|line| line.3.ideal))
        .all::<Float64Array, _>("over_causal", lines.iter().map(|line| line.3.causal))
        .all::<Float64Array, _>("extra_rtts", lines.iter().map(|line| line.3.rtts))
        .all::<BooleanArray, _>("cut", lines.iter().map(|line| line.3.cut))
        .table()
}

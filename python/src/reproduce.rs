//! Published experiments.

use std::path::PathBuf;
use std::time::Instant;

use arrow_array::{BooleanArray, Float64Array, StringArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rampcc_experiment::{Playing, Store};
use rampcc_reproduce::{
    Done, Extent, Judged, ReproduceError, Work, chosen, papers, tally, verdicts, write_gallery,
};

use crate::asked::{BACKENDS, read, threads};
use crate::error::{RampError, raise, wrong};
use crate::table::{Columns, Table};
use crate::work::{Around, Hands, done};

/// What to play.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ReproduceAsked {
    experiments: Vec<String>,
    papers: Vec<String>,
    quick: bool,
    out: PathBuf,
    reuse: bool,
    jobs: Option<i64>,
    command: String,
}

impl ReproduceAsked {
    /// Neither experiments nor papers: everything.
    fn papers(&self) -> PyResult<Vec<String>> {
        let known = papers().map_err(|error| raise(&error))?;
        let known: Vec<String> = known.into_iter().map(|paper| paper.id).collect();
        if self.experiments.is_empty() && self.papers.is_empty() {
            return Ok(known);
        }
        if let Some(name) = self.papers.iter().find(|name| !known.contains(name)) {
            let names = known.join(", ");
            return Err(wrong(format!("`papers` has `{name}`\nhelp: expected some of {names}")));
        }
        Ok(self.papers.clone())
    }
}

/// Plays experiments and checks their claims; `claims` and `points` are tables.
#[pyfunction]
pub(crate) fn reproduce<'py>(py: Python<'py>, asked: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    let asked: ReproduceAsked = read(asked)?;
    let papers = asked.papers()?;
    let hands = Hands { threads: threads(asked.jobs)?, distribute: None };
    let (played, report) = done(py, &hands, |around| play(&asked, &papers, around))?;
    if let Some(refused) = played.refused.first() {
        return Err(RampError::new_err(refused.to_string()));
    }
    let judged = &played.experiments;
    let counts = tally(judged);
    let result = PyDict::new(py);
    result.set_item("claims", claims(judged)?)?;
    result.set_item("points", points(judged)?)?;
    result.set_item("held", counts.held)?;
    result.set_item("checked", counts.checked)?;
    result.set_item("contradicted", counts.contradicted)?;
    result.set_item("report", report)?;
    result.set_item("json", verdicts(judged).map_err(|error| raise(&error))?)?;
    Ok(result)
}

#[expect(clippy::disallowed_methods, reason = "pages say how long runs took; no result depends on it")]
fn play(
    asked: &ReproduceAsked,
    papers: &[String],
    around: Around<'_>,
) -> Result<(Done, PathBuf), ReproduceError> {
    let experiments = chosen(&asked.experiments, papers)?;
    let extent = Extent { quick: asked.quick, backend: BACKENDS[0], variant: None };
    let work = Work::plan(&experiments, extent)?;
    let begun = Instant::now();
    let store = Store::create(&asked.out)?;
    let playing = Playing {
        reuse: asked.reuse,
        command: &asked.command,
        seconds: Some(&|| begun.elapsed().as_secs_f64()),
        ..Playing::new(&store, extent.backend, around.progress, around.interrupted)
    };
    let played = work.play(&playing)?;
    let report = write_gallery(&extent.pages(&asked.out), &played.experiments, &asked.command)?;
    Ok((played, report))
}

fn claims(judged: &[Judged]) -> PyResult<Table> {
    let all = || judged.iter().flat_map(|one| one.claims.iter().map(move |claim| (one, claim)));
    Columns::default()
        .all::<StringArray, _>("experiment", all().map(|(one, _)| one.id.as_str()))
        .all::<StringArray, _>("paper", all().map(|(one, _)| one.paper.id.as_str()))
        .all::<StringArray, _>("kind", all().map(|(one, _)| one.kind.word()))
        .all::<StringArray, _>("claim", all().map(|(_, claim)| claim.text.as_str()))
        .all::<StringArray, _>("where", all().map(|(_, claim)| claim.place.as_str()))
        .all::<StringArray, _>("source", all().map(|(_, claim)| claim.source.as_str()))
        .all::<StringArray, _>("check", all().map(|(_, claim)| claim.check.as_str()))
        .all::<StringArray, _>("measured", all().map(|(_, claim)| claim.measured.as_str()))
        .with::<BooleanArray, _>("holds", all().map(|(_, claim)| claim.holds))
        .with::<StringArray, _>("reason", all().map(|(_, claim)| claim.reason.as_deref()))
        .all::<BooleanArray, _>("contradicted", all().map(|(_, claim)| claim.contradicted.is_some()))
        .table()
}

/// A line for each point of each plot.
fn points(judged: &[Judged]) -> PyResult<Table> {
    let mut lines = Vec::new();
    for one in judged {
        for (number, panel) in (1_u32..).zip(&one.figure.panels) {
            for series in &panel.series {
                lines.extend(series.points.iter().map(|dot| (one, number, panel, series, (dot.x, dot.y))));
            }
        }
    }
    Columns::default()
        .all::<StringArray, _>("experiment", lines.iter().map(|line| line.0.id.as_str()))
        .all::<arrow_array::UInt32Array, _>("plot", lines.iter().map(|line| line.1))
        .all::<StringArray, _>("title", lines.iter().map(|line| line.2.title.as_str()))
        .all::<StringArray, _>("series", lines.iter().map(|line| line.3.label.as_str()))
        .all::<Float64Array, _>("x", lines.iter().map(|line| line.4.0))
        .all::<Float64Array, _>("y", lines.iter().map(|line| line.4.1))
        .table()
}

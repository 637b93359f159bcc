//! Comparisons and sweeps of them.

use std::path::PathBuf;

use arrow_array::{BooleanArray, Float64Array, StringArray, UInt32Array, UInt64Array};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rampcc_experiment::{Around, Experiment, ExperimentError, Found, Request, Sweep};
use rampcc_lab::carries::Carries;
use rampcc_lab::report::TextStyle;
use rampcc_lab::{ArmSummary, Comparison, MetricInfo, Summary, Words};
use rampcc_scenario::Setting;
use serde::Serialize;

use crate::asked::{BACKENDS, PathAsked, Value, read, sweeps, threads, within};
use crate::table::{Columns, Table};
use crate::work::{Around as Beside, Hands, done};

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CompareAsked {
    path: PathAsked,
    algorithms: Vec<String>,
    sweep: Vec<(String, Vec<Value>)>,
    runs: Option<i64>,
    seed: Option<u64>,
    uncertain: Vec<(String, String)>,
    neighbours: Option<i64>,
    out: Option<PathBuf>,
    reuse: bool,
    jobs: Option<i64>,
    distribute: Option<Py<PyAny>>,
    command: String,
}

/// What comes out.
struct Compared {
    fields: Vec<String>,
    /// Their values and the comparison with these.
    points: Vec<(Vec<String>, Comparison)>,
    report: PathBuf,
    json: String,
    text: String,
}

/// Plays every row, with every value of the swept fields; `summary`, `runs`, `pairs` and `neighbours` are tables.
#[pyfunction]
pub(crate) fn compare<'py>(py: Python<'py>, asked: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    let asked: CompareAsked = read(asked)?;
    let runs = within("runs", asked.runs, 1..=1_000_000)?;
    let neighbours = within("neighbours", asked.neighbours, 0..=65536)?;
    let hands = Hands { threads: threads(asked.jobs)?, distribute: asked.distribute.as_ref() };
    let compared = done(py, &hands, |beside| play(&asked, runs, neighbours, beside))?;
    let result = PyDict::new(py);
    result.set_item("summary", compared.summary()?)?;
    result.set_item("runs", compared.runs()?)?;
    result.set_item("pairs", compared.pairs()?)?;
    result.set_item("neighbours", compared.neighbours()?)?;
    let first = compared.points.first().map(|(_, comparison)| comparison);
    result.set_item("leader", first.and_then(|comparison| comparison.leader.as_deref()))?;
    result.set_item("verdict", first.map(|comparison| Words::of(comparison).verdict))?;
    result.set_item("fields", &compared.fields)?;
    result.set_item("report", &compared.report)?;
    result.set_item("json", &compared.json)?;
    result.set_item("text", &compared.text)?;
    Ok(result)
}

fn play(
    asked: &CompareAsked,
    runs: Option<u32>,
    neighbours: Option<u32>,
    beside: Beside<'_>,
) -> Result<Compared, ExperimentError> {
    let sweep = sweeps(&asked.sweep);
    let request = Request {
        algorithms: asked.algorithms.clone(),
        sweep: sweep.clone(),
        runs,
        seed: asked.seed,
        around: Around {
            uncertain: asked.uncertain.iter().map(|(field, values)| format!("{field}={values}")).collect(),
            paths: neighbours,
        },
        out: asked.out.clone(),
        workers: beside.workers,
        reuse: asked.reuse,
        command: asked.command.clone(),
        typed: asked.command.clone(),
        ..Request::new(BACKENDS, |settings| asked.path.scenario(settings))
    };
    let finished = Experiment::plan(request, beside.progress)?.play(beside.progress, beside.interrupted)?;
    // A result of each, in this order.
    let variants = Sweep::parse(&sweep)?.variants;
    let fields = variants[0].iter().map(Setting::key).collect();
    let value = |setting: &Setting| {
        setting.text().split_once('=').map_or(String::new(), |(_, value)| value.trim().to_owned())
    };
    let values = variants.iter().map(|settings| settings.iter().map(value).collect());
    let style = TextStyle::default();
    let alone = |comparisons: &[Comparison]| comparisons[0].clone();
    Ok(match &finished.found {
        Found::Comparisons(results) => Compared {
            fields,
            points: values.zip(results.iter().map(|results| alone(results.comparisons()))).collect(),
            report: results[0].page(),
            json: results[0].json()?,
            text: results[0].text(&style),
        },
        Found::Sweep(swept) => Compared {
            fields,
            points: values.zip(swept.points().map(|(_, results)| alone(results.comparisons()))).collect(),
            report: swept.pages()[0].clone(),
            json: swept.json().to_owned(),
            text: swept
                .points()
                .map(|(label, results)| format!("{label}\n\n{}", results.text(&style)))
                .collect::<Vec<_>>()
                .join("\n"),
        },
    })
}

/// An item of a comparison, with the values of the swept fields.
struct Of<'a, T> {
    values: &'a [String],
    comparison: &'a Comparison,
    item: T,
}

/// A metric of a row.
type Measured<'a> = (&'a ArmSummary, &'a MetricInfo, &'a Summary);

impl Compared {
    /// Items of all comparisons, in order.
    fn items<'a, T, I: IntoIterator<Item = T>>(&'a self, of: impl Fn(&'a Comparison) -> I) -> Vec<Of<'a, T>> {
        let mut items = Vec::new();
        for (values, comparison) in &self.points {
            items.extend(of(comparison).into_iter().map(|item| Of { values, comparison, item }));
        }
        items
    }

    /// A column for each swept field.
    fn columns<T>(&self, items: &[Of<'_, T>]) -> Columns {
        self.fields.iter().enumerate().fold(Columns::default(), |columns, (index, field)| {
            columns.all::<StringArray, _>(field, items.iter().map(|item| item.values[index].as_str()))
        })
    }

    /// A line for each row and metric, as in `comparison.csv`.
    fn summary(&self) -> PyResult<Table> {
        let lines = self.items(measured);
        let pairs: Vec<_> = lines
            .iter()
            .map(|Of { comparison, item: (arm, info, _), .. }| {
                comparison.pair(&info.id, &arm.label, comparison.leader.as_deref()?)
            })
            .collect();
        let intervals = || lines.iter().map(|line| line.item.2.interval);
        self.columns(&lines)
            .all::<StringArray, _>("algorithm", lines.iter().map(|line| line.item.0.label.as_str()))
            .all::<BooleanArray, _>("yardstick", lines.iter().map(|line| line.item.0.yardstick))
            .all::<StringArray, _>("metric", lines.iter().map(|line| line.item.1.id.as_str()))
            .all::<StringArray, _>("unit", lines.iter().map(|line| line.item.1.unit.as_str()))
            .all::<StringArray, _>("better", lines.iter().map(|line| word(line.item.1.better)))
            .all::<UInt32Array, _>("runs", lines.iter().map(|line| line.item.0.n))
            .all::<UInt32Array, _>("n", lines.iter().map(|line| line.item.2.n))
            .all::<UInt32Array, _>("unfinished", lines.iter().map(|line| line.item.2.unfinished()))
            .all::<Float64Array, _>("mean", lines.iter().map(|line| line.item.2.mean))
            .all::<Float64Array, _>("median", lines.iter().map(|line| line.item.2.median))
            .with::<Float64Array, _>("sd", lines.iter().map(|line| line.item.2.sd))
            .with::<Float64Array, _>("low_95", intervals().map(|interval| Some(interval?.low)))
            .with::<Float64Array, _>("high_95", intervals().map(|interval| Some(interval?.high)))
            .with::<StringArray, _>("interval", intervals().map(|interval| Some(word(interval?.method))))
            .with::<Float64Array, _>("bimodal_p", lines.iter().map(|line| Some(line.item.2.modes?.p)))
            .with::<StringArray, _>("leader", lines.iter().map(|line| line.comparison.leader.as_deref()))
            .with::<Float64Array, _>(
                "difference_from_leader",
                pairs.iter().map(|pair| Some((*pair)?.difference)),
            )
            .with::<Float64Array, _>("ratio_to_leader", pairs.iter().map(|pair| (*pair)?.ratio))
            .with::<StringArray, _>("test", pairs.iter().map(|pair| Some(word((*pair)?.test))))
            .with::<Float64Array, _>("p_holm", pairs.iter().map(|pair| (*pair)?.p))
            .with::<Float64Array, _>("p_equivalence", pairs.iter().map(|pair| (*pair)?.p_equivalence))
            .with::<StringArray, _>("finding", pairs.iter().map(|pair| Some(word((*pair)?.finding))))
            .with::<UInt32Array, _>("runs_needed", pairs.iter().map(|pair| (*pair)?.runs_needed))
            .with::<Float64Array, _>("carries", lines.iter().map(|line| line.item.0.carries))
            .table()
    }

    /// A line for each row, seed and metric, as in `runs.csv`; what the end of a run cut off is there as a lower bound.
    fn runs(&self) -> PyResult<Table> {
        let lines = self.items(|comparison| {
            measured(comparison).flat_map(move |(arm, info, summary)| {
                let known = comparison.seeds.iter().zip(summary.known_or_least()).zip(&summary.values);
                known.filter_map(move |((seed, value), whole)| {
                    Some((arm, info, *seed, value?, whole.is_none()))
                })
            })
        });
        self.columns(&lines)
            .all::<StringArray, _>("algorithm", lines.iter().map(|line| line.item.0.label.as_str()))
            .all::<UInt64Array, _>("seed", lines.iter().map(|line| line.item.2))
            .all::<StringArray, _>("metric", lines.iter().map(|line| line.item.1.id.as_str()))
            .all::<StringArray, _>("unit", lines.iter().map(|line| line.item.1.unit.as_str()))
            .all::<Float64Array, _>("value", lines.iter().map(|line| line.item.3))
            .all::<BooleanArray, _>("at_least", lines.iter().map(|line| line.item.4))
            .table()
    }

    /// Rows against rows, seed by seed.
    fn pairs(&self) -> PyResult<Table> {
        let pairs = self.items(|comparison| &comparison.pairs);
        let all = || pairs.iter().map(|pair| pair.item);
        self.columns(&pairs)
            .all::<StringArray, _>("metric", all().map(|pair| pair.metric.as_str()))
            .all::<StringArray, _>("algorithm", all().map(|pair| pair.arm.as_str()))
            .all::<StringArray, _>("against", all().map(|pair| pair.against.as_str()))
            .all::<UInt32Array, _>("n", all().map(|pair| pair.n))
            .all::<Float64Array, _>("difference", all().map(|pair| pair.difference))
            .with::<Float64Array, _>(
                "difference_low_95",
                all().map(|pair| Some(pair.difference_interval?.low)),
            )
            .with::<Float64Array, _>(
                "difference_high_95",
                all().map(|pair| Some(pair.difference_interval?.high)),
            )
            .with::<Float64Array, _>("ratio", all().map(|pair| pair.ratio))
            .with::<Float64Array, _>("ratio_low_95", all().map(|pair| Some(pair.ratio_interval?.low)))
            .with::<Float64Array, _>("ratio_high_95", all().map(|pair| Some(pair.ratio_interval?.high)))
            .all::<StringArray, _>("test", all().map(|pair| word(pair.test)))
            .with::<Float64Array, _>("p_holm", all().map(|pair| pair.p))
            .with::<Float64Array, _>("p_equivalence", all().map(|pair| pair.p_equivalence))
            .all::<StringArray, _>("finding", all().map(|pair| word(pair.finding)))
            .all::<BooleanArray, _>("at_least", all().map(|pair| pair.at_least))
            .table()
    }

    /// Rows on neighbouring paths: the value of each uncertain field, and what the row did there.
    fn neighbours(&self) -> PyResult<Table> {
        let carries: Vec<(&[String], &Carries)> = self
            .points
            .iter()
            .filter_map(|(values, comparison)| Some((values.as_slice(), comparison.carries.as_ref()?)))
            .collect();
        let mut lines = Vec::new();
        for (values, carries) in &carries {
            for row in &carries.rows {
                for path in 0..carries.neighbourhood.paths.len() {
                    lines.push((*values, *carries, row, path));
                }
            }
        }
        let mut columns =
            self.fields.iter().enumerate().fold(Columns::default(), |columns, (index, field)| {
                columns.all::<StringArray, _>(field, lines.iter().map(|line| line.0[index].as_str()))
            });
        // Uncertain fields are the same at every point of a sweep.
        let uncertain = carries.first().map_or(&[][..], |(_, carries)| &carries.neighbourhood.fields);
        columns = columns
            .all::<UInt64Array, _>("path", lines.iter().map(|line| line.3 as u64))
            .all::<StringArray, _>("algorithm", lines.iter().map(|line| line.2.label.as_str()));
        for (index, field) in uncertain.iter().enumerate() {
            let value = lines.iter().map(|(_, carries, _, path)| {
                Some(carries.neighbourhood.paths[*path].values.get(index)?.as_str())
            });
            columns = columns.with::<StringArray, _>(&field.field, value);
        }
        columns
            .with::<Float64Array, _>("value", lines.iter().map(|line| line.2.values.get(line.3).copied()?))
            .with::<Float64Array, _>("regret", lines.iter().map(|line| line.2.regrets.get(line.3).copied()?))
            .table()
    }
}

/// The metrics of each row that it has.
fn measured(comparison: &Comparison) -> impl Iterator<Item = Measured<'_>> {
    let metrics = |arm| comparison.metrics.iter().filter_map(move |info| measure(arm, info));
    comparison.arms.iter().flat_map(metrics)
}

fn measure<'a>(arm: &'a ArmSummary, info: &'a MetricInfo) -> Option<Measured<'a>> {
    Some((arm, info, arm.metric(&info.id)?))
}

/// The word of a variant, as files have it.
fn word(variant: impl Serialize) -> String {
    match serde_json::to_value(variant) {
        Ok(serde_json::Value::String(word)) => word,
        other => unreachable!("a variant without content is a word, not {other:?}"),
    }
}

//! The comparisons of a sweep together: one page, one JSON, one CSV.

use std::io::Write;
use std::path::{Path, PathBuf};

use rampcc_lab::report::csv_line;
use rampcc_lab::report::html::{Overview, SweptPoint, render_overview};
use rampcc_scenario::Setting;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::Result;
use crate::place::SWEEP_PLAN;
use crate::results::Results;
use crate::sides::relative;
use crate::store::{Store, write_whole};
use crate::version::VERSION;

/// What a directory of a sweep is about: written before the first run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SweepPlan {
    /// Of all comparisons together.
    pub(crate) identity: String,
    version: String,
    /// How to make it again.
    command: String,
    fields: Vec<String>,
    /// In the order of the command.
    pub(crate) points: Vec<Point>,
}

/// One comparison of a sweep.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Point {
    /// The value of each field, as typed.
    values: Vec<String>,
    /// The same with the names of the fields.
    pub(crate) label: String,
    /// Its results directory, relative to that of the sweep where possible.
    pub(crate) place: PathBuf,
}

impl SweepPlan {
    /// For comparisons that each have their settings and their place, seen from `directory`.
    pub(crate) fn new<'a>(
        identity: &str,
        directory: &Path,
        points: impl Iterator<Item = (&'a [Setting], &'a Path)>,
        command: &str,
    ) -> Self {
        let mut fields = Vec::new();
        let points = points.map(|(settings, place)| {
            fields = settings.iter().map(Setting::key).collect();
            let value = |setting: &Setting| {
                setting.text().split_once('=').map_or(String::new(), |(_, value)| value.trim().to_owned())
            };
            Point {
                values: settings.iter().map(value).collect(),
                label: label(settings),
                place: relative(directory, place),
            }
        });
        let points = points.collect();
        Self {
            identity: identity.to_owned(),
            version: VERSION.to_owned(),
            command: command.to_owned(),
            fields,
            points,
        }
    }
}

/// `path.buffer=1 bdp, path.rtt=40 ms`.
pub(crate) fn label(settings: &[Setting]) -> String {
    settings.iter().map(Setting::text).collect::<Vec<_>>().join(", ")
}

/// The comparisons of a sweep together, written to its directory; those that have no results yet are left out.
pub struct Swept {
    files: Store,
    plan: SweepPlan,
    results: Vec<(usize, Results)>,
    json: String,
    csv: String,
    pages: Vec<PathBuf>,
}

impl Swept {
    /// Of comparisons with their number in the plan.
    pub(crate) fn new(files: Store, plan: SweepPlan, results: Vec<(usize, Results)>) -> Result<Self> {
        let points = points(&plan, &results);
        let json = document(&plan, &points)?;
        let csv = table(&plan, &points);
        let write = |name: &str, text: &str| write_whole(&files.path(name), |f| f.write_all(text.as_bytes()));
        write("sweep.json", &json)?;
        write("sweep.csv", &csv)?;
        let sides = points.first().map_or(0, |(_, results)| results.comparisons().len());
        let mut pages = Vec::new();
        for side in 0..sides {
            // Results of several backends have a page each.
            let name = match side {
                0 => "index.html".to_owned(),
                number => format!("index-{}.html", number + 1),
            };
            write(&name, &render_overview(&overview(&plan, &points, side)))?;
            pages.push(files.path(&name));
        }
        Ok(Self { files, plan, results, json, csv, pages })
    }

    /// Its directory.
    pub fn directory(&self) -> PathBuf {
        self.files.path("")
    }

    /// Each comparison with its values: `path.buffer=1 bdp, path.rtt=40 ms`.
    pub fn points(&self) -> impl Iterator<Item = (&str, &Results)> {
        points(&self.plan, &self.results).into_iter().map(|(point, results)| (point.label.as_str(), results))
    }

    /// One document: the comparisons as they are alone, each with its values.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// One table: the rows of each comparison behind a column for each field.
    pub fn csv(&self) -> &str {
        &self.csv
    }

    /// Paths of its pages, one for each backend.
    pub fn pages(&self) -> &[PathBuf] {
        &self.pages
    }
}

fn points<'a>(plan: &'a SweepPlan, results: &'a [(usize, Results)]) -> Vec<(&'a Point, &'a Results)> {
    results.iter().filter_map(|(number, results)| Some((plan.points.get(*number)?, results))).collect()
}

fn overview<'a>(plan: &SweepPlan, points: &[(&Point, &'a Results)], side: usize) -> Overview<'a> {
    let swept = points.iter().filter_map(|(point, results)| {
        Some(SweptPoint {
            values: point.values.clone(),
            report: Some(point.place.join("report.html").to_string_lossy().into_owned()),
            comparison: results.comparisons().get(side)?,
        })
    });
    Overview { fields: plan.fields.clone(), points: swept.collect() }
}

/// One document: the comparisons as they are alone, each with its values.
fn document(plan: &SweepPlan, points: &[(&Point, &Results)]) -> Result<String> {
    let mut comparisons = Vec::new();
    for (point, results) in points {
        let values: Value = plan.fields.iter().cloned().zip(point.values.iter().map(|v| json!(v))).collect();
        comparisons.push(json!({ "values": values, "comparison": results.json_value()? }));
    }
    let document = json!({
        "format": rampcc_lab::report::FORMAT,
        "version": plan.version,
        "command": plan.command,
        "fields": plan.fields,
        "comparisons": comparisons,
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// One table: the rows of each comparison behind a column for each field.
fn table(plan: &SweepPlan, points: &[(&Point, &Results)]) -> String {
    let line = |fields: &[String]| csv_line(fields) + ",";
    let mut table = format!("# version: {}\n# command: {}\n", json!(plan.version), json!(plan.command));
    for (number, (point, results)) in points.iter().enumerate() {
        let csv = results.csv();
        let mut rows = csv.lines().filter(|line| !line.starts_with('#'));
        if let Some(header) = rows.next().filter(|_| number == 0) {
            table.extend([line(&plan.fields).as_str(), header, "\n"]);
        }
        for row in rows {
            table.extend([line(&point.values).as_str(), row, "\n"]);
        }
    }
    table
}

pub(crate) fn write_plan(files: &Store, plan: &SweepPlan) -> Result {
    files.write_json(SWEEP_PLAN, plan)
}

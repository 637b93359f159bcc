//! Results that are on disk, judged again.

use std::path::Path;

use rampcc::figures::{counted, plural};
use rampcc_lab::Comparison;

use crate::error::{ExperimentError, Result};
use crate::neighbours;
use crate::place::{self, PLAN, SIDES_PLAN, SWEEP_PLAN};
use crate::plan::Plan;
use crate::progress::Progress;
use crate::results::Results;
use crate::sides::SidesPlan;
use crate::store::Store;
use crate::sweep::{SweepPlan, Swept};

/// Results of an experiment or of a results directory.
pub enum Found {
    /// One comparison for each scenario that was asked for.
    Comparisons(Vec<Results>),
    /// Comparisons over values of a scenario's fields.
    Sweep(Box<Swept>),
}

/// Judges and reports again what a results directory holds; nothing is played. `on`: of results of several backends, those of one.
pub fn judge_again(directory: &Path, on: Option<&str>, progress: &dyn Progress) -> Result<Found> {
    if directory.join(SWEEP_PLAN).is_file() {
        return Ok(Found::Sweep(Box::new(swept(directory, on, progress)?)));
    }
    if on.is_some() && !directory.join(SIDES_PLAN).is_file() {
        return Err(ExperimentError::Request {
            field: "on",
            problem: format!("chooses a backend, and `{}` holds the results of one", directory.display()),
            help: Some("leave it out".to_owned()),
        });
    }
    Ok(Found::Comparisons(vec![found(directory, on, progress)?]))
}

/// The comparisons of a sweep that have results.
fn swept(directory: &Path, on: Option<&str>, progress: &dyn Progress) -> Result<Swept> {
    let files = Store::bare(directory)?;
    let plan: SweepPlan = files.read_json(SWEEP_PLAN)?;
    // All of them before anything is written.
    let places = plan.points.iter().enumerate().map(|(number, point)| {
        place::named(directory, SWEEP_PLAN, &format!("points[{number}].place"), &point.place)
    });
    let places = places.collect::<Result<Vec<_>, _>>()?;
    let mut results = Vec::new();
    let mut missing = None;
    for (number, (point, place)) in plan.points.iter().zip(&places).enumerate() {
        match found(place, on, progress) {
            Ok(found) => results.push((number, found)),
            Err(error) => {
                progress.on_note(&format!("without {}: {error}", point.label));
                missing = Some(error);
            }
        }
    }
    match missing {
        Some(error) if results.is_empty() => Err(error),
        _ => Swept::new(files, plan, results),
    }
}

/// What a results directory holds, of all its backends or of the one that is asked for.
fn found(directory: &Path, on: Option<&str>, progress: &dyn Progress) -> Result<Results> {
    if !directory.join(SIDES_PLAN).is_file() {
        let (found, departures) = judged(directory, progress)?;
        return Ok(Results::of(vec![found], || Ok(None))?.beside(departures));
    }
    let files = Store::bare(directory)?;
    let plan: SidesPlan = files.read_json(SIDES_PLAN)?;
    let places = plan.sides.iter().enumerate().map(|(number, (_, place))| {
        place::named(directory, SIDES_PLAN, &format!("sides[{number}][1]"), place)
    });
    let places = places.collect::<Result<Vec<_>, _>>()?;
    let mut sides = Vec::new();
    let mut departures = None;
    for ((name, _), place) in plan.sides.iter().zip(&places) {
        if on.is_none_or(|on| on == name) {
            let (found, told) = judged(place, progress)?;
            departures.get_or_insert(told);
            sides.push(found);
        }
    }
    if sides.is_empty() {
        return Err(ExperimentError::input(format!("`{}` has no such results", directory.display())));
    }
    let results = Results::of(sides, || Ok(Some((files, &plan))))?;
    Ok(results.beside(departures.unwrap_or_default()))
}

/// The runs of a results directory, and what rows play with that is not in their algorithms' tables.
fn judged(directory: &Path, progress: &dyn Progress) -> Result<((Store, Comparison), Vec<String>)> {
    let store = Store::open(directory)?;
    let plan: Plan = store.read_json(PLAN)?;
    let records = plan.finished(&store);
    let planned = plan.rows.len() as u64 * plan.runs;
    let real = records.iter().filter(|r| r.extra_startup_rounds == 0).count() as u64;
    if real == 0 {
        return Err(ExperimentError::input_help(
            format!("`{}` has no finished run", directory.display()),
            format!("play them: {}", plan.typed),
        ));
    }
    if real < planned {
        progress.on_note(&format!(
            "{real} of {} {} finished; to play the rest: {}",
            counted(planned, "run"),
            plural(planned, "is", "are"),
            plan.typed
        ));
    }
    let comparison = neighbours::judged(&store, plan.judge(&records))?;
    Ok(((store, comparison), plan.departures()))
}

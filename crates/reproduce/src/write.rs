//! The pages of a gallery, and the same for programs.

use std::io::Write;
use std::path::{Path, PathBuf};

use rampcc::figures::{counted, plural};
use rampcc_experiment::{ExperimentError, write_whole};
use rampcc_lab::report::html::gallery::{Figure, Index, Panel, render_figure, render_index};
use serde_json::{Value, json};

use crate::error::Result;
use crate::judge::{Judged, tally};
use crate::plan::version;

/// Name of the page of all figures.
pub const INDEX: &str = "index.html";

/// Writes a page for each experiment, the index, and `results.json` into a directory, which it makes; returns the index.
///
/// # Errors
///
/// Where a file cannot be written.
pub fn write_gallery(out: &Path, judged: &[Judged], command: &str) -> Result<PathBuf> {
    std::fs::create_dir_all(out).map_err(|cause| ExperimentError::File {
        action: "create",
        path: out.to_path_buf(),
        cause,
    })?;
    let write = |name: &str, text: &str| -> Result<(), ExperimentError> {
        write_whole(&out.join(name), |file| file.write_all(text.as_bytes()))
    };
    for one in judged {
        write(&format!("{}.html", one.id), &render_figure(&one.figure))?;
    }
    let figures: Vec<&Figure> = judged.iter().map(|one| &one.figure).collect();
    let counts = tally(judged);
    let runs: usize = judged.iter().map(|one| one.runs).sum();
    let mut summary = vec![format!(
        "Each card is one figure or table: what it was played with, the plot in the paper's form, and every claim that the paper \
         makes of it with what was measured here. {}, {}.",
        if judged.len() == 1 { "1 entry".to_owned() } else { format!("{} entries", judged.len()) },
        counted(runs, "run")
    )];
    if counts.computed > 0 {
        summary.push(format!(
            "In addition, {} of {} claims about formulae hold, which no run decides.",
            counts.computed_held, counts.computed
        ));
    }
    if counts.contradicted > 0 {
        summary.push(format!(
            "{} (≠) {} contradicted by {} own paper, by its numbers, its algorithm or the simulator that it used. A page shows \
             the proof of each, which counts neither way.",
            counted(counts.contradicted, "more claim"),
            plural(counts.contradicted, "is", "are"),
            plural(counts.contradicted, "its", "their")
        ));
    }
    if counts.held < counts.checked {
        summary.push(
            "A claim that does not hold has the reason that was found on its page, or says that none was."
                .to_owned(),
        );
    }
    let variant = figures.iter().find_map(|figure| figure.variant.as_deref());
    let notice = match (variant, figures.iter().any(|figure| figure.quick.is_some())) {
        (Some(variant), _) => Some(format!("Variants of the experiments: {variant}")),
        (None, true) => {
            Some("Quick: fewer runs and points, and none of what the papers leave open.".to_owned())
        }
        (None, false) => None,
    };
    let index =
        Index { figures, command: command.to_owned(), notice, summary, version: version().to_owned() };
    write(INDEX, &render_index(&index))?;
    let results = serde_json::to_string_pretty(&results(judged, command)).map_err(ExperimentError::from)?;
    write("results.json", &(results + "\n"))?;
    Ok(out.join(INDEX))
}

/// The verdicts of each experiment, as JSON.
///
/// # Errors
///
/// Where a value is no JSON.
pub fn verdicts(judged: &[Judged]) -> Result<String> {
    let claims = |one: &Judged| (one.id.clone(), json!(one.claims));
    let all: serde_json::Map<String, Value> = judged.iter().map(claims).collect();
    Ok(serde_json::to_string_pretty(&all).map_err(ExperimentError::from)?)
}

/// What a plot shows.
fn plot(panel: &Panel) -> Value {
    let series = panel.series.iter().map(|series| {
        let points: Vec<[f64; 2]> = series.points.iter().map(|dot| [dot.x, dot.y]).collect();
        json!({ "label": series.label, "points": points })
    });
    json!({
        "title": panel.title,
        "x": panel.x.label,
        "y": panel.y.label,
        "categories": panel.categories,
        "series": series.collect::<Vec<Value>>(),
    })
}

/// Without times: the same bytes from the same runs.
fn results(judged: &[Judged], command: &str) -> Value {
    let counts = tally(judged);
    let one = |one: &Judged| {
        json!({
            "id": one.id,
            "paper": one.paper.id,
            "title": one.title,
            "kind": one.kind.word(),
            "runs": one.runs,
            "claims": one.claims,
            "plots": one.figure.panels.iter().map(plot).collect::<Vec<Value>>(),
        })
    };
    json!({
        "format": rampcc_lab::report::FORMAT,
        "version": version(),
        "command": command,
        "held": counts.held,
        "checked": counts.checked,
        "computed_held": counts.computed_held,
        "computed": counts.computed,
        "contradicted": counts.contradicted,
        "experiments": judged.iter().map(one).collect::<Vec<Value>>(),
    })
}

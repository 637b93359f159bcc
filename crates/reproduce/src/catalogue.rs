//! The experiments that come with ramp.

use std::path::Path;

use crate::error::{ReproduceError, one_of};
use crate::experiment::Experiment;
use crate::file::Paper;

include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// Identifiers of all, by paper.
pub fn ids() -> impl Iterator<Item = &'static str> + Clone {
    BUILT_IN.iter().map(|(file, _)| id(file))
}

fn id(file: &'static str) -> &'static str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.strip_suffix(".toml").unwrap_or(name)
}

/// All of them, checked.
///
/// # Errors
///
/// What is wrong with one: a test reads all of them.
pub fn built_in() -> Result<Vec<Experiment>, ReproduceError> {
    BUILT_IN.iter().map(|(file, text)| Experiment::read(&format!("experiments/{file}"), text)).collect()
}

/// Those of these names ([`named`]) first, then those of these papers; each once.
///
/// # Errors
///
/// As [`named`].
pub fn chosen(names: &[String], papers: &[Paper]) -> Result<Vec<Experiment>, ReproduceError> {
    let mut chosen: Vec<Experiment> = Vec::new();
    let by_name = names.iter().map(|name| named(name));
    let all = if papers.is_empty() { Vec::new() } else { built_in()? };
    let by_paper = all.into_iter().filter(|one| papers.contains(&one.paper)).map(Ok);
    for experiment in by_name.chain(by_paper) {
        let experiment = experiment?;
        if chosen.iter().all(|known| known.id != experiment.id) {
            chosen.push(experiment);
        }
    }
    Ok(chosen)
}

/// One that comes with ramp, or a file.
///
/// # Errors
///
/// Where there is none of this name, and what is wrong with it.
pub fn named(name: &str) -> Result<Experiment, ReproduceError> {
    if let Some((file, text)) = BUILT_IN.iter().find(|(file, _)| id(file) == name) {
        return Experiment::read(&format!("experiments/{file}"), text);
    }
    let path = Path::new(name);
    if path.extension().is_some_and(|ending| ending == "toml") {
        let text = rampcc_scenario::read_small(path).map_err(|cause| ReproduceError::Input {
            message: format!("cannot read {}: {cause}", path.display()),
            help: Some(
                "name a file with an experiment (docs/guide/reproduce.md), or one of `ramp reproduce --list`"
                    .to_owned(),
            ),
        })?;
        return Experiment::read(name, &text);
    }
    let names = one_of(name, ids());
    Err(ReproduceError::Unknown {
        name: name.to_owned(),
        help: format!("expected the path of a file, or {names}"),
    })
}

/// What [`named`] finds an experiment by: its identifier, or the path of its file.
pub(crate) fn name(experiment: &Experiment) -> &str {
    match experiment.file.strip_prefix("experiments/") {
        Some(file) if BUILT_IN.iter().any(|(known, _)| *known == file) => &experiment.id,
        _ => &experiment.file,
    }
}

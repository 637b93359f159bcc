//! The experiments that come with ramp, and those of other folders.

use std::path::{Path, PathBuf};

use crate::error::{ReproduceError, Result, one_of};
use crate::experiment::Experiment;
use crate::order::parts;
use crate::paper::{Paper, papers};

include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// The file that says what the experiments next to it are of.
const PAPER: &str = "paper.toml";

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
pub fn built_in() -> Result<Vec<Experiment>> {
    let papers = papers()?;
    let read =
        |(file, text): &(&str, &str)| Experiment::read_of(&format!("experiments/{file}"), text, &papers);
    BUILT_IN.iter().map(read).collect()
}

/// Those of these names first, then those of the papers with these identifiers; each once. A name is one of [`ids`], the path
/// of a file, or a folder of files.
///
/// # Errors
///
/// As [`named`].
pub fn chosen(names: &[String], papers: &[String]) -> Result<Vec<Experiment>> {
    let mut all: Vec<Experiment> = Vec::new();
    for name in names {
        if BUILT_IN.iter().all(|(file, _)| id(file) != name) && Path::new(name).is_dir() {
            let files = files(Path::new(name))?;
            all.extend(files.iter().map(|file| from_file(file)).collect::<Result<Vec<_>, _>>()?);
        } else {
            all.push(named(name)?);
        }
    }
    if !papers.is_empty() {
        all.extend(built_in()?.into_iter().filter(|one| papers.contains(&one.paper.id)));
    }
    let mut chosen: Vec<Experiment> = Vec::new();
    for experiment in all {
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
pub fn named(name: &str) -> Result<Experiment> {
    if let Some((file, text)) = BUILT_IN.iter().find(|(file, _)| id(file) == name) {
        return Experiment::read(&format!("experiments/{file}"), text);
    }
    let path = Path::new(name);
    if path.extension().is_some_and(|ending| ending == "toml") {
        return from_file(path);
    }
    let names = one_of(name, ids());
    Err(ReproduceError::Unknown {
        name: name.to_owned(),
        help: format!("expected the path of a file or of a folder of files, or {names}"),
    })
}

/// A file, of a paper that comes with ramp or of the one that the [`PAPER`] next to it describes.
fn from_file(path: &Path) -> Result<Experiment> {
    let mut papers = papers()?;
    let beside = path.with_file_name(PAPER);
    if beside.is_file() {
        let own = Paper::read(&beside.display().to_string(), &read(&beside)?)?;
        papers.retain(|paper| paper.id != own.id);
        papers.push(own);
    }
    Experiment::read_of(&path.display().to_string(), &read(path)?, &papers)
}

fn read(path: &Path) -> Result<String> {
    rampcc_scenario::read_small(path)
        .map_err(|cause| unreadable(path, &cause, "name a file with an experiment (docs/guide/reproduce.md)"))
}

/// The experiments of a folder, Figure 2 before Figure 10.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let wrong = |cause| unreadable(folder, &cause, "name a folder of experiments (docs/guide/reproduce.md)");
    let entries = std::fs::read_dir(folder).map_err(wrong)?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    let is_one =
        |path: &PathBuf| path.extension().is_some_and(|ending| ending == "toml") && !path.ends_with(PAPER);
    let mut files: Vec<PathBuf> = paths.into_iter().filter(is_one).collect();
    files.sort_by_cached_key(|path| parts(&path.to_string_lossy()));
    if files.is_empty() {
        return Err(ReproduceError::Input {
            message: format!("{} has no experiment", folder.display()),
            help: Some("expected files that end in .toml (docs/guide/reproduce.md)".to_owned()),
        });
    }
    Ok(files)
}

fn unreadable(path: &Path, cause: &dyn std::fmt::Display, instead: &str) -> ReproduceError {
    ReproduceError::Input {
        message: format!("cannot read {}: {cause}", path.display()),
        help: Some(format!("{instead}, or one of `ramp reproduce --list`")),
    }
}

/// What [`named`] finds an experiment by: its identifier, or the path of its file.
pub(crate) fn name(experiment: &Experiment) -> &str {
    match experiment.file.strip_prefix("experiments/") {
        Some(file) if BUILT_IN.iter().any(|(known, _)| *known == file) => &experiment.id,
        _ => &experiment.file,
    }
}

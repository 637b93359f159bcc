//! The sources of experiments, as data: a `paper.toml` next to their files.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::catalogue::PAPERS;
use crate::error::{Result, Source};

/// A source of experiments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paper {
    /// As experiments and the command line have it.
    pub id: String,
    /// For people.
    pub name: String,
    /// Who wrote it, where and when.
    pub reference: String,
    /// Place in lists.
    pub(crate) place: u32,
    /// Settings that its experiments share, by name.
    pub(crate) sets: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    id: Spanned<String>,
    name: String,
    reference: String,
    #[serde(default = "last")]
    place: u32,
    #[serde(default)]
    set: BTreeMap<String, Vec<String>>,
}

fn last() -> u32 {
    u32::MAX
}

impl Paper {
    /// From the text of a `paper.toml`.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with it, with its place.
    pub fn read(file: &str, text: &str) -> Result<Self> {
        let source = Source { file, text };
        let found: File = toml::from_str(text).map_err(|error| source.unreadable(&error))?;
        source.identifier(&found.id)?;
        let File { id, name, reference, place, set } = found;
        Ok(Self { id: id.into_inner(), name, reference, place, sets: set })
    }

    /// Each of these once, in the order of lists.
    pub fn in_order<'p>(papers: impl Iterator<Item = &'p Self>) -> Vec<&'p Self> {
        let mut papers: Vec<&Self> = papers.collect();
        papers.sort_by_key(|paper| (paper.place, &paper.id));
        papers.dedup();
        papers
    }
}

/// Those that come with ramp, in the order of lists.
///
/// # Errors
///
/// What is wrong with one: a test reads all of them.
pub fn papers() -> Result<Vec<Paper>> {
    let read = |(file, text): &(&str, &str)| Paper::read(&format!("experiments/{file}"), text);
    let papers = PAPERS.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    Ok(Paper::in_order(papers.iter()).into_iter().cloned().collect())
}

/// Identifiers of those that come with ramp: the names of their folders.
pub fn paper_ids() -> impl Iterator<Item = &'static str> + Clone {
    PAPERS.iter().filter_map(|(file, _)| file.split('/').next())
}

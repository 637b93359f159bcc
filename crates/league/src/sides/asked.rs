//! What people ask of it, and the files that they get.

use std::io::Write;
use std::path::{Path, PathBuf};

use rampcc_backend::Backend;
use rampcc_experiment::{Asked, Playable, Result, Sweep, VERSION, hexadecimal, playable, write_whole};
use sha2::{Digest, Sha256};

use super::{Agreement, Sides, page, text};

use crate::asked::Extent;
use crate::play::SIZES;
use crate::population::Population;

/// Paths of a sample, and the largest download: real time is dear.
const SAMPLE: (u32, u64) = (40, 10_000_000);
const QUICK: (u32, u64) = (8, 1_000_000);

/// What is asked for; nothing: what a sample has by default.
#[derive(Clone, Copy, Debug)]
pub struct SampleAsked<'a> {
    /// Fewer paths, and smaller downloads.
    pub quick: bool,
    /// Number of paths.
    pub paths: Option<u32>,
    /// Bytes.
    pub sizes: &'a [u64],
    /// Runs of each.
    pub seeds: Option<u32>,
}

impl Extent {
    /// A sample of what `backend` carries ([`Population::sample`]): forty paths, downloads of 10 MB at most, one run each; `quick`: eight
    /// paths and 1 MB, where nothing else is asked for.
    pub fn sample(population: Population, asked: &SampleAsked<'_>, backend: &dyn Backend) -> Result<Self> {
        let &SampleAsked { quick, paths: count, sizes, seeds } = asked;
        let (paths, largest) = if quick { QUICK } else { SAMPLE };
        let mut wanted = sizes.to_vec();
        if wanted.is_empty() {
            wanted.extend(SIZES.into_iter().filter(|size| *size <= largest));
        }
        wanted.sort_unstable();
        wanted.dedup();
        let largest = wanted.last().copied().unwrap_or(largest);
        let count = count.unwrap_or(paths) as usize;
        let population = population.sample(backend, count, largest)?;
        Ok(Self { population, sizes: wanted, seeds: seeds.unwrap_or(1) })
    }
}

/// The rows that are named (none: all) as `backend` plays them, one of `backends`, of which the first is the simulator; and those
/// that are left out. Without names, its own controls that the simulator knows are among them.
pub fn rows(named: &[String], backends: &[&dyn Backend], backend: &dyn Backend) -> Result<Playable> {
    const EVERY: &str = "all";
    let every = [EVERY.to_owned()];
    let named = if named.is_empty() { &every } else { named };
    let everything = named.iter().any(|text| text.split(',').any(|row| row.trim() == EVERY));
    let rows = Sweep::parse(&[])?.rows(named, backends)?;
    let mut found = playable(&rows, backend, Asked { named: !everything, alone: true })?;
    found.here.retain(|row| !row.brought || row.simulated().is_some());
    Ok(found)
}

/// What is left in a directory.
#[derive(Clone, Debug)]
pub struct Files {
    /// The judgement as JSON.
    pub json: String,
    /// Every download time as CSV.
    pub csv: String,
    /// Path of the page.
    pub report: PathBuf,
}

impl Sides {
    /// Writes the judgement, the download times and the page, which `command` makes again, to a directory.
    pub fn write(&self, directory: &Path, judged: &Agreement, command: &str) -> Result<Files> {
        let stem = Path::new(&self.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let [first, second] = self.backends;
        let stem = stem.unwrap_or_else(|| "paths".to_owned());
        let set = if self.title == self.name {
            String::new()
        } else {
            format!("-{}", hexadecimal(&Sha256::digest(&self.title)[..3]))
        };
        let stem = format!("league-{stem}{set}-{first}-{second}");
        let write = |ending: &str, text: &str| -> Result<PathBuf> {
            let path = directory.join(format!("{stem}.{ending}"));
            write_whole(&path, |file| file.write_all(text.as_bytes()))?;
            Ok(path)
        };
        let json = serde_json::to_string_pretty(judged)? + "\n";
        let csv = text::csv(self);
        write("json", &json)?;
        write("csv", &csv)?;
        let report = write("html", &page(judged, VERSION, command))?;
        Ok(Files { json, csv, report })
    }
}

//! Submissions: candidates scored on paths and seeds that are drawn after them.

use std::fs;
use std::path::{Path, PathBuf};

use rampcc_experiment::{ExperimentError, Result, Row, VERSION, hexadecimal, write_whole};
use rampcc_scenario::Setting;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::judge::Table;
use crate::play::League;
use crate::population::{EDITION, Population, Which};

/// Of the record's form.
const FORMAT: u32 = 1;
/// Hexadecimal digits of a draw: too many to try them all, and no more than a hash has.
const DIGITS: std::ops::RangeInclusive<usize> = 32..=64;

/// A header and what was drawn for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Submission {
    /// Name of the header.
    pub file: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// What became public after that.
    pub draw: String,
    /// Seed of the population.
    pub population: u64,
    /// First seed of the runs on each path.
    pub run_seed: u32,
}

/// SHA-256 of a header.
pub fn submission_digest(header: &Path) -> Result<String> {
    let bytes = fs::read(header).map_err(|cause| ExperimentError::Request {
        field: "submit",
        problem: format!("names a file that cannot be read, {}: {cause}", header.display()),
        help: Some("a C header that defines an algorithm, FILE.h".to_owned()),
    })?;
    Ok(hexadecimal(&Sha256::digest(bytes)))
}

impl Submission {
    /// Of a header, with a draw of 32 to 64 hexadecimal digits.
    pub fn new(header: &Path, draw: &str) -> Result<Self> {
        let sha256 = submission_digest(header)?;
        let draw = draw.to_ascii_lowercase();
        if !DIGITS.contains(&draw.len()) || !draw.chars().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(ExperimentError::Request {
                field: "draw",
                problem: format!("is `{draw}`"),
                help: Some(
                    "32 to 64 hexadecimal digits, such as the value of a public randomness beacon".to_owned(),
                ),
            });
        }
        let drawn = Sha256::digest(format!("{EDITION}\n{sha256}\n{draw}\n"));
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let file = header.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self {
            file,
            sha256,
            draw,
            population: number(&drawn[..6]),
            run_seed: number(&drawn[6..9]) as u32 + 1,
        })
    }

    /// The paths that were drawn, with their seeds.
    pub fn population(&self) -> Result<Population> {
        let seed = Setting::parse(&format!("seed={}", self.run_seed))?;
        Population::open(&Which::Fresh(self.population))?.with(&[seed])
    }

    /// Writes the record of a submission's league to `directory`. The same header, draw and version make the same bytes.
    pub fn write(&self, directory: &Path, league: &League, table: &Table) -> Result<PathBuf> {
        let record = Record {
            format: FORMAT,
            edition: EDITION,
            version: VERSION,
            submission: self,
            paths: league.paths.iter().map(|path| path.name.as_str()).collect(),
            sizes: &league.sizes,
            seeds: league.seeds,
            table,
        };
        let text = serde_json::to_string_pretty(&record)? + "\n";
        let stem = self.file.trim_end_matches(".h");
        let path = directory.join(format!("submission-{stem}-{}.json", &self.sha256[..8]));
        write_whole(&path, |file| std::io::Write::write_all(file, text.as_bytes()))?;
        Ok(path)
    }
}

/// Refuses a row that gets the path's values.
pub fn submittable(row: &Row) -> Result {
    if !row.yardstick() {
        return Ok(());
    }
    Err(ExperimentError::Request {
        field: "submit",
        problem: format!("names `{}`, which knows the path in advance", row.label),
        help: Some("a row without the trait of a yardstick".to_owned()),
    })
}

#[derive(Serialize)]
struct Record<'a> {
    format: u32,
    edition: &'a str,
    version: &'a str,
    submission: &'a Submission,
    paths: Vec<&'a str>,
    sizes: &'a [u64],
    /// Runs of each algorithm on each path that has anything random.
    seeds: u32,
    table: &'a Table,
}

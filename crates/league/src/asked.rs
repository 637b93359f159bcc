//! What people ask of a league, and the files that they get.

use std::io::Write;
use std::path::{Path, PathBuf};

use rampcc::Traits;
use rampcc_backend::Backend;
use rampcc_experiment::{ExperimentError, Result, Row, Sweep, VERSION, hexadecimal, write_whole};
use rampcc_lab::report::FORMAT;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::candidate::{self, Apart};
use crate::judge::Table;
use crate::play::{League, SIZES};
use crate::population::Population;
use crate::{page, text};

/// Sizes of downloads that a run tells the times of, as people write them.
pub const KNOWN_SIZES: [(&str, u64); 13] = [
    ("10kB", 10_000),
    ("20kB", 20_000),
    ("50kB", 50_000),
    ("100kB", 100_000),
    ("200kB", 200_000),
    ("500kB", 500_000),
    ("1MB", 1_000_000),
    ("2MB", 2_000_000),
    ("5MB", 5_000_000),
    ("10MB", 10_000_000),
    ("20MB", 20_000_000),
    ("50MB", 50_000_000),
    ("100MB", 100_000_000),
];
/// Runs of each algorithm on a path, unless others are asked for.
const SEEDS: u32 = 3;
/// Of a quick league: paths of each access type, and the largest size.
const QUICK: (usize, u64) = (4, 10_000_000);

/// How much to play.
#[derive(Clone, Debug)]
pub struct Extent {
    /// The paths, with downloads of no more than the largest size.
    pub population: Population,
    /// Sizes, ascending.
    pub sizes: Vec<u64>,
    /// Runs of each algorithm on each path that has anything random.
    pub seeds: u32,
}

impl Extent {
    /// Without `sizes`, the league's own; without `seeds`, 3. `quick`: four paths of each access type, downloads of 10 MB at most, one
    /// run each, where nothing else is asked for.
    pub fn new(population: Population, quick: bool, sizes: &[u64], seeds: Option<u32>) -> Result<Self> {
        let mut wanted = if sizes.is_empty() { SIZES.to_vec() } else { sizes.to_vec() };
        wanted.sort_unstable();
        wanted.dedup();
        let mut population = population;
        if quick {
            population = population.of_each(QUICK.0);
            if sizes.is_empty() {
                wanted.retain(|size| *size <= QUICK.1);
            }
        }
        let largest = wanted.last().copied().unwrap_or(0);
        let seeds = seeds.unwrap_or(if quick { 1 } else { SEEDS });
        Ok(Self { population: population.up_to(largest)?, sizes: wanted, seeds })
    }
}

/// The rows that are named (none: all, unless there is a candidate), with the yardstick, plain slow start and what Linux does, which are
/// always among them, and candidates, compiled and played as `apart` says. The first of `backends` plays: a control of another one's own is what it
/// has by the same name.
pub fn entrants(
    named: &[String],
    candidates: &[String],
    apart: &Apart,
    backends: &[&dyn Backend],
) -> Result<Vec<Row>> {
    let mut named = named.to_vec();
    if named.is_empty() && candidates.is_empty() {
        named.push("all".to_owned());
    }
    let ideal = rampcc::having(Traits::KNOWS_PATH).map(|algorithm| algorithm.id);
    for always in [rampcc::standard().id, rampcc::of_cubic().id].into_iter().chain(ideal) {
        let mut rows = named.iter().flat_map(|text| text.split(',')).map(str::trim);
        if !rows.any(|row| row == always || row == "all") {
            named.push(always.to_owned());
        }
    }
    let mut rows: Vec<Row> = Sweep::parse(&[])?.rows(&named, backends)?;
    if let Some(backend) = backends.first() {
        rows = rows.iter().map(|row| row.on(*backend)).collect();
    }
    for row in &rows {
        if let Some(control) = row.control()
            && backends.first().is_none_or(|backend| !backend.controls().contains(control))
        {
            return Err(ExperimentError::Request {
                field: "algorithms",
                problem: format!("names `{}`, which is {}", row.label, control.meaning),
                help: Some(format!("--on {}, or algorithms of `ramp list algorithms`", control.backend)),
            });
        }
    }
    if let Some(backend) = backends.first() {
        rows = met(rows, *backend)?;
    }
    let more = candidate::candidates(candidates, apart, &rows)?;
    Ok(rows.into_iter().chain(more).collect())
}

/// Without those whose needs the backend does not meet: an error if they were named. The yardstick is what a path allows, and
/// every backend plays it.
fn met(rows: Vec<Row>, backend: &dyn Backend) -> Result<Vec<Row>> {
    let unmet = |row: &Row| row.unmet(backend).filter(|_| !row.yardstick());
    let named = rows.iter().filter(|row| !row.brought);
    if let Some((label, reason)) = named.into_iter().find_map(|row| Some((&row.label, unmet(row)?))) {
        return Err(ExperimentError::Request {
            field: "algorithms",
            problem: format!("names what {} cannot play: {label}: {reason}", backend.title()),
            help: Some("--on sim, which meets every need".to_owned()),
        });
    }
    Ok(rows.into_iter().filter(|row| unmet(row).is_none()).collect())
}

/// What a judged league leaves in its directory.
#[derive(Clone, Debug)]
pub struct Files {
    /// The table as JSON.
    pub json: String,
    /// Every download time as CSV.
    pub csv: String,
    /// Path of the page.
    pub report: PathBuf,
}

impl League {
    /// Writes the table, the download times, everything kept of the runs, and the page, which `command` makes again, to a directory.
    /// A part of a population, or of the algorithms, has files of its own.
    pub fn write(&self, directory: &Path, judged: &Table, command: &str) -> Result<Files> {
        let stem = self.stem(judged);
        let write = |ending: &str, text: &str| -> Result<PathBuf> {
            let path = directory.join(format!("{stem}{ending}"));
            write_whole(&path, |file| file.write_all(text.as_bytes()))?;
            Ok(path)
        };
        let json = Document { format: FORMAT, version: VERSION, command, seeds: self.seeds, table: judged };
        let json = serde_json::to_string_pretty(&json)? + "\n";
        let csv = text::csv(self);
        write(".json", &json)?;
        write(".csv", &csv)?;
        write("-runs.csv", &text::runs(self, VERSION, command))?;
        let report = write(".html", &page(self, judged, VERSION, command))?;
        Ok(Files { json, csv, report })
    }

    /// `league-public`; with a digest of what is asked for if that is a part, or with settings or weights. For the paths of a file,
    /// `league-FILE`.
    fn stem(&self, judged: &Table) -> String {
        let file = Path::new(&self.name);
        let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = format!("league-{}", name.unwrap_or_else(|| "paths".to_owned()));
        let alike = judged.weights.windows(2).all(|pair| (pair[0].1 - pair[1].1).abs() < 1e-9);
        let plain = self.title == self.name && alike;
        if file.extension().is_some() && plain {
            return name;
        }
        let labels: Vec<&str> = self.rows.iter().map(|row| row.label.as_str()).collect();
        let all = rampcc::algorithms();
        let every = labels.len() == all.len() && all.iter().all(|algorithm| labels.contains(&algorithm.id));
        if every && plain && self.sizes == SIZES && self.seeds == SEEDS {
            return name;
        }
        let paths: Vec<&str> = self.paths.iter().map(|path| path.name.as_str()).collect();
        let mut asked = serde_json::to_vec(&(labels, paths, &self.sizes, self.seeds)).expect("plain data");
        if self.title != self.name {
            asked.extend(self.title.as_bytes());
        }
        if !alike {
            asked.extend(serde_json::to_vec(&judged.weights).expect("plain data"));
        }
        format!("{name}-{}", hexadecimal(&Sha256::digest(asked)[..3]))
    }
}

/// A table and where it comes from.
#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    version: &'a str,
    command: &'a str,
    /// Runs of each algorithm on each path that has anything random.
    seeds: u32,
    #[serde(flatten)]
    table: &'a Table,
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use rampcc_backend::{BackendError, Clock, Control, Play, Played};
    use rampcc_scenario::Scenario;
    use rampcc_sim::Simulator;
    use rampcc_trace::Observer;

    use super::*;

    const fn control(name: &'static str) -> Control {
        let meaning = "the kernel's own";
        Control {
            name,
            owner: "kernel",
            backend: "kernel",
            meaning,
            simulated_by: Some(rampcc::Traits::OF_BBR),
            like: None,
            definition: "",
        }
    }

    /// It has controls of its own, one of which is called as an algorithm is.
    struct Kernel;

    impl Backend for Kernel {
        fn name(&self) -> &'static str {
            "kernel"
        }
        fn identity(&self) -> String {
            String::new()
        }
        fn clock(&self) -> Clock {
            Clock::Real
        }
        fn controls(&self) -> &'static [Control] {
            const CONTROLS: [Control; 2] = [control("bbr"), control("other")];
            &CONTROLS
        }
        fn check(&self, _: &Scenario, _: Option<&Control>) -> Result<(), Vec<String>> {
            Ok(())
        }
        fn run(&self, _: &Play<'_>, _: &mut dyn Observer, _: &AtomicBool) -> Result<Played, BackendError> {
            Err(BackendError::Refused("nobody plays here".to_owned()))
        }
    }

    #[test]
    fn an_algorithm_plays_though_another_backend_has_a_control_of_its_name() {
        let found = |named: &str| {
            let named = [named.to_owned()];
            entrants(&named, &[], &Apart::new("cc", "", &[]), &[&Simulator, &Kernel]).map(|found| {
                found.into_iter().map(|row| (row.label.clone(), row.control())).collect::<Vec<_>>()
            })
        };
        for named in ["bbr", "modern,bbr", "all,bbr"] {
            let found = found(named).unwrap();
            assert_eq!(found.iter().filter(|(label, _)| label == "bbr").count(), 1, "{named}: {found:?}");
            assert!(found.iter().all(|(_, control)| control.is_none()), "{named}: {found:?}");
        }
        let error = found("other").unwrap_err();
        assert!(error.to_string().contains("names `other`, which is the kernel's own"), "{error}");
    }
}

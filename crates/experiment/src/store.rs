//! Store of results: one file per run, found again by everything that decides the run.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use rampcc_lab::{RunKey, RunRecord};
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::error::{ExperimentError, Result};
use crate::log::Log;

/// A results directory: finished runs, found again by everything that decides them, and other files.
///
/// A run is a file of its own in `runs`, compressed or not, or a line of `runs.jsonl`; it is looked for in all of them, whichever
/// has played it and for whatever question.
#[derive(Clone, Debug)]
pub struct Store {
    shelf: Shelf,
    /// True to keep runs as lines of one file: there may be a hundred thousand of them.
    lines: bool,
    /// True to compress the file of a run.
    compressed: bool,
    /// Other results directories whose runs may serve here.
    relatives: Vec<Shelf>,
}

/// Finished runs of a directory that are lines of one file.
pub(crate) const RUNS: &str = "runs.jsonl";
/// Bytes of a run that are unpacked at most: a directory may come from another user.
const LARGEST: u64 = 256 << 20;
/// Ending of a compressed run.
const COMPRESSED: &str = "gz";

/// Where runs lie.
#[derive(Clone, Debug)]
struct Shelf {
    directory: PathBuf,
    /// Those in one file; `None`: there is no such file.
    log: Option<Arc<Log>>,
}

impl Shelf {
    fn find(&self, name: &str, key: &RunKey) -> Option<RunRecord> {
        let same = |record: &RunRecord| record.key() == *key;
        let path = self.directory.join(name);
        let file = || read_run(&path).or_else(|| read_run(&compressed(&path)));
        let line = || self.log.as_ref()?.get(&digest_of(key));
        file().filter(same).or_else(|| line().filter(same))
    }

    fn has(&self, name: &str, key: &RunKey) -> bool {
        let path = self.directory.join(name);
        self.log.as_ref().is_some_and(|log| log.has(&digest_of(key)))
            || path.is_file()
            || compressed(&path).is_file()
    }
}

impl Store {
    /// Open a directory, made if it does not exist, that keeps a file for each run.
    pub fn create(directory: &Path) -> Result<Self> {
        let store = Self::of(directory, Log::read(directory));
        make(&store.runs())?;
        Ok(store)
    }

    /// The same with compressed files: runs with bins of their flows take a quarter of the place.
    pub fn create_compressed(directory: &Path) -> Result<Self> {
        Ok(Self { compressed: true, ..Self::create(directory)? })
    }

    /// Open a directory, made if it does not exist, that keeps runs as lines of one file.
    pub fn lines(directory: &Path) -> Result<Self> {
        let store = Self::bare(directory)?;
        let log = Some(Log::append(directory)?);
        Ok(Self { lines: true, ..Self::of(&store.shelf.directory, log) })
    }

    /// Open a directory for files alone, made if it does not exist.
    pub fn bare(directory: &Path) -> Result<Self> {
        make(directory)?;
        Ok(Self::of(directory, None))
    }

    /// Open a directory that has results.
    pub fn open(directory: &Path) -> Result<Self> {
        let store = Self::of(directory, Log::read(directory));
        if store.runs().is_dir() {
            return Ok(store);
        }
        Err(ExperimentError::input_help(
            format!("`{}` is not a results directory", directory.display()),
            "name a directory that `ramp compare` wrote; it prints where",
        ))
    }

    fn of(directory: &Path, log: Option<Log>) -> Self {
        let shelf = Shelf { directory: directory.to_path_buf(), log: log.map(Arc::new) };
        Self { shelf, lines: false, compressed: false, relatives: Vec::new() }
    }

    /// A file of this directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.shelf.directory.join(name)
    }

    /// The same, taking runs from other results directories as well.
    #[must_use]
    pub fn with_relatives(self, relatives: Vec<PathBuf>) -> Self {
        let shelf = |directory: PathBuf| {
            let log = Log::read(&directory).map(Arc::new);
            Shelf { directory, log }
        };
        Self { relatives: relatives.into_iter().map(shelf).collect(), ..self }
    }

    /// The run with this key, if it is finished; it may have been played for another row or question. A file that is damaged or
    /// of another layout counts as absent.
    pub fn load(&self, key: &RunKey) -> Option<RunRecord> {
        self.shelf.find(&run_name(key), key)
    }

    /// The same of the other directories.
    pub(crate) fn borrow(&self, key: &RunKey) -> Option<RunRecord> {
        let name = run_name(key);
        self.relatives.iter().find_map(|shelf| shelf.find(&name, key))
    }

    /// Whether this directory seems to have the run with this key: it may turn out to be damaged.
    pub fn has(&self, key: &RunKey) -> bool {
        self.shelf.has(&run_name(key), key)
    }

    /// All finished runs of this directory that have a file; damaged ones and those of another layout are left out.
    pub fn all_runs(&self) -> impl ParallelIterator<Item = RunRecord> {
        let entries = fs::read_dir(self.runs()).into_iter().flatten().flatten();
        let files = entries
            .map(|entry| entry.path())
            .filter(|p| p.extension().is_some_and(|e| e == "json" || e == COMPRESSED));
        files.par_bridge().filter_map(|path| read_run(&path))
    }

    /// Keep a finished run.
    pub fn save(&self, record: &RunRecord) -> Result {
        let key = record.key();
        match self.shelf.log.as_ref().filter(|_| self.lines) {
            // What all runs of a directory say alike would be its larger half.
            Some(log) => log.keep(&digest_of(&key), &lean(record.clone())),
            None if self.compressed => {
                let text = serde_json::to_vec(record).expect("a record is plain data");
                write_whole(&compressed(&self.path(&run_name(&key))), |out| {
                    let mut packed = GzEncoder::new(out, Compression::default());
                    packed.write_all(&text)?;
                    packed.finish().map(drop)
                })
            }
            None => self.write_json(&run_name(&key), record),
        }
    }

    /// Read a JSON file of this directory.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let path = self.path(name);
        let text = fs::read_to_string(&path).map_err(ExperimentError::file("read", &path))?;
        serde_json::from_str(&text).map_err(|cause| {
            ExperimentError::input_help(
                format!("`{}` cannot be understood: {cause}", path.display()),
                "it may come from another version; run `ramp compare` again",
            )
        })
    }

    /// Write a JSON file of this directory, whole or not at all.
    pub fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result {
        write_whole(&self.path(name), |out| {
            serde_json::to_writer(&mut *out, value)?;
            out.write_all(b"\n")
        })
    }

    fn runs(&self) -> PathBuf {
        self.path("runs")
    }
}

/// Makes a directory and those above it. A file in its place is a wrong argument, not a fault of the disk.
fn make(directory: &Path) -> Result {
    fs::create_dir_all(directory).map_err(|cause| match cause.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => ExperimentError::input_help(
            format!("results cannot go to {}: {} is a file", directory.display(), in_the_way(directory)),
            "name a directory; it need not exist",
        ),
        _ => ExperimentError::file("create", directory)(cause),
    })
}

/// The part of a directory's path that is a file.
fn in_the_way(directory: &Path) -> std::path::Display<'_> {
    directory.ancestors().find(|place| place.is_file()).unwrap_or(directory).display()
}

/// A record without what all runs of a comparison say alike: there may be very many of them.
pub(crate) fn lean(mut record: RunRecord) -> RunRecord {
    record.provenance.command = String::new();
    record.provenance.scenario_text = String::new();
    record
}

fn read_run(path: &Path) -> Option<RunRecord> {
    let bytes = fs::read(path).ok()?;
    if path.extension().is_none_or(|ending| ending != COMPRESSED) {
        return serde_json::from_slice(&bytes).ok();
    }
    // What is cut off there is no JSON, and is played again.
    let mut text = Vec::new();
    GzDecoder::new(bytes.as_slice()).take(LARGEST).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Where the same run lies compressed.
fn compressed(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".");
    name.push(COMPRESSED);
    name.into()
}

/// Of everything that decides a run.
fn digest_of(key: &RunKey) -> String {
    let digest = Sha256::digest(serde_json::to_vec(key).expect("a key is plain data"));
    hexadecimal(&digest[..16])
}

/// Where a run lies in its directory: readable first, then a digest of the key.
fn run_name(key: &RunKey) -> String {
    let later = match key.extra_startup_rounds {
        0 => String::new(),
        rounds => format!("-later{rounds}"),
    };
    // The owner of a backend's own control stands before it, the parameters of an algorithm behind.
    let algorithm = key.steering.split(' ').take_while(|word| !word.contains('=')).last().unwrap_or_default();
    format!("runs/{}-{}{later}-{}.json", file_name_part(algorithm), key.seed, digest_of(key))
}

/// Two digits per byte.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string grows");
        text
    })
}

/// At most 60 letters that every file system takes.
pub(crate) fn file_name_part(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+') { c } else { '-' };
    text.chars().map(plain).take(60).collect()
}

/// Files begun by this process.
static WRITES: AtomicU64 = AtomicU64::new(0);

/// Writes a file under another name next to its place and moves it there once it is complete.
pub fn write_whole(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    // Two threads may write the same file.
    name.push(format!(".{}-{}.part", process::id(), WRITES.fetch_add(1, Ordering::Relaxed)));
    let part = path.with_file_name(name);
    let written = File::create(&part).and_then(|file| {
        let mut out = BufWriter::new(file);
        fill(&mut out)?;
        out.flush()?;
        drop(out);
        fs::rename(&part, path)
    });
    if written.is_err() {
        // The first error is the one to report; nothing half-written may stay.
        let _ = fs::remove_file(&part);
    }
    written.map_err(ExperimentError::file("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_plain() {
        assert_eq!(file_name_part("hystart low_window=32/ü"), "hystart-low_window-32--");
        assert_eq!(file_name_part(&"x".repeat(300)).len(), 60);
    }

    #[test]
    fn a_failed_write_leaves_nothing() {
        let directory = std::env::temp_dir().join(format!("ramp-store-{}", process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("file");
        let error = write_whole(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("disk full"))
        });
        assert!(error.unwrap_err().to_string().contains("disk full"));
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
        fs::remove_dir_all(&directory).unwrap();
    }
}

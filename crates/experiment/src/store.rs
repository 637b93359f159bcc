//! Store of results: one file per run, found again by everything that decides the run.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use rampcc_lab::{RunKey, RunRecord};
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::error::ExperimentError;

/// A results directory.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
    /// Other results directories whose runs may serve here.
    relatives: Vec<PathBuf>,
}

impl Store {
    /// Open a directory, made if it does not exist.
    pub fn create(directory: &Path) -> Result<Self, ExperimentError> {
        let store = Self { directory: directory.to_path_buf(), relatives: Vec::new() };
        let runs = store.runs();
        fs::create_dir_all(&runs).map_err(ExperimentError::file("create", &runs))?;
        Ok(store)
    }

    /// Open a directory for files alone, made if it does not exist.
    pub fn bare(directory: &Path) -> Result<Self, ExperimentError> {
        fs::create_dir_all(directory).map_err(ExperimentError::file("create", directory))?;
        Ok(Self { directory: directory.to_path_buf(), relatives: Vec::new() })
    }

    /// Open a directory that has results.
    pub fn open(directory: &Path) -> Result<Self, ExperimentError> {
        let store = Self { directory: directory.to_path_buf(), relatives: Vec::new() };
        if store.runs().is_dir() {
            return Ok(store);
        }
        Err(ExperimentError::input_help(
            format!("`{}` is not a results directory", directory.display()),
            "name a directory that `ramp compare` wrote; it prints where",
        ))
    }

    /// A file of this directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The same, taking runs from other results directories as well.
    #[must_use]
    pub fn with_relatives(self, relatives: Vec<PathBuf>) -> Self {
        Self { relatives, ..self }
    }

    /// The run with this key, if it is finished, as one of the row `label`; it may have been played for another, and is
    /// copied if it lies in another directory. A file that is damaged or of another layout counts as absent.
    pub fn load(&self, key: &RunKey, label: &str) -> Option<RunRecord> {
        let name = run_name(key);
        let mut record = read_run(&self.path(&name), key).or_else(|| {
            let record = self.relatives.iter().find_map(|place| read_run(&place.join(&name), key))?;
            self.save(&record).ok()?;
            Some(record)
        })?;
        label.clone_into(&mut record.provenance.arm);
        Some(record)
    }

    /// All finished runs of this directory; damaged files and those of another layout are left out.
    pub fn all_runs(&self) -> impl ParallelIterator<Item = RunRecord> {
        let entries = fs::read_dir(self.runs()).into_iter().flatten().flatten();
        let files = entries.map(|entry| entry.path()).filter(|p| p.extension().is_some_and(|e| e == "json"));
        files.par_bridge().filter_map(|path| serde_json::from_slice(&fs::read(path).ok()?).ok())
    }

    /// Keep a finished run.
    pub fn save(&self, record: &RunRecord) -> Result<(), ExperimentError> {
        self.write_json(&run_name(&record.key()), record)
    }

    /// Read a JSON file of this directory.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<T, ExperimentError> {
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
    pub fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<(), ExperimentError> {
        write_whole(&self.path(name), |out| {
            serde_json::to_writer(&mut *out, value)?;
            out.write_all(b"\n")
        })
    }

    fn runs(&self) -> PathBuf {
        self.path("runs")
    }
}

fn read_run(path: &Path, key: &RunKey) -> Option<RunRecord> {
    let record: RunRecord = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (record.key() == *key).then_some(record)
}

/// Where a run lies in its directory: readable first, then a digest of the key.
fn run_name(key: &RunKey) -> String {
    let digest = Sha256::digest(serde_json::to_vec(key).expect("a key is plain data"));
    let later = match key.extra_startup_rounds {
        0 => String::new(),
        rounds => format!("-later{rounds}"),
    };
    // The owner of a backend's own control stands before it, the parameters of an algorithm behind.
    let algorithm = key.steering.split(' ').take_while(|word| !word.contains('=')).last().unwrap_or_default();
    format!("runs/{}-{}{later}-{}.json", file_name_part(algorithm), key.seed, hexadecimal(&digest[..16]))
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

/// Write a file under another name beside its place and move it there once it is complete.
pub fn write_whole(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), ExperimentError> {
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

//! What is finished, in one file: a line for each run under a digest of all that decides it.
//!
//! A line is written at once and whole, so that a process that dies leaves at most one broken line at the end; it counts as
//! absent, and the next one begins on a line of its own.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rampcc_experiment::ExperimentError;
pub(crate) use rampcc_experiment::hexadecimal;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Results by key.
#[derive(Debug)]
pub(crate) struct Log<T> {
    path: PathBuf,
    found: BTreeMap<String, T>,
    file: Mutex<File>,
}

#[derive(Deserialize)]
struct Read1<T> {
    key: String,
    run: T,
}

#[derive(Serialize)]
struct Written<'a, T> {
    key: &'a str,
    run: &'a T,
}

impl<T: Serialize + DeserializeOwned + Clone> Log<T> {
    /// The file of a directory, made if it does not exist.
    pub(crate) fn open(directory: &Path, name: &str) -> Result<Self, ExperimentError> {
        let failed = |action: &'static str, path: &Path| {
            let path = path.to_path_buf();
            move |cause| ExperimentError::File { action, path, cause }
        };
        std::fs::create_dir_all(directory).map_err(failed("create", directory))?;
        let path = directory.join(name);
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            .open(&path)
            .map_err(failed("open", &path))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed("read", &path))?;
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Read1<T>>(line).ok());
        let found = lines.map(|line| (line.key, line.run)).collect();
        if bytes.last().is_some_and(|last| *last != b'\n') {
            file.write_all(b"\n").map_err(failed("write", &path))?;
        }
        Ok(Self { path, found, file: Mutex::new(file) })
    }

    /// The result with this key, if it was there when the file was opened.
    pub(crate) fn get(&self, key: &str) -> Option<T> {
        self.found.get(key).cloned()
    }

    /// Keep a result.
    pub(crate) fn keep(&self, key: &str, run: &T) -> Result<(), ExperimentError> {
        let mut line = serde_json::to_string(&Written { key, run })?;
        line.push('\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(line.as_bytes()).map_err(|cause| ExperimentError::File {
            action: "write",
            path: self.path.clone(),
            cause,
        })
    }
}

//! Finished runs in one file: a line for each, under a digest of all that decides it.
//!
//! A line is written at once and whole, so that a process that dies leaves at most one broken line at the end; it counts as
//! absent, and the next one begins on a line of its own. Of the lines only their places stay in memory.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rampcc_lab::RunRecord;
use serde::{Deserialize, Serialize};

use crate::error::{ExperimentError, Result};
use crate::store::RUNS;

/// Runs by key.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    /// Where the line of a key begins, and how long it is, bytes.
    found: BTreeMap<String, Line>,
    file: Mutex<File>,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    at: u64,
    bytes: usize,
}

#[derive(Deserialize)]
struct Found {
    run: RunRecord,
}

#[derive(Serialize)]
struct Written<'a> {
    key: &'a str,
    run: &'a RunRecord,
}

/// How a line begins, before the key.
const HEAD: &[u8] = b"{\"key\":\"";

impl Log {
    /// The file of a directory that has one, to be read.
    pub(crate) fn read(directory: &Path) -> Option<Self> {
        let path = directory.join(RUNS);
        let file = File::open(&path).ok()?;
        Self::of(path, file).ok().map(|(log, _)| log)
    }

    /// The file of a directory, made if it does not exist.
    pub(crate) fn append(directory: &Path) -> Result<Self> {
        let path = directory.join(RUNS);
        let failed = |action: &'static str| {
            let path = path.clone();
            move |cause| ExperimentError::File { action, path, cause }
        };
        let file = OpenOptions::new().create(true).append(true).read(true).open(&path);
        let file = file.map_err(failed("open"))?;
        let (log, broken) = Self::of(path.clone(), file).map_err(failed("read"))?;
        if broken {
            log.write(b"\n")?;
        }
        Ok(log)
    }

    /// And whether its last line has no end.
    fn of(path: PathBuf, file: File) -> std::io::Result<(Self, bool)> {
        let mut found = BTreeMap::new();
        let mut reader = BufReader::new(&file);
        let (mut at, mut line, mut broken) = (0, Vec::new(), false);
        loop {
            line.clear();
            let bytes = reader.read_until(b'\n', &mut line)?;
            if bytes == 0 {
                break;
            }
            broken = line.last() != Some(&b'\n');
            let key = line.strip_prefix(HEAD).and_then(|rest| rest.split(|byte| *byte == b'"').next());
            if let Some(key) = key.and_then(|key| std::str::from_utf8(key).ok()).filter(|_| !broken) {
                found.insert(key.to_owned(), Line { at, bytes });
            }
            at += bytes as u64;
        }
        Ok((Self { path, found, file: Mutex::new(file) }, broken))
    }

    /// Whether there is a line of this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.found.contains_key(key)
    }

    /// The run with this key, if it was there when the file was opened.
    pub(crate) fn get(&self, key: &str) -> Option<RunRecord> {
        let line = self.found.get(key)?;
        let mut text = vec![0; line.bytes];
        {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(line.at)).ok()?;
            file.read_exact(&mut text).ok()?;
        }
        Some(serde_json::from_slice::<Found>(&text).ok()?.run)
    }

    pub(crate) fn keep(&self, key: &str, run: &RunRecord) -> Result {
        let mut line = serde_json::to_vec(&Written { key, run })?;
        line.push(b'\n');
        self.write(&line)
    }

    fn write(&self, bytes: &[u8]) -> Result {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(bytes).map_err(ExperimentError::file("write", &self.path))
    }
}

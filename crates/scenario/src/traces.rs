//! Files beside a scenario: measured links, measured delays, lists of flows. Sizes are bounded.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::built_in;
use crate::document::Value;
use crate::error::{ScenarioError, listed, shortened};
use crate::model::{Scenario, TraceFile};

/// What a scenario calls files that come with ramp.
const OURS: &str = "ramp:";
/// Largest file read, after decompression.
const FILE_MAX: u64 = 256 << 20;
/// Largest scenario file.
pub(crate) const SCENARIO_MAX: u64 = 4 << 20;

/// Where files are looked for, and which ones were read.
#[derive(Debug, Default)]
pub(crate) struct Files {
    directory: Option<PathBuf>,
    pub(crate) read: Vec<TraceFile>,
}

impl Files {
    pub(crate) fn new(directory: Option<&Path>) -> Self {
        Self { directory: directory.map(Path::to_owned), read: Vec::new() }
    }

    /// The text of the file that `value` names.
    pub(crate) fn text(&mut self, value: &Value<'_>) -> Result<String, ScenarioError> {
        const ALLOWED: &str = "the path of a readable text file, plain or .gz, relative to the scenario file";
        let name = value.text()?;
        let (path, text) = match (name.strip_prefix(OURS), &self.directory) {
            (Some(ours), _) => {
                let packed = built_in::trace(ours).ok_or_else(|| {
                    let allowed: Vec<_> =
                        Scenario::built_in_traces().map(|name| format!("{OURS}{name}")).collect();
                    let problem = format!("no file {} comes with ramp", shortened(name));
                    value.error(&problem, &listed(allowed.iter().map(String::as_str)))
                })?;
                (PathBuf::from(name), unpacked(packed, FILE_MAX))
            }
            (None, Some(directory)) => {
                let path = directory.join(name);
                let text = read_text(&path, FILE_MAX);
                (path, text)
            }
            (None, None) => (PathBuf::from(name), read_text(Path::new(name), FILE_MAX)),
        };
        let text = text.map_err(|problem| {
            value.error(&format!("cannot read {}: {problem}", shortened(name)), ALLOWED)
        })?;
        let checksum = fnv1a(text.as_bytes());
        if !self.read.iter().any(|f| f.path == path) {
            self.read.push(TraceFile { path, checksum });
        }
        Ok(text)
    }
}

/// Lines that hold something, numbered from 1; `#` begins a comment.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line.split('#').next().unwrap_or_default().trim()))
        .filter(|(_, line)| !line.is_empty())
}

/// What came through pipes, by their names: a pipe can be read once, and a scenario and what it names are read for each value of
/// a sweep and each neighbour.
static PIPED: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());

/// The text of a file or a pipe, decompressed if it begins as gzip does, and never more than `limit` bytes of it.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<String, String> {
    let plain = |e: std::io::Error| e.to_string();
    let metadata = std::fs::metadata(path).map_err(plain)?;
    let read = || unpacked(std::fs::File::open(path).map_err(plain)?, limit);
    if metadata.is_dir() {
        return Err("it is a directory".to_owned());
    }
    if metadata.is_file() {
        return read();
    }
    let mut piped = PIPED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = piped.get(path) {
        return Ok(text.clone());
    }
    let text = read()?;
    piped.insert(path.to_owned(), text.clone());
    Ok(text)
}

fn unpacked(mut file: impl Read, limit: u64) -> Result<String, String> {
    let plain = |e: std::io::Error| e.to_string();
    let mut start = Vec::new();
    file.by_ref().take(2).read_to_end(&mut start).map_err(plain)?;
    let gzip = start == [0x1f, 0x8b];
    let whole = std::io::Cursor::new(start).chain(file);
    let mut bytes = Vec::new();
    let read = if gzip {
        flate2::read::MultiGzDecoder::new(whole).take(limit + 1).read_to_end(&mut bytes)
    } else {
        whole.take(limit + 1).read_to_end(&mut bytes)
    };
    read.map_err(plain)?;
    if bytes.len() as u64 > limit {
        return Err(format!("it is larger than {} MiB", limit >> 20));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}

//! Files next to a scenario: measured links, measured delays, lists of flows. Sizes are bounded.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rampcc::Time;
use rampcc_path::{Opportunities, Propagation};

use crate::built_in;
use crate::document::Value;
use crate::error::{Result, listed, shortened};

/// What a scenario calls files that come with ramp.
pub(crate) const OURS: &str = "ramp:";
/// Largest file read, after decompression.
const FILE_MAX: u64 = 256 << 20;
/// Largest scenario file.
pub(crate) const SCENARIO_MAX: u64 = 4 << 20;

/// A trace file that a scenario was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFile {
    /// Place where it was found.
    pub path: PathBuf,
    /// FNV-1a of its uncompressed contents: tells whether results are still those of this file.
    pub checksum: u64,
}

/// Where files are looked for, and which ones were read.
#[derive(Debug, Default)]
pub(crate) struct Files {
    pub(crate) directory: Option<PathBuf>,
    pub(crate) read: Vec<TraceFile>,
    pub(crate) traces: Traces,
}

/// Traces that were read, each once: a scenario and the paths around it share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traces {
    parsed: Arc<Mutex<BTreeMap<Kind, Parsed>>>,
    /// Contents of files that are not looked for elsewhere.
    carried: Arc<BTreeMap<PathBuf, String>>,
}

impl Traces {
    /// None yet, of files with these contents.
    pub(crate) fn carried(files: BTreeMap<PathBuf, String>) -> Self {
        Self { carried: Arc::new(files), ..Self::default() }
    }

    pub(crate) fn read(&self, path: &Path) -> Result<String, String> {
        self.carried.get(path).map_or_else(|| read_text(path, FILE_MAX), |text| Ok(text.clone()))
    }
}

/// What a file was read as.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Capacity(PathBuf),
    /// With what is added to each of its delays.
    Delay(PathBuf, Time),
}

/// A file with what it holds.
#[derive(Clone, Debug)]
struct Parsed {
    file: TraceFile,
    values: Arc<[Time]>,
}

impl Files {
    pub(crate) fn new(directory: Option<&Path>, traces: &Traces) -> Self {
        Self { directory: directory.map(Path::to_owned), read: Vec::new(), traces: traces.clone() }
    }

    pub(crate) fn opportunities(&mut self, value: &Value<'_>) -> Result<Opportunities> {
        const ALLOWED: &str =
            "a mahimahi trace: one whole number of milliseconds per line, in order, the last above 0";
        let at = self.once(value, Kind::Capacity, |text| match Opportunities::parse(text) {
            Ok(trace) => Ok(trace.at),
            Err(wrong) => Err(value.error(&wrong.to_string(), ALLOWED)),
        })?;
        Ok(Opportunities::mahimahi(at))
    }

    /// The one-way delays in the file that `value` names, each with `constant` on top.
    pub(crate) fn delays(&mut self, value: &Value<'_>, constant: Time) -> Result<Arc<[Time]>> {
        const ALLOWED: &str = "a file with one delay in milliseconds per line";
        let kind = |path| Kind::Delay(path, constant);
        self.once(value, kind, |text| match Propagation::parse_delays(text) {
            Ok(delays) => Ok(delays.into_iter().map(|delay| delay + constant).collect()),
            Err(wrong) => Err(value.error(&wrong.to_string(), ALLOWED)),
        })
    }

    fn once(
        &mut self,
        value: &Value<'_>,
        kind: impl Fn(PathBuf) -> Kind,
        parse: impl Fn(&str) -> Result<Arc<[Time]>>,
    ) -> Result<Arc<[Time]>> {
        let kind = kind(self.path(value.text()?));
        let known = self.traces.parsed.lock().unwrap_or_else(PoisonError::into_inner).get(&kind).cloned();
        if let Some(Parsed { file, values }) = known {
            self.note(file);
            return Ok(values);
        }
        let (file, text) = self.open(value)?;
        let values = parse(&text)?;
        let parsed = Parsed { file, values: Arc::clone(&values) };
        self.traces.parsed.lock().unwrap_or_else(PoisonError::into_inner).insert(kind, parsed);
        Ok(values)
    }

    pub(crate) fn text(&mut self, value: &Value<'_>) -> Result<String> {
        self.open(value).map(|(_, text)| text)
    }

    fn path(&self, name: &str) -> PathBuf {
        match &self.directory {
            Some(directory) if !name.starts_with(OURS) => directory.join(name),
            _ => PathBuf::from(name),
        }
    }

    fn open(&mut self, value: &Value<'_>) -> Result<(TraceFile, String)> {
        const ALLOWED: &str = "the path of a readable text file, plain or .gz, relative to the scenario file";
        let name = value.text()?;
        let path = self.path(name);
        let text = match name.strip_prefix(OURS) {
            Some(ours) => {
                let packed = built_in::trace(ours).ok_or_else(|| {
                    let allowed: Vec<_> = built_in::traces().map(|name| format!("{OURS}{name}")).collect();
                    let problem = format!("no file {} comes with ramp", shortened(name));
                    value.error(&problem, &listed(allowed.iter().map(String::as_str)))
                })?;
                unpacked(packed, FILE_MAX)
            }
            None => self.traces.read(&path),
        };
        let text = text.map_err(|problem| {
            value.error(&format!("cannot read {}: {problem}", shortened(name)), ALLOWED)
        })?;
        let file = TraceFile { path, checksum: fnv1a(text.as_bytes()) };
        self.note(file.clone());
        Ok((file, text))
    }

    fn note(&mut self, file: TraceFile) {
        if !self.read.iter().any(|known| known.path == file.path) {
            self.read.push(file);
        }
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

/// The text of a small file or a pipe, as a scenario is one: of `/dev/zero` or a trace, that it is too large.
pub fn read_small(path: &Path) -> Result<String, String> {
    read_text(path, SCENARIO_MAX)
}

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

pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}

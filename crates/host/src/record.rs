//! What ramp has done to this host, on record before it is done.
//!
//! Each attachment has a file in the directory of records, and the same text in a pinned map beside its pins, so that
//! either may be lost.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType, libbpf_sys};
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use crate::error::HostError;
use crate::files::{Directory, PUBLIC, make_directory};
use crate::host::Host;
use crate::target::{Replaced, Target};

/// Changes when older records can no longer be read.
const VERSION: u32 = 1;
const BOOT: &str = "/proc/sys/kernel/random/boot_id";
const EXTENSION: &str = "json";
const LOCK: &str = "lock";
const MIRROR: &str = "record";
/// Room for a record in its map. A route of 100 next hops takes half of it.
const MIRROR_BYTES: usize = 16 << 10;

/// An attachment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    version: u32,
    /// The kernel's pins and settings do not outlive a boot.
    boot: String,
    /// As the user named it.
    pub(crate) scope: String,
    pub(crate) target: Target,
    /// What was there before the first attachment.
    pub(crate) replaced: Replaced,
    pub(crate) phase: Phase,
    /// Those that may be in the kernel, the one in force first.
    pub(crate) instances: Vec<Instance>,
}

/// How far a change has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Phase {
    /// The first instance is on its way in.
    Attaching,
    /// The first instance is in force; others have had their time.
    Attached,
    /// The first instance is in force, the last one on its way in.
    Replacing,
    /// All are on their way out.
    Detaching,
}

/// An algorithm in the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Instance {
    /// Counts the instances of an attachment; names the directory of its pins.
    pub(crate) number: u32,
    pub(crate) algorithm: String,
    /// In the order of the algorithm's table.
    pub(crate) parameters: Vec<u64>,
    /// In the kernel.
    pub(crate) name: String,
    /// Seconds since 1970.
    pub(crate) since_s: u64,
}

/// What is known of an attachment.
#[derive(Debug)]
pub(crate) enum Entry {
    Known(Box<Record>),
    /// From before the last boot: only the file is left.
    Stale(Box<Record>),
    /// Pins without a record that can be read.
    Lost,
}

impl Record {
    pub(crate) fn new(
        scope: String,
        target: Target,
        replaced: Replaced,
        instance: Instance,
    ) -> Result<Self, HostError> {
        let (phase, instances) = (Phase::Attaching, vec![instance]);
        Ok(Self { version: VERSION, boot: boot()?, scope, target, replaced, phase, instances })
    }

    /// The instance in force, as far as the record says.
    pub(crate) fn current(&self) -> Option<&Instance> {
        self.instances.first().filter(|_| matches!(self.phase, Phase::Attached | Phase::Replacing))
    }
}

impl Host {
    /// Waits until no other process changes this host through the same records.
    pub(crate) fn lock(&self) -> Result<Flock<File>, HostError> {
        let path = self.records().join(LOCK);
        let directory = Directory::make(self.records()).map_err(HostError::file("make", self.records()))?;
        let file = directory.private(LOCK).map_err(HostError::file("open", &path))?;
        Flock::lock(file, FlockArg::LockExclusive)
            .map_err(|(_, error)| HostError::file("lock", &path)(error.into()))
    }

    /// Puts a record on disk, whole or not at all, and then into its map if there is one.
    pub(crate) fn write(&self, record: &Record) -> Result<(), HostError> {
        let text = serde_json::to_vec_pretty(record).expect("a record is plain data");
        if text.len() > MIRROR_BYTES {
            let advice = "choose another scope: system, netns or cgroup";
            return Err(HostError::refused(
                "what would be replaced is too long to be kept on record",
                advice,
            ));
        }
        let (path, name) = (self.record_file(&record.target.key()), file_name(&record.target.key()));
        self.step("draft the record");
        Directory::open(self.records())
            .and_then(|records| {
                records.write(&name, &text, PUBLIC, || self.step("put the record in its place"))
            })
            .map_err(HostError::file("write", &path))?;
        let mirror = self.mirror(&record.target.key());
        if mirror.exists() {
            self.step("copy the record beside the pins");
            let map = MapHandle::from_pinned_path(&mirror)
                .map_err(io::Error::other)
                .map_err(HostError::file("open", &mirror))?;
            fill(&map, text).map_err(HostError::file("write", &mirror))?;
        }
        Ok(())
    }

    /// Makes the directory of an attachment's pins, and the map for its record therein.
    pub(crate) fn make_mirror(&self, key: &str) -> Result<(), HostError> {
        let directory = self.pins().join(key);
        self.step("make the directory of the pins");
        make_directory(&directory).map_err(HostError::file("make", &directory))?;
        let path = self.mirror(key);
        if path.exists() {
            return Ok(());
        }
        let options = libbpf_sys::bpf_map_create_opts {
            sz: size_of::<libbpf_sys::bpf_map_create_opts>() as libbpf_sys::size_t,
            ..Default::default()
        };
        ramp_linux::explained("making a map", || {
            let mut map = MapHandle::create(
                MapType::Array,
                Some("ramp_record"),
                size_of::<u32>() as u32,
                MIRROR_BYTES as u32,
                1,
                &options,
            )?;
            self.step("pin the map of the record");
            map.pin(&path)
        })?;
        Ok(())
    }

    /// Forgets an attachment, whose pins are gone.
    pub(crate) fn erase(&self, key: &str) -> Result<(), HostError> {
        self.step("remove the map of the record");
        remove(&self.mirror(key), fs::remove_file)?;
        self.step("remove the directory of the pins");
        remove(&self.pins().join(key), fs::remove_dir)?;
        self.step("remove the record");
        let name = file_name(key);
        let forget = || -> io::Result<()> {
            let records = match Directory::open(self.records()) {
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
                records => records?,
            };
            records.remove(&name)?;
            records.sweep(&name)?;
            // Drafts had this name once.
            records.remove(&format!("{key}.new"))
        };
        forget().map_err(HostError::file("remove", &self.record_file(key)))
    }

    /// Every attachment that has left a record or pins, in order of their keys.
    pub(crate) fn entries(&self) -> Result<Vec<(String, Entry)>, HostError> {
        let mut keys = self.recorded_keys()?;
        keys.extend(names(self.pins())?);
        self.entries_of(keys)
    }

    /// Every attachment that has left a record.
    pub(crate) fn recorded_entries(&self) -> Result<Vec<(String, Entry)>, HostError> {
        self.entries_of(self.recorded_keys()?)
    }

    fn recorded_keys(&self) -> Result<BTreeSet<String>, HostError> {
        let files = names(self.records())?;
        let key = |name: &String| name.strip_suffix(&format!(".{EXTENSION}")).map(str::to_owned);
        Ok(files.iter().filter_map(key).collect())
    }

    fn entries_of(&self, keys: BTreeSet<String>) -> Result<Vec<(String, Entry)>, HostError> {
        keys.into_iter().map(|key| self.entry(&key).map(|entry| (key, entry))).collect()
    }

    pub(crate) fn entry(&self, key: &str) -> Result<Entry, HostError> {
        let text = Directory::open(self.records()).and_then(|records| records.read(&file_name(key)));
        let from_file = match text {
            Ok(text) => text.and_then(|text| serde_json::from_slice::<Record>(&text).ok()),
            // What is no file of ours says nothing.
            Err(cause) if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => {
                None
            }
            Err(cause) => return Err(HostError::file("read", &self.record_file(key))(cause)),
        };
        let record = from_file
            .or_else(|| self.read_mirror(key))
            .filter(|record| record.version == VERSION && record.target.key() == key);
        let boot = boot()?;
        Ok(match record {
            Some(record) if record.boot == boot => Entry::Known(Box::new(record)),
            Some(record) => Entry::Stale(Box::new(record)),
            None => Entry::Lost,
        })
    }

    /// Whether an attachment of this key has left anything.
    pub(crate) fn has_entry(&self, key: &str) -> bool {
        self.record_file(key).exists() || self.pins().join(key).exists()
    }

    pub(crate) fn record_file(&self, key: &str) -> PathBuf {
        self.records().join(file_name(key))
    }

    /// Where an instance's pins are.
    pub(crate) fn instance(&self, key: &str, instance: &Instance) -> PathBuf {
        self.pins().join(key).join(instance.number.to_string())
    }

    fn mirror(&self, key: &str) -> PathBuf {
        self.pins().join(key).join(MIRROR)
    }

    fn read_mirror(&self, key: &str) -> Option<Record> {
        let map = MapHandle::from_pinned_path(self.mirror(key)).ok()?;
        let text = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
        let length = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
        serde_json::from_slice(&text[..length]).ok()
    }
}

fn file_name(key: &str) -> String {
    format!("{key}.{EXTENSION}")
}

fn fill(map: &MapHandle, mut text: Vec<u8>) -> io::Result<()> {
    text.resize(MIRROR_BYTES, 0);
    map.update(&0u32.to_ne_bytes(), &text, MapFlags::ANY).map_err(io::Error::other)
}

fn names(directory: &Path) -> Result<Vec<String>, HostError> {
    match fs::read_dir(directory) {
        Ok(entries) => Ok(entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect()),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(cause) => Err(HostError::file("read", directory)(cause)),
    }
}

/// What is not there need not be removed.
fn remove(path: &Path, how: fn(PathBuf) -> io::Result<()>) -> Result<(), HostError> {
    match how(path.to_path_buf()) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(HostError::file("remove", path)(cause)),
        _ => Ok(()),
    }
}

fn boot() -> Result<String, HostError> {
    fs::read_to_string(BOOT).map(|id| id.trim().to_owned()).map_err(HostError::file("read", Path::new(BOOT)))
}

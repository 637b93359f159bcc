//! Records of ramp's changes to this host, written before each change.
//!
//! Each attachment has a file in the directory of records, and the same text in a pinned map next to its pins, so that
//! either may be lost.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType, libbpf_sys};
use rampcc_linux::{Guard, Held};
use serde::{Deserialize, Serialize};

use crate::attach::is_named_after;
use crate::error::{HostError, Result};
use crate::files::{Directory, PUBLIC, make_directory};
use crate::host::Host;
use crate::target::{Replaced, Target};

/// Grows when a record is written in a way that older versions would not understand. Every version reads what came
/// before it: an upgrade must be able to roll back what is attached.
const VERSION: u32 = 1;
const BOOT: &str = "/proc/sys/kernel/random/boot_id";
const EXTENSION: &str = "json";
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
    /// The unit of a service manager that has attached it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unit: Option<String>,
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
    /// Seconds since 1970, as the clock was then.
    pub(crate) since_s: u64,
    /// Seconds since the boot, which cannot be set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) since_boot_s: Option<u64>,
    #[serde(default)]
    pub(crate) limits: Limits,
}

/// [`Guard`] on record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Limits {
    least_rtt_us: u32,
    window_bound: u32,
}

impl From<Guard> for Limits {
    fn from(Guard { least_rtt_us, window_bound }: Guard) -> Self {
        Self { least_rtt_us, window_bound }
    }
}

impl From<Limits> for Guard {
    fn from(Limits { least_rtt_us, window_bound }: Limits) -> Self {
        Self { least_rtt_us, window_bound }
    }
}

/// What is known of an attachment.
#[derive(Debug)]
pub(crate) enum Entry {
    Known(Box<Record>),
    /// From before the last boot: only the file is left.
    Stale(Box<Record>),
    /// Written by a later version, in its format of this number.
    Foreign(u32),
    /// Its record may not be read by this user, and has no copy.
    Unreadable(io::Error),
    /// Pins without a record.
    Lost,
}

/// What every version's records begin with.
#[derive(Deserialize)]
struct Head {
    version: u32,
    boot: String,
}

impl Record {
    pub(crate) fn new(scope: String, target: Target, replaced: Replaced, instance: Instance) -> Result<Self> {
        let (phase, instances) = (Phase::Attaching, vec![instance]);
        Ok(Self { version: VERSION, boot: boot()?, scope, unit: None, target, replaced, phase, instances })
    }

    /// Whether it may be acted on: it is of this attachment, and speaks only of what [`Host::attach`] could have done.
    fn is_sound(&self, key: &str) -> bool {
        let replaced = match (&self.target, &self.replaced) {
            (Target::Default { .. }, Replaced::CongestionControl(name)) => may_be_set(name),
            (Target::Route { prefix, .. }, Replaced::Route(route)) => {
                route.leads_to(prefix) && route.congestion_control.as_deref().is_none_or(may_be_set)
            }
            (Target::Cgroup { .. }, Replaced::Nothing) => true,
            _ => false,
        };
        let plain = |text: &str| !text.chars().any(char::is_control);
        let ours = |instance: &Instance| is_named_after(&instance.name, &instance.algorithm);
        self.target.key() == key
            && plain(&self.scope)
            && self.unit.as_deref().is_none_or(plain)
            && replaced
            && !self.instances.is_empty()
            && self.instances.iter().all(ours)
    }

    /// Whether it is of this target, or of one that had its name: a control group is made again, and older versions did
    /// not always put a route's metric on record.
    pub(crate) fn is_of(&self, target: &Target) -> bool {
        match (&self.target, target, &self.replaced) {
            (Target::Cgroup { path, .. }, Target::Cgroup { path: other, .. }, _) => path == other,
            (Target::Route { netns, .. }, Target::Route { netns: other, prefix }, Replaced::Route(route)) => {
                netns == other && route.leads_to(prefix)
            }
            _ => self.target == *target,
        }
    }

    /// The instance in force, as far as the record says.
    pub(crate) fn current(&self) -> Option<&Instance> {
        self.instances.first().filter(|_| matches!(self.phase, Phase::Attached | Phase::Replacing))
    }
}

impl Host {
    /// Puts a record on disk, whole or not at all, and then into its map if there is one.
    pub(crate) fn write(&self, record: &Record) -> Result {
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
        if let Some(held) = Held::open(&mirror).map_err(HostError::file("open", &mirror))? {
            self.step("copy the record next to the pins");
            let map = MapHandle::from_pinned_path(held.path())
                .map_err(io::Error::other)
                .map_err(HostError::file("open", &mirror))?;
            fill(&map, text).map_err(HostError::file("write", &mirror))?;
        }
        Ok(())
    }

    /// Makes the directory of an attachment's pins, and the map for its record therein.
    pub(crate) fn make_mirror(&self, key: &str) -> Result {
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
        rampcc_linux::explained("making a map", || {
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
    pub(crate) fn erase(&self, key: &str) -> Result {
        self.step("remove the map of the record");
        self.clear_pins(key, false).map_err(HostError::file("remove", &self.mirror(key)))?;
        self.step("remove the directory of the pins");
        self.clear_pins(key, true).map_err(HostError::file("remove", &self.pins().join(key)))?;
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

    /// Removes the map of an attachment's record, then the directory of its pins. Others may write there.
    fn clear_pins(&self, key: &str, directory: bool) -> io::Result<()> {
        let pins = match Directory::open(self.pins()) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
            pins => pins?,
        };
        if directory {
            return pins.remove_directory(key);
        }
        match pins.below(key) {
            Ok(Some(own)) => own.remove(MIRROR).and_then(|()| own.remove_links()),
            Ok(None) => Ok(()),
            // A link, behind which nothing is ours.
            Err(cause) if cause.kind() == io::ErrorKind::InvalidData => Ok(()),
            Err(cause) => Err(cause),
        }
    }

    /// Every attachment that has left a record or pins, in order of their keys.
    pub(crate) fn entries(&self) -> Result<Vec<(String, Entry)>> {
        let mut keys = self.recorded_keys()?;
        // Anything else there is not ramp's.
        keys.extend(names(self.pins())?.into_iter().filter(|name| is_key(name)));
        self.entries_of(keys)
    }

    /// Every attachment that has left a record.
    pub(crate) fn recorded_entries(&self) -> Result<Vec<(String, Entry)>> {
        self.entries_of(self.recorded_keys()?)
    }

    fn recorded_keys(&self) -> Result<BTreeSet<String>> {
        let files = names(self.records())?;
        let key = |name: &String| name.strip_suffix(&format!(".{EXTENSION}")).map(str::to_owned);
        Ok(files.iter().filter_map(key).filter(|key| is_key(key)).collect())
    }

    /// Removes the drafts that dead processes have left. The lock must be held: older versions locked no drafts.
    pub(crate) fn sweep(&self) -> io::Result<()> {
        let records = Directory::open(self.records())?;
        for name in records.names()? {
            let draft = name.strip_suffix(".new");
            if draft.is_some_and(is_key) {
                records.remove(&name)?;
            }
            let whole =
                draft.and_then(|draft| draft.strip_prefix('.')?.rsplit_once('.')).map(|(name, _)| name);
            let key = whole.and_then(|whole| whole.strip_suffix(&format!(".{EXTENSION}")));
            if let Some(key) = key.filter(|key| is_key(key)) {
                records.sweep(&file_name(key))?;
            }
        }
        Ok(())
    }

    fn entries_of(&self, keys: BTreeSet<String>) -> Result<Vec<(String, Entry)>> {
        keys.into_iter().map(|key| self.entry(&key).map(|entry| (key, entry))).collect()
    }

    pub(crate) fn entry(&self, key: &str) -> Result<Entry> {
        let boot = boot()?;
        let (file, unreadable) =
            match Directory::open(self.records()).and_then(|records| records.read(&file_name(key))) {
                Ok(text) => (text, None),
                Err(cause) => (None, Some(cause)),
            };
        // Whatever is wrong with one of the two, the other may be right.
        let (mut old, mut later) = (None, None);
        for text in [file, self.mirrored(key)].into_iter().flatten() {
            let Ok(head) = serde_json::from_slice::<Head>(&text) else { continue };
            let now = head.boot == boot;
            if head.version > VERSION {
                later = later.or(now.then_some(head.version));
                continue;
            }
            let Ok(record) = serde_json::from_slice::<Record>(&text) else { continue };
            match record.is_sound(key) {
                true if now => return Ok(Entry::Known(Box::new(record))),
                true => old = Some(Box::new(record)),
                false => {}
            }
        }
        if let Some(version) = later {
            return Ok(Entry::Foreign(version));
        }
        Ok(match (old, unreadable) {
            // Pins are never older than the kernel.
            (Some(record), _) if self.instances_pinned(key).is_empty() => Entry::Stale(record),
            (None, Some(cause)) if cause.kind() == io::ErrorKind::PermissionDenied => {
                Entry::Unreadable(cause)
            }
            _ => Entry::Lost,
        })
    }

    /// Whether an attachment of this key has left anything.
    pub(crate) fn has_entry(&self, key: &str) -> bool {
        self.record_file(key).exists() || self.pins().join(key).exists()
    }

    /// Why an attachment with such a record cannot be undone.
    pub(crate) fn unreadable(&self, key: &str, cause: io::Error) -> HostError {
        HostError::file("read", &self.record_file(key))(cause)
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

    /// The copy of a record in its map.
    fn mirrored(&self, key: &str) -> Option<Vec<u8>> {
        let map = MapHandle::from_pinned_path(self.mirror(key)).ok()?;
        let mut text = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
        text.truncate(text.iter().position(|byte| *byte == 0).unwrap_or(text.len()));
        Some(text)
    }
}

/// Whether it may be the name of a congestion control.
fn may_be_set(name: &str) -> bool {
    (1..=15).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/')
}

/// Whether it may be what [`Target::key`] made.
fn is_key(name: &str) -> bool {
    let number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let plain = |text: &str| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':');
        !text.is_empty() && text.bytes().all(fits)
    };
    match name.split_once('-') {
        Some(("default" | "cgroup", rest)) => number(rest),
        Some(("route", rest)) => rest.split_once('-').is_some_and(|(netns, to)| number(netns) && plain(to)),
        _ => false,
    }
}

fn file_name(key: &str) -> String {
    format!("{key}.{EXTENSION}")
}

fn fill(map: &MapHandle, mut text: Vec<u8>) -> io::Result<()> {
    text.resize(MIRROR_BYTES, 0);
    map.update(&0u32.to_ne_bytes(), &text, MapFlags::ANY).map_err(io::Error::other)
}

fn names(directory: &Path) -> Result<Vec<String>> {
    match fs::read_dir(directory) {
        Ok(entries) => Ok(entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect()),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(cause) => Err(HostError::file("read", directory)(cause)),
    }
}

fn boot() -> Result<String> {
    fs::read_to_string(BOOT).map(|id| id.trim().to_owned()).map_err(HostError::file("read", Path::new(BOOT)))
}

//! Facts from the kernel about itself and this process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use caps::Capability;
use flate2::read::GzDecoder;
use nix::errno::Errno;
use nix::unistd::{AccessFlags, access};
use rampcc::Algorithm;
use rampcc_linux::{Options, probe};

use crate::bpffs::{USUAL, is_bpffs};
use crate::host::Host;
use crate::privileges;
use crate::record::Entry;
use crate::scope::Scope;
use crate::unrecorded::unrecorded_in;

const BTF: &str = "/sys/kernel/btf";

/// The functions of the kernel's CUBIC that the programs call.
pub(super) const KFUNCS: [&str; 6] = [
    "cubictcp_init",
    "cubictcp_recalc_ssthresh",
    "cubictcp_cong_avoid",
    "cubictcp_state",
    "cubictcp_cwnd_event",
    "cubictcp_acked",
];
/// What the kernel calls the type through which BPF registers congestion controls (libbpf looks it up by this name).
const STRUCT_OPS: &str = "bpf_struct_ops_tcp_congestion_ops";
/// Read in the network namespace of this process.
const SYSCTLS: [&str; 11] = [
    "net/core/bpf_jit_enable",
    "net/core/optmem_max",
    "kernel/unprivileged_bpf_disabled",
    "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_available_congestion_control",
    "net/ipv4/tcp_allowed_congestion_control",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_wmem",
    "net/ipv4/tcp_no_metrics_save",
    "net/ipv4/tcp_slow_start_after_idle",
    "net/core/default_qdisc",
];

/// Everything that the checks judge by.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// `uname -r`.
    pub release: String,
    /// The kernel describes its types.
    pub btf: bool,
    /// The kernel's BTF has the type that congestion controls in BPF are registered through.
    pub struct_ops: bool,
    /// Configuration of the kernel's build, if known: option to value, without `CONFIG_`.
    pub config: Option<BTreeMap<String, String>>,
    /// Lockdown's mode; `None`: the kernel has none.
    pub lockdown: Option<String>,
    /// Held by this process.
    pub capabilities: Vec<Capability>,
    /// By path below `/proc/sys`.
    pub sysctls: BTreeMap<String, String>,
    /// Functions of the kernel's CUBIC that BPF programs can call.
    pub kfuncs: BTreeSet<String>,
    /// Limit on locked memory, bytes; `None`: unlimited.
    pub memlock_bytes: Option<u64>,
    /// Directory of pins, and true if it is in a BPF file system; `None`: it does not exist.
    pub pins: (PathBuf, Option<bool>),
    /// Directories of pins and records that this user may not write, or may not make.
    pub closed: Vec<PathBuf>,
    /// The default of this network namespace, where it is ours but on no record here.
    pub unrecorded: Option<String>,
    /// True if mounts made here outlive this process.
    pub host_mounts: bool,
    /// Mount point of control groups of version 2.
    pub cgroup2: Option<PathBuf>,
    /// Algorithms with what came of loading them; empty: not tried for want of capabilities.
    pub loads: Vec<(String, Result<(), String>)>,
    /// State of a connection, the largest of all algorithms, bytes.
    pub state_bytes: usize,
}

impl Facts {
    /// Looks at this host, and loads nothing.
    pub fn gather(host: &Host) -> Self {
        let capabilities: Vec<_> = [
            Capability::CAP_BPF,
            Capability::CAP_NET_ADMIN,
            Capability::CAP_PERFMON,
            Capability::CAP_SYS_ADMIN,
            Capability::CAP_SYS_NICE,
        ]
        .into_iter()
        .filter(|capability| privileges::has(*capability))
        .collect();
        let release = read("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self {
            btf: Path::new(BTF).join("vmlinux").exists(),
            config: config(&release),
            lockdown: read("/sys/kernel/security/lockdown").and_then(|text| {
                text.split_once('[')
                    .and_then(|(_, rest)| rest.split_once(']'))
                    .map(|(mode, _)| mode.to_owned())
            }),
            loads: Vec::new(),
            capabilities,
            sysctls: SYSCTLS
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), read(&format!("/proc/sys/{name}"))?)))
                .collect(),
            kfuncs: known_to_btf(&KFUNCS),
            struct_ops: !known_to_btf(&[STRUCT_OPS]).is_empty(),
            memlock_bytes: memlock(),
            pins: (host.pins().to_path_buf(), pins(host)),
            closed: closed_directories(host),
            unrecorded: unrecorded(host),
            host_mounts: host_mounts(),
            cgroup2: mounted("cgroup2"),
            state_bytes: rampcc::algorithms().iter().map(rampcc::Algorithm::state_bytes).max().unwrap_or(0),
            release,
        }
    }

    /// Loads the programs of these algorithms, where the capabilities suffice, to see whether they can be; registers nothing.
    pub(super) fn load(&mut self, tried: &[&'static Algorithm]) {
        if privileges::missing().is_empty() {
            self.loads = loads(tried);
        }
    }

    pub(super) fn sysctl(&self, name: &str) -> Option<&str> {
        self.sysctls.get(name).map(String::as_str)
    }

    pub(super) fn holds(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }
}

fn loads(tried: &[&'static Algorithm]) -> Vec<(String, Result<(), String>)> {
    tried
        .iter()
        .map(|algorithm| {
            let result = probe(algorithm, &Options::new(algorithm)).map_err(|error| error.to_string());
            (algorithm.id.to_owned(), result)
        })
        .collect()
}

fn unrecorded(host: &Host) -> Option<String> {
    let found = unrecorded_in(&Scope::System).ok()??;
    // Without a record that says what was before, attaching refuses as detaching does.
    let known = host.has_entry(&found.key) && !matches!(host.entry(&found.key), Ok(Entry::Lost));
    (!known).then_some(found.name)
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().replace('\t', " "))
}

fn config(release: &str) -> Option<BTreeMap<String, String>> {
    let text = File::open("/proc/config.gz")
        .ok()
        .and_then(|file| {
            let mut text = String::new();
            GzDecoder::new(file).read_to_string(&mut text).ok().map(|_| text)
        })
        .or_else(|| fs::read_to_string(format!("/boot/config-{release}")).ok())
        .or_else(|| fs::read_to_string(format!("/lib/modules/{release}/config")).ok())?;
    Some(parse_config(&text))
}

fn parse_config(text: &str) -> BTreeMap<String, String> {
    text.lines()
        .filter_map(|line| line.strip_prefix("CONFIG_")?.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Names in the BTF of the kernel, or of its module `tcp_cubic`.
fn known_to_btf(names: &[&str]) -> BTreeSet<String> {
    let tables: Vec<_> =
        ["vmlinux", "tcp_cubic"].iter().filter_map(|name| fs::read(Path::new(BTF).join(name)).ok()).collect();
    let mut missing: BTreeSet<&str> = names.iter().copied().collect();
    for table in &tables {
        for name in table.split(|byte| *byte == 0) {
            if let Ok(name) = std::str::from_utf8(name) {
                missing.remove(name);
            }
        }
    }
    names.iter().filter(|name| !missing.contains(*name)).map(|name| (*name).to_owned()).collect()
}

fn memlock() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max locked memory"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn pins(host: &Host) -> Option<bool> {
    let usual = Path::new(USUAL);
    let existing = host.pins().ancestors().find(|path| path.exists())?;
    is_bpffs(if host.pins().starts_with(usual) && !existing.starts_with(usual) { usual } else { existing })
}

fn closed_directories(host: &Host) -> Vec<PathBuf> {
    // Without its file system the directory of pins is not there yet.
    let directories = [(host.pins(), pins(host) == Some(true)), (host.records(), true)];
    directories
        .into_iter()
        .filter(|(path, counts)| *counts && closed(path))
        .map(|(path, _)| path.to_path_buf())
        .collect()
}

/// What does not exist can be made if the directory above can be written.
fn closed(path: &Path) -> bool {
    let seen = |path: &&Path| !matches!(access(*path, AccessFlags::F_OK), Err(Errno::ENOENT));
    let existing = path.ancestors().find(seen).unwrap_or(Path::new("/"));
    access(existing, AccessFlags::W_OK | AccessFlags::X_OK).is_err()
}

/// Within a mount namespace of its own, what a process mounts is gone with it.
fn host_mounts() -> bool {
    let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
    let first = namespace("1");
    first.is_none() || first == namespace("self")
}

/// The first mount of a file system of this type.
pub(crate) fn mounted(kind: &str) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    mounts.lines().find_map(|line| {
        let mut words = line.split(' ');
        let place = words.nth(1)?;
        (words.next()? == kind).then(|| PathBuf::from(place.replace("\\040", " ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_are_not_set_are_not_there() {
        let config = parse_config("CONFIG_BPF=y\n# CONFIG_NET_SCH_FQ is not set\nCONFIG_HZ=250\n");
        assert_eq!(config.get("BPF").map(String::as_str), Some("y"));
        assert_eq!(config.get("HZ").map(String::as_str), Some("250"));
        assert!(!config.contains_key("NET_SCH_FQ"));
    }
}

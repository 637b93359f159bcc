//! Network namespaces: which one, and work within another.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;

use nix::sched::{CloneFlags, setns};

use crate::error::{HostError, Result};
use crate::privileges;

/// Where `ip netns` keeps names.
pub(crate) const NAMED: &str = "/run/netns";
const OWN: &str = "/proc/thread-self/ns/net";

/// A network namespace by its inode, which no other has while it lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Namespace {
    pub(crate) inode: u64,
    /// `None`: the thread's own.
    path: Option<PathBuf>,
}

impl Namespace {
    /// The thread's own.
    pub(crate) fn own() -> Result<Self> {
        Ok(Self {
            inode: inode(Path::new(OWN)).map_err(HostError::file("look at", Path::new(OWN)))?,
            path: None,
        })
    }

    /// One that `ip netns` has named.
    pub(crate) fn named(name: &str) -> Result<Self> {
        if name.is_empty() || name == "." || name == ".." || name.contains('/') {
            return Err(HostError::input(
                format!("{name:?} cannot name a network namespace"),
                format!("names below {NAMED}, as `ip netns list` shows them"),
            ));
        }
        let path = Path::new(NAMED).join(name);
        let known = || {
            let names = names();
            if names.is_empty() { "there is none (ip netns add)".into() } else { names.join(", ") }
        };
        let inode = inode(&path).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => HostError::input(
                format!("there is no network namespace {name}"),
                format!("known: {}", known()),
            ),
            _ => HostError::file("look at", &path)(cause),
        })?;
        Self { inode, path: Some(path) }.unless_own()
    }

    /// The one with this inode; `None`: it is gone.
    ///
    /// It may have a name, be mounted elsewhere, or live by its processes alone, not all of which everybody may look at:
    /// then it is an error.
    pub(crate) fn with_inode(wanted: u64) -> Result<Option<Self>> {
        let own = Self::own()?;
        if own.inode == wanted {
            return Ok(Some(own));
        }
        let at = |path: PathBuf| Ok(Some(Self { inode: wanted, path: Some(path) }));
        let named = names().into_iter().map(|name| Path::new(NAMED).join(name));
        if let Some(path) = named.chain(mounted(wanted)).find(|path| inode(path).is_ok_and(|i| i == wanted)) {
            return at(path);
        }
        let mut hidden = false;
        for process in processes() {
            match inode(&process) {
                Ok(inode) if inode == wanted => return at(process),
                Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => hidden = true,
                _ => {}
            }
        }
        // With this capability only processes stay hidden that are none of the host's business, such as a hypervisor's.
        if hidden && !privileges::has(caps::Capability::CAP_SYS_PTRACE) {
            return Err(HostError::refused(
                format!("network namespace {wanted} is out of this user's sight"),
                "run this as root, or inside it (nsenter --net=/proc/PID/ns/net)",
            ));
        }
        Ok(None)
    }

    /// Does `work` within it, on a thread of its own unless this is the right place already.
    pub(crate) fn within<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let Some(path) = &self.path else { return work() };
        let handle = File::open(path).map_err(HostError::file("open", path))?;
        thread::scope(|scope| {
            let worker = scope.spawn(|| {
                setns(handle, CloneFlags::CLONE_NEWNET)
                    .map_err(HostError::system(format!("enter the network namespace {}", path.display())))?;
                work()
            });
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn unless_own(self) -> Result<Self> {
        let own = Self::own()?;
        Ok(if own.inode == self.inode { own } else { self })
    }
}

/// What `ip netns list` shows, in order.
pub(crate) fn names() -> Vec<String> {
    let entries = fs::read_dir(NAMED).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Where this namespace is mounted, by whatever manages containers.
fn mounted(wanted: u64) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let root = format!("net:[{wanted}]");
    let mount = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    mount
        .filter(|words| words.get(3) == Some(&root.as_str()))
        .find_map(|words| words.get(4).map(PathBuf::from))
}

/// The namespace of every process.
fn processes() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
        .map(|entry| entry.path().join("ns/net"))
}

fn inode(path: &Path) -> io::Result<u64> {
    fs::metadata(path).map(|metadata| metadata.ino())
}

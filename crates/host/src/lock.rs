//! One process at a time changes a host.
//!
//! The lock is a file that only its owner can open, so that no one else can hold it; its holder has a bounded time.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::stat::{major, minor};
use nix::unistd::geteuid;

use crate::error::{HostError, Result};
use crate::files::Directory;
use crate::host::Host;

const LOCK: &str = "lock";
/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(20);
const LOCKS: &str = "/proc/locks";

/// Held until it is dropped; `None`: there can be none.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: Option<Flock<File>>,
}

/// A process that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) process: u32,
    /// Who it runs as; `None`: it has ended, and what it started may hold the lock.
    pub(crate) user: Option<u32>,
}

/// A file, as the kernel's list of locks names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Locked {
    /// Major and minor number.
    device: (u64, u64),
    pub(crate) inode: u64,
}

impl Locked {
    /// Whether it is in the same file system.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        self.device == other.device
    }

    pub(crate) fn of(metadata: &fs::Metadata) -> Self {
        let device = metadata.dev();
        Self { device: (major(device), minor(device)), inode: metadata.ino() }
    }
}

impl Host {
    /// Waits until no other process changes this host through the same records, but not for ever.
    pub(crate) fn lock(&self) -> Result<Lock> {
        let records = self.records();
        let directory = Directory::make(records).map_err(HostError::file("make", records))?;
        let path = records.join(LOCK);
        let remove = || directory.remove(LOCK).map_err(HostError::file("remove", &path));
        let deadline = Instant::now() + self.patience();
        loop {
            let file = match directory.lockable(LOCK) {
                Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied && forsaken(records, &path) => {
                    remove()?;
                    continue;
                }
                file => file.map_err(HostError::file("open", &path))?,
            };
            let (file, error) = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                // The name may have been given to another file since.
                Ok(file) if names(&path, &file) => {
                    Directory::keep_private(&file).map_err(HostError::file("close to others", &path))?;
                    return Ok(Lock { _file: Some(file) });
                }
                Ok(_) => continue,
                Err(failed) => failed,
            };
            if error != Errno::EWOULDBLOCK {
                return Err(HostError::file("lock", &path)(error.into()));
            }
            let found = file.metadata().map_err(HostError::file("look at", &path))?;
            // Without the kernel's list the holder is out of sight, and there all the same.
            let holders = Holder::of(&found).unwrap_or_default();
            let owner = fs::metadata(records).map(|metadata| metadata.uid()).ok();
            let strangers = !holders.is_empty() && holders.iter().all(|holder| holder.is_stranger(owner));
            let over = Instant::now() >= deadline;
            // From when any user could open it. A process that is out of sight or has ended does not keep it for ever.
            let anybodys = found.mode() & 0o077 != 0;
            let known = |holder: &Holder| holder.user.is_some() && !holder.is_stranger(owner);
            if strangers || over && anybodys && !holders.iter().any(known) {
                // What a stranger holds is no lock.
                if names(&path, &file) {
                    remove()?;
                }
                continue;
            }
            if over {
                return Err(held(&path, self.patience(), &holders));
            }
            thread::sleep(PAUSE);
        }
    }

    /// The same for undoing, which nothing may keep from being done: where the lock cannot be had because its directory
    /// is full or read-only, or because it is no file, no other process gets it either.
    pub(crate) fn lock_to_undo(&self) -> Result<Lock> {
        match self.lock() {
            Err(HostError::File { cause, .. }) if nobody_gets_it(&cause) => Ok(Lock { _file: None }),
            lock => lock,
        }
    }
}

/// Whether every process would fail to lock by this, not this one alone.
fn nobody_gets_it(cause: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(cause.kind(), ReadOnlyFilesystem | StorageFull | QuotaExceeded | InvalidData)
}

/// Whether the lock is another user's, in a directory of the caller's, and is not held: root was the first, before
/// it gave its locks to the directory's owner, or before the directory had that owner.
fn forsaken(records: &Path, path: &Path) -> bool {
    let caller = geteuid().as_raw();
    let (Ok(directory), Ok(lock)) = (fs::metadata(records), fs::symlink_metadata(path)) else { return false };
    directory.uid() == caller
        && lock.uid() != caller
        && Holder::of(&lock).is_ok_and(|holders| holders.is_empty())
}

impl Holder {
    /// Who has locked this file, as far as this process may know.
    pub(crate) fn of(file: &fs::Metadata) -> io::Result<Vec<Self>> {
        let locked = Locked::of(file);
        let all = Self::all(&fs::read_to_string(LOCKS)?);
        Ok(all.into_iter().filter(|(_, file)| *file == locked).map(|(holder, _)| holder).collect())
    }

    /// Everybody in the kernel's list with a lock on a whole file, and which.
    pub(crate) fn all(locks: &str) -> Vec<(Self, Locked)> {
        locks.lines().filter_map(Self::parse).collect()
    }

    /// Such as `1: FLOCK  ADVISORY  WRITE 812 00:1a:5678 0 EOF`; who waits has an arrow.
    fn parse(line: &str) -> Option<(Self, Locked)> {
        let words: Vec<_> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, process, file, ..] = words[..] else { return None };
        let mut parts = file.split(':');
        let mut number = || u64::from_str_radix(parts.next()?, 16).ok();
        let device = (number()?, number()?);
        let file = Locked { device, inode: parts.next()?.parse().ok()? };
        let process = process.parse().ok()?;
        let user = fs::metadata(format!("/proc/{process}")).map(|metadata| metadata.uid()).ok();
        Some((Self { process, user }, file))
    }

    /// Neither root nor the caller nor whose the directory is.
    pub(crate) fn is_stranger(&self, owner: Option<u32>) -> bool {
        self.user.is_some_and(|user| user != 0 && user != geteuid().as_raw() && Some(user) != owner)
    }

    /// `process 812 (ramp)`.
    pub(crate) fn name(&self) -> String {
        let name = fs::read_to_string(format!("/proc/{}/comm", self.process));
        match name {
            Ok(name) => format!("process {} ({})", self.process, name.trim()),
            Err(_) => {
                format!("process {} (which has ended; what it started may hold it still)", self.process)
            }
        }
    }
}

fn names(path: &Path, file: &File) -> bool {
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (named, open) = (fs::symlink_metadata(path).map(identity), file.metadata().map(identity));
    matches!((named, open), (Ok(named), Ok(open)) if named == open)
}

fn held(path: &Path, patience: Duration, holders: &[Holder]) -> HostError {
    let names: Vec<_> = holders.iter().map(Holder::name).collect();
    let who = if names.is_empty() { "a process that is out of sight".to_owned() } else { names.join(", ") };
    HostError::refused(
        format!("{who} holds {}, and has for {} s", path.display(), patience.as_secs()),
        format!(
            "it is changing this host, or was stopped while it did: wait, or kill it (fuser {}) and try again; what it \
             leaves unfinished is undone",
            path.display()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_keeps_everybody_from_locking_lets_undoing_go_on_without() {
        for (error, goes_on) in [
            (Errno::EROFS, true),
            (Errno::ENOSPC, true),
            (Errno::EDQUOT, true),
            (Errno::EMFILE, false),
            (Errno::ENFILE, false),
            (Errno::ENOLCK, false),
            (Errno::EACCES, false),
            (Errno::ENOENT, false),
        ] {
            assert_eq!(nobody_gets_it(&error.into()), goes_on, "{error}");
        }
        assert!(nobody_gets_it(&io::Error::new(io::ErrorKind::InvalidData, "it is a pipe")));
    }

    #[test]
    fn the_kernels_list_of_locks_is_read() {
        let locks = "1: FLOCK  ADVISORY  WRITE 1 00:1a:5678 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 77 00:1a:5678 0 EOF\n\
                     2: POSIX  ADVISORY  READ 5 fd:00:42 128 128\n3: LEASE  ACTIVE    READ 7 fd:00:43 0 EOF\n";
        let all = Holder::all(locks);
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!((all[0].0.process, all[0].1), (1, Locked { device: (0, 0x1a), inode: 5678 }));
        assert!(!Holder { process: 1, user: Some(0) }.is_stranger(None));
        assert!(Holder { process: 1, user: Some(u32::MAX - 7) }.is_stranger(Some(0)));
        assert!(!Holder { process: 1, user: Some(7) }.is_stranger(Some(7)));
        assert!(!Holder { process: 1, user: None }.is_stranger(Some(7)), "who has ended cannot be judged");
    }
}

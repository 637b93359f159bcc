//! The control group of a trial: one trial at a time, and whether it is still there.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{io, process};

use nix::fcntl::{Flock, FlockArg};

use crate::assign::Assign;
use crate::error::{HostError, Result};
use crate::lock::{Holder, Locked};
use crate::scope::printable;
use crate::target::groups_below;

const LOCKS: &str = "/proc/locks";

/// A control group that this trial has to itself, as far as trials go.
///
/// Its directory is locked. Anybody may do so, but only what root or the caller locks counts. What the kernel says of the
/// programs there ([`Self::alone`]) is surer, but mostly root's to know.
pub(super) struct Place {
    path: PathBuf,
    inode: u64,
    lock: Option<Flock<File>>,
}

impl Place {
    pub(super) fn take(path: &Path) -> Result<Self> {
        let path = path.canonicalize().map_err(|cause| {
            let problem = format!("cannot open the control group {}: {cause}", path.display());
            HostError::input(problem, "the directory of a control group (v2) that exists")
        })?;
        let directory = File::open(&path).map_err(HostError::file("open the control group", &path))?;
        let inode = directory.metadata().map_err(HostError::file("look at", &path))?.ino();
        let lock = Flock::lock(directory, FlockArg::LockExclusiveNonblock).ok();
        let place = Self { path, inode, lock };
        match place.others().map_err(HostError::file("read", Path::new(LOCKS)))?.first() {
            Some(other) => Err(place.taken(&other.name())),
            None => Ok(place),
        }
    }

    /// Whether no other trial is there, now that this one's program is: of two that begin at once neither goes on.
    pub(super) fn alone(&self, assign: &Assign) -> Result {
        let inode = |path: &Path| fs::metadata(path).ok().map(|metadata| metadata.ino());
        let mut groups = groups_below(&self.path);
        groups.extend(
            self.path.ancestors().skip(1).take_while(|path| is_control_group(path)).filter_map(inode),
        );
        if assign.has_rival(&groups)? { Err(self.taken("another trial")) } else { Ok(()) }
    }

    fn taken(&self, by: &str) -> HostError {
        HostError::refused(
            format!(
                "{by} tries something on {}, or on one above or below it: each would take connections from the other",
                printable(&self.path.to_string_lossy())
            ),
            "wait until it is over, or stop it",
        )
    }

    /// Whether it has not been removed, be it that another one has its name now.
    pub(super) fn is_there(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|metadata| metadata.ino() == self.inode)
    }

    /// Who has locked it, or a control group above or below it.
    fn others(&self) -> io::Result<Vec<Holder>> {
        let own = Locked::of(&fs::metadata(&self.path)?);
        let below = groups_below(&self.path);
        let above: Vec<_> = self.path.ancestors().skip(1).map_while(control_group).collect();
        let mut all = Holder::all(&fs::read_to_string(LOCKS)?);
        all.retain(|(holder, file)| {
            let mine = self.lock.is_some() && holder.process == process::id() && *file == own;
            let related = above.contains(file) || (file.is_beside(&own) && below.contains(&file.inode));
            related && !mine && holder.user.is_some() && !holder.is_stranger(None)
        });
        Ok(all.into_iter().map(|(holder, _)| holder).collect())
    }
}

fn control_group(path: &Path) -> Option<Locked> {
    is_control_group(path).then(|| fs::metadata(path).ok())?.map(|metadata| Locked::of(&metadata))
}

fn is_control_group(path: &Path) -> bool {
    path.join("cgroup.procs").exists()
}

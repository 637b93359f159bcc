//! A control group of a trial's own, for load that it makes itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use crate::doctor::facts::mounted;
use crate::error::{HostError, Result};

const PREFIX: &str = "ramp-trial-";

/// A control group that nothing else uses; removed when this is dropped. What runs in it must have ended by then.
#[derive(Debug)]
pub struct OwnGroup(PathBuf);

impl OwnGroup {
    /// Makes it, at the root of the hierarchy.
    ///
    /// # Errors
    ///
    /// There is no cgroup v2, or the caller may not write there.
    pub fn new() -> Result<Self> {
        let root = mounted("cgroup2").ok_or_else(|| {
            HostError::refused(
                "no control groups (v2) are mounted",
                "mount -t cgroup2 cgroup2 /sys/fs/cgroup",
            )
        })?;
        remove_orphans(&root);
        let path = root.join(format!("{PREFIX}{}", process::id()));
        fs::create_dir(&path).map_err(HostError::file("make the control group", &path))?;
        Ok(Self(path))
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for OwnGroup {
    fn drop(&mut self) {
        // If something still runs in it, the next trial removes it.
        let _ = fs::remove_dir(&self.0);
    }
}

/// Those of trials that were killed.
fn remove_orphans(root: &Path) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            // The kernel keeps one that has processes.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_dead_trials_left_is_removed_and_nothing_else() {
        let root = std::env::temp_dir().join(format!("ramp-orphans-{}", process::id()));
        // No process has a number above the largest `pid_max`.
        let names =
            ["ramp-trial-4194305", &format!("ramp-trial-{}", process::id()), "ramp-trial-x", "system.slice"];
        for name in names {
            fs::create_dir_all(root.join(name)).expect("a directory");
        }
        remove_orphans(&root);
        let left = names.map(|name| root.join(name).exists());
        assert_eq!(left, [false, true, true, true]);
        fs::remove_dir_all(root).expect("it is ours");
    }
}

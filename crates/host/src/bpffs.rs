//! The BPF file system, in which the kernel's objects have names.

use std::fs;
use std::io;
use std::path::Path;

use nix::mount::{MsFlags, mount};
use nix::sys::statfs::{BPF_FS_MAGIC, statfs};

use crate::error::{HostError, Result};
use crate::files::make_directories;
use crate::host::Host;

/// Where it is by custom.
pub(crate) const USUAL: &str = "/sys/fs/bpf";

/// Whether a path lies in a BPF file system; `None`: it does not exist.
pub(crate) fn is_bpffs(path: &Path) -> Option<bool> {
    statfs(path).ok().map(|fs| fs.filesystem_type() == BPF_FS_MAGIC)
}

impl Host {
    /// Makes the directory of pins, and mounts its file system if it is the usual one.
    pub(crate) fn prepare_pins(&self) -> Result {
        let pins = self.pins();
        let existing = pins.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
        if is_bpffs(existing) != Some(true) {
            if !pins.starts_with(USUAL) {
                return Err(HostError::refused(
                    format!("{} is not in a BPF file system", pins.display()),
                    format!("mount -t bpf bpf {}", pins.parent().unwrap_or(pins).display()),
                ));
            }
            self.mount()?;
        }
        make_directories(pins).map_err(HostError::file("make", pins))
    }

    fn mount(&self) -> Result {
        const MEND: &str = "as root: mount -t bpf bpf /sys/fs/bpf";
        // Within a mount namespace of its own (`ip netns exec` makes one) the file system would die with this command,
        // and everything pinned in it.
        let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
        match (namespace("self"), namespace("1")) {
            (own, first) if first.is_none() || own == first => {}
            _ => {
                return Err(HostError::refused(
                    "no BPF file system is mounted here, and this mount namespace is not the host's: what is pinned \
                     here would vanish with it",
                    "run this outside (--scope netns NAME instead of ip netns exec), or point --pins to a BPF file \
                     system that the host has mounted",
                ));
            }
        }
        self.step("mount the BPF file system");
        mount(Some("bpf"), USUAL, Some("bpf"), MsFlags::empty(), Some("mode=0700")).map_err(|error| {
            match io::Error::from(error) {
                cause if cause.kind() == io::ErrorKind::PermissionDenied => HostError::refused(
                    "no BPF file system is mounted, and mounting one takes CAP_SYS_ADMIN",
                    MEND,
                ),
                cause => HostError::file("mount a BPF file system on", Path::new(USUAL))(cause),
            }
        })
    }
}

//! Objects that outlive their loader: names in a directory of a BPF file system.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use libbpf_rs::{ErrorKind, Link, MapCore, MapFlags, MapHandle, libbpf_sys};
use nix::fcntl::OFlag;

use crate::event::Counters;
use crate::loader::{
    EVENTS, EXITS, FLOWS, HISTORY, PINNED_COUNTERS, PINNED_LINK, PINNED_OPERATIONS, PINNED_TABLE,
};
use crate::onlooker::{Onlooker, Table};

/// An algorithm that [`load_pinned`](crate::load_pinned) or [`Loaded::pin`](crate::Loaded::pin) left behind.
#[derive(Clone, Debug)]
pub struct Pinned {
    directory: PathBuf,
}

impl Pinned {
    /// Looks into a directory of pins; `None`: it holds none.
    pub fn open(directory: &Path) -> Option<Self> {
        [PINNED_LINK, PINNED_OPERATIONS, PINNED_COUNTERS]
            .iter()
            .any(|name| directory.join(name).exists())
            .then(|| Self { directory: directory.to_path_buf() })
    }

    /// Directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Totals over all its connections.
    pub fn counters(&self) -> io::Result<Counters> {
        let map = read_only(&self.directory.join(PINNED_COUNTERS))?;
        let bytes = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).map_err(io::Error::other)?;
        bytes
            .and_then(|bytes| Counters::parse(&bytes))
            .ok_or_else(|| io::Error::other("the counters do not have the expected size"))
    }

    /// Its ring buffer, of which [`Event`](crate::Event)s are read.
    pub fn events(&self) -> io::Result<MapHandle> {
        self.map(EVENTS)
    }

    /// Sees what happens.
    pub fn onlooker(&self) -> io::Result<Onlooker> {
        Ok(Onlooker {
            table: Table::Name(self.directory.join(PINNED_TABLE)),
            counters: self.map(PINNED_COUNTERS)?,
            exits: self.map(EXITS)?,
        })
    }

    /// The socket storage of its connections, for an iterator.
    pub fn flows(&self) -> io::Result<MapHandle> {
        self.map(FLOWS)
    }

    /// Number of places of which it remembers something; `None`: it needs no history, or this user may not look.
    pub fn places(&self) -> Option<usize> {
        Some(held(&self.map(HISTORY).ok()?))
    }

    /// Takes it out of the kernel, and the directory away. Running connections finish with what they have.
    pub fn detach(self) -> io::Result<()> {
        detach_pinned(&self.directory)
    }

    fn map(&self, name: &str) -> io::Result<MapHandle> {
        MapHandle::from_pinned_path(self.directory.join(name)).map_err(io::Error::other)
    }
}

/// Number of keys of a map in use. Whenever the key that it has come to is removed, the kernel begins anew: it would not
/// come to an end where keys come and go faster than it counts.
pub(crate) fn held(map: &impl MapCore) -> usize {
    map.keys().take(map.max_entries() as usize).count()
}

/// Lets the group of a pinned map read it, which is its directory's where that hands it down: counters name no user.
pub fn share(map: &Path) -> io::Result<()> {
    fs::set_permissions(map, fs::Permissions::from_mode(0o640))
}

/// Opens a pinned map that this user may not be allowed to write.
pub fn read_only(map: &Path) -> io::Result<MapHandle> {
    MapHandle::from_pinned_path_with_file_flags(map, libbpf_sys::BPF_F_RDONLY).map_err(io::Error::other)
}

/// A pinned object itself, and not what a link of its name leads to: others may write in its directory.
#[derive(Debug)]
pub struct Held(File);

impl Held {
    /// `None`: there is no object of this name.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW;
        match fs::OpenOptions::new().read(true).custom_flags(flags.bits()).open(path) {
            Ok(file) => Ok(file.metadata()?.is_file().then_some(Self(file))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A name for it that no one else can give to another.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}

/// Takes back what [`load_pinned`](crate::load_pinned) or [`Loaded::pin`](crate::Loaded::pin) left in a directory, and
/// the directory.
///
/// Whatever is missing already is passed over, so an interrupted attempt can be made again.
pub fn detach_pinned(directory: &Path) -> io::Result<()> {
    withdraw_pinned(directory)?;
    missing_ok(fs::remove_dir(directory))
}

/// The same, and the directory stays. Links in it are removed and never followed.
pub fn withdraw_pinned(directory: &Path) -> io::Result<()> {
    if let Some(link) = Held::open(&directory.join(PINNED_LINK))? {
        // Detaching acts at once, but only Linux 6.11 can; removing the last reference acts a moment later.
        if let Err(error) = Link::open(link.path()).and_then(|link| link.detach())
            && !matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput | ErrorKind::Other)
        {
            return Err(io::Error::other(error));
        }
    } else if let Some(operations) = Held::open(&directory.join(PINNED_OPERATIONS))? {
        // Registered without a link, or with one that is gone: deleting the only element unregisters it. All other
        // errors say that there is nothing to unregister.
        let map = MapHandle::from_pinned_path(operations.path()).map_err(io::Error::other)?;
        if let Err(error) = map.delete(&0u32.to_ne_bytes())
            && error.kind() == ErrorKind::PermissionDenied
        {
            return Err(io::Error::other(error));
        }
    }
    let maps = [EVENTS, FLOWS, EXITS, HISTORY];
    for name in [PINNED_LINK, PINNED_OPERATIONS, PINNED_COUNTERS, PINNED_TABLE].into_iter().chain(maps) {
        missing_ok(fs::remove_file(directory.join(name)))?;
    }
    Ok(())
}

fn missing_ok(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
#[path = "../tests/support/ready.rs"]
mod ready;

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use libbpf_rs::MapType;

    use super::*;

    #[test]
    fn keys_that_come_and_go_are_counted_to_an_end() {
        let Some(()) = ready::ready() else { return };
        let options = libbpf_sys::bpf_map_create_opts {
            sz: size_of::<libbpf_sys::bpf_map_create_opts>() as libbpf_sys::size_t,
            ..Default::default()
        };
        let map = MapHandle::create(MapType::Hash, Some("ramp_count"), 4, 4, 8, &options).expect("a map");
        let put = |key: u32| map.update(&key.to_ne_bytes(), &[0; 4], MapFlags::ANY).expect("room");
        (0..8).for_each(put);
        assert_eq!(held(&map), 8);
        let over = AtomicBool::new(false);
        let most = thread::scope(|scope| {
            scope.spawn(|| {
                for key in (0_u32..8).cycle().take_while(|_| !over.load(Ordering::Relaxed)) {
                    map.delete(&key.to_ne_bytes()).expect("it is there");
                    put(key);
                }
            });
            let most = (0..200_000).map(|_| held(&map)).max();
            over.store(true, Ordering::Relaxed);
            most
        });
        assert_eq!(most, Some(8));
        assert_eq!(held(&map), 8);
    }
}

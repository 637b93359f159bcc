//! Files in directories that may be another user's.
//!
//! The owner of a directory can put anything under any name in it, at any time: a link to a file of ours, a pipe that
//! never ends, a file of theirs. So a directory is opened once, and everything in it is reached from there; the last part of
//! a name is never followed; what is read is a regular file of bounded length and of a known owner; what is written is
//! drafted under a name that no one can foresee, and renamed. Modes do not depend on the umask.
//!
//! Links in the path of the directory itself are followed: the user who runs the command has named it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, Flock, FlockArg, OFlag, open, openat, renameat};
use nix::sys::stat::{FileStat, Mode, SFlag, fchmod, fstat, fstatat};
use nix::unistd::{Gid, Uid, UnlinkatFlags, fchown, fsync, geteuid, mkdir, unlinkat};

use crate::error::{HostError, Result};

/// Longer than any record can be.
const LONGEST: usize = 64 << 10;
/// How often the name of a draft may be taken, or the draft snatched away.
const ATTEMPTS: u32 = 10;
/// Of drafts: neither the records' `.json` nor the `.prom` that a collector reads.
const DRAFT: &str = "new";
const RANDOM: &str = "/proc/sys/kernel/random/uuid";

/// Readable by everybody, written by the owner.
pub(crate) const PUBLIC: Mode = Mode::from_bits_truncate(0o644);
/// The owner's alone.
pub(crate) const PRIVATE: Mode = Mode::from_bits_truncate(0o600);
/// Of directories.
const SEARCHABLE: Mode = Mode::from_bits_truncate(0o755);

/// A directory held open.
#[derive(Debug)]
pub(crate) struct Directory {
    fd: OwnedFd,
}

impl Directory {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let fd = open(path, OFlag::O_DIRECTORY | OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty())?;
        Ok(Self { fd })
    }

    /// One in it, itself and not what a link leads to; `None`: there is nothing of this name.
    pub(crate) fn below(&self, name: &str) -> io::Result<Option<Self>> {
        let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_RDONLY | OFlag::O_CLOEXEC;
        match openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => Ok(Some(Self { fd })),
            Err(Errno::ENOENT) => Ok(None),
            Err(Errno::ENOTDIR | Errno::ELOOP) => Err(distrusted("it is not a directory".into())),
            Err(error) => Err(error.into()),
        }
    }

    /// A name that stays this directory's, whatever is renamed.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.fd.as_raw_fd()))
    }

    /// Makes it first where it is missing, with its parents.
    pub(crate) fn make(path: &Path) -> io::Result<Self> {
        make_directories(path)?;
        Self::open(path)
    }

    /// What is in it, in order.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        // Of its own: the position in a directory belongs to the open file.
        let own =
            openat(&self.fd, ".", OFlag::O_DIRECTORY | OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty())?;
        let mut names = Vec::new();
        for entry in Dir::from_fd(own)?.iter() {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// A regular file, to be read; `None`: there is nothing of this name. [`io::ErrorKind::InvalidData`]: there is, but
    /// it is no such file.
    pub(crate) fn regular(&self, name: &str) -> io::Result<Option<File>> {
        // Opening a pipe must not wait for its other end.
        let flags =
            OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC | OFlag::O_NOCTTY;
        let file = match openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::ENOENT) => return Ok(None),
            Err(error) => return Err(unfollowed(error)),
        };
        regular(&fstat(&file)?)?;
        Ok(Some(file))
    }

    /// The content of a regular file that root, the caller or the directory's owner alone may write, if it is not too
    /// long; otherwise as [`Self::regular`].
    pub(crate) fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = self.regular(name)? else { return Ok(None) };
        self.trust(&fstat(&file)?)?;
        let mut content = Vec::new();
        file.take(LONGEST as u64 + 1).read_to_end(&mut content)?;
        if content.len() > LONGEST {
            return Err(distrusted(format!("it is longer than {LONGEST} bytes")));
        }
        Ok(Some(content))
    }

    /// A new file, to be written little by little.
    pub(crate) fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let file = File::from(openat(&self.fd, name, flags, PRIVATE)?);
        fchmod(&file, PUBLIC)?;
        Ok(file)
    }

    /// Puts a file there, whole or not at all: a reader sees what was there before or what is there now.
    ///
    /// Whatever had the name loses it; a link's target stays as it is. `step` is called before the draft takes its place.
    pub(crate) fn write(
        &self,
        name: &str,
        content: &[u8],
        mode: Mode,
        step: impl FnOnce(),
    ) -> io::Result<()> {
        self.sweep(name)?;
        let (draft, mut file) = self.draft(name)?;
        let put = || -> io::Result<()> {
            file.write_all(content)?;
            fchmod(&*file, mode)?;
            file.sync_all()?;
            step();
            renameat(&self.fd, draft.as_str(), &self.fd, name)?;
            Ok(fsync(&self.fd)?)
        };
        put().inspect_err(|_| {
            let _ = self.remove(&draft);
        })
    }

    /// A file to be locked, the directory's owner's if that can be; [`Self::keep_private`] closes it to all others.
    pub(crate) fn lockable(&self, name: &str) -> io::Result<File> {
        let flags = OFlag::O_RDWR
            | OFlag::O_CREAT
            | OFlag::O_NOFOLLOW
            | OFlag::O_NONBLOCK
            | OFlag::O_CLOEXEC
            | OFlag::O_NOCTTY;
        let file = File::from(openat(&self.fd, name, flags, PRIVATE).map_err(unfollowed)?);
        let found = fstat(&file)?;
        regular(&found)?;
        if found.st_nlink > 1 {
            return Err(distrusted("it has another name".into()));
        }
        let home = fstat(&self.fd)?;
        // Root may come first, and must not lock the owner out. A lock is empty: nothing else is given away.
        if geteuid().is_root() && found.st_uid != home.st_uid && found.st_size == 0 {
            let _ = fchown(&file, Some(Uid::from_raw(home.st_uid)), Some(Gid::from_raw(home.st_gid)));
        }
        Ok(file)
    }

    /// Lets only its owner open a file from now on.
    pub(crate) fn keep_private(file: &File) -> io::Result<()> {
        if fstat(file)?.st_mode & 0o7777 != PRIVATE.bits() {
            // Of an older version, or made with a strange umask. Root may, its owner may.
            fchmod(file, PRIVATE)?;
        }
        Ok(())
    }

    /// What is not there need not be removed.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.fd, name, UnlinkatFlags::NoRemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Likewise an empty directory in it; a link to one is a file.
    pub(crate) fn remove_directory(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.fd, name, UnlinkatFlags::RemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(Errno::ENOTDIR) => self.remove(name),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn remove_links(&self) -> io::Result<()> {
        for name in self.names()? {
            let found = fstatat(&self.fd, name.as_str(), AtFlags::AT_SYMLINK_NOFOLLOW)?;
            if SFlag::from_bits_truncate(found.st_mode & SFlag::S_IFMT.bits()) == SFlag::S_IFLNK {
                self.remove(&name)?;
            }
        }
        Ok(())
    }

    /// Removes the drafts of a file whose writers have died.
    ///
    /// A writer holds its draft locked from before its first byte until it has its place.
    pub(crate) fn sweep(&self, name: &str) -> io::Result<()> {
        for draft in self.names()?.iter().filter(|other| is_draft(other, name)) {
            let flags =
                OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC | OFlag::O_NOCTTY;
            // What another user has put there under such a name, and what we may not open, stays.
            let Ok(fd) = openat(&self.fd, draft.as_str(), flags, Mode::empty()) else { continue };
            if regular(&fstat(&fd)?).is_err() {
                continue;
            }
            // Held while it is removed, so that its writer, if it has only just made it, takes another.
            // What may not be removed (another user's, in a sticky directory) stays, too.
            if let Ok(_dead) = Flock::lock(File::from(fd), FlockArg::LockExclusiveNonblock) {
                let _ = self.remove(draft);
            }
        }
        Ok(())
    }

    /// A new file under a name that no one can foresee, locked and private.
    fn draft(&self, name: &str) -> io::Result<(String, Flock<File>)> {
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..ATTEMPTS {
            let draft = draft_name(name, &random()?);
            let file = match openat(&self.fd, draft.as_str(), flags, PRIVATE) {
                Ok(fd) => File::from(fd),
                Err(Errno::EEXIST) => continue,
                Err(error) => return Err(error.into()),
            };
            // Between the two calls another writer may have taken it for a dead one's.
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(file) if fstat(&*file)?.st_nlink == 1 => return Ok((draft, file)),
                Ok(_) => {}
                Err((_, error)) => taken = error.into(),
            }
        }
        Err(taken)
    }

    /// Whether what is read from such a file was written by a user who may decide here.
    fn trust(&self, file: &FileStat) -> io::Result<()> {
        let owner = file.st_uid;
        if owner != 0 && owner != geteuid().as_raw() && owner != fstat(&self.fd)?.st_uid {
            return Err(distrusted(format!(
                "it belongs to user {owner}, who is neither root nor the owner of the directory nor the caller"
            )));
        }
        if file.st_mode & 0o022 != 0 {
            return Err(distrusted(format!(
                "others than its owner may write it (mode {:04o})",
                file.st_mode & 0o7777
            )));
        }
        Ok(())
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Makes a directory and its missing parents, searchable by everybody and written by the owner, whatever the umask.
pub(crate) fn make_directories(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        make_directories(parent)?;
    }
    make_directory(path)
}

/// Likewise one directory, which may be there already: itself, not a link to one.
pub(crate) fn make_directory(path: &Path) -> io::Result<()> {
    let made = match mkdir(path, SEARCHABLE) {
        Ok(()) => true,
        Err(Errno::EEXIST) => false,
        Err(error) => return Err(error.into()),
    };
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_RDONLY | OFlag::O_CLOEXEC;
    match open(path, flags, Mode::empty()) {
        Ok(directory) if made => {
            let mode = Mode::from_bits_truncate(fstat(&directory)?.st_mode);
            // Who hands its group down has given that to this one, too.
            if mode & !Mode::S_ISGID != SEARCHABLE {
                fchmod(directory, SEARCHABLE | mode & Mode::S_ISGID)?;
            }
            Ok(())
        }
        Ok(_) => Ok(()),
        // A link is no directory either.
        Err(Errno::ENOTDIR | Errno::ELOOP) => Err(distrusted("it is not a directory".into())),
        Err(error) => Err(error.into()),
    }
}

/// Puts a file that everybody may read in its place, whole or not at all.
///
/// It takes the place of nothing but a regular file.
pub fn publish(path: &Path, content: &[u8]) -> Result {
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
        HostError::input(format!("{} is not a file name", path.display()), "DIRECTORY/NAME.prom")
    })?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let directory = Directory::open(parent).map_err(HostError::file("open", parent))?;
    if let Ok(there) = fstatat(&directory, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
        regular(&there).map_err(|kind| {
            HostError::input(
                format!("{}: {kind}, and only a regular file is replaced", path.display()),
                "the name of a file that is not there yet, or of one that this command has written",
            )
        })?;
    }
    directory.write(name, content, PUBLIC, || {}).map_err(HostError::file("write", path))
}

fn regular(file: &FileStat) -> io::Result<()> {
    let kind = match SFlag::from_bits_truncate(file.st_mode & SFlag::S_IFMT.bits()) {
        SFlag::S_IFREG => return Ok(()),
        SFlag::S_IFDIR => "a directory",
        SFlag::S_IFLNK => "a symbolic link",
        SFlag::S_IFIFO => "a pipe",
        SFlag::S_IFSOCK => "a socket",
        _ => "a device",
    };
    Err(distrusted(format!("it is {kind}")))
}

/// What is there, but is not to be believed or touched.
fn distrusted(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// What `O_NOFOLLOW` means by its error, and what opening a socket does.
fn unfollowed(error: Errno) -> io::Error {
    match error {
        Errno::ELOOP => distrusted("it is a symbolic link".into()),
        Errno::ENXIO => distrusted("it is a socket".into()),
        error => error.into(),
    }
}

fn draft_name(name: &str, random: &str) -> String {
    format!(".{name}.{random}.{DRAFT}")
}

fn is_draft(other: &str, name: &str) -> bool {
    let random = other
        .strip_prefix('.')
        .and_then(|rest| rest.strip_prefix(name))
        .and_then(|rest| rest.strip_prefix('.'))
        .and_then(|rest| rest.strip_suffix(DRAFT))
        .and_then(|rest| rest.strip_suffix('.'));
    random.is_some_and(|random| {
        random.len() == 32
            && random.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

fn random() -> io::Result<String> {
    Ok(std::fs::read_to_string(RANDOM)?.trim().replace('-', ""))
}

#[cfg(test)]
mod tests;

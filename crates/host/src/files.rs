//! Files in directories that may be somebody else's.
//!
//! Whoever owns a directory can put anything under any name in it, at any time: a link to a file of ours, a pipe that
//! never ends, a file of theirs. So a directory is opened once, and everything in it is reached from there; the last part of
//! a name is never followed; what is read is a regular file of bounded length and of a known owner; what is written is
//! drafted under a name that nobody can foresee, and renamed. Modes do not depend on the umask.
//!
//! Links in the path of the directory itself are followed: whoever runs the command has named it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, Flock, FlockArg, OFlag, open, openat, renameat};
use nix::sys::stat::{FileStat, Mode, SFlag, fchmod, fstat, fstatat};
use nix::unistd::{Gid, Uid, UnlinkatFlags, fchown, fsync, geteuid, mkdir, unlinkat};

use crate::error::HostError;

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
    /// Whatever had the name loses it; a link's target stays as it is. `step` is told before the draft takes its place.
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

    /// Lets nobody but its owner open a file from now on.
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

    /// Removes the drafts of a file whose writers have died.
    ///
    /// A writer holds its draft locked from before its first byte until it has its place.
    pub(crate) fn sweep(&self, name: &str) -> io::Result<()> {
        for draft in self.names()?.iter().filter(|other| is_draft(other, name)) {
            let flags =
                OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC | OFlag::O_NOCTTY;
            // What somebody else has put there under such a name, and what we may not open, stays.
            let Ok(fd) = openat(&self.fd, draft.as_str(), flags, Mode::empty()) else { continue };
            if regular(&fstat(&fd)?).is_err() {
                continue;
            }
            // Held while it is removed, so that its writer, if it has only just made it, takes another.
            // What may not be removed (somebody else's, in a sticky directory) stays, too.
            if let Ok(_dead) = Flock::lock(File::from(fd), FlockArg::LockExclusiveNonblock) {
                let _ = self.remove(draft);
            }
        }
        Ok(())
    }

    /// A new file under a name that nobody can foresee, locked and private.
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

    /// Whether what is read from such a file is what somebody with a say here has written.
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
pub fn publish(path: &Path, content: &[u8]) -> Result<(), HostError> {
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
mod tests {
    use std::fs::{self, File};
    use std::io::ErrorKind;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::{env, process, thread};

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::*;

    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let path = env::temp_dir().join(format!("ramp-files-{name}-{}", process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir(&path).expect("a directory");
            Self(path)
        }

        fn directory(&self) -> Directory {
            Directory::open(&self.0).expect("it is there")
        }

        fn names(&self) -> Vec<String> {
            self.directory().names().expect("it can be read")
        }

        fn mode(&self, name: &str) -> u32 {
            fs::metadata(self.0.join(name)).expect("it is there").permissions().mode() & 0o7777
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_is_written_is_read_and_leaves_nothing_else() {
        let place = Place::new("plain");
        let directory = place.directory();
        assert_eq!(directory.read("a.json").expect("nothing is no error"), None);
        for content in [b"first".to_vec(), b"second".to_vec(), vec![7; LONGEST]] {
            directory.write("a.json", &content, PUBLIC, || {}).expect("it can be written");
            assert_eq!(directory.read("a.json").expect("it can be read").as_ref(), Some(&content));
        }
        assert_eq!((place.names(), place.mode("a.json")), (vec!["a.json".to_owned()], 0o644));
    }

    #[test]
    fn only_short_regular_files_that_nobody_else_can_write_are_read() {
        let place = Place::new("hostile");
        let path = |name: &str| place.0.join(name);
        symlink("/etc/hostname", path("link")).expect("a link");
        symlink("/dev/zero", path("endless")).expect("a link");
        mkfifo(&path("pipe"), Mode::from_bits_truncate(0o644)).expect("a pipe");
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).expect("a socket");
        fs::create_dir(path("directory")).expect("a directory");
        fs::write(path("long"), vec![7; LONGEST + 1]).expect("a file");
        fs::write(path("open"), "{}").expect("a file");
        fs::set_permissions(path("open"), fs::Permissions::from_mode(0o646)).expect("its owner may");
        for (name, why) in [
            ("link", "a symbolic link"),
            ("endless", "a symbolic link"),
            ("pipe", "a pipe"),
            ("socket", "a socket"),
            ("directory", "a directory"),
            ("long", "longer than 65536 bytes"),
            ("open", "others than its owner may write it (mode 0646)"),
        ] {
            let error = place.directory().read(name).expect_err(name);
            assert_eq!(error.kind(), ErrorKind::InvalidData, "{name}: {error}");
            assert!(error.to_string().contains(why), "{name}: {error}");
        }
    }

    #[test]
    fn what_is_no_regular_file_is_neither_followed_nor_replaced() {
        let place = Place::new("replace");
        let path = |name: &str| place.0.join(name);
        fs::write(path("victim"), "whole").expect("a file");
        symlink("victim", path("link.prom")).expect("a link");
        mkfifo(&path("pipe.prom"), Mode::from_bits_truncate(0o644)).expect("a pipe");
        for name in ["link.prom", "pipe.prom"] {
            let error = publish(&path(name), b"text").expect_err(name);
            assert!(matches!(error, HostError::Input { .. }), "{error}");
            assert!(error.to_string().contains(name), "{error}");
        }
        // The names that a draft once had, and one that it might have.
        symlink("victim", path("ramp.new")).expect("a link");
        symlink("victim", path(&draft_name("ramp.prom", &"0".repeat(32)))).expect("a link");
        publish(&path("ramp.prom"), b"text").expect("it can be written");
        assert_eq!(fs::read_to_string(path("ramp.prom")).expect("a file"), "text");
        assert_eq!(fs::read_to_string(path("victim")).expect("a file"), "whole");
        for (name, why) in [("/dev/full", "a device"), ("/dev", "a directory"), ("/", "not a file name")] {
            let error = publish(Path::new(name), b"text").expect_err(name);
            assert!(error.to_string().contains(why), "{error}");
        }
        let locked = place.directory().lockable("link.prom").expect_err("a link is not locked");
        assert!(locked.to_string().contains("a symbolic link"), "{locked}");
    }

    #[test]
    fn a_dead_writers_draft_is_removed_and_a_living_ones_is_not() {
        let place = Place::new("drafts");
        let directory = place.directory();
        let (living, held) = directory.draft("a.json").expect("a draft");
        let dead = draft_name("a.json", &"f".repeat(32));
        let others = [draft_name("b.json", &"f".repeat(32)), ".a.json.note.new".to_owned()];
        for name in others.iter().chain([&dead]) {
            File::create(place.0.join(name)).expect("a file");
        }
        assert_eq!(place.mode(&living), 0o600);
        directory.write("a.json", b"{}", PUBLIC, || {}).expect("it can be written");
        let names = place.names();
        assert!(!names.contains(&dead) && names.contains(&living), "{names:?}");
        assert!(others.iter().all(|name| names.contains(name)), "{names:?}");
        drop(held);
        directory.sweep("a.json").expect("it can be swept");
        assert!(!place.names().contains(&living));
    }

    #[test]
    fn a_file_to_be_locked_is_its_owners_alone() {
        let place = Place::new("lock");
        fs::write(place.0.join("old"), "").expect("a file");
        fs::set_permissions(place.0.join("old"), fs::Permissions::from_mode(0o666)).expect("its owner may");
        for name in ["new", "old"] {
            let file = place.directory().lockable(name).expect("it can be opened");
            Directory::keep_private(&file).expect("its owner may");
            assert_eq!(place.mode(name), 0o600);
        }
        fs::write(place.0.join("data"), "x").expect("a file");
        fs::hard_link(place.0.join("data"), place.0.join("linked")).expect("a link");
        let error = place.directory().lockable("linked").expect_err("it is another file as well");
        assert!(
            error.kind() == ErrorKind::InvalidData && error.to_string().contains("another name"),
            "{error}"
        );
    }

    /// Only root can give files away; the tests of attaching do the rest of it as somebody else.
    #[test]
    fn roots_lock_is_its_directorys_owners_and_nothing_else_is_given_away() {
        const NOBODY: u32 = 65_534;
        if !geteuid().is_root() {
            return;
        }
        let place = Place::new("given");
        if chown(&place.0, Some(NOBODY), Some(NOBODY)).is_err() {
            return;
        }
        fs::write(place.0.join("secret"), "x").expect("a file");
        for (name, owner) in [("lock", NOBODY), ("secret", 0)] {
            for _ in 0..2 {
                place.directory().lockable(name).expect("root may");
                assert_eq!(fs::metadata(place.0.join(name)).expect("it is there").uid(), owner, "{name}");
            }
        }
    }

    #[test]
    fn many_writers_at_once_never_show_half_a_file() {
        let place = Place::new("race");
        let path = place.0.join("ramp.prom");
        let texts: Vec<String> = (0..4).map(|n| n.to_string().repeat(5000)).collect();
        publish(&path, texts[0].as_bytes()).expect("it can be written");
        let over = AtomicBool::new(false);
        let reads = thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut reads = 0;
                while !over.load(Ordering::Relaxed) || reads == 0 {
                    let text = fs::read_to_string(&path).expect("it is always there");
                    assert!(texts.contains(&text), "{} bytes", text.len());
                    reads += 1;
                }
                reads
            });
            let writers: Vec<_> = texts
                .iter()
                .map(|text| {
                    scope.spawn(|| (0..25).for_each(|_| publish(&path, text.as_bytes()).expect("written")))
                })
                .collect();
            let written: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
            over.store(true, Ordering::Relaxed);
            assert!(written.iter().all(Result::is_ok), "a writer failed");
            reader.join().expect("the reader")
        });
        assert!(reads > 0);
        assert_eq!(place.names(), ["ramp.prom"]);
    }
}

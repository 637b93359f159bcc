use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
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
    assert!(error.kind() == ErrorKind::InvalidData && error.to_string().contains("another name"), "{error}");
}

/// Only root can give files away; the tests of attaching do the rest of it as another user.
#[test]
fn the_lock_of_root_is_for_the_owner_of_its_directory_and_nothing_else_is_given_away() {
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

//! What cannot be done, or could not be undone, is refused by name, and changes nothing.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;

use rampcc_host::{Health, Host, HostError, Restored, Scope};

use crate::support::{Cgroup, Place, available, best, foreign, usual};

#[test]
fn a_scope_that_does_not_exist_is_bad_input() {
    let Some(place) = Place::ready() else { return };
    let host = place.host();
    for (scope, word) in [
        (Scope::Netns("no-such-namespace".into()), "no-such-namespace"),
        (Scope::Netns("../mnt".into()), "../mnt"),
        (Scope::Cgroup(PathBuf::from("/sys/fs/cgroup/no/such/group")), "/sys/fs/cgroup/no/such/group"),
        (Scope::Cgroup(place.root().to_path_buf()), "version 2"),
    ] {
        for error in [
            host.attach(&scope, best(), &usual(best())).expect_err("refused"),
            host.detach(Some(&scope)).expect_err("refused"),
        ] {
            assert!(matches!(error, HostError::Input { .. }), "{scope}: {error:?}");
            assert!(error.to_string().contains(word) && error.advice().is_some(), "{scope}: {error}");
        }
    }
    let error = host.detach(Some(&Scope::Netns(place.netns()))).expect_err("nothing is attached");
    assert!(error.to_string().contains("nothing is attached"), "{error}");
    assert_eq!(host.detach(None).expect("nothing to do"), []);
    place.assert_clean(&[]);
}

#[test]
fn what_is_planted_among_the_records_is_neither_followed_nor_waited_for() {
    let Some(place) = Place::ready() else { return };
    let (host, scope) = (place.host(), Scope::Netns(place.netns()));
    let (victim, lock) = (place.root().join("victim"), place.records().join("lock"));
    fs::write(&victim, "whole").expect("a file");
    fs::create_dir(place.records()).expect("somebody else's");
    symlink(&victim, &lock).expect("a link");
    let error = host.attach(&scope, best(), &usual(best())).expect_err("the lock is a link");
    assert!(error.to_string().contains("symbolic link"), "{error}");
    assert_eq!(place.default(), "reno");
    fs::remove_file(&lock).expect("the link");

    // Where drafts once were, and where the record belongs.
    let inode = place.within(|| fs::metadata("/proc/thread-self/ns/net").expect("its namespace").ino());
    let record = place.records().join(format!("default-{inode}.json"));
    for name in [record.with_extension("new"), record.clone()] {
        symlink(&victim, name).expect("a link");
    }
    let attached = host.attach(&scope, best(), &usual(best())).expect("attaches");
    assert!(fs::symlink_metadata(&record).expect("the record").is_file());
    assert_eq!(host.attachments().expect("status")[0].health, Health::InForce);

    for plant in [
        |path: &PathBuf| crate::support::run(&format!("mkfifo {}", path.display())),
        |path: &PathBuf| symlink("/dev/zero", path).expect("a link"),
        |path: &PathBuf| fs::write(path, vec![b' '; 1 << 20]).expect("a long file"),
        |path: &PathBuf| crate::support::run(&format!("install -m 0666 /dev/null {}", path.display())),
    ] {
        fs::remove_file(&record).expect("the record");
        plant(&record);
        assert_eq!(host.attachments().expect("status")[0].health, Health::InForce, "the copy is read");
    }
    assert_eq!(host.detach(None).expect("detaches")[0].restored, Restored::PutBack("reno".into()));
    assert_eq!(fs::read_to_string(&victim).expect("a file"), "whole");
    place.assert_clean(&[attached.name]);
}

/// The owner of the directory of pins can make links in it, and root detaches there.
#[test]
fn what_a_link_among_the_pins_leads_to_is_not_touched() {
    let Some(place) = Place::ready() else { return };
    let group = Cgroup::new();
    let other = Host::at(place.root().join("bpf/other"), place.root().join("other"));
    let scope = Scope::Cgroup(group.path.clone());
    let attached = other.attach(&scope, best(), &usual(best())).expect("attaches");
    let key = other.attachments().expect("status")[0].key.clone();
    let (theirs, pins) = (other.pins().join(key), place.pins());
    let make = |path: PathBuf| fs::create_dir_all(path).expect("a directory");
    make(pins.join("cgroup-1"));
    symlink(theirs.join("1"), pins.join("cgroup-1/1")).expect("a link");
    symlink(&theirs, pins.join("cgroup-2")).expect("a link");
    make(pins.join("cgroup-3/1"));
    for name in ["link", "operations", "assign", "counters"] {
        symlink(theirs.join("1").join(name), pins.join("cgroup-3/1").join(name)).expect("a link");
    }
    symlink(theirs.join("record"), pins.join("cgroup-3/record")).expect("a link");
    let detached = place.within(|| place.host().detach(None)).expect("nothing is attached here");
    assert_eq!(detached.len(), 3, "{detached:?}");
    assert_eq!(other.attachments().expect("status")[0].health, Health::InForce);
    assert!(available().contains(&attached.name) && theirs.join("1/assign").exists());
    place.assert_clean(&[]);
    other.detach(None).expect("detaches");
    assert!(!available().contains(&attached.name));
}

#[test]
fn pins_must_be_in_a_bpf_file_system() {
    let Some(place) = Place::ready() else { return };
    let host = Host::at(place.root().join("pins"), place.records());
    let error = host.attach(&Scope::Netns(place.netns()), best(), &usual(best())).expect_err("refused");
    assert!(error.advice().is_some_and(|advice| advice.contains("mount -t bpf")), "{error}");
    assert_eq!(place.default(), "reno");
}

#[test]
fn a_default_that_is_no_longer_registered_could_not_be_put_back() {
    let Some(place) = Place::ready() else { return };
    let loaded = rampcc_linux::load(best(), &named("rdead_best")).expect("loads");
    place.set_default("rdead_best");
    loaded.detach();
    while available().iter().any(|name| name == "rdead_best") {
        std::thread::yield_now();
    }
    let host = place.host();
    let error = host.attach(&Scope::Netns(place.netns()), best(), &usual(best())).expect_err("refused");
    assert!(
        matches!(error, HostError::Refused { .. }) && error.to_string().contains("rdead_best"),
        "{error}"
    );
    place.assert_clean(&[]);
    assert_eq!(place.default(), "rdead_best");
}

#[test]
fn another_records_attachment_is_not_taken_for_the_original() {
    let Some(place) = Place::ready() else { return };
    let other = Place::another();
    let scope = Scope::Netns(place.netns());
    let attached = place.host().attach(&scope, best(), &usual(best())).expect("attaches");
    let error = other.host().attach(&scope, best(), &usual(best())).expect_err("refused");
    assert!(error.to_string().contains(&attached.name), "{error}");
    other.assert_clean(&[]);
    place.host().detach(None).expect("detaches");
    assert_eq!(place.default(), "reno");
}

#[test]
fn a_record_from_before_the_last_boot_undoes_nothing() {
    let Some(place) = Place::ready() else { return };
    let host = place.host();
    let scope = Scope::Netns(place.netns());
    let attached = host.attach(&scope, best(), &usual(best())).expect("attaches");
    let key = host.attachments().expect("status")[0].key.clone();
    let file = place.records().join(format!("{key}.json"));
    let record = fs::read_to_string(&file).expect("the record");
    host.detach(None).expect("detaches");
    // As after a boot: the file is there, and nothing that it speaks of.
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("the boot's name");
    fs::write(&file, record.replace(boot.trim(), "another boot")).expect("the old record");
    place.set_default(foreign());
    let status = host.attachments().expect("status");
    assert_eq!((&status[0].health, &status[0].replaced), (&Health::Stale, &None));
    let detached = host.detach(None).expect("forgets it");
    assert!(detached[0].notes[0].contains("boot"), "{detached:?}");
    assert_eq!(detached[0].restored, Restored::WasThere("whatever is set now".into()));
    assert_eq!(place.default(), foreign());
    place.assert_clean(&[attached.name]);
}

fn named(name: &str) -> rampcc_linux::Options {
    let mut options = usual(best());
    options.name = Some(name.into());
    options
}

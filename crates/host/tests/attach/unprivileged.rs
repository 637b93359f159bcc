//! Three capabilities are enough, and each of them is needed.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use caps::{CapSet, Capability};
use nix::fcntl::{Flock, FlockArg};
use rampcc_host::{Change, Host, Scope, privileges};

use crate::support::{Place, best, finish, usual};

const NOBODY: u32 = 65534;

/// In a child: attaches as its user, gives up what it may, and prints the answer.
pub(crate) fn attach() {
    let root = PathBuf::from(std::env::var("RAMP_PLACE").expect("set by the parent"));
    let host = Host::at(root.join("bpf/ramp"), root.join("records"));
    match host.attach(&Scope::System, best(), &usual(best())) {
        Ok(attached) => {
            assert_eq!(attached.change, Change::Made);
            privileges::keep_only(&[]).expect("giving up capabilities");
            for set in [CapSet::Effective, CapSet::Permitted, CapSet::Inheritable, CapSet::Ambient] {
                assert!(caps::read(None, set).expect("capabilities").is_empty());
            }
            assert!(host.detach(None).is_err(), "detaching takes what has been given up");
            println!("attached: {}", attached.name);
        }
        Err(error) => println!("told: {error}; {}", error.advice().unwrap_or_default()),
    }
}

/// In a child: detaches, and prints the answer.
pub(crate) fn detach() {
    let root = PathBuf::from(std::env::var("RAMP_PLACE").expect("set by the parent"));
    match Host::at(root.join("bpf/ramp"), root.join("records")).detach(None) {
        Ok(detached) => println!("detached: {}", detached.len()),
        Err(error) => println!("told: {error}; {}", error.advice().unwrap_or_default()),
    }
}

/// The child as user `nobody`, with these capabilities alone.
fn as_nobody(place: &Place, capabilities: &[Capability]) -> String {
    nobody_does("attach", place, capabilities)
}

fn nobody_does(what: &str, place: &Place, capabilities: &[Capability]) -> String {
    let executable = place.root().join("child");
    if !executable.exists() {
        fs::copy(std::env::current_exe().expect("its own path"), &executable)
            .expect("a copy that nobody may read");
    }
    let list: Vec<_> = capabilities
        .iter()
        .map(|capability| format!("+{}", capability.to_string().trim_start_matches("CAP_").to_lowercase()))
        .collect();
    let list = if list.is_empty() { "-all".to_owned() } else { format!("-all,{}", list.join(",")) };
    let mut command = Command::new("ip");
    command.args(["netns", "exec", &place.netns(), "setpriv", "--reuid=65534", "--regid=65534"]);
    command.args(["--clear-groups", &format!("--inh-caps={list}"), &format!("--ambient-caps={list}")]);
    command.arg(&executable).args(["--exact", "child", "--nocapture"]);
    command.env("RAMP_CHILD", what).env("RAMP_PLACE", place.root());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let (status, said) = finish(command.spawn().expect("a child"));
    assert!(status.success(), "{capabilities:?}: {said}");
    said
}

#[test]
fn nobody_attaches_with_three_capabilities_and_is_told_which_is_missing() {
    let Some(place) = Place::ready() else { return };
    fs::set_permissions(place.root().join("bpf"), fs::Permissions::from_mode(0o755)).expect("permissions");
    for directory in [place.pins(), place.records()] {
        fs::create_dir(&directory).expect("a directory");
        chown(&directory, Some(NOBODY), Some(NOBODY)).expect("for nobody");
    }
    for missing in privileges::NEEDED {
        let held: Vec<_> = privileges::NEEDED.into_iter().filter(|held| *held != missing).collect();
        let said = as_nobody(&place, &held);
        let told = said.lines().find(|line| line.contains("told: ")).expect(&said);
        assert!(told.contains(&missing.to_string()), "without {missing}: {told}");
        assert_eq!(place.default(), "reno");
        place.assert_clean(&[]);
    }
    let said = as_nobody(&place, &privileges::NEEDED);
    let name = said.lines().find_map(|line| line.split_once("attached: ")).expect(&said).1.to_owned();
    assert_eq!(place.default(), name);
    assert_eq!(place.used(), [name.clone(), name.clone()]);
    place.within(|| place.host().detach(None)).expect("root detaches");
    assert_eq!(place.default(), "reno");
    place.assert_clean(&[name]);
}

#[test]
fn a_directory_that_may_not_be_written_is_named_with_its_remedy() {
    let Some(place) = Place::ready() else { return };
    fs::set_permissions(place.root().join("bpf"), fs::Permissions::from_mode(0o755)).expect("permissions");
    let said = as_nobody(&place, &privileges::NEEDED);
    assert!(said.contains("records") && said.contains("install -d -o USER"), "{said}");
    fs::create_dir(place.records()).expect("a directory");
    chown(place.records(), Some(NOBODY), Some(NOBODY)).expect("for nobody");
    let said = as_nobody(&place, &privileges::NEEDED);
    assert!(said.contains("bpf/ramp") && said.contains("mount -t bpf -o mode=0700"), "{said}");
    assert_eq!(place.default(), "reno");
}

#[test]
fn roots_lock_in_a_users_directory_locks_nobody_out() {
    let Some(place) = Place::ready() else { return };
    fs::set_permissions(place.root().join("bpf"), fs::Permissions::from_mode(0o755)).expect("permissions");
    for directory in [place.pins(), place.records()] {
        fs::create_dir(&directory).expect("a directory");
        chown(&directory, Some(NOBODY), Some(NOBODY)).expect("for nobody");
    }
    let lock = place.records().join("lock");
    let attach = || {
        let said = as_nobody(&place, &privileges::NEEDED);
        said.lines().find_map(|line| line.split_once("attached: ")).expect(&said).1.to_owned()
    };
    // Root looks first, and again while something is attached.
    assert_eq!(place.host().detach(None).expect("nothing is attached"), []);
    assert_eq!(fs::metadata(&lock).expect("the lock").uid(), NOBODY);
    let name = attach();
    fs::remove_file(&lock).expect("the lock");
    place.within(|| place.host().attach(&Scope::System, best(), &usual(best()))).expect("it is the same");
    let said = nobody_does("detach", &place, &privileges::NEEDED);
    assert!(said.contains("detached: 1"), "{said}");
    assert_eq!(place.default(), "reno");
    // As root's older versions left it, and as it is before the directory is given to its user.
    for mode in [0o644, 0o600] {
        for what in ["attach", "detach"] {
            fs::remove_file(&lock).expect("the lock");
            fs::write(&lock, "").expect("a file");
            fs::set_permissions(&lock, fs::Permissions::from_mode(mode)).expect("permissions");
            let said = nobody_does(what, &place, &privileges::NEEDED);
            assert!(said.contains("ed: ") && !said.contains("told: "), "{what}, {mode:o}: {said}");
        }
        assert_eq!(place.default(), "reno");
    }
    // While root holds it, no one takes it away.
    fs::remove_file(&lock).expect("the lock");
    let held =
        Flock::lock(fs::File::create(&lock).expect("a file"), FlockArg::LockExclusive).expect("it is free");
    fs::set_permissions(&lock, fs::Permissions::from_mode(0o600)).expect("permissions");
    let said = as_nobody(&place, &privileges::NEEDED);
    assert!(said.contains("told: ") && said.contains("chown USER"), "{said}");
    drop(held);
    place.assert_clean(&[name]);
}

//! Nothing keeps what was before from coming back: not a full disk, not a lock, not a damaged record.

use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg};
use rampcc_host::{Health, HostError, Restored, Scope};
use serde_json::{Value, json};

use crate::support::{Place, algorithm, best, foreign, run, usual};

const NOBODY: &str = "--reuid=65534";

fn name_of(place: &Place) -> String {
    place.host().attachments().expect("status")[0].attached.as_ref().expect("on record").name.clone()
}

fn key_of(place: &Place) -> String {
    place.host().attachments().expect("status")[0].key.clone()
}

/// The file of the only attachment's record.
fn record(place: &Place) -> PathBuf {
    place.records().join(format!("{}.json", key_of(place)))
}

/// A small file system for the records, until it is dropped.
struct Small(PathBuf);

impl Small {
    fn under(place: &Place) -> Self {
        fs::create_dir(place.records()).expect("a mount point");
        run(&format!("mount -t tmpfs -o size=64k tmpfs {}", place.records().display()));
        Self(place.records())
    }

    fn fill(&self) {
        let mut file = File::create(self.0.join("filling")).expect("a file");
        while file.write_all(&[0; 4096]).is_ok() {}
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output();
    }
}

/// What stands in the way, how it is taken away again, and whether something has to be left until then.
type Case<'a> = (&'a str, &'a dyn Fn(), &'a dyn Fn(), bool);

#[test]
fn what_was_before_comes_back_while_nothing_can_be_written() {
    let Some(place) = Place::ready() else { return };
    let (host, scope) = (place.host(), Scope::Netns(place.netns()));
    let small = Small::under(&place);
    let bpf = place.root().join("bpf");
    let remount = |what: &Path, how: &str| run(&format!("mount -o remount,{how} {}", what.display()));
    let mirror = || place.pins().join(key_of(&place)).join("record");
    let break_mirror = || {
        let mirror = mirror();
        fs::remove_file(&mirror).expect("the map");
        fs::create_dir(mirror).expect("something else");
    };
    let cases: [Case; 4] = [
        ("full", &|| small.fill(), &|| {}, false),
        ("read-only", &|| remount(&small.0, "ro"), &|| remount(&small.0, "rw"), true),
        ("pins read-only", &|| remount(&bpf, "ro"), &|| remount(&bpf, "rw"), true),
        ("no map", &break_mirror, &|| fs::remove_dir(mirror()).expect("it is there"), true),
    ];
    for (what, hinder, mend, left) in cases {
        let attached = host.attach(&scope, best(), &usual(best())).expect("attaches");
        assert_eq!(place.default(), attached.name, "{what}");
        hinder();
        let detached = host.detach(None);
        assert_eq!(place.default(), "reno", "{what}: {detached:?}");
        match detached {
            Ok(done) if !left => assert_eq!(done[0].restored, Restored::PutBack("reno".into()), "{what}"),
            Err(HostError::Partly { done, .. }) if left => {
                assert_eq!(done[0].restored, Restored::PutBack("reno".into()), "{what}");
            }
            other => panic!("{what}: {other:?}"),
        }
        mend();
        host.detach(None).unwrap_or_else(|error| panic!("{what}: {error}"));
        let _ = fs::remove_file(small.0.join("filling"));
        assert_eq!(place.default(), "reno", "{what}");
        place.assert_clean(&[attached.name]);
    }
}

#[test]
fn what_cannot_be_put_on_record_is_not_attached_and_what_is_attached_stays() {
    let Some(place) = Place::ready() else { return };
    let (host, scope) = (place.host(), Scope::Netns(place.netns()));
    let small = Small::under(&place);
    host.detach(None).expect("makes the lock");
    small.fill();
    let error = host.attach(&scope, best(), &usual(best())).expect_err("there is no room");
    assert!(matches!(error, HostError::File { .. }), "{error}");
    assert_eq!(place.default(), "reno");
    fs::remove_file(small.0.join("filling")).expect("it is there");
    place.assert_clean(&[]);
    let attached = host.attach(&scope, best(), &usual(best())).expect("attaches");
    small.fill();
    let hystart = algorithm("hystart");
    let error = host.attach(&scope, hystart, &usual(hystart)).expect_err("there is no room");
    assert!(matches!(error, HostError::File { .. }), "what was done is undone: {error}");
    assert_eq!(place.default(), attached.name);
    assert_eq!(host.attachments().expect("status")[0].health, Health::InForce);
    host.detach(None).expect("detaches");
    assert_eq!(place.default(), "reno");
    fs::remove_file(small.0.join("filling")).expect("it is there");
    place.assert_clean(&[attached.name, "ramp_hystart".into()]);
}

/// A process that holds a lock until it is dropped.
struct Holding {
    child: Child,
    heir: u32,
}

impl Holding {
    fn as_nobody(path: &Path) -> Self {
        let mut command = Command::new("setpriv");
        command.args([NOBODY, "--regid=65534", "--clear-groups", "flock", "-w", "30", "-x"]).arg(path);
        command.args(["sh", "-c", "echo $$; exec sleep 1000"]).stdout(Stdio::piped());
        let mut child = command.spawn().expect("setpriv");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("its answer");
        let heir = line.trim().parse().expect("a process");
        Self { child, heir }
    }

    /// The process that the kernel names ends, and the lock stays with the one that it has started.
    fn bequeath(&mut self) {
        self.child.kill().expect("it is there");
        self.child.wait().expect("it has ended");
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = Command::new("kill").args(["-KILL", &self.heir.to_string()]).status();
    }
}

#[test]
fn a_stranger_who_holds_the_lock_holds_up_nobody() {
    let Some(place) = Place::ready() else { return };
    let (host, scope) = (place.host(), Scope::Netns(place.netns()));
    let attached = host.attach(&scope, best(), &usual(best())).expect("attaches");
    let lock = place.records().join("lock");
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o7777;
    assert_eq!(mode(&lock), 0o600);
    // As older versions made it.
    fs::set_permissions(&lock, Permissions::from_mode(0o644)).expect("permissions");
    let holding = Holding::as_nobody(&lock);
    let detached = host.detach(None).expect("detaches");
    assert_eq!(detached[0].restored, Restored::PutBack("reno".into()));
    assert_eq!((place.default().as_str(), mode(&lock)), ("reno", 0o600));
    place.assert_clean(&[attached.name]);
    drop(holding);

    // Whose parent has ended holds it as long as anybody may, and no longer.
    let attached = host.attach(&scope, best(), &usual(best())).expect("attaches");
    fs::set_permissions(&lock, Permissions::from_mode(0o644)).expect("permissions");
    let mut holding = Holding::as_nobody(&lock);
    holding.bequeath();
    let detached = host.with_patience(Duration::ZERO).detach(None).expect("detaches");
    assert_eq!(detached[0].restored, Restored::PutBack("reno".into()));
    assert_eq!((place.default().as_str(), mode(&lock)), ("reno", 0o600));
    place.assert_clean(&[attached.name]);
}

#[test]
fn what_is_done_is_not_said_to_have_failed() {
    let Some(place) = Place::ready() else { return };
    let scope = Scope::Netns(place.netns());
    let attached = place.host().attach(&scope, best(), &usual(best())).expect("attaches");
    let bpf = place.root().join("bpf");
    let remount = |how: &str| run(&format!("mount -o remount,{how} {}", bpf.display()));
    let hindered = bpf.clone();
    // Nothing can be taken away any more when the other one is in force and on record.
    let host = place.host().on_step(move |step| {
        if step == "stop assigning it" {
            run(&format!("mount -o remount,ro {}", hindered.display()));
        }
    });
    let hystart = algorithm("hystart");
    let other = host.attach(&scope, hystart, &usual(hystart));
    remount("rw");
    let other = other.expect("it is in force");
    assert_eq!((other.change, place.default()), (rampcc_host::Change::Replaced, other.name.clone()));
    assert!(other.notes.iter().any(|note| note.contains(&attached.name)), "{other:?}");
    assert_eq!(place.host().attachments().expect("status")[0].health, Health::InForce);
    place.host().detach(None).expect("detaches");
    assert_eq!(place.default(), "reno");
    place.assert_clean(&[attached.name, other.name]);
}

#[test]
fn who_holds_the_lock_is_named_in_time() {
    let Some(place) = Place::ready() else { return };
    let host = place.host().with_patience(Duration::ZERO);
    let scope = Scope::Netns(place.netns());
    host.attach(&scope, best(), &usual(best())).expect("attaches");
    let file = File::open(place.records().join("lock")).expect("the lock");
    let held = Flock::lock(file, FlockArg::LockExclusive).expect("it is free");
    let own = format!("process {} (", std::process::id());
    for error in [
        host.detach(None).expect_err("it is held"),
        host.attach(&scope, best(), &usual(best())).expect_err("it is held"),
    ] {
        assert!(error.to_string().starts_with(&own) && error.advice().is_some(), "{error}");
    }
    drop(held);
    assert_eq!(host.detach(None).expect("detaches")[0].restored, Restored::PutBack("reno".into()));
    // What is not a file cannot be locked.
    host.attach(&scope, best(), &usual(best())).expect("attaches");
    let lock = place.records().join("lock");
    fs::remove_file(&lock).expect("the lock");
    run(&format!("mkfifo {}", lock.display()));
    assert_eq!(host.detach(None).expect("detaches")[0].restored, Restored::PutBack("reno".into()));
    assert!(host.attach(&scope, best(), &usual(best())).expect_err("refused").to_string().contains("pipe"));
    assert_eq!(place.default(), "reno");
}

#[test]
fn a_record_that_does_not_fit_gives_way_to_its_copy() {
    let Some(place) = Place::ready() else { return };
    let (host, scope) = (place.host(), Scope::Netns(place.netns()));
    for (what, with) in [
        ("\"version\": 1", "\"version\": 2"),
        ("\"version\": 1", "\"version\": 0"),
        ("\"netns\": ", "\"netns\": 1"),
        ("\"instances\": [", "\"instances\": [],\n  \"others\": ["),
        ("\"name\": \"", "\"name\": \"reno\", \"other\": \""),
        ("\"scope\": \"", "\"scope\": \"\\u001b[2J"),
        ("\"congestion_control\": \"reno\"", "\"congestion_control\": \"re/no\""),
    ] {
        let attached = host.attach(&scope, best(), &usual(best())).expect("attaches");
        let file = record(&place);
        let text = fs::read_to_string(&file).expect("the record");
        assert!(text.contains(what), "{what}: {text}");
        fs::write(&file, text.replace(what, with)).expect("another record");
        let status = host.attachments().expect("status");
        assert_eq!((status.len(), &status[0].health), (1, &Health::InForce), "{with}");
        let detached = host.detach(None).unwrap_or_else(|error| panic!("{with}: {error}"));
        assert_eq!(detached[0].restored, Restored::PutBack("reno".into()), "{with}");
        assert_eq!(place.default(), "reno", "{with}");
        place.assert_clean(&[attached.name]);
    }
}

#[test]
fn a_later_versions_record_is_left_to_it() {
    let Some(place) = Place::ready() else { return };
    let (host, scope) = (place.host(), Scope::Netns(place.netns()));
    let attached = host.attach(&scope, best(), &usual(best())).expect("attaches");
    let (file, key) = (record(&place), key_of(&place));
    let text = fs::read_to_string(&file).expect("the record");
    fs::remove_file(place.pins().join(&key).join("record")).expect("the map");
    fs::write(&file, text.replace("\"version\": 1", "\"version\": 7")).expect("another record");
    assert_eq!(host.attachments().expect("status")[0].health, Health::Foreign(7));
    for error in [
        host.detach(None).expect_err("it is not known how"),
        host.attach(&scope, best(), &usual(best())).expect_err("it is not known how"),
    ] {
        assert!(error.to_string().contains("later version") && error.to_string().contains('7'), "{error}");
    }
    assert_eq!(place.default(), attached.name);
    fs::write(&file, text).expect("the old record");
    assert_eq!(host.detach(None).expect("detaches")[0].restored, Restored::PutBack("reno".into()));
    place.assert_clean(&[attached.name]);
}

/// What the first release put on record, with nothing that came later.
fn as_first_released(record: &mut Value) {
    record.as_object_mut().expect("an object").remove("unit");
    for instance in record["instances"].as_array_mut().expect("a list") {
        instance.as_object_mut().expect("an object").remove("limits").expect("it has come since");
    }
}

/// What a later release of the same format may add.
fn as_released_later(record: &mut Value) {
    record["note"] = json!({"by": "a later release"});
    record["instances"][0]["shares"] = json!([1, 2]);
}

#[test]
fn another_releases_record_is_read_replaced_and_undone() {
    let Some(place) = Place::ready() else { return };
    let (host, scope) = (place.host(), Scope::Netns(place.netns()));
    let hystart = algorithm("hystart");
    let releases: [fn(&mut Value); 2] = [as_first_released, as_released_later];
    for (release, replaces) in releases.into_iter().flat_map(|one| [(one, false), (one, true)]) {
        let attached = host.attach(&scope, best(), &usual(best())).expect("attaches");
        let mut there: Value =
            serde_json::from_slice(&fs::read(record(&place)).expect("the record")).expect("JSON");
        release(&mut there);
        // The only one that is left.
        fs::remove_file(place.pins().join(key_of(&place)).join("record")).expect("the map");
        fs::write(record(&place), there.to_string()).expect("their record");
        let status = host.attachments().expect("status");
        assert_eq!((status.len(), &status[0].health), (1, &Health::InForce));
        let mut names = vec![attached.name];
        if replaces {
            names.push(host.attach(&scope, hystart, &usual(hystart)).expect("replaces it").name);
            assert_eq!(place.default(), names[1]);
        }
        assert_eq!(host.detach(None).expect("detaches")[0].restored, Restored::PutBack("reno".into()));
        assert_eq!(place.default(), "reno");
        place.assert_clean(&names);
    }
}

#[test]
fn a_record_of_what_is_not_ours_moves_nothing() {
    let Some(place) = Place::ready() else { return };
    let (host, scope) = (place.host(), Scope::Netns(place.netns()));
    let attached = host.attach(&scope, best(), &usual(best())).expect("attaches");
    let (file, key) = (record(&place), key_of(&place));
    let text = fs::read_to_string(&file).expect("the record");
    host.detach(None).expect("detaches");
    let (ours, theirs) = (format!("\"name\": \"{}\"", attached.name), format!("\"name\": \"{}\"", foreign()));
    fs::write(&file, text.replace(&ours, &theirs)).expect("a record");
    place.set_default(foreign());
    let stranger = place.pins().join("stranger");
    fs::create_dir(&stranger).expect("a directory of somebody else's");
    assert_eq!(host.attachments().expect("status").len(), 1);
    host.detach(None).expect("there is nothing to undo");
    assert_eq!(place.default(), foreign());
    assert!(stranger.exists() && !place.pins().join(key).exists());
    fs::remove_dir(stranger).expect("it is empty");
    place.assert_clean(&[]);
}

#[test]
fn drafts_of_processes_that_died_are_removed() {
    let Some(place) = Place::ready() else { return };
    let host = place.host();
    fs::create_dir(place.records()).expect("a directory");
    let random = "0123456789abcdef0123456789abcdef";
    for name in ["default-4026531840.new".into(), format!(".default-5.json.{random}.new")] {
        fs::write(place.records().join(name), "{").expect("a draft");
    }
    let other = place.records().join("notes.new");
    fs::write(&other, "mine").expect("somebody's file");
    assert_eq!(host.detach(None).expect("nothing is attached"), []);
    assert!(other.exists());
    fs::remove_file(other).expect("it is there");
    place.assert_clean(&[]);
}

#[test]
fn what_is_in_force_is_said_whatever_is_left_of_it() {
    let Some(place) = Place::ready() else { return };
    let host = place.host();
    let attached = place.within(|| host.attach(&Scope::System, best(), &usual(best()))).expect("attaches");
    let name = attached.name.clone();
    assert_eq!(place.used(), [name.clone(), name.clone()]);

    let pins = place.pins().join(key_of(&place));
    // Before Linux 6.4 a registration outlives its pins.
    let linked = pins.join("1/link").exists();
    fs::remove_dir_all(pins).expect("pins");
    assert_eq!(place.used(), [name.clone(), name.clone()], "the default holds it");
    assert_eq!(host.attachments().expect("status")[0].health, Health::Unpinned);
    assert_eq!(name_of(&place), name);

    fs::remove_dir_all(place.records()).expect("records");
    let scope = Scope::Netns(place.netns());
    place.within(|| {
        let status = host.attachments().expect("status");
        assert_eq!((status.len(), &status[0].health), (1, &Health::Lost(Some(name.clone()))));
        assert!(status[0].health.in_force());
        let facts = rampcc_host::doctor::Facts::gather(&host);
        let checks = rampcc_host::doctor::diagnose(&facts);
        let check = checks.iter().find(|check| check.name == "default control").expect("its check");
        assert!(
            check.state == rampcc_host::doctor::State::Missing && check.found.contains(&name),
            "{check:?}"
        );
        for error in [
            host.detach(None).expect_err("what was before is not known"),
            host.detach(Some(&Scope::System)).expect_err("what was before is not known"),
            host.detach(Some(&scope)).expect_err("what was before is not known"),
            host.attach(&Scope::System, best(), &usual(best())).expect_err("what was before is not known"),
        ] {
            assert!(
                error.to_string().contains(&name) && error.to_string().contains("on no record"),
                "{error}"
            );
            assert!(error.advice().is_some_and(|advice| advice.contains("sysctl -w")), "{error}");
        }
    });
    place.set_default("reno");
    place.within(|| assert_eq!(host.detach(None).expect("nothing is left"), []));
    assert_eq!(place.used(), ["reno", "reno"]);
    place.assert_clean(if linked { std::slice::from_ref(&name) } else { &[] });
}

#[test]
fn what_is_back_already_is_attached_anew() {
    let Some(place) = Place::ready() else { return };
    let (host, scope) = (place.host(), Scope::Netns(place.netns()));
    let first = host.attach(&scope, best(), &usual(best())).expect("attaches");
    place.set_default("reno");
    assert_eq!(host.attachments().expect("status")[0].health, Health::Overridden("reno".into()));
    let second = host.attach(&scope, best(), &usual(best())).expect("attaches");
    assert!(second.recovered.is_some(), "{second:?}");
    assert_eq!(place.default(), second.name);
    host.detach(None).expect("detaches");
    assert_eq!(place.default(), "reno");
    place.assert_clean(&[first.name, second.name]);
}

#[test]
fn only_who_wants_to_replaces_what_is_attached() {
    let Some(place) = Place::ready() else { return };
    let (host, scope) = (place.host(), Scope::Netns(place.netns()));
    let attached = host.attach_only(&scope, best(), &usual(best())).expect("attaches");
    let again = host.attach_only(&scope, best(), &usual(best())).expect("it is the same");
    assert_eq!((again.change, &again.name), (rampcc_host::Change::None, &attached.name));
    let hystart = algorithm("hystart");
    let error = host.attach_only(&scope, hystart, &usual(hystart)).expect_err("it is not");
    assert!(matches!(error, HostError::Refused { .. }), "{error:?}");
    assert!(error.to_string().contains(&attached.name) && error.advice().is_some(), "{error}");
    assert_eq!(place.default(), attached.name);
    let other = host.attach(&scope, hystart, &usual(hystart)).expect("replaces");
    assert_eq!(other.change, rampcc_host::Change::Replaced);
    host.detach(None).expect("detaches");
    assert_eq!(place.default(), "reno");
    place.assert_clean(&[attached.name, other.name]);
}

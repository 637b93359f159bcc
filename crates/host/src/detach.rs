//! Detaching: what was there before comes back, whatever state things are in.

use std::io;
use std::path::{Path, PathBuf};

use rampcc_linux::{Pinned, withdraw_pinned};

use crate::assign::Assign;
use crate::attach::{foreign, is_ours};
use crate::detached::{Detached, Restored};
use crate::error::{HostError, Result};
use crate::files::Directory;
use crate::host::Host;
use crate::namespace::{self, Namespace};
use crate::record::{Entry, Phase, Record};
use crate::scope::{Scope, printable};
use crate::sysctl;
use crate::target::{Now, Target};
use crate::unrecorded::{Unrecorded, by_hand, unrecorded, unrecorded_in};

impl Host {
    /// Puts back what was before, for this scope or for everything that is attached.
    ///
    /// Also finishes or undoes what a process that died has left. Fails where it does not know what was before.
    pub fn detach(&self, scope: Option<&Scope>) -> Result<Vec<Detached>> {
        let _lock = self.lock_to_undo()?;
        let _ = self.sweep();
        let entries = self.entries()?;
        let Some(scope) = scope else {
            let (done, failed) = self.detach_all(entries);
            let unrecorded = || match unrecorded(&[]) {
                Ok(found) => found.first().map(Unrecorded::refusal),
                // What has been done is said all the same.
                Err(error) => Some(error),
            };
            return outcome(done, failed.or_else(unrecorded));
        };
        let entries = named(scope, entries)?;
        if entries.is_empty() {
            let advice = "ramp status shows what is attached";
            return Err(match unrecorded_in(scope)? {
                Some(found) => found.refusal(),
                None => HostError::input(format!("nothing is attached to {scope}"), advice),
            });
        }
        let (done, failed) = self.detach_all(entries);
        outcome(done, failed)
    }

    /// The same for what this unit has attached ([`Host::for_unit`]), whatever its scope; nothing is no error.
    ///
    /// Fails if the unit has nothing on record, and something is in force here or pinned that may be the unit's.
    pub fn detach_unit(&self, unit: &str) -> Result<Vec<Detached>> {
        let _lock = self.lock_to_undo()?;
        let _ = self.sweep();
        let (own, others): (Vec<_>, Vec<_>) =
            self.entries()?.into_iter().partition(|(_, entry)| match entry {
                Entry::Known(record) | Entry::Stale(record) => record.unit.as_deref() == Some(unit),
                _ => false,
            });
        if !own.is_empty() {
            let (done, failed) = self.detach_all(own);
            return outcome(done, failed);
        }
        if let Some(found) = unrecorded(&others)?.first() {
            return Err(found.refusal());
        }
        let unknown = others.into_iter().find_map(|(key, entry)| match entry {
            Entry::Lost => Some(HostError::refused(
                format!("the record of {key} is lost, and may have been of unit {unit}"),
                "ramp detach takes it away if it is not in force",
            )),
            Entry::Foreign(version) => Some(foreign(&key, version)),
            Entry::Unreadable(cause) => Some(self.unreadable(&key, cause)),
            Entry::Known(_) | Entry::Stale(_) => None,
        });
        unknown.map_or(Ok(Vec::new()), Err)
    }

    /// Each of them, whatever becomes of the others; and the first error.
    fn detach_all(&self, entries: Vec<(String, Entry)>) -> (Vec<Detached>, Option<HostError>) {
        let (mut done, mut failed) = (Vec::new(), None);
        for (key, entry) in entries {
            let result = match entry {
                Entry::Known(record) => self.put_back(*record),
                Entry::Stale(record) => self.erase(&key).map(|()| (before_boot(*record), None)),
                Entry::Lost => self.undo_lost(&key).map(|()| (without_record(&key), None)),
                Entry::Foreign(version) => Err(foreign(&key, version)),
                Entry::Unreadable(cause) => Err(self.unreadable(&key, cause)),
            };
            match result {
                Ok((detached, left)) => {
                    done.push(detached);
                    failed = failed.or(left);
                }
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        (done, failed)
    }

    /// Takes everything of an attachment out of the kernel and off the record.
    pub(crate) fn undo(&self, record: Record) -> Result<Detached> {
        match self.put_back(record)? {
            (detached, None) => Ok(detached),
            (_, Some(left)) => Err(left),
        }
    }

    /// The same; once what was before is back, what else fails keeps nothing from being tried, and is handed out.
    fn put_back(&self, mut record: Record) -> Result<(Detached, Option<HostError>)> {
        let key = record.target.key();
        let names: Vec<_> = record.instances.iter().map(|instance| instance.name.clone()).collect();
        let restored = self.restore(&record, &names)?;
        let mut notes = record.target.routes_left(&record.replaced, &names);
        // From here on it is book-keeping. The record names all that is still to be taken away, so that it need not be
        // written; it only says better how things stand if this process dies now.
        record.phase = Phase::Detaching;
        let _ = self.write(&record);
        let (mut still_open, mut left) = (0, None);
        for instance in &record.instances {
            let pins = self.instance(&key, instance);
            still_open += Pinned::open(&pins).and_then(|p| p.counters().ok()).map_or(0, |c| c.open());
            left = left.or(self.withdraw(&pins).err());
        }
        if left.is_none() {
            left = self.erase(&key).err();
        }
        notes.extend(still_known(&names));
        Ok((Detached { scope: record.scope, notes, names, restored, still_open }, left))
    }

    /// Back to the first instance, after the last one failed to take over.
    pub(crate) fn go_back(&self, mut record: Record) -> Result {
        let Some(failed) = record.instances.pop() else { return Ok(()) };
        let key = record.target.key();
        let pins = self.instance(&key, &failed);
        let now = record.target.now(&record.replaced, Some((&pins, &failed.name)))?;
        if let Some(old) = record.instances.first() {
            match now {
                Now::Runs(Some(name))
                    if name == failed.name && !matches!(record.target, Target::Cgroup { .. }) =>
                {
                    record.target.carry(&record.replaced, &old.name, &self.instance(&key, old))?;
                }
                Now::Altered(route) if route.congestion_control.as_deref() == Some(&failed.name) => {
                    record.target.carry_altered(&route, &old.name)?;
                }
                _ => {}
            }
        }
        self.withdraw(&pins)?;
        record.phase = Phase::Attached;
        let written = self.write(&record);
        // Where nothing could be written, the record may never have said anything else.
        let said = || matches!(self.entry(&key), Ok(Entry::Known(found)) if *found == record);
        if written.is_err() && said() { Ok(()) } else { written }
    }

    /// Takes all but the first instance out of the kernel.
    pub(crate) fn drop_retired(&self, mut record: Record) -> Result<Record> {
        if record.instances.len() > 1 {
            let key = record.target.key();
            for instance in record.instances.split_off(1) {
                self.withdraw(&self.instance(&key, &instance))?;
            }
            self.write(&record)?;
        }
        Ok(record)
    }

    /// Pins without a record: they go if they are not in force, since then nothing is to be put back.
    pub(crate) fn undo_lost(&self, key: &str) -> Result {
        let refuse = |what: String| {
            Err(HostError::refused(
                format!("the record of {key} is lost, and {what}: what was before is not known"),
                format!("set what you want by hand ({}), then detach again", by_hand(key)),
            ))
        };
        let kind = key.split('-').next().unwrap_or_default();
        let netns = key.split('-').nth(1).and_then(|inode| inode.parse().ok());
        match (kind, netns) {
            ("cgroup", _) => {}
            ("default", Some(netns)) => {
                if let Some(namespace) = Namespace::with_inode(netns)? {
                    let name = sysctl::default_in(&namespace)?;
                    if is_ours(&name) {
                        return refuse(format!("{name} is still the default"));
                    }
                }
            }
            // No instance, nothing registered, nothing in force.
            _ if self.instances_pinned(key).is_empty() => {}
            _ => return refuse("a route may still name its algorithm".into()),
        }
        for pins in self.instances_pinned(key) {
            self.withdraw(&pins)?;
        }
        self.erase(key)
    }

    fn restore(&self, record: &Record, names: &[String]) -> Result<Restored> {
        let original = record.replaced.congestion_control();
        let before = record.replaced.to_string();
        let now = record.target.now(&record.replaced, None)?;
        // A route whose algorithm is no longer registered is shown without one.
        let unregistered =
            || sysctl::available().is_ok_and(|all| !names.iter().any(|name| all.contains(name)));
        let ours = |name: Option<&str>| match name {
            Some(name) => names.iter().any(|own| own == name),
            None => original.is_some() && unregistered(),
        };
        if matches!(record.target, Target::Cgroup { .. }) {
            return Ok(match now {
                Now::Gone(what) => Restored::Gone(what),
                Now::Remade(path) => Restored::Gone(format!(
                    "control group {} that it was attached to",
                    printable(&path.to_string_lossy())
                )),
                _ => Restored::PutBack("each application's own choice".into()),
            });
        }
        let put_back = |now: &Now| {
            self.step("put back what was before");
            record.target.put_back(&record.replaced, now)
        };
        match now {
            Now::Gone(what) => Ok(Restored::Gone(what)),
            Now::Remade(path) => Ok(Restored::Gone(format!(
                "control group {} that it was attached to",
                printable(&path.to_string_lossy())
            ))),
            Now::Runs(name) if ours(name.as_deref()) => {
                put_back(&Now::Runs(name))?;
                Ok(Restored::PutBack(before))
            }
            Now::Runs(name) if name.as_deref() == original => {
                if matches!(record.target, Target::Route { .. }) && original.is_none() && unregistered() {
                    // It may still name ours, which cannot be seen.
                    put_back(&Now::Runs(None))?;
                }
                Ok(Restored::WasThere(before))
            }
            Now::Runs(name) => Ok(Restored::LeftForeign(name.unwrap_or_else(|| "no congctl".into()))),
            Now::Altered(route) => {
                let text = route.describe();
                if ours(route.congestion_control.as_deref()) {
                    put_back(&Now::Altered(route))?;
                }
                Ok(Restored::LeftForeign(text))
            }
        }
    }

    /// Takes an instance out of the kernel. Others may write in the directory of pins: what a link there leads to is not
    /// the instance's.
    fn withdraw(&self, pins: &Path) -> Result {
        let failed = || HostError::file("remove the pins in", pins);
        let name = |path: Option<&Path>| path.and_then(Path::file_name)?.to_str().map(str::to_owned);
        let (Some(key), Some(number)) = (name(pins.parent()), name(Some(pins))) else { return Ok(()) };
        let of_key = match Directory::open(self.pins()).and_then(|all| all.below(&key)) {
            Ok(Some(of_key)) => of_key,
            Ok(None) => return Ok(()),
            Err(cause) if is_none_of_ours(&cause) => return Ok(()),
            Err(cause) => return Err(failed()(cause)),
        };
        match of_key.below(&number) {
            Ok(Some(own)) => {
                self.step("stop assigning it");
                Assign::detach_pinned(&own.path())?;
                self.step("unregister it");
                withdraw_pinned(&own.path()).map_err(failed())?;
            }
            Err(cause) if !is_none_of_ours(&cause) => return Err(failed()(cause)),
            _ => {}
        }
        of_key.remove_directory(&number).map_err(failed())
    }

    /// Directories of instances, which are numbers.
    pub(crate) fn instances_pinned(&self, key: &str) -> Vec<PathBuf> {
        let directory = self.pins().join(key);
        let is_own = |path: &Path| path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
        let is_number = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.parse::<u32>().is_ok()
        };
        if !is_own(&directory) {
            return Vec::new();
        }
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let mut paths: Vec<_> = paths.filter(|path| is_number(path) && is_own(path)).collect();
        paths.sort();
        paths
    }
}

/// Where it is unknown what was there before.
const NOW_SET: &str = "whatever is set now";

/// Not there, or a link, behind which nothing is ours.
fn is_none_of_ours(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData)
}

fn outcome(done: Vec<Detached>, failed: Option<HostError>) -> Result<Vec<Detached>> {
    match failed {
        Some(cause) if done.is_empty() => Err(cause),
        Some(cause) => Err(HostError::Partly { done, cause: Box::new(cause) }),
        None => Ok(done),
    }
}

/// Those that a scope names, which may be gone, or have been made again.
fn named(scope: &Scope, entries: Vec<(String, Entry)>) -> Result<Vec<(String, Entry)>> {
    let (target, text) = (Target::of(scope), scope.to_string());
    let recorded = |entry: &Entry, which: &dyn Fn(&Record) -> bool| match entry {
        Entry::Known(record) | Entry::Stale(record) => which(record),
        Entry::Lost | Entry::Foreign(_) | Entry::Unreadable(_) => false,
    };
    let (mut found, others): (Vec<_>, Vec<_>) = entries.into_iter().partition(|(key, entry)| match &target {
        Ok(target) => *key == target.key() || recorded(entry, &|record| record.is_of(target)),
        Err(_) => recorded(entry, &|record| record.scope == text),
    });
    if let (Ok(target @ Target::Route { .. }), true) = (&target, found.is_empty()) {
        // The route that had this name may be gone, and another one have it.
        let meant = |record: &Record| record.scope == text && record.target.is_beside(target);
        found = others.into_iter().filter(|(_, entry)| recorded(entry, &meant)).collect();
    }
    match target {
        Err(error) if found.is_empty() => Err(error),
        _ => Ok(found),
    }
}

fn before_boot(record: Record) -> Detached {
    Detached {
        scope: record.scope,
        names: Vec::new(),
        restored: Restored::WasThere(NOW_SET.into()),
        still_open: 0,
        notes: vec!["it was attached before the last boot, which has undone it".into()],
    }
}

fn without_record(key: &str) -> Detached {
    Detached {
        scope: key.to_owned(),
        names: Vec::new(),
        restored: Restored::WasThere(NOW_SET.into()),
        still_open: 0,
        notes: vec!["its record was lost; its pins were no longer in force and are gone".into()],
    }
}

/// What still refers to what has been taken out.
fn still_known(names: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    if let Ok(available) = sysctl::available() {
        for name in names.iter().filter(|name| available.contains(name)) {
            notes.push(format!(
                "{name} is still registered, by another program or because its pins were removed by hand"
            ));
        }
    }
    // A namespace made meanwhile has inherited the default, and keeps it.
    for namespace in namespace::names() {
        let default = Namespace::named(&namespace).and_then(|namespace| sysctl::default_in(&namespace));
        if let Some(default) = default.ok().filter(|default| names.contains(default)) {
            notes.push(format!(
                "network namespace {namespace} has inherited {default} as its default and keeps it: \
                 ip netns exec {namespace} sysctl -w net.ipv4.tcp_congestion_control=NAME"
            ));
        }
    }
    notes
}

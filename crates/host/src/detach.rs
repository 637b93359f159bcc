//! Detaching: what was there before comes back, whatever state things are in.

use std::path::Path;

use rampcc_linux::{Pinned, detach_pinned};

use crate::assign::Assign;
use crate::attach::{foreign, is_ours};
use crate::error::HostError;
use crate::host::Host;
use crate::namespace::{self, Namespace};
use crate::record::{Entry, Phase, Record};
use crate::scope::{Scope, printable};
use crate::sysctl;
use crate::target::{Now, Target};
use crate::unrecorded::{Unrecorded, by_hand, unrecorded, unrecorded_in};

/// Result of detaching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detached {
    /// As it was named when it was attached.
    pub scope: String,
    /// The congestion controls that were taken out.
    pub names: Vec<String>,
    /// Fate of the setting that they had replaced.
    pub restored: Restored,
    /// Connections that go on with the algorithm until they close.
    pub still_open: u64,
    /// Further notes for the user.
    pub notes: Vec<String>,
}

/// Fate of the setting that had been replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restored {
    /// It is back.
    PutBack(String),
    /// It was there already.
    WasThere(String),
    /// Somebody has set something else since, which stays.
    LeftForeign(String),
    /// There is nothing left to put it back to.
    Gone(String),
}

impl Host {
    /// Puts back what was before, for this scope or for everything that is attached.
    ///
    /// Also finishes or undoes what a process that died has left. Fails where it does not know what was before.
    pub fn detach(&self, scope: Option<&Scope>) -> Result<Vec<Detached>, HostError> {
        let _lock = self.lock_to_undo()?;
        let _ = self.sweep();
        let mut entries = self.entries()?;
        if let Some(scope) = scope {
            entries = named(scope, entries)?;
            if entries.is_empty() {
                let advice = "ramp status shows what is attached";
                return Err(match unrecorded_in(scope)? {
                    Some(found) => found.refusal(),
                    None => HostError::input(format!("nothing is attached to {scope}"), advice),
                });
            }
        }
        let (mut done, mut failed) = (Vec::new(), None);
        for (key, entry) in entries {
            let result = match entry {
                Entry::Known(record) => self.put_back(*record),
                Entry::Stale(record) => self.erase(&key).map(|()| (before_boot(*record), None)),
                Entry::Lost => self.undo_lost(&key).map(|()| (without_record(&key), None)),
                Entry::Foreign(version) => Err(foreign(&key, version)),
            };
            // The others are detached all the same.
            match result {
                Ok((detached, left)) => {
                    done.push(detached);
                    failed = failed.or(left);
                }
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        if scope.is_none() && failed.is_none() {
            failed = unrecorded(&[])?.first().map(Unrecorded::refusal);
        }
        match failed {
            Some(cause) if done.is_empty() => Err(cause),
            Some(cause) => Err(HostError::Partly { done, cause: Box::new(cause) }),
            None => Ok(done),
        }
    }

    /// Takes everything of an attachment out of the kernel and off the record.
    pub(crate) fn undo(&self, record: Record) -> Result<Detached, HostError> {
        match self.put_back(record)? {
            (detached, None) => Ok(detached),
            (_, Some(left)) => Err(left),
        }
    }

    /// The same; once what was before is back, what else fails keeps nothing from being tried, and is handed out.
    fn put_back(&self, mut record: Record) -> Result<(Detached, Option<HostError>), HostError> {
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
    pub(crate) fn go_back(&self, mut record: Record) -> Result<(), HostError> {
        let Some(failed) = record.instances.pop() else { return Ok(()) };
        let key = record.target.key();
        let pins = self.instance(&key, &failed);
        if let (Now::Runs(Some(name)), Some(old)) =
            (record.target.now(&record.replaced, Some((&pins, &failed.name)))?, record.instances.first())
            && name == failed.name
            && !matches!(record.target, Target::Cgroup { .. })
        {
            record.target.carry(&record.replaced, &old.name, &self.instance(&key, old))?;
        }
        self.withdraw(&pins)?;
        record.phase = Phase::Attached;
        let written = self.write(&record);
        // Where nothing could be written, the record may never have said anything else.
        let said = || matches!(self.entry(&key), Ok(Entry::Known(found)) if *found == record);
        if written.is_err() && said() { Ok(()) } else { written }
    }

    /// Takes all but the first instance out of the kernel.
    pub(crate) fn drop_retired(&self, mut record: Record) -> Result<Record, HostError> {
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
    pub(crate) fn undo_lost(&self, key: &str) -> Result<(), HostError> {
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

    fn restore(&self, record: &Record, names: &[String]) -> Result<Restored, HostError> {
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

    /// Takes an instance out of the kernel.
    fn withdraw(&self, pins: &Path) -> Result<(), HostError> {
        self.step("stop assigning it");
        Assign::detach_pinned(pins)?;
        self.step("unregister it");
        detach_pinned(pins).map_err(HostError::file("remove the pins in", pins))
    }

    /// Directories of instances.
    pub(crate) fn instances_pinned(&self, key: &str) -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(self.pins().join(key)).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        paths.sort();
        paths
    }
}

/// Those that a scope names, which may be gone, or have been made again.
fn named(scope: &Scope, entries: Vec<(String, Entry)>) -> Result<Vec<(String, Entry)>, HostError> {
    let (target, text) = (Target::of(scope), scope.to_string());
    let found: Vec<_> = entries
        .into_iter()
        .filter(|(key, entry)| {
            let recorded = match entry {
                Entry::Known(record) | Entry::Stale(record) => Some(record),
                Entry::Lost | Entry::Foreign(_) => None,
            };
            match &target {
                Ok(target) => {
                    *key == target.key() || recorded.is_some_and(|record| record.target.named_like(target))
                }
                Err(_) => recorded.is_some_and(|record| record.scope == text),
            }
        })
        .collect();
    match target {
        Err(error) if found.is_empty() => Err(error),
        _ => Ok(found),
    }
}

fn before_boot(record: Record) -> Detached {
    Detached {
        scope: record.scope,
        names: Vec::new(),
        restored: Restored::WasThere(record.replaced.to_string()),
        still_open: 0,
        notes: vec!["it was attached before the last boot, which has undone it".into()],
    }
}

fn without_record(key: &str) -> Detached {
    Detached {
        scope: key.to_owned(),
        names: Vec::new(),
        restored: Restored::WasThere("whatever is set now".into()),
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
                "{name} is still registered, by somebody else or because its pins were removed by hand"
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

//! Attachments and their counters.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{fs, io};

use rampcc::Algorithm;
use rampcc_linux::{Counters, Guard, Options, Pinned};

use crate::assign::{Assign, AssignCounters};
use crate::attach::is_ours;
use crate::clock::Clock;
use crate::error::{HostError, Result};
use crate::host::Host;
use crate::namespace::Namespace;
use crate::record::{Entry, Instance, Phase, Record};
use crate::sysctl;
use crate::target::{Now, Target};
use crate::unrecorded::{Unrecorded, unrecorded};

/// One attachment, as it is now.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// As it was named when it was attached.
    pub scope: String,
    /// The unit of a service manager that has attached it, and takes it off when it stops.
    pub unit: Option<String>,
    /// State of its health.
    pub health: Health,
    /// Name of its record and its pins, below both directories.
    pub key: String,
    /// Algorithm that is or was in force; `None`: unknown.
    pub attached: Option<AttachedAlgorithm>,
    /// Setting that detaching restores; `None`: unknown, or none.
    pub replaced: Option<String>,
    /// Connections now, by congestion control: all of the network namespace, or of the control group. `None`: it is
    /// gone, out of reach, or not asked for.
    pub connections: Option<BTreeMap<String, u64>>,
}

/// The algorithm of an attachment.
#[derive(Clone, Debug)]
pub struct AttachedAlgorithm {
    /// Algorithm; `None`: a later version's.
    pub algorithm: Option<&'static Algorithm>,
    /// Its identifier.
    pub id: String,
    /// Its parameters in the order of its table.
    pub parameters: Vec<u64>,
    /// Its congestion control's name in the kernel.
    pub name: String,
    /// Seconds since 1970, by this host's clock as it is now.
    pub since_s: u64,
    /// Seconds for which it has been attached, however the clock was set meanwhile.
    pub age_s: u64,
    /// The host's limits for it.
    pub guard: Guard,
    /// Its directory of pins.
    pub pins: PathBuf,
    /// Counters of its connections; `None`: its pins are gone.
    pub counters: Option<Counters>,
    /// Number of places of which it remembers something; `None`: it needs no history.
    pub places: Option<usize>,
    /// Counters of assignments to a control group.
    pub assigned: Option<AssignCounters>,
}

/// Health of an attachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// New connections use it.
    InForce,
    /// Another program has set something else since.
    Overridden(String),
    /// A process died while it changed this: [`Host::detach`] undoes it.
    Unfinished(&'static str),
    /// Its pins have been removed, yet new connections use it; what it replaced is on record.
    Unpinned,
    /// Its pins have been removed, and new connections do not use it; what it replaced is on record.
    Unregistered,
    /// Its target no longer exists.
    Gone(String),
    /// Its control group was removed and made again, as the restart of a service does. The new one is another.
    Remade(PathBuf),
    /// It cannot be looked at from here.
    Unknown(String),
    /// From before the last boot, which has undone it.
    Stale,
    /// No record here says what it replaced. The remains are pins, or the congestion control of this name, which new
    /// connections use.
    Lost(Option<String>),
    /// A later version of ramp has written its record.
    Foreign(u32),
}

impl Health {
    /// True if new connections of the scope use one of ramp's algorithms.
    pub fn in_force(&self) -> bool {
        matches!(self, Self::InForce | Self::Unpinned | Self::Lost(Some(_)))
    }

    /// The congestion control that is in force and on no record.
    pub fn left_in_force(&self) -> Option<String> {
        match self {
            Self::Lost(name) => name.clone(),
            _ => None,
        }
    }
}

impl AttachedAlgorithm {
    /// Time of attaching, in universal time: `2026-11-21 16:04 UTC`.
    pub fn since(&self) -> String {
        utc(self.since_s)
    }

    /// Parameters that are not as they come.
    pub fn settings(&self) -> Vec<(&'static str, u64)> {
        let Some(algorithm) = self.algorithm else { return Vec::new() };
        let usual = Options::new(algorithm).parameters;
        let all = algorithm.parameters.iter().zip(&self.parameters).zip(usual);
        all.filter(|((_, value), usual)| **value != *usual).map(|((p, value), _)| (p.name, *value)).collect()
    }
}

impl Host {
    /// Every attachment that has a record or pins, and what is in force here without them.
    pub fn attachments(&self) -> Result<Vec<Attachment>> {
        self.looked_at(true)
    }

    /// The same without its connections, whose number strangers decide: [`Attachment::connections`] is `None`.
    pub fn attachments_alone(&self) -> Result<Vec<Attachment>> {
        self.looked_at(false)
    }

    fn looked_at(&self, connections: bool) -> Result<Vec<Attachment>> {
        let entries = match self.entries() {
            // Pins are mostly root's; the records are everybody's to read.
            Err(HostError::File { path, cause, .. })
                if path == self.pins() && cause.kind() == io::ErrorKind::PermissionDenied =>
            {
                self.recorded_entries()?
            }
            entries => entries?,
        };
        // What this user may not see is not there for him.
        let unrecorded = unrecorded(&entries).unwrap_or_default();
        let mut all: Vec<_> =
            entries.into_iter().map(|(key, entry)| self.attachment(key, entry, connections)).collect();
        all.extend(unrecorded.into_iter().map(|found| {
            let Unrecorded { scope, key, name } = found;
            unknown(scope, key, Health::Lost(Some(name)))
        }));
        Ok(all)
    }

    fn attachment(&self, key: String, entry: Entry, connections: bool) -> Attachment {
        match entry {
            Entry::Known(record) => {
                let health = self.health(&record);
                let connections = connections.then(|| record.target.connections().ok().flatten()).flatten();
                Attachment { connections, ..self.recorded(key, *record, health) }
            }
            Entry::Stale(record) => self.recorded(key, *record, Health::Stale),
            Entry::Foreign(version) => unknown(key.clone(), key, Health::Foreign(version)),
            Entry::Unreadable(cause) => {
                let health = Health::Unknown(self.unreadable(&key, cause).to_string());
                unknown(key.clone(), key, health)
            }
            Entry::Lost => {
                let health = Health::Lost(lost_default(&key));
                unknown(key.clone(), key, health)
            }
        }
    }

    fn recorded(&self, key: String, record: Record, health: Health) -> Attachment {
        let this_boot = health != Health::Stale;
        let first = record.instances.first();
        let attached = first.map(|instance| self.algorithm(&record, instance, this_boot));
        Attachment {
            scope: record.scope,
            unit: record.unit,
            health,
            key,
            attached,
            replaced: this_boot.then(|| record.replaced.to_string()),
            connections: None,
        }
    }

    fn algorithm(&self, record: &Record, instance: &Instance, this_boot: bool) -> AttachedAlgorithm {
        let boot_s = instance.since_boot_s.filter(|_| this_boot);
        let since = Clock::now().since(Clock { unix_s: instance.since_s, boot_s });
        let pins = self.instance(&record.target.key(), instance);
        let in_cgroup = matches!(record.target, Target::Cgroup { .. });
        AttachedAlgorithm {
            algorithm: rampcc::algorithm(&instance.algorithm),
            id: instance.algorithm.clone(),
            parameters: instance.parameters.clone(),
            name: instance.name.clone(),
            since_s: since.unix_s,
            age_s: since.age_s,
            guard: instance.limits.into(),
            counters: Pinned::open(&pins).and_then(|pinned| pinned.counters().ok()),
            places: Pinned::open(&pins).and_then(|pinned| pinned.places()),
            assigned: in_cgroup.then(|| Assign::pinned_counters(&pins).ok()).flatten(),
            pins,
        }
    }

    fn health(&self, record: &Record) -> Health {
        match record.phase {
            Phase::Attaching => return Health::Unfinished("attaching"),
            Phase::Replacing => return Health::Unfinished("replacing"),
            Phase::Detaching => return Health::Unfinished("detaching"),
            Phase::Attached => {}
        }
        let Some(instance) = record.current() else { return Health::Unfinished("attaching") };
        let pins = self.instance(&record.target.key(), instance);
        if let Err(cause) = fs::read_dir(&pins)
            && cause.kind() == io::ErrorKind::PermissionDenied
        {
            return Health::Unknown("its pins are out of this user's sight".into());
        }
        let looked = sysctl::available()
            .and_then(|all| Ok((all, record.target.now(&record.replaced, Some((&pins, &instance.name)))?)));
        let (available, now) = match looked {
            Ok(looked) => looked,
            Err(error) => return Health::Unknown(error.to_string()),
        };
        let found = match now {
            Now::Gone(what) => return Health::Gone(what),
            Now::Remade(path) => return Health::Remade(path),
            Now::Runs(name) => name,
            Now::Altered(route) if route.congestion_control.as_deref() == Some(&instance.name) => {
                route.congestion_control
            }
            Now::Altered(route) => Some(route.describe()),
        };
        // A default holds what it names; a route and a program of a control group find nothing under a name that is gone.
        let registered = available.contains(&instance.name);
        let ours = found.as_deref() == Some(&instance.name)
            && (registered || matches!(record.target, Target::Default { .. }));
        match (Pinned::open(&pins).is_some() && registered, ours) {
            (true, true) => Health::InForce,
            (false, true) => Health::Unpinned,
            (false, false) => Health::Unregistered,
            (true, false) => Health::Overridden(found.unwrap_or_else(|| "nothing of its own".into())),
        }
    }
}

fn unknown(scope: String, key: String, health: Health) -> Attachment {
    Attachment { scope, unit: None, health, key, attached: None, replaced: None, connections: None }
}

/// The default of the namespace that a lost record was of, if it is ours.
fn lost_default(key: &str) -> Option<String> {
    let netns = key.strip_prefix("default-")?.parse().ok()?;
    let namespace = Namespace::with_inode(netns).ok()??;
    sysctl::default_in(&namespace).ok().filter(|name| is_ours(name))
}

/// Days in the Gregorian calendar's cycle of 400 years, which is counted from a first of March so that a leap day is its
/// year's last.
const CYCLE: u64 = 400 * 365 + 97;

fn utc(since_s: u64) -> String {
    let (days, seconds) = (since_s / 86_400, since_s % 86_400);
    let from_march = days + 719_468;
    let (cycle, day) = (from_march / CYCLE, from_march % CYCLE);
    let year = (day - day / 1_460 + day / 36_524 - day / (CYCLE - 1)) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * shifted + 2) / 5 + 1;
    let (month, next) = if shifted < 10 { (shifted + 3, 0) } else { (shifted - 9, 1) };
    let (hour, minute) = (seconds / 3_600, seconds % 3_600 / 60);
    format!("{}-{month:02}-{day_of_month:02} {hour:02}:{minute:02} UTC", cycle * 400 + year + next)
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn times_are_dates() {
        // From `date -u -d @…`.
        assert_eq!(utc(0), "1970-01-01 00:00 UTC");
        assert_eq!(utc(951_782_399), "2000-02-28 23:59 UTC");
        assert_eq!(utc(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(utc(1_795_279_636), "2026-11-21 16:47 UTC");
        assert_eq!(utc(4_107_542_400), "2100-03-01 00:00 UTC");
        assert_eq!(utc(13_574_649_599), "2400-02-29 23:59 UTC");
    }

    #[test]
    fn a_time_that_no_clock_has_is_told_at_once() {
        assert_eq!(utc(u64::MAX), "584554051223-11-09 07:00 UTC");
    }
}

//! What is attached where, and what it has done.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;
use std::{fs, io};

use ramp::Algorithm;
use ramp_linux::{Counters, Options, Pinned};

use crate::assign::{Assign, AssignCounters};
use crate::error::HostError;
use crate::host::Host;
use crate::record::{Entry, Instance, Phase, Record};
use crate::target::{Now, Target};

/// One attachment, as it is now.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// As it was named when it was attached.
    pub scope: String,
    /// Whether it does what it should.
    pub health: Health,
    /// Where its record and its pins are: a name below both directories.
    pub key: String,
    /// What is or was in force; `None`: not known.
    pub attached: Option<AttachedAlgorithm>,
    /// What will come back; `None`: not known.
    pub replaced: Option<String>,
    /// Connections now, by congestion control: all of the network namespace, or of the control group. `None`: it is
    /// gone, or out of reach.
    pub connections: Option<BTreeMap<String, u64>>,
}

/// The algorithm of an attachment.
#[derive(Clone, Debug)]
pub struct AttachedAlgorithm {
    /// Which; `None`: a later version's.
    pub algorithm: Option<&'static Algorithm>,
    /// Its identifier.
    pub id: String,
    /// Its parameters in the order of its table.
    pub parameters: Vec<u64>,
    /// Its congestion control's name in the kernel.
    pub name: String,
    /// Seconds since 1970.
    pub since_s: u64,
    /// Its directory of pins.
    pub pins: PathBuf,
    /// What its connections have done; `None`: its pins are gone.
    pub counters: Option<Counters>,
    /// What a control group has been assigned.
    pub assigned: Option<AssignCounters>,
}

/// Whether an attachment does what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// New connections use it.
    InForce,
    /// Somebody has set something else since.
    Overridden(String),
    /// A process died while it changed this: [`Host::detach`] undoes it.
    Unfinished(&'static str),
    /// Its pins have been removed; what it replaced is on record.
    Unregistered,
    /// What it was attached to is no more.
    Gone(String),
    /// It cannot be looked at from here.
    Unknown(String),
    /// From before the last boot, which has undone it.
    Stale,
    /// Pins without a record.
    Lost,
}

impl AttachedAlgorithm {
    /// For how long it has been attached, by this host's clock.
    pub fn age_s(&self) -> u64 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_secs());
        now.saturating_sub(self.since_s)
    }

    /// When it was attached, in universal time: `2026-11-21 16:04 UTC`.
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
    /// Every attachment that has a record or pins.
    pub fn attachments(&self) -> Result<Vec<Attachment>, HostError> {
        let entries = match self.entries() {
            // Pins are mostly root's; the records are everybody's to read.
            Err(HostError::File { path, cause, .. })
                if path == self.pins() && cause.kind() == io::ErrorKind::PermissionDenied =>
            {
                self.recorded_entries()?
            }
            entries => entries?,
        };
        Ok(entries.into_iter().map(|(key, entry)| self.attachment(key, entry)).collect())
    }

    fn attachment(&self, key: String, entry: Entry) -> Attachment {
        match entry {
            Entry::Known(record) => {
                let health = self.health(&record);
                let connections = record.target.connections().ok().flatten();
                Attachment { connections, ..self.recorded(key, *record, health) }
            }
            Entry::Stale(record) => self.recorded(key, *record, Health::Stale),
            Entry::Lost => Attachment {
                scope: key.clone(),
                health: Health::Lost,
                key,
                attached: None,
                replaced: None,
                connections: None,
            },
        }
    }

    fn recorded(&self, key: String, record: Record, health: Health) -> Attachment {
        let attached = record.instances.first().map(|instance| self.algorithm(&record, instance));
        Attachment {
            scope: record.scope,
            health,
            key,
            attached,
            replaced: Some(record.replaced.to_string()),
            connections: None,
        }
    }

    fn algorithm(&self, record: &Record, instance: &Instance) -> AttachedAlgorithm {
        let pins = self.instance(&record.target.key(), instance);
        let in_cgroup = matches!(record.target, Target::Cgroup { .. });
        AttachedAlgorithm {
            algorithm: ramp::algorithm(&instance.algorithm),
            id: instance.algorithm.clone(),
            parameters: instance.parameters.clone(),
            name: instance.name.clone(),
            since_s: instance.since_s,
            counters: Pinned::open(&pins).and_then(|pinned| pinned.counters().ok()),
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
        if let Err(cause) = fs::read_dir(self.instance(&record.target.key(), instance))
            && cause.kind() == io::ErrorKind::PermissionDenied
        {
            return Health::Unknown("its pins are out of this user's sight".into());
        }
        match self.registered(record) {
            Ok(true) => {}
            Ok(false) => return Health::Unregistered,
            Err(error) => return Health::Unknown(error.to_string()),
        }
        let pins = self.instance(&record.target.key(), instance);
        match record.target.now(&record.replaced, Some((&pins, &instance.name))) {
            Ok(Now::Runs(Some(name))) if name == instance.name => Health::InForce,
            Ok(Now::Runs(Some(name))) => Health::Overridden(name),
            Ok(Now::Runs(None)) => Health::Overridden("nothing of its own".into()),
            Ok(Now::Altered(route)) if route.congestion_control.as_deref() == Some(&instance.name) => {
                Health::InForce
            }
            Ok(Now::Altered(route)) => Health::Overridden(route.describe()),
            Ok(Now::Gone(what)) => Health::Gone(what),
            Err(error) => Health::Unknown(error.to_string()),
        }
    }
}

fn utc(since_s: u64) -> String {
    let (mut days, seconds) = (since_s / 86_400, since_s % 86_400);
    let leap = |year: u64| (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    let (hour, minute) = (seconds / 3_600, seconds % 3_600 / 60);
    format!("{year}-{:02}-{:02} {hour:02}:{minute:02} UTC", month + 1, days + 1)
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
    }
}

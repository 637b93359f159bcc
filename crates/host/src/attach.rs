//! Attaching: on record first, then into the kernel, then in force.

use rampcc::Algorithm;
use rampcc_linux::{Access, LoadError, Options, Pinned, Record as Events, load_pinned, valid_name};

use crate::clock::Clock;
use crate::error::{HostError, Result};
use crate::host::Host;
use crate::record::{Entry, Instance, Phase, Record};
use crate::scope::{Scope, printable};
use crate::sysctl;
use crate::target::{Now, Replaced, Target};
use crate::unrecorded::unrecorded_in;

/// Names of one algorithm that may be registered at once.
const NAMES_MAX: u32 = 99;

/// How often a name may be snatched away.
const ATTEMPTS: u32 = 16;

/// Result of attaching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    /// The congestion control's name in the kernel.
    pub name: String,
    /// Control that it replaced.
    pub replaced: String,
    /// Kind of the change.
    pub change: Change,
    /// Unfinished change that is now undone.
    pub recovered: Option<String>,
    /// Further notes for the user.
    pub notes: Vec<String>,
}

/// Kind of the change that attaching made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is in force now.
    Made,
    /// It took the place of another of ours.
    Replaced,
    /// It was in force already.
    None,
}

impl Host {
    /// Has new connections of this scope start by this algorithm.
    ///
    /// Of `options`, the parameters and the guard count. If anything fails, what has been done is undone.
    pub fn attach(
        &self,
        scope: &Scope,
        algorithm: &'static Algorithm,
        options: &Options,
    ) -> Result<Attached> {
        self.attach_or(scope, algorithm, options, true)
    }

    /// The same, but what is attached to this scope already is not replaced: attaching something else is refused.
    pub fn attach_only(
        &self,
        scope: &Scope,
        algorithm: &'static Algorithm,
        options: &Options,
    ) -> Result<Attached> {
        self.attach_or(scope, algorithm, options, false)
    }

    fn attach_or(
        &self,
        scope: &Scope,
        algorithm: &'static Algorithm,
        options: &Options,
        replace: bool,
    ) -> Result<Attached> {
        let target = Target::of(scope)?;
        let _lock = self.lock()?;
        self.prepare_pins()?;
        let key = target.key();
        let mut recovered = self.drop_others(&target)?;
        if self.has_entry(&key) {
            match self.entry(&key)? {
                Entry::Known(record)
                    if record.phase == Phase::Attached
                        && self.registered(&record)?
                        && !back_already(&record)? =>
                {
                    let record = self.drop_retired(*record)?;
                    self.check_replaceable(&record, algorithm, options, replace)?;
                    return with_a_free_name(|| self.attach_over(record.clone(), algorithm, options));
                }
                Entry::Known(record) => {
                    let what = match record.phase {
                        Phase::Attached if self.registered(&record)? => {
                            "an attachment in whose place was again what had been before"
                        }
                        Phase::Attached => "an attachment whose algorithm had gone",
                        Phase::Attaching => "an attachment that had been interrupted",
                        Phase::Replacing => "a replacement that had been interrupted",
                        Phase::Detaching => "a detachment that had been interrupted",
                    };
                    self.undo(*record)?;
                    recovered = Some(what.to_owned());
                }
                Entry::Stale(_) => self.erase(&key)?,
                Entry::Lost => self.undo_lost(&key)?,
                Entry::Foreign(version) => return Err(foreign(&key, version)),
                Entry::Unreadable(cause) => return Err(self.unreadable(&key, cause)),
            }
        }
        let attached = with_a_free_name(|| self.attach_anew(scope, target.clone(), algorithm, options))?;
        Ok(Attached { recovered, ..attached })
    }

    fn attach_anew(
        &self,
        scope: &Scope,
        target: Target,
        algorithm: &'static Algorithm,
        options: &Options,
    ) -> Result<Attached> {
        if let Some(found) = unrecorded_in(scope)? {
            return Err(found.refusal());
        }
        let replaced = target.replaceable()?;
        let notes = shared_nexthop(&replaced).into_iter().collect();
        let replaced_text = replaced.to_string();
        let instance = new_instance(1, algorithm, options)?;
        let name = instance.name.clone();
        let mut record = Record::new(scope.to_string(), target, replaced, instance)?;
        record.unit = self.unit().map(str::to_owned);
        let done = self.write(&record).and_then(|()| {
            self.make_mirror(&record.target.key())?;
            self.write(&record)?;
            self.put_in(&record, options)?;
            record.phase = Phase::Attached;
            self.write(&record)
        });
        match done {
            Ok(()) => {
                let (replaced, change) = (replaced_text, Change::Made);
                Ok(Attached { name, replaced, change, recovered: None, notes })
            }
            Err(error) => {
                record.phase = Phase::Attaching;
                Err(after(error, self.undo(record).map(|_| ())))
            }
        }
    }

    fn attach_over(
        &self,
        mut record: Record,
        algorithm: &'static Algorithm,
        options: &Options,
    ) -> Result<Attached> {
        let replaced = record.replaced.to_string();
        let key = record.target.key();
        let old = record.current().expect("a finished record has an instance in force").clone();
        let pins = self.instance(&key, &old);
        match record.target.now(&record.replaced, Some((&pins, &old.name)))? {
            Now::Runs(Some(name)) if name == old.name => {}
            now => {
                let found = match now {
                    Now::Runs(Some(name)) => format!("another process has set {name} since"),
                    Now::Runs(None) => "another process has removed it since".into(),
                    Now::Altered(route) => {
                        format!("another process has changed it since ({})", route.describe())
                    }
                    Now::Gone(what) => format!("the {what} is gone"),
                    Now::Remade(path) => {
                        format!("the control group {} was made again", printable(&path.to_string_lossy()))
                    }
                };
                return Err(HostError::refused(
                    format!("{} is attached to {}, but {found}", old.name, record.scope),
                    format!(
                        "ramp detach --scope {}, which leaves what others have set, then attach again",
                        record.scope
                    ),
                ));
            }
        }
        if old.is(algorithm, options) {
            if self.unit().is_some() && record.unit.is_none() {
                record.unit = self.unit().map(str::to_owned);
                self.write(&record)?;
            }
            let (name, change) = (old.name, Change::None);
            return Ok(Attached { name, replaced, change, recovered: None, notes: Vec::new() });
        }
        let new = new_instance(old.number + 1, algorithm, options)?;
        let name = new.name.clone();
        record.instances.push(new);
        record.phase = Phase::Replacing;
        let done = self.write(&record).and_then(|()| self.put_in(&record, options));
        if let Err(error) = done {
            return Err(after(error, self.go_back(record)));
        }
        record.instances.swap(0, 1);
        record.phase = Phase::Attached;
        // The user who has attached what is in force takes it off again.
        let unit = std::mem::replace(&mut record.unit, self.unit().map(str::to_owned));
        if let Err(error) = self.write(&record) {
            record.unit = unit;
            record.instances.swap(0, 1);
            return Err(after(error, self.go_back(record)));
        }
        // It is done, and on record; what is left of the old one is the next command's as well.
        let left = self.drop_retired(record).err();
        let left = left.map(|error| {
            format!(
                "{} remains registered: {error}. The next ramp attach or ramp detach takes it out.",
                old.name
            )
        });
        let change = Change::Replaced;
        Ok(Attached { name, replaced, change, recovered: None, notes: left.into_iter().collect() })
    }

    /// The last instance into the kernel, and in force.
    fn put_in(&self, record: &Record, options: &Options) -> Result {
        let instance = record.instances.last().expect("a record has an instance");
        let algorithm = rampcc::algorithm(&instance.algorithm).expect("it was attached by its identifier");
        let options = Options {
            name: Some(instance.name.clone()),
            record: Events::Nothing,
            access: match record.target {
                Target::Default { .. } => Access::Everybody,
                Target::Route { .. } | Target::Cgroup { .. } => Access::Privileged,
            },
            ..options.clone()
        };
        let pins = self.instance(&record.target.key(), instance);
        self.step("load the algorithm");
        drop(load_pinned(algorithm, &options, &pins)?);
        self.step("put it in force");
        record.target.carry(&record.replaced, &instance.name, &pins)?;
        self.step("verify that it is in force");
        match record.target.now(&record.replaced, Some((&pins, &instance.name)))? {
            Now::Runs(Some(name)) if name == instance.name => Ok(()),
            now => Err(HostError::refused(
                format!("{} would not take {}: it has {now:?}", record.scope, instance.name),
                "",
            )),
        }
    }

    /// Takes away what was attached to others of this target's name, and what this unit has attached elsewhere.
    fn drop_others(&self, target: &Target) -> Result<Option<String>> {
        let mut recovered = None;
        for (key, entry) in self.entries()? {
            let Entry::Known(record) = entry else { continue };
            let what = if key == target.key() {
                continue;
            } else if record.is_of(target) {
                match target {
                    Target::Cgroup { .. } => {
                        "what was attached to an earlier control group of this name".into()
                    }
                    _ => "what an older version had attached to it".into(),
                }
            } else if self.unit().is_some() && record.unit.as_deref() == self.unit() {
                format!("what this unit had attached to {}", record.scope)
            } else {
                continue;
            };
            self.undo(*record)?;
            recovered = Some(what);
        }
        Ok(recovered)
    }

    fn check_replaceable(
        &self,
        record: &Record,
        algorithm: &Algorithm,
        options: &Options,
        replace: bool,
    ) -> Result {
        let Some(old) = record.current() else { return Ok(()) };
        let by = match (self.unit(), record.unit.as_deref()) {
            (Some(own), Some(other)) if own != other => format!("by unit {other} "),
            _ if replace || old.is(algorithm, options) => return Ok(()),
            _ => String::new(),
        };
        Err(HostError::refused(
            format!("{} is attached to {} {by}already, and is not to be replaced", old.name, record.scope),
            format!("ramp detach --scope {} first, or choose another scope", record.scope),
        ))
    }

    /// Whether the instance in force is still registered.
    pub(crate) fn registered(&self, record: &Record) -> Result<bool> {
        let Some(instance) = record.current() else { return Ok(false) };
        let pinned = Pinned::open(&self.instance(&record.target.key(), instance)).is_some();
        Ok(pinned && sysctl::available()?.contains(&instance.name))
    }
}

/// Whether there is again what had been before: a detachment died there, or another process has set it.
fn back_already(record: &Record) -> Result<bool> {
    if matches!(record.target, Target::Cgroup { .. }) {
        return Ok(false);
    }
    let now = record.target.now(&record.replaced, None)?;
    Ok(matches!(now, Now::Runs(name) if name.as_deref() == record.replaced.congestion_control()))
}

/// An error whose traces have been removed, or not.
fn after(cause: HostError, undoing: Result) -> HostError {
    match undoing {
        Ok(()) => cause,
        Err(undoing) => HostError::NotUndone { cause: Box::new(cause), undoing: Box::new(undoing) },
    }
}

/// Routes over one nexthop object may share their metrics.
fn shared_nexthop(replaced: &Replaced) -> Option<String> {
    let Replaced::Route(route) = replaced else { return None };
    let object = route.nexthop_object().filter(|_| route.is_ipv4())?;
    Some(format!(
        "A route that is added over nexthop object {object} from now on, without metrics of its own, gets it too, as the \
         kernel shares them; `ramp detach` takes it off there as well."
    ))
}

/// What only another version can undo.
pub(crate) fn foreign(key: &str, version: u32) -> HostError {
    HostError::refused(
        format!("the record of {key} was written by a later version of ramp (its format is {version})"),
        "use the version that attached it, or a later one",
    )
}

/// Whether a congestion control may be one that [`Host::attach`] registered.
pub(crate) fn is_ours(name: &str) -> bool {
    name.split_once('_').is_some_and(|(_, id)| rampcc::algorithm(id).is_some() && is_named_after(name, id))
}

/// The same of an algorithm that another version may have had.
pub(crate) fn is_named_after(name: &str, id: &str) -> bool {
    let numbered = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    name.split_once('_').is_some_and(|(head, rest)| {
        rest == id && valid_name(name) && (head == "ramp" || head.strip_prefix('r').is_some_and(numbered))
    })
}

impl Instance {
    /// Whether it is this algorithm with these parameters and limits.
    fn is(&self, algorithm: &Algorithm, options: &Options) -> bool {
        self.algorithm == algorithm.id
            && self.parameters == options.parameters
            && self.limits == options.guard.into()
    }
}

fn new_instance(number: u32, algorithm: &Algorithm, options: &Options) -> Result<Instance> {
    let Clock { unix_s, boot_s } = Clock::now();
    Ok(Instance {
        number,
        algorithm: algorithm.id.to_owned(),
        parameters: options.parameters.to_vec(),
        name: free_name(algorithm)?,
        since_s: unix_s,
        since_boot_s: boot_s,
        limits: options.guard.into(),
    })
}

/// Attaches, again where another process was quicker to register the name: each attempt looks for a free one.
fn with_a_free_name(attach: impl Fn() -> Result<Attached>) -> Result<Attached> {
    for _ in 0..ATTEMPTS {
        match attach() {
            Err(HostError::Load(LoadError::NameTaken { .. })) => {}
            attached => return attached,
        }
    }
    attach()
}

/// `ramp_<id>`, or `r2_<id>` and so on while that is taken.
fn free_name(algorithm: &Algorithm) -> Result<String> {
    let taken = sysctl::available()?;
    let first = format!("ramp_{}", algorithm.id);
    let others = (2..=NAMES_MAX).map(|number| format!("r{number}_{}", algorithm.id));
    let mut names = std::iter::once(first.clone()).chain(others);
    names.find(|name| !taken.contains(name)).ok_or(HostError::Load(LoadError::NameTaken { name: first }))
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn tells_its_own_names_from_others() {
        for name in ["ramp_best", "r2_best", "r99_hystartpp", "ramp_slow_start"] {
            assert!(is_ours(name), "{name}");
        }
        for name in ["cubic", "bbr", "best", "ramp_", "ramp_cubic", "r_best", "rx_best"] {
            assert!(!is_ours(name), "{name}");
        }
    }
}

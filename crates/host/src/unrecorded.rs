//! Attachments of ramp that are in force without a record here.
//!
//! What it replaced is not known then, so it is said and never guessed. It may also have been inherited (a network
//! namespace takes its default from the first one), or be on record elsewhere.

use crate::attach::is_ours;
use crate::error::{HostError, Result};
use crate::namespace::Namespace;
use crate::record::Entry;
use crate::route::Route;
use crate::scope::{Prefix, Scope};
use crate::sysctl;
use crate::target::Target;

/// One thing that carries a congestion control of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unrecorded {
    /// As a user would name it.
    pub(crate) scope: String,
    /// What its record would be called.
    pub(crate) key: String,
    /// The congestion control.
    pub(crate) name: String,
}

impl Unrecorded {
    /// Why it cannot be taken away.
    pub(crate) fn refusal(&self) -> HostError {
        HostError::refused(
            format!(
                "new connections of {} get {}, which is ramp's, but what it replaced is on no record here",
                self.scope, self.name
            ),
            format!(
                "detach it where it was attached (the same --pins and --records), or set what you want by hand ({})",
                by_hand(&self.key)
            ),
        )
    }
}

/// The command by which a user sets what a key stands for.
pub(crate) fn by_hand(key: &str) -> &'static str {
    if key.starts_with("route-") {
        "ip route replace …"
    } else {
        "sysctl -w net.ipv4.tcp_congestion_control=cubic"
    }
}

/// All of it in the network namespace of this thread, besides these entries.
pub(crate) fn unrecorded(entries: &[(String, Entry)]) -> Result<Vec<Unrecorded>> {
    let own = Namespace::own()?;
    let known = |key: &str| entries.iter().any(|(found, _)| found == key);
    let mut found: Vec<_> = default_of(&Scope::System, &own)?.into_iter().collect();
    found.retain(|default| !known(&default.key));
    for route in Route::of_main_table(is_ours)? {
        let name = route.congestion_control.clone().unwrap_or_default();
        let prefix = Prefix { metric: Some(route.metric()), ..route.prefix() };
        let scope = Scope::Route(prefix.clone()).to_string();
        let target = Target::Route { netns: own.inode, prefix };
        // It may name what is attached elsewhere on this host.
        let recorded = entries.iter().any(|(key, entry)| match entry {
            Entry::Known(record) => record.instances.iter().any(|instance| instance.name == name),
            _ => key.starts_with(&format!("route-{}-", own.inode)),
        });
        if !recorded {
            found.push(Unrecorded { scope, key: target.key(), name });
        }
    }
    Ok(found)
}

pub(crate) fn unrecorded_in(scope: &Scope) -> Result<Option<Unrecorded>> {
    match scope {
        Scope::System => default_of(scope, &Namespace::own()?),
        Scope::Netns(name) => default_of(scope, &Namespace::named(name)?),
        Scope::Route(prefix) => {
            let route = Route::find(prefix)?;
            let name = route.and_then(|route| route.congestion_control).filter(|name| is_ours(name));
            let key = Target::of(scope)?.key();
            Ok(name.map(|name| Unrecorded { scope: scope.to_string(), key, name }))
        }
        // Its programs go with their pins.
        Scope::Cgroup(_) => Ok(None),
    }
}

fn default_of(scope: &Scope, namespace: &Namespace) -> Result<Option<Unrecorded>> {
    let name = sysctl::default_in(namespace)?;
    let key = Target::Default { netns: namespace.inode }.key();
    Ok(is_ours(&name).then(|| Unrecorded { scope: scope.to_string(), key, name }))
}

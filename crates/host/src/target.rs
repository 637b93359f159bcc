//! Target of a scope in the kernel, changing it and restoring it.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::sys::statfs::{CGROUP2_SUPER_MAGIC, statfs};
use serde::{Deserialize, Serialize};

use crate::assign::{Assign, AssignArm, AssignOptions, WHOLE};
use crate::error::{HostError, Result};
use crate::namespace::Namespace;
use crate::route::Route;
use crate::scope::{Prefix, Scope, printable};
use crate::{sockets, sysctl};

/// One thing that carries a congestion control. Two scopes may name the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Target {
    /// The default of a network namespace.
    Default { netns: u64 },
    /// A route in a network namespace.
    Route { netns: u64, prefix: Prefix },
    /// A control group, by its inode.
    Cgroup { id: u64, path: PathBuf },
}

/// What was there before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Replaced {
    CongestionControl(String),
    Route(Box<Route>),
    /// A control group assigns nothing by itself.
    Nothing,
}

/// What carries the target now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Now {
    /// The congestion control with this name; `None`: nothing of ours, for a control group.
    Runs(Option<String>),
    /// It is ours, changed in other ways by others.
    Altered(Box<Route>),
    /// There is no such thing any more.
    Gone(String),
    /// There is no such control group any more, but another one of the same name.
    Remade(PathBuf),
}

impl Target {
    /// What this scope stands for, here and now.
    pub(crate) fn of(scope: &Scope) -> Result<Self> {
        match scope {
            Scope::System => Ok(Self::Default { netns: Namespace::own()?.inode }),
            Scope::Netns(name) => Ok(Self::Default { netns: Namespace::named(name)?.inode }),
            Scope::Route(prefix) => {
                // The same route is the same target, whether its metric was named or not.
                let found = Route::find(prefix)?.map(|route| route.metric());
                let prefix = Prefix { metric: found.or(prefix.metric), ..prefix.clone() };
                Ok(Self::Route { netns: Namespace::own()?.inode, prefix })
            }
            Scope::Cgroup(path) => {
                let path = cgroup(path)?;
                let id = fs::metadata(&path).map_err(HostError::file("look at", &path))?.ino();
                Ok(Self::Cgroup { id, path })
            }
        }
    }

    /// A name for files; a BPF file system takes no dots. The same thing has the same key, however the user named it.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Default { netns } => format!("default-{netns}"),
            Self::Route { netns, prefix } => {
                format!("route-{netns}-{}", prefix.to_string().replace(['/', ' ', '.'], "_"))
            }
            Self::Cgroup { id, .. } => format!("cgroup-{id}"),
        }
    }

    /// What is there now, once it is sure that it can be put back.
    pub(crate) fn replaceable(&self) -> Result<Replaced> {
        match self {
            Self::Default { .. } => {
                sysctl::restorable_default_in(&self.namespace()?).map(Replaced::CongestionControl)
            }
            Self::Route { prefix, .. } => self.namespace()?.within(|| match Route::find(prefix)? {
                Some(route) => {
                    route.check_restorable()?;
                    Ok(Replaced::Route(Box::new(route)))
                }
                None => Err(HostError::input(
                    format!("the main table has no route to {prefix}"),
                    format!("it has routes to: {}", Route::destinations(prefix)?.join(", ")),
                )),
            }),
            Self::Cgroup { .. } => Ok(Replaced::Nothing),
        }
    }

    /// What carries it now; `pins` are those of an instance that may be in force.
    pub(crate) fn now(&self, replaced: &Replaced, pins: Option<(&Path, &str)>) -> Result<Now> {
        match (self, replaced) {
            (Self::Default { netns }, _) => match Namespace::with_inode(*netns)? {
                Some(namespace) => Ok(Now::Runs(Some(sysctl::default_in(&namespace)?))),
                None => Ok(Now::Gone(format!("network namespace {netns}"))),
            },
            (Self::Route { netns, prefix }, Replaced::Route(original)) => {
                let Some(namespace) = Namespace::with_inode(*netns)? else {
                    return Ok(Now::Gone(format!("network namespace {netns}")));
                };
                namespace.within(|| {
                    Ok(match Route::find(prefix)? {
                        None => Now::Gone(format!("route to {prefix}")),
                        Some(route) if route.same_but_for_congestion_control(original) => {
                            Now::Runs(route.congestion_control)
                        }
                        Some(route) => Now::Altered(Box::new(route)),
                    })
                })
            }
            (Self::Cgroup { id, path }, _) => {
                match fs::metadata(path).map(|metadata| metadata.ino()) {
                    Ok(inode) if inode == *id => {}
                    Ok(_) => return Ok(Now::Remade(path.clone())),
                    Err(_) => {
                        return Ok(Now::Gone(format!(
                            "control group {}",
                            printable(&path.to_string_lossy())
                        )));
                    }
                }
                let name = pins.filter(|(pins, _)| Assign::is_pinned(pins)).map(|(_, name)| name.to_owned());
                Ok(Now::Runs(name))
            }
            (Self::Route { prefix, .. }, _) => {
                let advice = "the record has been tampered with; set the route by hand";
                Err(HostError::refused(format!("what the route to {prefix} was is not on record"), advice))
            }
        }
    }

    /// Has new connections use the congestion control `name`, whose pins are in `pins`.
    pub(crate) fn carry(&self, replaced: &Replaced, name: &str, pins: &Path) -> Result {
        match (self, replaced) {
            (Self::Default { .. }, _) => sysctl::set_default_in(&self.namespace()?, name),
            (Self::Route { .. }, Replaced::Route(original)) => {
                self.namespace()?.within(|| original.with(Some(name)).replace())
            }
            (Self::Route { .. }, _) => Ok(()),
            (Self::Cgroup { path, .. }, _) => {
                let arm = AssignArm { control: name.to_owned(), share: WHOLE };
                Assign::attach(path, &[arm], AssignOptions::default())?.pin(pins)
            }
        }
    }

    /// Whether both are routes of one network namespace.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Route { netns, .. }, Self::Route { netns: other, .. }) if netns == other)
    }

    /// Has a route that others have changed meanwhile use the congestion control `name` instead of one of ours.
    pub(crate) fn carry_altered(&self, altered: &Route, name: &str) -> Result {
        self.namespace()?.within(|| altered.with(Some(name)).put_back())
    }

    pub(crate) fn put_back(&self, replaced: &Replaced, now: &Now) -> Result {
        match (replaced, now) {
            (Replaced::CongestionControl(name), _) => {
                let namespace = self.namespace()?;
                sysctl::set_default_in(&namespace, name).map_err(|error| match error {
                    HostError::File { cause, .. } if cause.kind() == std::io::ErrorKind::NotFound => {
                        HostError::refused(
                            format!("{name}, the default before, is not available any more"),
                            format!(
                                "load it (modprobe tcp_{name}), or set another default, then detach again"
                            ),
                        )
                    }
                    other => other,
                })
            }
            (Replaced::Route(original), Now::Altered(altered)) => {
                // The others' changes stay; only what is ours goes.
                let route = altered.with(original.congestion_control.as_deref());
                self.namespace()?.within(|| route.put_back())
            }
            (Replaced::Route(original), _) => self.namespace()?.within(|| original.put_back()),
            (Replaced::Nothing, _) => Ok(()),
        }
    }

    /// Other routes that one of these congestion controls is set on, while they are registered and so can be seen.
    ///
    /// Those over the nexthop object of a route of ours have it because the kernel lets such routes share their metrics;
    /// it is taken off. What another process has set is said.
    pub(crate) fn routes_left(&self, replaced: &Replaced, names: &[String]) -> Vec<String> {
        let object = match replaced {
            Replaced::Route(route) => route.nexthop_object(),
            _ => None,
        };
        let described = || {
            let namespace = match self {
                Self::Default { netns } | Self::Route { netns, .. } => Namespace::with_inode(*netns)?,
                Self::Cgroup { .. } => Some(Namespace::own()?),
            };
            // Its routes have gone with it.
            let Some(namespace) = namespace else { return Ok(Vec::new()) };
            namespace.within(|| {
                let told = |route: Route| {
                    let shared = object.is_some() && route.nexthop_object() == object;
                    let text = route.describe();
                    match shared.then(|| route.without()) {
                        Some(Ok(())) => format!("taken off as well, over the same nexthop object: {text}"),
                        Some(Err(error)) => format!("still set by the route {text}: {error}"),
                        None => format!(
                            "still set by the route {text}, which ramp has not made: ip route replace …"
                        ),
                    }
                };
                Ok(Route::that_name(names)?.into_iter().map(told).collect::<Vec<_>>())
            })
        };
        described().unwrap_or_else(|error: HostError| {
            vec![format!("whether other routes name it is not known: {error}")]
        })
    }

    /// Its connections now, by congestion control; `None`: it is gone.
    pub(crate) fn connections(&self) -> Result<Option<std::collections::BTreeMap<String, u64>>> {
        let count = |groups: Option<&BTreeSet<u64>>| {
            sockets::by_congestion_control(groups)
                .map_err(HostError::system::<std::io::Error>("count connections"))
        };
        match self {
            Self::Default { netns } | Self::Route { netns, .. } => match Namespace::with_inode(*netns)? {
                Some(namespace) => namespace.within(|| count(None)).map(Some),
                None => Ok(None),
            },
            Self::Cgroup { path, .. } => {
                let groups = groups_below(path);
                if groups.is_empty() { Ok(None) } else { count(Some(&groups)).map(Some) }
            }
        }
    }

    /// Where its congestion control is set.
    fn namespace(&self) -> Result<Namespace> {
        match self {
            Self::Default { netns } | Self::Route { netns, .. } => {
                Namespace::with_inode(*netns)?.ok_or_else(|| {
                    HostError::refused(
                        format!("there is no way into network namespace {netns}"),
                        "run this inside it (nsenter --net=/proc/PID/ns/net ramp …)",
                    )
                })
            }
            Self::Cgroup { .. } => Namespace::own(),
        }
    }
}

impl Replaced {
    pub(crate) fn congestion_control(&self) -> Option<&str> {
        match self {
            Self::CongestionControl(name) => Some(name),
            Self::Route(route) => route.congestion_control.as_deref(),
            Self::Nothing => None,
        }
    }
}

impl fmt::Display for Replaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CongestionControl(name) => f.write_str(name),
            Self::Route(route) => f.write_str(&route.describe()),
            Self::Nothing => f.write_str("nothing"),
        }
    }
}

/// A directory of cgroup v2, in full.
fn cgroup(path: &Path) -> Result<PathBuf> {
    let full = fs::canonicalize(path).map_err(|cause| match cause.kind() {
        std::io::ErrorKind::NotFound => HostError::input(
            format!("there is no control group {}", path.display()),
            "give the directory, such as /sys/fs/cgroup/system.slice/nginx.service",
        ),
        _ => HostError::file("look at", path)(cause),
    })?;
    let kind = statfs(&full).map_err(|error| HostError::file("examine", path)(error.into()))?;
    if kind.filesystem_type() != CGROUP2_SUPER_MAGIC || !full.is_dir() {
        return Err(HostError::input(
            format!("{} is not a control group of version 2", path.display()),
            "a directory below the mount of type cgroup2, mostly /sys/fs/cgroup or /sys/fs/cgroup/unified",
        ));
    }
    Ok(full)
}

pub(crate) fn groups_below(path: &Path) -> BTreeSet<u64> {
    let mut groups = BTreeSet::new();
    let mut waiting = vec![path.to_path_buf()];
    while let Some(directory) = waiting.pop() {
        let Ok(metadata) = fs::metadata(&directory) else { continue };
        groups.insert(metadata.ino());
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        waiting.extend(entries.filter(|e| e.file_type().is_ok_and(|kind| kind.is_dir())).map(|e| e.path()));
    }
    groups
}

//! What an algorithm is attached to.

use std::fmt;
use std::path::PathBuf;

use crate::error::HostError;

/// Which connections an algorithm is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All that are opened in the network namespace of this process.
    System,
    /// All that are opened in a network namespace of this name (`ip netns`).
    Netns(String),
    /// All that processes of this control group (cgroup v2) and those below it open.
    Cgroup(PathBuf),
    /// All whose packets take this route of the main table.
    Route(String),
}

impl Scope {
    /// What `--scope` allows.
    pub const SYNTAX: &str = "system, netns NAME, cgroup PATH or route PREFIX";

    /// From the words of the command line: `system`, `netns NAME`, `cgroup PATH`, `route PREFIX`.
    pub fn parse(words: &[impl AsRef<str>]) -> Result<Self, HostError> {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        let scope = match words.as_slice() {
            ["system"] => Self::System,
            ["netns", name] => Self::Netns((*name).to_owned()),
            ["cgroup", path] => Self::Cgroup(PathBuf::from(path)),
            ["route", prefix] => Self::Route((*prefix).to_owned()),
            [word @ ("netns" | "cgroup" | "route")] => {
                return Err(HostError::input(format!("--scope {word}: which one?"), Self::SYNTAX));
            }
            other => {
                return Err(HostError::input(format!("--scope {} is none", other.join(" ")), Self::SYNTAX));
            }
        };
        Ok(scope)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => f.write_str("system"),
            Self::Netns(name) => write!(f, "netns {name}"),
            Self::Cgroup(path) => write!(f, "cgroup {}", path.display()),
            Self::Route(prefix) => write!(f, "route {prefix}"),
        }
    }
}

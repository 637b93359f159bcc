//! Errors on a live host.

use std::io;
use std::path::{Path, PathBuf};

use rampcc_linux::LoadError;
use thiserror::Error;

use crate::detached::Detached;

/// How root lets a user pin without opening the usual one, which is mostly root's alone.
pub(crate) const FOR_A_USER: &str = "mkdir -p /run/ramp-bpf && mount -t bpf -o mode=0700 bpf /run/ramp-bpf && chown USER \
                                     /run/ramp-bpf, and --pins /run/ramp-bpf/ramp with every command";

/// Result of what may fail with [`HostError`].
pub type Result<T = (), E = HostError> = std::result::Result<T, E>;

/// Error of a change to this host.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HostError {
    /// The user asked for something that cannot be.
    #[error("{problem}")]
    Input {
        /// Problem, naming the input.
        problem: String,
        /// Input that would be right.
        advice: String,
    },
    /// It could be done but not undone, so it is not done.
    #[error("{problem}")]
    Refused {
        /// Obstacle.
        problem: String,
        /// Remedy.
        advice: String,
    },
    /// The algorithm did not get into the kernel.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Some attachments are gone, another is not.
    #[error("{} detached, then: {cause}", done.len())]
    Partly {
        /// Those that are gone.
        done: Vec<Detached>,
        /// Error of the first of the others.
        cause: Box<Self>,
    },
    /// It failed, and so did taking back what had been done.
    #[error("{cause}; and it could not be undone: {undoing}")]
    NotUndone {
        /// Error that made it fail.
        cause: Box<Self>,
        /// Error of undoing it.
        undoing: Box<Self>,
    },
    /// A file, or what the kernel shows as one.
    #[error("cannot {action} {}: {cause}", path.display())]
    File {
        /// Verb.
        action: &'static str,
        /// Path.
        path: PathBuf,
        /// Cause.
        cause: io::Error,
    },
    /// A system call without a file.
    #[error("cannot {action}: {cause}")]
    System {
        /// Verb and object.
        action: String,
        /// Cause.
        cause: io::Error,
    },
}

impl HostError {
    pub(crate) fn input(problem: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::Input { problem: problem.into(), advice: advice.into() }
    }

    pub(crate) fn refused(problem: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::Refused { problem: problem.into(), advice: advice.into() }
    }

    /// For `map_err` on file operations.
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::File { action, path: path.to_path_buf(), cause }
    }

    /// For `map_err` on other system calls.
    pub(crate) fn system<E: Into<io::Error>>(action: impl Into<String>) -> impl FnOnce(E) -> Self {
        move |cause| Self::System { action: action.into(), cause: cause.into() }
    }

    /// Remedy, where one is known.
    pub fn advice(&self) -> Option<String> {
        match self {
            Self::Input { advice, .. } | Self::Refused { advice, .. } if !advice.is_empty() => {
                Some(advice.clone())
            }
            Self::Partly { cause, .. } => cause.advice(),
            Self::NotUndone { .. } => Some("ramp status shows what is left; ramp detach tries again".into()),
            Self::File { path, cause, .. } if cause.kind() == io::ErrorKind::PermissionDenied => {
                Some(permission(path))
            }
            Self::System { cause, .. } if cause.kind() == io::ErrorKind::PermissionDenied => {
                Some(format!("{NETNS}; changing routes takes CAP_NET_ADMIN"))
            }
            _ => None,
        }
    }
}

const NETNS: &str = "entering a network namespace takes CAP_SYS_ADMIN";

fn permission(path: &Path) -> String {
    let path_text = path.display();
    if path.starts_with("/proc/sys") {
        "this takes CAP_NET_ADMIN".into()
    } else if path.starts_with("/run/netns") || path.starts_with("/proc") {
        NETNS.into()
    } else if path.to_string_lossy().contains("bpf") {
        format!("let this user pin, as root: {FOR_A_USER}")
    } else {
        let is_file = path.is_file() || path.extension().is_some();
        let parent = path.parent().filter(|_| is_file).unwrap_or(path);
        let own = if path.is_file() { format!(" && chown USER {path_text}") } else { String::new() };
        format!("let this user write there, as root: install -d -o USER {}{own}", parent.display())
    }
}

//! What can go wrong on a live host.

use std::io;
use std::path::{Path, PathBuf};

use ramp_linux::LoadError;
use thiserror::Error;

/// Why something could not be done to this host.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HostError {
    /// The user asked for something that cannot be.
    #[error("{problem}")]
    Input {
        /// What is wrong, naming it.
        problem: String,
        /// What would be right.
        advice: String,
    },
    /// It could be done but not undone, so it is not done.
    #[error("{problem}")]
    Refused {
        /// What stands in the way.
        problem: String,
        /// What would remove it.
        advice: String,
    },
    /// The algorithm did not get into the kernel.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A file, or what the kernel shows as one.
    #[error("cannot {action} {}: {cause}", path.display())]
    File {
        /// Verb.
        action: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A system call without a file.
    #[error("cannot {action}: {cause}")]
    System {
        /// Verb and object.
        action: String,
        /// Why.
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

    /// What to do about it, where that is known.
    pub fn advice(&self) -> Option<&str> {
        match self {
            Self::Input { advice, .. } | Self::Refused { advice, .. } if !advice.is_empty() => Some(advice),
            _ => None,
        }
    }
}

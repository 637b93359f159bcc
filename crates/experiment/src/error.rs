//! Errors of an experiment.

use std::io;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use rampcc_scenario::ScenarioError;
use thiserror::Error;

/// Result of what may fail with [`ExperimentError`].
pub type Result<T = (), E = ExperimentError> = std::result::Result<T, E>;

/// Error that leaves an experiment without a result.
#[derive(Debug, Error, Diagnostic)]
pub enum ExperimentError {
    /// A field of a [`Request`](crate::Request).
    #[error("`{field}` {problem}")]
    Request {
        /// Field of the request.
        field: &'static str,
        /// Problem with it.
        problem: String,
        /// Values allowed, or the likely intention.
        #[help]
        help: Option<String>,
    },
    /// Something else that was asked for: a row, a directory.
    #[error("{message}")]
    Input {
        /// Problem.
        message: String,
        /// Values allowed, or the likely intention.
        #[help]
        help: Option<String>,
    },
    /// A scenario file or a setting in it.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Scenario(#[from] ScenarioError),
    /// A scenario asks for what a backend cannot do.
    #[error("{backend} cannot play `{scenario}`:{}", reasons.iter().flat_map(|reason| ["\n- ", reason]).collect::<String>())]
    Unplayable {
        /// [`Backend::title`](rampcc_backend::Backend::title).
        backend: &'static str,
        /// Its name.
        scenario: String,
        /// Everything that the backend cannot do of it.
        reasons: Vec<String>,
        /// Possible changes.
        #[help]
        help: Option<String>,
    },
    /// A backend cannot have a row that was named.
    #[error("{backend} cannot be given {rows}")]
    Unavailable {
        /// [`Backend::title`](rampcc_backend::Backend::title).
        backend: &'static str,
        /// Labels of the rows.
        rows: String,
        /// Cause and remedy.
        #[help]
        help: Option<String>,
    },
    /// A run failed.
    #[error("run {run} failed: {cause}")]
    Run {
        /// Row and seed.
        run: String,
        /// Cause.
        cause: String,
    },
    /// The caller asked to stop. What is finished is kept, and the same request goes on from there.
    #[error("interrupted: {finished} of {runs} runs are finished and kept in {}", place.display())]
    Interrupted {
        /// Finished runs, those that were so before included.
        finished: usize,
        /// All.
        runs: usize,
        /// Results directory.
        place: PathBuf,
    },
    /// A file or directory.
    #[error("cannot {action} {}: {cause}", path.display())]
    File {
        /// Verb.
        action: &'static str,
        /// File or directory.
        path: PathBuf,
        /// Cause.
        cause: io::Error,
    },
    /// A result that is no JSON.
    #[error("cannot write results as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl ExperimentError {
    /// True if the input must change; if not, the machine is at fault, or nothing is.
    pub fn is_input(&self) -> bool {
        matches!(
            self,
            Self::Request { .. } | Self::Input { .. } | Self::Scenario(_) | Self::Unplayable { .. }
        )
    }

    pub(crate) fn request(field: &'static str, problem: impl Into<String>) -> Self {
        Self::Request { field, problem: problem.into(), help: None }
    }

    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::Input { message: message.into(), help: None }
    }

    pub(crate) fn input_help(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Input { message: message.into(), help: Some(help.into()) }
    }

    /// For `map_err` on file operations.
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::File { action, path: path.to_path_buf(), cause }
    }
}

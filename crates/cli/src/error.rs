//! What can go wrong, and with which exit code.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use rampcc_experiment::{ExperimentError, Refused};
use rampcc_reproduce::ReproduceError;
use rampcc_scenario::ScenarioError;
use thiserror::Error;

/// Result of what may fail with [`CliError`].
pub(crate) type Result<T = (), E = CliError> = std::result::Result<T, E>;

/// Why a command did not do what it was asked to.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum CliError {
    /// Something the user wrote.
    #[error("{message}")]
    Input {
        /// What is wrong, naming the argument.
        message: String,
        /// What is allowed, or the likely intention.
        #[help]
        help: Option<String>,
    },
    /// A scenario file or a setting in it.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Scenario(#[from] ScenarioError),
    /// What the kernel, or this process's privileges, cannot do.
    #[error("{message}")]
    Kernel {
        /// What.
        message: String,
        /// Why, and what to do.
        #[help]
        help: Option<String>,
    },
    /// Something about a comparison.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Experiment(ExperimentError),
    /// Something about a published experiment.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Reproduce(ReproduceError),
    /// Claims that do not hold, without an explanation.
    #[error("claims without a stated reason do not hold: {}", experiments.join(", "))]
    #[diagnostic(help(
        "their pages show what was measured; a claim that is known not to hold has a `reason` in its file"
    ))]
    Unexplained { experiments: Vec<String> },
    #[error("run {run} failed: {cause}")]
    Run {
        /// Row and seed.
        run: String,
        /// Why.
        cause: String,
    },
    /// The machine was too busy for some runs.
    #[error(
        "{} refused: the emulator's error would have changed the answer{}",
        if refused.len() == 1 { "a run was" } else { "runs were" },
        bullets(refused)
    )]
    #[diagnostic(help(
        "the other results stand; on an idle machine, the same command plays the missing ones"
    ))]
    Refused {
        /// Which, and why.
        refused: Vec<Refused>,
    },
    #[error("cannot {action} {}: {cause}", path.display())]
    File {
        /// Verb.
        action: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    #[error("cannot write the output")]
    Output(#[from] io::Error),
    /// A trial stopped early; everything has been said.
    #[error("rolled back")]
    #[cfg_attr(
        not(feature = "linux"),
        expect(dead_code, reason = "trials need the algorithms in the kernel")
    )]
    RolledBack,
    /// A gate's answer, which has been printed: the new start-up, or the gate itself, is worse than it may be.
    #[error("worse")]
    Worse,
    /// An answer that has been printed: a gate's runs do not suffice, a trial had no connection.
    #[error("cannot tell")]
    CannotTell,
    /// Ctrl-C; everything has been said.
    #[error("interrupted")]
    Interrupted,
}

impl CliError {
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::Input { message: message.into(), help: None }
    }

    /// Bad input, with what is allowed.
    pub(crate) fn input_help(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Input { message: message.into(), help: Some(help.into()) }
    }

    /// For `map_err` on file operations.
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::File { action, path: path.to_path_buf(), cause }
    }

    /// 2: the input; 130: interrupted, as a shell reports SIGINT; 1: everything else.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Input { .. } | Self::Scenario(_) => 2,
            Self::Experiment(error) if error.is_input() => 2,
            Self::Reproduce(error) if error.is_input() => 2,
            Self::RolledBack | Self::CannotTell => 3,
            Self::Interrupted => 130,
            Self::Experiment(_)
            | Self::Reproduce(_)
            | Self::Unexplained { .. }
            | Self::Kernel { .. }
            | Self::Run { .. }
            | Self::Refused { .. }
            | Self::File { .. }
            | Self::Output(_)
            | Self::Worse => 1,
        }
    }

    /// Whether all that it says has been printed.
    pub(crate) fn is_said(&self) -> bool {
        matches!(self, Self::Interrupted | Self::RolledBack | Self::Worse | Self::CannotTell)
    }

    /// Whether the reader of our output left early, as `head` does.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(cause) if cause.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// A field of a request is an option of the same name here.
impl From<ExperimentError> for CliError {
    fn from(error: ExperimentError) -> Self {
        match error {
            ExperimentError::Request { field, problem, help } => {
                Self::Input { message: format!("--{field} {problem}"), help }
            }
            ExperimentError::Interrupted { .. } => Self::Interrupted,
            other => Self::Experiment(other),
        }
    }
}

impl From<ReproduceError> for CliError {
    fn from(error: ReproduceError) -> Self {
        match error {
            ReproduceError::Experiment(error) => error.into(),
            other => Self::Reproduce(other),
        }
    }
}

/// One item a line.
fn bullets(items: &[impl fmt::Display]) -> String {
    items.iter().flat_map(|item| ["\n- ".to_owned(), item.to_string()]).collect()
}

/// The `count` names closest to one that is unknown, the closest first.
pub(crate) fn nearest<'n>(wrong: &str, known: &[&'n str], count: usize) -> Vec<&'n str> {
    let wrong = wrong.to_lowercase();
    let mut near: Vec<&str> = known.to_vec();
    near.sort_by(|a, b| {
        let likeness = |name: &str| strsim::jaro_winkler(&wrong, &name.to_lowercase());
        likeness(b).total_cmp(&likeness(a)).then(a.cmp(b))
    });
    near.truncate(count);
    near
}

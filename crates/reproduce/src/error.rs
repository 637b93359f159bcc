//! What can be wrong with an experiment's file, and with reproducing it.

use std::ops::Range;

use miette::{Diagnostic, NamedSource, SourceSpan};
use rampcc_experiment::ExperimentError;
use rampcc_scenario::nearest;
use thiserror::Error;
use toml::Spanned;

/// Result of what may fail with [`ReproduceError`].
pub type Result<T = (), E = ReproduceError> = std::result::Result<T, E>;

/// Error that leaves experiments without results.
#[derive(Debug, Error, Diagnostic)]
pub enum ReproduceError {
    /// Something in a file is wrong.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] Box<FileError>),
    /// There is no such experiment.
    #[error("there is no experiment `{name}`")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The nearest, and where the list is.
        #[help]
        help: String,
    },
    /// What was asked for cannot be.
    #[error("{message}")]
    Input {
        /// What is wrong.
        message: String,
        /// What is allowed.
        #[help]
        help: Option<String>,
    },
    /// A run, a file, or Ctrl-C.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Experiment(#[from] ExperimentError),
}

impl ReproduceError {
    /// True if the input must change; if not, the machine is at fault, or nothing is.
    pub fn is_input(&self) -> bool {
        match self {
            Self::File(_) | Self::Unknown { .. } | Self::Input { .. } => true,
            Self::Experiment(error) => error.is_input(),
        }
    }
}

/// One wrong value or unknown field, with its place.
#[derive(Debug, Error, Diagnostic)]
#[error("{file} line {line}, {field}: {problem}")]
pub struct FileError {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// The field.
    pub field: String,
    /// What was found, and what is wrong with it.
    pub problem: String,
    /// What is allowed.
    #[help]
    pub allowed: String,
    #[source_code]
    source_code: NamedSource<String>,
    #[label("here")]
    span: SourceSpan,
}

/// A file's text, for messages about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

impl Source<'_> {
    /// Whether a page can be named for it.
    pub(crate) fn identifier(&self, id: &Spanned<String>) -> Result {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let text = id.get_ref();
        if text.is_empty() || !text.chars().all(plain) || text == "index" {
            let problem = format!("`{text}` cannot be the name of a page");
            return Err(self.wrong(id.span(), "id", problem, "a-z, 0-9 and -, and not `index`"));
        }
        Ok(())
    }

    /// An error about what stands at `span`.
    pub(crate) fn wrong(
        &self,
        span: Range<usize>,
        field: &str,
        problem: impl Into<String>,
        allowed: impl Into<String>,
    ) -> ReproduceError {
        Box::new(FileError {
            file: self.file.to_owned(),
            line: self.line(span.start),
            field: field.to_owned(),
            problem: problem.into(),
            allowed: format!("expected {}", allowed.into()),
            source_code: NamedSource::new(self.file, self.text.to_owned()),
            span: span.into(),
        })
        .into()
    }

    /// An error of the TOML reader: its message names the fields that it knows.
    pub(crate) fn unreadable(&self, error: &toml::de::Error) -> ReproduceError {
        let span = error.span().unwrap_or(0..0);
        let message = error.message();
        let (problem, allowed) = match message.split_once(", expected ") {
            Some((problem, allowed)) => (problem, allowed.to_owned()),
            None => (message, "a file as docs/guide/reproduce.md describes".to_owned()),
        };
        self.wrong(span.clone(), &self.field_at(span.start), problem, allowed)
    }

    /// Line of a place, from 1.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.text.get(..at).map_or(1, |before| before.matches('\n').count() + 1)
    }

    /// The key of the line at this place, or the table that it opens.
    fn field_at(&self, at: usize) -> String {
        let from = self.text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        let line = self.text.get(from..).unwrap_or_default().lines().next().unwrap_or_default();
        let key = line.split('=').next().unwrap_or_default().trim().trim_matches(['[', ']']);
        if key.is_empty() { "syntax".to_owned() } else { key.to_owned() }
    }
}

/// `did you mean …?` and what there is.
pub(crate) fn one_of<'n>(found: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    let near = nearest(found, known.clone()).map(|near| format!(" (did you mean `{near}`?)"));
    let known: Vec<&str> = known.collect();
    // Labels of choices have commas of their own.
    let parted = if known.iter().any(|name| name.contains(',')) { "; " } else { ", " };
    format!("one of {}{}", known.join(parted), near.unwrap_or_default())
}

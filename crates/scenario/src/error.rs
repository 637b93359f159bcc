//! Errors in a scenario, with their places.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::PathBuf;

use miette::{Diagnostic, NamedSource, SourceSpan};
use thiserror::Error;

use crate::place::Written;

/// Result of what may fail with [`ScenarioError`].
pub type Result<T = (), E = ScenarioError> = std::result::Result<T, E>;

/// Error that leaves no [`crate::Scenario`].
#[derive(Debug, Error, Diagnostic)]
pub enum ScenarioError {
    /// Something in the file is wrong.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Field(#[from] Box<FieldError>),
    /// A file cannot be read.
    #[error("cannot read {}: {cause}", path.display())]
    #[diagnostic(help("give the path of a scenario file, or the name of a built-in scenario"))]
    Read {
        /// File.
        path: PathBuf,
        /// Cause, which the message has already.
        cause: std::io::Error,
    },
    /// There is no built-in scenario of this name and no such file.
    #[error("there is no scenario `{name}`")]
    #[diagnostic(help("{help}"))]
    Unknown {
        /// Name that was asked for.
        name: String,
        /// The nearest name, and what there is.
        help: String,
    },
    /// An option without which there is no path.
    #[error("{option} is required")]
    #[diagnostic(help("expected {allowed}"))]
    Missing {
        /// Such as `--rate`.
        option: String,
        /// Values allowed.
        allowed: String,
    },
    /// A setting given on top of the file is wrong.
    #[error("`{text}`: {problem}")]
    #[diagnostic(help("expected {allowed}"))]
    Setting {
        /// As given.
        text: String,
        /// Problem.
        problem: String,
        /// Values allowed.
        allowed: String,
    },
}

/// One wrong value, unknown field or syntax error, with its place.
#[derive(Debug, Error, Diagnostic)]
#[error("{file} line {line}, {field}: {problem}{}", setting.as_deref().map(by).unwrap_or_default())]
pub struct FieldError {
    /// The file, or the scenario's name.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Dotted path of the field, e.g. `path.buffer`; `syntax` if the file is not TOML.
    pub field: String,
    /// Value found, and the problem.
    pub problem: String,
    /// Values allowed instead.
    pub allowed: String,
    /// The override that put it there, if one did.
    pub setting: Option<String>,
    #[help]
    help: String,
    #[source_code]
    source_code: NamedSource<String>,
    #[label("here")]
    span: SourceSpan,
    /// The other mistakes of the file, by their place.
    #[related]
    pub more: Vec<Self>,
}

/// " (set by `path.rtt=1`)": a setting without a value removes what the file says.
fn by(setting: &str) -> String {
    let what = if setting.ends_with('=') { "removed" } else { "set" };
    format!(" ({what} by `{setting}`)")
}

impl FieldError {
    /// This one and the others, by their place.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.more)
    }
}

impl ScenarioError {
    /// The whole message, a line for each mistake: where, what was found, what is allowed.
    pub fn explain(&self) -> String {
        match self {
            Self::Field(error) => {
                let lines: Vec<String> =
                    error.all().map(|error| format!("{error}; expected {}", error.allowed)).collect();
                lines.join("\n")
            }
            Self::Setting { allowed, .. } | Self::Missing { allowed, .. } => {
                format!("{self}; expected {allowed}")
            }
            Self::Unknown { help, .. } => format!("{self}; {help}"),
            Self::Read { .. } => self.to_string(),
        }
    }

    /// The field at fault, if one is; the first of several.
    pub fn field(&self) -> Option<&FieldError> {
        match self {
            Self::Field(error) => Some(error),
            _ => None,
        }
    }

    /// The same error, naming for each field the override that put it there, if `setting` knows one.
    pub(crate) fn set_by<'s>(mut self, setting: impl Fn(&str) -> Option<&'s str>) -> Self {
        if let Self::Field(first) = &mut self {
            first.setting = setting(&first.field).map(shortened);
            for error in &mut first.more {
                error.setting = setting(&error.field).map(shortened);
            }
        }
        self
    }
}

/// The text that spans point into.
#[derive(Debug)]
pub(crate) struct File<'a> {
    pub(crate) label: String,
    pub(crate) text: &'a str,
    /// What its user knows of it, where it was changed since.
    written: Option<Written<'a>>,
    /// What is wrong with it, in the order in which it was read.
    found: RefCell<Vec<FieldError>>,
    /// How many mistakes are not among these any more.
    untold: Cell<usize>,
    /// Fields that others were meant to be.
    meant: RefCell<Vec<String>>,
}

/// Most mistakes that are reported at once.
const TOLD_MAX: usize = 20;

impl<'a> File<'a> {
    pub(crate) fn new(label: &str, text: &'a str) -> Self {
        Self {
            label: label.to_owned(),
            text,
            written: None,
            found: RefCell::default(),
            untold: Cell::new(0),
            meant: RefCell::default(),
        }
    }

    /// The same, where a user wrote `text`: that is what places are in.
    pub(crate) fn changed_from(self, text: &'a str) -> Self {
        Self { written: Written::new(text), ..self }
    }

    /// A result whose error is reported with all other mistakes of the file: reading goes on without it.
    pub(crate) fn keep<T>(&self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => return Some(value),
            Err(ScenarioError::Field(error)) => {
                let mut found = self.found.borrow_mut();
                // A table that is read twice has its mistakes once; and one field has one.
                let meant = self.meant.borrow().contains(&error.field);
                if !meant && found.iter().all(|known| known.field != error.field) {
                    if found.len() < TOLD_MAX {
                        found.push(*error);
                    } else {
                        self.untold.set(self.untold.get() + 1);
                    }
                }
            }
            Err(_) => self.untold.set(self.untold.get() + 1),
        }
        None
    }

    /// A field was meant that is written otherwise: that it is missing is no mistake of its own.
    pub(crate) fn means(&self, field: String) {
        self.meant.borrow_mut().push(field);
    }

    /// Whether nothing wrong was found at this field or below; an empty one is the whole file.
    pub(crate) fn is_sound(&self, field: &str) -> bool {
        let inside = |error: &FieldError| {
            let rest = error.field.strip_prefix(field);
            field.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        !self.found.borrow().iter().any(inside) && (self.untold.get() == 0 || !field.is_empty())
    }

    /// Everything that was found, as one error; `None`: nothing was.
    pub(crate) fn mistakes(self) -> Option<ScenarioError> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|error| (error.line, error.column));
        if let (Some(last), more @ 1..) = (found.last_mut(), self.untold.get()) {
            write!(last.help, "; {more} more mistakes are not shown").expect("a string grows");
        }
        let mut found = found.into_iter();
        let mut first = found.next()?;
        first.more = found.collect();
        Some(ScenarioError::Field(Box::new(first)))
    }

    pub(crate) fn error(
        &self,
        span: Range<usize>,
        field: &str,
        problem: &str,
        allowed: &str,
    ) -> ScenarioError {
        let (text, span) = match &self.written {
            Some(written) => {
                let here = self.text.get(span).unwrap_or_default().trim_matches('"');
                (written.text, written.place(field, field.ends_with(here) && !here.is_empty()))
            }
            None => (self.text, span),
        };
        let start = floor_boundary(text, span.start);
        let end = floor_boundary(text, span.end).max(start);
        let before = &text[..start];
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        // Of what is not reported, nothing is shown.
        let shown = self.found.borrow().len() < TOLD_MAX;
        let (excerpt, span) = if shown { excerpt(text, start, end) } else { Default::default() };
        ScenarioError::Field(Box::new(FieldError {
            file: self.label.clone(),
            line,
            column,
            field: shortened(field),
            problem: problem.to_owned(),
            allowed: allowed.to_owned(),
            setting: None,
            help: format!("expected {allowed}"),
            source_code: NamedSource::new(&self.label, excerpt),
            span: span.into(),
            more: Vec::new(),
        }))
    }
}

/// The text with long lines cut, and where `start..end` is then: a message shows whole lines.
fn excerpt(text: &str, start: usize, end: usize) -> (String, Range<usize>) {
    const MOST: usize = 160;
    const BEFORE: usize = 40;
    let mut cut = String::new();
    let (mut from, mut to) = (None, None);
    let mut place = 0;
    for line in text.split_inclusive('\n') {
        let body = line.strip_suffix('\n').unwrap_or(line);
        let here = (place..=place + body.len()).contains(&start);
        // Of the line at fault, what is around the fault.
        let first = if here && body.len() > MOST { (start - place).saturating_sub(BEFORE) } else { 0 };
        let first = floor_boundary(body, first);
        let last = floor_boundary(body, (first + MOST).min(body.len()));
        let kept = if first > 0 { '…'.len_utf8() } else { 0 };
        let moved = |at: usize| cut.len() + kept + (at - place).clamp(first, last) - first;
        if here {
            from = Some(moved(start));
        }
        if (place..=place + line.len()).contains(&end) {
            to = Some(moved(end));
        }
        if first > 0 {
            cut.push('…');
        }
        cut.push_str(&body[first..last]);
        if last < body.len() {
            cut.push('…');
        }
        if body.len() < line.len() {
            cut.push('\n');
        }
        place += line.len();
    }
    let from = from.unwrap_or(cut.len());
    let to = to.unwrap_or(from).max(from);
    (cut, from..to)
}

/// `text` for a message: long and hostile texts are cut.
pub(crate) fn shortened(text: &str) -> String {
    let mut short: String =
        text.chars().take(60).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(60).is_some() {
        short.push('…');
    }
    short
}

/// The nearest of `names` to `name`, if one is near.
pub fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    if name.len() > 64 {
        return None;
    }
    names
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.chars().count() / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `a, b or c` of the quoted names.
pub(crate) fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn floor_boundary(text: &str, index: usize) -> usize {
    (0..=index.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn long_lines_are_cut_around_the_fault() {
        let text = format!("a = 1\nb = {}wrong{}\nc = 3\n", "x".repeat(1000), "y".repeat(1000));
        let start = text.find("wrong").unwrap();
        let (cut, span) = excerpt(&text, start, start + 5);
        assert_eq!(&cut[span], "wrong");
        assert!(cut.len() < 200 && cut.starts_with("a = 1\n…x") && cut.ends_with("y…\nc = 3\n"), "{cut}");
        let (same, span) = excerpt("a = 1\nb = ü2", 6, 12);
        assert_eq!((same.as_str(), &same[span]), ("a = 1\nb = ü2", "b = ü"));
        assert_eq!(excerpt("", 0, 0), (String::new(), 0..0));
        // Every place of a text with long and short lines.
        for end in 0..=text.len() {
            let (cut, span) = excerpt(&text, end / 2, end);
            assert!(cut.get(span).is_some(), "{end}");
        }
    }
}

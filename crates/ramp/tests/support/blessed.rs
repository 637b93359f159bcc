//! Documents and records that tests make. A test compares them with what it finds; `RAMP_BLESS=1` has it write them instead, and
//! `make bless` does so for all.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};

/// True if records are to be written again.
#[allow(clippy::disallowed_methods, reason = "whoever runs the test decides whether it writes")]
pub(crate) fn asked() -> bool {
    std::env::var_os("RAMP_BLESS").is_some()
}

pub(crate) fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

/// The text of a page.
///
/// # Panics
/// If it cannot be read.
pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compares a file with what a test makes of it.
///
/// # Panics
/// If they differ, or the file cannot be read or written.
pub(crate) fn whole(path: &Path, made: &str) {
    if asked() {
        fs::write(path, made).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    assert!(
        read(path) == made,
        "{} is not what the test makes: write it with RAMP_BLESS=1 and look at the difference",
        path.display()
    );
}

/// Compares the part of a file between two marks.
///
/// # Panics
/// As [`whole`], and without the marks.
pub(crate) fn between(path: &Path, begin: &str, end: &str, made: &str) {
    let text = read(path);
    let (before, rest) = text.split_once(begin).unwrap_or_else(|| panic!("{}: no {begin}", path.display()));
    let (_, after) = rest.split_once(end).unwrap_or_else(|| panic!("{}: no {end}", path.display()));
    whole(path, &format!("{before}{begin}{made}{end}{after}"));
}

/// Compares the part of a file from a mark on.
///
/// # Panics
/// As [`whole`], and without the mark.
pub(crate) fn from(path: &Path, begin: &str, made: &str) {
    let text = read(path);
    let at = text.find(begin).unwrap_or_else(|| panic!("{}: no {begin}", path.display()));
    whole(path, &format!("{}{made}", &text[..at]));
}

/// True if a page has a section of the third level with this heading.
pub(crate) fn has_heading(path: &Path, heading: &str) -> bool {
    read(path).lines().any(|line| line == format!("### {heading}"))
}

/// How a heading is linked to.
pub(crate) fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    kept.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'))
        .collect::<String>()
        .replace(' ', "-")
}

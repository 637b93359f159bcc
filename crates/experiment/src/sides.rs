//! Results of several backends side by side: what is kept of them, and where they lie.

use std::io::Write;
use std::path::{Path, PathBuf};

use rampcc_lab::report::{html, sides_csv, sides_json};
use rampcc_lab::{Comparison, SideBySide, SidesWords, side_by_side};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::place::{REPORT, SIDES_PLAN};
use crate::store::{Store, write_whole};

/// What a directory with several backends is about.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SidesPlan {
    /// Of all together.
    pub(crate) identity: String,
    /// How to make it again.
    pub(crate) command: String,
    /// Name and results directory of each, relative to this one where possible.
    pub(crate) sides: Vec<(String, PathBuf)>,
}

impl SidesPlan {
    /// For results of several backends, seen from `directory`.
    pub(crate) fn new(identity: &str, command: &str, directory: &Path, sides: &[(&str, &Path)]) -> Self {
        let seen = |place: &Path| relative(directory, place);
        Self {
            identity: identity.to_owned(),
            command: command.to_owned(),
            sides: sides.iter().map(|(backend, place)| ((*backend).to_owned(), seen(place))).collect(),
        }
    }
}

/// `place` as seen from `directory`, where both have the same parent or one lies in the other.
pub(crate) fn relative(directory: &Path, place: &Path) -> PathBuf {
    if let Ok(below) = place.strip_prefix(directory) {
        return below.to_path_buf();
    }
    match (directory.parent(), place.parent(), place.file_name()) {
        (Some(a), Some(b), Some(name)) if a == b => Path::new("..").join(name),
        _ => place.to_path_buf(),
    }
}

pub(crate) fn beside(plan: &SidesPlan, comparisons: &[Comparison]) -> SideBySide {
    let names: Vec<&str> = plan.sides.iter().map(|(name, _)| name.as_str()).collect();
    let comparisons: Vec<&Comparison> = comparisons.iter().collect();
    let mut both = side_by_side(&names, &comparisons);
    both.provenance.command.clone_from(&plan.command);
    both
}

/// Writes everything that they leave in their directory.
pub(crate) fn write_sides(
    files: &Store,
    plan: &SidesPlan,
    both: &SideBySide,
    comparisons: &[Comparison],
) -> Result {
    let words = SidesWords::of(both, comparisons);
    let page = |(_, place): &(String, PathBuf)| place.join(REPORT).to_string_lossy().into_owned();
    let places: Vec<String> = plan.sides.iter().map(page).collect();
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    let outputs = [
        ("comparison.json", sides_json(both, &words)?),
        ("comparison.csv", sides_csv(both)),
        (REPORT, html::render_sides(both, &words, &places)),
    ];
    files.write_json(SIDES_PLAN, plan)?;
    for (name, text) in outputs {
        write_whole(&files.path(name), |file| file.write_all(text.as_bytes()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::relative;
    use std::path::Path;

    #[test]
    fn places_are_seen_from_where_the_report_is() {
        let seen = |a: &str, b: &str| relative(Path::new(a), Path::new(b)).to_string_lossy().into_owned();
        assert_eq!(seen("out", "out/sim"), "sim");
        assert_eq!(seen("ramp-results/geo-1-sim-linux", "ramp-results/geo-1"), "../geo-1");
        assert_eq!(seen("a/b", "/c/d"), "/c/d");
    }
}

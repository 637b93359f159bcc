//! Scenarios that go elsewhere with the contents of their files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{Result, ScenarioError};
use crate::model::Scenario;
use crate::parse::Given;
use crate::traces::{OURS, TraceFile, Traces, fnv1a};

impl Scenario {
    /// Contents of the files that it names, by their places; without those that come with ramp.
    ///
    /// # Errors
    ///
    /// [`ScenarioError::Read`] where one is gone, or is not what it was when the scenario was made.
    pub fn carry(&self) -> Result<BTreeMap<PathBuf, String>> {
        let own = |file: &&TraceFile| !file.path.to_string_lossy().starts_with(OURS);
        let carried = self.files.iter().filter(own).map(|TraceFile { path, checksum }| {
            let text = self.original.traces.read(path).and_then(|text| {
                let same = fnv1a(text.as_bytes()) == *checksum;
                same.then_some(text).ok_or_else(|| "it has changed since the scenario was read".to_owned())
            });
            let failed =
                |problem| ScenarioError::Read { path: path.clone(), cause: std::io::Error::other(problem) };
            Ok((path.clone(), text.map_err(failed)?))
        });
        carried.collect()
    }

    /// [`Scenario::parse`] with files that are [carried](Scenario::carry) along rather than looked for.
    pub fn parse_carrying(
        name: &str,
        text: &str,
        directory: Option<&Path>,
        files: BTreeMap<PathBuf, String>,
    ) -> Result<Self> {
        let traces = Traces::carried(files);
        let mut scenario = Self::parse_text(&Given { name, text, written: None, directory, traces })?;
        name.clone_into(&mut scenario.name);
        Ok(scenario)
    }
}

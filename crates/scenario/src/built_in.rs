//! The scenarios that come with ramp.

use crate::error::{ScenarioError, nearest};
use crate::model::Scenario;

include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// A measured link that comes with ramp, packed.
pub(crate) fn trace(name: &str) -> Option<&'static [u8]> {
    TRACES.iter().find(|(n, _)| *n == name).map(|(_, packed)| *packed)
}

impl Scenario {
    /// A scenario that comes with ramp.
    pub fn built_in(name: &str) -> Option<Self> {
        let text = Self::built_in_text(name)?;
        Some(Self::parse(name, text, None).expect("built-in scenarios are checked by tests"))
    }

    /// The TOML text of a scenario that comes with ramp.
    pub fn built_in_text(name: &str) -> Option<&'static str> {
        BUILT_IN.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
    }

    /// Names of all scenarios that come with ramp, in alphabetical order.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// Names of the measured links that come with ramp, which any scenario may call `ramp:NAME`.
    pub fn built_in_traces() -> impl Iterator<Item = &'static str> {
        TRACES.iter().map(|(name, _)| *name)
    }

    /// What a command line names: a built-in scenario, or else a file.
    pub fn open(name_or_path: &str) -> Result<Self, ScenarioError> {
        if let Some(scenario) = Self::built_in(name_or_path) {
            return Ok(scenario);
        }
        let path = std::path::Path::new(name_or_path);
        if path.exists() || path.components().count() > 1 || path.extension().is_some() {
            return Self::load(path);
        }
        let near = nearest(name_or_path, Self::built_in_names());
        let near = near.map(|n| format!("did you mean `{n}`? ")).unwrap_or_default();
        let names = crate::error::listed(Self::built_in_names());
        Err(ScenarioError::Unknown {
            name: crate::error::shortened(name_or_path),
            help: format!("{near}expected the path of a scenario file, or one of {names}"),
        })
    }
}

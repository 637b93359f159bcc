//! Scenarios by their names: those that come with ramp, and files.

use std::path::Path;

use crate::built_in;
use crate::error::{Result, ScenarioError, listed, nearest, shortened};
use crate::model::Scenario;
use crate::settings::Setting;
use crate::traces::read_small;

impl Scenario {
    /// A scenario that comes with ramp.
    pub fn built_in(name: &str) -> Option<Self> {
        let text = Self::built_in_text(name)?;
        Some(Self::parse(name, text, None).expect("built-in scenarios are checked by tests"))
    }

    /// The TOML text of a scenario that comes with ramp.
    pub fn built_in_text(name: &str) -> Option<&'static str> {
        built_in::scenario(name)
    }

    /// Names of all scenarios that come with ramp, in alphabetical order.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        built_in::scenarios()
    }

    /// Scenario that a command line names: a built-in one, or else a file.
    pub fn open(name_or_path: &str) -> Result<Self> {
        if let Some(scenario) = Self::built_in(name_or_path) {
            return Ok(scenario);
        }
        let path = Path::new(name_or_path);
        if path.exists() || path.components().count() > 1 || path.extension().is_some() {
            return Self::load(path);
        }
        let near = nearest(&name_or_path.to_lowercase(), Self::built_in_names());
        let near = near.map(|n| format!("did you mean `{n}`? ")).unwrap_or_default();
        let names = listed(Self::built_in_names());
        Err(ScenarioError::Unknown {
            name: shortened(name_or_path),
            help: format!("{near}expected the path of a scenario file, or one of {names}"),
        })
    }

    /// The scenario of a file.
    pub fn load(path: &Path) -> Result<Self> {
        let text = read_small(path)
            .map_err(|e| ScenarioError::Read { path: path.to_owned(), cause: std::io::Error::other(e) })?;
        Self::parse(&path.display().to_string(), &text, path.parent())
    }

    /// [`Scenario::open`] with `settings` on top.
    pub fn open_with(name_or_path: &str, settings: &[Setting]) -> Result<Self> {
        if settings.is_empty() {
            return Self::open(name_or_path);
        }
        if let Some(text) = Self::built_in_text(name_or_path) {
            return Self::parse_with(name_or_path, text, None, settings);
        }
        let path = Path::new(name_or_path);
        match read_small(path) {
            Ok(text) => Self::parse_with(name_or_path, &text, path.parent(), settings),
            Err(_) => Self::open(name_or_path),
        }
    }
}

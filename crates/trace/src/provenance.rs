//! How to make a result again.

use serde::{Deserialize, Serialize};

/// What every output file begins with: all it takes to make it again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of ramp.
    pub version: String,
    /// The command as typed.
    pub command: String,
    /// What played the scenario: `sim`.
    pub backend: String,
    /// Name of the scenario.
    pub scenario: String,
    /// Digest over everything that the scenario says, the files it names included.
    pub scenario_hash: String,
    /// The scenario, complete, as TOML.
    pub scenario_text: String,
    /// The algorithm with its settings, as a table calls it; empty: several.
    pub arm: String,
    /// Seed of the run; of the first run where there are several.
    pub seed: u64,
}

//! Recipe for making a result again.

use serde::{Deserialize, Serialize};

/// Head of every output file: everything needed to make it again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of ramp.
    pub version: String,
    /// The command as typed.
    pub command: String,
    /// Backend of the run: `sim`, or `linux-` with the kernel's release.
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

impl Provenance {
    /// The same as comment lines, `# name: value` each, for files that are not JSON; values are JSON.
    pub fn comment(&self) -> String {
        let text = |value: &str| serde_json::Value::from(value).to_string();
        let fields = [
            ("version", text(&self.version)),
            ("command", text(&self.command)),
            ("backend", text(&self.backend)),
            ("scenario", text(&self.scenario)),
            ("scenario_hash", text(&self.scenario_hash)),
            ("arm", text(&self.arm)),
            ("seed", self.seed.to_string()),
            ("scenario_text", text(&self.scenario_text)),
        ];
        fields.map(|(name, value)| ["# ", name, ": ", &value, "\n"].concat()).concat()
    }

    /// Read back one line of [`Provenance::comment`]; other comments are left alone. `None`: a known name with a value
    /// that is none.
    pub fn take_comment(&mut self, line: &str) -> Option<()> {
        let Some((name, value)) = line.strip_prefix('#').and_then(|rest| rest.trim().split_once(": ")) else {
            return Some(());
        };
        let field = match name {
            "seed" => {
                self.seed = value.parse().ok()?;
                return Some(());
            }
            "version" => &mut self.version,
            "command" => &mut self.command,
            "backend" => &mut self.backend,
            "scenario" => &mut self.scenario,
            "scenario_hash" => &mut self.scenario_hash,
            "arm" => &mut self.arm,
            "scenario_text" => &mut self.scenario_text,
            _ => return Some(()),
        };
        *field = serde_json::from_str(value).ok()?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_bring_everything_back() {
        let before = Provenance {
            version: "0.1.0".to_owned(),
            command: "ramp run \"my path.toml\"".to_owned(),
            backend: "sim".to_owned(),
            scenario: "my path".to_owned(),
            scenario_hash: "abc".to_owned(),
            scenario_text: "# a comment\n[path]\nrate = \"1 Mbit/s\"\n".to_owned(),
            arm: "best, gain: 2".to_owned(),
            seed: 7,
        };
        let comment = before.comment();
        let mut after = Provenance::default();
        assert!(comment.lines().all(|line| line.starts_with("# ") && after.take_comment(line).is_some()));
        assert_eq!(after, before);
        assert_eq!(after.take_comment("# seed: many"), None);
    }
}

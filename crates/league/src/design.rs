//! What paths are drawn from: `league/design.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

const DESIGN: &str = include_str!("../population/design.toml");

/// Every access type with its ranges.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Design {
    /// Of each access type.
    pub(crate) paths: u32,
    pub(crate) common: Common,
    #[serde(flatten)]
    pub(crate) access: BTreeMap<String, Access>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Access {
    pub(crate) what: String,
    pub(crate) reason: String,
    pub(crate) rate_mbit: [f64; 2],
    /// Smallest, median, largest.
    pub(crate) rtt_ms: [f64; 3],
    pub(crate) buffer_bdp: Option<[f64; 2]>,
    /// At the link's rate, instead of [`Self::buffer_bdp`]: the distance of a server does not size a modem's buffer.
    pub(crate) buffer_ms: Option<[f64; 2]>,
    pub(crate) return_share: [f64; 2],
    pub(crate) noise_ms: [f64; 2],
    pub(crate) queue: Shares,
    pub(crate) noise: Shares,
    pub(crate) acks: Shares,
    pub(crate) loss: Shares,
    pub(crate) cross: Shares,
    pub(crate) rate: Shares,
    #[serde(default)]
    pub(crate) trace: BTreeMap<String, String>,
    pub(crate) steps_every_s: Option<[f64; 2]>,
}

/// The same for every access type.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Common {
    pub(crate) plain: f64,
    pub(crate) loss_percent: [f64; 2],
    pub(crate) cross_share: [f64; 2],
    pub(crate) steps_factor: [f64; 2],
    pub(crate) steps_every_s: [f64; 2],
    pub(crate) early_rtts: [f64; 2],
    pub(crate) tokens_share: [f64; 2],
    pub(crate) bucket_kb: [f64; 2],
    pub(crate) handshake: Shares,
    pub(crate) handshake_factor: [f64; 2],
    pub(crate) first_flight: Shares,
    pub(crate) receiver: Shares,
    pub(crate) window: Shares,
    pub(crate) window_bdp: [f64; 2],
}

/// Relative frequencies by word.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Shares(BTreeMap<String, f64>);

impl Shares {
    /// The word at this share of all.
    pub(crate) fn at(&self, share: f64) -> &str {
        let total: f64 = self.0.values().sum();
        let mut left = share * total;
        for (word, weight) in &self.0 {
            left -= weight;
            if left < 0.0 {
                return word;
            }
        }
        self.0.keys().next_back().map_or("", String::as_str)
    }
}

impl Design {
    /// The one that comes with ramp.
    pub(crate) fn shipped() -> Self {
        toml::from_str(DESIGN).expect("a test reads it")
    }
}

/// Access types in the order of tables: from the shortest paths to the longest.
pub const ACCESS: [&str; 8] = ["data-centre", "fibre", "cable", "dsl", "wifi", "cellular", "leo", "geo"];

/// What an access type is, and why its ranges are what they are.
pub fn about(access: &str) -> Option<(String, String)> {
    let found = Design::shipped().access.remove(access)?;
    Some((found.what, found.reason))
}

//! Downloads over a satellite, by what its return link is like.

use serde::Serialize;

use crate::play::League;

/// A return link of this rate is no slower than the ACKs of a full path, Mbit/s.
const FAST_MBIT: f64 = 5.0;

/// Paths of one access type: what the slowest and the most lossy of them gave.
#[derive(Clone, Debug, Serialize)]
pub struct Geo {
    /// The access type.
    pub access: String,
    /// Rate of the slowest return link, Mbit/s.
    pub return_mbit: f64,
    /// By row, in the league's order.
    pub rows: Vec<GeoRow>,
}

/// A row's worst.
#[derive(Clone, Debug, Serialize)]
pub struct GeoRow {
    /// Its label.
    pub label: String,
    /// Download time on the path where it is longest, the geometric mean over the seeds.
    pub seconds: f64,
    /// Packets lost in start-up in the run that lost most.
    pub lost_packets: f64,
}

impl Geo {
    /// By access type, in the order of the population.
    pub(super) fn all(league: &League) -> Vec<Self> {
        let times = league.times();
        let mut groups: Vec<&str> = league.paths.iter().map(|path| path.access.as_str()).collect();
        groups.dedup();
        let row = |access: &str, row: usize| {
            let cases = times.cases.iter().zip(&times.over[row]);
            let of_group = cases.filter(|(case, _)| league.paths[case.path].access == access);
            let lost = league.paths.iter().filter(|path| path.access == access).flat_map(|path| {
                let holds = path.holds_packets.unwrap_or(0.0);
                path.outcomes[row].iter().filter_map(move |run| Some(run.startup_lost? * holds))
            });
            GeoRow {
                label: league.rows[row].label.clone(),
                seconds: of_group.map(|(_, ratio)| ratio.seconds).fold(0.0, f64::max),
                lost_packets: lost.fold(0.0, f64::max),
            }
        };
        let slowest = |access: &str| {
            let paths = league.paths.iter().filter(|path| path.access == access);
            let rate = |path: &crate::PlayedPath| path.features.get("rate") * path.features.get("return");
            paths.map(rate).fold(f64::INFINITY, f64::min)
        };
        let group = |access: &str| Self {
            access: access.to_owned(),
            return_mbit: slowest(access),
            rows: (0..league.rows.len()).map(|index| row(access, index)).collect(),
        };
        groups.into_iter().map(group).collect()
    }

    /// True if the return link is no slower than the ACKs of a full path. A rate that went through a ratio is not exact.
    pub fn is_fast(&self) -> bool {
        self.return_mbit >= FAST_MBIT * (1.0 - 1e-9)
    }

    /// Of the row with this label.
    pub fn of(&self, label: &str) -> Option<&GeoRow> {
        self.rows.iter().find(|row| row.label == label)
    }
}

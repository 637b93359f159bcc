//! Downloads over a satellite, by what its return link is like.

use serde::Serialize;

use crate::play::League;

/// In the access type of paths whose return link has at least that for ACKs.
const FAST: &str = "5 to 50 Mbit/s";

/// Paths of one access type: what the slowest and the most lossy of them gave.
#[derive(Clone, Debug, Serialize)]
pub struct Geo {
    /// The access type.
    pub access: String,
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
        let group = |access: &str| Self {
            access: access.to_owned(),
            rows: (0..league.rows.len()).map(|index| row(access, index)).collect(),
        };
        groups.into_iter().map(group).collect()
    }

    /// True if the return link is no slower than the ACKs of a full path: from about 5 Mbit/s on.
    pub fn is_fast(&self) -> bool {
        self.access.contains(FAST)
    }

    /// Of the row with this label.
    pub fn of(&self, label: &str) -> Option<&GeoRow> {
        self.rows.iter().find(|row| row.label == label)
    }
}

//! Reach of an answer: the same rows on paths like the described one.
//!
//! Nothing here draws a path or plays a run. The caller, who knows the scenario, gives the [`Neighbourhood`] and one run for
//! each row and path; [`Comparison::with_neighbours`] judges them.

mod influence;
mod words;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::metric::Better;
use crate::{Comparison, RunRecord, metric};

pub use influence::{Influence, Split, influences};
pub use words::{name as field_name, short};

/// A path is lost where the leader is worse than the best there by more than this share.
pub const LOSS: f64 = 0.10;

/// Paths like the described one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Neighbourhood {
    /// Fields that differ between them.
    pub fields: Vec<UncertainField>,
    /// The paths, in the order in which they were drawn.
    pub paths: Vec<NeighbourPath>,
}

/// A field of the scenario that is not known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UncertainField {
    /// As the scenario has it: `path.reverse.rate`.
    pub field: String,
    /// `1 to 50 Mbit/s`, or the values that it may have.
    pub values: String,
    /// Smallest and largest number, in `unit`; `None`: a list of values.
    pub range: Option<(f64, f64)>,
    /// Of the numbers; empty: none.
    pub unit: String,
    /// True if equal ratios are equally likely, rather than equal differences.
    pub logarithmic: bool,
    /// Reason for these values.
    pub reason: String,
    /// True if neither the scenario nor an option states them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub assumed: bool,
    /// Place of the described path in the range, from 0 to 1; `None`: unknown.
    pub described: Option<f64>,
}

/// One path of a neighbourhood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NeighbourPath {
    /// Digest of its scenario: its runs are found by it.
    pub scenario_hash: String,
    /// Seed of its one run of each row.
    pub seed: u64,
    /// Place in the range of each field, from 0 to 1.
    pub at: Vec<f64>,
    /// The values there, as people write them.
    pub values: Vec<String>,
}

/// Reach of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Carries {
    /// Neighbourhood that was searched.
    pub neighbourhood: Neighbourhood,
    /// Backend that played it, where it is not the comparison's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// Rows with runs there, in the order of the comparison.
    pub rows: Vec<CarriedRow>,
    /// On so many paths some contender has a value, so that there is a best.
    pub decided: u32,
    /// On so many of them the leader of the described path is within the margin of the best.
    pub holds: u32,
    /// Influence of each single field on how far the leader falls behind the best; the largest first.
    pub influences: Vec<Influence>,
    /// The nearest path on which the leader loses by more than [`LOSS`].
    pub nearest_loss: Option<NearestLoss>,
}

/// One row on all paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CarriedRow {
    /// Its label.
    pub label: String,
    /// True if it knows the path; then it is never the best.
    pub yardstick: bool,
    /// Share of the decided paths on which it is within the margin of the best; `None` for a yardstick.
    pub carries: Option<f64>,
    /// The deciding metric on each path; `None`: it has none there, or was not played.
    pub values: Vec<Option<f64>>,
    /// By how much it is worse than the best contender, as a share of the best; without a value, at least so much, by when
    /// the run ended.
    pub regrets: Vec<Option<f64>>,
}

/// A path on which the leader loses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NearestLoss {
    /// Number of the path, counted from 0.
    pub path: usize,
    /// From the described path: root mean square of the differences over all ranges, each from 0 to 1.
    pub distance: f64,
    /// The best there.
    pub winner: String,
    /// The leader's regret.
    pub regret: f64,
    /// As a scenario file; `None`: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
}

impl Comparison {
    /// With what one run of each row on each path of a neighbourhood says of how far the answer carries.
    ///
    /// Runs are distinguished by scenario, label and seed; those of other scenarios are left out. A neighbourhood without
    /// paths, or without runs, changes nothing.
    #[must_use]
    pub fn with_neighbours(mut self, neighbourhood: &Neighbourhood, records: &[RunRecord]) -> Self {
        let Some(carries) = carries(&self, neighbourhood, records) else { return self };
        for arm in &mut self.arms {
            arm.carries = carries.rows.iter().find(|row| row.label == arm.label).and_then(|row| row.carries);
        }
        self.carries = Some(carries);
        self
    }
}

fn carries(comparison: &Comparison, neighbourhood: &Neighbourhood, records: &[RunRecord]) -> Option<Carries> {
    let info = comparison.primary_info()?;
    let mut runs: BTreeMap<(&str, &str, u64), &RunRecord> = BTreeMap::new();
    for record in records.iter().filter(|record| record.extra_startup_rounds == 0) {
        let made = &record.provenance;
        runs.insert((&made.scenario_hash, &made.arm, made.seed), record);
    }
    let run = |label: &str, path: &NeighbourPath| runs.get(&(&path.scenario_hash, label, path.seed)).copied();
    let played = |label: &str| neighbourhood.paths.iter().any(|path| run(label, path).is_some());
    let sign = if info.better == Better::Higher { -1.0 } else { 1.0 };
    let arms: Vec<_> = comparison.arms.iter().filter(|arm| played(&arm.label)).collect();
    if arms.is_empty() {
        return None;
    }
    // The best contender of each path on which all that were played anywhere have a run.
    let best: Vec<Option<(usize, f64)>> = (neighbourhood.paths.iter())
        .map(|path| {
            let contenders = || arms.iter().enumerate().filter(|(_, arm)| !arm.yardstick);
            if contenders().any(|(_, arm)| run(&arm.label, path).is_none()) {
                return None;
            }
            contenders()
                .filter_map(|(i, arm)| Some((i, value(run(&arm.label, path)?, &info.id)?)))
                .min_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)))
        })
        .collect();
    let decided = best.iter().flatten().count();
    let within = |regret: &Option<f64>| regret.is_some_and(|regret| regret <= comparison.margin);
    let rows: Vec<CarriedRow> = (arms.iter())
        .map(|arm| {
            let runs: Vec<Option<&RunRecord>> =
                neighbourhood.paths.iter().map(|path| run(&arm.label, path)).collect();
            let values: Vec<Option<f64>> =
                runs.iter().map(|run| run.and_then(|run| value(run, &info.id))).collect();
            let regret = |i: usize| {
                let (_, best) = best[i]?;
                runs[i]?;
                // What has not finished takes longer than the run lasted.
                let late =
                    || (info.id == metric::DOWNLOAD_TIME.id).then_some(comparison.context.end_s.max(best));
                let value = values[i].or_else(late)?;
                Some(if sign > 0.0 { value / best - 1.0 } else { best / value - 1.0 })
            };
            let regrets: Vec<Option<f64>> = (0..runs.len()).map(regret).collect();
            let near =
                regrets.iter().zip(&values).filter(|(regret, value)| value.is_some() && within(regret));
            let share = near.count() as f64 / decided as f64;
            CarriedRow {
                label: arm.label.clone(),
                yardstick: arm.yardstick,
                carries: (!arm.yardstick && decided > 0).then_some(share),
                values,
                regrets,
            }
        })
        .collect();
    let leader = rows.iter().find(|row| Some(&row.label) == comparison.leader.as_ref());
    let holds = leader.map_or(0, |row| {
        row.regrets
            .iter()
            .zip(&row.values)
            .filter(|(regret, value)| value.is_some() && within(regret))
            .count()
    });
    let influences =
        leader.map_or_else(Vec::new, |row| influence::influences(neighbourhood, row, comparison.margin));
    let nearest_loss = leader.and_then(|row| {
        let lost = row.regrets.iter().enumerate().filter_map(|(i, regret)| Some((i, (*regret)?)));
        lost.filter(|(_, regret)| *regret > LOSS)
            .map(|(path, regret)| (path, regret, distance(neighbourhood, path)))
            .min_by(|a, b| a.2.total_cmp(&b.2))
            .and_then(|(path, regret, distance)| {
                let winner = arms[best[path]?.0].label.clone();
                Some(NearestLoss { path, distance, winner, regret, scenario: None })
            })
    });
    Some(Carries {
        neighbourhood: neighbourhood.clone(),
        backend: played_by(comparison, &runs),
        decided: u32::try_from(decided).unwrap_or(u32::MAX),
        holds: u32::try_from(holds).unwrap_or(u32::MAX),
        rows,
        influences,
        nearest_loss,
    })
}

/// What played the neighbours, if something else played the comparison.
fn played_by(comparison: &Comparison, runs: &BTreeMap<(&str, &str, u64), &RunRecord>) -> Option<String> {
    let backend = &runs.values().next()?.provenance.backend;
    (*backend != comparison.provenance.backend).then(|| backend.clone())
}

fn value(run: &RunRecord, id: &str) -> Option<f64> {
    run.metric(id).filter(|value| value.is_finite() && *value > 0.0)
}

/// How far a path is from the described one; fields in which that cannot be said do not count.
fn distance(neighbourhood: &Neighbourhood, path: usize) -> f64 {
    let at = &neighbourhood.paths[path].at;
    let differences: Vec<f64> = (neighbourhood.fields.iter().zip(at))
        .filter_map(|(field, at)| field.described.map(|described| at - described))
        .collect();
    if differences.is_empty() {
        return 0.0;
    }
    (differences.iter().map(|d| d * d).sum::<f64>() / differences.len() as f64).sqrt()
}

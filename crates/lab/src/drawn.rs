//! Runs whose curves are drawn: of all rows those of the same seeds, so that all curves of a picture met the same path.

use serde::{Deserialize, Serialize};

use crate::metric::Better;
use crate::summary::Summary;

/// A seed whose runs are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawnSeed {
    /// Seed of the runs.
    pub seed: u64,
    /// Reason for picking it.
    pub role: DrawnRole,
}

/// Reason for drawing a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DrawnRole {
    /// The leader's run with the median of the metric that decides.
    Median,
    /// The leader's best run.
    Best,
    /// The leader's worst run.
    Worst,
    /// The first seed, which comparisons of the same scenario have in common.
    First,
}

/// The seeds to draw, the one that is shown first leading; `complete` says of each seed whether as many rows have a run of it
/// as of any.
pub(crate) fn drawn(
    seeds: &[u64],
    complete: &[bool],
    leader: Option<&Summary>,
    better: Better,
) -> Vec<DrawnSeed> {
    let known = |i: usize| leader.and_then(|leader| leader.values.get(i).copied().flatten());
    let mut runs: Vec<(u64, f64)> = (seeds.iter().enumerate())
        .filter(|(i, _)| complete.get(*i) == Some(&true))
        .filter_map(|(i, seed)| Some((*seed, known(i)?)))
        .collect();
    let sign = if better == Better::Higher { -1.0 } else { 1.0 };
    runs.sort_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)).then(a.0.cmp(&b.0)));
    let mut picked: Vec<(DrawnSeed, f64)> = Vec::new();
    let first = (seeds.iter().zip(complete)).find(|(_, complete)| **complete).map(|(seed, _)| *seed);
    if let Some(leader) = leader {
        let distance = |value: f64| (value - leader.median).abs();
        let median = runs.iter().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)).then(a.0.cmp(&b.0)));
        let wanted =
            [(median, DrawnRole::Median), (runs.first(), DrawnRole::Best), (runs.last(), DrawnRole::Worst)];
        for (run, role) in wanted {
            let Some(&(seed, value)) = run else { continue };
            // A run that is as good as another one drawn shows nothing new.
            let same = |other: f64| (value - other).abs() <= 1e-9 * value.abs();
            if !picked.iter().any(|(drawn, other)| drawn.seed == seed || same(*other)) {
                picked.push((DrawnSeed { seed, role }, value));
            }
        }
    }
    let mut picked: Vec<DrawnSeed> = picked.into_iter().map(|(drawn, _)| drawn).collect();
    if let Some(seed) = first.filter(|seed| picked.iter().all(|drawn| drawn.seed != *seed)) {
        picked.push(DrawnSeed { seed, role: DrawnRole::First });
    }
    picked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::summarise;

    fn seeds(values: &[Option<f64>], complete: &[bool]) -> Vec<(u64, DrawnRole)> {
        let seeds: Vec<u64> = (1..).take(values.len()).collect();
        let summary = summarise(values.to_vec(), Vec::new());
        let all = drawn(&seeds, complete, summary.as_ref(), Better::Lower);
        all.into_iter().map(|drawn| (drawn.seed, drawn.role)).collect()
    }

    #[test]
    fn the_leaders_median_leads_and_its_ends_follow() {
        let found = seeds(&[Some(5.0), Some(9.0), Some(6.0), Some(3.0), Some(7.0)], &[true; 5]);
        assert_eq!(
            found,
            [(3, DrawnRole::Median), (4, DrawnRole::Best), (2, DrawnRole::Worst), (1, DrawnRole::First)]
        );
    }

    #[test]
    fn runs_that_are_all_the_same_need_one_picture() {
        assert_eq!(seeds(&[Some(5.0); 4], &[true; 4]), [(1, DrawnRole::Median)]);
    }

    #[test]
    fn a_seed_that_some_row_lacks_is_not_drawn() {
        let found = seeds(&[Some(5.0), None, Some(6.0)], &[false, true, true]);
        assert_eq!(found, [(3, DrawnRole::Median), (2, DrawnRole::First)]);
        assert_eq!(drawn(&[4, 5], &[true, true], None, Better::Lower).len(), 1);
        assert!(drawn(&[], &[], None, Better::Higher).is_empty());
    }
}

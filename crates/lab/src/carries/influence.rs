//! Influence of uncertain fields on how far the leader falls behind.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

use super::{CarriedRow, Neighbourhood};
use crate::statistics::holm;

/// Shuffles of the permutation test.
pub(super) const SHUFFLES: u32 = 999;
/// Fewer paths than this tell nothing of a field.
const FEWEST: usize = 16;
/// Fewer paths than this are no side of a split.
const SMALLEST_SIDE: usize = 3;

/// Influence of one field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Influence {
    /// Index into the fields of the neighbourhood.
    pub field: usize,
    /// First-order Sobol index of the logarithm of 1 + the leader's regret: the share of its variance that this field explains by itself.
    pub index: f64,
    /// Probability of such an index by chance (permutation test), corrected by Holm over the fields.
    pub p: f64,
    /// Value at which the field changes the answer; `None`: no single value, or a list of values.
    pub split: Option<Split>,
}

/// The value of a field that best parts the paths on which the answer holds from those on which it does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// The largest value below it.
    pub below: String,
    /// The smallest value above it.
    pub above: String,
    /// Between the two, from 0 to 1 of the range.
    pub at: f64,
    /// Paths below on which the answer holds, and all.
    pub holds_below: (u32, u32),
    /// Paths above on which the answer holds, and all.
    pub holds_above: (u32, u32),
}

/// Of each field on how far a row falls behind the fastest of each path, the largest index first; empty: there are too few paths.
///
/// `margin`: a row that is behind by at most this share holds.
pub fn influences(neighbourhood: &Neighbourhood, leader: &CarriedRow, margin: f64) -> Vec<Influence> {
    let paths: Vec<usize> = (0..leader.regrets.len()).filter(|i| leader.regrets[*i].is_some()).collect();
    if paths.len() < FEWEST {
        return Vec::new();
    }
    let regrets: Vec<f64> = paths.iter().filter_map(|i| leader.regrets[*i]).collect();
    let losses: Vec<f64> = regrets.iter().map(|regret| libm::log1p(*regret)).collect();
    let holds: Vec<bool> = paths
        .iter()
        .zip(&regrets)
        .map(|(i, regret)| *regret <= margin && leader.values[*i].is_some())
        .collect();
    let place = |field: usize| -> Vec<f64> {
        paths.iter().map(|i| neighbourhood.paths[*i].at.get(field).copied().unwrap_or_default()).collect()
    };
    let orders: Vec<Vec<usize>> = (0..neighbourhood.fields.len()).map(|field| order(&place(field))).collect();
    let found: Vec<f64> = orders.iter().map(|order| first_order(order, &losses)).collect();
    let corrected = holm(&chances(&orders, &losses, &found).into_iter().map(Some).collect::<Vec<_>>());
    let mut influences: Vec<Influence> = (0..orders.len())
        .map(|field| Influence {
            field,
            index: found[field].clamp(0.0, 1.0),
            p: corrected[field].unwrap_or(1.0),
            split: neighbourhood.fields[field].range.and_then(|_| {
                let (lower, at) = split(&orders[field], &place(field), &holds)?;
                let text = |i: usize| neighbourhood.paths[paths[i]].values[field].clone();
                let side = |side: &[usize]| {
                    let kept = side.iter().filter(|i| holds[**i]).count();
                    (kept as u32, side.len() as u32)
                };
                let (below, above) = orders[field].split_at(lower);
                Some(Split {
                    below: text(*below.last()?),
                    above: text(*above.first()?),
                    at,
                    holds_below: side(below),
                    holds_above: side(above),
                })
            }),
        })
        .collect();
    influences.sort_by(|a, b| b.index.total_cmp(&a.index));
    influences
}

fn order(x: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|a, b| x[*a].total_cmp(&x[*b]));
    order
}

/// First-order Sobol index of `y` in a variable by whose ranks `order` sorts, from one given sample.
///
/// Gamboa, Gremaud, Klein and Lagnoux 2022, *Global sensitivity analysis: a novel generation of mighty estimators based on
/// rank statistics*, Bernoulli 28(4): each value is paired with that of the next rank, the last with the first.
fn first_order(order: &[usize], y: &[f64]) -> f64 {
    let n = y.len() as f64;
    let mean = y.iter().sum::<f64>() / n;
    let variance = y.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    if variance <= 1e-18 {
        return 0.0;
    }
    let next = order.iter().cycle().skip(1);
    let together = order.iter().zip(next).map(|(a, b)| (y[*a] - mean) * (y[*b] - mean)).sum::<f64>() / n;
    together / variance
}

/// How often an index as large comes by chance, for each field: the values are dealt out anew.
fn chances(orders: &[Vec<usize>], losses: &[f64], found: &[f64]) -> Vec<f64> {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut dealt = losses.to_vec();
    let mut as_large = vec![0u32; orders.len()];
    for _ in 0..SHUFFLES {
        dealt.shuffle(&mut random);
        for (field, order) in orders.iter().enumerate() {
            as_large[field] += u32::from(first_order(order, &dealt) >= found[field] - 1e-12);
        }
    }
    as_large.into_iter().map(|n| f64::from(n + 1) / f64::from(SHUFFLES + 1)).collect()
}

/// How many paths lie below the value that parts them best (Gini impurity, as in Breiman et al. 1984), and where that is; `None`: all alike.
fn split(order: &[usize], x: &[f64], holds: &[bool]) -> Option<(usize, f64)> {
    let all = holds.iter().filter(|holds| **holds).count();
    if all == 0 || all == holds.len() {
        return None;
    }
    let impurity = |kept: usize, of: usize| {
        let (kept, of) = (kept as f64, of as f64);
        kept * (of - kept) / of
    };
    let mut below = 0;
    let mut best: Option<(f64, usize)> = None;
    for (position, index) in order.iter().enumerate() {
        let lower = position;
        if lower >= SMALLEST_SIDE && order.len() - lower >= SMALLEST_SIDE && x[order[lower - 1]] < x[*index] {
            let rest = impurity(below, lower) + impurity(all - below, order.len() - lower);
            if best.is_none_or(|(least, _)| rest < least - 1e-12) {
                best = Some((rest, lower));
            }
        }
        below += usize::from(holds[*index]);
    }
    let (_, lower) = best?;
    Some((lower, f64::midpoint(x[order[lower - 1]], x[order[lower]])))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::RngExt;

    use super::*;

    fn uniform(n: usize, seed: u64) -> Vec<f64> {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        (0..n).map(|_| random.random_range(0.0..1.0)).collect()
    }

    #[test]
    fn the_index_is_that_of_a_known_function() {
        // Y = X1 + 2 X2: S1 = 1/5, S2 = 4/5.
        let (a, b) = (uniform(20_000, 1), uniform(20_000, 2));
        let y: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + 2.0 * b).collect();
        assert!((first_order(&order(&a), &y) - 0.2).abs() < 0.02);
        assert!((first_order(&order(&b), &y) - 0.8).abs() < 0.02);
        // Ishigami's function with its usual constants: S1 = 0.314, S2 = 0.442, S3 = 0.
        let angles = |seed| {
            let drawn = uniform(20_000, seed).into_iter();
            drawn.map(|share| (2.0 * share - 1.0) * std::f64::consts::PI).collect::<Vec<f64>>()
        };
        let inputs = [angles(10), angles(11), angles(12)];
        let y: Vec<f64> = (0..20_000)
            .map(|i| {
                let [sine_1, sine_2] = [&inputs[0], &inputs[1]].map(|angles| libm::sin(angles[i]));
                let third = inputs[2][i];
                sine_1 + 7.0 * sine_2 * sine_2 + 0.1 * third * third * third * third * sine_1
            })
            .collect();
        for (x, expected) in inputs.iter().zip([0.314, 0.442, 0.0]) {
            let found = first_order(&order(x), &y);
            assert!((found - expected).abs() < 0.03, "found {found}, expected {expected}");
        }
        assert!(first_order(&order(&a), &vec![3.0; 20_000]).abs() < 1e-12, "nothing varies");
    }

    #[test]
    fn chance_is_rarely_taken_for_influence() {
        // 200 samples of 64 in which nothing matters: at 5 % some ten are expected.
        let mut taken = 0;
        for seed in 0..200 {
            let orders = vec![order(&uniform(64, 1_000 + seed))];
            let y = uniform(64, 5_000 + seed);
            taken += u32::from(chances(&orders, &y, &[first_order(&orders[0], &y)])[0] < 0.05);
        }
        assert!((2..=20).contains(&taken), "{taken} of 200");
    }

    #[test]
    fn a_split_parts_what_holds_from_what_does_not() {
        let x = uniform(64, 3);
        let holds: Vec<bool> = x.iter().map(|x| *x > 0.3).collect();
        let (lower, at) = split(&order(&x), &x, &holds).unwrap();
        assert_eq!(lower, holds.iter().filter(|holds| !**holds).count());
        assert!((at - 0.3).abs() < 0.05);
        assert_eq!(split(&order(&x), &x, &[true; 64]), None);
    }

    proptest! {
        /// The index does not depend on the order in which the sample is listed, nor on the scale of the variable.
        #[test]
        fn the_index_depends_on_ranks_alone(seed in any::<u64>(), n in 8_usize..80) {
            let (x, y) = (uniform(n, seed), uniform(n, seed.wrapping_add(1)));
            let index = first_order(&order(&x), &y);
            let (reversed_x, reversed_y): (Vec<f64>, Vec<f64>) =
                x.iter().zip(&y).rev().map(|(x, y)| (libm::exp(*x), *y)).unzip();
            prop_assert!((first_order(&order(&reversed_x), &reversed_y) - index).abs() < 1e-9);
            prop_assert!((-1.0..=1.0 + 1e-9).contains(&index));
        }
    }
}

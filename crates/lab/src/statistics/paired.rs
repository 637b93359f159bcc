//! Two samples under common random numbers.

use statrs::distribution::ContinuousCDF;

use super::describe::students_t;
use super::{mean, sd, signed_rank, t_interval};
use crate::summary::{Interval, Test};

/// Difference of one arm from another, pair by pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// Pairs in which both have a value.
    pub n: u32,
    /// Mean of `a - b`.
    pub difference: f64,
    /// 95 % interval of it (t).
    pub difference_interval: Option<Interval>,
    /// Geometric mean of `a / b`; `None` unless all values are positive.
    pub ratio: Option<f64>,
    /// 95 % interval of it (t on logarithms).
    pub ratio_interval: Option<Interval>,
    /// Centre of what was tested: mean of `ln a - ln b` where all are positive, else of `a - b`.
    pub centre: f64,
    /// Two-sided paired test; `None` below two pairs.
    pub p: Option<f64>,
    /// Test behind the p value.
    pub test: Test,
    /// Two one-sided tests against the margin: the larger p; `None` below two pairs.
    pub p_equivalence: Option<f64>,
}

/// Compare `a` with `b`, position by position; `None` without a pair.
///
/// `margin` is the share of `b` that counts as no difference. Positive values are compared by their logarithms, so the
/// margin is the same both ways (1/(1 + margin) to 1 + margin); others by their differences, with the margin
/// taken from the mean of `|b|`.
pub fn paired(a: &[Option<f64>], b: &[Option<f64>], margin: f64) -> Option<Paired> {
    compare(a, b, &How { margin, chance: true, ranks: false })
}

/// How two arms are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    /// As in [`paired`].
    pub(crate) margin: f64,
    /// Without it one pair is all of them, and decides.
    pub(crate) chance: bool,
    /// Whether ranks decide instead of means.
    pub(crate) ranks: bool,
}

/// As [`paired`], otherwise.
pub(crate) fn compare(a: &[Option<f64>], b: &[Option<f64>], how: &How) -> Option<Paired> {
    let How { margin, chance, ranks } = *how;
    let both: Vec<(f64, f64)> = a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
    if both.is_empty() {
        return None;
    }
    let differences: Vec<f64> = both.iter().map(|(a, b)| a - b).collect();
    let positive = both.iter().all(|(a, b)| *a > 0.0 && *b > 0.0);
    let logarithms: Vec<f64> =
        if positive { both.iter().map(|(a, b)| libm::log(*a) - libm::log(*b)).collect() } else { Vec::new() };
    let scale = both.iter().map(|(_, b)| b.abs()).sum::<f64>() / both.len() as f64;
    let (tested, margin) =
        if positive { (&logarithms, libm::log1p(margin)) } else { (&differences, margin * scale) };
    let ratio_interval = positive.then(|| t_interval(&logarithms)).flatten().map(|log| Interval {
        low: libm::exp(log.low),
        high: libm::exp(log.high),
        ..log
    });
    let mut centre = mean(tested);
    let mut test = if chance { Test::T } else { Test::Certain };
    let mut p = p_value(tested, 0.0, chance).map(|(below, above)| (2.0 * below.min(above)).min(1.0));
    if chance && tested.len() > 1 && without_spread(tested) {
        test = Test::Sign;
    } else if ranks && chance && tested.len() > 1 {
        test = Test::SignedRank;
        let (by_ranks, direction) = signed_rank(tested).unwrap_or((1.0, 0.0));
        p = Some(by_ranks);
        // Where ranks and means disagree about the direction, nothing is said.
        if direction * centre <= 0.0 {
            centre = 0.0;
        }
    }
    Some(Paired {
        n: u32::try_from(both.len()).unwrap_or(u32::MAX),
        difference: mean(&differences),
        difference_interval: t_interval(&differences),
        ratio: positive.then(|| libm::exp(mean(&logarithms))),
        ratio_interval,
        centre,
        p,
        test,
        p_equivalence: equivalence(tested, margin, chance),
    })
}

/// Holm's step-down correction (1979); entries without a p value take no part.
pub(crate) fn holm(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> =
        p_values.iter().enumerate().filter_map(|(i, p)| Some((i, (*p)?))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut corrected = vec![None; p_values.len()];
    let mut least = 0.0_f64;
    for (rank, (i, p)) in order.iter().enumerate() {
        least = least.max(p * (order.len() - rank) as f64).min(1.0);
        corrected[*i] = Some(least);
    }
    corrected
}

fn equivalence(values: &[f64], margin: f64, chance: bool) -> Option<f64> {
    if margin <= 0.0 && (values.len() > 1 || !chance) && values.iter().all(|v| v.abs() <= 0.0) {
        return Some(least(values.len(), chance)); // nothing happened in either arm
    }
    let (_, above_lower) = p_value(values, -margin, chance)?;
    let (below_upper, _) = p_value(values, margin, chance)?;
    Some(above_lower.max(below_upper))
}

/// One-sided t tests of the mean against `origin`: the p values of "below" and "above".
///
/// On a path without chance the mean is certain: p is 0 or 1, and both are 1 exactly at `origin`. With chance, runs that came out equal
/// are as sure as their signs: see [`least`].
fn p_value(values: &[f64], origin: f64, chance: bool) -> Option<(f64, f64)> {
    if chance && values.len() < 2 {
        return None;
    }
    let distance = mean(values) - origin;
    if !chance || without_spread(values) {
        let certain = |holds: bool| if holds { least(values.len(), chance) } else { 1.0 };
        return Some((certain(distance < 0.0), certain(distance > 0.0)));
    }
    let t = distance / (sd(values)? / (values.len() as f64).sqrt());
    let below = students_t(values.len() - 1).cdf(t);
    Some((below, students_t(values.len() - 1).cdf(-t)))
}

/// Whether all values are the same, but for what arithmetic rounds off.
fn without_spread(values: &[f64]) -> bool {
    let largest = values.iter().fold(0.0_f64, |largest, v| largest.max(v.abs()));
    let spread = values.iter().map(|v| (v - values[0]).abs()).fold(0.0, f64::max);
    spread <= 1e-12 * largest
}

/// The smallest p that so many runs give one side without spread: the sign test's. Six runs are below 5 % on two sides, five on one.
fn least(runs: usize, chance: bool) -> f64 {
    if chance { libm::exp2(-(runs as f64)) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::close;

    fn some(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    #[test]
    fn positive_values_are_compared_by_their_logarithms() {
        let a = some(&[11.1, 11.3, 10.9, 11.0, 11.2]);
        let b = some(&[11.4, 11.5, 11.3, 11.1, 11.6]);
        let test = paired(&a, &b, 0.05).unwrap();
        // t = scipy.stats.ttest_rel(np.log(a), np.log(b)); np.exp(t.confidence_interval())
        close(test.p.unwrap(), 0.008_623_792_517_666_543, 1e-9);
        close(test.ratio.unwrap(), 0.975_428_195_316_679_9, 1e-12);
        close(test.ratio_interval.unwrap().low, 0.961_502_942_763_516_2, 1e-9);
        close(test.ratio_interval.unwrap().high, 0.989_555_124_484_698_3, 1e-9);
        // scipy.stats.ttest_rel(a, b).confidence_interval()
        close(test.difference, -0.28, 1e-12);
        close(test.difference_interval.unwrap().low, -0.441_893_178_470_870_95, 1e-9);
        close(test.difference_interval.unwrap().high, -0.118_106_821_529_129_21, 1e-9);
        // d = np.log(a) - np.log(b); max(ttest_1samp(d, -np.log(1.05), alternative='greater').pvalue,
        //                                ttest_1samp(d, np.log(1.05), alternative='less').pvalue)
        close(test.p_equivalence.unwrap(), 0.004_951_360_680_861_883, 1e-9);
    }

    #[test]
    fn runs_that_came_out_equal_are_as_sure_as_their_signs() {
        for (runs, surely) in [(2, false), (3, false), (5, false), (6, true), (20, true)] {
            let (a, b) = (some(&vec![1.21; runs]), some(&vec![1.0; runs]));
            let p = paired(&a, &b, 0.05).unwrap().p.unwrap();
            close(p, libm::exp2(1.0 - runs as f64), 1e-12);
            assert_eq!(p < 0.05, surely, "{runs}");
            assert_eq!(paired(&a, &b, 0.05).unwrap().test, Test::Sign);
        }
        assert_eq!(paired(&some(&[1.2, 1.3]), &some(&[1.0, 1.0]), 0.05).unwrap().test, Test::T);
        for (runs, surely) in [(2, false), (4, false), (5, true)] {
            let (a, b) = (some(&vec![1.03; runs]), some(&vec![1.0; runs]));
            let p = paired(&a, &b, 0.05).unwrap().p_equivalence.unwrap();
            assert_eq!(p < 0.05, surely, "{runs}: {p}");
        }
    }

    #[test]
    fn values_with_zeros_are_compared_by_their_differences() {
        let a = some(&[0.0, 3.0, 2.0, 0.0, 5.0]);
        let b = some(&[4.0, 5.0, 0.0, 2.0, 9.0]);
        let test = paired(&a, &b, 0.05).unwrap();
        // scipy.stats.ttest_rel(a, b), and TOST at 5 % of np.mean(b)
        close(test.p.unwrap(), 0.141_927_447_774_055_42, 1e-9);
        close(test.difference_interval.unwrap().low, -5.041_443_227_583_271, 1e-9);
        close(test.p_equivalence.unwrap(), 0.912_153_445_684_539_3, 1e-9);
        assert_eq!((test.ratio, test.ratio_interval), (None, None));
    }

    #[test]
    fn holm_is_statsmodels() {
        // statsmodels.stats.multitest.multipletests([.01, .04, .03, .005, .9], method='holm')[1]
        let p = [Some(0.01), Some(0.04), None, Some(0.03), Some(0.005), Some(0.9)];
        let expected = [0.04, 0.09, 0.09, 0.025, 0.9];
        let found: Vec<f64> = holm(&p).into_iter().flatten().collect();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.into_iter().zip(expected) {
            close(found, expected, 1e-12);
        }
        assert_eq!(holm(&p)[2], None);
    }

    #[test]
    fn a_path_without_chance_is_certain() {
        let test = |a: f64, b: f64| {
            compare(&[Some(a); 3], &[Some(b); 3], &How { margin: 0.05, chance: false, ranks: false }).unwrap()
        };
        assert_eq!((test(2.0, 1.0).p, test(2.0, 1.0).p_equivalence), (Some(0.0), Some(1.0)));
        assert_eq!((test(1.0, 1.0).p, test(1.0, 1.0).p_equivalence), (Some(1.0), Some(0.0)));
        assert_eq!(test(1.04, 1.0).p_equivalence, Some(0.0));
    }

    #[test]
    fn one_pair_decides_where_nothing_is_left_to_chance() {
        let test = |a: f64, b: f64| {
            compare(&[Some(a)], &[Some(b)], &How { margin: 0.05, chance: false, ranks: false }).unwrap()
        };
        assert_eq!((test(2.0, 1.0).p, test(2.0, 1.0).p_equivalence), (Some(0.0), Some(1.0)));
        assert_eq!((test(1.02, 1.0).p, test(1.02, 1.0).p_equivalence), (Some(0.0), Some(0.0)));
        assert_eq!((test(1.0, 1.0).p, test(0.0, 0.0).p_equivalence), (Some(1.0), Some(0.0)));
    }

    #[test]
    fn never_any_loss_is_no_difference() {
        let test = paired(&[Some(0.0); 5], &[Some(0.0); 5], 0.05).unwrap();
        assert_eq!((test.p, test.p_equivalence), (Some(1.0), Some(1.0 / 32.0)));
    }

    #[test]
    fn one_pair_tells_nothing() {
        let test = paired(&[Some(1.0), None], &[Some(2.0), Some(3.0)], 0.05).unwrap();
        assert_eq!((test.n, test.p, test.p_equivalence, test.difference_interval), (1, None, None, None));
        assert!(paired(&[None], &[Some(1.0)], 0.05).is_none());
    }

    proptest! {
        #[test]
        fn swapping_the_arms_mirrors_the_result(
            pairs in prop::collection::vec((0.01..100.0_f64, 0.01..100.0_f64), 2..30),
        ) {
            let a: Vec<_> = pairs.iter().map(|p| Some(p.0)).collect();
            let b: Vec<_> = pairs.iter().map(|p| Some(p.1)).collect();
            let (there, back) = (paired(&a, &b, 0.05).unwrap(), paired(&b, &a, 0.05).unwrap());
            prop_assert!((there.ratio.unwrap() * back.ratio.unwrap() - 1.0).abs() < 1e-9);
            prop_assert!((there.p.unwrap() - back.p.unwrap()).abs() < 1e-9);
            prop_assert!((there.p_equivalence.unwrap() - back.p_equivalence.unwrap()).abs() < 1e-9);
        }

        #[test]
        fn holm_never_lowers_a_p_value_and_keeps_their_order(p in prop::collection::vec(0.0..=1.0_f64, 0..20)) {
            let given: Vec<_> = p.iter().copied().map(Some).collect();
            let corrected: Vec<f64> = holm(&given).into_iter().flatten().collect();
            prop_assert_eq!(corrected.len(), p.len());
            for i in 0..p.len() {
                prop_assert!(corrected[i] >= p[i] && corrected[i] <= 1.0);
                for j in 0..p.len() {
                    prop_assert!(p[i] > p[j] || corrected[i] <= corrected[j]);
                }
            }
        }
    }
}

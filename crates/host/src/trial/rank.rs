//! Rank test: does one group of a randomised trial rank above the other?

/// One connection's figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ranked {
    /// Only figures of one stratum are compared with each other.
    pub(crate) stratum: u64,
    /// Whether it was given the arm on trial.
    pub(crate) new: bool,
    /// Larger is worse.
    pub(crate) value: f64,
}

/// What the rank sums come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RankTest {
    /// Standard normal if the arms are alike; positive where the arm on trial ranks higher.
    pub(crate) z: f64,
    /// Figures of the arm on trial, and of the other, in strata that have both.
    pub(crate) counts: [usize; 2],
}

/// Wilcoxon's rank sums by stratum, put together with van Elteren's weights; `None` without a stratum that tells.
///
/// The null distribution is that of the draw itself: with the figures as they are, every way to hand out the arms
/// within a stratum is as likely. So it holds for any distribution of the figures, and for figures that depend on each
/// other. Means and variances are exact, ties included; the normal shape is an approximation for many figures.
pub(crate) fn rank_test(figures: &mut [Ranked]) -> Option<RankTest> {
    figures.sort_by(|a, b| a.stratum.cmp(&b.stratum).then(a.value.total_cmp(&b.value)));
    let (mut sum, mut variance, mut counts) = (0.0, 0.0, [0, 0]);
    for stratum in figures.chunk_by(|a, b| a.stratum == b.stratum) {
        let all = stratum.len() as f64;
        let new = stratum.iter().filter(|figure| figure.new).count();
        let old = stratum.len() - new;
        if new == 0 || old == 0 {
            continue;
        }
        counts = [counts[0] + new, counts[1] + old];
        let middle = f64::midpoint(all, 1.0);
        let (mut excess, mut squares) = (0.0, 0.0);
        let mut below = 0;
        for tied in stratum.chunk_by(|a, b| a.value.total_cmp(&b.value).is_eq()) {
            let rank = below as f64 + f64::midpoint(tied.len() as f64, 1.0) - middle;
            excess += rank * tied.iter().filter(|figure| figure.new).count() as f64;
            squares += rank * rank * tied.len() as f64;
            below += tied.len();
        }
        let weight = 1.0 / (all + 1.0);
        sum += weight * excess;
        variance += weight * weight * new as f64 * old as f64 / (all * (all - 1.0)) * squares;
    }
    (variance > 0.0).then(|| RankTest { z: sum / variance.sqrt(), counts })
}

#[cfg(test)]
mod tests {
    use super::{Ranked, rank_test};

    fn figures(stratum: u64, new: &[f64], old: &[f64]) -> Vec<Ranked> {
        let figure = |new| move |&value: &f64| Ranked { stratum, new, value };
        new.iter().map(figure(true)).chain(old.iter().map(figure(false))).collect()
    }

    #[test]
    fn one_stratum_is_wilcoxons_test() {
        let mut all = figures(0, &[1.1, 2.2, 3.3, 9.0, 7.5], &[0.5, 1.0, 2.0, 2.2, 3.0, 4.0]);
        let test = rank_test(&mut all).expect("both arms are there");
        // U, of Mann and Whitney, counts the pairs in which the new arm is above; one tie.
        let (u, mean, n) = (22.5, 15.0, 11.0);
        let variance: f64 = 5.0 * 6.0 / 12.0 * ((n + 1.0) - 6.0 / (n * (n - 1.0)));
        assert!((test.z - (u - mean) / variance.sqrt()).abs() < 1e-12, "{test:?}");
        assert_eq!(test.counts, [5, 6]);
    }

    #[test]
    fn strata_are_not_compared_with_each_other() {
        // Every figure of the second stratum is larger, and most of the new arm's are there.
        let mut all = figures(1, &[1.0, 5.0], &[1.5, 2.0, 3.0, 4.0]);
        all.extend(figures(2, &[110.0, 120.0, 130.0, 140.0], &[105.0, 145.0]));
        let test = rank_test(&mut all).expect("both arms are there");
        assert!(test.z.abs() < 1e-12, "{test:?}");
    }

    #[test]
    fn nothing_to_compare_is_no_result() {
        assert_eq!(rank_test(&mut figures(0, &[1.0, 2.0], &[])), None);
        assert_eq!(rank_test(&mut figures(0, &[1.0, 1.0], &[1.0])), None);
        assert_eq!(rank_test(&mut []), None);
    }
}

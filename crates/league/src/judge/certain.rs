//! How sure a difference between two algorithms is: a paired bootstrap over paths within access types.

use std::collections::BTreeMap;

use rampcc_lab::statistics::weighted;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::Serialize;

/// The Monte Carlo error of an end is then about 2 % of the interval's width.
const RESAMPLES: usize = 1_000;

/// A ratio of download times and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Geometric mean over paths and sizes.
    pub ratio: f64,
    /// What other paths drawn from the same ranges would give: lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// True if it holds 1: other paths may turn the order around.
    pub fn tied(&self) -> bool {
        self.low <= 1.0 && self.high >= 1.0
    }
}

/// A path: its access type, its weight, and by how much the logarithm of the download time differs, the mean over its sizes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) access: usize,
    pub(super) weight: f64,
    pub(super) difference: f64,
}

/// The weighted mean of the differences as a ratio, and where it lies for 95 % of the populations that have as many paths of each
/// access type, drawn from these with replacement. The draws are the same in every call, so equal values give equal intervals.
/// `None` below two paths: one says nothing of others.
pub(super) fn interval(pairs: &[Pair]) -> Option<Interval> {
    if pairs.len() < 2 {
        return None;
    }
    let ratio = libm::exp(mean(pairs.iter().copied())?);
    let types = pairs.iter().map(|pair| pair.access).max()? + 1;
    let strata: Vec<Vec<Pair>> =
        (0..types).map(|kind| pairs.iter().filter(|pair| pair.access == kind).copied().collect()).collect();
    let strata = collapsed(strata);
    let mut random = Pcg64Mcg::seed_from_u64(0);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            let drawn = strata.iter().flat_map(|stratum| stratum.iter().map(move |_| stratum));
            let drawn: Vec<Pair> =
                drawn.map(|stratum| stratum[random.random_range(0..stratum.len())]).collect();
            mean(drawn.into_iter())
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let end = |share: f64| Some(libm::exp(rampcc_lab::quantile(&means, share)));
    Some(Interval { ratio, low: end(0.025)?, high: end(0.975)? })
}

/// How often each path is in so many populations that have as many paths of each access type, drawn from these with replacement.
pub(super) fn resamples(access: &[&str], draws: usize) -> Vec<Vec<f64>> {
    let mut strata: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (path, kind) in access.iter().enumerate() {
        strata.entry(kind).or_default().push(path);
    }
    let strata = collapsed(strata.into_values().collect());
    let mut random = Pcg64Mcg::seed_from_u64(0);
    let mut draw = || {
        let mut times = vec![0.0; access.len()];
        for stratum in &strata {
            for _ in stratum {
                times[stratum[random.random_range(0..stratum.len())]] += 1.0;
            }
        }
        times
    };
    (0..draws).map(|_| draw()).collect()
}

/// Strata of two members and more: those of one are put together, or with the smallest of the others where there is one only. A member that is
/// alone would be drawn every time, and its stratum would seem to have no spread (collapsed strata; Cochran 1977, §5A.12).
fn collapsed<T>(strata: Vec<Vec<T>>) -> Vec<Vec<T>> {
    let (alone, mut strata): (Vec<Vec<T>>, Vec<Vec<T>>) =
        strata.into_iter().filter(|stratum| !stratum.is_empty()).partition(|stratum| stratum.len() == 1);
    let alone: Vec<T> = alone.into_iter().flatten().collect();
    match strata.iter_mut().min_by_key(|stratum| stratum.len()) {
        Some(smallest) if alone.len() == 1 => smallest.extend(alone),
        _ if alone.is_empty() => {}
        _ => strata.push(alone),
    }
    strata
}

fn mean(pairs: impl Iterator<Item = Pair>) -> Option<f64> {
    weighted::mean(pairs.map(|pair| (pair.difference, pair.weight)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(differences: &[&[f64]]) -> Vec<Pair> {
        let of = |(access, all): (usize, &&[f64])| {
            let weight = 1.0 / all.len() as f64;
            all.iter()
                .map(move |difference| Pair { access, weight, difference: *difference })
                .collect::<Vec<_>>()
        };
        differences.iter().enumerate().flat_map(of).collect()
    }

    #[test]
    fn what_differs_between_access_types_alone_is_certain() {
        // Within a type all paths agree: as many paths of each type give the same mean.
        let found = interval(&pairs(&[&[0.1; 5], &[0.5; 5]])).unwrap();
        for value in [found.ratio, found.low, found.high] {
            assert!((value - libm::exp(0.3)).abs() < 1e-12, "{found:?}");
        }
        assert!(!found.tied());
    }

    #[test]
    fn a_path_that_is_alone_of_its_type_is_drawn_with_others() {
        assert_eq!(interval(&pairs(&[&[0.1]])), None);
        let eight =
            interval(&pairs(&[&[0.4], &[-0.3], &[0.2], &[-0.1], &[0.1], &[-0.2], &[0.3], &[-0.3]])).unwrap();
        assert!(eight.tied() && eight.high / eight.low > 1.2, "{eight:?}");
        // With the smallest of the others.
        assert_eq!(
            collapsed(vec![vec![1, 2, 3], vec![4], vec![], vec![5, 6]]),
            [vec![1, 2, 3], vec![5, 6, 4]]
        );
        assert_eq!(collapsed(vec![vec![1], vec![2, 3], vec![4]]), [vec![2, 3], vec![1, 4]]);
        assert_eq!(collapsed(vec![vec![7]]), [[7]]);
        let drawn = resamples(&["a", "b"], 20);
        assert!(
            drawn.iter().any(|times| times[0] > 1.5) && drawn.iter().any(|times| times[1] > 1.5),
            "{drawn:?}"
        );
    }

    #[test]
    fn a_resample_has_as_many_paths_of_each_access_type() {
        let access = ["a", "b", "a", "a", "b"];
        let drawn = resamples(&access, 50);
        for times in &drawn {
            let of = |kind: &str| -> f64 {
                access.iter().zip(times).filter(|(access, _)| **access == kind).map(|(_, times)| times).sum()
            };
            assert_eq!((of("a"), of("b")), (3.0, 2.0), "{times:?}");
        }
        assert!(drawn.iter().any(|times| *times != drawn[0]));
        assert_eq!(drawn, resamples(&access, 50));
    }

    #[test]
    fn noise_of_paths_makes_it_wide_and_pairs_make_it_narrow() {
        let noisy: Vec<f64> = (0..20).map(|n| if n % 2 == 0 { 0.4 } else { -0.36 }).collect();
        let found = interval(&pairs(&[&noisy])).unwrap();
        // The standard deviation of such a mean is 0.38 / sqrt(20) = 0.085.
        assert!(found.tied() && (0.25..0.42).contains(&libm::log(found.high / found.low)), "{found:?}");
        assert_eq!(interval(&pairs(&[&noisy])), Some(found));
        let same = interval(&pairs(&[&[0.02; 20]])).unwrap();
        assert!(!same.tied() && same.low > 1.0, "{same:?}");
        assert_eq!(interval(&[]), None);
    }
}

//! Two groups of values where one was expected.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::mean;
use crate::summary::Modes;

/// Fewer values cannot show two modes.
const FEWEST: usize = 6;
/// Two modes nearer than this share of the larger one are of no interest, whatever the test says.
const SMALLEST_GAP: f64 = 0.1;
/// Samples from the null distribution; the error of a p value of 5 % is half a percent.
const NULL_SAMPLES: usize = 2_000;
/// Below this, `dip x sqrt(n)` is far from the 5 % level for every n (Hartigan & Hartigan 1985, table 1), which
/// saves drawing the null distribution.
const HOPELESS: f64 = 0.35;

/// The two modes of a sample if it has two; `None` where one mode explains it.
///
/// Hartigan's dip test (uniform null, 5 %) decides; the groups are then those with the least squares within.
pub(crate) fn modes(values: &[f64]) -> Option<Modes> {
    if values.len() < FEWEST {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let statistic = dip(&sorted);
    if statistic * (sorted.len() as f64).sqrt() < HOPELESS {
        return None;
    }
    let split = least_squares_split(&sorted);
    let (low, high) = (mean(&sorted[..split]), mean(&sorted[split..]));
    if split < 2 || sorted.len() - split < 2 || high - low < SMALLEST_GAP * high.abs().max(low.abs()) {
        return None;
    }
    let p = dip_p_value(statistic, sorted.len());
    (p < 0.05).then(|| Modes { low, high, low_share: split as f64 / sorted.len() as f64, p })
}

/// Hartigan's dip: the largest distance between the empirical distribution of ascending values and the
/// nearest unimodal one.
///
/// The modal interval shrinks from the whole range: inside it, the greatest convex minorant and the least concave
/// majorant part most at one place; that place and its neighbour on the other curve bound the next interval, and
/// outside it the distance to the curves is final (Hartigan & Hartigan 1985, §4).
pub(crate) fn dip(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n == 0 {
        return 0.0;
    }
    // In steps of the distribution; no unimodal distribution is nearer to a staircase than half a step.
    let mut widest = 1.0_f64;
    let (mut low, mut high) = (0, n - 1);
    while sorted[high] > sorted[low] {
        let minorant = hull(sorted, low, high, 1.0);
        let majorant = hull(sorted, low, high, -1.0);
        let (gap, next_low, next_high) = widest_gap(sorted, &minorant, &majorant);
        if gap <= widest {
            break;
        }
        for i in low..=next_low {
            widest = widest.max(i as f64 + 1.0 - height(sorted, &minorant, sorted[i]));
        }
        for i in next_high..=high {
            widest = widest.max(height(sorted, &majorant, sorted[i]) + 1.0 - i as f64);
        }
        if (next_low, next_high) == (low, high) {
            break;
        }
        (low, high) = (next_low, next_high);
    }
    widest / (2 * n) as f64
}

/// Corners of the lower (`side` 1) or upper (`side` -1) hull of the points (value, rank), as ascending ranks.
fn hull(sorted: &[f64], low: usize, high: usize, side: f64) -> Vec<usize> {
    let mut corners: Vec<usize> = Vec::new();
    for next in low..=high {
        while let [.., before, last] = corners[..] {
            let (run, rise) = (sorted[last] - sorted[before], (last - before) as f64);
            let (next_run, next_rise) = (sorted[next] - sorted[last], (next - last) as f64);
            if side * (next_rise * run - rise * next_run) > 0.0 {
                break;
            }
            corners.pop();
        }
        corners.push(next);
    }
    corners
}

/// Height of a hull at a value, in ranks.
fn height(sorted: &[f64], corners: &[usize], value: f64) -> f64 {
    let after = corners.partition_point(|c| sorted[*c] <= value);
    let left = corners[after.saturating_sub(1)];
    match corners.get(after) {
        Some(&right) if sorted[right] > sorted[left] => {
            left as f64 + (value - sorted[left]) * (right - left) as f64 / (sorted[right] - sorted[left])
        }
        _ => left as f64,
    }
}

/// Where the hulls part most: by how much, and the modal interval around that place.
fn widest_gap(sorted: &[f64], minorant: &[usize], majorant: &[usize]) -> (f64, usize, usize) {
    let mut widest = (0.0, minorant[0], minorant[minorant.len() - 1]);
    for &corner in minorant {
        let gap = height(sorted, majorant, sorted[corner]) + 1.0 - corner as f64;
        if gap > widest.0 {
            let right = majorant[majorant.partition_point(|c| *c < corner).min(majorant.len() - 1)];
            widest = (gap, corner, right);
        }
    }
    for &corner in majorant {
        let gap = corner as f64 + 1.0 - height(sorted, minorant, sorted[corner]);
        if gap > widest.0 {
            let left = minorant[minorant.partition_point(|c| *c <= corner).saturating_sub(1)];
            widest = (gap, left, corner);
        }
    }
    widest
}

/// Probability of a dip at least this large in `n` uniform values.
fn dip_p_value(statistic: f64, n: usize) -> f64 {
    let mut random = Pcg64Mcg::seed_from_u64(n as u64);
    let mut sample = vec![0.0; n];
    let mut as_large = 0;
    for _ in 0..NULL_SAMPLES {
        for value in &mut sample {
            *value = random.random::<f64>();
        }
        sample.sort_by(f64::total_cmp);
        as_large += usize::from(dip(&sample) >= statistic);
    }
    as_large as f64 / NULL_SAMPLES as f64
}

/// How many of the ascending values belong to the lower of two groups with the least squares within.
fn least_squares_split(sorted: &[f64]) -> usize {
    let n = sorted.len() as f64;
    let centre = mean(sorted);
    let mut below = 0.0;
    let mut best = (f64::NEG_INFINITY, 1);
    for (i, value) in sorted.iter().enumerate().take(sorted.len() - 1) {
        below += value - centre;
        let size = (i + 1) as f64;
        let between = below * below * n / (size * (n - size));
        if between > best.0 {
            best = (between, i + 1);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use statrs::distribution::{ContinuousCDF, Normal};

    use super::*;
    use crate::testing::close;

    fn sorted(mut values: Vec<f64>) -> Vec<f64> {
        values.sort_by(f64::total_cmp);
        values
    }

    #[test]
    fn dip_is_that_of_the_diptest_package() {
        // diptest.dipstat(np.array(...)), at least 1/(2 n)
        close(dip(&[1.0, 1.0, 1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 5.0, 5.0]), 0.25, 1e-12);
        let throughput = sorted(vec![15.0, 16.0, 14.0, 15.5, 250.0, 251.0, 249.0, 15.2, 248.0, 250.5]);
        close(dip(&throughput), 0.246_808_510_638_297_87, 1e-12);
        let skewed = sorted(vec![2.1, 2.3, 1.9, 2.2, 2.0, 2.4, 2.2, 9.5, 2.1, 6.0, 2.0, 2.3]);
        close(dip(&skewed), 0.083_333_333_333_333_33, 1e-12);
        let tied = [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 10.0, 10.0, 11.0, 12.0, 12.5, 13.0];
        close(dip(&tied), 0.175, 1e-12);
        let smooth: Vec<f64> = (0..30).map(|i| libm::exp(-1.0 + 2.5 * f64::from(i) / 29.0)).collect();
        close(dip(&smooth), 1.0 / 60.0, 1e-12);
    }

    #[test]
    fn two_throughputs_are_two_modes() {
        // Ten runs at 80 ms, 15 or 250 Mbit/s: what hystart's old threshold did.
        let found = modes(&[15.0, 250.0, 16.0, 251.0, 14.0, 249.0, 15.5, 248.0, 15.2, 250.5]).unwrap();
        close(found.low, 15.14, 1e-9);
        close(found.high, 249.7, 1e-9);
        close(found.low_share, 0.5, 1e-12);
        assert!(found.p < 0.001);
    }

    #[test]
    fn a_bell_has_one_mode() {
        let normal = Normal::standard();
        let bell: Vec<f64> = (0..50).map(|i| 5.0 + normal.inverse_cdf((f64::from(i) + 0.5) / 50.0)).collect();
        assert_eq!(modes(&bell), None);
    }

    #[test]
    fn an_outlier_is_not_a_mode() {
        assert_eq!(modes(&[2.0, 2.1, 2.2, 2.05, 2.15, 2.12, 2.07, 2.18, 2.03, 9.0]), None);
    }

    #[test]
    fn two_modes_that_differ_by_nothing_that_matters_are_one() {
        let values: Vec<f64> =
            (0..20).map(|i| 10.0 + 0.2 * f64::from(i % 2) + 0.0001 * f64::from(i)).collect();
        assert_eq!(modes(&values), None);
    }

    proptest! {
        #[test]
        fn dip_stays_in_its_range(values in prop::collection::vec(0.0..10.0_f64, 1..60)) {
            let n = values.len() as f64;
            let found = dip(&sorted(values));
            prop_assert!(found >= 0.5 / n - 1e-12 && found <= 0.25_f64.max(0.5 / n) + 1e-12, "{}", found);
        }

        #[test]
        fn dip_knows_no_unit(values in prop::collection::vec(0.0..10.0_f64, 4..40), unit in 0.1..1e3_f64) {
            let scaled = values.iter().map(|v| v * unit).collect();
            prop_assert!((dip(&sorted(values)) - dip(&sorted(scaled))).abs() < 1e-9);
        }
    }
}

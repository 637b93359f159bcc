//! Bootstrap interval of a mean.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use statrs::distribution::{ContinuousCDF, Normal};

use super::{mean, quantile};
use crate::summary::{Interval, IntervalMethod};

/// The Monte Carlo error of an end is then about 1 % of the interval's width.
const RESAMPLES: usize = 4_000;

/// 95 % interval of the mean, bias-corrected and accelerated (Efron 1987); `None` below two values.
///
/// The resamples are the same in every call, so equal values give equal intervals.
pub(crate) fn bca(values: &[f64]) -> Option<Interval> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values);
    let method = IntervalMethod::Bca;
    if values.iter().all(|v| (v - values[0]).abs() <= f64::EPSILON * values[0].abs()) {
        return Some(Interval { low: centre, high: centre, method });
    }
    let mut means = resampled_means(values);
    means.sort_by(f64::total_cmp);

    let normal = Normal::standard();
    let below = means.partition_point(|m| *m < centre);
    let not_above = means.partition_point(|m| *m <= centre);
    let share = (below + not_above) as f64 / (2 * means.len()) as f64;
    let bias = normal.inverse_cdf(share.clamp(1.0 / RESAMPLES as f64, 1.0 - 1.0 / RESAMPLES as f64));
    let acceleration = acceleration(values, centre);
    let end = |level: f64| {
        let z = bias + normal.inverse_cdf(level);
        quantile(&means, normal.cdf(bias + z / (1.0 - acceleration * z)))
    };
    Some(Interval { low: end(0.025), high: end(0.975), method })
}

fn resampled_means(values: &[f64]) -> Vec<f64> {
    let mut random = Pcg64Mcg::seed_from_u64(0);
    let n = values.len();
    (0..RESAMPLES)
        .map(|_| {
            let sum: f64 = (0..n).map(|_| values[random.random_range(0..n)] - values[0]).sum();
            values[0] + sum / n as f64
        })
        .collect()
}

/// Skewness of the jackknife means over six; those of a mean deviate in proportion to `value - mean`.
fn acceleration(values: &[f64], mean: f64) -> f64 {
    let (mut squares, mut cubes) = (0.0, 0.0);
    for value in values {
        let deviation = value - mean;
        squares += deviation * deviation;
        cubes += deviation * deviation * deviation;
    }
    let scale = squares * squares.sqrt();
    if scale > 0.0 { cubes / (6.0 * scale) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::close;

    #[test]
    fn agrees_with_scipy_within_the_error_of_resampling() {
        // x = [2.1, 2.3, 1.9, 2.2, 2.0, 2.4, 2.2, 9.5, 2.1, 6.0, 2.0, 2.3]
        // scipy.stats.bootstrap((x,), np.mean, n_resamples=400000, method='BCa').confidence_interval
        let skewed = [2.1, 2.3, 1.9, 2.2, 2.0, 2.4, 2.2, 9.5, 2.1, 6.0, 2.0, 2.3];
        let interval = bca(&skewed).unwrap();
        close(interval.low, 2.166_67, 0.02);
        close(interval.high, 5.208_33, 0.02);

        // y = np.exp(np.linspace(-1, 1.5, 30))
        let smooth: Vec<f64> = (0..30).map(|i| libm::exp(-1.0 + 2.5 * f64::from(i) / 29.0)).collect();
        let interval = bca(&smooth).unwrap();
        close(interval.low, 1.291_564, 0.02);
        close(interval.high, 2.148_776, 0.02);
    }

    #[test]
    fn is_the_same_every_time() {
        let values = [1.0, 4.0, 2.0, 8.0, 5.0, 7.0];
        assert_eq!(bca(&values), bca(&values));
    }
}

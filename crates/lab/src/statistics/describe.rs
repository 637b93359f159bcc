//! One sample: centre, spread and interval.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{bca, modes};
use crate::comparison::{Interval, IntervalMethod, Summary};

/// From this many values on, intervals of means come from the bootstrap.
const BOOTSTRAP_FROM: usize = 10;

/// The distribution of one metric over runs; `None` without any value.
pub(crate) fn summarise(values: Vec<Option<f64>>) -> Option<Summary> {
    let present: Vec<f64> = values.iter().copied().flatten().collect();
    if present.is_empty() {
        return None;
    }
    let interval = if present.len() >= BOOTSTRAP_FROM { bca(&present) } else { t_interval(&present) };
    Some(Summary {
        n: u32::try_from(present.len()).unwrap_or(u32::MAX),
        mean: mean(&present),
        median: median(&present),
        sd: sd(&present),
        interval,
        modes: modes(&present),
        values,
    })
}

/// Arithmetic mean; 0 of nothing.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    // Around the first value, so that equal values have exactly that mean.
    let origin = values[0];
    origin + values.iter().map(|v| v - origin).sum::<f64>() / values.len() as f64
}

/// Median; 0 of nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

/// Quantile of ascending values by linear interpolation (Hyndman & Fan 1996, type 7); 0 of nothing.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let position = share.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64)
}

/// Standard deviation with n - 1; `None` below two values.
pub(crate) fn sd(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// 95 % interval of the mean by Student's t; `None` below two values.
pub(crate) fn t_interval(values: &[f64]) -> Option<Interval> {
    let sd = sd(values)?;
    let half = t_quantile_975(values.len() - 1) * sd / (values.len() as f64).sqrt();
    let mean = mean(values);
    Some(Interval { low: mean - half, high: mean + half, method: IntervalMethod::T })
}

fn t_quantile_975(freedom: usize) -> f64 {
    students_t(freedom).inverse_cdf(0.975)
}

/// Student's t with so many degrees of freedom, at least one.
pub(super) fn students_t(freedom: usize) -> StudentsT {
    StudentsT::new(0.0, 1.0, freedom.max(1) as f64).expect("degrees of freedom are positive")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::close;

    /// Download times with a tail, used throughout the tests.
    const SKEWED: [f64; 12] = [2.1, 2.3, 1.9, 2.2, 2.0, 2.4, 2.2, 9.5, 2.1, 6.0, 2.0, 2.3];

    #[test]
    fn describes_a_sample_as_scipy_does() {
        // x = [2.1, 2.3, 1.9, 2.2, 2.0, 2.4, 2.2, 9.5, 2.1, 6.0, 2.0, 2.3]
        // np.mean(x), np.median(x), np.std(x, ddof=1), np.quantile(x, .95)
        close(mean(&SKEWED), 3.083_333_333_333_333_5, 1e-12);
        close(median(&SKEWED), 2.2, 1e-12);
        close(sd(&SKEWED).unwrap(), 2.308_416_747_207_462, 1e-12);
        let mut sorted = SKEWED.to_vec();
        sorted.sort_by(f64::total_cmp);
        close(quantile(&sorted, 0.95), 7.575, 1e-12);
    }

    #[test]
    fn t_interval_is_scipys() {
        // scipy.stats.ttest_1samp(x[:5], 0).confidence_interval(.95)
        let interval = t_interval(&SKEWED[..5]).unwrap();
        close(interval.low, 1.903_675_683_852_243_6, 1e-9);
        close(interval.high, 2.296_324_316_147_756_5, 1e-9);
    }

    #[test]
    fn equal_values_have_an_interval_of_no_width() {
        let summary = summarise(vec![Some(0.1); 12]).unwrap();
        let interval = summary.interval.unwrap();
        assert!(interval.low.to_bits() == 0.1_f64.to_bits() && interval.high.to_bits() == 0.1_f64.to_bits());
        assert!(summary.modes.is_none());
    }

    #[test]
    fn one_value_has_no_interval() {
        let summary = summarise(vec![None, Some(3.0)]).unwrap();
        assert_eq!((summary.n, summary.interval, summary.sd), (1, None, None));
        assert!(summarise(vec![None, None]).is_none());
    }

    proptest! {
        #[test]
        fn intervals_hold_the_mean(values in prop::collection::vec(0.001..1e6_f64, 2..40)) {
            let summary = summarise(values.into_iter().map(Some).collect()).unwrap();
            let interval = summary.interval.unwrap();
            let slack = 1e-9 * summary.mean.abs();
            prop_assert!(interval.low <= summary.mean + slack && summary.mean <= interval.high + slack);
        }

        #[test]
        fn quantiles_ascend(mut values in prop::collection::vec(-1e6..1e6_f64, 1..40), a in 0.0..1.0, b in 0.0..1.0) {
            values.sort_by(f64::total_cmp);
            let (low, high) = if a < b { (a, b) } else { (b, a) };
            prop_assert!(quantile(&values, low) <= quantile(&values, high));
        }
    }
}

//! One sample: centre, spread and interval.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{bca, modes};
use crate::summary::{Interval, IntervalMethod, Summary};

/// From this many values on, intervals of means come from the bootstrap.
const BOOTSTRAP_FROM: usize = 10;

/// The distribution of one metric over runs; `None` without any value.
///
/// `at_least` is what values that were cut off are at least, empty where none was. All of them end at the same time, so
/// means over what is known of each are restricted means, fully observed (Royston & Parmar 2013).
pub(crate) fn summarise(values: Vec<Option<f64>>, at_least: Vec<Option<f64>>) -> Option<Summary> {
    let known = values.iter().flatten().count();
    let least = |i: usize| at_least.get(i).copied().flatten();
    let present: Vec<f64> =
        values.iter().enumerate().filter_map(|(i, value)| value.or_else(|| least(i))).collect();
    if present.is_empty() {
        return None;
    }
    Some(Summary {
        n: u32::try_from(known).unwrap_or(u32::MAX),
        mean: mean(&present),
        median: median(&present),
        sd: sd(&present),
        interval: if present.len() >= BOOTSTRAP_FROM { bca(&present) } else { t_or_range(&present) },
        modes: modes(&present),
        at_least: if at_least.iter().any(Option::is_some) { at_least } else { Vec::new() },
        values,
    })
}

/// Student's t, unless it reaches below zero where no value is: then the range.
fn t_or_range(values: &[f64]) -> Option<Interval> {
    let interval = t_interval(values)?;
    let (low, high) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
    if low >= 0.0 && interval.low < 0.0 {
        return Some(Interval { low, high, method: IntervalMethod::Range });
    }
    Some(interval)
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
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
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

/// Skewness, the third moment over the second's power of 1.5; `None` where all values are equal. With `n` values it is at
/// most `(n - 2) / sqrt(n - 1)`, so few values cannot show a tail.
pub(crate) fn skewness(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let n = values.len() as f64;
    let (second, third) = values
        .iter()
        .map(|v| v - mean)
        .fold((0.0, 0.0), |(second, third), off| (second + off * off / n, third + off * off * off / n));
    (second > 0.0).then(|| third / (second * second.sqrt()))
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
    fn skewness_is_that_of_the_moments() {
        // Mean 0.5, second moment 0.25 + 0.1875 = 0.75, third (3 x -0.125 + 3.375) / 4 = 0.75.
        close(skewness(&[0.0, 0.0, 0.0, 2.0]).unwrap(), 1.0 / 0.75_f64.sqrt(), 1e-12);
        close(skewness(&[1.0, 2.0, 3.0]).unwrap(), 0.0, 1e-12);
        assert!(skewness(&[2.0, 2.0]).is_none() && skewness(&[]).is_none());
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
        let summary = summarise(vec![Some(0.1); 12], Vec::new()).unwrap();
        let interval = summary.interval.unwrap();
        assert!(interval.low.to_bits() == 0.1_f64.to_bits() && interval.high.to_bits() == 0.1_f64.to_bits());
        assert!(summary.modes.is_none());
    }

    #[test]
    fn one_value_has_no_interval() {
        let summary = summarise(vec![None, Some(3.0)], Vec::new()).unwrap();
        assert_eq!((summary.n, summary.interval, summary.sd), (1, None, None));
        assert!(summarise(vec![None, None], Vec::new()).is_none());
    }

    #[test]
    fn an_interval_of_times_does_not_reach_below_zero() {
        let two = summarise(vec![Some(5.1), Some(7.0)], Vec::new()).unwrap().interval.unwrap();
        assert_eq!((two.low.to_bits(), two.high.to_bits()), (5.1_f64.to_bits(), 7.0_f64.to_bits()));
        assert_eq!(two.method, IntervalMethod::Range);
        // What may be negative keeps its interval.
        assert_eq!(
            summarise(vec![Some(-1.0), Some(2.0)], Vec::new()).unwrap().interval.unwrap().method,
            IntervalMethod::T
        );
    }

    #[test]
    fn what_was_cut_off_counts_as_what_it_is_at_least() {
        let values = vec![Some(10.0), None, Some(12.0)];
        let summary = summarise(values, vec![None, Some(120.0), None]).unwrap();
        assert_eq!((summary.n, summary.unfinished()), (2, 1));
        close(summary.mean, 142.0 / 3.0, 1e-12);
        close(summary.median, 12.0, 1e-12);
        assert_eq!(summary.known_or_least(), [Some(10.0), Some(120.0), Some(12.0)]);
        let never = summarise(vec![None], vec![Some(120.0)]).unwrap();
        assert_eq!((never.n, never.unfinished()), (0, 1));
    }

    proptest! {
        #[test]
        fn intervals_hold_the_mean(values in prop::collection::vec(0.001..1e6_f64, 2..40)) {
            let summary = summarise(values.into_iter().map(Some).collect(), Vec::new()).unwrap();
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

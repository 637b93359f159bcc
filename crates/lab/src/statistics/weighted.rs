//! Means and quantiles of values that do not count alike.

/// The smallest value at or below which this share of the weight lies; `None`: there is no value.
pub fn quantile(values: &[(f64, f64)], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = sorted.iter().map(|(_, weight)| weight).sum();
    let mut so_far = 0.0;
    for (value, weight) in &sorted {
        so_far += weight;
        if so_far >= share * total * (1.0 - 1e-12) {
            return Some(*value);
        }
    }
    sorted.last().map(|(value, _)| *value)
}

/// `None`: there is no weight.
pub fn mean(values: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let (mut sum, mut total) = (0.0, 0.0);
    for (value, weight) in values {
        sum += value * weight;
        total += weight;
    }
    (total > 0.0).then(|| sum / total)
}

/// `None`: there is no weight.
pub fn geometric_mean(values: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    mean(values.into_iter().map(|(value, weight)| (libm::log(value), weight))).map(libm::exp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_count() {
        let values = [(1.0, 1.0), (2.0, 1.0), (4.0, 2.0)];
        assert_eq!(quantile(&values, 0.5), Some(2.0));
        assert_eq!(quantile(&values, 0.51), Some(4.0));
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(mean(values), Some(2.75));
        assert!((geometric_mean(values).unwrap() - libm::pow(2.0, 1.25)).abs() < 1e-12);
    }
}

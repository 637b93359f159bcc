//! Rank correlation.

/// Spearman's rank correlation; `None`: all values of a list are equal.
pub fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(a), ranks(b));
    let middle = (a.len() as f64 - 1.0) / 2.0;
    let sum = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - middle) * (y - middle)).sum::<f64>();
    let spread = libm::sqrt(sum(&a, &a) * sum(&b, &b));
    (spread > 0.0).then(|| sum(&a, &b) / spread)
}

/// Ranks from 0, the mean of them for equal values.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = |value: &f64| {
        let below = sorted.partition_point(|other| other.total_cmp(value).is_lt());
        let same = sorted[below..].partition_point(|other| other.total_cmp(value).is_eq());
        below as f64 + (same as f64 - 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

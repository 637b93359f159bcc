//! Curves with few enough points for a file and a screen.

/// Indices of a curve that keep its look: of every stretch the first, the lowest, the highest and the last point.
///
/// Half of the points go to what happens before `detail_until`, because that is what a reader sees first. A curve with
/// at most `limit` points stays as it is.
pub(super) fn thin(times: &[f64], values: &[Option<f64>], limit: usize, detail_until: f64) -> Vec<usize> {
    if times.len() <= limit {
        return (0..times.len()).collect();
    }
    let early = times.partition_point(|&t| t <= detail_until);
    let late = times.len() - early;
    let for_late = (limit / 2).max(limit - early.min(limit)).min(late.max(4));
    let for_early = limit.saturating_sub(for_late).max(4);
    let mut kept = stretch(values, 0, early, for_early);
    kept.extend(stretch(values, early, times.len(), for_late));
    kept
}

fn stretch(values: &[Option<f64>], from: usize, to: usize, limit: usize) -> Vec<usize> {
    let length = to - from;
    if length <= limit {
        return (from..to).collect();
    }
    let buckets = (limit / 4).max(1);
    let mut kept = Vec::with_capacity(buckets * 4);
    for bucket in 0..buckets {
        let start = from + length * bucket / buckets;
        let end = from + length * (bucket + 1) / buckets;
        let present = || (start..end).filter(|&i| values[i].is_some());
        let order = |a: &usize, b: &usize| values[*a].unwrap_or(0.0).total_cmp(&values[*b].unwrap_or(0.0));
        let mut chosen = vec![start, end - 1];
        chosen.extend(present().min_by(order));
        chosen.extend(present().max_by(order));
        chosen.sort_unstable();
        chosen.dedup();
        kept.extend(chosen);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_curve_stays() {
        assert_eq!(thin(&[0.0, 1.0, 2.0], &[Some(1.0), None, Some(3.0)], 10, 1.0), vec![0, 1, 2]);
    }

    #[test]
    fn peaks_ends_and_order_survive() {
        let times: Vec<f64> = (0..10_000).map(|i| f64::from(i) / 1000.0).collect();
        let mut values: Vec<Option<f64>> = times.iter().map(|t| Some(t * 2.0)).collect();
        values[7_777] = Some(1e6);
        values[123] = Some(-1e6);
        let kept = thin(&times, &values, 400, 1.0);
        assert!(kept.len() <= 400, "{}", kept.len());
        assert!(kept.contains(&7_777) && kept.contains(&123));
        assert_eq!((kept[0], kept[kept.len() - 1]), (0, 9_999));
        assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn the_start_gets_half_of_the_points() {
        let times: Vec<f64> = (0..10_000).map(f64::from).collect();
        let values: Vec<Option<f64>> = times.iter().map(|&t| Some(t)).collect();
        let kept = thin(&times, &values, 400, 1000.0);
        let early = kept.iter().filter(|&&i| i <= 1000).count();
        assert!(early * 3 >= kept.len(), "{early} of {}", kept.len());
    }

    #[test]
    fn everything_before_the_detail_or_after_it() {
        let times: Vec<f64> = (0..5000).map(f64::from).collect();
        let values: Vec<Option<f64>> = times.iter().map(|_| None).collect();
        for until in [-1.0, 1e9] {
            let kept = thin(&times, &values, 200, until);
            assert!(!kept.is_empty() && kept.len() <= 208, "{}", kept.len());
        }
    }
}

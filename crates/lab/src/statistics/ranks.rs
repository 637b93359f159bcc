//! Wilcoxon's signed-rank test, exact.

/// Two-sided p value of paired differences, and which way they go (-1, 0, 1); `None` where all are zero.
///
/// Exact for every number of pairs: the distribution of the rank sum over all signs, ties at their mean rank, zeros left out
/// (Wilcoxon 1945; Hollander, Wolfe & Chicken 2014, section 3.1). Above 300 pairs, by the normal distribution.
pub(crate) fn signed_rank(differences: &[f64]) -> Option<(f64, f64)> {
    let mut sizes: Vec<f64> = differences.iter().copied().filter(|d| d.abs() > 0.0).collect();
    if sizes.is_empty() {
        return None;
    }
    sizes.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let doubled = doubled_ranks(&sizes);
    let total: usize = doubled.iter().sum();
    let positive: usize = sizes.iter().zip(&doubled).filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
    let extreme = positive.min(total - positive);
    let direction = match positive.cmp(&(total - positive)) {
        std::cmp::Ordering::Less => -1.0,
        std::cmp::Ordering::Equal => 0.0,
        std::cmp::Ordering::Greater => 1.0,
    };
    let one_sided =
        if sizes.len() <= EXACT_UP_TO { exact(&doubled, extreme) } else { normal(&doubled, extreme) };
    Some(((2.0 * one_sided).min(1.0), direction))
}

/// Beyond, the normal distribution is right to four digits.
const EXACT_UP_TO: usize = 300;

/// Twice the rank of each, so that mean ranks of ties are whole.
fn doubled_ranks(ascending: &[f64]) -> Vec<usize> {
    let mut ranks = Vec::with_capacity(ascending.len());
    for group in ascending.chunk_by(|a, b| a.abs() >= b.abs()) {
        let first = ranks.len() + 1;
        ranks.extend(std::iter::repeat_n(2 * first + group.len() - 1, group.len()));
    }
    ranks
}

/// Probability of a sum of positive ranks of at most `most`, every sign being as likely.
fn exact(ranks: &[usize], most: usize) -> f64 {
    let mut probability = vec![0.0_f64; most + 1];
    probability[0] = 1.0;
    for &rank in ranks {
        for sum in (0..=most).rev() {
            let with = if sum >= rank { probability[sum - rank] } else { 0.0 };
            probability[sum] = probability[sum].midpoint(with);
        }
    }
    probability.iter().sum()
}

fn normal(ranks: &[usize], most: usize) -> f64 {
    use statrs::distribution::{ContinuousCDF, Normal};
    let mean = ranks.iter().sum::<usize>() as f64 / 2.0;
    let variance: f64 = ranks.iter().map(|rank| (rank * rank) as f64 / 4.0).sum();
    Normal::standard().cdf((most as f64 - mean) / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::close;

    #[test]
    fn is_scipys() {
        // scipy.stats.wilcoxon(d, method='exact').pvalue
        let (p, direction) = signed_rank(&[
            6.0, 8.0, 14.0, 16.0, 23.0, 24.0, 28.0, 29.0, 41.0, -48.0, 49.0, 56.0, 60.0, -67.0, 75.0,
        ])
        .unwrap();
        close(p, 0.041_259_765_625, 1e-12);
        assert!(direction > 0.0);
    }

    #[test]
    fn ten_of_ten_is_two_in_a_thousand() {
        let all: Vec<f64> = (1..=10).map(f64::from).collect();
        close(signed_rank(&all).unwrap().0, 2.0 / 1024.0, 1e-15);
        // Ties and zeros change nothing of that.
        let tied = [1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 0.0, 4.0, 4.0, 5.0, 6.0];
        close(signed_rank(&tied).unwrap().0, 2.0 / 1024.0, 1e-15);
        assert_eq!(signed_rank(&[0.0; 4]), None);
    }

    #[test]
    fn the_normal_tail_meets_the_exact_one() {
        let values: Vec<f64> =
            (1..=300).map(|i| if i % 9 < 4 { -f64::from(i) } else { f64::from(i) }).collect();
        let doubled = doubled_ranks(&values);
        let total: usize = doubled.iter().sum();
        let low = total * 43 / 100;
        close(normal(&doubled, low), exact(&doubled, low), 5e-4);
    }
}

//! Number of runs that would decide a question that these leave open.

use statrs::distribution::{ContinuousCDF, Normal};

use super::describe::students_t;

/// Probability with which that many runs decide, if the truth is what was seen.
const POWER: f64 = 0.8;
/// More than this is not a number of runs.
pub(crate) const MOST_RUNS: u32 = 10_000;

/// Runs after which a paired t test at the two-sided `level` finds a mean difference of `centre` with a standard deviation of
/// `sd`, or two one-sided tests at 5 % put it within the `margin`, whichever is sooner; `None`: more than [`MOST_RUNS`].
///
/// n = ((t(1 - level/2) + t(power)) sd / centre)², and for equivalence n = ((t(0.95) + t(1 - (1 - power)/2)) sd / (margin -
/// |centre|))², with n - 1 degrees of freedom (Chow, Shao & Wang 2008, sections 3.1.1 and 3.1.3). Without spread, as many as their signs need.
pub(crate) fn runs_for_t(centre: f64, sd: f64, margin: f64, level: f64) -> Option<u32> {
    let difference = runs(sd, centre.abs(), 1.0 - level / 2.0, POWER);
    let equivalence = runs(sd, margin - centre.abs(), 0.95, 1.0 - (1.0 - POWER) / 2.0);
    let needed = difference.into_iter().chain(equivalence).min()?;
    if sd > 1e-12 * centre.abs() {
        return Some(needed);
    }
    Some(needed.max(whole(runs_for_signs(level))?))
}

/// Runs that all have one sign decide from so many on.
fn runs_for_signs(level: f64) -> f64 {
    1.0 - libm::log2(level)
}

/// The same for the signed-rank test: n = (z(1 - level/2) + z(power))² / (3 (p - 1/2)²), where p is how often the sum of two
/// differences is positive (Noether 1987), and enough for the exact test to get to that level at all.
pub(crate) fn runs_for_ranks(differences: &[f64], level: f64) -> Option<u32> {
    let normal = Normal::standard();
    let mut positive = 0.0;
    let mut sums = 0.0_f64;
    for (i, a) in differences.iter().enumerate() {
        for b in &differences[i + 1..] {
            sums += 1.0;
            positive += if a + b > 0.0 {
                1.0
            } else if a + b < 0.0 {
                0.0
            } else {
                0.5
            };
        }
    }
    let effect = (positive / sums.max(1.0) - 0.5).abs();
    let z = normal.inverse_cdf(1.0 - level / 2.0) + normal.inverse_cdf(POWER);
    let least = runs_for_signs(level);
    // Where all differences have one sign, the exact test decides as soon as it can.
    let asymptotic = if effect < 0.5 { z * z / (3.0 * effect * effect) } else { least };
    whole(asymptotic.max(least))
}

fn runs(sd: f64, distance: f64, test: f64, power: f64) -> Option<u32> {
    if distance <= 0.0 {
        return None;
    }
    let needed = |quantile: &dyn Fn(f64) -> f64| {
        let root = (quantile(test) + quantile(power)) * sd / distance;
        root * root
    };
    let normal = Normal::standard();
    let mut n = whole(needed(&|p| normal.inverse_cdf(p)))?.max(2);
    // The degrees of freedom depend on the answer: it settles from below in a few steps.
    for _ in 0..20 {
        let t = students_t(n as usize - 1);
        let next = whole(needed(&|p| t.inverse_cdf(p)))?.max(2);
        if next <= n {
            break;
        }
        n += (next - n).div_ceil(2);
    }
    Some(n)
}

fn whole(n: f64) -> Option<u32> {
    (n <= f64::from(MOST_RUNS)).then(|| n.ceil() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_t_test_needs_what_g_power_says() {
        // G*Power 3.1, t tests, matched pairs, two-sided, alpha 0.05, power 0.8: dz = 0.5 needs 34, dz = 1 needs 10. The
        // formula with central t is within two of it.
        assert!((32..=36).contains(&runs_for_t(0.5, 1.0, 0.0, 0.05).unwrap()));
        assert!((9..=12).contains(&runs_for_t(1.0, 1.0, 0.0, 0.05).unwrap()));
    }

    #[test]
    fn a_stricter_level_and_a_smaller_difference_need_more() {
        let n = |centre, level| runs_for_t(centre, 0.3, 0.0, level).unwrap();
        assert!(n(0.1, 0.005) > n(0.1, 0.05) && n(0.05, 0.05) > 3 * n(0.1, 0.05));
        assert_eq!(runs_for_t(1e-6, 0.3, 0.0, 0.05), None);
        // No difference, but a margin: equivalence decides.
        assert!(runs_for_t(0.0, 0.1, 0.05, 0.05).is_some_and(|n| (30..45).contains(&n)));
    }

    #[test]
    fn ranks_need_at_least_what_the_exact_test_can_say() {
        // All of one sign: 2 / 2^n must get below the level.
        assert_eq!(runs_for_ranks(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.05 / 24.0), Some(10));
        assert!(runs_for_ranks(&[1.0, 2.0, 3.0, 4.0, -5.0, 6.0], 0.05).is_some_and(|n| n > 6));
        assert_eq!(runs_for_ranks(&[1.0, -1.0, 2.0, -2.0], 0.05), None);
    }
}

//! What pairs say of a mean, at any time: bets against its possible values (Waudby-Smith and Ramdas, "Estimating means of bounded
//! random variables by betting", J. R. Statist. Soc. B 86 (2024), 1-27).
//!
//! Whoever bets that a mean is above `m`, where it is not, multiplies the stake by `1 / alpha` with a probability of at most
//! `alpha`, however often somebody looks. Nothing is assumed of the values but their bounds.

use serde::Serialize;

/// Part of the capital that one bet may lose.
const STAKE: f64 = 0.75;
/// Means that an interval tells apart, between the bounds.
const STEPS: u32 = 400;

/// Observed values between two bounds.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    low: f64,
    high: f64,
    count: f64,
    sum: f64,
    /// Distances from the mean so far, squared.
    squares: f64,
    margin: Bets,
    grid: Vec<Bets>,
}

/// A mean, and where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mean {
    /// Of the values within their bounds.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Against one possible mean: the logarithms of what the bets were worth at best.
#[derive(Clone, Copy, Debug, Default)]
struct Bets {
    mean: f64,
    above: Capital,
    below: Capital,
}

#[derive(Clone, Copy, Debug, Default)]
struct Capital {
    now: f64,
    best: f64,
}

/// What the values before this one say of it.
struct Guess {
    mean: f64,
    variance: f64,
}

impl Evidence {
    /// Of values from `low` to `high`, for a margin in between.
    pub(crate) fn new(low: f64, high: f64, margin: f64) -> Self {
        let bets = |mean| Bets { mean, ..Bets::default() };
        let mean = |step| low + (high - low) * f64::from(step) / f64::from(STEPS);
        let grid = (0..=STEPS).map(mean).map(bets).collect();
        Self { low, high, count: 0.0, sum: 0.0, squares: 0.0, margin: bets(margin), grid }
    }

    /// One more value; beyond a bound it counts as that bound.
    pub(crate) fn add(&mut self, value: f64) {
        let value = value.clamp(self.low, self.high);
        let half = (self.high - self.low) / 2.0;
        let guess = Guess { mean: self.guess(), variance: (self.squares + half * half) / (self.count + 1.0) };
        for bets in self.grid.iter_mut().chain([&mut self.margin]) {
            let edge = guess.mean - bets.mean;
            bets.above.bet(&guess, edge, value - bets.mean, bets.mean - self.low);
            bets.below.bet(&guess, -edge, bets.mean - value, self.high - bets.mean);
        }
        self.count += 1.0;
        self.sum += value;
        let distance = value - self.guess();
        self.squares += distance * distance;
    }

    /// The mean so far, with one value in the middle that nobody has seen.
    fn guess(&self) -> f64 {
        (self.sum + f64::midpoint(self.low, self.high)) / (self.count + 1.0)
    }

    /// The chance, at most, of such values if the mean is not above the margin.
    pub(crate) fn above(&self) -> f64 {
        libm::exp(-self.margin.above.best)
    }

    /// The same if the mean is not below it.
    pub(crate) fn below(&self) -> f64 {
        libm::exp(-self.margin.below.best)
    }

    /// Where the mean lies: each end is wrong at any time with a chance of `alpha` at most.
    pub(crate) fn mean(&self, alpha: f64) -> Mean {
        let enough = -libm::log(alpha);
        // Outwards, to the nearest mean that has been bet against; the margin's own bets decide the verdict.
        let all = || self.grid.iter().chain([&self.margin]);
        let above = all().filter(|bets| bets.above.best >= enough);
        let below = all().filter(|bets| bets.below.best >= enough);
        let mean = self.sum / self.count.max(1.0);
        let low = above.map(|bets| bets.mean).fold(self.low, f64::max);
        let high = below.map(|bets| bets.mean).fold(self.high, f64::min);
        Mean { mean, low: low.min(mean), high: high.max(mean) }
    }
}

impl Capital {
    /// On `gain`, which is expected to be `edge` and at worst `-most`.
    fn bet(&mut self, guess: &Guess, edge: f64, gain: f64, most: f64) {
        if edge > 0.0 {
            let share = (edge / (guess.variance + edge * edge)).min(STAKE / most);
            self.now += libm::log1p(share * gain);
            self.best = self.best.max(self.now);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    const ALPHA: f64 = 0.05;

    /// How many of `gates` say at some time within 400 values that the mean is above the margin, or below it.
    fn verdicts(gates: u64, draw: impl Fn(&mut Pcg64Mcg) -> f64, margin: f64) -> [usize; 2] {
        let mut found = [0, 0];
        for seed in 0..gates {
            let mut random = Pcg64Mcg::seed_from_u64(seed);
            let mut evidence = Evidence::new(-1.0, 1.0, margin);
            (0..400).for_each(|_| evidence.add(draw(&mut random)));
            found[0] += usize::from(evidence.above() <= ALPHA);
            found[1] += usize::from(evidence.below() <= ALPHA);
        }
        found
    }

    #[test]
    fn a_mean_at_the_margin_is_mistaken_no_more_often_than_said() {
        let even = |random: &mut Pcg64Mcg| random.random_range(-0.2..0.3);
        let rare = |random: &mut Pcg64Mcg| if random.random_bool(0.05) { 1.0 } else { 0.0 };
        for found in [verdicts(400, even, 0.05), verdicts(400, rare, 0.05)] {
            // Twenty of 400 are expected at most; 35 or more of them have a chance below 0.1 %.
            assert!(found.into_iter().all(|found| found < 35), "{found:?}");
        }
    }

    #[test]
    fn what_is_beyond_the_margin_is_found() {
        let worse = |random: &mut Pcg64Mcg| random.random_range(-0.2..0.4);
        assert_eq!(verdicts(100, worse, 0.02), [100, 0]);
        let fine = |random: &mut Pcg64Mcg| random.random_range(-0.2..0.2);
        assert!(verdicts(100, fine, 0.05)[1] > 95);
        assert_eq!(verdicts(10, |_| 0.0, 0.02), [0, 10]);
    }

    #[test]
    fn intervals_narrow_and_hold_the_mean_as_often_as_said() {
        let mut missed = 0;
        for seed in 0..200 {
            let (mut random, mut evidence) = (Pcg64Mcg::seed_from_u64(seed), Evidence::new(-1.0, 1.0, 0.02));
            let mut width = || {
                (0..500).for_each(|_| evidence.add(random.random_range(-0.1..0.3)));
                let found = evidence.mean(ALPHA);
                found.high - found.low
            };
            let (few, more) = (width(), (0..3).map(|_| width()).last().unwrap());
            assert!(more < few && more < 0.06, "{few}, then {more}");
            let found = evidence.mean(ALPHA);
            missed += u32::from(found.low > 0.1 || found.high < 0.1);
        }
        // Twenty of 200 are expected at most: each end may be wrong one time in twenty. 35 or more have a chance below 0.1 %.
        assert!(missed < 35, "{missed}");
    }

    #[test]
    fn a_value_beyond_a_bound_counts_as_the_bound() {
        let (mut one, mut other) = (Evidence::new(-1.0, 1.0, 0.0), Evidence::new(-1.0, 1.0, 0.0));
        one.add(7.0);
        other.add(1.0);
        assert_eq!(one.mean(ALPHA), other.mean(ALPHA));
    }
}

//! What pairs say of a mean, at any time: bets against its possible values (Waudby-Smith and Ramdas, "Estimating means of bounded
//! random variables by betting", J. R. Statist. Soc. B 86 (2024), 1-27).
//!
//! A bet that a mean is above `m`, where it is not, multiplies the stake by `1 / alpha` with a probability of at most
//! `alpha`, however often the result is looked at. Nothing is assumed of the values but their bounds.
//!
//! Values may be of a few strata (paths, or types of access), whose means differ far more than the values of one. A round has one value of each, so that
//! a bet on all of them need not pay for what is between strata: each value is held to a mean of its own, `c`, chosen before the
//! round, and these have the mean `m`. With the share `s` of the stake on each, the stake is multiplied by `1 + s (x - c)` for each
//! value `x`. The values are independent, so the factor to expect is the product of `1 + s (mean of x - c)`: at most 1 if the
//! strata's mean is at most `m`, since a geometric mean is at most an arithmetic one.

use serde::Serialize;

/// Part of the capital that one bet may lose.
const STAKE: f64 = 0.75;
/// Values for which the variance between all values stands before rounds have shown that within strata.
const FEW: f64 = 4.0;
/// Means that an interval tells apart, between the bounds.
const STEPS: u32 = 400;

/// Observed values between two bounds.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    low: f64,
    high: f64,
    count: f64,
    sum: f64,
    /// Distances from the guesses, squared: between values drawn at random, and within strata.
    squares: f64,
    within: f64,
    /// Values of rounds.
    in_rounds: f64,
    strata: Vec<Stratum>,
    margin: Bets,
    grid: Vec<Bets>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Stratum {
    count: f64,
    sum: f64,
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

/// What the values before say of those to come.
struct Guess {
    mean: f64,
    variance: f64,
}

/// Of a round: how far each stratum's mean is from that of all.
struct Round {
    guess: Guess,
    apart: Vec<f64>,
}

impl Evidence {
    /// Of values from `low` to `high`, for a margin in between, of so many strata.
    pub(crate) fn new([low, high]: [f64; 2], margin: f64, strata: usize) -> Self {
        let bets = |mean| Bets { mean, ..Bets::default() };
        let mean = |step| low + (high - low) * f64::from(step) / f64::from(STEPS);
        Self {
            low,
            high,
            count: 0.0,
            sum: 0.0,
            squares: 0.0,
            within: 0.0,
            in_rounds: 0.0,
            strata: vec![Stratum::default(); strata],
            margin: bets(margin),
            grid: (0..=STEPS).map(mean).map(bets).collect(),
        }
    }

    /// One more value, of a stratum drawn at random; beyond a bound it counts as that bound.
    pub(crate) fn add(&mut self, stratum: usize, value: f64) {
        let value = value.clamp(self.low, self.high);
        let guess = self.guess();
        for bets in self.grid.iter_mut().chain([&mut self.margin]) {
            let edge = guess.mean - bets.mean;
            let share = |edge, most| share(edge, guess.variance, most);
            bets.above.bet(share(edge, bets.mean - self.low), [value - bets.mean]);
            bets.below.bet(share(-edge, self.high - bets.mean), [bets.mean - value]);
        }
        self.count += 1.0;
        self.sum += value;
        let distance = value - self.guess().mean;
        self.squares += distance * distance;
        self.strata[stratum].add(value);
    }

    /// A value of each stratum, in their order. The verdict must not be looked at between them.
    pub(crate) fn add_round(&mut self, values: &[f64]) {
        debug_assert_eq!(values.len(), self.strata.len());
        let Round { guess, apart } = self.ahead();
        let values: Vec<f64> = values.iter().map(|value| value.clamp(self.low, self.high)).collect();
        let [least, most] = [f64::min, f64::max].map(|pick| apart.iter().copied().fold(0.0, pick));
        for bets in self.grid.iter_mut().chain([&mut self.margin]) {
            let edge = guess.mean - bets.mean;
            let gains = values.iter().zip(&apart).map(|(value, apart)| value - (bets.mean + apart));
            let share = |edge, most| share(edge, guess.variance, most);
            bets.above.bet(share(edge, bets.mean + most - self.low), gains.clone());
            bets.below.bet(share(-edge, self.high - (bets.mean + least)), gains.map(|gain| -gain));
        }
        for ((value, apart), stratum) in values.iter().zip(&apart).zip(&mut self.strata) {
            let distance = value - (guess.mean + apart);
            self.within += distance * distance;
            self.in_rounds += 1.0;
            self.count += 1.0;
            self.sum += value;
            stratum.add(*value);
        }
    }

    /// What is expected of a value of a stratum drawn at random, with one unseen value in the middle.
    fn guess(&self) -> Guess {
        let half = (self.high - self.low) / 2.0;
        let drawn = self.count - self.in_rounds;
        Guess {
            mean: (self.sum + f64::midpoint(self.low, self.high)) / (self.count + 1.0),
            variance: (self.squares + half * half) / (drawn + 1.0),
        }
    }

    /// What is expected of a round: each stratum's mean from its own values and one of the mean of all.
    fn ahead(&self) -> Round {
        let all = self.guess();
        let means = self.strata.iter().map(|one| (one.sum + all.mean) / (one.count + 1.0));
        let means: Vec<f64> = means.collect();
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        // As wide as between values drawn at random, until rounds tell more.
        let known = self.in_rounds + FEW;
        let variance = (self.within + FEW * all.variance) / known;
        Round { guess: Guess { mean, variance }, apart: means.iter().map(|one| one - mean).collect() }
    }

    /// What a stake of 1 on a mean above the margin is worth now.
    pub(crate) fn stake(&self) -> f64 {
        libm::exp(self.margin.above.now)
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

impl Stratum {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
    }
}

impl Capital {
    /// The same share of what there is on each gain in turn.
    fn bet(&mut self, share: f64, gains: impl IntoIterator<Item = f64>) {
        self.now += gains.into_iter().map(|gain| libm::log1p(share * gain)).sum::<f64>();
        self.best = self.best.max(self.now);
    }
}

/// Of the capital on a gain that is expected to be `edge` with such a variance, and at worst `-most`.
fn share(edge: f64, variance: f64, most: f64) -> f64 {
    if edge > 0.0 { (edge / (variance + edge * edge)).min(STAKE / most) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    const ALPHA: f64 = 0.05;

    /// For the verdict alone.
    fn without_interval(margin: f64, strata: usize) -> Evidence {
        let mut evidence = Evidence::new([-1.0, 1.0], margin, strata);
        evidence.grid.clear();
        evidence
    }

    /// How many of `gates` say at some time within 400 values that the mean is above the margin, or below it.
    fn verdicts(gates: u64, draw: impl Fn(&mut Pcg64Mcg) -> f64, margin: f64) -> [usize; 2] {
        let mut found = [0, 0];
        for seed in 0..gates {
            let mut random = Pcg64Mcg::seed_from_u64(seed);
            let mut evidence = without_interval(margin, 1);
            (0..400).for_each(|_| evidence.add(0, draw(&mut random)));
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
            let (mut random, mut evidence) =
                (Pcg64Mcg::seed_from_u64(seed), Evidence::new([-1.0, 1.0], 0.02, 1));
            let mut width = || {
                (0..500).for_each(|_| evidence.add(0, random.random_range(-0.1..0.3)));
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
        let (mut one, mut other) = (Evidence::new([-1.0, 1.0], 0.0, 1), Evidence::new([-1.0, 1.0], 0.0, 1));
        one.add(0, 7.0);
        other.add(0, 1.0);
        assert_eq!(one.mean(ALPHA), other.mean(ALPHA));
    }

    /// Evidence of twelve paths that differ from one another by far more than a value from the next on the same path: 108 values.
    fn paths(mean: f64, margin: f64, seed: u64, rounds: usize) -> Evidence {
        let (mut random, mut evidence) = (Pcg64Mcg::seed_from_u64(seed), without_interval(margin, 12));
        let of = |path: usize, random: &mut Pcg64Mcg| {
            mean + (path as f64 - 5.5) * 0.1 + random.random_range(-0.02..0.02)
        };
        for _ in 0..12 * (9 - rounds) {
            let path = random.random_range(0..12);
            let value = of(path, &mut random);
            evidence.add(path, value);
        }
        for _ in 0..rounds {
            let round: Vec<f64> = (0..12).map(|path| of(path, &mut random)).collect();
            evidence.add_round(&round);
        }
        evidence
    }

    #[test]
    fn rounds_find_what_lies_between_paths_that_differ_more() {
        let found = |mean, margin, rounds| {
            let all: Vec<Evidence> = (0..20).map(|seed| paths(mean, margin, seed, rounds)).collect();
            let count = |of: fn(&Evidence) -> f64| all.iter().filter(|one| of(one) <= ALPHA).count();
            [count(Evidence::above), count(Evidence::below)]
        };
        let [in_rounds, passed] = found(0.13, 0.05, 8);
        assert!(in_rounds >= 16 && passed == 0, "{in_rounds} of 20, and {passed}");
        assert_eq!(found(-0.05, 0.05, 8), [0, 20]);
        let [drawn, _] = found(0.13, 0.05, 0);
        assert!(drawn + 5 <= in_rounds, "with as many draws {drawn} of 20, with rounds {in_rounds}");
    }

    #[test]
    fn rounds_at_the_margin_are_mistaken_no_more_often_than_said() {
        let noisy = |seed: u64| {
            let (mut random, mut evidence) = (Pcg64Mcg::seed_from_u64(seed), without_interval(0.05, 3));
            for _ in 0..60 {
                let round = [0.3, 0.0, -0.15].map(|mean| mean + random.random_range(-0.3..0.3));
                evidence.add_round(&round);
            }
            [evidence.above() <= ALPHA, evidence.below() <= ALPHA]
        };
        let found: Vec<[bool; 2]> = (0..400).map(noisy).collect();
        for side in [0, 1] {
            let mistaken = found.iter().filter(|found| found[side]).count();
            // Twenty of 400 are expected at most; 35 or more of them have a chance below 0.1 %.
            assert!(mistaken < 35, "{mistaken}");
        }
    }
}

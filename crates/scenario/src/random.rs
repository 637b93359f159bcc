//! Independent streams of random numbers, one per purpose.
//!
//! What one purpose draws never shifts what another sees. Two runs with the same seed therefore meet the same
//! arrivals, sizes and link noise whatever their algorithms do (common random numbers). Distributions are inverse
//! transforms through `libm`, so that every machine draws the same bits.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Purpose of a stream.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    /// Everything random inside a link.
    Link = 1,
    /// Start of an explicit flow.
    Start,
    /// Times between arrivals.
    Arrival,
    /// Sizes of transfers.
    Size,
    /// Pair of nodes that a flow joins.
    Pair,
    /// Choice between the compared algorithm and the other for a flow.
    Arm,
    /// Think times of web sessions.
    Think,
    /// Phase of a connection's clock within a tick.
    Clock,
    /// Round-trip times of drawn flows.
    RoundTrip,
}

/// A seed that differs for every (`seed`, `purpose`, `index`).
fn derive(seed: u64, purpose: Purpose, index: u64) -> u64 {
    mix(mix(mix(seed) ^ purpose as u64) ^ index)
}

/// Seed of [`rampcc_path::Link`] number `link` of a scenario in the run with this seed.
///
/// Every backend seeds its links so, and they make the same noise.
pub fn link_seed(seed: u64, link: usize) -> u64 {
    derive(seed, Purpose::Link, link as u64)
}

/// One stream.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64Mcg);

impl Stream {
    /// The numbers for this purpose of the flow, link or generator `index` in the run with this seed.
    pub fn new(seed: u64, purpose: Purpose, index: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(derive(seed, purpose, index)))
    }

    /// Uniform in `[0, 1)`, 53 bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in `0..n`; 0 for `n` = 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Exponential with this mean.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }

    /// Pareto.
    #[inline]
    pub fn pareto(&mut self, pareto: &Pareto) -> f64 {
        pareto.smallest * libm::pow(1.0 - self.uniform() * pareto.within, -1.0 / pareto.shape)
    }

    /// Lognormal: `sigma` is the standard deviation of the logarithm.
    pub fn lognormal(&mut self, median: f64, sigma: f64) -> f64 {
        // Box & Muller 1958.
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        let normal = radius * libm::cos(std::f64::consts::TAU * self.uniform());
        median * libm::exp(sigma * normal)
    }
}

/// A Pareto distribution, cut off at its largest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pareto {
    smallest: f64,
    shape: f64,
    /// Share of the whole distribution that lies below the largest value.
    within: f64,
}

impl Pareto {
    /// With this mean, a tail index > 1, and a largest value above the mean; it may be infinite.
    pub fn new(mean: f64, shape: f64, largest: f64) -> Self {
        let whole = Self { smallest: mean * (shape - 1.0) / shape, shape, within: 1.0 };
        if largest == f64::INFINITY {
            return whole;
        }
        // What is cut off is made up for by a larger smallest value; the mean grows with it.
        let (mut low, mut high) = (whole.smallest, mean);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if cut_mean(middle, shape, largest) < mean { low = middle } else { high = middle }
        }
        Self { smallest: low, shape, within: 1.0 - libm::pow(low / largest, shape) }
    }
}

/// The mean of a Pareto distribution from `smallest` to `largest`.
fn cut_mean(smallest: f64, shape: f64, largest: f64) -> f64 {
    let ratio = smallest / largest;
    let whole = smallest * shape / (shape - 1.0);
    whole * (1.0 - libm::pow(ratio, shape - 1.0)) / (1.0 - libm::pow(ratio, shape))
}

/// One step of `SplitMix64` (Steele, Lea & Flood 2014).
pub(crate) fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(n: u32, mut draw: impl FnMut() -> f64) -> f64 {
        (0..n).map(|_| draw()).sum::<f64>() / f64::from(n)
    }

    #[test]
    fn distributions_have_the_stated_means() {
        let mut stream = Stream::new(1, Purpose::Size, 0);
        assert!((mean(200_000, || stream.uniform()) - 0.5).abs() < 0.005);
        assert!((mean(200_000, || stream.exponential(40.0)) - 40.0).abs() < 0.5);
        let whole = Pareto::new(40.0, 2.5, f64::INFINITY);
        assert!((mean(200_000, || stream.pareto(&whole)) - 40.0).abs() < 1.0);
        // A tail this heavy has no variance, and its mean shows only once it is cut off.
        let cut = Pareto::new(40.0, 1.2, 4000.0);
        let mut largest = 0.0_f64;
        let found = mean(200_000, || {
            let value = stream.pareto(&cut);
            largest = largest.max(value);
            value
        });
        assert!((found - 40.0).abs() < 1.0, "{found}");
        assert!(largest <= 4000.0 && largest > 3600.0, "{largest}");
        assert!((mean(200_000, || stream.below(10) as f64) - 4.5).abs() < 0.05);
    }

    #[test]
    fn lognormal_draws_have_their_median_and_spread() {
        let mut stream = Stream::new(1, Purpose::RoundTrip, 0);
        let mut draws: Vec<f64> = (0..100_000).map(|_| stream.lognormal(80.0, 0.7)).collect();
        draws.sort_by(f64::total_cmp);
        // The 16th, 50th and 84th percentiles are one sigma apart in the logarithm.
        for (rank, expected) in [(15_866, 80.0 / 2.013_75), (50_000, 80.0), (84_134, 80.0 * 2.013_75)] {
            assert!((draws[rank] / expected - 1.0).abs() < 0.02, "{} at {rank}", draws[rank]);
        }
        let variance = mean(100_000, || {
            let logarithm = libm::log(stream.lognormal(80.0, 0.7) / 80.0);
            logarithm * logarithm
        });
        assert!((variance - 0.49).abs() < 0.01, "{variance}");
    }

    #[test]
    fn purposes_and_indices_do_not_share_numbers() {
        let first = |purpose, index| Stream::new(7, purpose, index).uniform().to_bits();
        assert_ne!(first(Purpose::Size, 0), first(Purpose::Arrival, 0));
        assert_ne!(first(Purpose::Size, 0), first(Purpose::Size, 1));
        assert_eq!(first(Purpose::Size, 0), first(Purpose::Size, 0));
    }
}

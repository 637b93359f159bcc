//! Random streams: one per seed and purpose, so that what one part draws never moves another.

use rand_pcg::rand_core::Rng as _;
use rand_pcg::{Pcg64, Pcg64Mcg};

/// What a stream is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Loss,
    Queue,
    Reordering,
    /// The n-th part of a sum.
    Jitter(u32),
}

impl Purpose {
    fn number(self) -> u64 {
        match self {
            Self::Loss => 1,
            Self::Queue => 2,
            Self::Reordering => 3,
            Self::Jitter(part) => 16 + u64::from(part),
        }
    }
}

/// Draws in a row.
#[derive(Clone, Debug)]
pub(crate) struct Stream(Pcg64Mcg);

impl Stream {
    pub(crate) fn new(seed: u64, purpose: Purpose) -> Self {
        Self(Pcg64Mcg::new(key(seed, purpose)))
    }

    #[inline]
    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    #[inline]
    pub(crate) fn happens(&mut self, chance: Chance) -> bool {
        self.bits() >> 11 < chance.0
    }
}

/// Draws by number: the n-th is the same whichever were asked for before.
#[derive(Clone, Debug)]
pub(crate) struct Numbered(Pcg64);

impl Numbered {
    pub(crate) fn new(seed: u64, purpose: Purpose) -> Self {
        Self(Pcg64::new(key(seed, purpose), u128::from(purpose.number())))
    }

    /// Two independent draws.
    pub(crate) fn pair(&self, number: u64) -> (u64, u64) {
        let mut generator = self.0.clone();
        generator.advance(u128::from(number) * 2);
        (generator.next_u64(), generator.next_u64())
    }

    /// Two draws, and two others the next time: cheaper than asking by number.
    pub(crate) fn next_pair(&mut self) -> (u64, u64) {
        (self.0.next_u64(), self.0.next_u64())
    }
}

/// A probability with 53 bits, so that 0 never and 1 always happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    /// Values outside `[0, 1]` are clamped; NaN is 0.
    pub(crate) fn new(probability: f64) -> Self {
        Self((probability.clamp(0.0, 1.0) * TWO_TO_53) as u64)
    }
}

const TWO_TO_53: f64 = 9_007_199_254_740_992.0;

/// Uniform in `[0, 1)`.
pub(crate) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / TWO_TO_53
}

/// Uniform in `[0, max]`.
pub(crate) fn up_to(bits: u64, max: u64) -> u64 {
    ((u128::from(bits) * (u128::from(max) + 1)) >> 64) as u64
}

/// Neighbouring seeds and purposes must not give neighbouring states.
fn key(seed: u64, purpose: Purpose) -> u128 {
    let high = mix(seed ^ mix(purpose.number()));
    u128::from(high) << 64 | u128::from(mix(high))
}

/// The finaliser of `SplitMix64` (Steele, Lea & Flood 2014).
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certain_and_impossible_are_exact() {
        let mut stream = Stream::new(1, Purpose::Loss);
        for _ in 0..10_000 {
            assert!(stream.happens(Chance::new(1.0)));
            assert!(!stream.happens(Chance::new(0.0)));
            assert!(!stream.happens(Chance::new(f64::NAN)));
        }
    }

    #[test]
    fn numbered_draws_do_not_depend_on_their_order() {
        let draws = Numbered::new(7, Purpose::Jitter(0));
        let later = draws.pair(1_000_000);
        let first = draws.pair(0);
        assert_ne!(later, first);
        assert_ne!(first.1, draws.pair(1).0, "pairs do not overlap");
        assert_eq!(draws.pair(1_000_000), later);
        let mut in_a_row = Numbered::new(7, Purpose::Jitter(0));
        for number in 0..9 {
            assert_eq!(in_a_row.next_pair(), draws.pair(number));
        }
        assert_ne!(Numbered::new(8, Purpose::Jitter(0)).pair(0), first);
        assert_ne!(Numbered::new(7, Purpose::Jitter(1)).pair(0), first);
    }

    #[test]
    fn neighbouring_seeds_give_unrelated_draws() {
        let mean = (0..10_000).map(|seed| unit(Stream::new(seed, Purpose::Queue).bits())).sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
    }

    #[test]
    fn up_to_reaches_both_ends() {
        assert_eq!(up_to(0, 9), 0);
        assert_eq!(up_to(u64::MAX, 9), 9);
        assert_eq!(up_to(u64::MAX, u64::MAX), u64::MAX);
        assert_eq!(up_to(u64::MAX, 0), 0);
    }
}

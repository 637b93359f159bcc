//! A policer: a token bucket at the entry of a link that drops what finds no tokens, and delays nothing.

use rampcc::{Rate, Time};

#[derive(Clone, Debug)]
pub(super) struct Policer {
    bits_per_s: u64,
    /// Tokens, in bits over 10^9, so that a nanosecond brings a whole number of them.
    most: u128,
    level: u128,
    at: Time,
}

impl Policer {
    /// The bucket is full at first.
    pub(super) fn new(rate: Rate, burst_bytes: u64) -> Self {
        let most = u128::from(burst_bytes) * 8 * 1_000_000_000;
        Self { bits_per_s: rate.bits_per_s(), most, level: most, at: Time::ZERO }
    }

    /// Whether a packet may pass; its tokens are taken if so. `now` must not go back.
    pub(super) fn passes(&mut self, now: Time, bytes: u32) -> bool {
        let came = u128::from(now.ns().saturating_sub(self.at.ns())) * u128::from(self.bits_per_s);
        self.level = self.most.min(self.level + came);
        self.at = now;
        let cost = u128::from(bytes) * 8 * 1_000_000_000;
        let passes = cost <= self.level;
        if passes {
            self.level -= cost;
        }
        passes
    }
}

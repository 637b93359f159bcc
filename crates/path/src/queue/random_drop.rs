//! Random drops above a level: what the GEO operator of the BEST paper does.
//!
//! The level is compared with what waits at the instant of arrival, not with an average; draws are independent.

use crate::random::{Chance, Purpose, Stream};

#[derive(Clone, Debug)]
pub(super) struct RandomDrop {
    above_bytes: u64,
    chance: Chance,
    stream: Stream,
}

impl RandomDrop {
    pub(super) fn new(above_bytes: u64, probability: f64, seed: u64) -> Self {
        Self { above_bytes, chance: Chance::new(probability), stream: Stream::new(seed, Purpose::Queue) }
    }

    pub(super) fn drops(&mut self, waiting_bytes: u64) -> bool {
        waiting_bytes > self.above_bytes && self.stream.happens(self.chance)
    }
}

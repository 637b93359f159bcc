//! What both versions of BBR keep of a path.

use rampcc::Time;

/// One ACK that delivered something, as a control by rate sees it. Bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivered {
    /// Its arrival.
    pub now: Time,
    /// Payload bytes of a full packet.
    pub mss: u64,
    /// Newly acknowledged.
    pub acked: u64,
    /// Ever, this ACK included.
    pub delivered: u64,
    /// What `delivered` was when the newest acknowledged packet left.
    pub prior_delivered: u64,
    /// Bytes per second; 0: no sample.
    pub rate: u64,
    /// The sample holds pauses of the application.
    pub paused: bool,
    /// Sample of this ACK.
    pub rtt: Option<Time>,
    /// In flight before the ACK.
    pub before: u64,
    /// In flight after it.
    pub in_flight: u64,
    /// Ever believed lost.
    pub lost: u64,
    /// Believed lost since the newest acknowledged packet left.
    pub lost_since: u64,
    /// In flight just after that packet had left.
    pub sent_into: u64,
    /// The window holds the sender back.
    pub limited: bool,
    /// Progress of start-up.
    pub startup: Startup,
    /// When the pacer lets the next packet go.
    pub departure: Time,
    /// Nothing is being repaired.
    pub open: bool,
}

/// How far the start-up algorithm is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Startup {
    /// It lasts.
    #[default]
    Rising,
    /// It has left, and may be draining.
    Left {
        /// Because of losses.
        lossy: bool,
    },
}

/// A packet that is believed lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Its payload.
    pub bytes: u64,
    /// In flight just after it had left.
    pub sent_into: u64,
    /// Believed lost since then, itself included.
    pub since: u64,
    /// Sent with nothing more to send.
    pub paused: bool,
}

/// Rounds as packets count them: one ends when something sent after its beginning is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    pub(crate) count: u64,
    end: u64,
    /// Whether the last ACK was the first of a round.
    pub(crate) began: bool,
}

impl Rounds {
    pub(crate) fn start(&mut self, delivered: u64) {
        self.end = delivered;
    }

    pub(crate) fn advance(&mut self, ack: &Delivered) -> bool {
        self.began = ack.prior_delivered >= self.end;
        if self.began {
            self.end = ack.delivered;
            self.count += 1;
        }
        self.began
    }
}

/// The largest value of the last so many counts of a clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct LargestOf {
    best: Vec<(u64, u64)>,
}

impl LargestOf {
    pub(crate) fn value(&self) -> u64 {
        self.best.first().map_or(0, |(_, value)| *value)
    }

    /// Takes `value` at `now`, and forgets what is more than `span` older. Values fall along the list.
    pub(crate) fn add(&mut self, now: u64, span: u64, value: u64) {
        self.best.retain(|(at, best)| at + span >= now && *best > value);
        self.best.push((now, value));
    }

    pub(crate) fn expire(&mut self, now: u64, span: u64) {
        let old = self.best.iter().take_while(|(at, _)| at + span < now).count();
        self.best.drain(..old.min(self.best.len().saturating_sub(1)));
    }
}

/// `rate * time`, bytes.
pub(crate) fn volume(rate: u64, time: Time) -> u64 {
    saturated(u128::from(rate) * u128::from(time.ns()) / 1_000_000_000)
}

/// A factor in whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ratio {
    pub(crate) numerator: u64,
    pub(crate) denominator: u64,
}

impl Ratio {
    pub(crate) const ONE: Self = Self::of(1, 1);

    pub(crate) const fn of(numerator: u64, denominator: u64) -> Self {
        Self { numerator, denominator }
    }

    /// Rounded down.
    pub(crate) fn times(self, value: u64) -> u64 {
        saturated(u128::from(value) * u128::from(self.numerator) / u128::from(self.denominator))
    }
}

fn saturated(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// A number from 0 below `below` that depends on all of what is given (`SplitMix64`): sources draw it at random.
pub(crate) fn drawn(from: [u64; 2], below: u64) -> u64 {
    let mut x = from[0].wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(from[1]);
    for factor in [0xbf58_476d_1ce4_e5b9_u64, 0x94d0_49bb_1331_11eb] {
        x = (x ^ (x >> 30)).wrapping_mul(factor);
    }
    (x ^ (x >> 31)) % below.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_a_window_of_rounds() {
        let mut largest = LargestOf::default();
        let mut seen = vec![];
        for (round, value) in [9, 5, 7, 3, 2, 1].into_iter().enumerate() {
            largest.add(round as u64, 2, value);
            seen.push(largest.value());
        }
        assert_eq!(seen, [9, 9, 9, 7, 7, 3]);
        largest.expire(8, 2);
        assert_eq!(largest.value(), 1, "the last one stays where there is no other");
        assert_eq!(volume(1_000_000, Time::from_ms(20)), 20_000);
        assert_eq!(Ratio::of(5, 4).times(1000), 1250);
    }

    #[test]
    fn what_is_drawn_covers_its_range() {
        let seen: std::collections::BTreeSet<u64> = (0..100).map(|i| drawn([3, i], 7)).collect();
        assert_eq!(seen.len(), 7);
    }
}

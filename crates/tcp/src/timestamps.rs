//! The clock that a receiver's timestamps show.

use rampcc::Time;

/// `TSval` of one connection (RFC 7323).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timestamps {
    tick_ns: u64,
    start: u32,
}

impl Timestamps {
    /// A clock that ticks this often, and not at all if `tick` is 0. Hosts begin each connection's at another number
    /// (RFC 7323 §7.1); here it follows from the connection's.
    pub(crate) fn new(flow: u32, tick: Time) -> Self {
        Self { tick_ns: tick.ns(), start: flow.wrapping_add(1).wrapping_mul(0x9e37_79b9) }
    }

    /// What a segment that leaves now shows; 0: it has no timestamp.
    #[inline]
    pub(crate) fn at(self, now: Time) -> u32 {
        match now.ns().checked_div(self.tick_ns) {
            Some(ticks) => self.start.wrapping_add(ticks as u32).max(1),
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_counted_from_a_start_of_the_connections_own_and_wrap() {
        let clock = Timestamps::new(0, Time::from_ms(10));
        let start = clock.at(Time::ZERO);
        assert_ne!(start, 0);
        assert_eq!(clock.at(Time::from_ms(9)), start);
        assert_eq!(clock.at(Time::from_ms(10)), start + 1);
        assert_eq!(clock.at(Time::from_ms(10 << 32)), start);
        assert_ne!(Timestamps::new(1, Time::from_ms(10)).at(Time::ZERO), start);
    }

    #[test]
    fn nothing_is_shown_without_a_clock_and_never_zero_with_one() {
        assert_eq!(Timestamps::new(0, Time::ZERO).at(Time::from_ms(5)), 0);
        let clock = Timestamps { tick_ns: 1_000_000, start: u32::MAX };
        assert_eq!(clock.at(Time::from_ms(1)), 1);
    }
}

//! Round-trip time (RFC 9002 §5).

use rampcc::Time;

/// Longest delay of an ACK that a peer may have (RFC 9000 §18.2).
const MAX_ACK_DELAY: Time = Time::from_ms(25);
const GRANULARITY: Time = Time::from_ms(1);

/// What is known of the path's round-trip time. The receiver's delay is part of every sample.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rtt {
    /// Zero: no sample yet.
    pub(crate) smoothed: Time,
    variation: Time,
    /// Zero: no sample yet.
    pub(crate) min: Time,
}

impl Rtt {
    pub(crate) fn on_sample(&mut self, rtt: Time) {
        if self.smoothed == Time::ZERO {
            *self = Self { smoothed: rtt, variation: Time::from_ns(rtt.ns() / 2), min: rtt };
            return;
        }
        self.min = self.min.min(rtt);
        let part = |time: Time, of: u64| Time::from_ns(time.ns() / of);
        let away = self.smoothed.max(rtt) - self.smoothed.min(rtt);
        self.variation = self.variation - part(self.variation, 4) + part(away, 4);
        self.smoothed = self.smoothed - part(self.smoothed, 8) + part(rtt, 8);
    }

    /// Smallest sample; [`Time::NEVER`]: none.
    pub(crate) fn min_or_never(&self) -> Time {
        if self.min == Time::ZERO { Time::NEVER } else { self.min }
    }

    pub(crate) fn probe_timeout(&self) -> Time {
        let variation = Time::from_ns(self.variation.ns().saturating_mul(4)).max(GRANULARITY);
        self.smoothed + variation + MAX_ACK_DELAY
    }
}

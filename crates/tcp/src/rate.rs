//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation).

use rampcc::Time;

use crate::record::Record;

/// Measures how fast the path delivers, over each flight.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateSampler {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    /// Until so much is delivered, samples are limited by the application; 0: they are not.
    app_limited_until: u64,
}

impl RateSampler {
    /// Bytes ever delivered.
    #[inline]
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    #[inline]
    pub(crate) fn app_limited(&self) -> bool {
        self.app_limited_until != 0
    }

    /// Stamps a record that leaves now. `idle`: nothing was in flight.
    #[inline]
    pub(crate) fn stamp(&mut self, now: Time, idle: bool, record: &mut Record) {
        if idle {
            self.first_sent = now;
            self.delivered_at = now;
        }
        record.first_sent = self.first_sent;
        record.delivered = self.delivered;
        record.delivered_at = self.delivered_at;
    }

    /// The sender has nothing more to send while the window would allow it.
    pub(crate) fn on_app_limited(&mut self, in_flight: u64) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// `bytes` were delivered; `newest` is the segment among them that was sent last.
    #[inline]
    pub(crate) fn on_delivered(&mut self, now: Time, bytes: u64, newest: &Record) {
        self.delivered += bytes;
        self.delivered_at = now;
        self.first_sent = newest.sent;
        if self.app_limited_until != 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
    }

    /// Bytes per second since `newest` left, after `on_delivered`; 0: no sample.
    #[inline]
    pub(crate) fn sample(&self, newest: &Record, min_rtt: Time) -> u64 {
        let send_elapsed = newest.sent - newest.first_sent;
        let ack_elapsed = self.delivered_at - newest.delivered_at;
        let interval = send_elapsed.max(ack_elapsed);
        // Shorter than the shortest round trip: ACKs were compressed beyond what the path can do.
        if interval == Time::ZERO || (min_rtt != Time::NEVER && interval < min_rtt) {
            return 0;
        }
        let bytes = self.delivered - newest.delivered;
        match bytes.checked_mul(1_000_000_000) {
            Some(n) => n / interval.ns(),
            None => u64::try_from(u128::from(bytes) * 1_000_000_000 / u128::from(interval.ns()))
                .unwrap_or(u64::MAX),
        }
    }
}

//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation).

use rampcc::Time;

/// What the sampler must find again when a packet is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamp {
    /// When it was sent.
    pub sent: Time,
    /// When the flight that it belongs to began.
    pub first_sent: Time,
    /// Bytes delivered when it left.
    pub delivered: u64,
    /// When that was.
    pub delivered_at: Time,
}

/// Measures how fast the path delivers, over each flight.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateSampler {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    /// Until so much is delivered, samples are limited by the application; 0: they are not.
    app_limited_until: u64,
}

impl RateSampler {
    /// Bytes ever delivered.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// The packets that leave now are sent by an application that does not fill the window.
    #[inline]
    pub fn app_limited(&self) -> bool {
        self.app_limited_until != 0
    }

    /// The stamp of a packet that leaves now. `idle`: nothing was in flight.
    #[inline]
    pub fn stamp(&mut self, now: Time, idle: bool) -> Stamp {
        if idle {
            self.first_sent = now;
            self.delivered_at = now;
        }
        Stamp {
            sent: now,
            first_sent: self.first_sent,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
        }
    }

    /// The sender has nothing more to send while the window would allow it.
    pub fn on_app_limited(&mut self, in_flight: u64) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// `bytes` were delivered; the packet among them that was sent last left at `newest_sent`.
    #[inline]
    pub fn on_delivered(&mut self, now: Time, bytes: u64, newest_sent: Time) {
        self.delivered += bytes;
        self.delivered_at = now;
        self.first_sent = newest_sent;
        if self.app_limited_until != 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
    }

    /// Bytes per second since the packet stamped `newest` left, after `on_delivered`; 0: no sample.
    #[inline]
    pub fn sample(&self, newest: &Stamp, min_rtt: Time) -> u64 {
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

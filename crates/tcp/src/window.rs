//! The receive window (Linux dynamic right-sizing: `tcp_rcv_space_adjust`).

use ramp::Time;

use crate::ReceiveWindow;

/// What a receiver advertises.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Advertised {
    window: u64,
    max: u64,
    /// Of the running round: when and at how many received bytes it began, and the last round's bytes.
    round_start: Time,
    round_bytes: u64,
    last_round: u64,
}

impl Advertised {
    pub(crate) fn new(config: ReceiveWindow) -> Self {
        let (window, max) = match config {
            ReceiveWindow::Unlimited => (u64::MAX, 0),
            ReceiveWindow::Fixed(bytes) => (bytes, 0),
            ReceiveWindow::Autotuned { initial, max } => (initial, max),
        };
        Self { window, max, round_start: Time::ZERO, round_bytes: 0, last_round: 0 }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.window
    }

    /// Data arrived in order; `received` in all.
    #[inline]
    pub(crate) fn on_received(&mut self, now: Time, received: u64, rtt: Time, mss: u64) {
        if self.window < self.max {
            self.tune(now, received, rtt, mss);
        }
    }

    /// Once per round trip: room for twice what was delivered in it, more if that grows.
    fn tune(&mut self, now: Time, received: u64, rtt: Time, mss: u64) {
        if self.round_start == Time::ZERO {
            self.round_start = now;
            self.round_bytes = received;
            return;
        }
        if rtt == Time::ZERO || now - self.round_start < rtt {
            return;
        }
        let copied = received - self.round_bytes;
        if copied > self.last_round {
            let base = copied.saturating_mul(2).saturating_add(16 * mss);
            let growth = if self.last_round == 0 {
                0
            } else {
                let grown =
                    u128::from(base) * u128::from(copied - self.last_round) / u128::from(self.last_round);
                u64::try_from(grown).unwrap_or(u64::MAX).saturating_mul(2)
            };
            self.window = self.window.max(base.saturating_add(growth).min(self.max));
            self.last_round = copied;
        }
        self.round_start = now;
        self.round_bytes = received;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_to_twice_what_a_round_trip_delivers_and_never_beyond_its_maximum() {
        let mut advertised = Advertised::new(ReceiveWindow::Autotuned { initial: 65_536, max: 500_000 });
        let rtt = Time::from_ms(100);
        let mut received = 0;
        let mut seen = vec![];
        for round in 1..=8u64 {
            advertised.on_received(Time::from_ms(100 * round), received, rtt, 1000);
            seen.push(advertised.bytes());
            received += 20_000 << round.min(5);
        }
        assert_eq!(seen[0], 65_536);
        assert_eq!(seen[1], 2 * 40_000 + 16_000);
        assert!(seen.windows(2).all(|w| w[0] <= w[1]));
        assert_eq!(seen[7], 500_000);
    }

    #[test]
    fn a_fixed_window_stays() {
        let mut advertised = Advertised::new(ReceiveWindow::Fixed(1000));
        advertised.on_received(Time::from_secs(1), 1 << 40, Time::from_ms(1), 1000);
        assert_eq!(advertised.bytes(), 1000);
    }
}

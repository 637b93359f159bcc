//! RFC 5681 §3.1, counting bytes (RFC 3465): one MSS for each window acknowledged.

use crate::growth::Growth;

/// Adds one MSS when a whole window has been acknowledged, so that nothing is lost to rounding.
#[derive(Clone, Debug, Default)]
pub struct Reno {
    counted: u64,
    /// With every ACK adds its share instead, as ns-2 does; `counted` then holds what the window has beyond its whole
    /// bytes, in 2^-32 bytes, since ns-2's windows are real numbers.
    fine: bool,
}

impl Reno {
    pub(crate) fn new(fine: bool) -> Self {
        Self { counted: 0, fine }
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, growth: &Growth) -> u64 {
        if self.fine {
            let cwnd = (u128::from(growth.cwnd.max(1)) << 32) + u128::from(self.counted);
            let share = ((u128::from(growth.acked) * u128::from(growth.mss)) << 64) / cwnd;
            let grown = cwnd + share;
            self.counted = (grown & u128::from(u32::MAX)) as u64;
            return u64::try_from(grown >> 32).unwrap_or(u64::MAX);
        }
        self.count(growth, growth.cwnd)
    }

    /// One MSS for every `window` bytes acknowledged.
    #[inline]
    pub(crate) fn count(&mut self, growth: &Growth, window: u64) -> u64 {
        self.counted += growth.acked;
        if self.counted < window {
            return growth.cwnd;
        }
        // After a fall of the window, what was counted towards the larger one may be worth several steps.
        let steps = self.counted / window.max(1);
        self.counted -= steps * window;
        growth.cwnd.saturating_add(steps.saturating_mul(growth.mss))
    }

    pub(crate) fn on_loss(&mut self, flight: u64) -> u64 {
        self.counted = if self.fine { self.counted.midpoint((flight & 1) << 32) } else { 0 };
        flight / 2
    }

    pub(crate) fn reset(&mut self) {
        self.counted = 0;
    }
}

#[cfg(test)]
mod tests {
    use rampcc::Time;

    use super::*;

    #[test]
    fn adds_one_segment_per_window_however_large() {
        let mss = 1448;
        for packets in [1u64, 2, 10, 1_000_000] {
            let mut reno = Reno::default();
            let start = packets * mss;
            let mut cwnd = start;
            let acks = packets;
            for _ in 0..acks {
                let growth = Growth { cwnd, acked: mss, mss, min_rtt: Time::NEVER, ..Growth::default() };
                cwnd = reno.on_ack(&growth);
            }
            assert_eq!(cwnd, start + mss, "from {packets} packets");
        }
    }

    #[test]
    fn adds_a_share_with_every_ack_as_ns2_does() {
        let mut reno = Reno::new(true);
        let mut cwnd = 10_000;
        let mut ns2 = 10.0_f64;
        for _ in 0..100 {
            ns2 += 1.0 / ns2;
            cwnd = reno.on_ack(&Growth {
                cwnd,
                acked: 1000,
                mss: 1000,
                min_rtt: Time::NEVER,
                ..Growth::default()
            });
        }
        assert!((cwnd as f64 / 1000.0 - ns2).abs() < 0.01, "{cwnd}, {ns2}");
    }
}

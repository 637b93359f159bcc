//! RFC 5681 §3.1, counting bytes (RFC 3465): one MSS for each window acknowledged.

use super::Growth;

/// Adds one MSS when a whole window has been acknowledged, so that nothing is lost to rounding.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reno {
    counted: u64,
}

impl Reno {
    #[inline]
    pub(crate) fn on_ack(&mut self, growth: &Growth) -> u64 {
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
        self.counted = 0;
        flight / 2
    }

    pub(crate) fn reset(&mut self) {
        self.counted = 0;
    }
}

#[cfg(test)]
mod tests {
    use ramp::Time;

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
                let growth = Growth {
                    now: Time::ZERO,
                    cwnd,
                    acked: mss,
                    mss,
                    min_rtt: Time::NEVER,
                    rtt: None,
                    una: 0,
                    next: 0,
                };
                cwnd = reno.on_ack(&growth);
            }
            assert_eq!(cwnd, start + mss, "from {packets} packets");
        }
    }
}

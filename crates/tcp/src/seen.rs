//! What of a connection its host may remember for the next one to the same place.

use rampcc::{Hint, Seen};

/// The last rate sample, kept as Linux keeps `rate_delivered`: a lower one that the application limited says nothing new.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastRate {
    pub(crate) bytes_per_s: u64,
    pub(crate) app_limited: bool,
}

impl LastRate {
    pub(crate) fn take(&mut self, bytes_per_s: u64, app_limited: bool) {
        if bytes_per_s != 0 && (!app_limited || bytes_per_s >= self.bytes_per_s) {
            *self = Self { bytes_per_s, app_limited };
        }
    }
}

/// The hint that the connection got of earlier ones, and whether that was too much.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Remembered {
    hint: Hint,
    congested: bool,
}

impl Remembered {
    pub(crate) fn of(hint: Hint) -> Self {
        Self { hint, congested: false }
    }

    /// Congestion is about to be reported, after `delivered` bytes.
    pub(crate) fn doubt(&mut self, initial_window: u64, delivered: u64) {
        self.congested |= self.hint.is_unvalidated(initial_window, delivered);
    }

    pub(crate) fn flags(&self) -> u32 {
        let told = self.hint.source() == rampcc::HintSource::History;
        u32::from(told) * Seen::TOLD + u32::from(self.congested) * Seen::CONGESTED
    }
}

#[cfg(test)]
mod tests {
    use super::LastRate;

    #[test]
    fn an_application_that_paused_lowers_nothing() {
        let mut last = LastRate::default();
        for (rate, app_limited, kept) in [
            (100, true, 100),
            (80, true, 100),
            (90, false, 90),
            (0, false, 90),
            (95, true, 95),
            (50, false, 50),
        ] {
            last.take(rate, app_limited);
            assert_eq!(last.bytes_per_s, kept, "{rate}");
        }
    }
}

//! When a receiver acknowledges data that arrive in order.

use ramp::Time;

use crate::AckPolicy;

/// Counts segments towards the next ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckClock {
    policy: AckPolicy,
    pending: u32,
    /// Linux: ACKs still to be sent at once.
    quick: u32,
    deadline: Time,
}

impl AckClock {
    pub(crate) fn new(policy: AckPolicy) -> Self {
        let quick = if let AckPolicy::Linux { quick, .. } = policy { quick } else { 0 };
        Self { policy, pending: 0, quick, deadline: Time::NEVER }
    }

    /// Linux: at most half the window's worth of segments, but at least two, are acknowledged at once.
    pub(crate) fn limit_quick(&mut self, window_segments: u64) {
        if let AckPolicy::Linux { quick, .. } = self.policy {
            self.quick = quick.min(u32::try_from(window_segments / 2).unwrap_or(u32::MAX)).max(2.min(quick));
        }
    }

    /// When an ACK is due at the latest; `Time::NEVER`: none is owed.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.deadline
    }

    /// A segment arrived in order. Returns whether to acknowledge now.
    #[inline]
    pub(crate) fn on_segment(&mut self, now: Time) -> bool {
        let (every, timer) = match self.policy {
            AckPolicy::Quick => return true,
            AckPolicy::Delayed { every, timer } => (every, timer),
            AckPolicy::Linux { timer, .. } => {
                if self.quick > 0 {
                    return true;
                }
                (2, timer)
            }
        };
        self.pending += 1;
        if self.pending >= every {
            return true;
        }
        if self.pending == 1 {
            self.deadline = now + timer;
        }
        false
    }

    /// The window grew: Linux acknowledges at once as long as it does.
    #[inline]
    pub(crate) fn on_growth(&mut self) {
        if let AckPolicy::Linux { quick: 1.., .. } = self.policy {
            self.quick |= 1;
        }
    }

    /// Data arrived out of order: Linux acknowledges at once for a while.
    pub(crate) fn on_disorder(&mut self) {
        if let AckPolicy::Linux { quick, .. } = self.policy {
            self.quick = self.quick.max(quick);
        }
    }

    /// An ACK leaves.
    #[inline]
    pub(crate) fn on_ack_sent(&mut self) {
        self.pending = 0;
        self.deadline = Time::NEVER;
        self.quick = self.quick.saturating_sub(1);
    }
}

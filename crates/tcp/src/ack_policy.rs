//! Policies for acknowledging data that arrive in order.

use rampcc::Time;

use crate::AckPolicy;

/// As many ACKs make a sender repair a loss.
const DUPLICATE_ACKS: u32 = 3;
/// `tcp_comp_sack_nr` and `tcp_comp_sack_delay_ns`: most ACKs that Linux sends as one, and for how long it gathers.
const COMPRESSED_MAX: u32 = 44;
const COMPRESSED_FOR: Time = Time::from_ms(1);
/// FreeBSD's em(4): `MAX_INTS_PER_SEC`, 8000. The application reads between two interrupts.
const READ_AFTER: Time = Time::from_us(125);

/// Counts segments towards the next ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckClock {
    policy: AckPolicy,
    pending: u32,
    /// Linux: ACKs still to be sent at once.
    quick: u32,
    /// Linux: what is missing, how many ACKs have asked for it, and how many more wait to be sent as one.
    missing: u64,
    asked: u32,
    compressed: u32,
    /// Linux since 4.18.
    gathers: bool,
    deadline: Time,
    /// FreeBSD: segments for which no ACK has opened the window, though the application has read them or soon will.
    unopened: u32,
}

impl AckClock {
    pub(crate) fn new(policy: AckPolicy, gathers: bool) -> Self {
        let quick = if let AckPolicy::Linux { quick, .. } = policy { quick } else { 0 };
        Self {
            policy,
            pending: 0,
            quick,
            missing: 0,
            asked: 0,
            compressed: 0,
            gathers,
            deadline: Time::NEVER,
            unopened: 0,
        }
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
            AckPolicy::FreeBsd { timer } => (2, timer),
        };
        self.pending += 1;
        if self.pending >= every {
            // It leaves before the application has read what has just come.
            self.unopened = 1;
            return true;
        }
        self.unopened += 1;
        if self.pending == 1 {
            let opens = matches!(self.policy, AckPolicy::FreeBsd { .. }) && self.unopened >= 2;
            self.deadline = now + if opens { READ_AFTER } else { timer };
        }
        false
    }

    /// An ACK is sent since its time has come: everything has been read by then.
    pub(crate) fn on_timer(&mut self) {
        self.unopened = 0;
    }

    /// The window grew: Linux acknowledges at once as long as it does.
    #[inline]
    pub(crate) fn on_growth(&mut self) {
        if let AckPolicy::Linux { quick: 1.., .. } = self.policy {
            self.quick |= 1;
        }
    }

    /// Data arrived twice: Linux acknowledges at once for a while.
    pub(crate) fn on_duplicate(&mut self) {
        if let AckPolicy::Linux { quick, .. } = self.policy {
            self.quick = self.quick.max(quick);
        }
    }

    /// Data arrived behind a gap at `missing`. Returns whether to acknowledge now.
    ///
    /// Once three ACKs have asked for what is missing, Linux gathers those that follow for a twentieth of the round
    /// trip.
    pub(crate) fn on_gap(&mut self, now: Time, missing: u64, rtt: Time) -> bool {
        if !self.gathers || !matches!(self.policy, AckPolicy::Linux { .. }) || self.quick > 0 {
            return true;
        }
        if self.missing != missing {
            self.missing = missing;
            self.asked = 0;
        }
        if self.asked < DUPLICATE_ACKS {
            self.asked += 1;
            return true;
        }
        self.compressed += 1;
        if self.compressed == COMPRESSED_MAX {
            return true;
        }
        if self.compressed == 1 {
            self.deadline = now + Time::from_ns(rtt.ns() / 20).min(COMPRESSED_FOR);
        }
        false
    }

    /// Whether ACKs are being gathered.
    pub(crate) fn gathers(&self) -> bool {
        self.compressed > 0
    }

    #[inline]
    pub(crate) fn on_ack_sent(&mut self) {
        self.pending = 0;
        self.compressed = 0;
        self.deadline = Time::NEVER;
        self.quick = self.quick.saturating_sub(1);
    }
}

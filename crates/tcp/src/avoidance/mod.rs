//! Congestion avoidance: what happens to the window after start-up.

mod cubic;
mod reno;
mod vegas;

use rampcc::Time;

pub(crate) use cubic::Cubic;
pub(crate) use reno::Reno;
pub(crate) use vegas::Vegas;

use crate::{Avoidance, SenderConfig};

/// One ACK that the window may grow by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    pub(crate) now: Time,
    pub(crate) cwnd: u64,
    /// Bytes that count towards growth.
    pub(crate) acked: u64,
    pub(crate) mss: u64,
    /// Smallest RTT so far; `Time::NEVER`: none.
    pub(crate) min_rtt: Time,
    /// Sample of this ACK.
    pub(crate) rtt: Option<Time>,
    /// SND.UNA and SND.NXT after the ACK, for round trips.
    pub(crate) una: u64,
    pub(crate) next: u64,
}

/// The window's keeper in congestion avoidance.
#[derive(Clone, Debug)]
pub(crate) enum Avoid {
    Reno(Reno),
    Cubic(Cubic),
    Vegas(Vegas),
}

impl Avoid {
    pub(crate) fn new(config: &SenderConfig) -> Self {
        match config.avoidance {
            Avoidance::Reno => Self::Reno(Reno::new(config.recovery.is_ns2())),
            Avoidance::Cubic => Self::Cubic(Cubic::new(config.cubic_beta_1024)),
            Avoidance::Vegas => Self::Vegas(Vegas::new(config.vegas)),
        }
    }

    /// The window after an ACK in congestion avoidance.
    #[inline]
    pub(crate) fn on_ack(&mut self, growth: &Growth) -> u64 {
        match self {
            Self::Reno(reno) => reno.on_ack(growth),
            Self::Cubic(cubic) => cubic.on_ack(growth),
            Self::Vegas(vegas) => vegas.on_ack(growth),
        }
    }

    /// The slow-start threshold after a loss with `flight` bytes outstanding.
    pub(crate) fn on_loss(&mut self, flight: u64, cwnd: u64, mss: u64) -> u64 {
        match self {
            Self::Reno(reno) => reno.on_loss(flight),
            Self::Cubic(cubic) => cubic.on_loss(flight, cwnd, mss),
            Self::Vegas(vegas) => vegas.on_loss(flight),
        }
        .max(2 * mss)
    }

    /// The retransmission timer expired; `on_loss` was called before.
    pub(crate) fn on_timeout(&mut self) {
        match self {
            Self::Reno(reno) => reno.reset(),
            Self::Cubic(cubic) => cubic.reset(),
            Self::Vegas(vegas) => vegas.reset(),
        }
    }

    /// The connection was idle for `span`.
    pub(crate) fn on_idle(&mut self, span: Time) {
        if let Self::Cubic(cubic) = self {
            cubic.on_idle(span);
        }
    }
}

//! Congestion avoidance: what happens to the window after start-up.

mod bbr;
mod cubic;
mod model;
mod policed;
mod reno;
mod vegas;
mod westwood;

use rampcc::Time;

pub(crate) use bbr::Bbr;
pub(crate) use cubic::Cubic;
pub(crate) use model::Delivered;
pub(crate) use reno::Reno;
pub(crate) use vegas::Vegas;
pub(crate) use westwood::Westwood;

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
    Westwood(Westwood),
    Bbr(Box<Bbr>),
}

impl Avoid {
    pub(crate) fn new(flow: u32, config: &SenderConfig) -> Self {
        match config.avoidance_in_use() {
            Avoidance::Reno => Self::Reno(Reno::new(config.recovery.is_ns2())),
            Avoidance::Cubic => Self::Cubic(Cubic::new(config.cubic_beta_1024)),
            Avoidance::Vegas => Self::Vegas(Vegas::new(config.vegas)),
            Avoidance::Westwood => Self::Westwood(Westwood::new(config.recovery.is_ns2())),
            Avoidance::Bbr => Self::Bbr(Box::new(Bbr::new(flow))),
        }
    }

    /// The window after an ACK in congestion avoidance.
    #[inline]
    pub(crate) fn on_ack(&mut self, growth: &Growth) -> u64 {
        match self {
            Self::Reno(reno) => reno.on_ack(growth),
            Self::Cubic(cubic) => cubic.on_ack(growth),
            Self::Vegas(vegas) => vegas.on_ack(growth),
            Self::Westwood(westwood) => westwood.on_ack(growth),
            Self::Bbr(_) => growth.cwnd,
        }
    }

    /// Whether it steers by a rate: it wants to see every ACK, from the first, and paces.
    #[inline]
    pub(crate) fn by_rate(&self) -> bool {
        matches!(self, Self::Bbr(_))
    }

    /// Bytes per second at which it paces; 0: it does not.
    #[inline]
    pub(crate) fn pacing(&self) -> u64 {
        match self {
            Self::Bbr(bbr) => bbr.pacing(),
            _ => 0,
        }
    }

    /// The slow-start threshold after a loss with `flight` bytes outstanding. `over`: everything is sent again, in slow start.
    pub(crate) fn on_loss(&mut self, flight: u64, cwnd: u64, mss: u64, over: bool) -> u64 {
        match self {
            Self::Reno(reno) => reno.on_loss(flight),
            Self::Cubic(cubic) => cubic.on_loss(flight, cwnd, mss),
            Self::Vegas(vegas) => vegas.on_loss(flight),
            Self::Westwood(westwood) if over => westwood.pipe(mss),
            Self::Westwood(westwood) => westwood.on_loss(flight, mss),
            Self::Bbr(bbr) => bbr.on_loss(cwnd),
        }
        .max(2 * mss)
    }

    /// A reduction with the threshold `ssthresh` is over, and nothing took it back. What window and threshold become, if they
    /// do not stay.
    pub(crate) fn on_repaired(&mut self, ssthresh: u64, mss: u64) -> Option<u64> {
        match self {
            Self::Westwood(westwood) => westwood.on_repaired(ssthresh, mss),
            _ => None,
        }
    }

    /// Whether it keeps a model of the path, which is not wrong because a reduction was.
    pub(crate) fn measures(&self) -> bool {
        self.by_rate() || matches!(self, Self::Westwood(_))
    }

    /// The retransmission timer expired; `on_loss` was called before.
    pub(crate) fn on_timeout(&mut self) {
        match self {
            Self::Reno(reno) => reno.reset(),
            Self::Cubic(cubic) => cubic.reset(),
            Self::Vegas(vegas) => vegas.reset(),
            Self::Westwood(westwood) => westwood.on_timeout(),
            Self::Bbr(_) => {}
        }
    }

    /// The connection was idle for `span` until now.
    pub(crate) fn on_idle(&mut self, now: Time, span: Time) {
        match self {
            Self::Cubic(cubic) => cubic.on_idle(span),
            Self::Bbr(bbr) => bbr.on_idle(now),
            _ => {}
        }
    }
}

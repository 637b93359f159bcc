//! Congestion avoidance: what happens to the window after start-up.

mod bbr;
mod bbr3;
mod bounds;
mod cubic;
mod model;
mod policed;
mod reno;
mod vegas;
mod westwood;

use rampcc::Time;

pub(crate) use bbr::Bbr;
pub(crate) use bbr3::Bbr3;
pub(crate) use cubic::Cubic;
pub(crate) use model::{Delivered, Lost, Startup};
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
// With a tag of its own, which is read for every ACK; the compiler would hide it in some field.
#[repr(u8)]
#[derive(Clone, Debug)]
pub(crate) enum Avoid {
    Reno(Reno),
    Cubic(Cubic),
    Vegas(Vegas),
    Westwood(Westwood),
    Bbr(Box<Bbr>),
    Bbr3(Box<Bbr3>),
}

impl Avoid {
    pub(crate) fn new(flow: u32, config: &SenderConfig) -> Self {
        match config.avoidance_in_use() {
            Avoidance::Reno => Self::Reno(Reno::new(config.recovery.is_ns2())),
            Avoidance::Cubic => Self::Cubic(Cubic::new(config.cubic_beta_1024)),
            Avoidance::Vegas => Self::Vegas(Vegas::new(config.vegas)),
            Avoidance::Westwood => Self::Westwood(Westwood::new(config.recovery.is_ns2())),
            Avoidance::Bbr => Self::Bbr(Box::new(Bbr::new(flow))),
            Avoidance::Bbr3 => Self::Bbr3(Box::new(Bbr3::new(flow))),
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
            Self::Bbr(_) | Self::Bbr3(_) => growth.cwnd,
        }
    }

    /// Whether it steers by a rate: it wants to see every ACK, from the first, and paces.
    #[inline]
    pub(crate) fn by_rate(&self) -> bool {
        matches!(self, Self::Bbr(_) | Self::Bbr3(_))
    }

    /// Bytes per second at which it paces; 0: it does not.
    #[inline]
    pub(crate) fn pacing(&self) -> u64 {
        match self {
            Self::Bbr(bbr) => bbr.pacing(),
            Self::Bbr3(bbr) => bbr.pacing(),
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
            Self::Bbr3(bbr) => bbr.on_loss(cwnd),
        }
        .max(2 * mss)
    }

    /// A fast recovery begins; `on_loss` was called before.
    pub(crate) fn on_repair(&mut self) {
        if let Self::Bbr(bbr) = self {
            bbr.on_repair();
        }
    }

    /// How far halving the rate takes the window (Linux 2.6 `min_cwnd`).
    pub(crate) fn halving_floor(&self, ssthresh: u64) -> u64 {
        if matches!(self, Self::Reno(_)) { ssthresh / 2 } else { ssthresh }
    }

    /// A reduction with the threshold `ssthresh` is over, and nothing took it back. What window and threshold become, if they
    /// do not stay.
    pub(crate) fn on_repaired(&mut self, ssthresh: u64, mss: u64) -> Option<u64> {
        match self {
            Self::Westwood(westwood) => westwood.on_repaired(ssthresh, mss),
            _ => None,
        }
    }

    /// The last reduction was for nothing.
    pub(crate) fn on_undone(&mut self) {
        if let Self::Bbr3(bbr) = self {
            bbr.on_undone();
        }
    }

    /// The model has seen an ACK, and what has been found lost since the last one.
    pub(crate) fn observe(&mut self, ack: &Delivered, cwnd: u64, lost: &[Lost]) {
        match self {
            Self::Bbr(bbr) => bbr.observe(ack, cwnd),
            Self::Bbr3(bbr) => bbr.observe(ack, cwnd, lost),
            _ => {}
        }
    }

    /// The window that the model wants. In a repair that is rationed, where the repair ends.
    pub(crate) fn control(&mut self, ack: &Delivered, cwnd: u64, rationed: bool) -> u64 {
        match self {
            Self::Bbr(bbr) if rationed => bbr.control(ack, cwnd.max(bbr.kept())),
            Self::Bbr(bbr) => bbr.control(ack, cwnd),
            Self::Bbr3(bbr) => bbr.control(ack, cwnd),
            _ => cwnd,
        }
    }

    /// What it measures now is limited by itself.
    pub(crate) fn probes_rtt(&self) -> bool {
        match self {
            Self::Bbr(bbr) => bbr.probes_rtt(),
            Self::Bbr3(bbr) => bbr.probes_rtt(),
            _ => false,
        }
    }

    /// Whether it asks what each lost packet was sent into.
    pub(crate) fn counts_losses(&self) -> bool {
        matches!(self, Self::Bbr3(_))
    }

    /// Whether the window is its own in fast recovery, too, and not rationed.
    pub(crate) fn repairs(&self) -> bool {
        matches!(self, Self::Bbr3(_))
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
            Self::Bbr3(bbr) => bbr.on_timeout(),
        }
    }

    /// The connection was idle for `span` until now.
    pub(crate) fn on_idle(&mut self, now: Time, span: Time) {
        match self {
            Self::Cubic(cubic) => cubic.on_idle(span),
            Self::Bbr(bbr) => bbr.on_idle(now),
            Self::Bbr3(bbr) => bbr.on_idle(now),
            _ => {}
        }
    }
}

//! The window's keeper in congestion avoidance.

use rampcc::Time;

use crate::bbr::Bbr;
use crate::bbr3::Bbr3;
use crate::cubic::Cubic;
use crate::growth::Growth;
use crate::model::{Delivered, Lost};
use crate::reno::Reno;
use crate::vegas::{Vegas, VegasConfig};
use crate::westwood::Westwood;

/// Congestion avoidance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Avoidance {
    /// RFC 5681: one MSS per round trip, halve on loss.
    Reno,
    /// RFC 9438 with Linux's floors.
    Cubic,
    /// Brakmo & Peterson 1994, alpha 1, beta 3 (ns-2) in the era profile, 2 and 4 (Linux) in the modern one.
    Vegas,
    /// Westwood+ as Linux has it: Reno, but a loss leaves the measured rate times the smallest RTT.
    Westwood,
    /// Version 1 as Linux has it. It wants rates, and paces.
    Bbr,
    /// Version 3 as in its draft. As `Bbr`.
    Bbr3,
}

impl Avoidance {
    /// Whether it steers by a rate and not by a window alone.
    pub fn by_rate(self) -> bool {
        matches!(self, Self::Bbr | Self::Bbr3)
    }
}

/// Choice and constants of a connection's congestion avoidance.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Which one.
    pub avoidance: Avoidance,
    /// Number of the connection; BBR draws the phases of its probes from it.
    pub flow: u32,
    /// CUBIC's multiplicative decrease in 1/1024; 717 in Linux.
    pub cubic_beta_1024: u32,
    /// CUBIC grows as in Linux 2.6.23.
    pub cubic_of_2007: bool,
    /// Vegas' thresholds.
    pub vegas: VegasConfig,
    /// Windows and growth are counted as ns-2 counts them: fractions of a packet, one step per ACK.
    pub ns2: bool,
}

/// The window's keeper in congestion avoidance.
// With a tag of its own, which is read for every ACK; the compiler would hide it in some field.
#[repr(u8)]
#[derive(Clone, Debug)]
pub enum Avoid {
    /// [`Avoidance::Reno`]
    Reno(Reno),
    /// [`Avoidance::Cubic`]
    Cubic(Cubic),
    /// [`Avoidance::Vegas`]
    Vegas(Vegas),
    /// [`Avoidance::Westwood`]
    Westwood(Westwood),
    /// [`Avoidance::Bbr`]
    Bbr(Box<Bbr>),
    /// [`Avoidance::Bbr3`]
    Bbr3(Box<Bbr3>),
}

impl Avoid {
    /// As a connection begins.
    pub fn new(rules: &Rules) -> Self {
        match rules.avoidance {
            Avoidance::Reno => Self::Reno(Reno::new(rules.ns2)),
            Avoidance::Cubic => Self::Cubic(Cubic::new(rules.cubic_beta_1024, rules.cubic_of_2007)),
            Avoidance::Vegas => Self::Vegas(Vegas::new(rules.vegas)),
            Avoidance::Westwood => Self::Westwood(Westwood::new(rules.ns2)),
            Avoidance::Bbr => Self::Bbr(Box::new(Bbr::new(rules.flow))),
            Avoidance::Bbr3 => Self::Bbr3(Box::new(Bbr3::new(rules.flow))),
        }
    }

    /// The window after an ACK in congestion avoidance.
    #[inline]
    pub fn on_ack(&mut self, growth: &Growth) -> u64 {
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
    pub fn by_rate(&self) -> bool {
        matches!(self, Self::Bbr(_) | Self::Bbr3(_))
    }

    /// Bytes per second at which it paces; 0: it does not.
    #[inline]
    pub fn pacing(&self) -> u64 {
        match self {
            Self::Bbr(bbr) => bbr.pacing(),
            Self::Bbr3(bbr) => bbr.pacing(),
            _ => 0,
        }
    }

    /// The slow-start threshold after a loss with `flight` bytes outstanding. `over`: everything is sent again, in slow start.
    pub fn on_loss(&mut self, flight: u64, cwnd: u64, mss: u64, over: bool) -> u64 {
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
    pub fn on_repair(&mut self) {
        if let Self::Bbr(bbr) = self {
            bbr.on_repair();
        }
    }

    /// How far halving the rate takes the window (Linux 2.6 `min_cwnd`).
    pub fn halving_floor(&self, ssthresh: u64) -> u64 {
        if matches!(self, Self::Reno(_)) { ssthresh / 2 } else { ssthresh }
    }

    /// A reduction with the threshold `ssthresh` is over, and nothing took it back. What window and threshold become, if they
    /// do not stay.
    pub fn on_repaired(&mut self, ssthresh: u64, mss: u64) -> Option<u64> {
        match self {
            Self::Westwood(westwood) => westwood.on_repaired(ssthresh, mss),
            _ => None,
        }
    }

    /// The last reduction was for nothing.
    pub fn on_undone(&mut self) {
        if let Self::Bbr3(bbr) = self {
            bbr.on_undone();
        }
    }

    /// An ACK delivered `bytes`, whatever the window is then; `rtt` is its sample.
    #[inline]
    pub fn on_delivered(&mut self, now: Time, bytes: u64, rtt: Option<Time>) {
        if let Self::Westwood(westwood) = self {
            westwood.observe(now, bytes, rtt);
        }
    }

    /// The model has seen an ACK, and what has been found lost since the last one.
    pub fn observe(&mut self, ack: &Delivered, cwnd: u64, lost: &[Lost]) {
        match self {
            Self::Bbr(bbr) => bbr.observe(ack, cwnd),
            Self::Bbr3(bbr) => bbr.observe(ack, cwnd, lost),
            _ => {}
        }
    }

    /// The window that the model wants. In a repair that is rationed, where the repair ends.
    pub fn control(&mut self, ack: &Delivered, cwnd: u64, rationed: bool) -> u64 {
        match self {
            Self::Bbr(bbr) if rationed => bbr.control(ack, cwnd.max(bbr.kept())),
            Self::Bbr(bbr) => bbr.control(ack, cwnd),
            Self::Bbr3(bbr) => bbr.control(ack, cwnd),
            _ => cwnd,
        }
    }

    /// What it measures now is limited by itself.
    pub fn probes_rtt(&self) -> bool {
        match self {
            Self::Bbr(bbr) => bbr.probes_rtt(),
            Self::Bbr3(bbr) => bbr.probes_rtt(),
            _ => false,
        }
    }

    /// Whether it asks what each lost packet was sent into.
    pub fn counts_losses(&self) -> bool {
        matches!(self, Self::Bbr3(_))
    }

    /// Whether the window is its own in fast recovery, too, and not rationed.
    pub fn repairs(&self) -> bool {
        matches!(self, Self::Bbr3(_))
    }

    /// Whether it keeps a model of the path, which is not wrong because a reduction was.
    pub fn measures(&self) -> bool {
        self.by_rate() || matches!(self, Self::Westwood(_))
    }

    /// The retransmission timer expired; `on_loss` was called before.
    pub fn on_timeout(&mut self) {
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
    pub fn on_idle(&mut self, now: Time, span: Time) {
        match self {
            Self::Cubic(cubic) => cubic.on_idle(span),
            Self::Bbr(bbr) => bbr.on_idle(now),
            Self::Bbr3(bbr) => bbr.on_idle(now),
            _ => {}
        }
    }
}

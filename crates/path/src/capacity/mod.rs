//! Rates of service: for each packet, the time when its service begins and the time when its last bit leaves.

mod constant;
mod rates;
mod stepped;
mod traced;

use rampcc::{Rate, Time};

use self::constant::Constant;
use self::stepped::Stepped;
use self::traced::Traced;
use crate::config::Capacity;

/// Serves packets one after the other.
///
/// The departure of a packet is known when its service is asked for, so no service event is ever needed.
/// `Time::NEVER` is the departure from a link that stands still for good.
#[derive(Clone, Debug)]
pub(crate) enum Server {
    Unlimited,
    Constant(Constant),
    Stepped(Stepped),
    Traced(Traced),
}

impl Server {
    pub(crate) fn new(capacity: &Capacity) -> Self {
        let stopped = || Self::Constant(Constant::new(Rate::default()));
        match capacity {
            Capacity::Unlimited => Self::Unlimited,
            Capacity::Constant(rate) => Self::Constant(Constant::new(*rate)),
            Capacity::Steps { steps, period } => {
                Stepped::new(steps, *period).map_or_else(stopped, Self::Stepped)
            }
            Capacity::Trace(trace) => Traced::new(trace).map_or_else(stopped, Self::Traced),
        }
    }
}

/// One kind of server.
pub(crate) trait Serve {
    /// When service of a packet that has come to the head by `now` begins. `now` must not go back.
    fn start(&mut self, now: Time) -> Time;

    /// Serves a packet from `start`, which must come from [`Self::start`], and says when it has left.
    fn serve(&mut self, start: Time, bytes: u32) -> Time;

    /// When the last packet left or will leave.
    fn last_departure(&self) -> Time;
}

/// For callers that serve seldom; the others match the kind once per packet.
impl Serve for Server {
    fn start(&mut self, now: Time) -> Time {
        match self {
            Self::Unlimited => now,
            Self::Constant(server) => server.start(now),
            Self::Stepped(server) => server.start(now),
            Self::Traced(server) => server.start(now),
        }
    }

    fn serve(&mut self, start: Time, bytes: u32) -> Time {
        match self {
            Self::Unlimited => start,
            Self::Constant(server) => server.serve(start, bytes),
            Self::Stepped(server) => server.serve(start, bytes),
            Self::Traced(server) => server.serve(start, bytes),
        }
    }

    fn last_departure(&self) -> Time {
        match self {
            Self::Unlimited => Time::ZERO,
            Self::Constant(server) => server.last_departure(),
            Self::Stepped(server) => server.last_departure(),
            Self::Traced(server) => server.last_departure(),
        }
    }
}

/// Work is counted in bits times the nanoseconds of a second, so that work over rate is nanoseconds.
const WORK_PER_BYTE: u64 = 8_000_000_000;

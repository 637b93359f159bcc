//! Queues in front of a link.
//!
//! Drop-tail, RED, random drop and a policer decide when a packet arrives; with a server that knows departures in advance
//! they need no event. CoDel decides when a packet leaves and is served step by step.

mod codel;
mod policer;
mod random_drop;
mod red;
mod waiting;

use rampcc::Time;

pub(crate) use self::codel::CoDel;
use self::policer::Policer;
use self::random_drop::RandomDrop;
use self::red::Red;
use self::waiting::Waiting;
use crate::capacity::Serve;
use crate::config::{Limit, LinkConfig, QueueConfig, Ties};
use crate::{DropReason, Packet};

#[derive(Clone, Debug)]
pub(crate) enum Queue<P> {
    OnArrival(OnArrival),
    CoDel(Box<CoDel<P>>),
}

/// A queue that decides when a packet arrives.
#[derive(Clone, Debug)]
pub(crate) struct OnArrival {
    limit: Limit,
    policy: Policy,
    /// Departures later than this long before an arrival count as after it.
    tie: Time,
    pub(crate) waiting: Waiting,
}

/// What is dropped although it would fit.
#[derive(Clone, Debug)]
enum Policy {
    DropTail,
    Red(Box<Red>),
    RandomDrop(Box<RandomDrop>),
    Policer(Box<Policer>),
}

/// A packet at the door of a queue.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    now: Time,
    /// It needs a place in the queue.
    waits: bool,
    /// When the packet before it leaves or left.
    idle_since: Time,
    bytes: u32,
}

impl<P: Packet> Queue<P> {
    pub(crate) fn new(config: &LinkConfig, seed: u64) -> Self {
        let (limit, policy) = match config.queue {
            QueueConfig::DropTail { limit } => (limit, Policy::DropTail),
            QueueConfig::Red { limit, .. } => (limit, Policy::Red(Box::new(Red::new(config, seed)))),
            QueueConfig::RandomDrop { limit, above_bytes, probability } => {
                (limit, Policy::RandomDrop(Box::new(RandomDrop::new(above_bytes, probability, seed))))
            }
            QueueConfig::Policer { limit, rate, burst_bytes } => {
                (limit, Policy::Policer(Box::new(Policer::new(rate, burst_bytes))))
            }
            QueueConfig::CoDel { limit, target, interval, ecn } => {
                return Self::CoDel(Box::new(CoDel::new(limit, target, interval, ecn)));
            }
        };
        Self::OnArrival(OnArrival { limit, policy, tie: config.ties.margin(), waiting: Waiting::new() })
    }
}

impl OnArrival {
    /// Lets those go that make room for a packet at `now`.
    #[inline]
    pub(crate) fn advance(&mut self, now: Time) {
        self.waiting.advance(now - self.tie);
    }

    /// When a packet, which may be marked, will have left, or why it must be dropped.
    #[inline]
    pub(crate) fn admit(
        &mut self,
        now: Time,
        packet: &mut impl Packet,
        server: &mut impl Serve,
    ) -> Result<Time, DropReason> {
        self.advance(now);
        let bytes = packet.wire_bytes();
        let idle_since = server.last_departure();
        let start = server.start(now);
        let waits = start > now || now < idle_since + self.tie;
        if let Some(reason) = self.refuse(&Arrival { now, waits, idle_since, bytes }, packet) {
            return Err(reason);
        }
        if waits {
            self.waiting.push(start, bytes);
        }
        Ok(server.serve(start, bytes))
    }

    #[inline]
    fn refuse(&mut self, arrival: &Arrival, packet: &mut impl Packet) -> Option<DropReason> {
        if let Policy::DropTail = self.policy {
            return self.limit.refuse(&self.waiting, arrival);
        }
        self.refuse_early(arrival, packet)
    }

    fn refuse_early(&mut self, arrival: &Arrival, packet: &mut impl Packet) -> Option<DropReason> {
        if let Policy::Policer(policer) = &mut self.policy
            && !policer.passes(arrival.now, arrival.bytes)
        {
            return Some(DropReason::Overflow);
        }
        let full = self.limit.refuse(&self.waiting, arrival);
        let early = match &mut self.policy {
            Policy::DropTail | Policy::Policer(_) => false,
            Policy::Red(red) => {
                let chosen = red.drops(arrival, self.waiting.packets(), full.is_some());
                let marks = chosen && full.is_none() && red.marks() && packet.markable();
                if marks {
                    packet.mark();
                }
                chosen && !marks
            }
            Policy::RandomDrop(random) => full.is_none() && random.drops(self.waiting.bytes()),
        };
        full.or(early.then_some(DropReason::Early))
    }
}

impl Ties {
    /// By how much a departure has to come before an arrival to make room for it.
    pub fn margin(self) -> Time {
        match self {
            Self::Departure => Time::ZERO,
            Self::Arrival => Time::from_ns(1),
        }
    }
}

impl Limit {
    /// A packet that need not wait is never too many, only ever too large.
    #[inline]
    fn refuse(self, waiting: &Waiting, arrival: &Arrival) -> Option<DropReason> {
        match self {
            Self::Bytes(limit) if u64::from(arrival.bytes) > limit => Some(DropReason::Oversize),
            Self::Bytes(limit) => (arrival.waits && waiting.bytes() + u64::from(arrival.bytes) > limit)
                .then_some(DropReason::Overflow),
            Self::Packets(limit) => {
                (arrival.waits && waiting.packets() >= limit).then_some(DropReason::Overflow)
            }
            Self::Unlimited => None,
        }
    }
}

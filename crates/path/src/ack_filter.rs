//! Filters that some links apply to pure ACKs before they queue.

use std::collections::BTreeMap;

use rampcc::Time;

use crate::Packet;
use crate::config::AckFilter;

/// What becomes of a packet.
#[derive(Clone, Debug)]
pub(crate) enum Verdict<P> {
    /// It goes on.
    Pass(P),
    /// It waits inside the filter.
    Hold,
    /// It is thinned out.
    Thin(P),
}

#[derive(Clone, Debug)]
pub(crate) enum Filter<P> {
    Aggregate(Aggregate<P>),
    /// ACKs seen of each flow, modulo `keep`.
    Thin {
        keep: u32,
        seen: BTreeMap<u32, u32>,
    },
}

/// ACKs that wait for each other.
#[derive(Clone, Debug)]
pub(crate) struct Aggregate<P> {
    count: usize,
    hold: Time,
    held: Vec<P>,
    /// When those held go on; `NEVER`: none are held.
    due: Time,
}

impl<P: Packet> Filter<P> {
    pub(crate) fn new(config: AckFilter) -> Self {
        match config {
            AckFilter::Aggregate { count, hold } => {
                Self::Aggregate(Aggregate { count: count as usize, hold, held: Vec::new(), due: Time::NEVER })
            }
            AckFilter::Thin { keep } => Self::Thin { keep, seen: BTreeMap::new() },
        }
    }

    pub(crate) fn handle(&mut self, now: Time, packet: P) -> Verdict<P> {
        if !packet.pure_ack() {
            return Verdict::Pass(packet);
        }
        match self {
            Self::Aggregate(aggregate) => {
                aggregate.hold(now, packet);
                Verdict::Hold
            }
            Self::Thin { keep, seen } => {
                // The first one passes: a flow that sends a single ACK must not lose it.
                let seen = seen.entry(packet.flow()).or_insert(0);
                let passes = *seen == 0;
                *seen = if *seen + 1 >= *keep { 0 } else { *seen + 1 };
                if passes { Verdict::Pass(packet) } else { Verdict::Thin(packet) }
            }
        }
    }

    /// When held ACKs go on.
    pub(crate) fn due(&self) -> Time {
        match self {
            Self::Aggregate(aggregate) => aggregate.due,
            Self::Thin { .. } => Time::NEVER,
        }
    }

    /// Takes out what is held. The vector should come back through [`Self::recycle`].
    pub(crate) fn release(&mut self) -> Vec<P> {
        match self {
            Self::Aggregate(aggregate) => {
                aggregate.due = Time::NEVER;
                std::mem::take(&mut aggregate.held)
            }
            Self::Thin { .. } => Vec::new(),
        }
    }

    pub(crate) fn recycle(&mut self, empty: Vec<P>) {
        if let Self::Aggregate(aggregate) = self {
            aggregate.held = empty;
        }
    }

    pub(crate) fn held(&self) -> &[P] {
        match self {
            Self::Aggregate(aggregate) => &aggregate.held,
            Self::Thin { .. } => &[],
        }
    }
}

impl<P> Aggregate<P> {
    fn hold(&mut self, now: Time, packet: P) {
        if self.held.is_empty() {
            self.due = now + self.hold;
        }
        self.held.push(packet);
        if self.held.len() >= self.count {
            self.due = now;
        }
    }
}

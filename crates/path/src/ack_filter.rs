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
    /// It waits inside the filter, and has taken the place of this one, which is thinned out.
    Hold(Option<P>),
}

#[derive(Clone, Debug)]
pub(crate) enum Filter<P> {
    Aggregate(Aggregate<P>),
    Thin(Thin<P>),
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

/// ACKs of which the newest of each flow waits in place of those before it (RFC 3449 §5.2.1).
#[derive(Clone, Debug)]
pub(crate) struct Thin<P> {
    keep: u32,
    hold: Time,
    /// The ACK that waits, of each flow; a `BTreeMap`, since those that are due together leave in its order.
    waiting: BTreeMap<u32, Waiting<P>>,
    /// The earliest `due` of those that wait; `NEVER`: none does.
    due: Time,
    /// Empty but for its capacity.
    spare: Vec<P>,
}

#[derive(Clone, Debug)]
struct Waiting<P> {
    /// `None`: none since the last one left.
    packet: Option<P>,
    /// ACKs since then.
    count: u32,
    due: Time,
}

impl<P: Packet> Filter<P> {
    pub(crate) fn new(config: AckFilter) -> Self {
        match config {
            AckFilter::Aggregate { count, hold } => {
                Self::Aggregate(Aggregate { count: count as usize, hold, held: Vec::new(), due: Time::NEVER })
            }
            AckFilter::Thin { keep, hold } => {
                Self::Thin(Thin { keep, hold, waiting: BTreeMap::new(), due: Time::NEVER, spare: Vec::new() })
            }
        }
    }

    pub(crate) fn handle(&mut self, now: Time, packet: P) -> Verdict<P> {
        if !packet.pure_ack() {
            return Verdict::Pass(packet);
        }
        match self {
            Self::Aggregate(aggregate) => {
                aggregate.hold(now, packet);
                Verdict::Hold(None)
            }
            Self::Thin(thin) => Verdict::Hold(thin.hold(now, packet)),
        }
    }

    /// When held ACKs go on.
    pub(crate) fn due(&self) -> Time {
        match self {
            Self::Aggregate(aggregate) => aggregate.due,
            Self::Thin(thin) => thin.due,
        }
    }

    /// Takes out what is due next. The vector should come back through [`Self::recycle`].
    pub(crate) fn release(&mut self) -> Vec<P> {
        match self {
            Self::Aggregate(aggregate) => {
                aggregate.due = Time::NEVER;
                std::mem::take(&mut aggregate.held)
            }
            Self::Thin(thin) => thin.release(),
        }
    }

    pub(crate) fn recycle(&mut self, empty: Vec<P>) {
        match self {
            Self::Aggregate(aggregate) => aggregate.held = empty,
            Self::Thin(thin) => thin.spare = empty,
        }
    }

    pub(crate) fn held(&self) -> impl Iterator<Item = &P> {
        let (held, waiting) = match self {
            Self::Aggregate(aggregate) => (aggregate.held.as_slice(), None),
            Self::Thin(thin) => (&[][..], Some(&thin.waiting)),
        };
        held.iter()
            .chain(waiting.into_iter().flat_map(BTreeMap::values).filter_map(|flow| flow.packet.as_ref()))
    }
}

impl<P: Packet> Thin<P> {
    /// Returns the ACK whose place it takes.
    fn hold(&mut self, now: Time, packet: P) -> Option<P> {
        let flow =
            self.waiting.entry(packet.flow()).or_insert(Waiting { packet: None, count: 0, due: Time::NEVER });
        if flow.packet.is_none() {
            flow.due = now + self.hold;
        }
        flow.count += 1;
        if flow.count >= self.keep {
            flow.due = now;
        }
        self.due = self.due.min(flow.due);
        flow.packet.replace(packet)
    }

    fn release(&mut self) -> Vec<P> {
        let mut out = std::mem::take(&mut self.spare);
        let due = std::mem::replace(&mut self.due, Time::NEVER);
        for flow in self.waiting.values_mut() {
            if flow.due <= due {
                out.extend(flow.packet.take());
                (flow.count, flow.due) = (0, Time::NEVER);
            }
            self.due = self.due.min(flow.due);
        }
        out
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

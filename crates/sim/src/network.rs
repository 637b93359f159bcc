//! Links at work: what enters them, what they hand on, and when.
//!
//! Most links *settle* a packet's fate when it enters: the time of its arrival at the far end is known at once. If,
//! on top, all packets of the next link come from this one, the next link can be asked at once as well, for that
//! future time: it will see the same packets in the same order. Such links are *fused*: a packet crosses a chain of
//! up to [`CHAIN_MAX`] of them in one event. A drop in a fused link lies in the future and waits in a queue of its
//! own, so that observers learn of it in time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use ramp::Time;
use ramp_path::{Count, Packet};
use ramp_scenario::Scenario;
use ramp_scenario::random::link_seed;
use ramp_trace::LinkTotals;

use crate::event_queue::EventQueue;
use crate::link_sampler::LinkSampler;
use crate::packet::{Parcel, Place, Ticket};
use crate::stage::{CHAIN_MAX, Kind, Passages, Ring, Stage, UnderWay, add};
use crate::topology::{Feeder, Routes, Step};
use crate::transport::Datagram;

/// Half a gigabyte; 100 Gbit/s over 500 ms.
pub(crate) const PACKETS_PER_LINK_MAX: usize = 1 << 22;

/// All links and what is inside them.
///
/// Link `i` is source `i` of the event queue; drops to come are source [`Network::drops_source`].
#[derive(Debug)]
pub(crate) struct Network<P> {
    pub(crate) routes: Routes,
    stages: Vec<Stage<P>>,
    /// Memory that links gave back when the last of their packets had arrived. Few links are busy at a time, so little
    /// is touched, and it stays in the caches.
    spare: Vec<Ring<P>>,
    drops_to_come: BinaryHeap<Reverse<DropToCome<P>>>,
    drops: VecDeque<Drop<P>>,
    drop_count: u64,
    stopped: Stopped<P>,
    /// The run is over by then; nothing later is worth computing.
    horizon: Time,
    overfull: Option<u32>,
    /// There is a drop to report, or a link is too full.
    urgent: bool,
    sampled: u32,
    pub(crate) sampler: LinkSampler,
}

/// A packet that a link dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drop<P> {
    pub(crate) link: u32,
    pub(crate) parcel: Parcel<P>,
}

/// The last packet that came no further.
#[derive(Clone, Copy, Debug, Default)]
struct Stopped<P> {
    packet: P,
    /// `None`: at a link that keeps it.
    at: Option<Stop>,
}

/// Where and when a packet is dropped.
#[derive(Clone, Copy, Debug)]
struct Stop {
    step: Step,
    /// How many links it has entered, this one included.
    entered: u32,
    time: Time,
    passages: Passages,
}

#[derive(Debug)]
struct DropToCome<P> {
    time: Time,
    order: u64,
    passages: Passages,
    drop: Drop<P>,
}

impl<P: Datagram> Network<P> {
    pub(crate) fn new(scenario: &Scenario, mut routes: Routes, seed: u64) -> Self {
        let links = scenario.topology.links.iter().enumerate();
        let stages = links.map(|(i, link)| Stage::new(&link.config, link_seed(seed, i)));
        let stages: Vec<Stage<P>> = stages.collect();
        routes.fuse(&fused_links(&stages, &routes));
        Self {
            routes,
            stages,
            spare: Vec::new(),
            drops_to_come: BinaryHeap::new(),
            drops: VecDeque::new(),
            drop_count: 0,
            stopped: Stopped::default(),
            horizon: scenario.stop.after,
            overfull: None,
            urgent: false,
            sampled: scenario.bottleneck as u32,
            sampler: LinkSampler::new(scenario),
        }
    }

    /// The event source that stands for drops to come.
    pub(crate) fn drops_source(&self) -> u32 {
        self.stages.len() as u32
    }

    /// Hands a packet to the next link of its route, which must not be at its end.
    ///
    /// The packet is made where it stays while it is under way.
    #[expect(clippy::inline_always, reason = "otherwise the packet is made, then copied")]
    #[inline(always)]
    pub(crate) fn send(&mut self, now: Time, queue: &mut EventQueue, packet: &P, place: Place) {
        let (slot, stopped) = self.cross(now, queue, &Ticket::new(packet), place);
        *slot = *packet;
        if stopped {
            self.stop(now, queue, place);
        }
    }

    /// Settles a packet's way as far as it can be, and gives out where it belongs. Whether it stopped on its
    /// way: then [`Self::stop`] says what becomes of it.
    fn cross(&mut self, now: Time, queue: &mut EventQueue, ticket: &Ticket, place: Place) -> (&mut P, bool) {
        let wire_bytes = ticket.wire_bytes();
        let steps = self.routes.steps_from(place.next());
        let mut step = &steps[0];
        if !self.stages[step.link as usize].settles() {
            self.stopped.at = None;
            return (&mut self.stopped.packet, true);
        }
        let mut time = now;
        let mut passages = Passages::default();
        let mut entered = 1;
        let arrival = loop {
            let stage = &mut self.stages[step.link as usize];
            let arrival = stage.settle(time, wire_bytes, ticket);
            if step.link == self.sampled {
                self.sampler.on_arrival(time, stage.queue(time));
            }
            let Some(arrival) = arrival else {
                self.stopped.at = Some(Stop { step: *step, entered: entered as u32, time, passages });
                return (&mut self.stopped.packet, true);
            };
            if step.onward
                && arrival <= self.horizon
                && entered < CHAIN_MAX
                && let Some(next) = steps.get(entered)
            {
                passages[entered - 1] = arrival;
                time = arrival;
                step = next;
                entered += 1;
                continue;
            }
            break arrival;
        };
        let link = step.link;
        let stage = &mut self.stages[link as usize];
        if stage.under_way.is_empty() {
            queue.set(link, arrival);
            if let Some(ring) = self.spare.pop() {
                stage.under_way = ring;
            }
        }
        if stage.under_way.len() >= PACKETS_PER_LINK_MAX {
            self.overfull = Some(link);
            self.urgent = true;
        }
        let under_way = stage.under_way.push_back();
        under_way.place = place.after(entered as u32, step.last);
        under_way.arrival = arrival;
        under_way.passages = passages;
        (&mut under_way.packet, false)
    }

    /// What becomes of the packet that stopped last.
    #[cold]
    fn stop(&mut self, now: Time, queue: &mut EventQueue, place: Place) {
        let Stopped { packet, at } = self.stopped;
        let Some(Stop { step, entered, time, passages }) = at else {
            let step = self.routes.step(place.next());
            return self.hold(now, queue, step.link, Parcel { packet, place: place.after(1, step.last) });
        };
        let parcel = Parcel { packet, place: place.after(entered, step.last) };
        let drop = Drop { link: step.link, parcel };
        if time == now {
            self.drops.push_back(drop);
            self.urgent = true;
        } else {
            self.drop_count += 1;
            queue.set_at_latest(self.drops_source(), time);
            self.drops_to_come.push(Reverse(DropToCome { time, order: self.drop_count, passages, drop }));
        }
    }

    /// Puts into `parcel` what reaches the end of a chain that ends with `link`, and returns when the next packet will if
    /// it is already under way, else `Time::NEVER`. `None`: nothing reaches it now.
    #[inline]
    pub(crate) fn poll_packet(&mut self, now: Time, link: u32, parcel: &mut Parcel<P>) -> Option<Time> {
        let stage = &mut self.stages[link as usize];
        if !stage.settles() {
            return self.poll_held(now, link, parcel).then_some(Time::NEVER);
        }
        let head = stage.under_way.front()?;
        if head.arrival > now {
            return None;
        }
        parcel.packet = head.packet;
        parcel.place = head.place;
        stage.under_way.pop_front();
        if let Some(next) = stage.under_way.front() {
            return Some(next.arrival);
        }
        let mut ring = std::mem::take(&mut stage.under_way);
        // The next packet is to lie where the first one was.
        ring.clear();
        self.spare.push(ring);
        Some(Time::NEVER)
    }

    /// When `link` has something to do next.
    #[inline]
    pub(crate) fn poll_timeout(&self, link: u32) -> Time {
        let stage = &self.stages[link as usize];
        match &stage.kind {
            Kind::Other(other) => other.poll_timeout(),
            _ => stage.under_way.front().map_or(Time::NEVER, |head| head.arrival),
        }
    }

    /// A link that holds more packets than [`PACKETS_PER_LINK_MAX`].
    #[inline]
    pub(crate) fn overfull(&self) -> Option<u32> {
        self.overfull
    }

    /// Whether there is a drop or a sample to report, or too much under way.
    #[inline]
    pub(crate) fn news(&self, now: Time) -> bool {
        self.urgent || self.sampler.due() <= now
    }

    /// Packets dropped by now that nobody has heard of; call until `None`.
    #[inline]
    pub(crate) fn poll_drop(&mut self) -> Option<Drop<P>> {
        let drop = self.drops.pop_front();
        self.urgent = drop.is_some();
        drop
    }

    /// Moves the drops that were to come and are due among those that happened.
    pub(crate) fn handle_drops_due(&mut self, now: Time) {
        while let Some(Reverse(next)) = self.drops_to_come.peek()
            && next.time <= now
        {
            self.drops.extend(self.drops_to_come.pop().map(|Reverse(next)| next.drop));
            self.urgent = true;
        }
    }

    /// When the next drop to come is due.
    pub(crate) fn drops_timeout(&self) -> Time {
        self.drops_to_come.peek().map_or(Time::NEVER, |Reverse(next)| next.time)
    }

    /// Every link's totals at `end`: what settled ahead of that is taken back.
    pub(crate) fn totals(&self, end: Time) -> Vec<LinkTotals> {
        let mut totals: Vec<LinkTotals> = self.stages.iter().map(Stage::totals).collect();
        for under_way in self.stages.iter().flat_map(|stage| stage.under_way.iter()) {
            self.take_back(&mut totals, end, under_way);
        }
        for Reverse(DropToCome { time, passages, drop, .. }) in &self.drops_to_come {
            let Drop { link, parcel } = drop;
            if *time > end {
                let totals = &mut totals[*link as usize];
                take(&mut totals.dropped, parcel.wire_bytes());
                take(&mut totals.arrived, parcel.wire_bytes());
            }
            // So far it fared like a packet whose chain ends one link earlier.
            let Parcel { packet, place } = *parcel;
            let before = UnderWay { packet, place: place.before(), arrival: *time, passages: *passages };
            self.take_back(&mut totals, end, &before);
        }
        totals
    }

    /// Hands a packet to a link that keeps it.
    #[inline(never)]
    fn hold(&mut self, now: Time, queue: &mut EventQueue, link: u32, parcel: Parcel<P>) {
        let stage = &mut self.stages[link as usize];
        let Kind::Other(other) = &mut stage.kind else { unreachable!("the caller has asked") };
        let held = &mut stage.held;
        *held += 1;
        let drops = &mut self.drops;
        let mut on_drop = |_, parcel, _| {
            *held -= 1;
            drops.push_back(Drop { link, parcel });
        };
        other.handle_packet(now, parcel, &mut on_drop);
        self.urgent |= !self.drops.is_empty();
        if stage.held > PACKETS_PER_LINK_MAX {
            self.overfull = Some(link);
            self.urgent = true;
        }
        queue.set(link, other.poll_timeout());
        if link == self.sampled {
            self.sampler.on_arrival(now, stage.queue(now));
        }
    }

    #[inline(never)]
    fn poll_held(&mut self, now: Time, link: u32, into: &mut Parcel<P>) -> bool {
        let stage = &mut self.stages[link as usize];
        let Kind::Other(other) = &mut stage.kind else { unreachable!("the caller has asked") };
        let held = &mut stage.held;
        let drops = &mut self.drops;
        let mut on_drop = |_, parcel, _| {
            *held -= 1;
            drops.push_back(Drop { link, parcel });
        };
        let polled = other.poll_packet(now, &mut on_drop);
        self.urgent |= !self.drops.is_empty();
        let Some(parcel) = polled else { return false };
        *held -= 1;
        *into = parcel;
        true
    }

    fn take_back(&self, totals: &mut [LinkTotals], end: Time, under_way: &UnderWay<P>) {
        let UnderWay { packet, place, .. } = under_way;
        let wire_bytes = packet.wire_bytes();
        let steps = self.routes.steps_before(place.next());
        let fused = steps.iter().rev().take_while(|step| step.fused).count();
        let chain = &steps[steps.len() - fused - 1..];
        let mut entered = Time::ZERO;
        for (i, &Step { link, .. }) in chain.iter().enumerate() {
            let left = if i + 1 == chain.len() { under_way.arrival } else { under_way.passages[i] };
            let stranded = left == Time::NEVER && self.stages[link as usize].counts_stranded();
            let totals = &mut totals[link as usize];
            if left > end && !stranded {
                take(&mut totals.delivered, wire_bytes);
                add(&mut totals.inside, wire_bytes);
            }
            if entered > end {
                take(&mut totals.arrived, wire_bytes);
                take(&mut totals.inside, wire_bytes);
            }
            entered = left;
        }
    }
}

/// Finds the links that can be computed together with their feeder.
fn fused_links<P: Datagram>(stages: &[Stage<P>], routes: &Routes) -> Vec<bool> {
    let feeders = routes.feeders(stages.len());
    let settling_feeder = |link: usize| match feeders[link] {
        Feeder::Link(feeder) if stages[link].settles() && stages[feeder as usize].settles() => {
            Some(feeder as usize)
        }
        _ => None,
    };
    // How many links up it is to one that hosts or several links feed; a route has an end, so it is not a ring.
    let depth = |link: usize| std::iter::successors(Some(link), |&link| settling_feeder(link)).count() - 1;
    (0..stages.len()).map(|link| depth(link) % CHAIN_MAX != 0).collect()
}

fn take(count: &mut Count, wire_bytes: u32) {
    count.packets -= 1;
    count.bytes -= u64::from(wire_bytes);
}

impl<P> PartialEq for DropToCome<P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<P> Eq for DropToCome<P> {}

impl<P> PartialOrd for DropToCome<P> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> Ord for DropToCome<P> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.time, self.order).cmp(&(other.time, other.order))
    }
}

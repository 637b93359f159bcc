//! Links at work: what enters them, what they hand on, and when.
//!
//! Most links *settle* a packet's fate when it enters: the time of its arrival at the far end is known at once. If,
//! on top, all packets of the next link come from this one, the next link can be asked at once as well, for that
//! future time: it will see the same packets in the same order. Such links are *fused*: a packet crosses a chain of
//! up to [`CHAIN_MAX`] of them in one event. A drop in a fused link lies in the future and waits in a queue of its
//! own, so that observers learn of it in time.

use rampcc::{Time, Traits};
use rampcc_scenario::random::link_seed;
use rampcc_scenario::{Scenario, Traffic, TrafficKind};
use rampcc_tcp::SenderConfig;

use crate::drops::{Drop, Drops};
use crate::error::PACKETS_PER_LINK_MAX;
use crate::event_queue::EventQueue;
use crate::link_sampler::LinkSampler;
use crate::packet::{Parcel, Place, Ticket};
use crate::router::Router;
use crate::stage::{CHAIN_MAX, Fate, Passages, Ring, Stage};
use crate::topology::{Feeder, Routes, Step};
use crate::transport::Datagram;

/// All links and what is inside them.
///
/// Link `i` is source `i` of the event queue; drops to come are source [`Network::drops_source`].
#[derive(Debug)]
pub(crate) struct Network<P> {
    pub(crate) routes: Routes,
    pub(crate) stages: Vec<Stage<P>>,
    /// Memory that links gave back when the last of their packets had arrived. Few links are busy at a time, so little
    /// is touched, and it stays in the caches.
    spare: Vec<Ring<P>>,
    pub(crate) drops: Drops<P>,
    /// The run is over by then; nothing later is worth computing.
    horizon: Time,
    overfull: Option<u32>,
    /// There is a drop to report, or a link is too full.
    urgent: bool,
    pub(crate) sampler: LinkSampler,
    /// The router before each link; none where none is asked.
    routers: Vec<Router>,
}

/// Why a packet does not come to the end of a chain.
#[derive(Debug)]
enum Stop {
    /// The first link keeps it.
    Held,
    /// A link drops it. Boxed, so that what becomes of a packet fits into registers.
    Dropped(Box<Dropped>),
}

#[derive(Debug)]
struct Dropped {
    by: Step,
    crossed: usize,
    time: Time,
    passages: Passages,
}

impl<P: Datagram> Network<P> {
    pub(crate) fn new(scenario: &Scenario, mut routes: Routes, seed: u64) -> Self {
        let links = scenario.topology.links.iter().enumerate();
        let stages = links.map(|(i, link)| Stage::new(&link.config, link_seed(seed, i)));
        let stages: Vec<Stage<P>> = stages.collect();
        routes.fuse(&fused_links(&stages, &routes));
        routes.sample(scenario.bottleneck as u32);
        Self {
            routes,
            stages,
            spare: Vec::new(),
            drops: Drops::default(),
            horizon: scenario.stop.after,
            overfull: None,
            urgent: false,
            sampler: LinkSampler::new(scenario),
            routers: routers(scenario),
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
        if self.routers.is_empty() {
            self.send_on(now, queue, packet, place);
        } else {
            self.send_past_routers(now, queue, *packet, place);
        }
    }

    #[cold]
    fn send_past_routers(&mut self, now: Time, queue: &mut EventQueue, mut packet: P, place: Place) {
        if packet.quick_start().is_some() {
            packet = self.ask_routers(now, packet, place);
        }
        self.send_on(now, queue, &packet, place);
    }

    #[expect(clippy::inline_always, reason = "otherwise the packet is made, then copied")]
    #[inline(always)]
    fn send_on(&mut self, now: Time, queue: &mut EventQueue, packet: &P, place: Place) {
        let mut ticket = Ticket::new(packet);
        match self.cross(now, queue, &mut ticket, place) {
            Ok(slot) => {
                *slot = *packet;
                if ticket.marked {
                    slot.mark();
                }
            }
            Err(stop) => self.end_here(now, queue, Parcel { packet: *packet, place }, stop),
        }
    }

    /// The packet as the routers of the next chain leave its Quick-Start option; all of them see it at once, as it enters.
    fn ask_routers(&mut self, now: Time, mut packet: P, place: Place) -> P {
        for step in self.routes.steps_from(place.next()) {
            let Some(option) = packet.quick_start() else { break };
            let link = step.link as usize;
            let entered = self.stages[link].totals().arrived.bytes;
            packet.set_quick_start(self.routers[link].pass(now, packet.flow(), option, entered));
            if !step.onward {
                break;
            }
        }
        packet
    }

    /// Settles a packet's way to the end of a chain, and gives out where the packet is to lie meanwhile.
    fn cross(
        &mut self,
        now: Time,
        queue: &mut EventQueue,
        ticket: &mut Ticket,
        place: Place,
    ) -> Result<&mut P, Stop> {
        let steps = self.routes.steps_from(place.next());
        let stages = self.stages.as_mut_slice();
        let mut passages = Passages::default();
        let mut time = now;
        let mut crossed = 0;
        let (last, arrival) = loop {
            let step = &steps[crossed];
            let stage = &mut stages[step.link as usize];
            let arrival = match stage.settle(time, ticket) {
                Fate::Arrives(arrival) => arrival,
                Fate::Dropped => {
                    return Err(Stop::Dropped(Box::new(Dropped { by: *step, crossed, time, passages })));
                }
                Fate::Held => return Err(Stop::Held),
            };
            if step.sampled {
                self.sampler.on_arrival(time, stage.queue(time));
            }
            if !step.onward || arrival > self.horizon {
                break (step, arrival);
            }
            passages[crossed] = arrival;
            time = arrival;
            crossed += 1;
        };
        let stage = &mut stages[last.link as usize];
        if stage.under_way.is_empty() {
            queue.set(last.link, arrival);
            if let Some(ring) = self.spare.pop() {
                stage.under_way = ring;
            }
        }
        if stage.under_way.len() >= PACKETS_PER_LINK_MAX {
            self.overfull = Some(last.link);
            self.urgent = true;
        }
        let under_way = stage.under_way.push_back();
        under_way.place = place.after(crossed as u32 + 1, last.last);
        under_way.arrival = arrival;
        under_way.passages = passages;
        Ok(&mut under_way.packet)
    }

    /// Deals with a packet that a link keeps or drops.
    #[cold]
    fn end_here(&mut self, now: Time, queue: &mut EventQueue, parcel: Parcel<P>, stop: Stop) {
        let Parcel { packet, place } = parcel;
        match stop {
            Stop::Held => {
                let first = self.routes.step(place.next());
                self.hold(now, queue, first, Parcel { packet, place: place.after(1, first.last) });
            }
            Stop::Dropped(dropped) => {
                let Dropped { by, crossed, time, passages } = *dropped;
                if by.sampled {
                    self.sampler.on_arrival(time, self.stages[by.link as usize].queue(time));
                }
                let parcel = Parcel { packet, place: place.after(crossed as u32 + 1, by.last) };
                let drop = Drop { link: by.link, parcel };
                if time == now {
                    self.drops.happened(drop);
                    self.urgent = true;
                } else {
                    self.drops.will_happen(time, passages, drop);
                    queue.set_at_latest(self.drops_source(), time);
                }
            }
        }
    }

    /// Hands a packet to a link that keeps it.
    #[inline(never)]
    fn hold(&mut self, now: Time, queue: &mut EventQueue, step: Step, parcel: Parcel<P>) {
        let Step { link, sampled, .. } = step;
        let stage = &mut self.stages[link as usize];
        let Some(keeper) = stage.keeper() else {
            unreachable!("the link has just said that it keeps packets")
        };
        keeper.handle_packet(now, parcel, |parcel| self.drops.happened(Drop { link, parcel }));
        queue.set(link, keeper.poll_timeout());
        if keeper.inside() > PACKETS_PER_LINK_MAX {
            self.overfull = Some(link);
            self.urgent = true;
        }
        self.urgent |= self.drops.some_happened();
        if sampled {
            self.sampler.on_arrival(now, stage.queue(now));
        }
    }

    /// Puts into `parcel` what reaches the end of a chain that ends with `link`, and returns when the next packet will if
    /// it is already under way, else `Time::NEVER`. `None`: nothing reaches it now.
    #[inline]
    pub(crate) fn poll_packet(&mut self, now: Time, link: u32, parcel: &mut Parcel<P>) -> Option<Time> {
        let stage = &mut self.stages[link as usize];
        if !stage.settles() {
            *parcel = self.poll_held(now, link)?;
            return Some(Time::NEVER);
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

    #[inline(never)]
    fn poll_held(&mut self, now: Time, link: u32) -> Option<Parcel<P>> {
        let keeper = self.stages[link as usize].keeper()?;
        let parcel = keeper.poll_packet(now, |parcel| self.drops.happened(Drop { link, parcel }));
        self.urgent |= self.drops.some_happened();
        parcel
    }

    /// When `link` has something to do next.
    #[inline]
    pub(crate) fn poll_timeout(&self, link: u32) -> Time {
        self.stages[link as usize].poll_timeout()
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

    /// Packets dropped by now that are not reported yet; call until `None`.
    #[inline]
    pub(crate) fn poll_drop(&mut self) -> Option<Drop<P>> {
        let drop = self.drops.poll();
        self.urgent = drop.is_some();
        drop
    }

    /// Drops that were to come may be due. Returns when the next will be.
    pub(crate) fn handle_drops_due(&mut self, now: Time) -> Time {
        self.drops.handle_due(now);
        self.urgent |= self.drops.some_happened();
        self.drops.poll_timeout()
    }
}

/// A router for every link if some flow asks them.
fn routers(scenario: &Scenario) -> Vec<Router> {
    let asks = |sender: &SenderConfig| sender.startup.traits.has(Traits::NEEDS_ROUTER);
    let drawn = |traffic: &Traffic| match &traffic.kind {
        TrafficKind::Poisson { sender, .. }
        | TrafficKind::Web { sender, .. }
        | TrafficKind::Listed { sender, .. } => asks(sender),
        TrafficKind::Cbr { .. } => false,
    };
    let asked = scenario.flows.iter().any(|flow| asks(&flow.sender))
        || scenario.steering.algorithm.traits.has(Traits::NEEDS_ROUTER)
        || scenario.traffic.iter().any(drawn);
    let links = scenario.topology.links.iter().filter(|_| asked);
    links.map(|link| Router::new(&link.config)).collect()
}

/// Finds the links that can be computed together with their feeder, at most [`CHAIN_MAX`] in a chain.
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

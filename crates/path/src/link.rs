//! One direction of one hop.

use rampcc::{Rate, Time};

use crate::ack_filter::{Filter, Verdict};
use crate::capacity::{Serve, Server};
use crate::config::LinkConfig;
use crate::delay::{self, Delay, Grant};
use crate::flight::Flight;
use crate::loss::Loss;
use crate::queue::Queue;
use crate::{DropReason, Packet, Totals};

/// What follows a packet that was delayed for longer arrives at this rate.
const CLOSEST: Rate = Rate::from_bits_per_s(100_000_000_000);

/// One direction of one hop: loss, ACK filter, grants, queue, capacity and delay, in this order.
///
/// Its behaviour depends on nothing but the configuration, the seed and the sequence of packets with their
/// times, which must not go back. In particular it does not matter when it is polled: packets may be handed in
/// ahead of the clock, and a queue that decides on arrival knows at once when each will be delivered.
///
/// A packet that a `Time::NEVER` keeps (an outage for good) stays inside.
///
/// Invariant: every packet taken in is given out or dropped once, or is inside.
#[derive(Clone, Debug)]
pub struct Link<P> {
    server: Server,
    queue: Queue<P>,
    delay: Delay,
    flight: Flight<P>,
    /// What happens before the queue, where anything does.
    entrance: Option<Box<Entrance<P>>>,
    totals: Totals,
}

#[derive(Clone, Debug)]
struct Entrance<P> {
    loss: Loss,
    filter: Option<Filter<P>>,
    grants: Vec<Grant>,
}

impl<P: Packet> Link<P> {
    /// A link that is empty. Links of one run need different seeds.
    pub fn new(config: &LinkConfig, seed: u64) -> Self {
        let loss = Loss::new(&config.loss, seed);
        let filter = config.ack_filter.map(Filter::new);
        let grants = config.delay.jitter.as_ref().map_or_else(Vec::new, |jitter| delay::grants(jitter, seed));
        let plain = matches!(loss, Loss::None) && filter.is_none() && grants.is_empty();
        Self {
            server: Server::new(&config.capacity),
            queue: Queue::new(config, seed),
            delay: Delay::new(&config.delay, seed),
            flight: Flight::new(),
            entrance: (!plain).then(|| Box::new(Entrance { loss, filter, grants })),
            totals: Totals::default(),
        }
    }

    /// Takes a packet at `now`. Drops are handed out with their own times; one that waited for a grant is dropped
    /// when the grant comes, after `now`.
    #[inline]
    pub fn handle_packet(&mut self, now: Time, packet: P, on_drop: &mut impl FnMut(Time, P, DropReason)) {
        self.totals.arrived.add(packet.wire_bytes());
        if self.entrance.is_some() {
            self.enter(now, packet, on_drop);
        } else {
            self.enqueue(now, packet, on_drop);
        }
    }

    /// Time of the next poll; [`Time::NEVER`]: nothing happens until the next packet.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        let mut next = self.flight.next_delivery();
        if let Queue::CoDel(codel) = &self.queue {
            next = next.min(codel.next_service());
        }
        if let Some(entrance) = &self.entrance {
            next = next.min(entrance.due());
        }
        next
    }

    /// Gives out a packet that has arrived by `now`; to be called until `None`.
    #[inline]
    pub fn poll_packet(&mut self, now: Time, on_drop: &mut impl FnMut(Time, P, DropReason)) -> Option<P> {
        if self.entrance.is_some() {
            self.release(now, on_drop);
        }
        if let Queue::CoDel(_) = self.queue {
            self.run_codel(now, on_drop);
        }
        let packet = self.flight.pop(now)?;
        self.totals.delivered.add(packet.wire_bytes());
        Some(packet)
    }

    /// Wire bytes waiting at `now`, the packet in service not counted.
    ///
    /// `now` must not be earlier than the last packet handed in.
    #[inline]
    pub fn queue_bytes(&mut self, now: Time) -> u64 {
        match &mut self.queue {
            Queue::OnArrival(queue) => {
                queue.advance(now);
                queue.waiting.bytes()
            }
            Queue::CoDel(codel) => codel.bytes(),
        }
    }

    /// Packets waiting at `now`, the one in service not counted.
    ///
    /// `now` must not be earlier than the last packet handed in.
    #[inline]
    pub fn queue_packets(&mut self, now: Time) -> u64 {
        match &mut self.queue {
            Queue::OnArrival(queue) => {
                queue.advance(now);
                queue.waiting.packets()
            }
            Queue::CoDel(codel) => codel.packets(),
        }
    }

    /// Totals of everything that went through so far. Takes time proportional to the packets inside.
    pub fn totals(&self) -> Totals {
        let mut totals = self.totals;
        totals.peak_queue = match &self.queue {
            Queue::OnArrival(queue) => queue.waiting.peak(),
            Queue::CoDel(codel) => codel.peak(),
        };
        let waiting = match &self.queue {
            Queue::OnArrival(_) => None,
            Queue::CoDel(codel) => Some(codel.waiting()),
        };
        let held = self.entrance.iter().flat_map(|entrance| entrance.held());
        for packet in self.flight.packets().chain(waiting.into_iter().flatten()).chain(held) {
            totals.inside.add(packet.wire_bytes());
        }
        totals
    }

    /// True if the fate of every packet is settled by the time [`Self::handle_packet`] returns, and packets
    /// leave in order.
    ///
    /// Such a link may be emptied ahead of the clock: what it gives out no later packet can change.
    pub fn settles_on_arrival(&self) -> bool {
        let holds = self.entrance.as_ref().is_some_and(|entrance| entrance.filter.is_some());
        matches!(self.queue, Queue::OnArrival(_)) && self.delay.in_order() && !holds
    }

    /// Loss and ACK filter.
    #[inline(never)]
    fn enter(&mut self, now: Time, packet: P, on_drop: &mut impl FnMut(Time, P, DropReason)) {
        self.release(now, on_drop);
        let Some(entrance) = &mut self.entrance else {
            return self.enqueue(now, packet, on_drop);
        };
        if entrance.loss.loses() {
            return self.drop_packet(now, packet, DropReason::Medium, on_drop);
        }
        let verdict = match &mut entrance.filter {
            Some(filter) => filter.handle(now, packet),
            None => Verdict::Pass(packet),
        };
        match verdict {
            Verdict::Pass(packet) => self.enqueue_granted(now, packet, on_drop),
            Verdict::Hold(thinned) => {
                if let Some(thinned) = thinned {
                    self.drop_packet(now, thinned, DropReason::Thinned, on_drop);
                }
                self.release(now, on_drop);
            }
        }
    }

    /// Lets held ACKs go on that are due by `now`, at the time they are due.
    fn release(&mut self, now: Time, on_drop: &mut impl FnMut(Time, P, DropReason)) {
        let Some(Entrance { filter: Some(filter), .. }) = self.entrance.as_deref_mut() else {
            return;
        };
        let due = filter.due();
        if due > now || due == Time::NEVER {
            return;
        }
        let mut held = filter.release();
        for packet in held.drain(..) {
            self.enqueue_granted(due, packet, on_drop);
        }
        if let Some(Entrance { filter: Some(filter), .. }) = self.entrance.as_deref_mut() {
            filter.recycle(held);
        }
        self.release(now, on_drop);
    }

    /// Joins the queue at the next grant, which is known now.
    fn enqueue_granted(&mut self, now: Time, packet: P, on_drop: &mut impl FnMut(Time, P, DropReason)) {
        let grants = self.entrance.as_mut().map(|entrance| &mut entrance.grants);
        let bytes = packet.wire_bytes();
        let at = grants.into_iter().flatten().fold(now, |at, grant| grant.next(at, bytes));
        self.enqueue(at, packet, on_drop);
    }

    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: P, on_drop: &mut impl FnMut(Time, P, DropReason)) {
        let Queue::OnArrival(queue) = &mut self.queue else {
            return self.enqueue_codel(now, packet, on_drop);
        };
        let admitted = match &mut self.server {
            Server::Unlimited => Ok(now),
            Server::Constant(server) => queue.admit(now, &mut packet, server),
            Server::Stepped(server) => queue.admit(now, &mut packet, server),
            Server::Traced(server) => queue.admit(now, &mut packet, server),
        };
        match admitted {
            Ok(departure) => launch(&mut self.delay, &mut self.flight, departure, packet),
            Err(reason) => self.drop_packet(now, packet, reason, on_drop),
        }
    }

    #[inline(never)]
    fn enqueue_codel(&mut self, now: Time, packet: P, on_drop: &mut impl FnMut(Time, P, DropReason)) {
        if let Server::Unlimited = self.server {
            return launch(&mut self.delay, &mut self.flight, now, packet);
        }
        self.run_codel(now, on_drop);
        let Queue::CoDel(codel) = &mut self.queue else { unreachable!("the caller has matched CoDel") };
        if let Err((packet, reason)) = codel.push(now, packet, &mut self.server) {
            self.drop_packet(now, packet, reason, on_drop);
        }
        self.run_codel(now, on_drop);
    }

    /// Serves what CoDel gives out by `now`.
    #[inline(never)]
    fn run_codel(&mut self, now: Time, on_drop: &mut impl FnMut(Time, P, DropReason)) {
        let Self { server, queue: Queue::CoDel(codel), totals, delay, flight, .. } = self else {
            return;
        };
        let mut on_drop = |at, packet: P, reason| {
            totals.drop_for(reason, packet.wire_bytes());
            on_drop(at, packet, reason);
        };
        while let Some((start, packet)) = codel.poll(now, server, &mut on_drop) {
            let departure = server.serve(start, packet.wire_bytes());
            launch(delay, flight, departure, packet);
        }
    }

    #[inline(never)]
    fn drop_packet(
        &mut self,
        now: Time,
        packet: P,
        reason: DropReason,
        on_drop: &mut impl FnMut(Time, P, DropReason),
    ) {
        self.totals.drop_for(reason, packet.wire_bytes());
        on_drop(now, packet, reason);
    }
}

/// Sends a packet on its way. One whose delay shrinks catches up with those before it, and follows them as closely as
/// the fastest wires would have it, not at the same instant: who measures rates by gaps must find some.
#[inline]
fn launch<P: Packet>(delay: &mut Delay, flight: &mut Flight<P>, departure: Time, packet: P) {
    let delivery = delay.delivery(departure);
    if delivery.late {
        flight.push_late(delivery.at, packet);
    } else {
        let spacing =
            if delay.varies() { CLOSEST.time_of(u64::from(packet.wire_bytes())) } else { Time::ZERO };
        flight.push(delivery.at, spacing, packet);
    }
}

impl<P: Packet> Entrance<P> {
    fn due(&self) -> Time {
        self.filter.as_ref().map_or(Time::NEVER, Filter::due)
    }

    fn held(&self) -> impl Iterator<Item = &P> {
        self.filter.iter().flat_map(Filter::held)
    }
}

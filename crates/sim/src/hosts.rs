//! Senders and receivers: live flows, and the outcome of each.

use rampcc::Time;
use rampcc_path::Packet;
use rampcc_scenario::Scenario;
use rampcc_tcp::{Search, SenderConfig};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowTotals, Observer};

use crate::SimulationError;
use crate::cpu::{Cpu, Visits};
use crate::event_queue::EventQueue;
use crate::flow::{Flow, FlowSpec};
use crate::history::History;
use crate::network::Network;
use crate::packet::{End, Parcel, Place};
use crate::topology::Between;
use crate::transport::{Connecting, Datagram, Endpoint, Receiving, Sending, Transport};

/// Live flows in slots that are used again, and the totals of all flows by id.
pub(crate) struct Hosts<T: Transport> {
    slots: Vec<Option<Box<Flow<T>>>>,
    free_slots: Vec<u32>,
    /// The event source of slot 0.
    first_source: u32,
    /// The event source of the first processor.
    first_cpu: u32,
    /// One per node if processors count, otherwise none.
    cpus: Vec<Cpu<T::Packet>>,
    pub(crate) totals: Vec<FlowTotals>,
}

/// What flows and traffic act on.
pub(crate) struct World<'a, T: Transport, O> {
    pub(crate) now: Time,
    pub(crate) queue: EventQueue,
    pub(crate) network: Network<T::Packet>,
    pub(crate) transport: &'a mut T,
    pub(crate) history: History,
    pub(crate) observer: &'a mut O,
}

impl<T: Transport, O> World<'_, T, O> {
    /// Hands a packet to the next link of its route, which must not be at its end.
    #[expect(clippy::inline_always, reason = "otherwise the packet is made, then copied")]
    #[inline(always)]
    pub(crate) fn send(&mut self, packet: &T::Packet, place: Place) {
        self.network.send(self.now, &mut self.queue, packet, place);
    }
}

impl<T: Transport, O: Observer> World<'_, T, O> {
    /// Tells the observer of something that happens to a flow, and first of the queue until then: its metrics begin and end with flows.
    fn tell(&mut self, flow: u32, kind: FlowEventKind) {
        self.network.sampler.catch_up(self.now);
        self.report_queue();
        self.observer.on_event(&FlowEvent { now: self.now, flow, kind });
    }

    /// Tells the observer what the bottleneck has sampled.
    pub(crate) fn report_queue(&mut self) {
        while let Some(sample) = self.network.sampler.poll_sample(self.now) {
            self.observer.on_link(&sample);
        }
    }
}

/// The last byte of a flow has arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    pub(crate) under_test: bool,
    /// Generator and web session that wait for it.
    pub(crate) session: Option<(u32, u32)>,
}

impl<T: Transport> Hosts<T> {
    /// No flow lives yet; `totals` are those of the explicit flows. Event sources from `first_source` on are the hosts'.
    pub(crate) fn new(first_source: u32, scenario: &Scenario, totals: Vec<FlowTotals>) -> Self {
        let nodes = scenario.topology.nodes.len();
        let cpus: Vec<_> = scenario.cpu.map_or(Vec::new(), |cpu| (0..nodes).map(|_| Cpu::new(cpu)).collect());
        let (first_cpu, first_source) = (first_source, first_source + 2 * cpus.len() as u32);
        Self { slots: Vec::new(), free_slots: Vec::new(), first_source, first_cpu, cpus, totals }
    }

    /// A packet has reached its host.
    #[inline]
    pub(crate) fn deliver<O: Observer>(
        &mut self,
        world: &mut World<'_, T, O>,
        parcel: &Parcel<T::Packet>,
    ) -> Option<Completion> {
        if self.cpus.is_empty() {
            return self.receive(world, parcel);
        }
        self.wait_for_cpu(world, parcel);
        None
    }

    /// How many event sources are the processors', the first of the hosts': one each for their work, then one each for their
    /// windows.
    pub(crate) fn cpu_sources(&self) -> u32 {
        2 * self.cpus.len() as u32
    }

    /// The processor of an event source.
    pub(crate) fn cpu_of(&self, source: u32) -> u32 {
        source % self.cpus.len().max(1) as u32
    }

    #[inline(never)]
    fn wait_for_cpu<O: Observer>(&mut self, world: &mut World<'_, T, O>, parcel: &Parcel<T::Packet>) {
        let slot = parcel.place.slot();
        let flow = self.slots.get(slot as usize).and_then(Option::as_deref);
        let Some(flow) = flow.filter(|flow| flow.id == parcel.packet.flow()) else {
            return world.transport.discard(&parcel.packet);
        };
        let node = if parcel.place.to() == End::Receiver { flow.between.to } else { flow.between.from };
        let cpu = &mut self.cpus[node];
        if !cpu.take(parcel) {
            world.transport.discard(&parcel.packet);
        }
        if !cpu.is_busy() {
            self.occupy(world, node);
        }
    }

    /// Gives an idle processor what waits for it.
    fn occupy<O: Observer>(&mut self, world: &mut World<'_, T, O>, node: usize) {
        let Some(cpu) = self.cpus.get_mut(node) else { return };
        let search = cpu.search();
        if let Some(parcel) = cpu.next(world.now) {
            let flow = self.slots.get(parcel.place.slot() as usize).and_then(Option::as_deref);
            let visits = match flow.filter(|flow| flow.id == parcel.packet.flow()) {
                Some(flow) if parcel.place.to() == End::Receiver => {
                    visits(&flow.receiver, &parcel.packet, search)
                }
                Some(flow) => Visits { outstanding: true, ..visits(&flow.sender, &parcel.packet, search) },
                None => Visits::default(),
            };
            cpu.serve(world.now, visits);
        }
        world.queue.set(self.first_cpu + node as u32, cpu.poll_timeout());
    }

    /// A processor has done its packet, or a while has passed for it.
    #[inline(never)]
    pub(crate) fn handle_cpu<O: Observer>(
        &mut self,
        world: &mut World<'_, T, O>,
        source: u32,
    ) -> Option<Completion> {
        let node = self.cpu_of(source);
        let cpu = &mut self.cpus[node as usize];
        while let Some(sample) = cpu.poll_sample(world.now, node) {
            world.observer.on_cpu(&sample);
        }
        if source != node {
            world.queue.set(self.first_cpu + source, cpu.window_end());
            return None;
        }
        let done = cpu.finish(world.now);
        let completion = done.and_then(|parcel| self.receive(world, &parcel));
        self.occupy(world, node as usize);
        completion
    }

    /// A host takes a packet in. Hosts that have closed do not answer.
    #[inline]
    fn receive<O: Observer>(
        &mut self,
        world: &mut World<'_, T, O>,
        parcel: &Parcel<T::Packet>,
    ) -> Option<Completion> {
        let Parcel { packet, place } = parcel;
        let slot = place.slot();
        let flow = self.slots.get_mut(slot as usize).and_then(Option::as_deref_mut);
        let Some(flow) = flow.filter(|flow| flow.id == packet.flow()) else {
            world.transport.discard(packet);
            return None;
        };
        let source = self.first_source + slot;
        let mut completed = false;
        if place.to() == End::Receiver {
            flow.receiver.handle_packet(world.now, packet);
            completed = drain_receiver(world, flow, source);
        } else {
            flow.sender.handle_packet(world.now, packet);
            flow.writer.handle_acknowledged(world.now, &mut flow.sender);
            if flow.sampled {
                world.observer.on_flow(&flow.sender.sample(world.now));
            }
            drain_sender(world, flow, source);
        }
        if flow.completed { self.on_completed(world, slot, completed) } else { None }
    }

    /// The timers of a flow, or its application, may be due.
    pub(crate) fn handle_timeout<O: Observer>(
        &mut self,
        world: &mut World<'_, T, O>,
        slot: u32,
    ) -> Option<Completion> {
        let source = self.first_source + slot;
        let now = world.now;
        let Some(flow) = self.slots.get_mut(slot as usize).and_then(Option::as_deref_mut) else {
            world.queue.set(source, Time::NEVER);
            return None;
        };
        let mut completed = false;
        // Otherwise, it has moved later since it was armed.
        if flow.poll_timeout() <= now {
            while let Some(packet) = flow.held.pop(now) {
                world.send(&packet, flow.forward);
            }
            if flow.writer.poll_timeout() <= now {
                flow.writer.handle_timeout(now, &mut flow.sender);
            }
            let mut visits = Visits::default();
            if flow.sender.poll_timeout() <= now {
                visits = Visits {
                    entries: flow.sender.timeout_visits(),
                    of: flow.sender.queued(),
                    ..Visits::default()
                };
                flow.sender.handle_timeout(now);
            }
            let receiver_due = flow.receiver.poll_timeout() <= now;
            if receiver_due {
                flow.receiver.handle_timeout(now);
            }
            drain_sender(world, flow, source);
            if receiver_due {
                completed = drain_receiver(world, flow, source);
            }
            let node = flow.between.from;
            if let Some(cpu) = self.cpus.get_mut(node) {
                cpu.interrupt(now, visits);
                world.queue.set(self.first_cpu + node as u32, cpu.poll_timeout());
            }
        }
        flow.armed = flow.poll_timeout();
        world.queue.set(source, flow.armed);
        if flow.completed { self.on_completed(world, slot, completed) } else { None }
    }

    /// Opens the flow of `spec`, whose totals exist.
    pub(crate) fn open<O: Observer>(&mut self, world: &mut World<'_, T, O>, spec: &FlowSpec<'_>) {
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        self.announce(world, spec.ends.flow);
        let (mut sender, receiver) = match spec.remembered() {
            Some(place) => {
                let hint = world.history.recall(place, &spec.ends.sender.hint, world.now);
                let sender = &SenderConfig { hint, ..spec.ends.sender.clone() };
                world.transport.connect(&Connecting { sender, ..spec.ends })
            }
            None => world.transport.connect(&spec.ends),
        };
        let recorded = spec.ends.sender.sampled && world.observer.wants_decisions();
        if recorded {
            sender.record_decisions();
        }
        let flow = Flow::open(world.now, slot, spec, sender, receiver);
        let flow = self.slots[slot as usize].insert(Box::new(flow));
        flow.recorded = recorded;
        flow.report_every(world.now, world.observer.progress_every());
        let Between { from, to } = flow.between;
        for node in [from, to] {
            if let Some(cpu) = self.cpus.get_mut(node) {
                cpu.start(world.now, node == from);
                let window = self.first_cpu + (self.cpus.len() + node) as u32;
                world.queue.set(window, self.cpus[node].window_end());
            }
        }
        let source = self.first_source + slot;
        drain_sender(world, flow, source);
        // The application has a timer as well.
        arm(world, flow, source, flow.poll_timeout());
    }

    /// Tells the observer that a flow begins.
    pub(crate) fn announce<O: Observer>(&mut self, world: &mut World<'_, T, O>, id: u32) {
        let totals = &mut self.totals[id as usize];
        totals.opened = world.now;
        let kind = FlowEventKind::Opened { size_bytes: totals.size_bytes, under_test: totals.under_test };
        world.tell(id, kind);
    }

    /// The id of a flow that is not listed.
    pub(crate) fn new_id(&mut self, size_bytes: u64, under_test: bool) -> Result<u32, SimulationError> {
        let id = u32::try_from(self.totals.len()).map_err(|_| SimulationError::TooManyFlows)?;
        self.totals.push(FlowTotals::new(size_bytes, under_test));
        Ok(id)
    }

    /// The flow in `slot`, for messages.
    pub(crate) fn id(&self, slot: u32) -> Option<u32> {
        Some(self.slots.get(slot as usize)?.as_ref()?.id)
    }

    /// The run is over: totals of every flow, and a last word about each that has not completed.
    pub(crate) fn finish<O: Observer>(mut self, now: Time, observer: &mut O) -> Vec<FlowTotals> {
        for flow in std::mem::take(&mut self.slots).into_iter().flatten() {
            self.account(now, &flow);
        }
        for (id, totals) in self.totals.iter().enumerate() {
            if totals.completed == Time::NEVER {
                let kind = FlowEventKind::Unfinished { bytes: totals.received_bytes };
                observer.on_event(&FlowEvent { now, flow: id as u32, kind });
            }
        }
        self.totals
    }

    /// Everything has arrived, just now or before. The flow goes on until its sender knows.
    #[cold]
    fn on_completed<O: Observer>(
        &mut self,
        world: &mut World<'_, T, O>,
        slot: u32,
        now: bool,
    ) -> Option<Completion> {
        let flow = self.slots[slot as usize].as_deref()?;
        let totals = &mut self.totals[flow.id as usize];
        let completion = Completion { under_test: totals.under_test, session: flow.session };
        if now {
            totals.completed = world.now;
            world.tell(flow.id, FlowEventKind::Completed { bytes: flow.receiver.received_bytes() });
        }
        if flow.over()
            && let Some(flow) = self.slots[slot as usize].take()
        {
            remember(world, &flow, true);
            self.account(world.now, &flow);
            self.free_slots.push(slot);
            world.queue.set(self.first_source + slot, Time::NEVER);
        }
        now.then_some(completion)
    }

    fn account(&mut self, now: Time, flow: &Flow<T>) {
        let totals = &mut self.totals[flow.id as usize];
        totals.received_bytes = flow.receiver.received_bytes();
        totals.retransmitted_bytes = flow.sender.sample(now).retransmitted_bytes;
        totals.data_packets = flow.data_packets;
    }
}

/// What an end looks at to take in `packet`.
fn visits<E: Endpoint>(end: &E, packet: &E::Packet, search: Search) -> Visits {
    Visits { entries: end.visits(packet, search), of: end.queued(), outstanding: false }
}

/// The host may learn from how a flow stands.
#[cold]
fn remember<T: Transport, O: Observer>(world: &mut World<'_, T, O>, flow: &Flow<T>, closing: bool) {
    if let Some(place) = flow.remembered
        && let Some(seen) = flow.sender.seen(world.now, closing)
    {
        world.history.remember(place, &seen);
    }
}

/// Carries out what a sender wants after something was handed in.
#[inline]
fn drain_sender<T: Transport, O: Observer>(world: &mut World<'_, T, O>, flow: &mut Flow<T>, source: u32) {
    let (now, forward) = (world.now, flow.forward);
    let Flow { sender, data_packets, held, .. } = &mut *flow;
    while sender.poll_transmit(now, |packet| {
        *data_packets += u64::from(packet.payload_bytes() > 0);
        if held.by == Time::ZERO {
            world.send(packet, forward);
        } else {
            held.push(now, *packet);
        }
    }) {}
    if flow.recorded {
        while let Some(decision) = flow.sender.poll_decision() {
            world.observer.on_decision(&decision);
        }
    }
    while let Some(kind) = flow.sender.poll_event() {
        if flow.remembered.is_some() && matches!(kind, FlowEventKind::StartupExit { .. }) {
            remember(world, flow, false);
        }
        world.observer.on_event(&FlowEvent { now: world.now, flow: flow.id, kind });
    }
    let timeout = flow.sender.poll_timeout().min(flow.held.poll_timeout()).min(flow.writer.poll_timeout());
    arm(world, flow, source, timeout);
}

/// Carries out what a receiver wants after something was handed in; whether the last byte has just arrived.
#[inline]
fn drain_receiver<T: Transport, O: Observer>(
    world: &mut World<'_, T, O>,
    flow: &mut Flow<T>,
    source: u32,
) -> bool {
    let (now, backward) = (world.now, flow.backward);
    while flow.receiver.poll_transmit(now, |packet| world.send(packet, backward)) {}
    arm(world, flow, source, flow.receiver.poll_timeout());
    if flow.sampled
        && let Some(bytes) = flow.poll_progress(now)
    {
        let kind = FlowEventKind::Received { bytes };
        world.observer.on_event(&FlowEvent { now: world.now, flow: flow.id, kind });
    }
    let completed = !flow.completed && flow.receiver.completed();
    flow.completed |= completed;
    completed
}

/// A flow that is due later than it is armed for finds out when it is woken.
#[inline]
fn arm<T: Transport, O>(world: &mut World<'_, T, O>, flow: &mut Flow<T>, source: u32, timeout: Time) {
    if timeout < flow.armed {
        flow.armed = timeout;
        world.queue.set(source, timeout);
    }
}

//! The loop: whoever is due next acts, and what that causes is carried out at once.

use std::sync::atomic::{AtomicBool, Ordering};

use ramp::Time;
use ramp_path::Packet;
use ramp_scenario::{FlowConfig, Scenario, Source, TrafficKind};
use ramp_tcp::{ReceiverConfig, Segment, SenderConfig};
use ramp_trace::{FlowEvent, FlowEventKind, Observer};

use crate::event_queue::EventQueue;
use crate::flow::{Flow, FlowSpec, size_of};
use crate::network::{Hop, Network};
use crate::packet::Parcel;
use crate::random::{Purpose, Stream};
use crate::topology::Routes;
use crate::traffic::{Arrival, Generator};
use crate::{FlowTotals, Outcome, SimulationError};

/// Plays `scenario` once.
///
/// `observer` learns of every flow's opening, completion and drops, and of everything else only for flows whose
/// sender is `sampled`, and for the scenario's bottleneck link. `interrupted` is looked at every few thousand events.
///
/// # Errors
///
/// [`SimulationError::Interrupted`] if the caller asked for it; otherwise only for scenarios that cannot run: nodes
/// that are not connected, a loop without delay, more than 2^32 flows.
pub fn simulate<O: Observer>(
    scenario: &Scenario,
    seed: u64,
    observer: &mut O,
    interrupted: &AtomicBool,
) -> Result<Outcome, SimulationError> {
    let drawn;
    let scenario = if scenario.trace_offset_range > Time::ZERO {
        drawn = scenario.at_seed(seed);
        &drawn
    } else {
        scenario
    };
    Simulation::new(scenario, seed, observer)?.run(interrupted)
}

/// So many events at one instant are a loop without delay.
const EVENTS_PER_INSTANT_MAX: u64 = 20_000_000;
const EVENTS_BETWEEN_CHECKS: u64 = 4096;

/// One run.
///
/// Sources of the event queue, in this order: links, drops to come, explicit flows to open, generators, flow slots.
struct Simulation<'a, O> {
    scenario: &'a Scenario,
    observer: &'a mut O,
    now: Time,
    queue: EventQueue,
    network: Network,
    generators: Vec<Generator>,
    configs: Vec<Option<FlowConfigs>>,
    /// Stream without feedback of each generator.
    streams: Vec<Option<Parcel>>,
    /// Explicit flows by time of opening, latest first.
    to_open: Vec<(Time, u32)>,
    slots: Vec<Option<Box<Flow>>>,
    free_slots: Vec<u32>,
    flows: Vec<FlowTotals>,
    data_packets: u64,
    under_test_live: u64,
    /// Every flow under test has completed.
    all_complete: bool,
}

/// How a generator's flows send, by whether the compared algorithm steers, and how they are answered.
type FlowConfigs = ([SenderConfig; 2], ReceiverConfig);

/// What is due.
enum Due {
    Link(u32),
    Drops,
    Opening,
    Generator(u32),
    Flow(u32),
}

impl<'a, O: Observer> Simulation<'a, O> {
    fn new(scenario: &'a Scenario, seed: u64, observer: &'a mut O) -> Result<Self, SimulationError> {
        let network = Network::new(scenario, Routes::new(scenario)?, seed);
        let generators: Vec<Generator> = scenario
            .traffic
            .iter()
            .enumerate()
            .map(|(i, traffic)| Generator::new(traffic, i, seed))
            .collect();
        let mut simulation = Self {
            scenario,
            observer,
            now: Time::ZERO,
            queue: EventQueue::default(),
            network,
            streams: vec![None; generators.len()],
            generators,
            configs: scenario.traffic.iter().map(|traffic| configs(scenario, &traffic.kind)).collect(),
            to_open: openings(scenario, seed),
            slots: Vec::new(),
            free_slots: Vec::new(),
            flows: scenario
                .flows
                .iter()
                .map(|flow| FlowTotals::new(size_of(&flow.source), flow.under_test))
                .collect(),
            data_packets: 0,
            under_test_live: 0,
            all_complete: false,
        };
        simulation.arm_opening();
        for generator in 0..simulation.generators.len() as u32 {
            simulation.arm_generator(generator);
        }
        Ok(simulation)
    }

    fn run(mut self, interrupted: &AtomicBool) -> Result<Outcome, SimulationError> {
        let stop = self.scenario.stop;
        let mut events = 0u64;
        let mut at_this_instant = 0u64;
        while let Some((time, source)) = self.queue.peek() {
            if time > stop.after {
                break;
            }
            at_this_instant = if time == self.now { at_this_instant + 1 } else { 0 };
            self.now = time;
            events += 1;
            if events % EVENTS_BETWEEN_CHECKS == 0 {
                if interrupted.load(Ordering::Relaxed) {
                    return Err(SimulationError::Interrupted { at: time });
                }
                if at_this_instant > EVENTS_PER_INSTANT_MAX {
                    return Err(SimulationError::Stalled { at: time, what: self.describe(source) });
                }
                if let Some(link) = self.network.overfull(time) {
                    let link = self.scenario.topology.links[link].name.clone();
                    return Err(SimulationError::Overfull { link, at: time });
                }
            }
            match self.due(source) {
                Due::Link(link) => self.on_link(link),
                Due::Drops => self.on_drops_due(),
                Due::Opening => self.on_opening(),
                Due::Generator(generator) => self.on_generator(generator)?,
                Due::Flow(slot) => self.on_flow(slot),
            }
            if self.all_complete && stop.when_complete {
                return Ok(self.finish(events, time));
            }
        }
        Ok(self.finish(events, stop.after))
    }

    #[inline]
    fn due(&self, source: u32) -> Due {
        let links = self.network.drops_source();
        if source < links {
            return Due::Link(source);
        }
        let generators = self.generators.len() as u32;
        match source - links {
            0 => Due::Drops,
            1 => Due::Opening,
            i if i < 2 + generators => Due::Generator(i - 2),
            i => Due::Flow(i - 2 - generators),
        }
    }

    fn opening_source(&self) -> u32 {
        self.network.drops_source() + 1
    }

    fn generator_source(&self, generator: u32) -> u32 {
        self.network.drops_source() + 2 + generator
    }

    #[inline]
    fn flow_source(&self, slot: u32) -> u32 {
        self.network.drops_source() + 2 + self.generators.len() as u32 + slot
    }

    fn describe(&self, source: u32) -> String {
        match self.due(source) {
            Due::Link(link) => format!("link `{}`", self.scenario.topology.links[link as usize].name),
            Due::Drops => "a drop".to_owned(),
            Due::Opening => "a flow".to_owned(),
            Due::Generator(generator) => {
                format!("traffic `{}`", self.scenario.traffic[generator as usize].name)
            }
            Due::Flow(slot) => {
                format!("flow {}", self.slots[slot as usize].as_ref().map_or(u32::MAX, |flow| flow.id))
            }
        }
    }

    #[inline]
    fn on_link(&mut self, link: u32) {
        while let Some(hop) = self.network.poll_packet(self.now, link) {
            match hop {
                Hop::Arrived(packet) => self.deliver(packet.slot, &packet.segment),
                Hop::Onward(parcel) => self.network.send(self.now, &parcel, &mut self.queue),
            }
            self.report_drops();
        }
        self.report_drops();
        self.queue.set(link, self.network.poll_timeout(link));
        self.report_link_samples();
    }

    fn on_drops_due(&mut self) {
        self.network.handle_drops_due(self.now);
        self.report_drops();
        self.queue.set(self.network.drops_source(), self.network.drops_timeout());
    }

    /// A segment has reached its host. Hosts that have closed do not answer.
    #[inline]
    fn deliver(&mut self, slot: u32, segment: &Segment) {
        let Some(Some(flow)) = self.slots.get_mut(slot as usize) else { return };
        if flow.id != segment.flow() {
            return;
        }
        if segment.to_receiver() {
            flow.receiver.handle_segment(self.now, segment);
            self.drain_receiver(slot);
        } else {
            flow.sender.handle_segment(self.now, segment);
            if flow.sampled {
                self.observer.on_flow(&flow.sender.sample(self.now));
            }
            self.drain_sender(slot);
        }
    }

    /// The timers of a flow, or its application, may be due.
    fn on_flow(&mut self, slot: u32) {
        let now = self.now;
        let source = self.flow_source(slot);
        let Some(flow) = &mut self.slots[slot as usize] else { return self.queue.set(source, Time::NEVER) };
        // It has moved later since it was armed.
        let timeout = flow.poll_timeout();
        if timeout > now {
            return self.queue.set(source, timeout);
        }
        if flow.writer.poll_timeout() <= now {
            flow.writer.handle_timeout(now, &mut flow.sender);
        }
        if flow.sender.poll_timeout() <= now {
            flow.sender.handle_timeout(now);
        }
        let receiver_due = flow.receiver.poll_timeout() <= now;
        if receiver_due {
            flow.receiver.handle_timeout(now);
        }
        self.drain_sender(slot);
        if receiver_due {
            self.drain_receiver(slot);
        }
        if let Some(flow) = &self.slots[slot as usize] {
            self.queue.set(source, flow.poll_timeout());
        }
    }

    /// Carries out what the sender of `slot` wants after something was handed in.
    #[inline]
    fn drain_sender(&mut self, slot: u32) {
        let source = self.flow_source(slot);
        let Some(flow) = &mut self.slots[slot as usize] else { return };
        while let Some(segment) = flow.sender.poll_transmit(self.now) {
            flow.data_packets += u64::from(segment.payload_bytes() > 0);
            let parcel = Parcel { segment, route: flow.forward, hop: 0, slot };
            self.network.send(self.now, &parcel, &mut self.queue);
        }
        while let Some(kind) = flow.sender.poll_event() {
            self.observer.on_event(&FlowEvent { now: self.now, flow: flow.id, kind });
        }
        self.queue.set_at_latest(source, flow.sender.poll_timeout());
        if flow.completed && flow.over() {
            self.close(slot);
        }
        self.report_drops();
    }

    /// Carries out what the receiver of `slot` wants after something was handed in.
    #[inline]
    fn drain_receiver(&mut self, slot: u32) {
        let source = self.flow_source(slot);
        let Some(flow) = &mut self.slots[slot as usize] else { return };
        while let Some(segment) = flow.receiver.poll_transmit(self.now) {
            let parcel = Parcel { segment, route: flow.backward, hop: 0, slot };
            self.network.send(self.now, &parcel, &mut self.queue);
        }
        self.queue.set_at_latest(source, flow.receiver.poll_timeout());
        if flow.sampled
            && let Some(bytes) = flow.poll_progress()
        {
            let kind = FlowEventKind::Received { bytes };
            self.observer.on_event(&FlowEvent { now: self.now, flow: flow.id, kind });
        }
        if !flow.completed && flow.receiver.completed() {
            flow.completed = true;
            self.on_completed(slot);
        }
        self.report_drops();
    }

    #[cold]
    fn on_completed(&mut self, slot: u32) {
        let Some(flow) = &mut self.slots[slot as usize] else { return };
        let bytes = flow.receiver.received_bytes();
        let kind = FlowEventKind::Completed { bytes };
        self.observer.on_event(&FlowEvent { now: self.now, flow: flow.id, kind });
        let totals = &mut self.flows[flow.id as usize];
        totals.completed = self.now;
        let under_test = totals.under_test;
        if let Some((generator, session)) = flow.session {
            self.generators[generator as usize].on_completed(self.now, session);
            self.arm_generator(generator);
        }
        if under_test {
            self.under_test_live -= 1;
            self.look_for_end();
        }
    }

    /// Whether every flow under test has completed and none can come.
    fn look_for_end(&mut self) {
        self.all_complete = self.under_test_live == 0
            && !self.to_open.iter().any(|&(_, id)| self.flows[id as usize].under_test)
            && !self.generators.iter().any(|generator| generator.more_under_test(self.now));
    }

    /// Frees a flow that is over.
    #[cold]
    fn close(&mut self, slot: u32) {
        if let Some(flow) = self.slots[slot as usize].take() {
            self.account(&flow);
            self.free_slots.push(slot);
            self.queue.set(self.flow_source(slot), Time::NEVER);
        }
    }

    fn account(&mut self, flow: &Flow) {
        let totals = &mut self.flows[flow.id as usize];
        totals.received_bytes = flow.receiver.received_bytes();
        totals.retransmitted_bytes = flow.sender.sample(self.now).retransmitted_bytes;
        totals.data_packets = flow.data_packets;
        self.data_packets += flow.data_packets;
    }

    fn on_opening(&mut self) {
        while let Some(&(at, id)) = self.to_open.last()
            && at <= self.now
        {
            self.to_open.pop();
            let config = &self.scenario.flows[id as usize];
            let spec = FlowSpec {
                id,
                forward: self.network.routes.id(config.from, config.to),
                backward: self.network.routes.id(config.to, config.from),
                source: &config.source,
                sender: &config.sender,
                receiver: &config.receiver,
                session: None,
            };
            self.open(&spec);
        }
        self.arm_opening();
    }

    fn on_generator(&mut self, generator: u32) -> Result<(), SimulationError> {
        while let Some(arrival) = self.generators[generator as usize].poll_arrival(self.now) {
            match arrival {
                Arrival::Flow { pair, size_bytes, under_test, session } => {
                    self.open_drawn(generator, &Drawn { pair, size_bytes, under_test, session })?;
                }
                Arrival::Stream { pair } => self.open_stream(generator, pair)?,
                Arrival::Packet { wire_bytes } => self.send_from_stream(generator, wire_bytes),
            }
        }
        self.arm_generator(generator);
        Ok(())
    }

    fn open_drawn(&mut self, generator: u32, drawn: &Drawn) -> Result<(), SimulationError> {
        let id = self.new_id(drawn.size_bytes, drawn.under_test)?;
        let Some((senders, receiver)) = self.configs[generator as usize].take() else { return Ok(()) };
        let (from, to) = drawn.pair;
        let spec = FlowSpec {
            id,
            forward: self.network.routes.id(from, to),
            backward: self.network.routes.id(to, from),
            source: &Source::Sized(drawn.size_bytes),
            sender: &senders[usize::from(drawn.under_test)],
            receiver: &receiver,
            session: drawn.session.map(|session| (generator, session)),
        };
        self.open(&spec);
        self.configs[generator as usize] = Some((senders, receiver));
        Ok(())
    }

    fn open(&mut self, spec: &FlowSpec<'_>) {
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        self.announce(spec.id);
        let totals = &self.flows[spec.id as usize];
        self.under_test_live += u64::from(totals.under_test);
        self.slots[slot as usize] = Some(Box::new(Flow::open(self.now, spec)));
        self.drain_sender(slot);
        // Its writer has a timer as well.
        self.queue.set_at_latest(
            self.flow_source(slot),
            self.slots[slot as usize].as_ref().map_or(Time::NEVER, |flow| flow.poll_timeout()),
        );
    }

    fn announce(&mut self, id: u32) {
        let totals = &mut self.flows[id as usize];
        totals.opened = self.now;
        let kind = FlowEventKind::Opened { size_bytes: totals.size_bytes, under_test: totals.under_test };
        self.observer.on_event(&FlowEvent { now: self.now, flow: id, kind });
    }

    fn new_id(&mut self, size_bytes: u64, under_test: bool) -> Result<u32, SimulationError> {
        let id = u32::try_from(self.flows.len()).map_err(|_| SimulationError::TooManyFlows)?;
        self.flows.push(FlowTotals::new(size_bytes, under_test));
        Ok(id)
    }

    fn open_stream(&mut self, generator: u32, (from, to): (usize, usize)) -> Result<(), SimulationError> {
        let id = self.new_id(u64::MAX, false)?;
        self.announce(id);
        let route = self.network.routes.id(from, to);
        let segment = Segment::data(id, 0, self.now, 0, 0);
        self.streams[generator as usize] = Some(Parcel { segment, route, hop: 0, slot: Parcel::NO_SLOT });
        Ok(())
    }

    fn send_from_stream(&mut self, generator: u32, wire_bytes: u32) {
        if let Some(stream) = &mut self.streams[generator as usize] {
            let segment = &mut stream.segment;
            *segment = Segment::data(segment.flow(), 0, self.now, segment.number() + 1, wire_bytes);
            let parcel = *stream;
            self.network.send(self.now, &parcel, &mut self.queue);
            self.report_drops();
        }
    }

    fn arm_opening(&mut self) {
        let next = self.to_open.last().map_or(Time::NEVER, |&(at, _)| at);
        self.queue.set(self.opening_source(), next);
    }

    fn arm_generator(&mut self, generator: u32) {
        let next = self.generators[generator as usize].poll_timeout();
        self.queue.set(self.generator_source(generator), next);
    }

    #[inline]
    fn report_drops(&mut self) {
        while let Some(drop) = self.network.poll_drop() {
            let segment = &drop.parcel.segment;
            let data = segment.payload_bytes() > 0;
            let totals = &mut self.flows[segment.flow() as usize];
            totals.dropped_packets += u64::from(data);
            let kind = FlowEventKind::Dropped { link: drop.link, wire_bytes: segment.wire_bytes(), data };
            self.observer.on_event(&FlowEvent { now: self.now, flow: segment.flow(), kind });
        }
    }

    #[inline]
    fn report_link_samples(&mut self) {
        while let Some(sample) = self.network.sampler.poll_sample(self.now) {
            self.observer.on_link(&sample);
        }
    }

    fn finish(mut self, events: u64, end: Time) -> Outcome {
        self.now = end;
        self.network.sampler.finish();
        self.report_link_samples();
        for slot in 0..self.slots.len() {
            if let Some(flow) = self.slots[slot].take() {
                self.account(&flow);
            }
        }
        for (id, totals) in self.flows.iter().enumerate() {
            if totals.completed == Time::NEVER {
                let kind = FlowEventKind::Unfinished { bytes: totals.received_bytes };
                self.observer.on_event(&FlowEvent { now: end, flow: id as u32, kind });
            }
        }
        Outcome {
            end,
            data_packets: self.data_packets,
            events,
            links: self.network.totals(end),
            flows: self.flows,
        }
    }
}

/// A flow that a generator wants opened.
struct Drawn {
    pair: (usize, usize),
    size_bytes: u64,
    under_test: bool,
    session: Option<u32>,
}

/// When explicit flows open, latest first.
fn openings(scenario: &Scenario, seed: u64) -> Vec<(Time, u32)> {
    let opening = |(i, flow): (usize, &FlowConfig)| {
        let jitter = Stream::new(seed, Purpose::Start, i as u64).uniform() * flow.start_jitter.ns() as f64;
        (flow.start + Time::from_ns(jitter as u64), i as u32)
    };
    let mut openings: Vec<_> = scenario.flows.iter().enumerate().map(opening).collect();
    openings.sort_unstable_by(|a, b| b.cmp(a));
    openings
}

/// How the flows of a generator send, by whether the compared algorithm steers, and how they are answered.
fn configs(scenario: &Scenario, kind: &TrafficKind) -> Option<FlowConfigs> {
    let (TrafficKind::Poisson { sender, receiver, .. }
    | TrafficKind::Web { sender, receiver, .. }
    | TrafficKind::Listed { sender, receiver, .. }) = kind
    else {
        return None;
    };
    let mut steered = (**sender).clone();
    steered.startup = scenario.steering.algorithm;
    steered.parameters = scenario.steering.parameters;
    Some(([(**sender).clone(), steered], *receiver))
}

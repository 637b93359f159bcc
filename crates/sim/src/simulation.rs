//! The loop: the source that is due next acts, and what that causes is carried out at once.

use std::sync::atomic::{AtomicBool, Ordering};

use rampcc::Time;
use rampcc_path::Packet;
use rampcc_scenario::{Arrival, Generator, Scenario, Source, TrafficKind};
use rampcc_tcp::{ReceiverConfig, SenderConfig};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowTotals, Observer, Outcome};

use crate::SimulationError;
use crate::drops::Drop;
use crate::event_queue::EventQueue;
use crate::flow::FlowSpec;
use crate::history::History;
use crate::hosts::{Completion, Hosts, World};
use crate::network::Network;
use crate::packet::{End, Parcel, Place};
use crate::tcp::Tcp;
use crate::topology::{Between, Route, Routes, Step};
use crate::transport::{Connecting, Datagram, Transport};

/// Plays `scenario` once, over TCP.
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
    simulate_over(&mut Tcp, Run { scenario, seed, interrupted }, observer)
}

/// One run of a scenario.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Scenario to play.
    pub scenario: &'a Scenario,
    /// Seed of everything random.
    pub seed: u64,
    /// Request to stop; checked every few thousand events.
    pub interrupted: &'a AtomicBool,
}

/// The same over any transport.
///
/// # Errors
///
/// As of [`simulate`].
pub fn simulate_over<T: Transport, O: Observer>(
    transport: &mut T,
    run: Run<'_>,
    observer: &mut O,
) -> Result<Outcome, SimulationError> {
    let Run { scenario, seed, interrupted } = run;
    let drawn;
    let scenario = if scenario.trace_offset_range > Time::ZERO {
        drawn = scenario.at_seed(seed);
        &drawn
    } else {
        scenario
    };
    Simulation::new(transport, &Run { scenario, ..run }, observer)?.run(interrupted)
}

/// So many events at one instant are a loop without delay.
const EVENTS_PER_INSTANT_MAX: u64 = 20_000_000;
const EVENTS_BETWEEN_CHECKS: u64 = 4096;

/// One run.
///
/// Sources of the event queue, in this order: links, drops to come, explicit flows to open, generators, processors,
/// flow slots.
struct Simulation<'a, T: Transport, O> {
    scenario: &'a Scenario,
    seed: u64,
    world: World<'a, T, O>,
    hosts: Hosts<T>,
    generators: Vec<Generator>,
    configs: Vec<Option<FlowConfigs>>,
    /// Stream without feedback of each generator: its flow and its route.
    streams: Vec<Option<(u32, Route)>>,
    /// Explicit flows by time of opening, latest first.
    to_open: Vec<(Time, u32)>,
    under_test_live: u64,
    /// Every flow under test has completed, and the run ends with that.
    over: bool,
}

/// How a generator's flows send, by whether the compared algorithm steers, and how they are answered.
type FlowConfigs = ([SenderConfig; 2], ReceiverConfig);

enum Due {
    Link(u32),
    Drops,
    Opening,
    Generator(u32),
    Cpu(u32),
    Flow(u32),
}

impl<'a, T: Transport, O: Observer> Simulation<'a, T, O> {
    fn new(
        transport: &'a mut T,
        &Run { scenario, seed, .. }: &Run<'a>,
        observer: &'a mut O,
    ) -> Result<Self, SimulationError> {
        let network = Network::new(scenario, Routes::new(scenario)?, seed);
        let generators: Vec<Generator> = scenario
            .traffic
            .iter()
            .enumerate()
            .map(|(i, traffic)| Generator::new(traffic, i, seed))
            .collect();
        let totals =
            scenario.flows.iter().map(|flow| FlowTotals::new(flow.source.size_bytes(), flow.under_test));
        let hosts =
            Hosts::new(network.drops_source() + 2 + generators.len() as u32, scenario, totals.collect());
        let mut simulation = Self {
            scenario,
            seed,
            world: World {
                now: Time::ZERO,
                queue: EventQueue::default(),
                network,
                transport,
                history: History::default(),
                observer,
            },
            hosts,
            streams: vec![None; generators.len()],
            generators,
            configs: scenario.traffic.iter().map(|traffic| configs(scenario, &traffic.kind)).collect(),
            to_open: scenario.opening_times(seed),
            under_test_live: 0,
            over: false,
        };
        simulation.arm_opening();
        for generator in 0..simulation.generators.len() as u32 {
            simulation.arm_generator(generator);
        }
        Ok(simulation)
    }

    fn run(mut self, interrupted: &AtomicBool) -> Result<Outcome, SimulationError> {
        let last = self.scenario.stop.after;
        let mut events = 0u64;
        let mut before = Time::NEVER;
        let mut at_this_instant = 0u64;
        // What came off a link last. It is large, so there is one for the whole run.
        let mut parcel = Parcel::default();
        loop {
            let mut source = 0;
            for _ in 0..EVENTS_BETWEEN_CHECKS {
                let Some((time, next)) = self.world.queue.pop() else { return Ok(self.finish(events, last)) };
                if time > last {
                    return Ok(self.finish(events, last));
                }
                source = next;
                self.world.now = time;
                events += 1;
                match self.due(source) {
                    Due::Link(link) => self.on_link(link, &mut parcel),
                    Due::Drops => self.on_drops_due(),
                    Due::Opening => self.on_opening(),
                    Due::Generator(generator) => self.on_generator(generator)?,
                    Due::Cpu(source) => self.on_cpu(source),
                    Due::Flow(slot) => self.on_flow(slot),
                }
                if self.world.network.news(time) {
                    self.report();
                    if let Some(link) = self.world.network.overfull() {
                        let link = self.scenario.topology.links[link as usize].name.clone();
                        return Err(SimulationError::Overfull { link, at: time });
                    }
                }
                if self.over {
                    return Ok(self.finish(events, time));
                }
            }
            at_this_instant =
                if self.world.now == before { at_this_instant + EVENTS_BETWEEN_CHECKS } else { 0 };
            before = self.world.now;
            if interrupted.load(Ordering::Relaxed) {
                return Err(SimulationError::Interrupted { at: before });
            }
            if at_this_instant > EVENTS_PER_INSTANT_MAX {
                return Err(SimulationError::Stalled { at: before, what: self.describe(source) });
            }
        }
    }

    #[inline]
    fn due(&self, source: u32) -> Due {
        let links = self.world.network.drops_source();
        if source < links {
            return Due::Link(source);
        }
        let generators = self.generators.len() as u32;
        match source - links {
            0 => Due::Drops,
            1 => Due::Opening,
            i if i < 2 + generators => Due::Generator(i - 2),
            i if i < 2 + generators + self.hosts.cpu_sources() => Due::Cpu(i - 2 - generators),
            i => Due::Flow(i - 2 - generators - self.hosts.cpu_sources()),
        }
    }

    fn opening_source(&self) -> u32 {
        self.world.network.drops_source() + 1
    }

    fn generator_source(&self, generator: u32) -> u32 {
        self.world.network.drops_source() + 2 + generator
    }

    fn describe(&self, source: u32) -> String {
        match self.due(source) {
            Due::Link(link) => format!("link `{}`", self.scenario.topology.links[link as usize].name),
            Due::Drops => "a drop".to_owned(),
            Due::Opening => "a flow".to_owned(),
            Due::Generator(generator) => {
                format!("traffic `{}`", self.scenario.traffic[generator as usize].name)
            }
            Due::Cpu(source) => {
                let node = self.hosts.cpu_of(source);
                format!("the processor of `{}`", self.scenario.topology.nodes[node as usize])
            }
            Due::Flow(slot) => format!("flow {}", self.hosts.id(slot).unwrap_or(u32::MAX)),
        }
    }

    #[inline]
    fn on_link(&mut self, link: u32, parcel: &mut Parcel<T::Packet>) {
        loop {
            let following = self.world.network.poll_packet(self.world.now, link, parcel);
            if let Some(following) = following {
                self.on_arrival(parcel);
                if following <= self.world.now {
                    continue;
                }
                if following != Time::NEVER {
                    return self.world.queue.set_again(link, following);
                }
            }
            let next = self.world.network.poll_timeout(link);
            if following.is_none() || next > self.world.now {
                return self.world.queue.set(link, next);
            }
        }
    }

    #[inline]
    fn on_arrival(&mut self, parcel: &Parcel<T::Packet>) {
        if !parcel.place.at_end() {
            self.world.send(&parcel.packet, parcel.place);
            return;
        }
        if let Some(completion) = self.hosts.deliver(&mut self.world, parcel) {
            self.on_completed(completion);
        }
    }

    fn on_drops_due(&mut self) {
        let next = self.world.network.handle_drops_due(self.world.now);
        self.world.queue.set(self.world.network.drops_source(), next);
    }

    fn on_flow(&mut self, slot: u32) {
        if let Some(completion) = self.hosts.handle_timeout(&mut self.world, slot) {
            self.on_completed(completion);
        }
    }

    fn on_cpu(&mut self, source: u32) {
        if let Some(completion) = self.hosts.handle_cpu(&mut self.world, source) {
            self.on_completed(completion);
        }
    }

    #[cold]
    fn on_completed(&mut self, completion: Completion) {
        if let Some((generator, session)) = completion.session {
            self.generators[generator as usize].on_completed(self.world.now, session);
            self.arm_generator(generator);
        }
        if completion.under_test {
            self.under_test_live -= 1;
            self.look_for_end();
        }
    }

    /// Whether every flow under test has completed and none can come, if that ends the run.
    fn look_for_end(&mut self) {
        self.over = self.scenario.stop.when_complete
            && self.under_test_live == 0
            && !self.to_open.iter().any(|&(_, id)| self.hosts.totals[id as usize].under_test)
            && !self.generators.iter().any(|generator| generator.more_under_test(self.world.now));
    }

    fn on_opening(&mut self) {
        while let Some(&(at, id)) = self.to_open.last()
            && at <= self.world.now
        {
            self.to_open.pop();
            let config = &self.scenario.flows[id as usize];
            let between = Between { from: config.from, to: config.to };
            let spec = FlowSpec {
                ends: Connecting {
                    flow: id,
                    sender: &config.sender,
                    receiver: &config.receiver,
                    seed: self.seed,
                },
                between,
                forward: self.world.network.routes.between(between),
                backward: self.world.network.routes.between(between.back()),
                source: &config.source,
                session: None,
                held: Time::ZERO,
            };
            self.open(&spec);
        }
        self.arm_opening();
    }

    fn on_generator(&mut self, generator: u32) -> Result<(), SimulationError> {
        while let Some(arrival) = self.generators[generator as usize].poll_arrival(self.world.now) {
            match arrival {
                Arrival::Flow { pair, size_bytes, under_test, session, rtt } => {
                    self.open_drawn(generator, &Drawn { pair, size_bytes, under_test, session, rtt })?;
                }
                Arrival::Stream { pair: (from, to) } => self.open_stream(generator, Between { from, to })?,
                Arrival::Packet { wire_bytes } => self.send_from_stream(generator, wire_bytes),
            }
        }
        self.arm_generator(generator);
        Ok(())
    }

    fn open_drawn(&mut self, generator: u32, drawn: &Drawn) -> Result<(), SimulationError> {
        let id = self.hosts.new_id(drawn.size_bytes, drawn.under_test)?;
        let Some((senders, receiver)) = self.configs[generator as usize].take() else { return Ok(()) };
        let between = Between { from: drawn.pair.0, to: drawn.pair.1 };
        let routes = &self.world.network.routes;
        let (forward, backward) = (routes.between(between), routes.between(between.back()));
        let held = drawn.rtt.map_or(Time::ZERO, |rtt| rtt - (self.travel(forward) + self.travel(backward)));
        let spec = FlowSpec {
            ends: Connecting {
                flow: id,
                sender: &senders[usize::from(drawn.under_test)],
                receiver: &receiver,
                seed: self.seed,
            },
            between,
            forward,
            backward,
            source: &Source::Sized(drawn.size_bytes),
            session: drawn.session.map(|session| (generator, session)),
            held,
        };
        self.open(&spec);
        self.configs[generator as usize] = Some((senders, receiver));
        Ok(())
    }

    /// How long the links of `route` take where nothing waits, serialisation left out.
    fn travel(&self, route: Route) -> Time {
        let steps = self.world.network.routes.steps_from(route.first as usize);
        let last = steps.iter().position(|step| step.last).map_or(0, |last| last + 1);
        let delay = |step: &Step| {
            let link = &self.scenario.topology.links[step.link as usize];
            link.config.delay.propagation.smallest()
        };
        steps[..last].iter().map(delay).fold(Time::ZERO, |sum, delay| sum + delay)
    }

    fn open(&mut self, spec: &FlowSpec<'_>) {
        self.under_test_live += u64::from(self.hosts.totals[spec.ends.flow as usize].under_test);
        self.hosts.open(&mut self.world, spec);
    }

    fn open_stream(&mut self, generator: u32, between: Between) -> Result<(), SimulationError> {
        let id = self.hosts.new_id(u64::MAX, false)?;
        self.hosts.announce(&mut self.world, id);
        self.streams[generator as usize] = Some((id, self.world.network.routes.between(between)));
        Ok(())
    }

    fn send_from_stream(&mut self, generator: u32, wire_bytes: u32) {
        if let Some((id, route)) = self.streams[generator as usize] {
            let packet = T::Packet::unanswered(id, self.world.now, wire_bytes);
            let place = Place::start(route, Place::NO_SLOT, End::Receiver);
            self.world.send(&packet, place);
        }
    }

    fn arm_opening(&mut self) {
        let next = self.to_open.last().map_or(Time::NEVER, |&(at, _)| at);
        self.world.queue.set(self.opening_source(), next);
    }

    fn arm_generator(&mut self, generator: u32) {
        let next = self.generators[generator as usize].poll_timeout();
        self.world.queue.set(self.generator_source(generator), next);
    }

    /// Tells the observer what links have dropped and sampled.
    #[cold]
    fn report(&mut self) {
        while let Some(Drop { link, parcel }) = self.world.network.poll_drop() {
            let (flow, wire_bytes) = (parcel.flow(), parcel.wire_bytes());
            let data = parcel.packet.payload_bytes() > 0;
            self.hosts.totals[flow as usize].dropped_packets += u64::from(data);
            let kind = FlowEventKind::Dropped { link, wire_bytes, data };
            self.world.observer.on_event(&FlowEvent { now: self.world.now, flow, kind });
            self.world.transport.discard(&parcel.packet);
        }
        self.world.report_queue();
    }

    fn finish(mut self, events: u64, end: Time) -> Outcome {
        self.world.now = end;
        self.world.network.sampler.catch_up(end);
        self.report();
        let flows = self.hosts.finish(end, self.world.observer);
        let data_packets = flows.iter().map(|flow| flow.data_packets).sum();
        Outcome { end, data_packets, events, links: self.world.network.totals(end), flows }
    }
}

/// A flow that a generator wants opened.
struct Drawn {
    pair: (usize, usize),
    size_bytes: u64,
    under_test: bool,
    session: Option<u32>,
    rtt: Option<Time>,
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
    scenario.steering.apply(&mut steered);
    Some(([(**sender).clone(), steered], *receiver))
}

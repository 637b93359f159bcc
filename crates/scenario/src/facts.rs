//! Consequences of a checked scenario: routes, path facts, and the scenario as one arm or one seed plays it.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use rampcc::{Algorithm, Hint, HintSource, Rate, Time, Traits};
use rampcc_path::{Capacity, Limit, LinkConfig, Propagation};
use rampcc_tcp::{Profile, SenderConfig};

use crate::model::{Arm, FlowConfig, PathFacts, Scenario, Steering, TrafficKind};
use crate::names::name;
use crate::random::{Purpose, Stream, mix};
use crate::rates::{mean_rate, sustained, timeline, typical_rate};

impl Scenario {
    /// The word of its profile, unless that is today's.
    pub fn past_profile(&self) -> Option<&'static str> {
        (self.profile != Profile::Modern).then(|| name(self.profile))
    }

    /// Times when the explicit flows of the run with this seed open, with their ids, latest first.
    pub fn opening_times(&self, seed: u64) -> Vec<(Time, u32)> {
        let opening = |(i, flow): (usize, &FlowConfig)| {
            let jitter =
                Stream::new(seed, Purpose::Start, i as u64).uniform() * flow.start_jitter.ns() as f64;
            (flow.start + Time::from_ns(jitter as u64), i as u32)
        };
        let mut openings: Vec<_> = self.flows.iter().enumerate().map(opening).collect();
        openings.sort_unstable_by(|a, b| b.cmp(a));
        openings
    }

    /// Indices of the links from one node to another: the fewest hops, ties to the link listed first.
    ///
    /// `None` if there is no way; empty if both are the same node.
    pub fn route(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let arrived_by = self.shortest_paths(from);
        let mut route = Vec::new();
        let mut node = to;
        while node != from {
            let link = (*arrived_by.get(node)?)?;
            route.push(link);
            node = self.topology.links[link].from;
        }
        route.reverse();
        Some(route)
    }

    /// Whether packets from one node to another cross the bottleneck.
    pub fn crosses_bottleneck(&self, from: usize, to: usize) -> bool {
        self.route(from, to).is_some_and(|route| route.contains(&self.bottleneck))
    }

    /// Facts about the path of `flow`, an index into [`Scenario::flows`]; of the first pair of the first
    /// traffic generator if there is no such flow.
    ///
    /// Payload rates follow from the flow's segment and header sizes. With random trace offsets, call it on
    /// the result of [`Scenario::at_seed`] for what one run meets.
    pub fn facts(&self, flow: usize) -> PathFacts {
        match self.flows.get(flow) {
            Some(f) => self.facts_between(f.from, f.to, &f.sender, f.receiver.ack_bytes),
            None => self
                .traffic
                .iter()
                .find_map(|t| {
                    let (sender, receiver) = match &t.kind {
                        TrafficKind::Cbr { .. } => return None,
                        TrafficKind::Poisson { sender, receiver, .. }
                        | TrafficKind::Web { sender, receiver, .. }
                        | TrafficKind::Listed { sender, receiver, .. } => (sender, receiver),
                    };
                    let (from, to) = *t.pairs.first()?;
                    Some(self.facts_between(from, to, sender, receiver.ack_bytes))
                })
                .unwrap_or(PathFacts {
                    base_rtt: Time::ZERO,
                    capacity: vec![(Time::ZERO, Rate::default())],
                    drain: None,
                    before_bottleneck: None,
                    bdp_bytes: 0,
                    buffer_bytes: u64::MAX,
                    early_drops: None,
                }),
        }
    }

    /// The scenario with its flows under test steered by `arm`, and each with the facts of its own path, as far as
    /// its algorithm may know it.
    #[must_use]
    pub fn with_arm(&self, arm: &Arm) -> Self {
        let steering = self.steering_of(arm);
        let mut scenario = self.clone();
        scenario.steering = steering;
        let mut known = BTreeMap::new();
        for (index, flow) in self.flows.iter().enumerate() {
            let sender = &mut scenario.flows[index].sender;
            if flow.under_test {
                steering.apply(sender);
            } else if !sender.startup.traits.has(Traits::NEEDS_HISTORY) {
                continue;
            }
            let key = (flow.from, flow.to, flow.sender.mss_bytes, flow.sender.header_bytes);
            let measured = known
                .entry(key)
                .or_insert_with(|| self.measure(flow.from, flow.to, &flow.sender, flow.receiver.ack_bytes));
            sender.hint = self.told(sender.startup, measured);
        }
        for traffic in &mut scenario.traffic {
            let first = traffic.pairs.first().copied();
            if let (
                TrafficKind::Poisson { sender, receiver, under_test_share, .. }
                | TrafficKind::Web { sender, receiver, under_test_share, .. }
                | TrafficKind::Listed { sender, receiver, under_test_share, .. },
                Some((from, to)),
            ) = (&mut traffic.kind, first)
            {
                let measured = self.measure(from, to, sender, receiver.ack_bytes);
                let steered = *under_test_share > 0.0;
                let algorithm = if steered { steering.algorithm } else { sender.startup };
                sender.hint = self.told(algorithm, &measured);
            }
        }
        scenario
    }

    /// Whether an algorithm with this id starts any flow whatever is compared.
    pub fn starts_a_flow_with(&self, id: &str) -> bool {
        let generated = self.traffic.iter().filter_map(|traffic| match &traffic.kind {
            TrafficKind::Poisson { sender, under_test_share, .. }
            | TrafficKind::Web { sender, under_test_share, .. }
            | TrafficKind::Listed { sender, under_test_share, .. } => {
                (*under_test_share < 1.0).then_some(&**sender)
            }
            TrafficKind::Cbr { .. } => None,
        });
        let listed = self.flows.iter().filter(|flow| !flow.under_test).map(|flow| &flow.sender);
        listed.chain(generated).any(|sender| sender.startup.id == id)
    }

    /// The scenario as the run with this seed meets it: trace offsets drawn.
    ///
    /// The same for every arm, so that differences between arms stay paired. Without random offsets it is the
    /// scenario itself.
    #[must_use]
    pub fn at_seed(&self, seed: u64) -> Self {
        let mut scenario = self.clone();
        if self.trace_offset_range == Time::ZERO {
            return scenario;
        }
        let fraction = (mix(seed) >> 11) as f64 / (1u64 << 53) as f64;
        let shift = Time::from_ns((fraction * self.trace_offset_range.ns() as f64) as u64);
        for link in &mut scenario.topology.links {
            if let Capacity::Trace(trace) = &mut link.config.capacity {
                trace.offset += shift;
            }
            if let Propagation::Trace { offset, .. } = &mut link.config.delay.propagation {
                *offset += shift;
            }
        }
        scenario.trace_offset_range = Time::ZERO;
        scenario
    }

    /// For each node, the link by which a breadth-first search from `from` reaches it first.
    pub fn shortest_paths(&self, from: usize) -> Vec<Option<usize>> {
        let links = &self.topology.links;
        // The links out of a node as a list: its first, and after each link the next. Read often, by big topologies.
        let mut first = vec![None; self.topology.nodes.len()];
        let mut following = vec![None; links.len()];
        for (index, link) in links.iter().enumerate().rev() {
            following[index] = first[link.from].replace(index);
        }
        let mut arrived_by = vec![None; self.topology.nodes.len()];
        let mut waiting = VecDeque::from([from]);
        while let Some(node) = waiting.pop_front() {
            let mut leaving = first.get(node).copied().flatten();
            while let Some(link) = leaving {
                let to = links[link].to;
                if to != from && arrived_by[to].is_none() {
                    arrived_by[to] = Some(link);
                    waiting.push_back(to);
                }
                leaving = following[link];
            }
        }
        arrived_by
    }

    /// Facts about the path between two nodes, for data as `sender` sends it and ACKs of `ack` bytes.
    pub fn facts_between(&self, from: usize, to: usize, sender: &SenderConfig, ack: u32) -> PathFacts {
        let measured = self.measure(from, to, sender, ack);
        let Measured { base_rtt, bdp_bytes, .. } = measured;
        let Some(bottleneck) = measured.bottleneck else {
            let capacity = vec![(Time::ZERO, Rate::from_bits_per_s(u64::MAX))];
            return PathFacts {
                base_rtt,
                capacity,
                drain: None,
                before_bottleneck: None,
                bdp_bytes,
                buffer_bytes: u64::MAX,
                early_drops: None,
            };
        };
        let payload = |bits: u64| share(bits, sender.mss_bytes, sender.mss_bytes + sender.header_bytes);
        let on_wire = |bytes: u64| share(bytes, sender.mss_bytes + sender.header_bytes, sender.mss_bytes);
        let over_time = |capacity: &Capacity| {
            let line = timeline(capacity, self.stop.after).into_iter();
            line.map(|(at, rate)| (at, Rate::from_bits_per_s(payload(rate.bits_per_s())))).collect()
        };
        let carried = sustained(bottleneck);
        let capacity = over_time(&carried);
        let drain = matches!(carried, Cow::Owned(_)).then(|| over_time(&bottleneck.capacity));
        let buffer_bytes = match bottleneck.queue.limit() {
            Limit::Bytes(bytes) => payload(bytes),
            Limit::Packets(packets) => packets.saturating_mul(u64::from(sender.mss_bytes)),
            Limit::Unlimited => u64::MAX,
        };
        PathFacts {
            base_rtt,
            capacity,
            drain,
            before_bottleneck: self.before_bottleneck(from, to, sender.mss_bytes + sender.header_bytes),
            bdp_bytes,
            buffer_bytes,
            early_drops: crate::queue::early_drops(&bottleneck.queue, on_wire(bdp_bytes)),
        }
    }

    fn before_bottleneck(&self, from: usize, to: usize, wire_bytes: u32) -> Option<Time> {
        let route = self.route(from, to).filter(|route| route.contains(&self.bottleneck))?;
        let mut before = Time::ZERO;
        for link in route.iter().take_while(|link| **link != self.bottleneck) {
            let LinkConfig { capacity, delay, .. } = &self.topology.links[*link].config;
            let Propagation::Constant(propagation) = delay.propagation else { return None };
            if delay.jitter.is_some() || delay.reordering.is_some() {
                return None;
            }
            before += propagation + fastest_service(capacity, wire_bytes);
        }
        Some(before)
    }

    fn measure(&self, from: usize, to: usize, sender: &SenderConfig, ack: u32) -> Measured<'_> {
        let forward = self.route(from, to).unwrap_or_default();
        let back = self.route(to, from).unwrap_or_default();
        let wire = sender.mss_bytes + sender.header_bytes;
        let mut base_rtt = Time::ZERO;
        for (route, bytes) in [(&forward, wire), (&back, ack)] {
            for &link in route {
                let config = &self.topology.links[link].config;
                base_rtt += config.delay.propagation.smallest() + fastest_service(&config.capacity, bytes);
            }
        }
        let slowest = forward.iter().copied().min_by_key(|&l| typical_rate(&self.topology.links[l]));
        let bottleneck = if forward.contains(&self.bottleneck) { Some(self.bottleneck) } else { slowest };
        let bottleneck = bottleneck.map(|index| &self.topology.links[index].config);
        let window = Time::from_ns(base_rtt.ns().saturating_mul(32)).max(Time::from_secs(10));
        let payload_rate = match bottleneck.map(|b| (mean_rate(&sustained(b), window), &b.capacity)) {
            None | Some((_, Capacity::Unlimited)) => Rate::from_bits_per_s(u64::MAX),
            Some((mean, _)) => Rate::from_bits_per_s(share(mean.bits_per_s(), sender.mss_bytes, wire)),
        };
        let unlimited = payload_rate.bits_per_s() == u64::MAX;
        let bdp_bytes = if unlimited { u64::MAX } else { payload_rate.bytes_in(base_rtt) };
        let first = forward.first().map(|&link| &self.topology.links[link].config.capacity);
        Measured { base_rtt, bottleneck, payload_rate, bdp_bytes, first }
    }

    /// The hint that an algorithm gets: what is remembered or its interface, if it needs that, or the truth.
    fn told(&self, algorithm: &Algorithm, measured: &Measured<'_>) -> Hint {
        if algorithm.traits.has(Traits::NEEDS_INTERFACE) {
            return measured.interface();
        }
        if !algorithm.traits.has(Traits::NEEDS_HISTORY) {
            return measured.told();
        }
        let Measured { base_rtt, bdp_bytes, payload_rate, .. } = *measured;
        self.history
            .map_or(Hint::NONE, |history| history.hint(base_rtt, bdp_bytes, payload_rate.bytes_per_s()))
    }

    fn steering_of(&self, arm: &Arm) -> Steering {
        let algorithm = arm.algorithm;
        let mut parameters = algorithm.default_parameters();
        for settings in self.settings.iter().filter(|settings| settings.algorithm.id == algorithm.id) {
            if std::ptr::eq(settings.algorithm, algorithm) {
                parameters = settings.parameters;
                continue;
            }
            // A candidate of that name has defaults of its own: what the scenario sets it takes by name, where it can.
            for (known, value) in settings.algorithm.parameters.iter().zip(settings.parameters) {
                let own = algorithm.parameters.iter().position(|own| own.name == known.name);
                if let Some(index) = own.filter(|_| value != known.default) {
                    let own = &algorithm.parameters[index];
                    parameters[index] = value.clamp(own.minimum, own.maximum);
                }
            }
        }
        for (name, value) in &arm.set {
            if let Some(index) = arm.algorithm.parameters.iter().position(|p| p.name == name) {
                parameters[index] = *value;
            }
        }
        Steering { algorithm: arm.algorithm, parameters, sender: arm.sender }
    }
}

/// Of an interface whose rate the scenario does not limit.
const FASTEST_INTERFACE: Rate = Rate::from_bits_per_s(400_000_000_000);

/// What is true of a path without its history.
struct Measured<'s> {
    base_rtt: Time,
    bottleneck: Option<&'s LinkConfig>,
    payload_rate: Rate,
    bdp_bytes: u64,
    first: Option<&'s Capacity>,
}

impl Measured<'_> {
    /// The sender's own interface: the first link, if it has one rate. One without limit counts as the fastest there is.
    fn interface(&self) -> Hint {
        let mut hint = Hint::of(HintSource::Interface);
        hint.bytes_per_s = match self.first {
            Some(Capacity::Constant(rate)) => rate.bytes_per_s(),
            Some(Capacity::Unlimited) => FASTEST_INTERFACE.bytes_per_s(),
            _ => return Hint::NONE,
        };
        hint
    }

    /// BDP and rate, for a yardstick.
    fn told(&self) -> Hint {
        if self.bdp_bytes == u64::MAX {
            return Hint::NONE;
        }
        Hint::path(self.bdp_bytes, self.payload_rate.bytes_per_s())
    }
}

fn fastest_service(capacity: &Capacity, bytes: u32) -> Time {
    match capacity {
        // A packet leaves with its last opportunity; a single one takes all of it.
        Capacity::Unlimited | Capacity::Trace(_) => Time::ZERO,
        Capacity::Constant(rate) => rate.time_of(u64::from(bytes)),
        Capacity::Steps { steps, .. } => {
            steps.iter().map(|(_, r)| *r).max().unwrap_or_default().time_of(u64::from(bytes))
        }
    }
}

fn share(value: u64, part: u32, whole: u32) -> u64 {
    if value == u64::MAX {
        return value;
    }
    u64::try_from(u128::from(value) * u128::from(part) / u128::from(whole.max(1))).unwrap_or(u64::MAX)
}

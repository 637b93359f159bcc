//! Scenarios built in code: what `scenario` makes of a file.

#![allow(dead_code, reason = "each test and example uses its own part")]

use std::sync::atomic::AtomicBool;

use rampcc::{Algorithm, Rate, Time, algorithm};
use rampcc_path::{
    Capacity, DelayConfig, Limit, LinkConfig, LossConfig, Propagation, QueueConfig, QuickStartPolicy, Ties,
};
use rampcc_scenario::{
    FlowConfig, NamedLink, OfSender, Original, Scenario, Source, Steering, Stop, Topology,
};
use rampcc_sim::simulate;
use rampcc_tcp::{Profile, ReceiverConfig, SenderConfig};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, LinkSample, Observer, Outcome};

pub(crate) const fn mbit(rate: u64) -> Rate {
    Rate::from_bits_per_s(rate * 1_000_000)
}

pub(crate) fn ms(ms: f64) -> Time {
    Time::from_secs_f64(ms / 1e3)
}

pub(crate) fn startup(id: &str) -> &'static Algorithm {
    algorithm(id).expect("the algorithm is registered")
}

/// Drop-tail, constant rate and delay, nothing lost.
pub(crate) fn plain(rate: Rate, delay: Time, packets: u64) -> LinkConfig {
    LinkConfig {
        capacity: Capacity::Constant(rate),
        queue: QueueConfig::DropTail { limit: Limit::Packets(packets) },
        delay: DelayConfig { propagation: Propagation::Constant(delay), jitter: None, reordering: None },
        loss: LossConfig::None,
        ack_filter: None,
        quick_start: QuickStartPolicy::Unaware,
        ties: Ties::default(),
    }
}

/// Nodes, links, flows and nothing else.
pub(crate) fn empty(nodes: usize, seconds: f64) -> Scenario {
    let slow_start = startup("slow_start");
    Scenario {
        name: "test".to_owned(),
        description: String::new(),
        text: String::new(),
        profile: Profile::Modern,
        topology: Topology { nodes: (0..nodes).map(|i| format!("n{i}")).collect(), links: Vec::new() },
        bottleneck: 0,
        flows: Vec::new(),
        traffic: Vec::new(),
        stop: Stop { after: Time::from_secs_f64(seconds), when_complete: false },
        runs: 1,
        seed: 1,
        steering: Steering {
            algorithm: slow_start,
            parameters: slow_start.default_parameters(),
            sender: OfSender::default(),
        },
        settings: Vec::new(),
        cpu: None,
        history: None,
        trace_offset_range: Time::ZERO,
        files: Vec::new(),
        directory: None,
        uncertain: Vec::new(),
        original: Original::default(),
    }
}

/// Adds a link and returns its index.
pub(crate) fn link(scenario: &mut Scenario, from: usize, to: usize, config: LinkConfig) -> usize {
    let links = &mut scenario.topology.links;
    links.push(NamedLink { name: format!("l{}", links.len()), from, to, config });
    links.len() - 1
}

/// A flow as the papers' simulator sends: 1000 B of payload, 40 B of headers, initial window 2, no handshake.
pub(crate) fn flow(from: usize, to: usize, source: Source, id: &str) -> FlowConfig {
    let (sender, receiver) = era(id);
    FlowConfig {
        name: "flow".to_owned(),
        from,
        to,
        start: Time::ZERO,
        start_jitter: Time::ZERO,
        source,
        sender,
        receiver,
        under_test: true,
    }
}

pub(crate) fn era(id: &str) -> (SenderConfig, ReceiverConfig) {
    let mut sender = SenderConfig::new(Profile::Era, startup(id));
    sender.mss_bytes = 1000;
    sender.header_bytes = 40;
    sender.handshake = false;
    (sender, ReceiverConfig::new(Profile::Era))
}

/// `s_i - r0 - r1 - d_i`: side links of 1 Gbit/s and 0.1 ms around a bottleneck, one flow per pair.
pub(crate) fn side_links(rate: Rate, rtt: Time, buffer: u64, flows: usize) -> Scenario {
    let mut scenario = empty(2 + 2 * flows, 60.0);
    let side = || {
        plain(
            mbit(1000).max(Rate::from_bits_per_s(rate.bits_per_s().saturating_mul(5) / 2)),
            ms(0.1),
            1_000_000,
        )
    };
    let middle = Time::from_ns((rtt - ms(0.4)).ns() / 2);
    link(&mut scenario, 0, 1, plain(rate, middle, buffer));
    link(&mut scenario, 1, 0, plain(rate, middle, 100_000));
    for i in 0..flows {
        let (s, d) = (2 + 2 * i, 3 + 2 * i);
        link(&mut scenario, s, 0, side());
        link(&mut scenario, 0, s, side());
        link(&mut scenario, 1, d, side());
        link(&mut scenario, d, 1, side());
        scenario.flows.push(flow(s, d, Source::Bulk, "slow_start"));
    }
    scenario
}

pub(crate) fn play(scenario: &Scenario, seed: u64) -> (Outcome, Log) {
    let mut log = Log::default();
    let outcome = simulate(scenario, seed, &mut log, &AtomicBool::new(false)).expect("the scenario runs");
    (outcome, log)
}

/// Everything an observer can learn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Log {
    pub(crate) flows: Vec<FlowSample>,
    pub(crate) links: Vec<LinkSample>,
    pub(crate) events: Vec<FlowEvent>,
}

impl Log {
    /// The first event that `pick` finds something in, with its time.
    pub(crate) fn first<T>(&self, pick: impl Fn(&FlowEventKind) -> Option<T>) -> Option<(Time, T)> {
        self.events.iter().find_map(|event| Some((event.now, pick(&event.kind)?)))
    }

    /// The congestion window, in packets of `mss` bytes, as known at `now`.
    pub(crate) fn cwnd_packets(&self, now: Time, mss: u32) -> f64 {
        let last = self.flows.iter().rev().find(|sample| sample.now <= now);
        last.map_or(0.0, |sample| sample.cwnd_bytes as f64 / f64::from(mss))
    }
}

impl Observer for Log {
    fn on_flow(&mut self, sample: &FlowSample) {
        self.flows.push(*sample);
    }
    fn on_link(&mut self, sample: &LinkSample) {
        self.links.push(*sample);
    }
    fn on_event(&mut self, event: &FlowEvent) {
        self.events.push(*event);
    }
}

/// Paced Start §5.2: sources and sinks on both sides of a 20 Mbit/s bottleneck of 20 ms, 50 Mbit/s edges.
///
/// Of the `hosts` on each side, the first half are sources.
pub(crate) fn dumbbell(hosts: usize, seconds: f64) -> Scenario {
    routers(2, hosts, 100, seconds)
}

/// Paced Start §5.2: eleven routers in a line with twelve hosts each.
pub(crate) fn parking_lot(seconds: f64) -> Scenario {
    routers(11, 12, 1_000, seconds)
}

/// The node number of a router's host.
pub(crate) fn host(router: usize, host: usize, routers: usize, hosts: usize) -> usize {
    routers + router * hosts + host
}

fn routers(routers: usize, hosts: usize, buffer: u64, seconds: f64) -> Scenario {
    let mut scenario = empty(routers * (1 + hosts), seconds);
    for router in 1..routers {
        link(&mut scenario, router - 1, router, plain(mbit(20), ms(20.0), buffer));
        link(&mut scenario, router, router - 1, plain(mbit(20), ms(20.0), buffer));
    }
    for router in 0..routers {
        for i in 0..hosts {
            let node = host(router, i, routers, hosts);
            link(&mut scenario, router, node, plain(mbit(50), Time::ZERO, 1_000_000));
            link(&mut scenario, node, router, plain(mbit(50), Time::ZERO, 1_000_000));
        }
    }
    scenario
}

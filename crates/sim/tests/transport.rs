//! A second transport in the simulator: datagrams in a fixed window, whose contents lie in a slab, as QUIC's would.

mod common;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use common::{Log, empty, era, flow, link, mbit, ms, plain};
use rampcc::Time;
use rampcc_path::{AckFilter, Jitter, Limit, LossConfig, Packet, QueueConfig, Reordering};
use rampcc_scenario::{Scenario, SizeDistribution, Source, Traffic, TrafficKind};
use rampcc_sim::{Connecting, Datagram, Endpoint, Receiving, Run, Sending, Transport, simulate_over};
use rampcc_trace::{FlowEventKind, FlowSample, Outcome};

const PAYLOAD: u32 = 1_000;
const HEADER: u32 = 28;
const RTO: Time = Time::from_ms(500);

/// What is in a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contents {
    Data { number: u64, last: bool },
    Ack { number: u64 },
}

/// What is under way between all ends; a datagram holds an index.
#[derive(Debug, Default)]
struct Slab {
    contents: Vec<Option<Contents>>,
    free: Vec<u32>,
    discarded: u64,
}

type Shared = Rc<RefCell<Slab>>;

impl Slab {
    fn put(&mut self, contents: Contents) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.contents.push(None);
            self.contents.len() as u32 - 1
        });
        assert_eq!(self.contents[index as usize].replace(contents), None, "the place was free");
        index
    }

    fn take(&mut self, index: u32) -> Contents {
        self.free.push(index);
        self.contents[index as usize].take().expect("a datagram arrives or is discarded, once")
    }

    fn under_way(&self) -> usize {
        self.contents.len() - self.free.len()
    }
}

/// It is not read.
const NO_CONTENTS: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, Default)]
struct Bare {
    index: u32,
    flow: u32,
    payload_bytes: u32,
}

impl Packet for Bare {
    fn wire_bytes(&self) -> u32 {
        self.payload_bytes + HEADER
    }
    fn flow(&self) -> u32 {
        self.flow
    }
    fn pure_ack(&self) -> bool {
        self.payload_bytes == 0
    }
}

impl Datagram for Bare {
    fn payload_bytes(&self) -> u32 {
        self.payload_bytes
    }
    fn unanswered(flow: u32, _now: Time, wire_bytes: u32) -> Self {
        Self { index: NO_CONTENTS, flow, payload_bytes: wire_bytes - HEADER }
    }
}

#[derive(Default)]
struct Sender {
    flow: u32,
    slab: Shared,
    window: usize,
    offered: u64,
    finished: bool,
    next: u64,
    outstanding: BTreeMap<u64, Time>,
    lost: BTreeSet<u64>,
    retransmitted: u64,
    acknowledged: u64,
}

impl Endpoint for Sender {
    type Packet = Bare;

    fn handle_packet(&mut self, _now: Time, packet: &Bare) {
        let Contents::Ack { number } = self.slab.borrow_mut().take(packet.index) else {
            panic!("data went to the end that sends them");
        };
        self.acknowledged += u64::from(self.outstanding.remove(&number).is_some());
        self.lost.remove(&number);
    }

    fn handle_timeout(&mut self, now: Time) {
        let Self { outstanding, lost, .. } = self;
        outstanding.retain(|&number, &mut sent| {
            let overdue = sent + RTO <= now;
            lost.extend(overdue.then_some(number));
            !overdue
        });
    }

    fn poll_transmit(&mut self, now: Time, wire: impl FnOnce(&Bare)) -> bool {
        if self.outstanding.len() >= self.window {
            return false;
        }
        let lost = self.lost.pop_first();
        let number = match lost {
            Some(number) => number,
            None if self.next < self.offered => {
                self.next += 1;
                self.next - 1
            }
            None => return false,
        };
        self.retransmitted += u64::from(lost.is_some());
        self.outstanding.insert(number, now);
        let last = self.finished && number + 1 == self.offered;
        let index = self.slab.borrow_mut().put(Contents::Data { number, last });
        wire(&Bare { index, flow: self.flow, payload_bytes: PAYLOAD });
        true
    }

    fn poll_timeout(&self) -> Time {
        self.outstanding.values().min().map_or(Time::NEVER, |&sent| sent + RTO)
    }
}

impl Sending for Sender {
    fn open(&mut self, _now: Time) {}
    fn write(&mut self, _now: Time, bytes: u64) {
        self.offered = self.offered.saturating_add(bytes.div_ceil(u64::from(PAYLOAD)));
    }
    fn finish(&mut self, _now: Time) {
        self.finished = true;
    }
    fn is_idle(&self) -> bool {
        self.acknowledged >= self.offered
    }
    fn poll_event(&mut self) -> Option<FlowEventKind> {
        None
    }
    fn sample(&self, now: Time) -> FlowSample {
        let in_bytes = |packets: u64| packets * u64::from(PAYLOAD);
        FlowSample {
            now,
            flow: self.flow,
            cwnd_bytes: in_bytes(self.window as u64),
            in_flight_bytes: in_bytes(self.outstanding.len() as u64),
            delivered_bytes: in_bytes(self.acknowledged),
            retransmitted_bytes: in_bytes(self.retransmitted),
            ..FlowSample::default()
        }
    }
}

struct Receiver {
    flow: u32,
    slab: Shared,
    next: u64,
    early: BTreeSet<u64>,
    end: Option<u64>,
    due: Vec<u64>,
}

impl Endpoint for Receiver {
    type Packet = Bare;

    fn handle_packet(&mut self, _now: Time, packet: &Bare) {
        let Contents::Data { number, last } = self.slab.borrow_mut().take(packet.index) else {
            panic!("an acknowledgement went to the end that sends them");
        };
        if last {
            self.end = Some(number + 1);
        }
        if number >= self.next {
            self.early.insert(number);
        }
        while self.early.remove(&self.next) {
            self.next += 1;
        }
        self.due.push(number);
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, _now: Time, wire: impl FnOnce(&Bare)) -> bool {
        let Some(number) = self.due.pop() else { return false };
        let index = self.slab.borrow_mut().put(Contents::Ack { number });
        wire(&Bare { index, flow: self.flow, payload_bytes: 0 });
        true
    }

    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }
}

impl Receiving for Receiver {
    fn received_bytes(&self) -> u64 {
        self.next * u64::from(PAYLOAD)
    }
    fn completed(&self) -> bool {
        self.end == Some(self.next)
    }
}

#[derive(Debug, Default)]
struct Datagrams {
    slab: Shared,
}

impl Transport for Datagrams {
    type Packet = Bare;
    type Sender = Sender;
    type Receiver = Receiver;

    fn connect(&mut self, ends: &Connecting<'_>) -> (Sender, Receiver) {
        let (flow, slab) = (ends.flow, self.slab.clone());
        let sender = Sender {
            flow,
            slab: slab.clone(),
            window: ends.sender.initial_window_packets as usize,
            ..Sender::default()
        };
        (sender, Receiver { flow, slab, next: 0, early: BTreeSet::new(), end: None, due: Vec::new() })
    }

    fn discard(&mut self, packet: &Bare) {
        if packet.index != NO_CONTENTS {
            let mut slab = self.slab.borrow_mut();
            slab.take(packet.index);
            slab.discarded += 1;
        }
    }
}

fn play(scenario: &Scenario, seed: u64) -> (Outcome, Log, Datagrams) {
    let (mut transport, mut log) = (Datagrams::default(), Log::default());
    let run = Run { scenario, seed, interrupted: &AtomicBool::new(false) };
    let outcome = simulate_over(&mut transport, run, &mut log).expect("it runs");
    (outcome, log, transport)
}

fn windowed(mut config: rampcc_scenario::FlowConfig, window: u32) -> rampcc_scenario::FlowConfig {
    config.sender.initial_window_packets = window;
    config.sender.sampled = true;
    config
}

#[test]
fn a_fixed_window_takes_a_round_trip_for_each_of_its_fillings() {
    let mut scenario = empty(3, 60.0);
    for (from, to) in [(0, 1), (1, 2), (2, 1), (1, 0)] {
        link(&mut scenario, from, to, plain(mbit(1000), ms(25.0), 1_000));
    }
    scenario.stop.when_complete = true;
    scenario.flows.push(windowed(flow(0, 2, Source::Sized(100_000), "slow_start"), 10));
    let (outcome, log, _) = play(&scenario, 1);
    // Ten fillings; the last arrives after half a round trip. On two links each way, a datagram takes 2 x 8.224 us
    // and its acknowledgement 2 x 0.224 us; the last filling waits for nine others of its own on the first.
    let round = 100_000_000 + 2 * 8_224 + 2 * 224;
    let expected = 9 * round + 50_000_000 + 2 * 8_224 + 9 * 8_224;
    assert_eq!(outcome.flows[0].completed, Time::from_ns(expected));
    assert_eq!((outcome.flows[0].data_packets, outcome.flows[0].dropped_packets), (100, 0));
    let last = log.flows.last().expect("every acknowledgement is sampled");
    assert_eq!((last.cwnd_bytes, last.delivered_bytes), (10_000, 90_000));
}

/// Every way in which a link is played: plain, settling, and holding its packets itself.
fn difficult() -> Scenario {
    let mut scenario = empty(5, 300.0);
    let mut lossy = plain(mbit(20), ms(5.0), 100);
    lossy.loss = LossConfig::Random { probability: 0.02 };
    let mut early = plain(mbit(3), ms(10.0), 100);
    early.queue =
        QueueConfig::CoDel { limit: Limit::Packets(40), target: ms(5.0), interval: ms(100.0), ecn: true };
    let mut late = plain(mbit(10), ms(10.0), 30);
    late.delay.jitter = Some(Jitter::Uniform { max: ms(4.0), step: Time::ZERO });
    late.delay.reordering = Some(Reordering { probability: 0.05, delay: ms(20.0) });
    let mut thin = plain(mbit(10), ms(10.0), 30);
    thin.ack_filter = Some(AckFilter::Aggregate { count: 4, hold: ms(3.0) });
    for (i, (there, back)) in [
        (plain(mbit(100), ms(1.0), 1_000), thin),
        (lossy, plain(mbit(10), ms(5.0), 15)),
        (early, plain(mbit(10), ms(10.0), 15)),
        (late, plain(mbit(100), ms(1.0), 1_000)),
    ]
    .into_iter()
    .enumerate()
    {
        link(&mut scenario, i, i + 1, there);
        link(&mut scenario, i + 1, i, back);
    }
    scenario.bottleneck = 4;
    let (sender, receiver) = era("slow_start");
    let (sender, size) = (Box::new(sender), SizeDistribution::Exponential { mean_bytes: 30_000.0 });
    let kinds = [
        TrafficKind::Poisson { flows_per_s: 2.0, size, flows: 100, sender, receiver, under_test_share: 0.0 },
        TrafficKind::Cbr { rate: mbit(1), packet_bytes: 500 },
    ];
    scenario.traffic = kinds
        .into_iter()
        .map(|kind| Traffic {
            name: "traffic".to_owned(),
            pairs: vec![(0, 4), (4, 0)],
            start: Time::ZERO,
            end: Time::from_secs(200),
            rtt: None,
            kind,
        })
        .collect();
    let chunks = Source::Chunks { chunk_bytes: 20_000, interval: ms(200.0), chunks: 50 };
    for (from, to, source) in
        [(0, 4, Source::Sized(3_000_000)), (4, 0, Source::Sized(500_000)), (1, 3, chunks)]
    {
        scenario.flows.push(windowed(flow(from, to, source, "slow_start"), 30));
    }
    scenario
}

#[test]
fn runs_over_every_kind_of_link_and_loses_no_datagram() {
    let scenario = difficult();
    let (outcome, log, transport) = play(&scenario, 7);
    for (flow, size) in outcome.flows.iter().zip([3_000_000, 500_000, 1_000_000]) {
        assert_eq!((flow.received_bytes, flow.completed < Time::NEVER), (size, true));
        assert!(flow.dropped_packets > 0 && flow.retransmitted_bytes > 0, "{flow:?}");
    }
    let unfinished = outcome.flows.iter().filter(|flow| flow.completed == Time::NEVER).count();
    assert_eq!(unfinished, 1, "nobody answers traffic at a constant rate");
    for (link, totals) in outcome.links.iter().enumerate() {
        let accounted = totals.delivered.packets + totals.dropped.packets + totals.inside.packets;
        assert_eq!((totals.arrived.packets, totals.inside.packets), (accounted, 0), "link {link}");
    }
    assert!(outcome.links[4].dropped.packets > 0, "CoDel dropped");
    let slab = transport.slab.borrow();
    assert!(slab.discarded > 0 && slab.contents.len() < 1_000, "places are used again: {slab:?}");
    assert_eq!(slab.under_way(), 0, "every datagram arrived or was discarded");
    let dropped = |event: &&rampcc_trace::FlowEvent| matches!(event.kind, FlowEventKind::Dropped { .. });
    let seen = log.events.iter().filter(dropped).count() as u64;
    assert_eq!(seen, outcome.links.iter().map(|link| link.dropped.packets).sum::<u64>());
}

#[test]
fn the_seed_decides_everything() {
    let scenario = difficult();
    let ((first, log, _), (again, log_again, _)) = (play(&scenario, 3), play(&scenario, 3));
    assert!(first == again && log == log_again);
    assert!(play(&scenario, 4).1 != log, "another seed draws other losses");
}

//! TCP as a transport of the simulation.

use rampcc::{Seen, Time};
use rampcc_scenario::random::{Purpose, Stream};
use rampcc_tcp::{QuickStart, Receiver, Search, Segment, SegmentKind, Sender};
use rampcc_trace::{FlowDecision, FlowEventKind, FlowSample};

use crate::transport::{Connecting, Datagram, Endpoint, Receiving, Sending, Transport};

/// The TCP of [`rampcc_tcp`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Tcp;

impl Transport for Tcp {
    type Packet = Segment;
    type Sender = Sender;
    type Receiver = Receiver;

    fn connect(&mut self, flow: &Connecting<'_>) -> (Sender, Receiver) {
        (sender(flow), Receiver::new(flow.flow, flow.receiver, flow.sender))
    }
}

/// The sending end; where its clock counts ticks, they begin anywhere.
fn sender(flow: &Connecting<'_>) -> Sender {
    let rto = &flow.sender.rto;
    if !rto.count_ticks || rto.phase.is_some() {
        return Sender::new(flow.flow, flow.sender);
    }
    let into = Stream::new(flow.seed, Purpose::Clock, u64::from(flow.flow)).below(rto.tick.ns());
    let mut config = flow.sender.clone();
    config.rto.phase = Some(Time::from_ns(into));
    Sender::new(flow.flow, &config)
}

impl Datagram for Segment {
    #[inline]
    fn payload_bytes(&self) -> u32 {
        self.payload_bytes()
    }
    fn quick_start(&self) -> Option<QuickStart> {
        // In a SYN-ACK it is an echo between hosts.
        if self.kind() == SegmentKind::SynAck { None } else { self.quick_start() }
    }
    fn set_quick_start(&mut self, option: QuickStart) {
        self.set_quick_start(option);
    }
    fn unanswered(flow: u32, now: Time, wire_bytes: u32) -> Self {
        Self::data(flow, 0, now, 0, wire_bytes)
    }
}

impl Endpoint for Sender {
    type Packet = Segment;
    #[inline]
    fn handle_packet(&mut self, now: Time, packet: &Segment) {
        self.handle_segment(now, packet);
    }
    fn handle_timeout(&mut self, now: Time) {
        self.handle_timeout(now);
    }
    #[inline]
    fn poll_transmit(&mut self, now: Time, wire: impl FnOnce(&Segment)) -> bool {
        self.transmit(now, wire)
    }
    #[inline]
    fn poll_timeout(&self) -> Time {
        self.poll_timeout()
    }
    fn visits(&self, packet: &Segment, search: Search) -> u64 {
        self.visits(packet, search)
    }
    fn queued(&self) -> u64 {
        self.queued()
    }
    fn timeout_visits(&self) -> u64 {
        self.timeout_visits()
    }
}

impl Sending for Sender {
    fn open(&mut self, now: Time) {
        self.open(now);
    }
    fn write(&mut self, now: Time, bytes: u64) {
        self.write(now, bytes);
    }
    fn finish(&mut self, now: Time) {
        self.finish(now);
    }
    fn is_idle(&self) -> bool {
        self.is_idle()
    }
    #[inline]
    fn poll_event(&mut self) -> Option<FlowEventKind> {
        self.poll_event()
    }
    fn record_decisions(&mut self) {
        self.record_decisions();
    }
    fn poll_decision(&mut self) -> Option<FlowDecision> {
        self.poll_decision()
    }
    fn seen(&self, now: Time, closing: bool) -> Option<Seen> {
        Some(self.seen(now, closing))
    }
    fn sample(&self, now: Time) -> FlowSample {
        self.sample(now)
    }
}

impl Endpoint for Receiver {
    type Packet = Segment;
    #[inline]
    fn handle_packet(&mut self, now: Time, packet: &Segment) {
        self.handle_segment(now, packet);
    }
    fn handle_timeout(&mut self, now: Time) {
        self.handle_timeout(now);
    }
    #[inline]
    fn poll_transmit(&mut self, now: Time, wire: impl FnOnce(&Segment)) -> bool {
        self.transmit(now, wire)
    }
    #[inline]
    fn poll_timeout(&self) -> Time {
        self.poll_timeout()
    }
    fn visits(&self, packet: &Segment, search: Search) -> u64 {
        self.visits(packet, search)
    }
    fn queued(&self) -> u64 {
        self.queued()
    }
}

impl Receiving for Receiver {
    #[inline]
    fn received_bytes(&self) -> u64 {
        self.received_bytes()
    }
    #[inline]
    fn completed(&self) -> bool {
        self.completed()
    }
}

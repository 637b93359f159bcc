//! Both ends of a flow, with their applications.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use rampcc::{Phase, Time};
use rampcc_quic::Counts;
use rampcc_sim::{Endpoint, Receiving, Sending};
use rampcc_trace::{FlowDecision, FlowEventKind, FlowSample};

use crate::datagram::UdpDatagram;
use crate::end::{End, News, Written, zeros};
use crate::seen::{Seen, Watch};

/// An endless write is kept so far ahead of what was delivered.
const AHEAD_BYTES: u64 = 64 << 20;

/// What the receiver's application knows of the size, as from a response's header.
#[derive(Clone, Debug, Default)]
pub(crate) struct Announced(Rc<Cell<Size>>);

#[derive(Clone, Copy, Debug, Default)]
struct Size {
    bytes: u64,
    complete: bool,
}

impl Announced {
    /// So many bytes, and no more.
    pub(crate) fn all(bytes: u64) -> Self {
        Self(Rc::new(Cell::new(Size { bytes, complete: true })))
    }
}

/// A write, which has a stream of its own.
struct Write {
    left: u64,
    stream: Option<u64>,
}

/// The end where the application writes: the client of the connection.
pub struct Sender {
    peer: Box<dyn End>,
    flow: u32,
    watch: Watch,
    connected: bool,
    announced: Announced,
    writes: VecDeque<Write>,
    written: u64,
    /// Streams whose last byte has not been acknowledged.
    unacknowledged: u64,
    finished: bool,
    events: VecDeque<FlowEventKind>,
    reported: Reported,
}

/// What has been reported of the controller's state.
#[derive(Clone, Copy, Debug, Default)]
struct Reported {
    counts: Counts,
    exited: bool,
    lost: bool,
}

impl Sender {
    pub(crate) fn new(peer: Box<dyn End>, flow: u32, watch: Watch, announced: Announced) -> Self {
        Self {
            peer,
            flow,
            watch,
            connected: false,
            announced,
            writes: VecDeque::new(),
            written: 0,
            unacknowledged: 0,
            finished: false,
            events: VecDeque::new(),
            reported: Reported::default(),
        }
    }

    /// Takes in what has happened, and writes what there is room for.
    fn attend(&mut self) {
        while let Some(news) = self.peer.poll() {
            match news {
                News::Connected => {
                    self.connected = true;
                    self.events.push_back(FlowEventKind::Established);
                }
                News::Finished => self.unacknowledged = self.unacknowledged.saturating_sub(1),
                News::Opened | News::Readable(_) | News::Other => {}
            }
        }
        self.write_on();
        self.report();
    }

    fn write_on(&mut self) {
        if !self.connected {
            return;
        }
        let delivered = self.watch.read().sample.delivered_bytes;
        while let Some(write) = self.writes.front_mut() {
            if self.peer.lost() {
                return;
            }
            let stream = match write.stream {
                Some(stream) => stream,
                None => match self.peer.open() {
                    Some(stream) => *write.stream.insert(stream),
                    None => return,
                },
            };
            while write.left > 0 {
                if write.left > AHEAD_BYTES && self.written > delivered.saturating_add(AHEAD_BYTES) {
                    return;
                }
                match self.peer.write(stream, zeros(write.left)) {
                    Written::Bytes(bytes) => {
                        self.written += bytes;
                        if write.left != u64::MAX {
                            write.left -= bytes;
                        }
                    }
                    Written::Blocked => return,
                    Written::Gone => break,
                }
            }
            self.peer.finish(stream);
            self.writes.pop_front();
        }
    }

    /// Events that the controller's state shows.
    fn report(&mut self) {
        if self.peer.lost() && !self.reported.lost && !self.over() {
            self.reported.lost = true;
            self.events.push_back(FlowEventKind::ConnectionLost);
        }
        let Seen { counts, exit, sample } = self.watch.read();
        let before = std::mem::replace(&mut self.reported.counts, counts);
        if counts.resumed > before.resumed {
            self.reported.exited = false;
            self.events.push_back(FlowEventKind::StartupResumed);
        }
        if let Some(exit) = exit.filter(|_| !self.reported.exited) {
            self.reported.exited = true;
            self.events.push_back(FlowEventKind::StartupExit {
                reason: exit.reason,
                evidence: exit.evidence,
                limit: exit.limit,
                cwnd_bytes: exit.window_bytes,
                deciding_sent: exit.deciding_sent,
            });
        }
        if counts.recovered > before.recovered {
            self.events.push_back(FlowEventKind::RecoveryEnd);
        }
        if counts.undone > before.undone {
            self.events.push_back(FlowEventKind::Undone);
        }
        if counts.persistent > before.persistent {
            self.events.push_back(FlowEventKind::Timeout { backoff: 1 });
        } else if counts.reductions > before.reductions {
            let (cwnd_bytes, in_flight_bytes) = (sample.cwnd_bytes, sample.in_flight_bytes);
            self.events.push_back(FlowEventKind::RecoveryStart { cwnd_bytes, in_flight_bytes });
        }
    }

    fn over(&self) -> bool {
        self.finished && self.is_idle()
    }
}

impl Endpoint for Sender {
    type Packet = UdpDatagram;

    fn handle_packet(&mut self, now: Time, packet: &UdpDatagram) {
        self.peer.handle_datagram(now, packet);
        self.attend();
    }

    fn handle_timeout(&mut self, now: Time) {
        self.peer.handle_timeout(now);
        self.attend();
    }

    fn poll_transmit(&mut self, now: Time, wire: impl FnOnce(&UdpDatagram)) -> bool {
        if self.over() {
            return false;
        }
        let Some(datagram) = self.peer.poll_transmit(now) else {
            self.attend();
            return false;
        };
        wire(&datagram);
        true
    }

    fn poll_timeout(&self) -> Time {
        if self.over() { Time::NEVER } else { self.peer.poll_timeout() }
    }
}

impl Sending for Sender {
    fn open(&mut self, now: Time) {
        self.peer.connect(now);
    }

    fn write(&mut self, _: Time, bytes: u64) {
        self.writes.push_back(Write { left: bytes, stream: None });
        self.unacknowledged += 1;
        let size = self.announced.0.get();
        self.announced.0.set(Size { bytes: size.bytes.saturating_add(bytes), ..size });
        self.write_on();
    }

    fn finish(&mut self, _: Time) {
        self.finished = true;
        self.announced.0.set(Size { complete: true, ..self.announced.0.get() });
    }

    fn is_idle(&self) -> bool {
        self.unacknowledged == 0
    }

    fn poll_event(&mut self) -> Option<FlowEventKind> {
        self.events.pop_front()
    }

    fn record_decisions(&mut self) {
        self.watch.record_calls();
    }

    fn poll_decision(&mut self) -> Option<FlowDecision> {
        self.watch.poll_call(self.flow)
    }

    fn sample(&self, now: Time) -> FlowSample {
        let Seen { sample, exit, .. } = self.watch.read();
        let phase = if exit.is_some() { Phase::Done } else { sample.phase };
        FlowSample { now, flow: self.flow, phase, ..sample }
    }
}

/// The end where the application reads: the server.
pub struct Receiver {
    peer: Box<dyn End>,
    announced: Announced,
    received: u64,
}

impl Receiver {
    pub(crate) fn new(peer: Box<dyn End>, announced: Announced) -> Self {
        Self { peer, announced, received: 0 }
    }

    fn attend(&mut self) {
        let mut readable = Vec::new();
        while let Some(news) = self.peer.poll() {
            match news {
                News::Opened => readable.extend(std::iter::from_fn(|| self.peer.accept())),
                News::Readable(stream) => readable.push(stream),
                News::Connected | News::Finished | News::Other => {}
            }
        }
        for stream in readable {
            self.received += self.peer.read(stream);
        }
    }
}

impl Endpoint for Receiver {
    type Packet = UdpDatagram;

    fn handle_packet(&mut self, now: Time, packet: &UdpDatagram) {
        self.peer.handle_datagram(now, packet);
        self.attend();
    }

    fn handle_timeout(&mut self, now: Time) {
        self.peer.handle_timeout(now);
        self.attend();
    }

    fn poll_transmit(&mut self, now: Time, wire: impl FnOnce(&UdpDatagram)) -> bool {
        let Some(datagram) = self.peer.poll_transmit(now) else {
            self.attend();
            return false;
        };
        // What it sends are acknowledgements, whatever their size.
        wire(&datagram.carrying(0));
        true
    }

    fn poll_timeout(&self) -> Time {
        self.peer.poll_timeout()
    }
}

impl Receiving for Receiver {
    fn received_bytes(&self) -> u64 {
        self.received
    }

    fn completed(&self) -> bool {
        let size = self.announced.0.get();
        size.complete && self.received >= size.bytes
    }
}

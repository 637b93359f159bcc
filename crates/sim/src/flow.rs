//! One connection: a sender, a receiver and the application that writes.

use std::collections::VecDeque;

use rampcc::{Time, Traits};
use rampcc_scenario::Source;
use rampcc_trace::next_round_number;

use crate::packet::{End, Place};
use crate::topology::{Between, Route};
use crate::transport::{Connecting, Endpoint, Receiving, Sending, Transport};

pub(crate) struct Flow<T: Transport> {
    pub(crate) id: u32,
    pub(crate) sender: T::Sender,
    pub(crate) receiver: T::Receiver,
    /// Where what the sender sends begins its way.
    pub(crate) forward: Place,
    /// Where what the receiver sends begins its way.
    pub(crate) backward: Place,
    pub(crate) writer: Writer,
    pub(crate) held: Held<<T as Transport>::Packet>,
    /// Whether an observer wants every ACK and every byte.
    pub(crate) sampled: bool,
    /// Whether an observer wants every call of its algorithm.
    pub(crate) recorded: bool,
    pub(crate) completed: bool,
    /// In-order bytes from which the next `Received` is due.
    pub(crate) report_from_bytes: u64,
    source: Source,
    /// How often and from when on one is due whatever has arrived.
    report_every: Time,
    report_by: Time,
    pub(crate) data_packets: u64,
    /// Its ends, if its host remembers what it has seen.
    pub(crate) remembered: Option<Between>,
    pub(crate) between: Between,
    /// When it will be woken.
    pub(crate) armed: Time,
    /// Generator and web session to tell of completion.
    pub(crate) session: Option<(u32, u32)>,
}

pub(crate) struct FlowSpec<'a> {
    pub(crate) ends: Connecting<'a>,
    pub(crate) between: Between,
    pub(crate) forward: Route,
    pub(crate) backward: Route,
    pub(crate) source: &'a Source,
    pub(crate) session: Option<(u32, u32)>,
    /// How long what it sends is held back.
    pub(crate) held: Time,
}

impl FlowSpec<'_> {
    /// Its ends, if its algorithm needs history.
    pub(crate) fn remembered(&self) -> Option<Between> {
        let needs_history = self.ends.sender.startup.traits.has(Traits::NEEDS_HISTORY);
        needs_history.then_some(self.between)
    }
}

impl<T: Transport> Flow<T> {
    /// The flow between two ends as its application opens it at `now`; it lives in `slot`.
    pub(crate) fn open(
        now: Time,
        slot: u32,
        spec: &FlowSpec<'_>,
        sender: T::Sender,
        receiver: T::Receiver,
    ) -> Self {
        let mut flow = Self {
            id: spec.ends.flow,
            sender,
            receiver,
            forward: Place::start(spec.forward, slot, End::Receiver),
            backward: Place::start(spec.backward, slot, End::Sender),
            writer: Writer::new(now, spec.source),
            held: Held { by: spec.held, packets: VecDeque::new() },
            sampled: spec.ends.sender.sampled,
            report_every: Time::NEVER,
            report_by: Time::NEVER,
            recorded: false,
            completed: false,
            report_from_bytes: 1,
            source: *spec.source,
            data_packets: 0,
            remembered: spec.remembered(),
            between: spec.between,
            armed: Time::NEVER,
            session: spec.session,
        };
        flow.sender.open(now);
        flow.writer.handle_timeout(now, &mut flow.sender);
        flow
    }

    /// When it wants to be woken at the latest.
    pub(crate) fn poll_timeout(&self) -> Time {
        let ends = self.sender.poll_timeout().min(self.receiver.poll_timeout());
        ends.min(self.writer.poll_timeout()).min(self.held.poll_timeout())
    }

    /// Whether nothing will happen any more: everything has arrived, and the sender knows.
    pub(crate) fn over(&self) -> bool {
        self.completed
            && self.sender.poll_timeout() == Time::NEVER
            && self.writer.poll_timeout() == Time::NEVER
            && self.held.poll_timeout() == Time::NEVER
    }

    /// In-order bytes if they are worth a `Received` now.
    ///
    /// The grid has every number of at most three significant digits, so that the arrival of the first 1 kB, 250
    /// kB, 36 MB … is exact, as is that of every write, while the number of reports grows with the logarithm of the size.
    pub(crate) fn poll_progress(&mut self, now: Time) -> Option<u64> {
        let bytes = self.receiver.received_bytes();
        if bytes < self.report_from_bytes && now < self.report_by {
            return None;
        }
        self.report_from_bytes = next_round_number(bytes).min(self.source.write_end(bytes));
        if self.report_every != Time::NEVER {
            self.report_by = now + self.report_every;
        }
        Some(bytes)
    }

    /// An observer wants an arrival to be told after so long at the latest.
    pub(crate) fn report_every(&mut self, now: Time, every: Time) {
        self.report_every = every;
        self.report_by = if every == Time::NEVER { Time::NEVER } else { now + every };
    }
}

/// What has left a sender and is held back before the first link, as long as that and the links lack to the flow's round trip.
#[derive(Debug)]
pub(crate) struct Held<P> {
    pub(crate) by: Time,
    packets: VecDeque<(Time, P)>,
}

impl<P: Copy> Held<P> {
    /// When the next packet may go on.
    #[inline]
    pub(crate) fn poll_timeout(&self) -> Time {
        self.packets.front().map_or(Time::NEVER, |packet| packet.0)
    }

    #[cold]
    pub(crate) fn push(&mut self, now: Time, packet: P) {
        self.packets.push_back((now + self.by, packet));
    }

    /// The next packet that may go on by now.
    pub(crate) fn pop(&mut self, now: Time) -> Option<P> {
        if self.poll_timeout() > now { None } else { self.packets.pop_front().map(|packet| packet.1) }
    }
}

/// The application's side: what it writes, and when.
#[derive(Debug)]
pub(crate) struct Writer {
    next: Time,
    /// Bytes that come before all chunks; 0: none.
    first_bytes: u64,
    chunk_bytes: u64,
    interval: Time,
    /// From the acknowledgement of all that was written to the next write; `None`: writes do not wait for that.
    think: Option<Time>,
    /// Writes to come; `u64::MAX`: for ever.
    left: u64,
}

impl Writer {
    fn new(now: Time, source: &Source) -> Self {
        let once = Self {
            next: now,
            first_bytes: 0,
            chunk_bytes: u64::MAX,
            interval: Time::NEVER,
            think: None,
            left: u64::MAX,
        };
        let writes = |count: u64| if count == 0 { u64::MAX } else { count };
        match *source {
            Source::Bulk => once,
            Source::Sized(bytes) => Self { chunk_bytes: bytes, left: 1, ..once },
            Source::Chunks { chunk_bytes, interval, chunks } => {
                // An interval of zero would never let time move on.
                let interval = interval.max(Time::from_ns(1));
                Self { chunk_bytes, interval, left: writes(chunks), ..once }
            }
            Source::Responses { first_bytes, response_bytes, think, responses } => Self {
                first_bytes,
                chunk_bytes: response_bytes,
                think: Some(think),
                left: writes(responses),
                ..once
            },
        }
    }

    /// After the sender has taken in a packet: the next request may have come with it.
    #[inline]
    pub(crate) fn handle_acknowledged(&mut self, now: Time, sender: &mut impl Sending) {
        if let Some(think) = self.think
            && self.next == Time::NEVER
            && self.left > 0
            && sender.is_idle()
        {
            self.next = now + think;
            self.handle_timeout(now, sender);
        }
    }

    /// When the application writes next.
    #[inline]
    pub(crate) fn poll_timeout(&self) -> Time {
        self.next
    }

    pub(crate) fn handle_timeout(&mut self, now: Time, sender: &mut impl Sending) {
        while self.next <= now {
            if self.first_bytes > 0 {
                sender.write(now, self.first_bytes);
                self.first_bytes = 0;
                self.next = Time::NEVER;
                return;
            }
            sender.write(now, self.chunk_bytes);
            self.next += self.interval;
            if self.left != u64::MAX {
                self.left -= 1;
            }
            if self.left == 0 {
                self.next = Time::NEVER;
                sender.finish(now);
            }
        }
    }
}

//! One end of a connection, whatever stack it is in.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use rampcc::Time;

use crate::datagram::{Arena, UdpDatagram};

/// What is written at once; its contents are zeros, which costs no memory.
const ZEROS: &[u8] = &[0; 1 << 20];
/// Largest packet of a sender without stream data: ACKs, probes and their like.
const CONTROL_BYTES: usize = 64;
/// Header, frame type and tag of a packet that carries one stream's data.
const OVERHEAD_BYTES: usize = 34;

/// What the application of an end learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    Connected,
    /// All of a stream that it has written is acknowledged, or is not read any more.
    Finished,
    /// The peer has opened streams.
    Opened,
    /// A stream has something to read.
    Readable(u64),
    /// Anything else.
    Other,
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Bytes(u64),
    Blocked,
    /// The stream takes nothing more.
    Gone,
}

/// A stack's endpoint with its connection, and what an application may ask of it. Every stream goes one way.
pub(crate) trait End {
    /// Opens the connection, once.
    fn connect(&mut self, now: Time);
    fn handle_datagram(&mut self, now: Time, datagram: &UdpDatagram);
    fn handle_timeout(&mut self, now: Time);
    /// What has happened, one at a time, until `None`.
    fn poll(&mut self) -> Option<News>;
    /// The next datagram that may leave now.
    fn poll_transmit(&mut self, now: Time) -> Option<UdpDatagram>;
    fn poll_timeout(&self) -> Time;
    /// The connection is no more.
    fn lost(&self) -> bool;
    /// `None`: there may be no further stream now.
    fn open(&mut self) -> Option<u64>;
    /// The next stream that the peer has opened.
    fn accept(&mut self) -> Option<u64>;
    fn write(&mut self, stream: u64, part: Bytes) -> Written;
    fn finish(&mut self, stream: u64);
    /// Reads what has come, in order; returns how much that was.
    fn read(&mut self, stream: u64) -> u64;
}

/// Up to so many zeros.
pub(crate) fn zeros(bytes: u64) -> Bytes {
    Bytes::from_static(&ZEROS[..bytes.min(ZEROS.len() as u64) as usize])
}

/// Where an end's datagrams come from and go to.
pub(crate) struct Port {
    /// The stack's instant at the beginning of the run.
    base: Instant,
    /// The other end.
    pub(crate) remote: SocketAddr,
    arena: Arena,
    flow: u32,
    /// Answers of an endpoint itself, which belong to no connection.
    answers: Vec<BytesMut>,
    /// Where a stack writes what it sends.
    pub(crate) buffer: Vec<u8>,
    /// Latest time that it has seen.
    now: Time,
}

impl Port {
    pub(crate) fn new(base: Instant, remote: SocketAddr, arena: Arena, flow: u32) -> Self {
        Self { base, remote, arena, flow, answers: Vec::new(), buffer: Vec::new(), now: Time::ZERO }
    }

    /// The stack's instant; everything later is later than it.
    pub(crate) fn at(&mut self, now: Time) -> Instant {
        self.now = now;
        self.base + Duration::from_nanos(now.ns())
    }

    /// A datagram's bytes; empty: no host is to see them.
    pub(crate) fn arrived(&mut self, datagram: &UdpDatagram) -> BytesMut {
        self.buffer.clear();
        self.arena.take(datagram.place)
    }

    /// The endpoint answers with the first bytes of the buffer.
    pub(crate) fn answer(&mut self, bytes: usize) {
        self.answers.push(BytesMut::from(&self.buffer[..bytes]));
    }

    /// The next answer; without one, the buffer is empty for what the connection sends.
    pub(crate) fn next_answer(&mut self) -> Option<UdpDatagram> {
        self.buffer.clear();
        let answer = self.answers.pop()?;
        let bytes = answer.len() as u32;
        Some(UdpDatagram::new(self.flow, self.arena.put(answer), bytes))
    }

    /// The connection sends the first bytes of the buffer. In a handshake there are no streams.
    pub(crate) fn depart(&mut self, bytes: usize, ecn: u8, handshaking: bool) -> UdpDatagram {
        let place = self.arena.put(BytesMut::from(&self.buffer[..bytes]));
        let carries = !handshaking && bytes > CONTROL_BYTES;
        let stream_bytes = if carries { bytes - OVERHEAD_BYTES } else { 0 };
        UdpDatagram::new(self.flow, place, bytes as u32).carrying(stream_bytes as u32).with_ecn(ecn)
    }

    /// A timer as time, later than all it has seen: a pacer that waits for less than a nanosecond earns nothing in none.
    pub(crate) fn due(&self, timer: Option<Instant>) -> Time {
        timer.map_or(Time::NEVER, |due| since(self.base, due).max(self.now + Time::from_ns(1)))
    }
}

/// Time from a run's beginning to an instant.
pub(crate) fn since(base: Instant, instant: Instant) -> Time {
    let since = instant.saturating_duration_since(base).as_nanos();
    Time::from_ns(u64::try_from(since).unwrap_or(u64::MAX))
}

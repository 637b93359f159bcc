//! One end of a connection: noq's endpoint and connection, and the datagrams between them and the network.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use noq_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint,
    EndpointConfig, Event, FourTuple, ServerConfig, StreamEvent, Transmit,
};
use rampcc::Time;

use crate::datagram::{Arena, UdpDatagram};

/// Largest packet of a sender without stream data: ACKs, probes and their like.
const CONTROL_BYTES: usize = 64;
/// Header, frame type and tag of a packet that carries one stream's data.
const OVERHEAD_BYTES: usize = 34;

/// One end.
pub(crate) struct Peer {
    endpoint: Endpoint,
    handle: Option<ConnectionHandle>,
    connection: Option<Connection>,
    /// noq's instant at the beginning of the run.
    base: Instant,
    /// The other end.
    remote: SocketAddr,
    arena: Arena,
    flow: u32,
    /// Answers of the endpoint itself, which belong to no connection.
    answers: Vec<BytesMut>,
    buffer: Vec<u8>,
    /// Latest time that it has seen.
    now: Time,
    /// Why the connection is no more.
    pub(crate) lost: Option<ConnectionError>,
}

/// What makes an end.
pub(crate) struct Setup {
    pub(crate) config: Arc<EndpointConfig>,
    pub(crate) server: Option<Arc<ServerConfig>>,
    pub(crate) base: Instant,
    pub(crate) remote: SocketAddr,
    pub(crate) arena: Arena,
    pub(crate) flow: u32,
}

/// What the application of an end learns.
pub(crate) enum News {
    Connected,
    Stream(StreamEvent),
}

impl Peer {
    pub(crate) fn new(setup: Setup) -> Self {
        let Setup { config, server, base, remote, arena, flow } = setup;
        Self {
            endpoint: Endpoint::new(config, server, false),
            handle: None,
            connection: None,
            base,
            remote,
            arena,
            flow,
            answers: Vec::new(),
            buffer: Vec::new(),
            now: Time::ZERO,
            lost: None,
        }
    }

    /// Opens a connection.
    pub(crate) fn connect(&mut self, now: Time, config: ClientConfig) {
        match self.endpoint.connect(self.at(now), config, self.remote, "peer") {
            Ok((handle, connection)) => {
                self.handle = Some(handle);
                self.connection = Some(connection);
            }
            Err(error) => unreachable!("address and configuration are the simulator's own: {error}"),
        }
    }

    pub(crate) fn connection(&mut self) -> Option<&mut Connection> {
        if self.lost.is_some() { None } else { self.connection.as_mut() }
    }

    /// A datagram arrived.
    pub(crate) fn handle_datagram(&mut self, now: Time, datagram: &UdpDatagram) {
        self.now = now;
        let contents = self.arena.take(datagram.place);
        if contents.is_empty() {
            return;
        }
        let from = FourTuple::from_remote(self.remote);
        let ecn = EcnCodepoint::from_bits(datagram.ecn);
        self.buffer.clear();
        let event = self.endpoint.handle(self.at(now), from, ecn, contents, &mut self.buffer);
        match event {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some(connection) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                let (at, buffer) = (self.at(now), &mut self.buffer);
                match self.endpoint.accept(incoming, at, buffer, None) {
                    Ok((handle, connection)) => {
                        self.handle = Some(handle);
                        self.connection = Some(connection);
                    }
                    Err(error) => self.lost = Some(error.cause),
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::Response(transmit)) => {
                self.answers.push(BytesMut::from(&self.buffer[..transmit.size]));
            }
            None => {}
        }
    }

    /// A timer is due.
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        self.now = now;
        let at = self.at(now);
        if let Some(connection) = self.connection() {
            connection.handle_timeout(at);
        }
    }

    /// What has happened, one at a time, until `None`.
    pub(crate) fn poll(&mut self) -> Option<News> {
        let (handle, connection) = (self.handle?, self.connection.as_mut()?);
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(handle, event) {
                connection.handle_event(event);
            }
        }
        loop {
            match connection.poll()? {
                Event::Connected => return Some(News::Connected),
                Event::Stream(event) => return Some(News::Stream(event)),
                Event::ConnectionLost { reason } => self.lost = Some(reason),
                _ => {}
            }
        }
    }

    /// The next datagram that may leave now.
    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<UdpDatagram> {
        self.now = now;
        if let Some(answer) = self.answers.pop() {
            let bytes = answer.len() as u32;
            return Some(UdpDatagram::new(self.flow, self.arena.put(answer), bytes));
        }
        let at = self.at(now);
        self.buffer.clear();
        let buffer = &mut self.buffer;
        let connection = self.connection.as_mut()?;
        let Transmit { ecn, size, .. } = connection.poll_transmit(at, NonZeroUsize::MIN, buffer)?;
        let carries = !connection.is_handshaking() && size > CONTROL_BYTES;
        let place = self.arena.put(BytesMut::from(&self.buffer[..size]));
        let datagram = UdpDatagram::new(self.flow, place, size as u32);
        let stream_bytes = if carries { size - OVERHEAD_BYTES } else { 0 };
        Some(datagram.carrying(stream_bytes as u32).with_ecn(ecn.map_or(0, |codepoint| codepoint as u8)))
    }

    /// When its next timer is due, later than all it has seen: a pacer that waits for less than a nanosecond earns nothing in
    /// none.
    pub(crate) fn poll_timeout(&self) -> Time {
        let due = self.connection.as_ref().filter(|_| self.lost.is_none()).and_then(Connection::poll_timeout);
        due.map_or(Time::NEVER, |due| self.time(due).max(self.now + Time::from_ns(1)))
    }

    pub(crate) fn at(&self, now: Time) -> Instant {
        self.base + Duration::from_nanos(now.ns())
    }

    fn time(&self, instant: Instant) -> Time {
        let since = instant.saturating_duration_since(self.base).as_nanos();
        Time::from_ns(u64::try_from(since).unwrap_or(u64::MAX))
    }
}

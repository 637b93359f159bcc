//! One connection at a time over a UDP socket, by one thread.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, Event, FourTuple, StreamEvent,
    StreamId, VarInt,
};

use crate::Failure;

/// A sleeping thread wakes up so much too late; what is due sooner is waited for awake.
const OVERSLEEPS: Duration = Duration::from_micros(300);
const DATAGRAM_BYTES: usize = 2048;
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Which side it is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    /// Sends so many bytes on one stream to each client.
    Server { bytes: u64 },
    /// Reads the stream.
    Client,
}

/// A socket, and the stack on it.
pub(crate) struct Driver {
    socket: UdpSocket,
    endpoint: Endpoint,
    role: Role,
    live: Option<(ConnectionHandle, Connection)>,
    stream: Option<StreamId>,
    left: u64,
    received: u64,
    buffer: Vec<u8>,
}

impl Driver {
    pub(crate) fn new(endpoint: Endpoint, address: SocketAddr, role: Role) -> Result<Self, Failure> {
        let socket = UdpSocket::bind(address)?;
        Ok(Self {
            socket,
            endpoint,
            role,
            live: None,
            stream: None,
            left: 0,
            received: 0,
            buffer: Vec::new(),
        })
    }

    pub(crate) fn connect(&mut self, config: ClientConfig, to: SocketAddr) -> Result<(), Failure> {
        self.live = Some(self.endpoint.connect(Instant::now(), config, to, &to.ip().to_string())?);
        Ok(())
    }

    /// Until the connection is over; returns what has been received.
    pub(crate) fn run(&mut self) -> Result<u64, Failure> {
        loop {
            self.send()?;
            self.wait()?;
            let now = Instant::now();
            if let Some((_, connection)) = &mut self.live
                && connection.poll_timeout().is_some_and(|due| due <= now)
            {
                connection.handle_timeout(now);
            }
            if self.attend()? {
                self.live = None;
                self.stream = None;
                return Ok(std::mem::take(&mut self.received));
            }
        }
    }

    /// Everything that may leave now.
    fn send(&mut self) -> Result<(), Failure> {
        let Some((_, connection)) = &mut self.live else { return Ok(()) };
        loop {
            self.buffer.clear();
            let sent = connection.poll_transmit(Instant::now(), NonZeroUsize::MIN, &mut self.buffer);
            let Some(transmit) = sent else { return Ok(()) };
            match self.socket.send_to(&self.buffer[..transmit.size], transmit.destination) {
                // A full buffer of the socket is a loss like any other.
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error.into()),
                _ => {}
            }
        }
    }

    /// For a datagram or the next timer, then every datagram that is there.
    fn wait(&mut self) -> Result<(), Failure> {
        let due = self.live.as_ref().and_then(|(_, connection)| connection.poll_timeout());
        loop {
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            let sleeps = match left {
                None => Some(None),
                Some(left) if left > 2 * OVERSLEEPS => Some(Some(left - OVERSLEEPS)),
                Some(_) => None,
            };
            if let Some(timeout) = sleeps {
                self.socket.set_nonblocking(false)?;
                self.socket.set_read_timeout(timeout)?;
            } else {
                self.socket.set_nonblocking(true)?;
            }
            let mut came = self.receive()?;
            if came {
                self.socket.set_nonblocking(true)?;
                while self.receive()? {
                    came = true;
                }
            }
            if came || left.is_some_and(|left| left.is_zero()) {
                return Ok(());
            }
        }
    }

    fn receive(&mut self) -> Result<bool, Failure> {
        let mut datagram = [0; DATAGRAM_BYTES];
        let (bytes, from) = match self.socket.recv_from(&mut datagram) {
            Ok(received) => received,
            Err(error) => {
                let nothing = [ErrorKind::WouldBlock, ErrorKind::TimedOut, ErrorKind::ConnectionRefused];
                return if nothing.contains(&error.kind()) { Ok(false) } else { Err(error.into()) };
            }
        };
        let now = Instant::now();
        self.buffer.clear();
        let from = FourTuple::from_remote(from);
        let event =
            self.endpoint.handle(now, from, None, BytesMut::from(&datagram[..bytes]), &mut self.buffer);
        match event {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some((_, connection)) = self.live.as_mut().filter(|(live, _)| *live == handle) {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.live.is_none() => {
                let accepted = self.endpoint.accept(incoming, now, &mut self.buffer, None);
                self.live = Some(accepted.map_err(|error| error.cause)?);
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::Response(transmit)) => {
                self.socket.send_to(&self.buffer[..transmit.size], transmit.destination)?;
            }
            None => {}
        }
        Ok(true)
    }

    /// What has happened, and what the application does about it; true: the connection is over.
    fn attend(&mut self) -> Result<bool, Failure> {
        let Some((handle, connection)) = &mut self.live else { return Ok(false) };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match (event, self.role) {
                (Event::Connected, Role::Server { bytes }) => {
                    self.left = bytes;
                    self.stream = connection.streams().open(Dir::Uni);
                }
                (Event::Stream(StreamEvent::Opened { dir }), Role::Client) => {
                    self.stream = connection.streams().accept(dir);
                }
                (Event::ConnectionLost { reason }, Role::Client) => return Err(reason.into()),
                (Event::ConnectionLost { .. }, Role::Server { .. }) => return Ok(true),
                _ => {}
            }
        }
        let Some(id) = self.stream else { return Ok(false) };
        match self.role {
            Role::Server { .. } => {
                let mut stream = connection.send_stream(id);
                while self.left > 0 {
                    let part = Bytes::from_static(&ZEROS[..ZEROS.len().min(self.left as usize)]);
                    let Ok(bytes) = stream.write_chunks(&mut &mut [part][..]) else { return Ok(false) };
                    self.left -= bytes as u64;
                }
                _ = stream.finish();
                Ok(false)
            }
            Role::Client => {
                let mut stream = connection.recv_stream(id);
                let Ok(mut chunks) = stream.read(true) else { return Ok(false) };
                let over = loop {
                    match chunks.next(usize::MAX) {
                        Ok(Some(chunk)) => self.received += chunk.bytes.len() as u64,
                        Ok(None) => break true,
                        Err(_) => break false,
                    }
                };
                _ = chunks.finalize();
                if over {
                    connection.close(Instant::now(), VarInt::from_u32(0), Bytes::new());
                    self.send()?;
                }
                Ok(over)
            }
        }
    }
}

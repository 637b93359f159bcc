//! A stack at an end: the same code over noq-proto and over quinn-proto, which began as one. What differs is in the file of each
//! `mod stack`, which is where this file is included; what else they call alike comes from there as `proto`.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use rampcc::Time;
use rampcc_quic::Rules;

use super::proto::congestion::ControllerFactory;
use super::proto::{
    AckFrequencyConfig, ClientConfig, Connection, ConnectionHandle, ConnectionId, ConnectionIdGenerator,
    DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig, Event, ServerConfig, StreamEvent, StreamId,
    TimeSource, Transmit, TransportConfig, VarInt, WriteError,
};
use super::{Factory, ONE, STREAMS_MAX, endpoint, handle, protection, set_cids, write};
use crate::datagram::UdpDatagram;
use crate::end::{End, News, Port, Written};
use crate::plain::Plain;
use crate::protection::PEER;
use crate::seen::Watch;
use crate::wishes::{CID_BYTES, Wishes, cid, receivers_rules};

/// A datagram that came.
pub(super) struct Arrived {
    pub(super) ecn: Option<EcnCodepoint>,
    pub(super) contents: BytesMut,
}

/// One end.
pub(crate) struct Peer {
    endpoint: Endpoint,
    /// Of a client that has not connected yet.
    config: Option<ClientConfig>,
    handle: Option<ConnectionHandle>,
    /// Of quinn, asking for the next timer may change a connection.
    connection: RefCell<Option<Connection>>,
    port: Port,
    lost: bool,
}

pub(crate) type Controllers = Arc<dyn ControllerFactory + Send + Sync>;

/// Those of the core, which obey `rules`.
pub(crate) fn core(rules: Rules, wishes: &Wishes, watch: &Watch) -> Controllers {
    let factory = Factory::new(rules).expect("rows with other needs have been refused");
    Arc::new(factory.since(wishes.base).observed(Arc::new(watch.clone())))
}

/// The sending end, whose connection `controllers` steer.
pub(crate) fn sender(wishes: &Wishes, controllers: Controllers) -> Peer {
    let mut config = ClientConfig::new(protection(wishes).0.clone());
    let mut transport = transport(wishes);
    transport.congestion_controller_factory(controllers);
    transport.ack_frequency_config(ack_frequency(wishes));
    config.transport_config(Arc::new(transport));
    config.initial_dst_cid_provider(first_cids(wishes.flow));
    Peer::new(wishes, Some(config), None)
}

pub(crate) fn receiver(wishes: &Wishes) -> Peer {
    let mut config = ServerConfig::new(protection(wishes).1.clone(), Arc::new(Plain));
    config.time_source(Arc::new(NoTime));
    let mut transport = transport(wishes);
    let unpaced = Factory::new(receivers_rules()).expect("it sets a window alone").since(wishes.base);
    transport.congestion_controller_factory(Arc::new(unpaced));
    config.transport_config(Arc::new(transport));
    Peer::new(wishes, None, Some(config))
}

impl Peer {
    fn new(wishes: &Wishes, client: Option<ClientConfig>, server: Option<ServerConfig>) -> Self {
        let sends = client.is_some();
        let mut config = EndpointConfig::new(Arc::new(Plain));
        config.rng_seed(Some(wishes.random(sends)));
        set_cids(&mut config, move || Box::new(Numbers { sends, next: 0 }));
        Self {
            endpoint: endpoint(config, server),
            config: client,
            handle: None,
            connection: RefCell::new(None),
            port: wishes.port(sends),
            lost: false,
        }
    }

    fn live(&mut self) -> Option<&mut Connection> {
        if self.lost { None } else { self.connection.get_mut().as_mut() }
    }
}

impl End for Peer {
    fn connect(&mut self, now: Time) {
        let Some(config) = self.config.take() else { return };
        match self.endpoint.connect(self.port.at(now), config, self.port.remote, PEER) {
            Ok((handle, connection)) => {
                self.handle = Some(handle);
                *self.connection.get_mut() = Some(connection);
            }
            Err(error) => unreachable!("address and configuration are the simulator's own: {error}"),
        }
    }

    fn handle_datagram(&mut self, now: Time, datagram: &UdpDatagram) {
        let at = self.port.at(now);
        let contents = self.port.arrived(datagram);
        if contents.is_empty() {
            return;
        }
        let ecn = EcnCodepoint::from_bits(datagram.ecn);
        match handle(
            &mut self.endpoint,
            at,
            self.port.remote,
            Arrived { ecn, contents },
            &mut self.port.buffer,
        ) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some(connection) = self.connection.get_mut() {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.get_mut().is_none() => {
                match self.endpoint.accept(incoming, at, &mut self.port.buffer, None) {
                    Ok((handle, connection)) => {
                        self.handle = Some(handle);
                        *self.connection.get_mut() = Some(connection);
                    }
                    Err(_) => self.lost = true,
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::Response(transmit)) => self.port.answer(transmit.size),
            None => {}
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        let at = self.port.at(now);
        if let Some(connection) = self.live() {
            connection.handle_timeout(at);
        }
    }

    fn poll(&mut self) -> Option<News> {
        let (handle, connection) = (self.handle?, self.connection.get_mut().as_mut()?);
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(handle, event) {
                connection.handle_event(event);
            }
        }
        Some(match connection.poll()? {
            Event::Connected => News::Connected,
            Event::Stream(StreamEvent::Finished { .. } | StreamEvent::Stopped { .. }) => News::Finished,
            Event::Stream(StreamEvent::Opened { .. }) => News::Opened,
            Event::Stream(StreamEvent::Readable { id }) => News::Readable(number(id)),
            Event::ConnectionLost { .. } => {
                self.lost = true;
                News::Other
            }
            _ => News::Other,
        })
    }

    fn poll_transmit(&mut self, now: Time) -> Option<UdpDatagram> {
        let at = self.port.at(now);
        if let Some(answer) = self.port.next_answer() {
            return Some(answer);
        }
        let connection = self.connection.get_mut().as_mut()?;
        let Transmit { ecn, size, .. } = connection.poll_transmit(at, ONE, &mut self.port.buffer)?;
        let handshaking = connection.is_handshaking();
        Some(self.port.depart(size, ecn.map_or(0, |codepoint| codepoint as u8), handshaking))
    }

    fn poll_timeout(&self) -> Time {
        let mut connection = self.connection.borrow_mut();
        self.port.due(match connection.as_mut() {
            Some(live) if !self.lost => live.poll_timeout(),
            _ => None,
        })
    }

    fn lost(&self) -> bool {
        self.lost
    }

    fn open(&mut self) -> Option<u64> {
        self.live()?.streams().open(Dir::Uni).map(number)
    }

    fn accept(&mut self) -> Option<u64> {
        self.live()?.streams().accept(Dir::Uni).map(number)
    }

    fn write(&mut self, stream: u64, part: Bytes) -> Written {
        let Some(connection) = self.live() else { return Written::Gone };
        match write(&mut connection.send_stream(id(stream)), part) {
            Ok(bytes) => Written::Bytes(bytes as u64),
            Err(WriteError::Blocked) => Written::Blocked,
            Err(_) => Written::Gone,
        }
    }

    fn finish(&mut self, stream: u64) {
        if let Some(connection) = self.live() {
            _ = connection.send_stream(id(stream)).finish();
        }
    }

    fn read(&mut self, stream: u64) -> u64 {
        let mut bytes = 0;
        let Some(connection) = self.live() else { return bytes };
        let mut stream = connection.recv_stream(id(stream));
        let Ok(mut chunks) = stream.read(true) else { return bytes };
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            bytes += chunk.bytes.len() as u64;
        }
        _ = chunks.finalize();
        bytes
    }
}

fn number(stream: StreamId) -> u64 {
    VarInt::from(stream).into_inner()
}

fn id(stream: u64) -> StreamId {
    VarInt::from_u64(stream).expect("it was a stream's number").into()
}

/// What both ends have in common.
fn transport(wishes: &Wishes) -> TransportConfig {
    let size = |bytes| VarInt::from_u64(bytes).expect("no size is above 2^40");
    let mut config = TransportConfig::default();
    config
        .stream_receive_window(size(wishes.receive_window_bytes))
        .receive_window(size(wishes.receive_window_bytes))
        .send_window(wishes.send_window_bytes)
        .initial_mtu(wishes.mtu)
        .min_mtu(wishes.mtu)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false)
        .max_idle_timeout(None)
        .max_concurrent_uni_streams(VarInt::from_u32(STREAMS_MAX));
    config
}

/// The ACK policy that the sender asks of the receiver (draft-ietf-quic-ack-frequency), where it is not QUIC's own.
fn ack_frequency(wishes: &Wishes) -> Option<AckFrequencyConfig> {
    let (every, timer) = wishes.acks?;
    let mut config = AckFrequencyConfig::default();
    config.ack_eliciting_threshold(VarInt::from_u32(every.saturating_sub(1)));
    config.max_ack_delay(timer.map(|timer| Duration::from_nanos(timer.ns())));
    Some(config)
}

fn first_cids(flow: u32) -> Arc<dyn Fn() -> ConnectionId + Send + Sync> {
    let next = AtomicU64::new(0);
    Arc::new(move || ConnectionId::new(&cid(u64::from(flow) << 32 | next.fetch_add(1, Ordering::Relaxed))))
}

/// Connection ids in order.
struct Numbers {
    sends: bool,
    next: u64,
}

impl ConnectionIdGenerator for Numbers {
    fn generate_cid(&mut self) -> ConnectionId {
        self.next += 1;
        ConnectionId::new(&cid((2 - u64::from(self.sends)) << 56 | self.next))
    }

    fn cid_len(&self) -> usize {
        CID_BYTES
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// A clock that stands still: no token is ever checked against it.
struct NoTime;

impl TimeSource for NoTime {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

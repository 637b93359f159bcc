//! Two endpoints of noq with TLS, in virtual time, with a bottleneck between them.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
    FourTuple, ServerConfig, StreamEvent, StreamId, TransportConfig, VarInt,
};
use rampcc_quic::noq::Factory;
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};
use rustls::RootCertStore;
use rustls::pki_types::PrivatePkcs8KeyDer;

const NAME: &str = "peer";
/// One way.
const DELAY: Duration = Duration::from_millis(20);
/// The bottleneck, from the server to the client and back.
const BYTES_PER_S: u64 = 2_500_000;
const QUEUE_BYTES: u64 = 100_000;
/// No download of these tests takes as long.
const END: Duration = Duration::from_secs(60);
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// A certificate with its key, and who trusts it.
pub(crate) struct Identity {
    server: rustls::ServerConfig,
    pub(crate) client: rustls::ClientConfig,
}

impl Identity {
    /// Both may send data with the first flight of a second connection.
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate_for(&PKCS_ED25519).expect("a key");
        let parameters = CertificateParams::new([NAME.to_owned()]).expect("a name");
        let certificate = parameters.self_signed(&key).expect("a certificate").der().clone();
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).expect("a root");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = &[&rustls::version::TLS13];
        let mut client = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .expect("TLS 1.3")
            .with_root_certificates(roots)
            .with_no_client_auth();
        client.enable_early_data = true;
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        let mut server = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .expect("TLS 1.3")
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key.into())
            .expect("a key that fits");
        server.max_early_data_size = u32::MAX;
        Self { server, client }
    }

    /// A server that knows no ticket of another one.
    pub(crate) fn server(&self) -> rustls::ServerConfig {
        let mut server = self.server.clone();
        server.session_storage = rustls::server::ServerSessionMemoryCache::new(16);
        server
    }
}

/// Who sends the data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sends {
    Server,
    Client,
}

/// One end.
struct Side {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Where it is.
    address: SocketAddr,
    /// Under way to it: when it arrives, from where, and what.
    inbox: VecDeque<(Instant, SocketAddr, BytesMut)>,
    /// When the link to it will be idle.
    busy: Instant,
    dropped: u64,
}

/// Both ends, the client first.
pub(crate) struct Pair {
    pub(crate) now: Instant,
    sides: [Side; 2],
    sends: Sends,
    stream: Option<StreamId>,
    bytes: u64,
    left: u64,
    pub(crate) received: u64,
    /// What the client has learnt of its early data.
    pub(crate) early_data_accepted: Option<bool>,
}

impl Pair {
    /// The end that sends is steered by controllers of `factory`.
    pub(crate) fn new(
        factory: &Arc<Factory>,
        client: &rustls::ClientConfig,
        server: &rustls::ServerConfig,
        sends: Sends,
        bytes: u64,
    ) -> Self {
        #[allow(clippy::disallowed_methods, reason = "an instant to count from")]
        let now = Instant::now();
        let transport = |own: Sends| {
            let mut transport = TransportConfig::default();
            if own == sends {
                transport.congestion_controller_factory(Arc::clone(factory) as _);
            }
            transport.initial_mtu(1472).mtu_discovery_config(None).enable_segmentation_offload(false);
            Arc::new(transport)
        };
        let crypto = QuicServerConfig::try_from(server.clone()).expect("TLS 1.3");
        let mut config = ServerConfig::with_crypto(Arc::new(crypto));
        config.transport_config(transport(Sends::Server));
        let side = |server: Option<ServerConfig>, last: u8, port: u16| {
            let mut endpoint = EndpointConfig::default();
            endpoint.rng_seed(Some([last; 32]));
            Side {
                endpoint: Endpoint::new(Arc::new(endpoint), server.map(Arc::new), false),
                connection: None,
                address: SocketAddr::from((Ipv4Addr::new(10, 0, 0, last), port)),
                inbox: VecDeque::new(),
                busy: now,
                dropped: 0,
            }
        };
        let mut sides = [side(None, 1, 40_000), side(Some(config), 2, 443)];
        let crypto = QuicClientConfig::try_from(client.clone()).expect("TLS 1.3");
        let mut config = ClientConfig::new(Arc::new(crypto));
        config.transport_config(transport(Sends::Client));
        let to = sides[1].address;
        sides[0].connection = Some(sides[0].endpoint.connect(now, config, to, NAME).expect("it may connect"));
        Self { now, sides, sends, stream: None, bytes, left: bytes, received: 0, early_data_accepted: None }
    }

    /// Until everything is there; `each` is called after each step.
    ///
    /// # Panics
    ///
    /// If nothing moves any more, or it takes too long.
    pub(crate) fn run(&mut self, mut each: impl FnMut(&mut Self)) {
        let end = self.now + END;
        while self.received < self.bytes {
            self.attend();
            self.send();
            each(self);
            let due = self.sides.iter_mut().flat_map(|side| {
                let timer = side.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
                [side.inbox.front().map(|front| front.0), timer]
            });
            let due = due.flatten().min().expect("something moves").max(self.now + Duration::from_nanos(1));
            assert!(due < end, "{} of {} bytes after {END:?}", self.received, self.bytes);
            self.now = due;
            for at in 0..2 {
                self.arrive(at);
                if let Some((_, connection)) = &mut self.sides[at].connection
                    && connection.poll_timeout().is_some_and(|timer| timer <= due)
                {
                    connection.handle_timeout(due);
                }
            }
        }
        // What is left, such as tickets.
        self.attend();
    }

    pub(crate) fn client(&mut self) -> &mut Connection {
        &mut self.sides[0].connection.as_mut().expect("it is there from the beginning").1
    }

    /// Packets that the queue to each side had no room for.
    pub(crate) fn dropped(&self) -> u64 {
        self.sides.iter().map(|side| side.dropped).sum()
    }

    /// The client goes on from another port, or another address too.
    pub(crate) fn move_client(&mut self, address: bool) {
        let old = self.sides[0].address;
        let SocketAddr::V4(mut new) = old else { unreachable!("it has an IPv4 address") };
        new.set_port(old.port() + 1);
        if address {
            let [a, b, c, d] = new.ip().octets();
            new.set_ip(Ipv4Addr::new(a, b, c, d + 10));
        }
        self.sides[0].address = new.into();
    }

    fn arrive(&mut self, at: usize) {
        let now = self.now;
        let side = &mut self.sides[at];
        while side.inbox.front().is_some_and(|front| front.0 <= now) {
            let (_, from, datagram) = side.inbox.pop_front().expect("it has a front");
            let mut answer = Vec::new();
            let from = FourTuple::from_remote(from);
            match side.endpoint.handle(now, from, None, datagram, &mut answer) {
                Some(DatagramEvent::ConnectionEvent(_, event)) => {
                    if let Some((_, connection)) = &mut side.connection {
                        connection.handle_event(event);
                    }
                }
                Some(DatagramEvent::NewConnection(incoming)) => {
                    let accepted = side.endpoint.accept(incoming, now, &mut answer, None);
                    side.connection = Some(accepted.map_err(|error| error.cause).expect("it is accepted"));
                }
                Some(DatagramEvent::Response(_)) | None => {}
            }
        }
    }

    fn send(&mut self) {
        let now = self.now;
        for at in 0..2 {
            let from = self.sides[at].address;
            loop {
                let mut buffer = Vec::new();
                let Some((_, connection)) = &mut self.sides[at].connection else { break };
                let Some(transmit) = connection.poll_transmit(now, NonZeroUsize::MIN, &mut buffer) else {
                    break;
                };
                let other = &mut self.sides[1 - at];
                // Who has moved no longer gets what goes to where it was.
                if transmit.destination != other.address {
                    continue;
                }
                let waits = other.busy.saturating_duration_since(now);
                if waits.as_nanos() as u64 * BYTES_PER_S / 1_000_000_000 > QUEUE_BYTES {
                    other.dropped += 1;
                    continue;
                }
                let takes = Duration::from_nanos(transmit.size as u64 * 1_000_000_000 / BYTES_PER_S);
                other.busy = now + waits + takes;
                other.inbox.push_back((other.busy + DELAY, from, BytesMut::from(&buffer[..transmit.size])));
            }
        }
    }

    fn attend(&mut self) {
        for at in 0..2 {
            let own = if at == 0 { Sends::Client } else { Sends::Server };
            let Side { endpoint, connection, .. } = &mut self.sides[at];
            let Some((handle, connection)) = connection else { continue };
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(event) = endpoint.handle_event(*handle, event) {
                    connection.handle_event(event);
                }
            }
            if own == self.sends && self.stream.is_none() && (own == Sends::Server || connection.has_0rtt()) {
                self.stream = connection.streams().open(Dir::Uni);
            }
            while let Some(event) = connection.poll() {
                match event {
                    Event::Connected if at == 0 => {
                        self.early_data_accepted = connection.has_0rtt().then(|| connection.accepted_0rtt());
                        let rejected = self.early_data_accepted == Some(false);
                        if own == self.sends && (self.stream.is_none() || rejected) {
                            // Streams of rejected early data are no more.
                            self.left = self.bytes;
                            self.stream = connection.streams().open(Dir::Uni);
                        }
                    }
                    Event::Stream(StreamEvent::Opened { dir }) if own != self.sends => {
                        while let Some(stream) = connection.streams().accept(dir) {
                            self.received += read(connection, stream);
                        }
                    }
                    Event::Stream(StreamEvent::Readable { id }) if own != self.sends => {
                        self.received += read(connection, id);
                    }
                    Event::ConnectionLost { reason } => panic!("the connection is lost: {reason}"),
                    _ => {}
                }
            }
            if let Some(stream) = self.stream.filter(|_| own == self.sends) {
                while self.left > 0 {
                    let part = Bytes::from_static(&ZEROS[..ZEROS.len().min(self.left as usize)]);
                    match connection.send_stream(stream).write_chunks(&mut &mut [part][..]) {
                        Ok(bytes) => self.left -= bytes as u64,
                        Err(_) => break,
                    }
                }
            }
        }
    }

    /// Closes the client's connection; a test may go on with another one.
    pub(crate) fn close(&mut self) {
        let now = self.now;
        self.client().close(now, VarInt::from_u32(0), Bytes::new());
    }
}

fn read(connection: &mut Connection, stream: StreamId) -> u64 {
    let mut bytes = 0;
    let mut stream = connection.recv_stream(stream);
    let Ok(mut chunks) = stream.read(true) else { return 0 };
    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
        bytes += chunk.bytes.len() as u64;
    }
    _ = chunks.finalize();
    bytes
}

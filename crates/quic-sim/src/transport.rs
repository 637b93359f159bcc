//! QUIC as a transport of the simulation.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use noq_proto::congestion::ControllerFactory;
use noq_proto::{
    AckFrequencyConfig, ClientConfig, ConnectionId, ConnectionIdGenerator, EndpointConfig, ServerConfig,
    TimeSource, TransportConfig, VarInt,
};
use rampcc_backend::Control;
use rampcc_quic::noq::Factory;
use rampcc_quic::{Rules, Spacing};
use rampcc_sim::{Connecting, Transport};
use rampcc_tcp::{AckPolicy, Pacing, ReceiveWindow, SenderConfig};

use crate::datagram::{Arena, HEADER_BYTES, UdpDatagram};
use crate::ends::{Announced, Receiver, Sender};
use crate::own::Own;
use crate::peer::{Peer, Setup};
use crate::plain::Plain;
use crate::seen::Watch;

/// More than any window, and within a QUIC integer.
const UNLIMITED: u64 = 1 << 40;
const STREAMS_MAX: u32 = 1 << 24;
const CID_BYTES: usize = 8;
/// RFC 9000 §13.2.2.
const PACKETS_PER_ACK: u32 = 2;

/// noq-proto at both ends of every flow.
pub struct Quic {
    base: Instant,
    arena: Arena,
    /// noq's own controller of the flows with ids below.
    own: Option<(&'static Control, Vec<bool>)>,
}

impl fmt::Debug for Quic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quic").field("own", &self.own).finish_non_exhaustive()
    }
}

impl Quic {
    /// Every flow is steered as its configuration says; those that `under_test` names by id by `control` instead.
    pub fn new(control: Option<&'static Control>, under_test: Vec<bool>) -> Self {
        Self { base: base(), arena: Arena::default(), own: control.map(|control| (control, under_test)) }
    }

    fn controller(&self, flow: &Connecting<'_>, watch: &Watch) -> Arc<dyn ControllerFactory + Send + Sync> {
        let sender = flow.sender;
        if let Some((control, under_test)) = &self.own
            && under_test.get(flow.flow as usize).is_some_and(|&steered| steered)
        {
            return Arc::new(Own {
                name: control.name,
                watch: watch.clone(),
                base: self.base,
                initial_window_bytes: u64::from(sender.initial_window_packets) * u64::from(mtu(sender)),
            });
        }
        let factory = Factory::new(rules(sender)).expect("rows with other needs have been refused");
        Arc::new(factory.since(self.base).observed(Arc::new(watch.clone())))
    }

    /// The receiving end sends little more than ACKs, which are not to be paced (RFC 9002 §7.7). noq's pacer at its own rate
    /// delays them, so that the ACKs of a train tell the gap of the receiver's pacer and not the path's.
    fn unpaced(&self) -> Arc<Factory> {
        let rules = Rules { spacing: Spacing::None, ..Rules::new(rampcc::standard().id).expect("a row") };
        Arc::new(Factory::new(rules).expect("it sets a window alone").since(self.base))
    }
}

/// An instant to count from. Only differences to it are ever used.
#[expect(clippy::disallowed_methods, reason = "there is no other way to make an `Instant`")]
fn base() -> Instant {
    Instant::now()
}

impl Transport for Quic {
    type Packet = UdpDatagram;
    type Sender = Sender;
    type Receiver = Receiver;

    fn connect(&mut self, flow: &Connecting<'_>) -> (Sender, Receiver) {
        let watch = Watch::default();
        let announced = Announced::default();
        let mut client = ClientConfig::new(Arc::new(Plain));
        let mut sending = transport(flow);
        sending.congestion_controller_factory(self.controller(flow, &watch));
        sending.ack_frequency_config(ack_frequency(flow));
        client.transport_config(Arc::new(sending));
        client.initial_dst_cid_provider(first_cids(flow));
        let mut server = ServerConfig::new(Arc::new(Plain), Arc::new(Plain));
        server.time_source(Arc::new(NoTime));
        let mut receiving = transport(flow);
        receiving.congestion_controller_factory(self.unpaced());
        server.transport_config(Arc::new(receiving));
        let end = |side: u8, server: Option<ServerConfig>| {
            Peer::new(Setup {
                config: Arc::new(endpoint(flow, side)),
                server: server.map(Arc::new),
                base: self.base,
                remote: SocketAddr::from(([10, 0, 0, 3 - side], 443)),
                arena: self.arena.clone(),
                flow: flow.flow,
            })
        };
        let sender = Sender::new(end(1, None), flow.flow, client, watch, announced.clone());
        (sender, Receiver::new(end(2, Some(server)), announced))
    }

    fn discard(&mut self, packet: &UdpDatagram) {
        self.arena.take(packet.place);
    }
}

/// UDP payload of a full datagram: as large on the wire as a full segment of TCP.
pub(crate) fn mtu(sender: &SenderConfig) -> u16 {
    u16::try_from((sender.mss_bytes + sender.header_bytes).saturating_sub(HEADER_BYTES)).unwrap_or(u16::MAX)
}

fn rules(sender: &SenderConfig) -> Rules {
    Rules {
        parameters: sender.parameters,
        initial_window_packets: sender.initial_window_packets,
        initial_ssthresh_packets: sender.initial_ssthresh_packets,
        avoidance: sender.avoidance_in_use(),
        spacing: match sender.pacing {
            Pacing::Algorithm => Spacing::None,
            Pacing::Always => Spacing::Stack,
        },
        delayed_acks: sender.delayed_acks,
        idle_restart: sender.idle_restart,
        hint: sender.hint,
        ..Rules::of(sender.startup)
    }
}

/// What both ends have in common.
fn transport(flow: &Connecting<'_>) -> TransportConfig {
    let window = match flow.receiver.window {
        ReceiveWindow::Unlimited => UNLIMITED,
        ReceiveWindow::Fixed(bytes) | ReceiveWindow::Autotuned { max: bytes, .. } => bytes.min(UNLIMITED),
    };
    let window = VarInt::from_u64(window).expect("2^40 fits");
    let mut config = TransportConfig::default();
    config
        .stream_receive_window(window)
        .receive_window(window)
        .send_window(flow.sender.send_buffer_bytes.min(UNLIMITED))
        .initial_mtu(mtu(flow.sender))
        .min_mtu(mtu(flow.sender))
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false)
        .max_idle_timeout(None)
        .max_concurrent_uni_streams(VarInt::from_u32(STREAMS_MAX));
    config
}

/// The ACK policy that the sender asks of the receiver (draft-ietf-quic-ack-frequency), where it is not QUIC's own.
fn ack_frequency(flow: &Connecting<'_>) -> Option<AckFrequencyConfig> {
    let (every, timer) = match flow.receiver.ack_policy {
        AckPolicy::Quick => (1, None),
        AckPolicy::Delayed { every, timer } if every != PACKETS_PER_ACK => (every, Some(timer)),
        AckPolicy::Delayed { .. } | AckPolicy::Linux { .. } => return None,
    };
    let mut config = AckFrequencyConfig::default();
    config.ack_eliciting_threshold(VarInt::from_u32(every.saturating_sub(1)));
    config.max_ack_delay(timer.map(|timer| Duration::from_nanos(timer.ns())));
    Some(config)
}

/// An end whose random choices come from the run's seed, its flow and its side alone.
fn endpoint(flow: &Connecting<'_>, side: u8) -> EndpointConfig {
    let mut seed = [side; 32];
    seed[..8].copy_from_slice(&flow.seed.to_le_bytes());
    seed[8..12].copy_from_slice(&flow.flow.to_le_bytes());
    let mut config = EndpointConfig::new(Arc::new(Plain));
    config.rng_seed(Some(seed));
    config.cid_generator(Arc::new(move || Box::new(Numbers { side, next: 0 })));
    config
}

fn first_cids(flow: &Connecting<'_>) -> Arc<dyn Fn() -> ConnectionId + Send + Sync> {
    let (flow, next) = (flow.flow, AtomicU64::new(0));
    Arc::new(move || cid(u64::from(flow) << 32 | next.fetch_add(1, Ordering::Relaxed)))
}

fn cid(number: u64) -> ConnectionId {
    ConnectionId::new(&number.to_be_bytes())
}

/// Connection ids in order.
struct Numbers {
    side: u8,
    next: u64,
}

impl ConnectionIdGenerator for Numbers {
    fn generate_cid(&mut self) -> ConnectionId {
        self.next += 1;
        cid(u64::from(self.side) << 56 | self.next)
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

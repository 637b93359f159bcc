//! What a flow's scenario asks of the stacks at its ends.

use std::net::SocketAddr;
use std::time::Instant;

use rampcc::Time;
use rampcc_quic::{Rules, Spacing};
use rampcc_sim::Connecting;
use rampcc_tcp::{AckPolicy, Pacing, ReceiveWindow, SenderConfig};

use crate::datagram::{Arena, HEADER_BYTES};
use crate::end::Port;
use crate::protection::Protection;

/// More than any window, and within a QUIC integer.
const UNLIMITED: u64 = 1 << 40;
pub(crate) const CID_BYTES: usize = 8;
/// RFC 9000 §13.2.2.
const PACKETS_PER_ACK: u32 = 2;

/// What both ends of a flow are made by.
#[derive(Clone, Debug)]
pub(crate) struct Wishes {
    /// The stacks' instant at the beginning of the run.
    pub(crate) base: Instant,
    arena: Arena,
    pub(crate) protection: Protection,
    pub(crate) flow: u32,
    seed: u64,
    /// UDP payload of a full datagram.
    pub(crate) mtu: u16,
    pub(crate) receive_window_bytes: u64,
    pub(crate) send_window_bytes: u64,
    pub(crate) initial_window_bytes: u64,
    /// One ACK for so many packets, after this long at the latest, where that is not QUIC's own policy.
    pub(crate) acks: Option<(u32, Option<Time>)>,
}

impl Wishes {
    pub(crate) fn of(flow: &Connecting<'_>, base: Instant, arena: Arena) -> Self {
        let window = match flow.receiver.window {
            ReceiveWindow::Unlimited => UNLIMITED,
            ReceiveWindow::Fixed(bytes) | ReceiveWindow::Autotuned { max: bytes, .. } => bytes.min(UNLIMITED),
        };
        let acks = match flow.receiver.ack_policy {
            AckPolicy::Quick => Some((1, None)),
            AckPolicy::Delayed { every, timer } if every != PACKETS_PER_ACK => Some((every, Some(timer))),
            AckPolicy::Delayed { .. } | AckPolicy::Linux { .. } | AckPolicy::FreeBsd { .. } => None,
        };
        let mtu = mtu(flow.sender);
        Self {
            base,
            arena,
            protection: Protection::default(),
            flow: flow.flow,
            seed: flow.seed,
            mtu,
            receive_window_bytes: window,
            send_window_bytes: flow.sender.send_buffer_bytes.min(UNLIMITED),
            initial_window_bytes: u64::from(flow.sender.initial_window_packets) * u64::from(mtu),
            acks,
        }
    }

    /// Those of a stack by itself, with full datagrams of Ethernet.
    pub(crate) fn bare(base: Instant, arena: Arena) -> Self {
        let mtu = 1472;
        Self {
            base,
            arena,
            protection: Protection::default(),
            flow: 0,
            seed: 1,
            mtu,
            receive_window_bytes: UNLIMITED,
            send_window_bytes: UNLIMITED,
            initial_window_bytes: 10 * u64::from(mtu),
            acks: None,
        }
    }

    /// The same with packets that are protected so.
    pub(crate) fn protected(self, protection: &Protection) -> Self {
        Self { protection: protection.clone(), ..self }
    }

    /// Seed of an end, whose random choices come from the run's seed, its flow and its side alone.
    pub(crate) fn random(&self, sends: bool) -> [u8; 32] {
        let mut seed = [side(sends); 32];
        seed[..8].copy_from_slice(&self.seed.to_le_bytes());
        seed[8..12].copy_from_slice(&self.flow.to_le_bytes());
        seed
    }

    pub(crate) fn port(&self, sends: bool) -> Port {
        let remote = SocketAddr::from(([10, 0, 0, side(!sends)], 443));
        Port::new(self.base, remote, self.arena.clone(), self.flow)
    }
}

fn side(sends: bool) -> u8 {
    if sends { 1 } else { 2 }
}

/// A connection id from a number.
pub(crate) fn cid(number: u64) -> [u8; CID_BYTES] {
    number.to_be_bytes()
}

/// UDP payload of a full datagram: as large on the wire as a full segment of TCP.
pub(crate) fn mtu(sender: &SenderConfig) -> u16 {
    u16::try_from((sender.mss_bytes + sender.header_bytes).saturating_sub(HEADER_BYTES)).unwrap_or(u16::MAX)
}

/// What a sender's configuration asks of its controller.
pub(crate) fn rules(sender: &SenderConfig) -> Rules {
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

/// The receiving end sends little more than ACKs, which are not to be paced (RFC 9002 §7.7). noq's pacer at its own rate delays
/// them, so that the ACKs of a train tell the gap of the receiver's pacer and not the path's.
pub(crate) fn receivers_rules() -> Rules {
    Rules { spacing: Spacing::None, ..Rules::of(rampcc::standard()) }
}

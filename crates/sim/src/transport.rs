//! Transport of a simulation's hosts: any transport whose two ends own neither a clock nor a path.
//!
//! The network moves a [`Datagram`] without looking into it, and the hosts drive an [`Endpoint`] at each side of a
//! flow. An implementation of [`Transport`] can be played by [`simulate_over`](crate::simulate_over); TCP is
//! [`Tcp`](crate::Tcp).

use std::fmt::Debug;

use rampcc::{Seen, Time};
use rampcc_path::Packet;
use rampcc_tcp::{QuickStart, ReceiverConfig, Search, SenderConfig};
use rampcc_trace::{FlowDecision, FlowEventKind, FlowSample};

/// A packet of a transport: a plain value, as large as what a receiver must learn from it.
///
/// It is copied once into the memory of the link that delivers it, and once out of it. A transport whose packets carry
/// bytes keeps these itself, and lets its datagram hold their index and their size.
pub trait Datagram: Packet + Copy + Debug + Default {
    /// Payload bytes, new or sent again; 0: it carries no data, only control.
    fn payload_bytes(&self) -> u32;
    /// Its Quick-Start option, if routers are to see one.
    fn quick_start(&self) -> Option<QuickStart> {
        None
    }
    /// Puts a router's answer in the option's place.
    fn set_quick_start(&mut self, _option: QuickStart) {}
    /// A packet that no host answers, as generated traffic at a constant rate sends it.
    fn unanswered(flow: u32, now: Time, wire_bytes: u32) -> Self;
}

/// One end of a flow. It owns no clock and no path.
///
/// After every `handle_*`, the host calls [`poll_transmit`](Self::poll_transmit) until there is nothing to send; then
/// [`poll_timeout`](Self::poll_timeout) says when to call [`handle_timeout`](Self::handle_timeout).
pub trait Endpoint {
    /// What it exchanges with its peer.
    type Packet: Datagram;
    /// A packet from the peer arrived.
    fn handle_packet(&mut self, now: Time, packet: &Self::Packet);
    /// A deadline of `poll_timeout` has come.
    fn handle_timeout(&mut self, now: Time);
    /// Gives the next packet that may leave now to `wire`, which is called at most once. Returns whether there was one.
    ///
    /// A packet is made where the network keeps it, not copied there; returned, each would cost a stalled load.
    fn poll_transmit(&mut self, now: Time, wire: impl FnOnce(&Self::Packet)) -> bool;
    /// Time to call `handle_timeout`; [`Time::NEVER`]: no need.
    fn poll_timeout(&self) -> Time;
    /// Entries of its queues that a host visits to take in `packet`, if it searches them so.
    fn visits(&self, packet: &Self::Packet, search: Search) -> u64 {
        let _ = (packet, search);
        0
    }
    /// How many entries that queue has.
    fn queued(&self) -> u64 {
        0
    }
    /// The entries visited for the timer that is due next.
    fn timeout_visits(&self) -> u64 {
        0
    }
}

/// The end where the application writes.
pub trait Sending: Endpoint {
    /// Opens the connection.
    fn open(&mut self, now: Time);
    /// The application offers `bytes`; [`u64::MAX`]: endless.
    fn write(&mut self, now: Time, bytes: u64);
    /// The application will offer no more.
    fn finish(&mut self, now: Time);
    /// Whether all that was offered has been acknowledged.
    fn is_idle(&self) -> bool;
    /// Next event, oldest first; until `None`.
    fn poll_event(&mut self) -> Option<FlowEventKind>;
    /// Keeps every call of its start-up algorithm for [`poll_decision`](Self::poll_decision); called before `open`, and only
    /// if an observer wants them.
    fn record_decisions(&mut self) {}
    /// The calls of its start-up algorithm and their decisions, oldest first; until `None`.
    fn poll_decision(&mut self) -> Option<FlowDecision> {
        None
    }
    /// How the connection stands, for its host to remember; `None`: this transport remembers nothing. `closing`: it has
    /// sent all it had.
    fn seen(&self, now: Time, closing: bool) -> Option<Seen> {
        let _ = (now, closing);
        None
    }
    /// State of the sender now.
    fn sample(&self, now: Time) -> FlowSample;
}

/// The end where the application reads, at once, whatever is in order.
pub trait Receiving: Endpoint {
    /// Payload bytes received in order.
    fn received_bytes(&self) -> u64;
    /// True if the last byte has arrived.
    fn completed(&self) -> bool;
}

/// Parameters of both ends of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Connecting<'a> {
    /// The flow's id, which its packets carry.
    pub flow: u32,
    /// The rules of the sending end.
    pub sender: &'a SenderConfig,
    /// The rules of the receiving end.
    pub receiver: &'a ReceiverConfig,
    /// The seed of the run.
    pub seed: u64,
}

/// A way to carry bytes from one host to another.
pub trait Transport {
    /// What travels.
    type Packet: Datagram;
    /// The end that sends data.
    type Sender: Sending<Packet = Self::Packet>;
    /// The end that receives them.
    type Receiver: Receiving<Packet = Self::Packet>;
    /// Both ends of a flow that is about to open.
    fn connect(&mut self, flow: &Connecting<'_>) -> (Self::Sender, Self::Receiver);
    /// A packet that no host will see: a link dropped it, or its flow is over. Whatever it stands for can be freed.
    fn discard(&mut self, packet: &Self::Packet) {
        let _ = packet;
    }
}

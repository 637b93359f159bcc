//! Ends of a flow that share no memory: other code carries their datagrams, over sockets for instance.

use bytes::BytesMut;
use rampcc::Time;
use rampcc_backend::Control;
use rampcc_sim::{Connecting, Endpoint};

use crate::backend::own;
use crate::datagram::{Arena, UdpDatagram};
use crate::ends::{Announced, Receiver, Sender};
use crate::protection::Protection;
use crate::seen::Watch;
use crate::transport::{Quic, Stack};

/// Makes the ends of a flow, each where it will live.
#[derive(Clone, Debug)]
pub struct Apart {
    stack: Stack,
    control: Option<Control>,
    protection: Protection,
}

/// An end, and the bytes of what it is handed and hands out.
pub struct Carried<E> {
    /// The end itself.
    pub end: E,
    arena: Arena,
    flow: u32,
}

impl Apart {
    /// The flow is steered by a stack's own `control`, or else by the core, as its configuration says.
    ///
    /// # Panics
    ///
    /// The ends cannot be made if no stack has `control`.
    pub fn new(stack: Stack, control: Option<Control>, protection: Protection) -> Self {
        Self { stack, control, protection }
    }

    fn quic(&self, flow: u32) -> Quic {
        let quic = match self.control {
            None => Quic::new(self.stack),
            Some(control) => {
                let own = own(&control).expect("`check` takes only these");
                Quic::steered(self.stack, own, (0..=flow).map(|id| id == flow).collect())
            }
        };
        quic.protected(self.protection.clone())
    }

    /// The end that sends. Its time begins now.
    pub fn sender(&self, flow: &Connecting<'_>) -> Carried<Sender> {
        let (quic, watch) = (self.quic(flow.flow), Watch::default());
        let end = quic.sends(flow, &quic.wishes(flow), &watch);
        let end = Sender::new(end, flow.flow, watch, Announced::default());
        Carried { end, arena: quic.arena().clone(), flow: flow.flow }
    }

    /// The end that receives so many bytes. Its time begins now.
    pub fn receiver(&self, flow: &Connecting<'_>, bytes: u64) -> Carried<Receiver> {
        let quic = self.quic(flow.flow);
        let end = quic.receives(flow, &quic.wishes(flow));
        let end = Receiver::new(end, Announced::all(bytes));
        Carried { end, arena: quic.arena().clone(), flow: flow.flow }
    }
}

impl<E: Endpoint<Packet = UdpDatagram>> Carried<E> {
    /// A datagram's payload has arrived.
    pub fn arrive(&mut self, now: Time, payload: &[u8]) {
        let place = self.arena.put(BytesMut::from(payload));
        self.end.handle_packet(now, &UdpDatagram::new(self.flow, place, payload.len() as u32));
    }

    /// The payload of the next datagram that may leave now, and whether it carries stream data.
    pub fn depart(&mut self, now: Time) -> Option<(BytesMut, bool)> {
        let mut left = None;
        self.end.poll_transmit(now, |datagram| left = Some(*datagram));
        let datagram = left?;
        Some((self.arena.take(datagram.place), datagram.carries()))
    }
}

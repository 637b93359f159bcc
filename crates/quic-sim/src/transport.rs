//! QUIC as a transport of the simulation.

use std::fmt;
use std::time::Instant;

use rampcc::Traits;
use rampcc_sim::{Connecting, Transport};

use crate::backend::Steers;
use crate::datagram::{Arena, UdpDatagram};
use crate::end::End;
use crate::ends::{Announced, Receiver, Sender};
use crate::seen::Watch;
use crate::wishes::{Wishes, rules};
use crate::{noq, quinn};

/// A stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// noq-proto, whose pacer obeys its controller.
    Noq,
    /// quinn-proto, which asks its controller for a window alone.
    Quinn,
}

/// A QUIC stack at both ends of every flow.
pub struct Quic {
    base: Instant,
    arena: Arena,
    stack: Stack,
    /// What steers the flows with ids below, where that is not the core.
    own: Option<(Steers, Vec<bool>)>,
}

impl fmt::Debug for Quic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quic").field("stack", &self.stack).finish_non_exhaustive()
    }
}

impl Quic {
    /// Every flow is steered by the core, as its configuration says.
    pub fn new(stack: Stack) -> Self {
        Self { base: base(), arena: Arena::default(), stack, own: None }
    }

    /// The same, but those flows that `under_test` names by id.
    pub(crate) fn steered(stack: Stack, own: Steers, under_test: Vec<bool>) -> Self {
        Self { own: Some((own, under_test)), ..Self::new(stack) }
    }

    fn ends(&self, flow: &Connecting<'_>, watch: &Watch) -> (Box<dyn End>, Box<dyn End>) {
        let wishes = Wishes::of(flow, self.base, self.arena.clone());
        let steered = |(_, under_test): &&(Steers, Vec<bool>)| {
            under_test.get(flow.flow as usize).is_some_and(|&steered| steered)
        };
        let over_noq = |controllers| -> (Box<dyn End>, Box<dyn End>) {
            (Box::new(noq::sender(&wishes, controllers)), Box::new(noq::receiver(&wishes)))
        };
        let over_quinn = |controllers| -> (Box<dyn End>, Box<dyn End>) {
            (Box::new(quinn::sender(&wishes, controllers)), Box::new(quinn::receiver(&wishes)))
        };
        match (self.own.as_ref().filter(steered).map(|own| &own.0), self.stack) {
            (Some(Steers::Noq(make)), _) => over_noq(make(&wishes, watch)),
            (Some(Steers::Quinn(make)), _) => over_quinn(make(&wishes, watch)),
            // The yardstick is what the path allows, whatever the stack: it spaces packets, as only noq lets it.
            (None, Stack::Quinn) if !flow.sender.startup.traits.has(Traits::KNOWS_PATH) => {
                over_quinn(quinn::core(rules(flow.sender), &wishes, watch))
            }
            (None, _) => over_noq(noq::core(rules(flow.sender), &wishes, watch)),
        }
    }
}

/// An instant to count from. Only differences to it are ever used.
#[expect(clippy::disallowed_methods, reason = "there is no other way to make an `Instant`")]
pub(crate) fn base() -> Instant {
    Instant::now()
}

impl Transport for Quic {
    type Packet = UdpDatagram;
    type Sender = Sender;
    type Receiver = Receiver;

    fn connect(&mut self, flow: &Connecting<'_>) -> (Sender, Receiver) {
        let watch = Watch::default();
        let announced = Announced::default();
        let (sends, receives) = self.ends(flow, &watch);
        let sender = Sender::new(sends, flow.flow, watch, announced.clone());
        (sender, Receiver::new(receives, announced))
    }

    fn discard(&mut self, packet: &UdpDatagram) {
        self.arena.take(packet.place);
    }
}

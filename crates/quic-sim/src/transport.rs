//! QUIC as a transport of the simulation.

use std::fmt;
use std::time::Instant;

use rampcc::Traits;
use rampcc_sim::{Connecting, Transport};

use crate::datagram::{Arena, UdpDatagram};
use crate::end::End;
use crate::ends::{Announced, Receiver, Sender};
use crate::protection::Protection;
use crate::seen::Watch;
use crate::wishes::{Wishes, rules};
use crate::{noq, quinn};

/// What makes the controllers of a flow under test.
pub(crate) enum Steers {
    Noq(Makes<noq::Controllers>),
    Quinn(Makes<quinn::Controllers>),
}

type Makes<C> = Box<dyn Fn(&Wishes, &Watch) -> C>;

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
    protection: Protection,
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
        Self { base: base(), arena: Arena::default(), protection: Protection::default(), stack, own: None }
    }

    /// The same, but those flows that `under_test` names by id.
    pub(crate) fn steered(stack: Stack, own: Steers, under_test: Vec<bool>) -> Self {
        Self { own: Some((own, under_test)), ..Self::new(stack) }
    }

    /// The same with packets that are protected so.
    pub(crate) fn protected(self, protection: Protection) -> Self {
        Self { protection, ..self }
    }

    pub(crate) fn arena(&self) -> &Arena {
        &self.arena
    }

    pub(crate) fn wishes(&self, flow: &Connecting<'_>) -> Wishes {
        Wishes::of(flow, self.base, self.arena.clone()).protected(&self.protection)
    }

    pub(crate) fn sends(&self, flow: &Connecting<'_>, wishes: &Wishes, watch: &Watch) -> Box<dyn End> {
        match (self.own(flow), self.stack_of(flow)) {
            (Some(Steers::Noq(make)), _) => Box::new(noq::sender(wishes, make(wishes, watch))),
            (Some(Steers::Quinn(make)), _) => Box::new(quinn::sender(wishes, make(wishes, watch))),
            (None, Stack::Noq) => Box::new(noq::sender(wishes, noq::core(rules(flow.sender), wishes, watch))),
            (None, Stack::Quinn) => {
                Box::new(quinn::sender(wishes, quinn::core(rules(flow.sender), wishes, watch)))
            }
        }
    }

    pub(crate) fn receives(&self, flow: &Connecting<'_>, wishes: &Wishes) -> Box<dyn End> {
        match self.stack_of(flow) {
            Stack::Noq => Box::new(noq::receiver(wishes)),
            Stack::Quinn => Box::new(quinn::receiver(wishes)),
        }
    }

    fn own(&self, flow: &Connecting<'_>) -> Option<&Steers> {
        let (own, under_test) = self.own.as_ref()?;
        under_test.get(flow.flow as usize).is_some_and(|&steered| steered).then_some(own)
    }

    fn stack_of(&self, flow: &Connecting<'_>) -> Stack {
        match self.own(flow) {
            Some(Steers::Noq(_)) => Stack::Noq,
            Some(Steers::Quinn(_)) => Stack::Quinn,
            // The yardstick is what the path allows, whatever the stack: it spaces packets, as only noq lets it.
            None if flow.sender.startup.traits.has(Traits::KNOWS_PATH) => Stack::Noq,
            None => self.stack,
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
        let wishes = self.wishes(flow);
        let sends = self.sends(flow, &wishes, &watch);
        let receives = self.receives(flow, &wishes);
        let sender = Sender::new(sends, flow.flow, watch, announced.clone());
        (sender, Receiver::new(receives, announced))
    }

    fn discard(&mut self, packet: &UdpDatagram) {
        self.arena.take(packet.place);
    }
}

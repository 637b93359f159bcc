//! What a start-up algorithm got, and what it answered.

use rampcc::{Ack, Algorithm, Config, Decision, Event, Time};

/// One call of the algorithm that steers a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowDecision {
    /// When, on the clock of the run; the instants inside [`Call`] are on the host's.
    pub now: Time,
    /// Which flow.
    pub flow: u32,
    /// The call's place among the flow's, from 0; calls that were lost count, so that a gap shows them.
    pub index: u32,
    /// What was said on both sides.
    pub call: Call,
}

/// What was said on both sides of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// By the host.
    pub told: Told,
    /// The decision that the algorithm found, with what the host had changed since the last call.
    pub before: Decision,
    /// The decision that it left.
    pub after: Decision,
}

/// What a host tells an algorithm: one of the contract's three functions, with its argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// The connection is established.
    Open(Box<Opening>),
    /// An ACK.
    Ack(Ack),
    /// Something besides ACKs.
    Event(Event),
}

/// A connection begins.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// The algorithm that steers it.
    pub algorithm: &'static Algorithm,
    /// What the host tells; [`Algorithm::admitted`] may hold back a part of it, such as a hint of the path.
    pub config: Config,
}

impl PartialEq for Opening {
    fn eq(&self, other: &Self) -> bool {
        self.algorithm.id == other.algorithm.id && self.config == other.config
    }
}

impl Eq for Opening {}

impl Opening {
    /// As [`Told`].
    pub fn told(algorithm: &'static Algorithm, config: Config) -> Told {
        Told::Open(Box::new(Self { algorithm, config }))
    }
}

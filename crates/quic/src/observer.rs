//! Who watches a connection.

use std::fmt;

use rampcc::{Ack, Algorithm, Config, Decision, Event, Time};

use crate::Connection;

/// Sees a connection after every ACK and every report of congestion.
pub trait Observer: Send + Sync + fmt::Debug {
    /// `now` is on the clock of the connection's own times.
    fn on_change(&self, now: Time, connection: &Connection);

    /// Whether it wants every call of the algorithm.
    fn wants_calls(&self) -> bool {
        false
    }

    /// The algorithm was called, if [`wants_calls`](Self::wants_calls).
    fn on_call(&self, _: Time, _: &Call<'_>) {}
}

/// One call of the algorithm: what it was given, and what it answered.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// By the connection.
    pub told: Told<'a>,
    /// The decision that it found, with what the connection had changed since the last call.
    pub before: Decision,
    /// The decision that it left.
    pub after: Decision,
}

/// One of the contract's three functions, with its argument.
#[derive(Clone, Copy, Debug)]
pub enum Told<'a> {
    /// The algorithm begins.
    Begin(&'static Algorithm, &'a Config),
    /// An ACK.
    Ack(&'a Ack),
    /// Something besides ACKs.
    Event(&'a Event),
}

//! What the faces for stacks have in common.

use std::fmt;
use std::time::Instant;

use rampcc::Time;

use crate::Connection;

/// Sees a connection after every ACK and every report of congestion.
pub trait Observer: Send + Sync + fmt::Debug {
    /// `now` is on the clock of the connection's own times.
    fn on_change(&self, now: Time, connection: &Connection);
}

/// A stack's instants as times, none of which is zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    epoch: Instant,
    before: Time,
}

impl Clock {
    /// Times since `epoch`; without one, since a second before `now`.
    pub(crate) fn new(epoch: Option<Instant>, now: Instant) -> Self {
        match epoch {
            Some(epoch) => Self { epoch, before: Time::ZERO },
            None => Self { epoch: now, before: Time::from_secs(1) },
        }
    }

    pub(crate) fn time(self, instant: Instant) -> Time {
        let since = instant.saturating_duration_since(self.epoch).as_nanos();
        self.before + Time::from_ns(u64::try_from(since).unwrap_or(u64::MAX))
    }
}

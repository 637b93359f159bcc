//! What the faces for stacks have in common.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Instant;

use rampcc::Time;

use crate::{Connection, Observer, RefusedRow, Rules, Spacing};

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

/// A stack with a face here.
pub trait Stack: fmt::Debug + Clone + Copy + Send + Sync + 'static {
    /// Its pacer obeys the rate that a controller reports.
    const PACES: bool;
}

/// Makes a controller for each path of a stack's connections.
#[derive(Clone, Debug)]
pub struct Factory<S> {
    rules: Rules,
    observer: Option<Arc<dyn Observer>>,
    epoch: Option<Instant>,
    stack: PhantomData<S>,
}

impl<S: Stack> Factory<S> {
    /// For connections by these rules.
    ///
    /// # Errors
    ///
    /// If the algorithm needs what the stack does not have, such as a rate of its own where the stack spaces packets by its
    /// own rule.
    pub fn new(mut rules: Rules) -> Result<Self, RefusedRow> {
        if !S::PACES {
            rules.spacing = Spacing::Stack;
        }
        match Rules::unmet(rules.algorithm, S::PACES) {
            Some(unmet) => Err(RefusedRow { algorithm: rules.algorithm.id, unmet }),
            None => Ok(Self { rules, observer: None, epoch: None, stack: PhantomData }),
        }
    }

    /// The same with an observer.
    #[must_use]
    pub fn observed(self, observer: Arc<dyn Observer>) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// The same with times counted from here; otherwise each connection's begin a second before it.
    #[must_use]
    pub fn since(self, epoch: Instant) -> Self {
        Self { epoch: Some(epoch), ..self }
    }

    pub(crate) fn watched(&self, now: Instant, mtu: u16) -> Watched {
        Watched {
            connection: Connection::new(&self.rules, mtu).observed(self.observer.clone()),
            clock: Clock::new(self.epoch, now),
        }
    }
}

/// A connection on its stack's clock.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub(crate) connection: Connection,
    pub(crate) clock: Clock,
}

impl Watched {
    pub(crate) fn show(&self, now: Time) {
        if let Some(observer) = &self.connection.observer {
            observer.on_change(now, &self.connection);
        }
    }

    /// For the same peer at another port.
    pub(crate) fn rebound(&self) -> Self {
        let mut clone = self.clone();
        clone.connection.on_rebinding();
        clone
    }
}

//! Time since a run began.

use std::time::Duration;

use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use rampcc::Time;

/// Time since the emulator started: zero is when its links' virtual time began.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// `CLOCK_MONOTONIC` at time zero, nanoseconds.
    origin: u64,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { origin: nanoseconds(ClockId::CLOCK_MONOTONIC) }
    }

    /// Now.
    pub fn now(self) -> Time {
        Time::from_ns(nanoseconds(ClockId::CLOCK_MONOTONIC).saturating_sub(self.origin))
    }

    /// An instant of `CLOCK_MONOTONIC`, as BPF programs tell it; what lies before the start is zero.
    pub fn from_monotonic(self, at: Time) -> Time {
        Time::from_ns(at.ns().saturating_sub(self.origin))
    }

    /// The instant on `CLOCK_MONOTONIC`, for timers.
    pub(crate) fn monotonic(self, at: Time) -> TimeSpec {
        TimeSpec::from(Duration::from_nanos(self.origin.saturating_add(at.ns())))
    }
}

pub(crate) fn thread_time() -> Time {
    Time::from_ns(nanoseconds(ClockId::CLOCK_THREAD_CPUTIME_ID))
}

fn nanoseconds(clock: ClockId) -> u64 {
    clock_gettime(clock).map_or(0, |now| Duration::from(now).as_nanos() as u64)
}

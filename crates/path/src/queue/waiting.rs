//! Queue length, derived from the times at which service begins.

use std::collections::VecDeque;

use rampcc::Time;

use crate::Count;

/// Packets whose service has not begun, by when it will.
///
/// It holds sizes only: the packets themselves are on their way already.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    starts: VecDeque<(Time, u32)>,
    bytes: u64,
    peak: Count,
}

impl Waiting {
    pub(super) fn new() -> Self {
        Self { starts: VecDeque::new(), bytes: 0, peak: Count::default() }
    }

    /// Lets those go whose service begins by `now`.
    #[inline]
    pub(crate) fn advance(&mut self, now: Time) {
        while let Some(&(start, bytes)) = self.starts.front()
            && start <= now
        {
            self.starts.pop_front();
            self.bytes -= u64::from(bytes);
        }
    }

    /// `start` must not be earlier than any before.
    #[inline]
    pub(crate) fn push(&mut self, start: Time, bytes: u32) {
        self.starts.push_back((start, bytes));
        self.bytes += u64::from(bytes);
        self.peak.reach(self.packets(), self.bytes);
    }

    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn peak(&self) -> Count {
        self.peak
    }

    #[inline]
    pub(crate) fn packets(&self) -> u64 {
        self.starts.len() as u64
    }
}

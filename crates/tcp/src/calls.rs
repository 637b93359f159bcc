//! Calls of the algorithm, kept for an observer that wants them.

use std::collections::VecDeque;

use rampcc::Time;
use rampcc_trace::{Call, FlowDecision};

/// Calls that are not fetched yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    waiting: VecDeque<FlowDecision>,
    made: u32,
}

impl Calls {
    pub(crate) fn poll(&mut self) -> Option<FlowDecision> {
        self.waiting.pop_front()
    }

    /// A call of `flow`'s algorithm has been made.
    #[cold]
    pub(crate) fn keep(&mut self, now: Time, flow: u32, call: Call) {
        let index = self.made;
        self.made = index.saturating_add(1);
        self.waiting.push_back(FlowDecision { now, flow, index, call });
    }
}

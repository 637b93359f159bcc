//! Calls of the algorithm, kept for an observer that wants them.

use std::collections::VecDeque;

use rampcc::{Decision, Time};
use rampcc_trace::{Call, FlowDecision, Told};

use crate::sender::Sender;

/// Calls that nobody has fetched yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    waiting: VecDeque<FlowDecision>,
    made: u32,
}

impl Calls {
    pub(crate) fn poll(&mut self) -> Option<FlowDecision> {
        self.waiting.pop_front()
    }
}

impl Sender {
    /// The decision that the next call will find, if calls are kept.
    #[inline]
    pub(crate) fn found(&self) -> Option<Decision> {
        self.calls.as_ref()?;
        let mut found = *self.startup.decision();
        (found.cwnd_bytes, found.ssthresh_bytes) = (self.cwnd(), self.ssthresh());
        Some(found)
    }

    /// A call has been made; `before` is the decision that the algorithm found.
    #[cold]
    pub(crate) fn keep_call(&mut self, now: Time, told: Told, before: Decision) {
        let (flow, after) = (self.flow, *self.startup.decision());
        if let Some(calls) = &mut self.calls {
            let index = calls.made;
            calls.made = index.saturating_add(1);
            calls.waiting.push_back(FlowDecision { now, flow, index, call: Call { told, before, after } });
        }
    }
}

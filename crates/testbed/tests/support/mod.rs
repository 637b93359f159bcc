//! Runs in real time, for the tests: where they are possible, and what an observer has seen of them.
#![allow(dead_code, reason = "the tests use a part each")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use rampcc::{ExitReason, Time};
use rampcc_testbed::missing_capabilities;
use rampcc_trace::{FlowDecision, FlowEvent, FlowEventKind, FlowSample, LinkSample, Observer};

#[path = "../../../linux/tests/support/ready.rs"]
pub(crate) mod ready;

/// Whether runs can be tested here at all.
pub(crate) fn ready() -> Option<()> {
    let missing = missing_capabilities();
    let obstacle = (!missing.is_empty()).then(|| format!("needs {}", missing.join(" and ")));
    ready::unobstructed(obstacle.or_else(ready::no_tun).as_deref())
}

/// One run at a time: two cores have no time for more.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All that an observer gets.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) samples: Vec<FlowSample>,
    pub(crate) links: Vec<LinkSample>,
    pub(crate) events: Vec<FlowEvent>,
    pub(crate) decisions: Vec<FlowDecision>,
    /// Of samples and events, as they came.
    pub(crate) order: Vec<Time>,
    /// Whether it asks for decisions.
    pub(crate) decided: bool,
}

impl Observer for Seen {
    fn on_flow(&mut self, sample: &FlowSample) {
        self.order.push(sample.now);
        self.samples.push(*sample);
    }
    fn on_link(&mut self, sample: &LinkSample) {
        self.order.push(sample.now);
        self.links.push(*sample);
    }
    fn on_event(&mut self, event: &FlowEvent) {
        self.order.push(event.now);
        self.events.push(*event);
    }
    fn wants_decisions(&self) -> bool {
        self.decided
    }
    fn on_decision(&mut self, decision: &FlowDecision) {
        self.decisions.push(decision.clone());
    }
}

impl Seen {
    pub(crate) fn of(&self, flow: u32, wanted: impl Fn(&FlowEventKind) -> bool) -> Vec<FlowEvent> {
        self.events.iter().filter(|event| event.flow == flow && wanted(&event.kind)).copied().collect()
    }

    /// Why a flow left start-up, and with which window.
    pub(crate) fn exit(&self, flow: u32) -> Option<(ExitReason, u64)> {
        self.events.iter().find_map(|event| match event.kind {
            FlowEventKind::StartupExit { reason, cwnd_bytes, .. } if event.flow == flow => {
                Some((reason, cwnd_bytes))
            }
            _ => None,
        })
    }
}

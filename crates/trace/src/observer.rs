//! Observers of samples and events.

use rampcc::Time;

use crate::{CpuSample, FlowDecision, FlowEvent, FlowSample, LinkSample};

/// Something that watches a run. Calls come in order of time, except that one link's samples are in order only
/// among themselves. What an observer does not care about it leaves out.
pub trait Observer {
    /// An ACK reached the sender of a sampled flow.
    fn on_flow(&mut self, _: &FlowSample) {}
    /// A packet reached a sampled link's queue.
    fn on_link(&mut self, _: &LinkSample) {}
    /// A while has passed for a host, if its processor counts.
    fn on_cpu(&mut self, _: &CpuSample) {}
    /// Something happened to a flow.
    fn on_event(&mut self, _: &FlowEvent) {}
    /// The algorithm of a sampled flow was called. Only if [`wants_decisions`](Self::wants_decisions).
    fn on_decision(&mut self, _: &FlowDecision) {}
    /// Whether every call of an algorithm is to be reported; the answer stays the same for a run.
    fn wants_decisions(&self) -> bool {
        false
    }
    /// How long after a `Received` the next arrival in order is told at the latest. Without it the next one comes with the next
    /// number of three significant digits, up to 1 % of all later. The answer stays the same for a run.
    fn progress_every(&self) -> Time {
        Time::NEVER
    }
}

/// Ignores everything.
impl Observer for () {}

/// Tells two observers, the first one first.
#[derive(Debug)]
pub struct Both<A, B>(pub A, pub B);

impl<A: Observer, B: Observer> Observer for Both<A, B> {
    fn on_flow(&mut self, sample: &FlowSample) {
        self.0.on_flow(sample);
        self.1.on_flow(sample);
    }
    fn on_link(&mut self, sample: &LinkSample) {
        self.0.on_link(sample);
        self.1.on_link(sample);
    }
    fn on_cpu(&mut self, sample: &CpuSample) {
        self.0.on_cpu(sample);
        self.1.on_cpu(sample);
    }
    fn on_event(&mut self, event: &FlowEvent) {
        self.0.on_event(event);
        self.1.on_event(event);
    }
    fn on_decision(&mut self, decision: &FlowDecision) {
        self.0.on_decision(decision);
        self.1.on_decision(decision);
    }
    fn wants_decisions(&self) -> bool {
        self.0.wants_decisions() || self.1.wants_decisions()
    }
    fn progress_every(&self) -> Time {
        self.0.progress_every().min(self.1.progress_every())
    }
}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn on_flow(&mut self, sample: &FlowSample) {
        (**self).on_flow(sample);
    }
    fn on_link(&mut self, sample: &LinkSample) {
        (**self).on_link(sample);
    }
    fn on_cpu(&mut self, sample: &CpuSample) {
        (**self).on_cpu(sample);
    }
    fn on_event(&mut self, event: &FlowEvent) {
        (**self).on_event(event);
    }
    fn on_decision(&mut self, decision: &FlowDecision) {
        (**self).on_decision(decision);
    }
    fn wants_decisions(&self) -> bool {
        (**self).wants_decisions()
    }
    fn progress_every(&self) -> Time {
        (**self).progress_every()
    }
}

/// Tells an observer if there is one.
impl<O: Observer> Observer for Option<O> {
    fn on_flow(&mut self, sample: &FlowSample) {
        if let Some(observer) = self {
            observer.on_flow(sample);
        }
    }
    fn on_link(&mut self, sample: &LinkSample) {
        if let Some(observer) = self {
            observer.on_link(sample);
        }
    }
    fn on_cpu(&mut self, sample: &CpuSample) {
        if let Some(observer) = self {
            observer.on_cpu(sample);
        }
    }
    fn on_event(&mut self, event: &FlowEvent) {
        if let Some(observer) = self {
            observer.on_event(event);
        }
    }
    fn on_decision(&mut self, decision: &FlowDecision) {
        if let Some(observer) = self {
            observer.on_decision(decision);
        }
    }
    fn wants_decisions(&self) -> bool {
        self.as_ref().is_some_and(Observer::wants_decisions)
    }
    fn progress_every(&self) -> Time {
        self.as_ref().map_or(Time::NEVER, Observer::progress_every)
    }
}

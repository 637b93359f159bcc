//! What is kept of a run.

use rampcc::{ExitReason, Time};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, Observer};

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Log {
    pub(crate) established: Time,
    pub(crate) exit: Option<(Time, ExitReason, u64)>,
    pub(crate) completed: Time,
    pub(crate) lost: bool,
    pub(crate) received: Vec<Time>,
    pub(crate) samples: Vec<FlowSample>,
}

impl Observer for Log {
    fn on_event(&mut self, event: &FlowEvent) {
        match event.kind {
            FlowEventKind::Established => self.established = event.now,
            FlowEventKind::StartupExit { reason, cwnd_bytes, .. } => {
                self.exit = Some((event.now, reason, cwnd_bytes));
            }
            FlowEventKind::Completed { .. } => self.completed = event.now,
            FlowEventKind::Received { .. } => self.received.push(event.now),
            FlowEventKind::ConnectionLost => self.lost = true,
            _ => {}
        }
    }

    fn on_flow(&mut self, sample: &FlowSample) {
        self.samples.push(*sample);
    }
}

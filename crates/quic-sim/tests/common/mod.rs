//! One run, and what is kept of it.

use std::sync::atomic::AtomicBool;

use rampcc::{ExitReason, Time};
use rampcc_backend::{Backend, Play};
use rampcc_scenario::{Arm, Scenario};
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

pub(crate) fn play(backend: &dyn Backend, path: &str, id: &str) -> Log {
    let scenario = Scenario::parse("test", path, None).expect("a scenario");
    let arm = Arm::parse(id).expect("a row");
    let mut log = Log::default();
    let play = Play { scenario: &scenario.with_arm(&arm), control: None, seed: 1 };
    backend.check(play.scenario, None).expect("it can be played");
    backend.run(&play, &mut log, &AtomicBool::new(false)).expect("it runs");
    log
}

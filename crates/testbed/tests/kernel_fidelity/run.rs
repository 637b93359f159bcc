//! One download, as the table counts it.

use std::sync::atomic::AtomicBool;

use rampcc::{ExitReason, Time};
use rampcc_testbed::{Options, Played, Task, TestbedError, play};
use rampcc_trace::{FlowEvent, FlowEventKind, Observer};

use crate::cases::{Case, steering};

/// What a download came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Run {
    /// Window after the exit, packets; `None`: start-up lasted to the end.
    pub(crate) exit_window: Option<f64>,
    /// The exit, seconds after the SYN.
    pub(crate) exit_s: Option<f64>,
    /// Why; empty: no exit.
    pub(crate) reason: String,
    /// From the SYN to the last byte, seconds; `None`: the run ended first.
    pub(crate) download_s: Option<f64>,
    /// Segments sent again.
    pub(crate) retransmissions: f64,
}

/// Watches the first flow.
#[derive(Default)]
struct Watch {
    opened: Time,
    exit: Option<(Time, u64, ExitReason)>,
}

impl Observer for Watch {
    fn on_event(&mut self, event: &FlowEvent) {
        match event.kind {
            _ if event.flow != 0 => {}
            FlowEventKind::Opened { .. } => self.opened = event.now,
            FlowEventKind::StartupExit { reason, cwnd_bytes, .. } if self.exit.is_none() => {
                self.exit = Some((event.now, cwnd_bytes, reason));
            }
            _ => {}
        }
    }
}

impl Run {
    /// In the simulator.
    pub(crate) fn simulated(case: &Case, arm: &str, seed: u64) -> Self {
        let scenario = case.scenario(arm);
        let mut watch = Watch::default();
        let outcome = rampcc_sim::simulate(&scenario, seed, &mut watch, &AtomicBool::new(false));
        let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        Self::new(&watch, &outcome.flows[0], scenario.flows[0].sender.mss_bytes)
    }

    /// In the kernel.
    pub(crate) fn played(
        case: &Case,
        row: &str,
        arm: &str,
        seed: u64,
        options: &Options,
    ) -> Result<(Self, Played), TestbedError> {
        let scenario = case.scenario(arm);
        let mut watch = Watch::default();
        let interrupted = AtomicBool::new(false);
        let task = Task { options: options.clone(), ..Task::new(&scenario, steering(row), seed) };
        let played = play(&task, &mut watch, &interrupted)?;
        let run = Self::new(&watch, &played.outcome.flows[0], scenario.flows[0].sender.mss_bytes);
        Ok((run, played))
    }

    fn new(watch: &Watch, flow: &rampcc_trace::FlowTotals, mss_bytes: u32) -> Self {
        let mss = f64::from(mss_bytes);
        let since = |at: Time| (at - watch.opened).secs_f64();
        Self {
            exit_window: watch.exit.map(|(_, cwnd, _)| (cwnd as f64 / mss).floor()),
            exit_s: watch.exit.map(|(at, ..)| since(at)),
            reason: watch.exit.map_or(String::new(), |(.., reason)| format!("{reason:?}")),
            download_s: (flow.completed != Time::NEVER).then(|| since(flow.completed)),
            retransmissions: (flow.retransmitted_bytes as f64 / mss).ceil(),
        }
    }
}

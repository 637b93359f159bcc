//! The oracles' columns, computed from our own samples and events by the rules of their scripts.

use std::sync::atomic::AtomicBool;

use rampcc::{Time, UNSET};
use rampcc_scenario::Scenario;
use rampcc_sim::simulate;
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, Observer, SenderState};

/// One bulk flow's run in the oracles' terms: packets, and seconds from the flow's start.
#[derive(Default)]
pub(crate) struct Measured {
    pub(crate) throughput_mbps: f64,
    pub(crate) drops: f64,
    pub(crate) first_drop_s: Option<f64>,
    /// First decrease, or first increase of less than 0.9 packets: when, and from which window.
    pub(crate) exit_s: Option<f64>,
    pub(crate) exit_cwnd: Option<f64>,
    pub(crate) timeouts: u64,
    /// Window every 10 ms from the start of the run.
    pub(crate) window: Vec<f64>,
    mss_bytes: f64,
    start: Time,
    cwnd: Option<f64>,
}

impl Measured {
    /// Plays the only explicit flow of `scenario`, whose `stop.after` is when the oracle stopped. An oracle counts
    /// what the sender knows to be acknowledged, which is what the receiver had `return_delay` earlier.
    pub(crate) fn play(mut scenario: Scenario, return_delay: Time) -> Self {
        let end = scenario.stop.after;
        scenario.stop.after = end - return_delay;
        let flow = &mut scenario.flows[0];
        flow.sender.sampled = true;
        let mut measured =
            Self { mss_bytes: f64::from(flow.sender.mss_bytes), start: flow.start, ..Self::default() };
        let outcome =
            simulate(&scenario, 1, &mut measured, &AtomicBool::new(false)).expect("a valid scenario");
        let span = (end - measured.start).secs_f64();
        let flow = &outcome.flows[0];
        let span =
            if flow.completed == Time::NEVER { span } else { (flow.completed - flow.opened).secs_f64() };
        measured.throughput_mbps = flow.received_bytes as f64 * 8e-6 / span;
        measured.fill_until(end);
        measured
    }

    fn since_start(&self, now: Time) -> f64 {
        (now - self.start).secs_f64()
    }

    fn fill_until(&mut self, now: Time) {
        while self.window.len() as u64 * 10_000 < now.us() {
            self.window.push(self.cwnd.unwrap_or(1.0));
        }
    }
}

impl Observer for Measured {
    fn on_flow(&mut self, sample: &FlowSample) {
        let mut cwnd = sample.cwnd_bytes as f64 / self.mss_bytes;
        if sample.state == SenderState::Recovery && sample.ssthresh_bytes != UNSET {
            // ns-2 keeps what duplicate ACKs add apart from `cwnd_`.
            cwnd = cwnd.min(sample.ssthresh_bytes as f64 / self.mss_bytes);
        }
        self.fill_until(sample.now);
        let previous = self.cwnd.replace(cwnd).unwrap_or(1.0);
        if (previous - cwnd).abs() < 1e-9 {
            return;
        }
        let now = self.since_start(sample.now);
        let linear = previous > 1.0 && cwnd > previous && cwnd - previous < 0.9;
        if self.exit_s.is_none() && ((cwnd < previous && previous > 2.0) || linear) {
            self.exit_s = Some(now);
            self.exit_cwnd = Some(previous);
        }
    }

    fn on_event(&mut self, event: &FlowEvent) {
        if event.flow != 0 {
            return;
        }
        match event.kind {
            FlowEventKind::Dropped { data: true, .. } => {
                self.drops += 1.0;
                let at = self.since_start(event.now);
                self.first_drop_s.get_or_insert(at);
            }
            FlowEventKind::Timeout { .. } => self.timeouts += 1,
            _ => {}
        }
    }
}

//! The oracles' columns, computed from our own samples and events by the rules of their scripts.

use ramp::Time;
use ramp_trace::{FlowEvent, FlowEventKind, FlowSample, LinkSample, Observer};

/// One flow's run in the oracles' terms. Windows in packets, times from the flow's start.
#[derive(Default)]
pub(crate) struct Measured {
    pub(crate) mss_bytes: u64,
    start: Option<Time>,
    previous_cwnd: Option<f64>,
    pub(crate) drops: u64,
    pub(crate) first_drop: Option<Time>,
    pub(crate) exit: Option<(Time, f64)>,
    /// Time, acknowledged packets and drops at the end of start-up: the first increase of less than 0.9 packets.
    pub(crate) startup_end: Option<(Time, u64, u64)>,
    pub(crate) timeouts: u64,
    pub(crate) retransmitted: u64,
    pub(crate) cumulative_packets: u64,
    pub(crate) final_cwnd: f64,
    /// Window on a 10 ms grid from time zero, packets.
    pub(crate) window: Vec<f64>,
}

impl Measured {
    fn since_start(&self, now: Time) -> Time {
        now - self.start.unwrap_or_default()
    }
}

impl Observer for Measured {
    fn on_flow(&mut self, sample: &FlowSample) {
        let cwnd = sample.cwnd_bytes as f64 / self.mss_bytes as f64;
        let now = self.since_start(sample.now);
        while self.window.len() as u64 * 10_000 < sample.now.us() {
            self.window.push(self.previous_cwnd.unwrap_or(1.0));
        }
        if let Some(previous) = self.previous_cwnd.filter(|p| *p > 1.0 && (*p - cwnd).abs() > 1e-9) {
            let linear = cwnd >= previous && cwnd - previous < 0.9;
            if self.exit.is_none() && ((cwnd < previous && previous > 2.0) || linear) {
                self.exit = Some((now, previous));
            }
            if self.startup_end.is_none() && linear {
                self.startup_end = Some((now, sample.delivered_bytes / self.mss_bytes, self.drops));
            }
        }
        self.previous_cwnd = Some(cwnd);
        self.final_cwnd = cwnd;
        self.retransmitted = sample.retransmitted_bytes / self.mss_bytes;
        self.cumulative_packets = sample.delivered_bytes / self.mss_bytes;
    }

    fn on_link(&mut self, _: &LinkSample) {}

    fn on_event(&mut self, event: &FlowEvent) {
        if event.flow != 0 {
            return;
        }
        match event.kind {
            FlowEventKind::Opened { .. } => self.start = Some(event.now),
            FlowEventKind::Dropped { data: true, .. } => {
                self.drops += 1;
                self.first_drop.get_or_insert(event.now - self.start.unwrap_or_default());
            }
            FlowEventKind::Timeout { .. } => self.timeouts += 1,
            _ => {}
        }
    }
}

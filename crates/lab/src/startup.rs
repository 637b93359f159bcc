//! From the first packet to the first linear increase.

use rampcc::{Phase, Time, UNSET};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, SenderState};

/// Follows one flow through its start-up, as Paced Start's Table 3 counts it: until the window grows linearly for the
/// first time. Where packets sent before the exit were lost, that is at the end of the repair (and, after
/// a timeout, of the slow start up to ssthresh that follows).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Startup {
    stage: Stage,
    repairing: bool,
    /// Most in flight before the end, payload bytes.
    pub(crate) peak_in_flight_bytes: u64,
}

/// Totals of a flow when its start-up was over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StartupEnd {
    pub(crate) at: Time,
    pub(crate) delivered_bytes: u64,
    /// Sent so far, retransmissions included.
    pub(crate) sent_bytes: u64,
    /// Data packets that links dropped so far.
    pub(crate) dropped_packets: u64,
}

#[derive(Clone, Copy, Debug, Default)]
enum Stage {
    #[default]
    Running,
    /// Left; what was sent before may still turn out lost. `sent_bytes`: ever sent at the exit.
    Left {
        end: StartupEnd,
        sent_bytes: u64,
    },
    /// Losses that start-up caused are being repaired. `timeout`: by the retransmission timer.
    Repairing {
        timeout: bool,
    },
    /// Slow start after a timeout, up to ssthresh.
    Regrowing,
    Over(StartupEnd),
}

impl Startup {
    /// The end, once it is certain.
    pub(crate) fn end(&self) -> Option<&StartupEnd> {
        match &self.stage {
            Stage::Over(end) => Some(end),
            _ => None,
        }
    }

    pub(crate) fn on_sample(&mut self, sample: &FlowSample, dropped_packets: u64) {
        if matches!(self.stage, Stage::Over(_)) {
            return;
        }
        self.peak_in_flight_bytes = self.peak_in_flight_bytes.max(sample.in_flight_bytes);
        let now = StartupEnd::of(sample.now, sample, dropped_packets);
        match self.stage {
            Stage::Left { sent_bytes, .. } if sample.phase == Phase::Leaving => {
                self.stage = Stage::Left { end: now, sent_bytes: sent_bytes.max(sample.sent_bytes) };
            }
            Stage::Left { end, sent_bytes } if !outstanding(sample, sent_bytes) => {
                self.stage = Stage::Over(end);
            }
            Stage::Regrowing if sample.state == SenderState::Open && linear(sample) => {
                self.stage = Stage::Over(now);
            }
            _ => {}
        }
    }

    pub(crate) fn on_event(&mut self, event: &FlowEvent, last: &FlowSample, dropped_packets: u64) {
        let now = StartupEnd::of(event.now, last, dropped_packets);
        match (event.kind, self.stage) {
            (FlowEventKind::StartupExit { .. }, Stage::Running) => {
                self.stage = if self.repairing {
                    Stage::Repairing { timeout: last.state == SenderState::Loss }
                } else {
                    Stage::Left { end: now, sent_bytes: last.sent_bytes }
                };
            }
            (FlowEventKind::RecoveryStart { .. }, stage) => self.repair(stage, last, false),
            (FlowEventKind::Timeout { .. }, stage) => self.repair(stage, last, true),
            (FlowEventKind::RecoveryEnd, stage) => {
                self.repairing = false;
                match stage {
                    Stage::Repairing { timeout: true } => self.stage = Stage::Regrowing,
                    Stage::Repairing { timeout: false } => self.stage = Stage::Over(now),
                    _ => {}
                }
            }
            (FlowEventKind::Undone, stage) => {
                self.repairing = false;
                if matches!(stage, Stage::Repairing { .. } | Stage::Regrowing) {
                    self.stage = Stage::Over(now);
                }
            }
            (FlowEventKind::StartupResumed, _) => self.stage = Stage::Running,
            _ => {}
        }
    }

    /// The flow is over at `now`, and start-up with it.
    pub(crate) fn finish(&mut self, now: Time, last: &FlowSample, dropped_packets: u64) {
        match self.stage {
            Stage::Over(_) => {}
            Stage::Left { end, .. } => self.stage = Stage::Over(end),
            _ => self.stage = Stage::Over(StartupEnd::of(now, last, dropped_packets)),
        }
    }

    fn repair(&mut self, stage: Stage, last: &FlowSample, timeout: bool) {
        self.repairing = true;
        match stage {
            Stage::Left { end, sent_bytes } => {
                self.stage = if outstanding(last, sent_bytes) {
                    Stage::Repairing { timeout }
                } else {
                    Stage::Over(end)
                };
            }
            Stage::Repairing { timeout: before } => {
                self.stage = Stage::Repairing { timeout: before || timeout }
            }
            Stage::Regrowing => self.stage = Stage::Repairing { timeout: true },
            Stage::Running | Stage::Over(_) => {}
        }
    }
}

impl StartupEnd {
    fn of(at: Time, sample: &FlowSample, dropped_packets: u64) -> Self {
        Self { at, delivered_bytes: sample.delivered_bytes, sent_bytes: sample.sent_bytes, dropped_packets }
    }
}

/// Whether some of the first `sent_bytes` have neither arrived nor been found lost.
fn outstanding(sample: &FlowSample, sent_bytes: u64) -> bool {
    sample.delivered_bytes.saturating_add(sample.lost_bytes) < sent_bytes
}

fn linear(sample: &FlowSample) -> bool {
    sample.ssthresh_bytes == UNSET || sample.cwnd_bytes >= sample.ssthresh_bytes
}

//! The qlog of a flow, whatever steers it: made of its samples and events.

use std::io::{self, Write};

use rampcc::{Phase, UNSET};
use rampcc_quic::Exit;
use rampcc_quic::qlog::{Congestion, Metrics, Records, VantagePoint};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, Observer, SenderState};

/// Writes the qlog of one flow's sending end, which opens the connection.
#[derive(Debug)]
pub struct FlowQlog<W: Write> {
    records: Records<W>,
    flow: u32,
}

impl<W: Write> FlowQlog<W> {
    /// Begins with the head of a file whose title is `title`.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn new(to: W, title: &str, flow: u32) -> io::Result<Self> {
        Ok(Self { records: Records::new(to, title, VantagePoint::Client)?, flow })
    }

    /// Whether a write has failed; nothing was written since.
    pub fn failed(&self) -> bool {
        self.records.failed()
    }

    /// Writes what is left; returns what it wrote to.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or something before could not.
    pub fn finish(self) -> io::Result<W> {
        self.records.finish()
    }
}

impl<W: Write> Observer for FlowQlog<W> {
    fn on_flow(&mut self, sample: &FlowSample) {
        if sample.flow != self.flow {
            return;
        }
        let metrics = Metrics {
            min_rtt: sample.min_rtt,
            smoothed_rtt: sample.smoothed_rtt,
            latest_rtt: sample.rtt,
            window_bytes: sample.cwnd_bytes,
            in_flight_bytes: sample.in_flight_bytes,
            ssthresh_bytes: Some(sample.ssthresh_bytes).filter(|bytes| *bytes != UNSET),
            pacing_bytes_per_s: Some(sample.pacing_bytes_per_s).filter(|rate| *rate > 0),
        };
        self.records.metrics(sample.now, metrics);
        let state = match (sample.state, sample.phase) {
            (SenderState::Open, Phase::Done) => Congestion::Avoidance,
            (SenderState::Open, _) => Congestion::SlowStart,
            _ => Congestion::Recovery,
        };
        self.records.congestion(sample.now, state);
    }

    fn on_event(&mut self, event: &FlowEvent) {
        if event.flow != self.flow {
            return;
        }
        if let FlowEventKind::StartupExit { reason, evidence, limit, cwnd_bytes, deciding_sent } = event.kind
        {
            let window_bytes = cwnd_bytes;
            self.records.exit(&Exit { at: event.now, reason, evidence, limit, window_bytes, deciding_sent });
        }
    }
}

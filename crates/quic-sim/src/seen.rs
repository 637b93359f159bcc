//! What a sender's congestion controller shows: after every ACK, for samples and events.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rampcc::{Phase, Time, UNSET};
use rampcc_quic::{Connection, Counts, Exit, Observer};
use rampcc_trace::{Call, FlowDecision, FlowSample, Opening, SenderState, Told};

/// The state of a controller after its last ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) sample: FlowSample,
    pub(crate) counts: Counts,
    pub(crate) exit: Option<Exit>,
}

/// A controller's end and its host's of the same [`Seen`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    seen: Arc<Mutex<Seen>>,
    /// Every call of the algorithm that is not fetched yet, and how many there were; `None`: they are not wanted.
    calls: Arc<Mutex<Option<Calls>>>,
}

type Calls = (VecDeque<(Time, Call)>, u32);

impl Watch {
    pub(crate) fn read(&self) -> Seen {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps every call from now on.
    pub(crate) fn record_calls(&self) {
        *self.calls() = Some(Calls::default());
    }

    pub(crate) fn poll_call(&self, flow: u32) -> Option<FlowDecision> {
        let mut calls = self.calls();
        let (waiting, told) = calls.as_mut()?;
        let (now, call) = waiting.pop_front()?;
        *told += 1;
        Some(FlowDecision { now, flow, index: *told - 1, call })
    }

    fn calls(&self) -> MutexGuard<'_, Option<Calls>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn update(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Observer for Watch {
    fn on_change(&self, now: Time, connection: &Connection) {
        let (smoothed_rtt, min_rtt) = connection.round_trip();
        let last = connection.last_sample();
        let sample = FlowSample {
            now,
            flow: 0,
            cwnd_bytes: connection.window_bytes(),
            ssthresh_bytes: connection.ssthresh_bytes().unwrap_or(UNSET),
            in_flight_bytes: connection.in_flight_bytes(),
            sent_bytes: connection.sent_bytes(),
            delivered_bytes: connection.delivered_bytes(),
            // QUIC sends what was lost in new packets.
            retransmitted_bytes: connection.lost_bytes(),
            lost_bytes: connection.lost_bytes(),
            rtt: last.rtt,
            min_rtt,
            smoothed_rtt,
            pacing_bytes_per_s: connection.pacing_bytes_per_s().unwrap_or(0),
            delivery_bytes_per_s: last.rate,
            receive_window_bytes: u64::MAX,
            phase: connection.phase(),
            state: state(connection.recovering()),
        };
        let (counts, exit) = (*connection.counts(), connection.exit().copied());
        self.update(|seen| *seen = Seen { sample, counts, exit });
    }

    fn wants_calls(&self) -> bool {
        self.calls().is_some()
    }

    fn on_call(&self, now: Time, call: &rampcc_quic::Call<'_>) {
        let told = match call.told {
            rampcc_quic::Told::Begin(algorithm, config) => Opening::told(algorithm, *config),
            rampcc_quic::Told::Ack(ack) => Told::Ack(*ack),
            rampcc_quic::Told::Event(event) => Told::Event(*event),
        };
        if let Some((waiting, _)) = self.calls().as_mut() {
            waiting.push_back((now, Call { told, before: call.before, after: call.after }));
        }
    }
}

pub(crate) fn state(recovering: bool) -> SenderState {
    if recovering { SenderState::Recovery } else { SenderState::Open }
}

/// The phase of a controller whose start-up ends with its first reduction.
pub(crate) fn phase(exited: bool) -> Phase {
    if exited { Phase::Done } else { Phase::Startup }
}

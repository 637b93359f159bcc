//! What a sender's congestion controller shows: after every ACK, for samples and events.

use std::sync::{Arc, Mutex, PoisonError};

use rampcc::{Phase, Time, UNSET};
use rampcc_quic::{Connection, Counts, Exit, Observer};
use rampcc_trace::{FlowSample, SenderState};

/// The state of a controller after its last ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) sample: FlowSample,
    pub(crate) counts: Counts,
    pub(crate) exit: Option<Exit>,
}

/// A controller's end and its host's of the same [`Seen`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch(Arc<Mutex<Seen>>);

impl Watch {
    pub(crate) fn read(&self) -> Seen {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn update(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
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
}

pub(crate) fn state(recovering: bool) -> SenderState {
    if recovering { SenderState::Recovery } else { SenderState::Open }
}

/// The phase of a controller whose start-up ends with its first reduction.
pub(crate) fn phase(exited: bool) -> Phase {
    if exited { Phase::Done } else { Phase::Startup }
}

//! A sample or an event as a line of a file.

use rampcc::{ExitReason, Phase, Time, UNSET};
use serde::{Deserialize, Serialize};

use crate::{FlowEvent, FlowEventKind, FlowSample, LinkSample, Observer, SenderState};

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        /// One line: `record` says which of the other columns it has. Instants and spans are whole nanoseconds.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub(crate) struct Row {
            /// `flow`, `link`, or what happened: `opened`, `startup_exit`, …
            pub(crate) record: String,
            pub(crate) time_ns: u64,
            $(
                $(#[$doc])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub(crate) $name: Option<$type>,
            )*
        }

        impl Row {
            /// Names of all columns.
            pub(crate) const COLUMNS: &[&str] = &["record", "time_ns", $(stringify!($name)),*];

            /// Call `cell` with every column's text, empty where there is none.
            pub(crate) fn cells<E>(&self, mut cell: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
                cell(&self.record)?;
                cell(&self.time_ns.to_string())?;
                $(match &self.$name {
                    Some(value) => cell(&value.to_string())?,
                    None => cell("")?,
                })*
                Ok(())
            }
        }
    };
}

columns! {
    flow: u32,
    link: u32,
    cwnd_bytes: u64,
    /// Empty: none set.
    ssthresh_bytes: u64,
    in_flight_bytes: u64,
    sent_bytes: u64,
    delivered_bytes: u64,
    retransmitted_bytes: u64,
    lost_bytes: u64,
    rtt_ns: u64,
    min_rtt_ns: u64,
    smoothed_rtt_ns: u64,
    pacing_bytes_per_s: u64,
    delivery_bytes_per_s: u64,
    /// Empty: never in the way.
    receive_window_bytes: u64,
    phase: String,
    state: String,
    queue_bytes: u64,
    queue_packets: u64,
    /// Empty in `opened`: without end.
    size_bytes: u64,
    under_test: bool,
    reason: String,
    evidence: u64,
    limit: u64,
    deciding_sent_ns: u64,
    backoff: u32,
    wire_bytes: u32,
    data: bool,
    bytes: u64,
}

/// What the word in `column` stands for.
fn meaning<T>(
    column: &'static str,
    word: Option<&String>,
    known: impl IntoIterator<Item = (T, &'static str)>,
) -> Result<T, RowError> {
    let word = word.ok_or(RowError::Missing(column))?;
    let mut allowed = Vec::new();
    for (value, known) in known {
        if known == word {
            return Ok(value);
        }
        allowed.push(known);
    }
    Err(RowError::Unknown { column, found: word.clone(), allowed: allowed.join(", ") })
}

/// Error in a line of a file of samples.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// A column that this kind of record needs is empty.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A word that is not in the column's list.
    #[error("`{column}` is `{found}`, which is none of: {allowed}")]
    Unknown {
        /// Column.
        column: &'static str,
        /// Text found there.
        found: String,
        /// Values allowed there.
        allowed: String,
    },
}

impl From<&FlowSample> for Row {
    fn from(sample: &FlowSample) -> Self {
        Self {
            record: "flow".to_owned(),
            time_ns: sample.now.ns(),
            flow: Some(sample.flow),
            cwnd_bytes: Some(sample.cwnd_bytes),
            ssthresh_bytes: (sample.ssthresh_bytes != UNSET).then_some(sample.ssthresh_bytes),
            in_flight_bytes: Some(sample.in_flight_bytes),
            sent_bytes: Some(sample.sent_bytes),
            delivered_bytes: Some(sample.delivered_bytes),
            retransmitted_bytes: Some(sample.retransmitted_bytes),
            lost_bytes: Some(sample.lost_bytes),
            rtt_ns: some_time(sample.rtt),
            min_rtt_ns: some_time(sample.min_rtt),
            smoothed_rtt_ns: some_time(sample.smoothed_rtt),
            pacing_bytes_per_s: (sample.pacing_bytes_per_s > 0).then_some(sample.pacing_bytes_per_s),
            delivery_bytes_per_s: (sample.delivery_bytes_per_s > 0).then_some(sample.delivery_bytes_per_s),
            receive_window_bytes: (sample.receive_window_bytes != u64::MAX)
                .then_some(sample.receive_window_bytes),
            phase: Some(sample.phase.word().to_owned()),
            state: Some(sample.state.word().to_owned()),
            ..Self::default()
        }
    }
}

impl From<&LinkSample> for Row {
    fn from(sample: &LinkSample) -> Self {
        Self {
            record: "link".to_owned(),
            time_ns: sample.now.ns(),
            link: Some(sample.link),
            queue_bytes: Some(sample.queue_bytes),
            queue_packets: Some(sample.queue_packets),
            ..Self::default()
        }
    }
}

impl From<&FlowEvent> for Row {
    fn from(event: &FlowEvent) -> Self {
        let mut row = Self {
            record: event.kind.word().to_owned(),
            time_ns: event.now.ns(),
            flow: Some(event.flow),
            ..Self::default()
        };
        match event.kind {
            FlowEventKind::Opened { size_bytes, under_test } => {
                row.size_bytes = (size_bytes != u64::MAX).then_some(size_bytes);
                row.under_test = Some(under_test);
            }
            FlowEventKind::StartupExit { reason, evidence, limit, cwnd_bytes, deciding_sent } => {
                row.reason = Some(reason.word().to_owned());
                row.evidence = Some(evidence);
                row.limit = Some(limit);
                row.cwnd_bytes = Some(cwnd_bytes);
                row.deciding_sent_ns = some_time(deciding_sent);
            }
            FlowEventKind::RecoveryStart { cwnd_bytes, in_flight_bytes } => {
                row.cwnd_bytes = Some(cwnd_bytes);
                row.in_flight_bytes = Some(in_flight_bytes);
            }
            FlowEventKind::Timeout { backoff } => row.backoff = Some(backoff),
            FlowEventKind::Dropped { link, wire_bytes, data } => {
                row.link = Some(link);
                row.wire_bytes = Some(wire_bytes);
                row.data = Some(data);
            }
            FlowEventKind::Received { bytes }
            | FlowEventKind::Completed { bytes }
            | FlowEventKind::Unfinished { bytes } => row.bytes = Some(bytes),
            FlowEventKind::Established
            | FlowEventKind::RecoveryEnd
            | FlowEventKind::Undone
            | FlowEventKind::StartupResumed
            | FlowEventKind::ConnectionLost => {}
        }
        row
    }
}

impl Row {
    /// Tell an observer what this line says.
    pub(crate) fn replay(&self, observer: &mut impl Observer) -> Result<(), RowError> {
        match self.record.as_str() {
            "flow" => observer.on_flow(&self.flow_sample()?),
            "link" => observer.on_link(&LinkSample {
                now: Time::from_ns(self.time_ns),
                link: need("link", self.link)?,
                queue_bytes: need("queue_bytes", self.queue_bytes)?,
                queue_packets: need("queue_packets", self.queue_packets)?,
            }),
            _ => observer.on_event(&FlowEvent {
                now: Time::from_ns(self.time_ns),
                flow: need("flow", self.flow)?,
                kind: self.event_kind()?,
            }),
        }
        Ok(())
    }

    fn flow_sample(&self) -> Result<FlowSample, RowError> {
        Ok(FlowSample {
            now: Time::from_ns(self.time_ns),
            flow: need("flow", self.flow)?,
            cwnd_bytes: need("cwnd_bytes", self.cwnd_bytes)?,
            ssthresh_bytes: self.ssthresh_bytes.unwrap_or(UNSET),
            in_flight_bytes: need("in_flight_bytes", self.in_flight_bytes)?,
            sent_bytes: need("sent_bytes", self.sent_bytes)?,
            delivered_bytes: need("delivered_bytes", self.delivered_bytes)?,
            retransmitted_bytes: need("retransmitted_bytes", self.retransmitted_bytes)?,
            lost_bytes: need("lost_bytes", self.lost_bytes)?,
            rtt: time(self.rtt_ns),
            min_rtt: time(self.min_rtt_ns),
            smoothed_rtt: time(self.smoothed_rtt_ns),
            pacing_bytes_per_s: self.pacing_bytes_per_s.unwrap_or(0),
            delivery_bytes_per_s: self.delivery_bytes_per_s.unwrap_or(0),
            receive_window_bytes: self.receive_window_bytes.unwrap_or(u64::MAX),
            phase: meaning("phase", self.phase.as_ref(), Phase::ALL.map(|phase| (phase, phase.word())))?,
            state: meaning(
                "state",
                self.state.as_ref(),
                SenderState::ALL.map(|state| (state, state.word())),
            )?,
        })
    }

    fn event_kind(&self) -> Result<FlowEventKind, RowError> {
        Ok(match self.record.as_str() {
            "opened" => FlowEventKind::Opened {
                size_bytes: self.size_bytes.unwrap_or(u64::MAX),
                under_test: need("under_test", self.under_test)?,
            },
            "established" => FlowEventKind::Established,
            "startup_exit" => FlowEventKind::StartupExit {
                reason: meaning(
                    "reason",
                    self.reason.as_ref(),
                    ExitReason::ALL.map(|reason| (reason, reason.word())),
                )?,
                evidence: need("evidence", self.evidence)?,
                limit: need("limit", self.limit)?,
                cwnd_bytes: need("cwnd_bytes", self.cwnd_bytes)?,
                deciding_sent: time(self.deciding_sent_ns),
            },
            "recovery_start" => FlowEventKind::RecoveryStart {
                cwnd_bytes: need("cwnd_bytes", self.cwnd_bytes)?,
                in_flight_bytes: need("in_flight_bytes", self.in_flight_bytes)?,
            },
            "recovery_end" => FlowEventKind::RecoveryEnd,
            "timeout" => FlowEventKind::Timeout { backoff: need("backoff", self.backoff)? },
            "undone" => FlowEventKind::Undone,
            "startup_resumed" => FlowEventKind::StartupResumed,
            "connection_lost" => FlowEventKind::ConnectionLost,
            "dropped" => FlowEventKind::Dropped {
                link: need("link", self.link)?,
                wire_bytes: need("wire_bytes", self.wire_bytes)?,
                data: need("data", self.data)?,
            },
            "received" => FlowEventKind::Received { bytes: need("bytes", self.bytes)? },
            "completed" => FlowEventKind::Completed { bytes: need("bytes", self.bytes)? },
            "unfinished" => FlowEventKind::Unfinished { bytes: need("bytes", self.bytes)? },
            _ => {
                return Err(RowError::Unknown {
                    column: "record",
                    found: self.record.clone(),
                    allowed: "flow, link, opened, established, startup_exit, recovery_start, recovery_end, timeout, \
                              undone, startup_resumed, connection_lost, dropped, received, completed, unfinished"
                        .to_owned(),
                });
            }
        })
    }
}

fn need<T>(column: &'static str, value: Option<T>) -> Result<T, RowError> {
    value.ok_or(RowError::Missing(column))
}

fn some_time(time: Time) -> Option<u64> {
    (time != Time::ZERO).then_some(time.ns())
}

fn time(ns: Option<u64>) -> Time {
    Time::from_ns(ns.unwrap_or(0))
}

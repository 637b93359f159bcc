//! Curves of one run, thinned for charts.

use serde::{Deserialize, Serialize};

/// Curves of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSeries {
    /// Recorded flows, by id.
    pub flows: Vec<FlowSeries>,
    /// Recorded links, by index.
    pub links: Vec<LinkSeries>,
}

/// Curves of one flow; all columns have the length of `time_s`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowSeries {
    /// Flow.
    pub flow: u32,
    /// True if the compared algorithm steered it.
    pub under_test: bool,
    /// Time when the application opened it, seconds since the start of the run.
    pub opened_s: f64,
    /// Ascending, seconds since the start of the run.
    pub time_s: Vec<f64>,
    /// Congestion window, payload bytes.
    pub cwnd_bytes: Vec<u64>,
    /// In flight, payload bytes.
    pub in_flight_bytes: Vec<u64>,
    /// Acknowledged so far, by SACK or in order, payload bytes.
    pub delivered_bytes: Vec<u64>,
    /// The ACK's round-trip time; `None`: it had no valid sample.
    pub rtt_ms: Vec<Option<f64>>,
    /// Events, in order of time; runs of drops are thinned like the curves.
    pub marks: Vec<Mark>,
    /// Between two points farther apart than this there was none to keep, seconds.
    #[serde(default)]
    pub thinned_s: f64,
}

/// Something that happened to a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Seconds since the start of the run.
    pub time_s: f64,
    /// Kind of the event.
    pub kind: MarkKind,
}

/// Event that a mark stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkKind {
    /// Data may flow.
    Established,
    /// The algorithm decided to leave start-up.
    StartupExit,
    /// Fast recovery began.
    RecoveryStart,
    /// Recovery or the repair after a timeout is over.
    RecoveryEnd,
    /// The retransmission timer expired.
    Timeout,
    /// The last reduction was undone.
    Undone,
    /// One or more data packets were dropped at about this time.
    Drop,
    /// The last byte arrived.
    Completed,
}

/// A queue over time; both columns have the same length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkSeries {
    /// Link.
    pub link: u32,
    /// Ascending, seconds since the start of the run.
    pub time_s: Vec<f64>,
    /// Wire bytes waiting just after an arrival.
    pub queue_bytes: Vec<u64>,
    /// Between two points farther apart than this there was none to keep, seconds.
    #[serde(default)]
    pub thinned_s: f64,
}

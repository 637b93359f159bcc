//! A connection's course as qlog: metrics after each change, congestion states, and why start-up ended.
//!
//! JSON text sequences (RFC 7464) by draft-ietf-quic-qlog-main-schema-13 and quic-events-12: `recovery:metrics_updated`,
//! `recovery:congestion_state_updated`, and `ramp:startup_exit`, an event of ramp's own schema. Times are milliseconds on the clock of the
//! connection, and rates bits per second.

use std::fmt;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rampcc::{Phase, Time};

use crate::{Connection, Exit, Observer};

/// Of the events of QUIC.
const QUIC: &str = "urn:ietf:params:qlog:events:quic-12";
/// Of `ramp:startup_exit`: its `data` has `reason` (a word), `evidence` and `limit` (numbers in the reason's unit) and
/// `congestion_window` (bytes).
const RAMP: &str = "urn:ramp:qlog:events:startup-1";
const RECORD: char = '\u{1e}';

/// Writes one connection's qlog, as an observer of a factory or of a [`Connection`].
pub struct Qlog<W>(Mutex<State<W>>);

struct State<W> {
    records: Records<W>,
    exited: bool,
}

/// The records of a qlog, for code that has a connection's state from elsewhere.
pub struct Records<W> {
    to: W,
    /// The first write that failed; nothing is written after it.
    failed: Option<io::Error>,
    metrics: Metrics,
    congestion: Option<Congestion>,
}

/// Who writes: the end that opened the connection, or the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VantagePoint {
    /// It opened the connection.
    Client,
    /// It was asked for it.
    Server,
}

/// The state of a connection's recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics {
    /// Smallest round-trip time; zero: none, as below.
    pub min_rtt: Time,
    /// Smoothed round-trip time.
    pub smoothed_rtt: Time,
    /// The last sample.
    pub latest_rtt: Time,
    /// Congestion window, bytes.
    pub window_bytes: u64,
    /// Bytes in flight.
    pub in_flight_bytes: u64,
    /// Slow-start threshold, bytes.
    pub ssthresh_bytes: Option<u64>,
    /// Pacing rate.
    pub pacing_bytes_per_s: Option<u64>,
}

/// The state of congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Start-up, whatever the algorithm.
    SlowStart,
    /// Start-up is over.
    Avoidance,
    /// A reduction is being repaired.
    Recovery,
}

impl Congestion {
    fn word(self) -> &'static str {
        match self {
            Self::SlowStart => "slow_start",
            Self::Avoidance => "congestion_avoidance",
            Self::Recovery => "recovery",
        }
    }
}

impl<W: Write> Qlog<W> {
    /// Begins with the head of a server's file whose title is `title`.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn new(to: W, title: &str) -> io::Result<Self> {
        let records = Records::new(to, title, VantagePoint::Server)?;
        Ok(Self(Mutex::new(State { records, exited: false })))
    }

    /// What it wrote to; `None`: a write has failed, and nothing was written since.
    pub fn into_inner(self) -> Option<W> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).records.finish().ok()
    }

    fn state(&self) -> MutexGuard<'_, State<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W> fmt::Debug for Qlog<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Qlog").finish_non_exhaustive()
    }
}

impl<W: Write + Send> Observer for Qlog<W> {
    fn on_change(&self, now: Time, connection: &Connection) {
        let mut state = self.state();
        let (smoothed_rtt, min_rtt) = connection.round_trip();
        let metrics = Metrics {
            min_rtt,
            smoothed_rtt,
            latest_rtt: connection.last_sample().rtt,
            window_bytes: connection.window_bytes(),
            in_flight_bytes: connection.in_flight_bytes(),
            ssthresh_bytes: connection.ssthresh_bytes(),
            pacing_bytes_per_s: connection.pacing_bytes_per_s(),
        };
        state.records.metrics(now, metrics);
        if let Some(exit) = connection.exit().filter(|_| !state.exited) {
            state.records.exit(exit);
        }
        state.exited = connection.exit().is_some();
        state.records.congestion(
            now,
            if connection.recovering() {
                Congestion::Recovery
            } else if connection.phase() == Phase::Done {
                Congestion::Avoidance
            } else {
                Congestion::SlowStart
            },
        );
    }
}

impl<W> fmt::Debug for Records<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").finish_non_exhaustive()
    }
}

impl<W: Write> Records<W> {
    /// Begins with the head of a file whose title is `title`.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn new(mut to: W, title: &str, vantage_point: VantagePoint) -> io::Result<Self> {
        let title = escaped(title);
        let side = match vantage_point {
            VantagePoint::Client => "client",
            VantagePoint::Server => "server",
        };
        writeln!(
            to,
            "{RECORD}{{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\",\"serialization_format\":\"application/qlog+json-seq\",\
             \"title\":\"{title}\",\"trace\":{{\"common_fields\":{{\"time_format\":\"relative_to_epoch\",\
             \"reference_time\":{{\"clock_type\":\"monotonic\",\"epoch\":\"unknown\"}}}},\
             \"vantage_point\":{{\"type\":\"{side}\"}},\"event_schemas\":[\"{QUIC}\",\"{RAMP}\"]}}}}"
        )?;
        Ok(Self { to, failed: None, metrics: Metrics::default(), congestion: None })
    }

    /// What of it has changed, if anything has.
    pub fn metrics(&mut self, now: Time, metrics: Metrics) {
        if metrics != self.metrics {
            let data = metrics.changes(&self.metrics);
            self.metrics = metrics;
            if !data.is_empty() {
                self.event(now, "recovery:metrics_updated", &data);
            }
        }
    }

    /// The end of start-up.
    pub fn exit(&mut self, exit: &Exit) {
        let data = format!(
            "\"reason\":\"{}\",\"evidence\":{},\"limit\":{},\"congestion_window\":{}",
            exit.reason.word(),
            exit.evidence,
            exit.limit,
            exit.window_bytes
        );
        self.event(exit.at, "ramp:startup_exit", &data);
    }

    /// The state, if it is another one.
    pub fn congestion(&mut self, now: Time, state: Congestion) {
        if self.congestion != Some(state) {
            let old = self.congestion.map_or(String::new(), |old| format!("\"old\":\"{}\",", old.word()));
            self.congestion = Some(state);
            let data = format!("{old}\"new\":\"{}\"", state.word());
            self.event(now, "recovery:congestion_state_updated", &data);
        }
    }

    /// Whether a write has failed; nothing was written since.
    pub fn failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Writes what is left; returns what it wrote to.
    ///
    /// # Errors
    ///
    /// The first write that failed.
    pub fn finish(mut self) -> io::Result<W> {
        match self.failed {
            Some(error) => Err(error),
            None => self.to.flush().map(|()| self.to),
        }
    }

    fn event(&mut self, now: Time, name: &str, data: &str) {
        if self.failed() {
            return;
        }
        let time = ms(now);
        let written =
            writeln!(self.to, "{RECORD}{{\"time\":{time},\"name\":\"{name}\",\"data\":{{{data}}}}}");
        self.failed = written.err();
    }
}

impl Metrics {
    /// What differs from before, as fields of `recovery:metrics_updated`. Times of zero are none.
    fn changes(&self, before: &Self) -> String {
        let mut text = String::new();
        let mut field = |name: &str, value: String, changed: bool| {
            if changed {
                let comma = if text.is_empty() { "" } else { "," };
                write!(text, "{comma}\"{name}\":{value}").expect("a string grows");
            }
        };
        let time = |now: Time, before: Time| (ms(now), now != before && now > Time::ZERO);
        for (name, (value, changed)) in [
            ("min_rtt", time(self.min_rtt, before.min_rtt)),
            ("smoothed_rtt", time(self.smoothed_rtt, before.smoothed_rtt)),
            ("latest_rtt", time(self.latest_rtt, before.latest_rtt)),
        ] {
            field(name, value, changed);
        }
        field("congestion_window", self.window_bytes.to_string(), self.window_bytes != before.window_bytes);
        field(
            "bytes_in_flight",
            self.in_flight_bytes.to_string(),
            self.in_flight_bytes != before.in_flight_bytes,
        );
        if let Some(ssthresh) = self.ssthresh_bytes {
            field("ssthresh", ssthresh.to_string(), self.ssthresh_bytes != before.ssthresh_bytes);
        }
        if let Some(rate) = self.pacing_bytes_per_s {
            let bits = rate.saturating_mul(8).to_string();
            field("pacing_rate", bits, self.pacing_bytes_per_s != before.pacing_bytes_per_s);
        }
        text
    }
}

/// Milliseconds, as JSON has numbers.
fn ms(time: Time) -> String {
    format!("{}.{:06}", time.ns() / 1_000_000, time.ns() % 1_000_000)
}

/// Within quotes of JSON.
fn escaped(text: &str) -> String {
    text.chars()
        .flat_map(|c| match c {
            '"' | '\\' => vec!['\\', c],
            c if c.is_control() => vec![' '],
            c => vec![c],
        })
        .collect()
}

//! A connection's course as qlog: metrics after each change, congestion states, and why start-up ended.
//!
//! JSON text sequences (RFC 7464) by draft-ietf-quic-qlog-main-schema-13 and quic-events-12: `recovery:metrics_updated`,
//! `recovery:congestion_state_updated`, and `ramp:startup_exit`, an event of ramp's own schema. Times are milliseconds on the clock of the
//! connection, and rates bits per second.

use std::fmt;
use std::fmt::Write as _;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rampcc::{Phase, Time};

use crate::{Connection, Observer};

/// Of the events of QUIC.
const QUIC: &str = "urn:ietf:params:qlog:events:quic-12";
/// Of `ramp:startup_exit`: its `data` has `reason` (a word), `evidence` and `limit` (numbers in the reason's unit) and
/// `congestion_window` (bytes).
const RAMP: &str = "urn:ramp:qlog:events:startup-1";
const RECORD: char = '\u{1e}';

/// Writes one connection's qlog, as an observer of a factory or of a [`Connection`].
pub struct Qlog<W>(Mutex<State<W>>);

struct State<W> {
    /// `None`: a write has failed.
    to: Option<W>,
    metrics: Metrics,
    congestion: Option<&'static str>,
    exited: bool,
}

#[derive(Clone, Copy, Default, PartialEq)]
struct Metrics {
    min_rtt: Time,
    smoothed_rtt: Time,
    latest_rtt: Time,
    window: u64,
    in_flight: u64,
    ssthresh: Option<u64>,
    pacing_bytes_per_s: Option<u64>,
}

impl<W: Write> Qlog<W> {
    /// Begins with the head of a file whose title is `title`.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn new(mut to: W, title: &str) -> std::io::Result<Self> {
        let title = escaped(title);
        writeln!(
            to,
            "{RECORD}{{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\",\"serialization_format\":\"application/qlog+json-seq\",\
             \"title\":\"{title}\",\"trace\":{{\"common_fields\":{{\"time_format\":\"relative_to_epoch\",\
             \"reference_time\":{{\"clock_type\":\"monotonic\",\"epoch\":\"unknown\"}}}},\
             \"vantage_point\":{{\"type\":\"server\"}},\"event_schemas\":[\"{QUIC}\",\"{RAMP}\"]}}}}"
        )?;
        let state = State { to: Some(to), metrics: Metrics::default(), congestion: None, exited: false };
        Ok(Self(Mutex::new(state)))
    }

    /// What it wrote to; `None`: a write has failed, and nothing was written since.
    pub fn into_inner(self) -> Option<W> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).to
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
            window: connection.window_bytes(),
            in_flight: connection.in_flight_bytes(),
            ssthresh: connection.ssthresh_bytes(),
            pacing_bytes_per_s: connection.pacing_bytes_per_s(),
        };
        if metrics != state.metrics {
            let data = metrics.changes(&state.metrics);
            state.metrics = metrics;
            state.event(now, "recovery:metrics_updated", &data);
        }
        let exited = connection.exit().filter(|_| !state.exited);
        if let Some(exit) = exited {
            let data = format!(
                "\"reason\":\"{}\",\"evidence\":{},\"limit\":{},\"congestion_window\":{}",
                exit.reason.word(),
                exit.evidence,
                exit.limit,
                exit.window_bytes
            );
            state.event(exit.at, "ramp:startup_exit", &data);
        }
        state.exited = connection.exit().is_some();
        let name = if connection.recovering() {
            "recovery"
        } else if connection.phase() == Phase::Done {
            "congestion_avoidance"
        } else {
            "slow_start"
        };
        if state.congestion != Some(name) {
            let old = state.congestion.map_or(String::new(), |old| format!("\"old\":\"{old}\","));
            state.congestion = Some(name);
            state.event(now, "recovery:congestion_state_updated", &format!("{old}\"new\":\"{name}\""));
        }
    }
}

impl<W: Write> State<W> {
    fn event(&mut self, now: Time, name: &str, data: &str) {
        let Some(to) = &mut self.to else { return };
        let time = ms(now);
        if writeln!(to, "{RECORD}{{\"time\":{time},\"name\":\"{name}\",\"data\":{{{data}}}}}").is_err() {
            self.to = None;
        }
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
        field("congestion_window", self.window.to_string(), self.window != before.window);
        field("bytes_in_flight", self.in_flight.to_string(), self.in_flight != before.in_flight);
        if let Some(ssthresh) = self.ssthresh {
            field("ssthresh", ssthresh.to_string(), self.ssthresh != before.ssthresh);
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

//! One run with all its samples and events.

use std::slice;
use std::sync::atomic::AtomicBool;

use arrow_array::{BooleanArray, Float64Array, StringArray, UInt32Array, UInt64Array};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rampcc::{Time, UNSET};
use rampcc_backend::BackendError;
use rampcc_experiment::{Asked, ExperimentError, Row, Run, check, digest, playable};
use rampcc_lab::{RunRecord, definitions, explain_exit};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, LinkSample, Observer};

use crate::asked::{BACKENDS, PathAsked, read};
use crate::table::{Columns, Table};
use crate::work::{Hands, done};

/// What to play.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RunAsked {
    path: PathAsked,
    algorithm: String,
    seed: Option<u64>,
    command: String,
}

/// Everything that was seen.
#[derive(Default)]
struct Seen {
    flows: Vec<FlowSample>,
    links: Vec<LinkSample>,
    events: Vec<FlowEvent>,
}

impl Observer for Seen {
    fn on_flow(&mut self, sample: &FlowSample) {
        self.flows.push(*sample);
    }
    fn on_link(&mut self, sample: &LinkSample) {
        self.links.push(*sample);
    }
    fn on_event(&mut self, event: &FlowEvent) {
        self.events.push(*event);
    }
}

/// What a run comes to.
struct Ran {
    seen: Seen,
    record: RunRecord,
    explanation: String,
}

/// Plays one run: `samples`, `links`, `events` and `metrics`, which are tables, and more.
#[pyfunction]
pub(crate) fn run<'py>(py: Python<'py>, asked: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    let asked: RunAsked = read(asked)?;
    let ran = done(py, &Hands { threads: 1, distribute: None }, |around| play(&asked, around.interrupted))?;
    let result = PyDict::new(py);
    result.set_item("samples", samples(&ran.seen.flows)?)?;
    result.set_item("links", links(&ran.seen.links)?)?;
    result.set_item("events", events(&ran.seen.events)?)?;
    result.set_item("metrics", metrics(&ran.record)?)?;
    result.set_item("algorithm", &ran.record.provenance.arm)?;
    result.set_item("seed", ran.record.provenance.seed)?;
    result.set_item("explanation", ran.explanation)?;
    Ok(result)
}

fn play(asked: &RunAsked, interrupted: &AtomicBool) -> Result<Ran, ExperimentError> {
    let scenario = asked.path.scenario(&[])?;
    let backend = BACKENDS[0];
    let row = Row::parse(&asked.algorithm, BACKENDS)?;
    let mut rows = playable(slice::from_ref(&row), backend, Asked { named: true, alone: true })?.here;
    let row = rows.pop().unwrap_or(row);
    check(backend, &scenario, slice::from_ref(&row))?;
    let digest = digest(&scenario);
    let seed = asked.seed.unwrap_or(scenario.seed);
    let run = Run { seed, ..Run::of(&scenario, &digest, &row, backend) };
    let mut seen = Seen::default();
    let record = run.watch(&asked.command, &mut seen, interrupted).map_err(|error| ExperimentError::Run {
        run: run.to_string(),
        cause: match error {
            BackendError::Interrupted { at } => format!("interrupted at {at} of simulated time"),
            BackendError::Refused(cause) | BackendError::Failed(cause) => cause,
        },
    })?;
    let explanation = explain_exit(&record, &run.context(), None);
    Ok(Ran { seen, record, explanation })
}

/// What is zero, or another stand-in for nothing, is nothing.
fn unless(none: u64, value: u64) -> Option<u64> {
    (value != none).then_some(value)
}

fn some_time(time: Time) -> Option<u64> {
    unless(0, time.ns())
}

/// Columns as in the files of `ramp run`.
fn samples(flows: &[FlowSample]) -> PyResult<Table> {
    let all = |of: fn(&FlowSample) -> u64| flows.iter().map(of);
    let some = |of: fn(&FlowSample) -> Option<u64>| flows.iter().map(of);
    Columns::default()
        .all::<UInt64Array, _>("time_ns", all(|s| s.now.ns()))
        .all::<UInt32Array, _>("flow", flows.iter().map(|s| s.flow))
        .all::<UInt64Array, _>("cwnd_bytes", all(|s| s.cwnd_bytes))
        .with::<UInt64Array, _>("ssthresh_bytes", some(|s| unless(UNSET, s.ssthresh_bytes)))
        .all::<UInt64Array, _>("in_flight_bytes", all(|s| s.in_flight_bytes))
        .all::<UInt64Array, _>("sent_bytes", all(|s| s.sent_bytes))
        .all::<UInt64Array, _>("delivered_bytes", all(|s| s.delivered_bytes))
        .all::<UInt64Array, _>("retransmitted_bytes", all(|s| s.retransmitted_bytes))
        .all::<UInt64Array, _>("lost_bytes", all(|s| s.lost_bytes))
        .with::<UInt64Array, _>("rtt_ns", some(|s| some_time(s.rtt)))
        .with::<UInt64Array, _>("min_rtt_ns", some(|s| some_time(s.min_rtt)))
        .with::<UInt64Array, _>("smoothed_rtt_ns", some(|s| some_time(s.smoothed_rtt)))
        .with::<UInt64Array, _>("pacing_bytes_per_s", some(|s| unless(0, s.pacing_bytes_per_s)))
        .with::<UInt64Array, _>("delivery_bytes_per_s", some(|s| unless(0, s.delivery_bytes_per_s)))
        .with::<UInt64Array, _>("receive_window_bytes", some(|s| unless(u64::MAX, s.receive_window_bytes)))
        .all::<StringArray, _>("phase", flows.iter().map(|s| s.phase.word()))
        .all::<StringArray, _>("state", flows.iter().map(|s| s.state.word()))
        .table()
}

fn links(links: &[LinkSample]) -> PyResult<Table> {
    Columns::default()
        .all::<UInt64Array, _>("time_ns", links.iter().map(|s| s.now.ns()))
        .all::<UInt32Array, _>("link", links.iter().map(|s| s.link))
        .all::<UInt64Array, _>("queue_bytes", links.iter().map(|s| s.queue_bytes))
        .all::<UInt64Array, _>("queue_packets", links.iter().map(|s| s.queue_packets))
        .table()
}

/// What an event has besides its time, flow and word.
#[derive(Default)]
struct Details {
    link: Option<u32>,
    cwnd_bytes: Option<u64>,
    in_flight_bytes: Option<u64>,
    size_bytes: Option<u64>,
    under_test: Option<bool>,
    reason: Option<&'static str>,
    evidence: Option<u64>,
    limit: Option<u64>,
    deciding_sent_ns: Option<u64>,
    backoff: Option<u32>,
    wire_bytes: Option<u32>,
    data: Option<bool>,
    bytes: Option<u64>,
}

impl From<FlowEventKind> for Details {
    fn from(kind: FlowEventKind) -> Self {
        let none = Self::default();
        match kind {
            FlowEventKind::Opened { size_bytes, under_test } => {
                Self { size_bytes: unless(u64::MAX, size_bytes), under_test: Some(under_test), ..none }
            }
            FlowEventKind::StartupExit { reason, evidence, limit, cwnd_bytes, deciding_sent } => Self {
                reason: Some(reason.word()),
                evidence: Some(evidence),
                limit: Some(limit),
                cwnd_bytes: Some(cwnd_bytes),
                deciding_sent_ns: some_time(deciding_sent),
                ..none
            },
            FlowEventKind::RecoveryStart { cwnd_bytes, in_flight_bytes } => {
                Self { cwnd_bytes: Some(cwnd_bytes), in_flight_bytes: Some(in_flight_bytes), ..none }
            }
            FlowEventKind::Timeout { backoff } => Self { backoff: Some(backoff), ..none },
            FlowEventKind::Dropped { link, wire_bytes, data } => {
                Self { link: Some(link), wire_bytes: Some(wire_bytes), data: Some(data), ..none }
            }
            FlowEventKind::Received { bytes }
            | FlowEventKind::Completed { bytes }
            | FlowEventKind::Unfinished { bytes } => Self { bytes: Some(bytes), ..none },
            FlowEventKind::Established
            | FlowEventKind::RecoveryEnd
            | FlowEventKind::Undone
            | FlowEventKind::StartupResumed
            | FlowEventKind::ConnectionLost => none,
        }
    }
}

fn events(events: &[FlowEvent]) -> PyResult<Table> {
    let details: Vec<Details> = events.iter().map(|event| event.kind.into()).collect();
    let count = |of: fn(&Details) -> Option<u64>| details.iter().map(of);
    let small = |of: fn(&Details) -> Option<u32>| details.iter().map(of);
    let truth = |of: fn(&Details) -> Option<bool>| details.iter().map(of);
    Columns::default()
        .all::<UInt64Array, _>("time_ns", events.iter().map(|event| event.now.ns()))
        .all::<UInt32Array, _>("flow", events.iter().map(|event| event.flow))
        .all::<StringArray, _>("event", events.iter().map(|event| event.kind.word()))
        .with::<UInt32Array, _>("link", small(|d| d.link))
        .with::<UInt64Array, _>("cwnd_bytes", count(|d| d.cwnd_bytes))
        .with::<UInt64Array, _>("in_flight_bytes", count(|d| d.in_flight_bytes))
        .with::<UInt64Array, _>("size_bytes", count(|d| d.size_bytes))
        .with::<BooleanArray, _>("under_test", truth(|d| d.under_test))
        .with::<StringArray, _>("reason", details.iter().map(|d| d.reason))
        .with::<UInt64Array, _>("evidence", count(|d| d.evidence))
        .with::<UInt64Array, _>("limit", count(|d| d.limit))
        .with::<UInt64Array, _>("deciding_sent_ns", count(|d| d.deciding_sent_ns))
        .with::<UInt32Array, _>("backoff", small(|d| d.backoff))
        .with::<UInt32Array, _>("wire_bytes", small(|d| d.wire_bytes))
        .with::<BooleanArray, _>("data", truth(|d| d.data))
        .with::<UInt64Array, _>("bytes", count(|d| d.bytes))
        .table()
}

fn metrics(record: &RunRecord) -> PyResult<Table> {
    let known: Vec<_> =
        definitions().into_iter().filter_map(|metric| Some((metric, record.metric(metric.id)?))).collect();
    Columns::default()
        .all::<StringArray, _>("metric", known.iter().map(|(metric, _)| metric.id))
        .all::<StringArray, _>("name", known.iter().map(|(metric, _)| metric.name))
        .all::<StringArray, _>("unit", known.iter().map(|(metric, _)| metric.unit))
        .all::<Float64Array, _>("value", known.iter().map(|(_, value)| *value))
        .table()
}

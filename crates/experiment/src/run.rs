//! One run, from scenario to record.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::AtomicBool;

use rampcc::Time;
use rampcc_backend::{Backend, Play, Played, Result};
use rampcc_lab::flows::{FlowsWanted, Watch};
use rampcc_lab::{Context, Meter, RunKey, RunPath, RunRecord, wire_metrics};
use rampcc_scenario::Scenario;
use rampcc_trace::{Both, Observer, Provenance, Recorder, RecorderOptions};
use serde::{Deserialize, Serialize};

use crate::context::context;
use crate::row::Row;
use crate::version::VERSION;

/// One run to be played.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// The path and its traffic.
    pub scenario: &'a Scenario,
    /// Of that scenario.
    pub digest: &'a str,
    /// Algorithm of the flows under test, and its label.
    pub row: &'a Row,
    /// The former in full ([`Row::steering`]).
    pub steering: Cow<'a, str>,
    /// Backend.
    pub backend: &'a dyn Backend,
    /// For everything random.
    pub seed: u64,
    /// Rounds that the flows stay longer in start-up, for a what-if.
    pub extra_startup_rounds: u32,
    /// What is kept of it beyond what is measured.
    pub kept: Kept,
}

/// What is kept of a run beyond what is measured of every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// True to keep curves for charts.
    pub curves: bool,
    /// Its flows and their progress; `None`: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<FlowsWanted>,
}

impl Kept {
    /// Only curves.
    pub const CURVES: Self = Self { curves: true, flows: None };
}

impl<'a> Run<'a> {
    /// With seed 0, of which nothing is kept but what is measured.
    pub fn of(scenario: &'a Scenario, digest: &'a str, row: &'a Row, backend: &'a dyn Backend) -> Self {
        Self {
            scenario,
            digest,
            row,
            steering: Cow::Owned(row.steering(scenario)),
            backend,
            seed: 0,
            extra_startup_rounds: 0,
            kept: Kept::default(),
        }
    }
}

impl Run<'_> {
    /// Key of the result: everything that decides it, and nothing else. The row's label is not part of it.
    pub fn key(&self) -> RunKey {
        RunKey {
            scenario_hash: self.digest.to_owned(),
            steering: self.steering.clone().into_owned(),
            seed: self.seed,
            version: VERSION.to_owned(),
            backend: self.backend.identity(),
            extra_startup_rounds: self.extra_startup_rounds,
            flows: self.kept.flows,
        }
    }

    /// The scenario as this run plays it.
    pub fn scenario(&self) -> Scenario {
        let mut scenario = self.row.scenario(&self.scenario.at_seed(self.seed));
        for flow in scenario.flows.iter_mut().filter(|f| f.under_test) {
            flow.sender.extra_startup_rounds += self.extra_startup_rounds;
        }
        scenario
    }

    /// Recipe for making this run again.
    pub fn provenance(&self, command: &str) -> Provenance {
        Provenance {
            version: VERSION.to_owned(),
            command: command.to_owned(),
            backend: self.backend.identity(),
            scenario: self.scenario.name.clone(),
            scenario_hash: self.digest.to_owned(),
            scenario_text: self.scenario.text.clone(),
            arm: self.row.label.clone(),
            seed: self.seed,
        }
    }

    /// Facts about the path that this run meets.
    pub fn context(&self) -> Context {
        context(&self.scenario())
    }

    /// What it met, where every run starts elsewhere in the traces.
    fn path(&self, context: &Context, end: Time) -> Option<RunPath> {
        (self.scenario.trace_offset_range > Time::ZERO)
            .then(|| RunPath::new(context, end.secs_f64(), self.kept.curves))
    }

    /// Play it for `observer` alone: here, or where the row's code may run.
    pub fn play(&self, observer: &mut dyn Observer, interrupted: &AtomicBool) -> Result<Played> {
        if let Some(player) = self.row.code.as_ref().and_then(|code| code.player.as_ref()) {
            return player.play(self, observer, interrupted);
        }
        let scenario = self.scenario();
        let play = Play { scenario: &scenario, control: self.row.control(), seed: self.seed };
        self.backend.run(&play, observer, interrupted)
    }

    /// Play it, while `observer` watches as well; what is kept of it is in the record.
    pub fn watch(
        &self,
        command: &str,
        observer: &mut dyn Observer,
        interrupted: &AtomicBool,
    ) -> Result<RunRecord> {
        let scenario = self.scenario();
        let bottleneck = u32::try_from(scenario.bottleneck).into_iter().collect();
        let recorder = Recorder::new(RecorderOptions { links: bottleneck, ..RecorderOptions::default() });
        let context = context(&scenario);
        let flows = self.kept.flows.map(|wanted| (wanted, Watch::new(wanted, &context)));
        let (wanted, flows) = flows.unzip();
        let kept = Both(self.kept.curves.then_some(recorder), flows);
        let mut all = Both(Both(Meter::new(&context), kept), observer);
        let played = self.play(&mut all, interrupted)?;
        let Both(Both(meter, Both(recorder, flows)), _) = all;
        let end = played.outcome.end;
        let series = recorder.map(Recorder::finish);
        let mut measured = meter.finish(end);
        measured.metrics.extend(wire_metrics(played.emulation.as_ref()));
        Ok(RunRecord {
            steering: self.steering.clone().into_owned(),
            flows: wanted.zip(flows.map(Watch::finish)).map(Box::new),
            extra_startup_rounds: self.extra_startup_rounds,
            path: self.path(&context, end),
            emulation: played.emulation,
            ..measured.into_record(self.provenance(command), series)
        })
    }
}

impl fmt::Display for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, seed {}", self.row.label, self.seed)
    }
}

//! What a metric is.

use rampcc_trace::{CpuSample, FlowEvent, FlowSample, LinkSample};
use serde::{Deserialize, Serialize};

use crate::ledger::{Flow, Ledger, TestFlow};

/// One or more values of a run that are found together.
///
/// The [`Ledger`] has already taken in what a metric gets. Several flows under test: a value is the mean over the
/// flows that have one, unless its meaning says otherwise.
pub(crate) trait Metric {
    /// What the values are, in the order of [`Metric::values`].
    fn definitions(&self) -> &'static [Definition];
    /// An ACK reached the sender of a flow under test.
    fn on_flow(&mut self, _context: &crate::Context, _flow: &Flow, _test: &TestFlow, _sample: &FlowSample) {}
    /// A packet reached the bottleneck.
    fn on_link(&mut self, _ledger: &Ledger, _sample: &LinkSample) {}
    /// A while has passed for a host whose processor counts.
    fn on_cpu(&mut self, _sample: &CpuSample) {}
    /// Something happened to any flow.
    fn on_event(&mut self, _ledger: &Ledger, _event: &FlowEvent) {}
    /// The run is over: the values, `None` where the run has none.
    fn values(&mut self, ledger: &Ledger) -> Vec<Option<f64>>;
}

/// Description of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Identifier in files.
    pub id: &'static str,
    /// For people.
    pub name: &'static str,
    /// Unit, as in [`MetricInfo::unit`].
    pub unit: &'static str,
    /// One line.
    pub meaning: &'static str,
    /// Better direction.
    pub better: Better,
}

/// Description of a metric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricInfo {
    /// Identifier in files: `download_time`.
    pub id: String,
    /// For people: `download time`.
    pub name: String,
    /// Unit of the values: `s`, `ms`, `Mbit/s`, `packets`, `bytes`, `BDP`, `share`, `count`, `ratio`.
    pub unit: String,
    /// One line.
    pub meaning: String,
    /// Better direction.
    pub better: Better,
}

/// Better direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// It explains and is not judged.
    Neither,
}

impl From<Definition> for MetricInfo {
    fn from(definition: Definition) -> Self {
        Self {
            id: definition.id.to_owned(),
            name: definition.name.to_owned(),
            unit: definition.unit.to_owned(),
            meaning: definition.meaning.to_owned(),
            better: definition.better,
        }
    }
}

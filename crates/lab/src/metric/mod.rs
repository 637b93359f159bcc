//! Metrics of a run. A metric is one file and one line in [`all`].

mod blackout;
mod capacity;
mod cpu;
mod download;
mod exit;
mod goodput;
mod lag;
mod loss;
mod others;
mod overshoot;
mod queue;
mod startup;
mod wire;

use rampcc_trace::{CpuSample, FlowEvent, FlowSample, LinkSample};

use crate::comparison::{Better, MetricInfo};
use crate::ledger::{Flow, Ledger, TestFlow};

pub(crate) use download::DOWNLOAD_TIME;
pub(crate) use download::{Sizes, at_least_s};
pub(crate) use goodput::GOODPUT;
pub(crate) use others::HARM;
pub use wire::wire_metrics;
pub(crate) use wire::{BURST, BURST_LOST, FIRST_FLIGHT};

/// One or more values of a run that are found together.
///
/// The [`Ledger`] has already taken in what a metric is told. Several flows under test: a value is the mean over the
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

/// All metrics, in the order of reports.
pub(crate) fn all() -> Vec<Box<dyn Metric>> {
    vec![
        Box::new(download::Download),
        Box::new(goodput::Goodput),
        Box::new(exit::Exit),
        Box::new(lag::DetectionLag),
        Box::new(startup::StartupTotals),
        Box::new(overshoot::Overshoot),
        Box::new(capacity::TimeToCapacity::default()),
        Box::new(loss::Loss),
        Box::new(queue::Queue::default()),
        Box::new(blackout::Blackout::default()),
        Box::new(cpu::Cpu::default()),
        Box::new(others::Others),
    ]
}

/// Descriptions of all values, in the order of reports: what a run's own samples and events say, then what the path saw of
/// a program, and harm, which takes two runs, last.
pub fn definitions() -> Vec<Definition> {
    all()
        .iter()
        .flat_map(|metric| metric.definitions().iter().copied())
        .chain(wire::definitions())
        .chain(HARM.iter().map(|harm| harm.definition))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_unique_and_every_value_is_explained() {
        let definitions = definitions();
        let ids: BTreeSet<_> = definitions.iter().map(|d| d.id).collect();
        assert_eq!(ids.len(), definitions.len());
        for definition in definitions {
            assert!(definition.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'));
            assert!(!definition.name.is_empty() && !definition.unit.is_empty());
            assert!(definition.meaning.len() > 10 && !definition.meaning.contains('\n'));
        }
    }

    #[test]
    fn every_metric_gives_as_many_values_as_it_defines() {
        let ledger = Ledger::new(&crate::Context::default());
        for mut metric in all() {
            assert_eq!(metric.values(&ledger).len(), metric.definitions().len());
        }
    }
}

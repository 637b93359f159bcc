//! Watches a run and measures it.

use rampcc::Time;
use rampcc_trace::{CpuSample, FlowEvent, FlowSample, LinkSample, Observer, Provenance, RunSeries};

use crate::ledger::Ledger;
use crate::metric::{self, Metric, Sizes};
use crate::record::Measures;
use crate::{Context, Download, ExitRecord, RunRecord, StayRecord};

/// All metrics of one run, as an [`Observer`].
///
/// It needs samples of the flows under test and of the bottleneck, and events of all flows.
pub struct Meter {
    ledger: Ledger,
    metrics: Vec<Box<dyn Metric>>,
    sizes: Sizes,
}

/// Results of a [`Meter`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurements {
    /// As in [`RunRecord::metrics`].
    pub metrics: Measures,
    /// As in [`RunRecord::exit`].
    pub exit: Option<ExitRecord>,
    /// As in [`RunRecord::stay`].
    pub stay: Option<StayRecord>,
    /// As in [`RunRecord::downloads`].
    pub downloads: Vec<Download>,
    /// As in [`RunRecord::download_at_least_s`].
    pub download_at_least_s: Option<f64>,
}

impl Meter {
    /// A meter for one run over this path.
    pub fn new(context: &Context) -> Self {
        Self { ledger: Ledger::new(context), metrics: metric::all(), sizes: Sizes::default() }
    }

    /// The run ended at `end`.
    pub fn finish(mut self, end: Time) -> Measurements {
        self.ledger.finish(end);
        let mut metrics = Measures::default();
        for metric in &mut self.metrics {
            let values = metric.values(&self.ledger);
            for (definition, value) in metric.definitions().iter().zip(values) {
                if let Some(value) = value.filter(|value| value.is_finite()) {
                    metrics.insert(definition.id.to_owned(), value);
                }
            }
        }
        let exit = self.ledger.under_test().find_map(|(_, test)| test.exit.as_ref());
        Measurements {
            metrics,
            exit: exit.cloned(),
            stay: self.ledger.stay(),
            downloads: self.sizes.downloads(&self.ledger),
            download_at_least_s: metric::at_least_s(&self.ledger),
        }
    }
}

impl Observer for Meter {
    fn on_flow(&mut self, sample: &FlowSample) {
        let Some((context, flow, test)) = self.ledger.take_sample(sample) else { return };
        for metric in &mut self.metrics {
            metric.on_flow(context, flow, test, sample);
        }
    }

    fn on_link(&mut self, sample: &LinkSample) {
        self.ledger.take_link(sample);
        if sample.link != self.ledger.context.bottleneck {
            return;
        }
        for metric in &mut self.metrics {
            metric.on_link(&self.ledger, sample);
        }
    }

    fn on_cpu(&mut self, sample: &CpuSample) {
        for metric in &mut self.metrics {
            metric.on_cpu(sample);
        }
    }

    fn on_event(&mut self, event: &FlowEvent) {
        self.ledger.take_event(event);
        self.sizes.on_event(&mut self.ledger, event);
        for metric in &mut self.metrics {
            metric.on_event(&self.ledger, event);
        }
    }
}

impl Measurements {
    /// The record of a real run.
    pub fn into_record(self, provenance: Provenance, series: Option<RunSeries>) -> RunRecord {
        RunRecord {
            provenance,
            metrics: self.metrics,
            exit: self.exit,
            stay: self.stay,
            downloads: self.downloads,
            download_at_least_s: self.download_at_least_s,
            series,
            ..RunRecord::default()
        }
    }
}

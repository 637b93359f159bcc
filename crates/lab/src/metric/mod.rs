//! Metrics of a run. A metric is one file and one line in `all`.

mod blackout;
mod capacity;
mod cpu;
mod crowd;
mod definition;
mod download;
mod exit;
mod goodput;
mod lag;
mod loss;
mod others;
mod overshoot;
mod queue;
mod shares;
mod startup;
mod wire;
mod write;

pub(crate) use capacity::TIME_TO_CAPACITY;
pub use crowd::{
    DROPPED_PACKETS, FAIRNESS, FLOWS_TIME, FLOWS_TIME_P95, FLOWS_TIME_P99, OTHERS_TIME, OTHERS_TIME_P95,
    OTHERS_TIME_P99, STARTUPS_ENDED, WINDOW_GROWTH,
};
pub(crate) use definition::Metric;
pub use definition::{Better, Definition, MetricInfo};
pub use download::{DOWNLOAD_TIME, UNFINISHED};
pub(crate) use download::{Sizes, at_least_s};
pub use exit::{EXIT_TIME, EXIT_WINDOW_BDP};
pub(crate) use exit::{EXIT_WINDOW, on_wire};
pub use goodput::{GOODPUT, UTILISATION};
pub use loss::{CONNECTIONS_LOST, LOST_PACKETS, RETRANSMISSIONS, TIMEOUTS};
pub use others::{EARLY_RTTS, OTHERS_GOODPUT, OTHERS_LOST_EARLY};
pub(crate) use others::{HARM, HARM_DOWNLOAD_TIME, HARM_GOODPUT, OTHERS_DOWNLOAD_TIME, OTHERS_LOST};
pub use queue::{QUEUE_P95, QUEUE_PEAK};
pub use shares::{SHARES, SHARES_AFTER_S};
pub use startup::{STARTUP_LOST_PACKETS, STARTUP_UTILISATION};
pub use wire::wire_metrics;
pub(crate) use wire::{BURST, BURST_LOST, FIRST_FLIGHT};
pub use write::WRITE_TIME;

/// All metrics, in the order of reports.
pub(crate) fn all() -> Vec<Box<dyn Metric>> {
    vec![
        Box::new(download::Download),
        Box::new(write::WriteTime::default()),
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
        Box::new(others::Others::default()),
        Box::new(shares::Shares::default()),
        Box::new(crowd::Crowd::default()),
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
    use crate::ledger::Ledger;

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

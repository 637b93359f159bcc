//! What the league keeps of a run.

use std::collections::BTreeSet;

use rampcc::Time;
use rampcc_lab::{Context, RunRecord};
use rampcc_trace::{FlowEvent, FlowEventKind, Observer};
use serde::{Deserialize, Serialize};

/// Round trips from the opening of a download in which the others' losses count as caused by its start-up: later ones they would
/// have had anyway.
pub const BESIDE_RTTS: u32 = 20;

/// Metrics that an outcome is made of.
mod metric {
    pub(super) const STARTUP_LOST: &str = "startup_lost_packets";
    pub(super) const DOWNLOAD_TIME: &str = "download_time";
    pub(super) const LOST: &str = "lost_packets";
    pub(super) const RETRANSMISSIONS: &str = "retransmissions";
    pub(super) const TIMEOUTS: &str = "timeouts";
    pub(super) const QUEUE_P95: &str = "queue_p95";
    pub(super) const QUEUE_PEAK: &str = "queue_peak";
    pub(super) const OTHERS_GOODPUT: &str = "others_goodput";
    #[cfg(test)]
    pub(super) const ALL: [&str; 8] =
        [STARTUP_LOST, DOWNLOAD_TIME, LOST, RETRANSMISSIONS, TIMEOUTS, QUEUE_P95, QUEUE_PEAK, OTHERS_GOODPUT];
}

/// One algorithm on one path with one seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Seconds to each size that the path is played for, ascending; `None`: the run ended before.
    pub seconds: Vec<Option<f64>>,
    /// Seconds that the download had, whether it finished or not.
    pub had_s: f64,
    /// Payload bytes of the download that links dropped.
    pub lost_bytes: f64,
    /// Payload bytes that it sent again.
    pub again_bytes: f64,
    /// Packets that it lost in start-up, over those that pipe and buffer hold together; `None`: the buffer has no end, or nobody
    /// saw the end of start-up.
    pub startup_lost: Option<f64>,
    /// Expiries of its retransmission timer.
    pub timeouts: f64,
    /// Queueing delay at the bottleneck that was not exceeded for 95 % of the time, and the longest, seconds.
    pub queue_s: [f64; 2],
    /// Packets that the others lost in the first [`BESIDE_RTTS`] round trips of the download, and their mean goodput in Mbit/s
    /// over the whole run; `None`: nobody else was there.
    pub others: Option<[f64; 2]>,
    /// Why it left start-up, and the window then over the BDP; `None`: it did not leave.
    pub exit: Option<(String, f64)>,
    /// Where it left at an estimate: that, and by how much it said that it may be off, over the BDP.
    #[serde(default)]
    pub estimate: Option<[f64; 2]>,
}

impl Outcome {
    /// Of a run over this path.
    pub(crate) fn new(record: &RunRecord, beside: &Beside, (context, sizes): (&Context, &[u64])) -> Self {
        let known = |id: &str| record.metric(id);
        // Without a value the flow was never opened.
        let counted = |id: &str| known(id).unwrap_or(0.0);
        let mss = f64::from(context.mss_bytes);
        let seconds = |bytes: &u64| {
            let found = record.downloads.iter().find(|download| download.bytes == *bytes);
            found.and_then(|download| download.seconds)
        };
        let startup_lost =
            known(metric::STARTUP_LOST).zip(holds(context)).map(|(lost, holds)| lost * mss / holds.max(1.0));
        Self {
            seconds: sizes.iter().map(seconds).collect(),
            had_s: record.download_at_least_s.or(known(metric::DOWNLOAD_TIME)).unwrap_or(context.end_s),
            lost_bytes: counted(metric::LOST) * mss,
            again_bytes: counted(metric::RETRANSMISSIONS) * mss,
            startup_lost,
            timeouts: counted(metric::TIMEOUTS),
            queue_s: [metric::QUEUE_P95, metric::QUEUE_PEAK].map(|id| counted(id) * 1e-3),
            others: known(metric::OTHERS_GOODPUT).map(|goodput| [beside.lost as f64, goodput]),
            exit: record.exit.as_ref().map(|exit| {
                let window = context.over_bdp(exit.cwnd_bytes as f64).unwrap_or(0.0);
                (exit.reason.word().to_owned(), window)
            }),
            estimate: record.exit.as_ref().filter(|exit| exit.reason.is_estimate()).and_then(|exit| {
                let over_bdp = |bytes: u64| context.over_bdp(bytes as f64);
                Some([over_bdp(exit.limit)?, over_bdp(exit.evidence)?])
            }),
        }
    }
}

/// Bytes that pipe and buffer hold together; `None`: the buffer has no end.
pub(crate) fn holds(context: &Context) -> Option<f64> {
    context.buffer_bytes.map(|buffer| context.bdp_bytes.saturating_add(buffer) as f64)
}

/// Counts what the others lose in the first round trips of the first flow under test.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    window: Time,
    until: Option<Time>,
    under_test: BTreeSet<u32>,
    lost: u64,
}

impl Beside {
    pub(crate) fn new(context: &Context) -> Self {
        let window = Time::from_secs_f64(context.base_rtt_s * f64::from(BESIDE_RTTS));
        Self { window, ..Self::default() }
    }
}

impl Observer for Beside {
    fn on_event(&mut self, event: &FlowEvent) {
        match event.kind {
            FlowEventKind::Opened { under_test: true, .. } => {
                self.under_test.insert(event.flow);
                self.until.get_or_insert(event.now + self.window);
            }
            FlowEventKind::Dropped { data: true, .. } => {
                let now = self.until.is_some_and(|until| event.now <= until);
                self.lost += u64::from(now && !self.under_test.contains(&event.flow));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A metric of another name would count as nothing lost.
    #[test]
    fn the_lab_measures_what_an_outcome_is_made_of() {
        let measured: BTreeSet<_> = rampcc_lab::definitions().into_iter().map(|metric| metric.id).collect();
        for id in metric::ALL {
            assert!(measured.contains(id), "{id}");
        }
    }
}

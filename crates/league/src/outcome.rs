//! What the league reads off a run: a row of its table, against what its path is.

use rampcc_lab::{Context, Emulation, RunRecord, metric};

/// One algorithm on one path with one seed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Seconds to each size that the path is played for, ascending; `None`: the run ended before.
    pub seconds: Vec<Option<f64>>,
    /// Seconds that the download had, whether it finished or not.
    pub had_s: f64,
    /// Payload bytes of the download that links dropped.
    pub lost_bytes: f64,
    /// Payload bytes that it sent again.
    pub again_bytes: f64,
    /// Packets that it lost in start-up, over those that pipe and buffer hold together; `None`: the buffer has no end, or no one
    /// saw the end of start-up.
    pub startup_lost: Option<f64>,
    /// Expiries of its retransmission timer.
    pub timeouts: f64,
    /// Queueing delay at the bottleneck that was not exceeded for 95 % of the time, seconds.
    pub queue_p95_s: f64,
    /// The longest, seconds.
    pub queue_peak_s: f64,
    /// How the others fared; `None`: there were no others.
    pub others: Option<Others>,
    /// Why it left start-up, and the window then over the BDP; `None`: it did not leave.
    pub exit: Option<(String, f64)>,
    /// Where it left at an estimate: that, and by how much it said that it may be off, over the BDP.
    pub estimate: Option<[f64; 2]>,
    /// What a run in real time reports about itself; `None`: its time was virtual.
    pub emulation: Option<Emulation>,
}

/// How the flows fared that are not the download.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Others {
    /// Packets that they lost in the first [`metric::EARLY_RTTS`] round trips of the download.
    pub lost_packets: f64,
    /// Mean goodput over the whole run.
    pub goodput_mbit: f64,
}

impl Outcome {
    /// Of a run over this path, for downloads of these sizes.
    pub(crate) fn new(record: &RunRecord, context: &Context, sizes: &[u64]) -> Self {
        // Without a value the flow was never opened.
        let counted = |metric| record.value(metric).unwrap_or(0.0);
        let mss = f64::from(context.mss_bytes);
        let startup_lost = record.value(metric::STARTUP_LOST_PACKETS).zip(holds(context));
        let others = record.value(metric::OTHERS_LOST_EARLY).zip(record.value(metric::OTHERS_GOODPUT));
        Self {
            seconds: sizes.iter().map(|bytes| record.seconds_to(*bytes)).collect(),
            had_s: (record.download_at_least_s)
                .or(record.value(metric::DOWNLOAD_TIME))
                .unwrap_or(context.end_s),
            lost_bytes: counted(metric::LOST_PACKETS) * mss,
            again_bytes: counted(metric::RETRANSMISSIONS) * mss,
            startup_lost: startup_lost.map(|(lost, holds)| lost * mss / holds.max(1.0)),
            timeouts: counted(metric::TIMEOUTS),
            queue_p95_s: counted(metric::QUEUE_P95) * 1e-3,
            queue_peak_s: counted(metric::QUEUE_PEAK) * 1e-3,
            others: others.map(|(lost_packets, goodput_mbit)| Others { lost_packets, goodput_mbit }),
            exit: record.exit.as_ref().map(|exit| {
                let window = context.over_bdp(exit.cwnd_bytes as f64).unwrap_or(0.0);
                (exit.reason.word().to_owned(), window)
            }),
            estimate: record.exit.as_ref().filter(|exit| exit.reason.is_estimate()).and_then(|exit| {
                let over_bdp = |bytes: u64| context.over_bdp(bytes as f64);
                Some([over_bdp(exit.limit)?, over_bdp(exit.evidence)?])
            }),
            emulation: record.emulation.clone(),
        }
    }

    /// True if its emulation may have changed the answer.
    pub fn is_marked(&self) -> bool {
        self.emulation.as_ref().is_some_and(|emulation| !emulation.marked.is_empty())
    }

    /// Seconds to a size, at least; and whether the run ended before.
    pub fn time(&self, size: usize) -> (f64, bool) {
        let found = self.seconds.get(size).copied().flatten();
        (found.unwrap_or(self.had_s).max(1e-9), found.is_none())
    }
}

/// Bytes that pipe and buffer hold together; `None`: the buffer has no end.
pub(crate) fn holds(context: &Context) -> Option<f64> {
    context.buffer_bytes.map(|buffer| context.bdp_bytes.saturating_add(buffer) as f64)
}

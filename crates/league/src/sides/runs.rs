//! What is kept of a run that is held against another one.

use rampcc_lab::{Context, RunKey, RunRecord};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::log::hexadecimal;

/// Download times of one row on one path with one seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// Seconds to each size that the path is played for, ascending; `None`: the run ended before.
    pub seconds: Vec<Option<f64>>,
    /// Seconds that the download had, whether it finished or not.
    pub had_s: f64,
    /// Why it left start-up; `None`: it did not, or nobody saw it.
    pub exit: Option<String>,
    /// Why its emulation may have changed the answer.
    pub marked: Vec<String>,
    /// Lateness of packets that 99 % did not exceed, and what the path tolerates, microseconds; `None`: its time was virtual.
    pub lateness_us: Option<[f64; 2]>,
}

impl Timed {
    pub(super) fn new(record: &RunRecord, (context, sizes): (&Context, &[u64])) -> Self {
        let seconds = |bytes: &u64| {
            let found = record.downloads.iter().find(|download| download.bytes == *bytes);
            found.and_then(|download| download.seconds)
        };
        let emulation = record.emulation.as_ref();
        Self {
            seconds: sizes.iter().map(seconds).collect(),
            had_s: (record.download_at_least_s).or(record.metric("download_time")).unwrap_or(context.end_s),
            exit: record.exit.as_ref().map(|exit| exit.reason.word().to_owned()),
            marked: emulation.map_or_else(Vec::new, |emulation| emulation.marked.clone()),
            lateness_us: emulation.map(|emulation| [emulation.lateness_p99_us, emulation.tolerated_us]),
        }
    }

    /// Seconds to a size, at least; and whether the run ended before.
    pub fn time(&self, size: usize) -> (f64, bool) {
        let found = self.seconds.get(size).copied().flatten();
        (found.unwrap_or(self.had_s).max(1e-9), found.is_none())
    }

    /// What it is found by: everything that decides it.
    pub(super) fn key(run: &RunKey, sizes: &[u64]) -> String {
        let words = serde_json::to_vec(&(run, sizes, env!("RAMP_LEAGUE_SIDES_SOURCES"))).expect("plain data");
        hexadecimal(&Sha256::digest(words)[..16])
    }
}

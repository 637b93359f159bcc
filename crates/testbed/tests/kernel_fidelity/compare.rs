//! Simulated and recorded runs side by side.

use crate::cases::CASES;
use crate::record;
use crate::run::Run;

/// What the simulator should come within: window and time of the download, and retransmissions.
const AIM: f64 = 0.05;
const AIM_RETRANSMISSIONS: f64 = 0.1;
/// So many packets more or less are no difference.
const FEW_PACKETS: f64 = 3.0;

/// What is beyond the aims, and the heading in `docs/fidelity.md` that says why: case, row, heading.
pub(crate) const EXPLAINED: &[(&str, &str, &str)] = &[
    ("40 Mbit/s, 100 ms, 0.5 BDP", "enhanced_every_ack", CROSSINGS),
    ("40 Mbit/s, 100 ms, 1 BDP", "enhanced_every_ack", CROSSINGS),
    ("40 Mbit/s, 100 ms, 3 BDP", "enhanced_every_ack", CROSSINGS),
    ("100 Mbit/s, 40 ms, 1 BDP", "enhanced_every_ack", CROSSINGS),
    ("GEO, 1.5 BDP", "cubic", TRAIN),
    ("50 Mbit/s, 40 ms, 25 packets", "enhanced_every_ack", CROSSINGS),
    ("LTE, 3 to 40 Mbit/s", "best", CHANCE),
    (JITTER, "cubic_no_hystart", CHANCE),
    (JITTER, "best", CHANCE),
    (JITTER, "paced", CHANCE),
    ("40 Mbit/s, 100 ms, 0.5 BDP", "astart", GAPS),
    ("40 Mbit/s, 100 ms, 0.5 BDP", "swiftstart", GAPS),
    ("40 Mbit/s, 100 ms, 0.5 BDP", "hoe", GAPS),
    ("40 Mbit/s, 100 ms, 0.5 BDP", "bbr", OUTSIDE),
    ("40 Mbit/s, 100 ms, 1 BDP", "astart", GAPS),
    ("40 Mbit/s, 100 ms, 1 BDP", "hoe", GAPS),
    ("40 Mbit/s, 100 ms, 3 BDP", "astart", GAPS),
    ("40 Mbit/s, 100 ms, 3 BDP", "search4", BINS),
    ("40 Mbit/s, 100 ms, 3 BDP", "hoe", GAPS),
    ("40 Mbit/s, 100 ms, 3 BDP", "rapid", FALLING),
    ("100 Mbit/s, 40 ms, 1 BDP", "astart", GAPS),
    ("100 Mbit/s, 40 ms, 1 BDP", "capstart", GAPS),
    ("100 Mbit/s, 40 ms, 1 BDP", "hoe", GAPS),
    ("100 Mbit/s, 40 ms, 1 BDP", "esse", GAPS),
    ("10 Mbit/s, 40 ms, 2 BDP", "hoe", GAPS),
    ("10 Mbit/s, 40 ms, 2 BDP", "rapid", FALLING),
    ("50 Mbit/s, 40 ms, 25 packets", "astart", GAPS),
    ("50 Mbit/s, 40 ms, 25 packets", "swiftstart", TINY),
    ("50 Mbit/s, 40 ms, 25 packets", "quicly", WRITTEN),
    ("50 Mbit/s, 40 ms, 25 packets", "jump", TINY),
    ("50 Mbit/s, 40 ms, 25 packets", "esse", TINY),
    ("50 Mbit/s, 40 ms, 25 packets", "bbr", OUTSIDE),
    ("40 Mbit/s, 60 ms, CoDel", "astart", GAPS),
    ("40 Mbit/s, 60 ms, CoDel", "swiftstart", GAPS),
    ("40 Mbit/s, 60 ms, CoDel", "hoe", GAPS),
    ("40 Mbit/s, 60 ms, CoDel", "tris", OPEN),
    ("40 Mbit/s, 60 ms, CoDel", "bbr", OUTSIDE),
    ("40 Mbit/s, 60 ms, 0.1 % lost", "astart", GAPS),
    ("40 Mbit/s, 60 ms, 0.1 % lost", "hoe", GAPS),
    ("40 Mbit/s, 60 ms, one ACK in four", "astart", GAPS),
    ("40 Mbit/s, 60 ms, one ACK in four", "bbr", OUTSIDE),
    ("40 Mbit/s, 60 ms, ACKs held for 4 ms", "astart", GAPS),
    ("40 Mbit/s, 60 ms, ACKs held for 4 ms", "swiftstart", GAPS),
    ("40 Mbit/s, 60 ms, ACKs held for 4 ms", "rapid", FALLING),
    ("40 Mbit/s, 60 ms, ACKs held for 4 ms", "bbr", OUTSIDE),
    ("25 Mbit/s, 150 ms, 2 BDP, 0.05 % lost", "astart", GAPS),
    ("25 Mbit/s, 150 ms, 2 BDP, 0.05 % lost", "rapid", FALLING),
];

const GAPS: &str = "Rows that measure single gaps";
const FALLING: &str = "Rapid Start's falling threshold";
const BINS: &str = "Bins of time";
const TINY: &str = "A queue of 25 packets";
const WRITTEN: &str = "What a server has written";
const OUTSIDE: &str = "Linux's BBR seen from outside";
const OPEN: &str = "Not explained";
const TRAIN: &str = "HyStart's ACK train on a busy machine";
const CROSSINGS: &str = "Enhanced Start's crossings";
const CHANCE: &str = "What chance decides";
const JITTER: &str = "60 Mbit/s, 75 ms, 0.7 BDP, 2 ms of jitter";

/// Median and range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

/// One quantity in the simulator and in the kernel; `None`: in more than half of the runs there was none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) simulated: Option<Spread>,
    pub(crate) kernel: Option<Spread>,
}

/// One line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Compared {
    pub(crate) case: &'static str,
    pub(crate) row: &'static str,
    pub(crate) reason: [String; 2],
    pub(crate) exit_window: Pair,
    pub(crate) exit_s: Pair,
    pub(crate) download_s: Pair,
    pub(crate) retransmissions: Pair,
    /// Runs in the kernel, and of them those that the machine disturbed.
    pub(crate) runs: usize,
    pub(crate) disturbed: usize,
}

/// Every recorded row of every case, with the seeds that were recorded.
pub(crate) fn all() -> Vec<Compared> {
    let recorded = record::read();
    let mut all = Vec::new();
    for case in &CASES {
        for (row, arm) in case.rows() {
            let kernel: Vec<_> = recorded.iter().filter(|r| r.case == case.name && r.row == row).collect();
            if kernel.is_empty() {
                continue;
            }
            let simulated: Vec<Run> = kernel.iter().map(|run| Run::simulated(case, arm, run.seed)).collect();
            let disturbed = kernel.iter().filter(|run| run.verdict != "ok").count();
            let kernel: Vec<Run> = kernel.into_iter().map(|run| run.run.clone()).collect();
            let pair = |value: fn(&Run) -> Option<f64>| Pair {
                simulated: Spread::of(&simulated, value),
                kernel: Spread::of(&kernel, value),
            };
            all.push(Compared {
                case: case.name,
                row,
                reason: [&simulated, &kernel].map(|runs| usual_reason(runs)),
                exit_window: pair(|run| run.exit_window),
                exit_s: pair(|run| run.exit_s),
                download_s: pair(|run| run.download_s),
                retransmissions: pair(|run| Some(run.retransmissions)),
                runs: kernel.len(),
                disturbed,
            });
        }
    }
    all
}

impl Spread {
    fn of(runs: &[Run], value: fn(&Run) -> Option<f64>) -> Option<Self> {
        let mut values: Vec<f64> = runs.iter().filter_map(value).collect();
        values.sort_by(f64::total_cmp);
        if 2 * values.len() <= runs.len() {
            return None;
        }
        let middle = values.len() / 2;
        let median =
            if values.len() % 2 == 1 { values[middle] } else { values[middle - 1].midpoint(values[middle]) };
        Some(Self { median, least: values[0], most: values[values.len() - 1] })
    }
}

impl Pair {
    /// (simulated - kernel) / kernel of the medians.
    pub(crate) fn difference(&self) -> Option<f64> {
        let (simulated, kernel) = (self.simulated?.median, self.kernel?.median);
        Some(if simulated.total_cmp(&kernel).is_eq() { 0.0 } else { simulated / kernel - 1.0 })
    }

    /// Whether they are further apart than `aim`.
    fn beyond(&self, aim: f64, least: f64) -> bool {
        match (self.simulated, self.kernel) {
            (None, None) => false,
            (Some(simulated), Some(kernel)) => {
                (simulated.median - kernel.median).abs() > (aim * kernel.median).max(least)
            }
            _ => true,
        }
    }
}

impl Compared {
    /// Which quantities are beyond their aims.
    pub(crate) fn beyond(&self) -> Vec<&'static str> {
        let quantities = [
            ("exit window", &self.exit_window, AIM, FEW_PACKETS),
            ("download time", &self.download_s, AIM, 0.0),
            ("retransmissions", &self.retransmissions, AIM_RETRANSMISSIONS, FEW_PACKETS),
        ];
        quantities.iter().filter(|(_, pair, aim, least)| pair.beyond(*aim, *least)).map(|q| q.0).collect()
    }

    /// Which heading says why.
    pub(crate) fn heading(&self) -> Option<&'static str> {
        EXPLAINED.iter().find(|(case, row, _)| *case == self.case && *row == self.row).map(|e| e.2)
    }

    /// What is beyond the aims without an explanation.
    pub(crate) fn unexplained(&self) -> Option<String> {
        let beyond = self.beyond();
        (!beyond.is_empty() && self.heading().is_none())
            .then(|| format!("{}, {}: {}", self.case, self.row, beyond.join(", ")))
    }
}

/// Why most runs left start-up.
fn usual_reason(runs: &[Run]) -> String {
    let mut reasons: Vec<&String> = runs.iter().map(|run| &run.reason).collect();
    reasons.sort_by_key(|reason| (runs.iter().filter(|run| run.reason == **reason).count(), *reason));
    reasons.last().map(|reason| (*reason).clone()).unwrap_or_default()
}

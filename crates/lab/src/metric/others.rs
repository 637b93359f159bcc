//! Share of the flows that are not under test.

use super::{Definition, Metric};
use crate::comparison::Better;
use crate::ledger::{Ledger, mean_of};

/// Throughput, completion and losses of everybody else.
#[derive(Debug)]
pub(super) struct Others;

/// A metric that takes two runs with the same seed: one of this algorithm and one of the reference.
#[derive(Debug)]
pub(crate) struct Harm {
    pub(crate) definition: Definition,
    /// Id of the metric of which a share is taken away.
    pub(crate) of: &'static str,
    pub(crate) higher_is_better: bool,
}

const GOODPUT: Definition = Definition {
    id: "others_goodput",
    name: "others' goodput",
    unit: "Mbit/s",
    meaning: "mean goodput of the flows not under test, each over its own lifetime",
    better: Better::Higher,
};

const DOWNLOAD_TIME: Definition = Definition {
    id: "others_download_time",
    name: "others' download time",
    unit: "s",
    meaning: "mean time from opening to last byte of the flows not under test that finished",
    better: Better::Lower,
};

const LOST: Definition = Definition {
    id: "others_lost_packets",
    name: "others' lost packets",
    unit: "packets",
    meaning: "data packets of all flows not under test that links dropped",
    better: Better::Lower,
};

const DEFINITIONS: [Definition; 3] = [GOODPUT, DOWNLOAD_TIME, LOST];

/// Ware et al. 2019: the share of their performance alone (here: beside the yardstick, or the baseline where
/// there is none) that others lose.
pub(crate) const HARM: [Harm; 2] = [
    Harm {
        definition: Definition {
            id: "harm_goodput",
            name: "harm to others' goodput",
            unit: "share",
            meaning: "share of the others' goodput lost against the run of the yardstick with the same seed",
            better: Better::Lower,
        },
        of: GOODPUT.id,
        higher_is_better: true,
    },
    Harm {
        definition: Definition {
            id: "harm_download_time",
            name: "harm to others' download time",
            unit: "share",
            meaning: "share of the others' speed lost, by download time, against the run of the yardstick with the \
                      same seed",
            better: Better::Lower,
        },
        of: DOWNLOAD_TIME.id,
        higher_is_better: false,
    },
];

impl Metric for Others {
    fn definitions(&self) -> &'static [Definition] {
        &DEFINITIONS
    }

    fn values(&mut self, ledger: &Ledger) -> Vec<Option<f64>> {
        let goodput = mean_of(ledger.others().filter_map(|flow| {
            let seconds = (ledger.over(flow) - flow.opened).secs_f64();
            (seconds > 0.0).then(|| flow.received_bytes as f64 * 8e-6 / seconds)
        }));
        let time =
            mean_of(ledger.others().filter_map(|flow| Some((flow.completed? - flow.opened).secs_f64())));
        let lost: u64 = ledger.others().map(|flow| flow.dropped_packets).sum();
        vec![goodput, time, (ledger.others().count() > 0).then_some(lost as f64)]
    }
}

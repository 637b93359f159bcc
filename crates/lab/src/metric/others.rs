//! Share of the flows that are not under test.

use rampcc::Time;
use rampcc_trace::{FlowEvent, FlowEventKind};

use super::{Better, Definition, Metric};
use crate::ledger::{Ledger, mean_of};

/// Round trips from the opening of the first flow under test in which the others' losses count as caused by its start-up: later ones
/// they would have had anyway.
pub const EARLY_RTTS: u32 = 20;

/// Throughput, completion and losses of everybody else.
#[derive(Debug, Default)]
pub(super) struct Others {
    /// When early losses end; `None`: no flow under test has opened.
    early_until: Option<Time>,
    lost_early: u64,
}

/// A metric that takes two runs with the same seed: one of this algorithm and one of the reference.
#[derive(Debug)]
pub(crate) struct Harm {
    pub(crate) definition: Definition,
    /// Id of the metric of which a share is taken away.
    pub(crate) of: &'static str,
    pub(crate) higher_is_better: bool,
}

/// Others' goodput.
pub const OTHERS_GOODPUT: Definition = Definition {
    id: "others_goodput",
    name: "others' goodput",
    unit: "Mbit/s",
    meaning: "mean goodput of the flows not under test, each over its own lifetime; no value of traffic at a constant rate",
    better: Better::Higher,
};

pub(crate) const OTHERS_DOWNLOAD_TIME: Definition = Definition {
    id: "others_download_time",
    name: "others' download time",
    unit: "s",
    meaning: "mean time from opening to last byte of the flows not under test that finished",
    better: Better::Lower,
};

pub(crate) const OTHERS_LOST: Definition = Definition {
    id: "others_lost_packets",
    name: "others' lost packets",
    unit: "packets",
    meaning: "data packets of all flows not under test that links dropped",
    better: Better::Lower,
};

/// Others' packets lost early.
pub const OTHERS_LOST_EARLY: Definition = Definition {
    id: "others_lost_early",
    name: "others' packets lost early",
    unit: "packets",
    meaning: "data packets of all flows not under test that links dropped in the first 20 base RTTs of the first flow under \
              test",
    better: Better::Lower,
};

const DEFINITIONS: [Definition; 4] = [OTHERS_GOODPUT, OTHERS_DOWNLOAD_TIME, OTHERS_LOST, OTHERS_LOST_EARLY];

/// Ware et al. 2019: the share of their performance alone (here: next to the yardstick, or the baseline where
/// there is none) that others lose.
pub(crate) const HARM: [Harm; 2] = [
    Harm { definition: HARM_GOODPUT, of: OTHERS_GOODPUT.id, higher_is_better: true },
    Harm { definition: HARM_DOWNLOAD_TIME, of: OTHERS_DOWNLOAD_TIME.id, higher_is_better: false },
];

/// Of their rate.
pub(crate) const HARM_GOODPUT: Definition = Definition {
    id: "harm_goodput",
    name: "harm to others' goodput",
    unit: "share",
    meaning: "share of the others' goodput lost against the run of the yardstick with the same seed; negative: they have more",
    better: Better::Lower,
};

/// Of their time.
pub(crate) const HARM_DOWNLOAD_TIME: Definition = Definition {
    id: "harm_download_time",
    name: "harm to others' download time",
    unit: "share",
    meaning: "share of the others' speed lost, by download time, against the run of the yardstick with the same seed; negative: they are faster",
    better: Better::Lower,
};

impl Metric for Others {
    fn definitions(&self) -> &'static [Definition] {
        &DEFINITIONS
    }

    fn on_event(&mut self, ledger: &Ledger, event: &FlowEvent) {
        match event.kind {
            FlowEventKind::Opened { under_test: true, .. } => {
                let window = Time::from_secs_f64(ledger.context.base_rtt_s * f64::from(EARLY_RTTS));
                self.early_until.get_or_insert(event.now + window);
            }
            FlowEventKind::Dropped { data: true, .. }
                if self.early_until.is_some_and(|until| event.now <= until) =>
            {
                self.lost_early += u64::from(ledger.is_other(event.flow));
            }
            _ => {}
        }
    }

    fn values(&mut self, ledger: &Ledger) -> Vec<Option<f64>> {
        let goodput = mean_of(ledger.other_transfers().filter_map(|flow| {
            let seconds = (ledger.over(flow) - flow.opened).secs_f64();
            (seconds > 0.0).then(|| flow.received_bytes as f64 * 8e-6 / seconds)
        }));
        let time =
            mean_of(ledger.others().filter_map(|flow| Some((flow.completed? - flow.opened).secs_f64())));
        let lost: u64 = ledger.others().map(|flow| flow.dropped_packets).sum();
        let any = ledger.others().next().is_some();
        vec![goodput, time, any.then_some(lost as f64), any.then_some(self.lost_early as f64)]
    }
}

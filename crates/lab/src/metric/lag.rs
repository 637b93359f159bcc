//! Lead of the window over the evidence that decided.

use super::{Better, Definition, Metric};
use crate::ledger::Ledger;

/// From the sending of the packet whose ACK decided to the decision.
#[derive(Debug)]
pub(super) struct DetectionLag;

const DEFINITIONS: [Definition; 3] = [
    Definition {
        id: "detection_lag",
        name: "detection lag",
        unit: "s",
        meaning: "from the sending of the packet whose ACK decided on the exit to that decision",
        better: Better::Lower,
    },
    Definition {
        id: "deciding_window_bdp",
        name: "deciding window",
        unit: "BDP",
        meaning: "congestion window when the packet whose ACK decided was sent: what was judged",
        better: Better::Neither,
    },
    Definition {
        id: "detection_growth",
        name: "growth during the lag",
        unit: "ratio",
        meaning: "window just before the decision over the window that was judged",
        better: Better::Lower,
    },
];

impl Metric for DetectionLag {
    fn definitions(&self) -> &'static [Definition] {
        &DEFINITIONS
    }

    fn values(&mut self, ledger: &Ledger) -> Vec<Option<f64>> {
        let lag = ledger.mean_of(|_, test| {
            let exit = test.exit.as_ref()?;
            Some(exit.at_s - exit.deciding_sent_s?)
        });
        let judged = ledger.mean_of(|_, test| Some(test.exit.as_ref()?.deciding_cwnd_bytes? as f64));
        let growth = ledger.mean_of(|_, test| {
            let exit = test.exit.as_ref()?;
            let judged = exit.deciding_cwnd_bytes.filter(|bytes| *bytes > 0)?;
            Some(exit.cwnd_before_bytes as f64 / judged as f64)
        });
        vec![lag, judged.and_then(|bytes| ledger.context.over_bdp(bytes)), growth]
    }
}

//! Duration of transfers.

use std::collections::{BTreeMap, BTreeSet};

use rampcc_trace::{FlowEvent, FlowEventKind};

use super::{Better, Definition, Metric};
use crate::ledger::{Ledger, mean_of};
use crate::record;

/// From the opening to the last byte at the receiver.
#[derive(Debug)]
pub(super) struct Download;

/// Download time.
pub const DOWNLOAD_TIME: Definition = Definition {
    id: "download_time",
    name: "download time",
    unit: "s",
    meaning: "from the opening of a flow to its last byte at the receiver; no value where a listed flow does not finish, \
              while generated flows count only if they finish",
    better: Better::Lower,
};

/// Unfinished transfers.
pub const UNFINISHED: Definition = Definition {
    id: "unfinished",
    name: "unfinished transfers",
    unit: "count",
    meaning: "sized flows under test that the end of the run cut off",
    better: Better::Lower,
};

const DEFINITIONS: [Definition; 2] = [DOWNLOAD_TIME, UNFINISHED];

impl Metric for Download {
    fn definitions(&self) -> &'static [Definition] {
        &DEFINITIONS
    }

    fn values(&mut self, ledger: &Ledger) -> Vec<Option<f64>> {
        let time = ledger
            .mean_of(|flow, _| Some((flow.completed? - flow.opened).secs_f64()))
            .filter(|_| at_least_s(ledger).is_none());
        let sized = || ledger.under_test().filter(|(flow, _)| flow.size_bytes.is_some());
        let unfinished = sized().filter(|(flow, _)| flow.completed.is_none()).count();
        vec![time, (sized().count() > 0).then_some(unfinished as f64)]
    }
}

/// What the download time of a run is at least whose end cut one of its listed flows off.
///
/// Where flows are drawn, some are always cut off, and the youngest of them have hardly begun: nothing follows from that.
pub(crate) fn at_least_s(ledger: &Ledger) -> Option<f64> {
    let sized = || ledger.under_test().filter(|(flow, _)| flow.size_bytes.is_some());
    let listed = ledger.under_test().count() == ledger.context.flows_under_test as usize;
    if !listed || sized().all(|(flow, _)| flow.completed.is_some()) {
        return None;
    }
    mean_of(sized().map(|(flow, _)| (ledger.over(flow) - flow.opened).secs_f64()))
}

/// When each flow under test had its first 10 kB, 20 kB, 50 kB, 100 kB, … and everything.
#[derive(Debug, Default)]
pub(crate) struct Sizes {
    flows: BTreeMap<u32, Reached>,
}

#[derive(Debug, Default)]
struct Reached {
    /// Position of the next size in [`series`].
    next: u32,
    /// Seconds since the opening, by position.
    seconds: Vec<f64>,
}

impl Sizes {
    pub(crate) fn on_event(&mut self, ledger: &mut Ledger, event: &FlowEvent) {
        let (FlowEventKind::Received { bytes } | FlowEventKind::Completed { bytes }) = event.kind else {
            return;
        };
        let Some(flow) = ledger.flow(event.flow).filter(|flow| flow.test.is_some()) else { return };
        let reached = self.flows.entry(event.flow).or_default();
        while series(reached.next).is_some_and(|size| size <= bytes) {
            reached.seconds.push((event.now - flow.opened).secs_f64());
            reached.next += 1;
        }
    }

    /// Times by size: means over the flows of at least that size, `None` where one of them did not get there.
    pub(crate) fn downloads(&self, ledger: &Ledger) -> Vec<record::Download> {
        let most = ledger.under_test().map(|(flow, _)| flow.size_bytes.unwrap_or(flow.received_bytes)).max();
        let mut sizes: BTreeSet<u64> =
            (0..).map_while(series).take_while(|size| most.is_some_and(|most| *size <= most)).collect();
        sizes.extend(ledger.context.size_bytes);
        sizes
            .into_iter()
            .map(|bytes| record::Download { bytes, seconds: self.seconds(ledger, bytes) })
            .collect()
    }

    fn seconds(&self, ledger: &Ledger, bytes: u64) -> Option<f64> {
        let long_enough =
            ledger.under_test().filter(|(flow, _)| flow.size_bytes.is_none_or(|size| size >= bytes));
        let times: Option<Vec<f64>> = long_enough
            .map(|(flow, _)| {
                if flow.size_bytes == Some(bytes) {
                    return flow.completed.map(|completed| (completed - flow.opened).secs_f64());
                }
                let position = (0..).map_while(series).position(|size| size >= bytes)?;
                self.flows.get(&flow.id)?.seconds.get(position).copied()
            })
            .collect();
        mean_of(times?.into_iter())
    }
}

/// 10 kB, 20 kB, 50 kB, 100 kB, …; `None` beyond what fits.
fn series(position: u32) -> Option<u64> {
    let step = [1, 2, 5][(position % 3) as usize];
    10_u64.checked_pow(position / 3 + 4).and_then(|power| power.checked_mul(step))
}

//! Duration of transfers.

use std::collections::{BTreeMap, BTreeSet};

use rampcc_trace::{FlowEvent, FlowEventKind};

use super::{Better, Definition, Metric};
use crate::ledger::{Ledger, mean_of};
use crate::{Context, record};

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

const SLOWDOWN: Definition = Definition {
    id: "slowdown",
    name: "slowdown",
    unit: "ratio",
    meaning: "download time over the least that the path allows: one and a half base RTTs, for the handshake and the way of \
              the data, and the size at the full capacity",
    better: Better::Lower,
};

const DEFINITIONS: [Definition; 3] = [DOWNLOAD_TIME, SLOWDOWN, UNFINISHED];

impl Metric for Download {
    fn definitions(&self) -> &'static [Definition] {
        &DEFINITIONS
    }

    fn values(&mut self, ledger: &Ledger) -> Vec<Option<f64>> {
        let time = ledger
            .mean_of(|flow, _| Some((flow.completed? - flow.opened).secs_f64()))
            .filter(|_| at_least_s(ledger).is_none());
        let slowdown = ledger
            .mean_of(|flow, _| {
                let opened_s = flow.opened.secs_f64();
                let least_s = least_s(&ledger.context, opened_s, flow.size_bytes?)?;
                Some((flow.completed?.secs_f64() - opened_s) / least_s)
            })
            .filter(|_| time.is_some());
        let sized = || ledger.under_test().filter(|(flow, _)| flow.size_bytes.is_some());
        let unfinished = sized().filter(|(flow, _)| flow.completed.is_none()).count();
        vec![time, slowdown, (sized().count() > 0).then_some(unfinished as f64)]
    }
}

/// Shortest time in which the path carries so many bytes of a flow that opens then, seconds; `None` where its capacity is unknown
/// or does not suffice.
fn least_s(context: &Context, opened_s: f64, bytes: u64) -> Option<f64> {
    // SYN and SYN-ACK, then the data's own way.
    let way_s = 1.5 * context.base_rtt_s;
    let mut left = bytes as f64;
    for (i, step) in context.capacity.iter().enumerate() {
        let from_s = step.from_s.max(opened_s + way_s);
        let until_s = context.capacity.get(i + 1).map_or(f64::INFINITY, |next| next.from_s);
        let needed_s = left / step.bytes_per_s;
        if needed_s.is_finite() && needed_s <= until_s - from_s {
            return Some(from_s + needed_s - opened_s);
        }
        left -= step.bytes_per_s * (until_s - from_s).max(0.0);
    }
    None
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

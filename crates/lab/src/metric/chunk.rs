//! What a user of an application waits for that writes now and then.

use std::collections::BTreeMap;

use rampcc_trace::{FlowEvent, FlowEventKind};

use super::{Better, Definition, Metric};
use crate::Context;
use crate::context::Chunks;
use crate::ledger::{Flow, Ledger};

/// From each write to its last byte at the receiver.
#[derive(Debug, Default)]
pub(super) struct ChunkTime {
    flows: BTreeMap<u32, Delivered>,
}

/// Chunks of a flow that count and have arrived.
#[derive(Debug, Default)]
struct Delivered {
    chunks: u64,
    /// Their times together, seconds.
    sum_s: f64,
}

impl Delivered {
    /// All chunks before `until` have arrived `since_opened_s` after the flow was opened.
    fn advance(&mut self, until: u64, since_opened_s: f64, interval_s: f64) {
        if until > self.chunks {
            let (from, to) = (self.chunks as f64, until as f64);
            // The first is written when the flow opens, and `from + … + (to - 1)` intervals lie before them all.
            let intervals = (to - from) * (from + to - 1.0) / 2.0;
            self.sum_s += (to - from) * since_opened_s - intervals * interval_s;
            self.chunks = until;
        }
    }
}

/// Writes of a flow that count.
fn counted(context: &Context, chunks: Chunks, flow: &Flow) -> u64 {
    let room_s = context.end_s - chunks.interval_s - flow.opened.secs_f64();
    let written = (room_s / chunks.interval_s + 1.0 + 1e-9).max(0.0) as u64;
    flow.size_bytes.map_or(written, |size| written.min(size / chunks.bytes.max(1)))
}

/// Chunk time.
pub const CHUNK_TIME: Definition = Definition {
    id: "chunk_time",
    name: "chunk time",
    unit: "s",
    meaning: "from the application's write of a chunk to its last byte in order at the receiver, the mean over the chunks written \
              at least one interval before the limit of the run; what the end cuts off counts as lasting until then",
    better: Better::Lower,
};

impl Metric for ChunkTime {
    fn definitions(&self) -> &'static [Definition] {
        &[CHUNK_TIME]
    }

    fn on_event(&mut self, ledger: &Ledger, event: &FlowEvent) {
        let Some(chunks) = ledger.context.chunks else { return };
        let (FlowEventKind::Received { bytes } | FlowEventKind::Completed { bytes }) = event.kind else {
            return;
        };
        let Some(flow) = ledger.tested(event.flow) else { return };
        let whole = (bytes / chunks.bytes.max(1)).min(counted(&ledger.context, chunks, flow));
        let delivered = self.flows.entry(event.flow).or_default();
        delivered.advance(whole, (event.now - flow.opened).secs_f64(), chunks.interval_s);
    }

    fn values(&mut self, ledger: &Ledger) -> Vec<Option<f64>> {
        let Some(chunks) = ledger.context.chunks else { return vec![None] };
        let time = ledger.mean_of(|flow, _| {
            let counted = counted(&ledger.context, chunks, flow);
            let delivered = self.flows.entry(flow.id).or_default();
            delivered.advance(counted, (ledger.end - flow.opened).secs_f64(), chunks.interval_s);
            (counted > 0).then(|| delivered.sum_s / counted as f64)
        });
        vec![time]
    }
}

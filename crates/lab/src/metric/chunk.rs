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

#[cfg(test)]
mod tests {
    use rampcc::Time;
    use rampcc_trace::Observer;

    use super::*;
    use crate::Meter;
    use crate::testing::close;

    /// Of a flow that opens at `opened_ms` and receives so many bytes in order by then.
    fn found(context: &Context, opened_ms: u64, received: &[(u64, u64)], end_ms: u64) -> Option<f64> {
        let mut meter = Meter::new(context);
        let mut tell = |ms, kind| meter.on_event(&FlowEvent { now: Time::from_ms(ms), flow: 0, kind });
        let size_bytes = context.size_bytes.unwrap_or(u64::MAX);
        tell(opened_ms, FlowEventKind::Opened { size_bytes, under_test: true });
        for (ms, bytes) in received {
            tell(*ms, FlowEventKind::Received { bytes: *bytes });
            if *bytes == size_bytes {
                tell(*ms, FlowEventKind::Completed { bytes: *bytes });
            }
        }
        let metrics = meter.finish(Time::from_ms(end_ms)).metrics;
        metrics.iter().find(|(id, _)| id.as_str() == CHUNK_TIME.id).map(|(_, value)| *value)
    }

    /// 50 kB every second from 1 s on: the third chunk waits for the second.
    #[test]
    fn a_chunk_lasts_from_its_write_to_its_last_byte() {
        let chunks = Some(Chunks { bytes: 50_000, interval_s: 1.0 });
        let endless = |end_s| Context { chunks, end_s, ..Context::default() };
        let received =
            [(1_100, 49_999), (1_200, 50_000), (3_300, 99_000), (3_600, 150_000), (4_100, 160_000)];
        // Written at 1, 2 and 3 s.
        close(found(&endless(4.0), 1_000, &received[..4], 4_000).unwrap(), (0.2 + 1.6 + 0.6) / 3.0, 1e-9);
        // The fourth counts with what it had; the fifth was written less than an interval before the limit.
        close(found(&endless(5.9), 1_000, &received, 5_900).unwrap(), (0.2 + 1.6 + 0.6 + 1.9) / 4.0, 1e-9);
        assert_eq!(found(&endless(1.5), 1_000, &received[..2], 1_500), None);

        let two = Context { chunks, end_s: 60.0, size_bytes: Some(100_000), ..Context::default() };
        close(found(&two, 0, &[(300, 50_000), (1_500, 100_000)], 1_500).unwrap(), 0.4, 1e-9);
        assert_eq!(found(&Context { chunks: None, ..two }, 0, &[(700, 100_000)], 700), None);
    }
}

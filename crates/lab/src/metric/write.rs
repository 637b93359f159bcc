//! What a user waits for whose application writes now and then.

use std::collections::BTreeMap;

use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample};

use super::{Better, Definition, Metric};
use crate::Context;
use crate::context::Writes;
use crate::ledger::{Flow, Ledger, TestFlow};

/// From each write to its last byte at the receiver.
#[derive(Debug, Default)]
pub(super) struct WriteTime {
    flows: BTreeMap<u32, Delivered>,
}

/// Write time.
pub const WRITE_TIME: Definition = Definition {
    id: "write_time",
    name: "write time",
    unit: "s",
    meaning: "where the application pauses: from a write to its last byte in order at the receiver, the mean over the writes; what the \
              run's end cuts off counts as lasting until then if it was a chunk written an interval before the limit, or a response that \
              has already lasted longer than that mean",
    better: Better::Lower,
};

/// Writes of a flow that have arrived.
#[derive(Debug, Default)]
struct Delivered {
    writes: u64,
    /// Their times together, seconds.
    sum_s: f64,
    /// When the next response was or will be written, seconds since the start of the run.
    written_s: Option<f64>,
}

impl Delivered {
    /// All chunks before `until` have arrived `since_opened_s` after the flow was opened.
    fn chunks(&mut self, until: u64, since_opened_s: f64, interval_s: f64) {
        if until > self.writes {
            let (from, to) = (self.writes as f64, until as f64);
            // The first is written when the flow opens, and `from + … + (to - 1)` intervals lie before them all.
            let intervals = (to - from) * (from + to - 1.0) / 2.0;
            self.sum_s += (to - from) * since_opened_s - intervals * interval_s;
            self.writes = until;
        }
    }

    fn response(&mut self, now_s: f64) {
        if let Some(written_s) = self.written_s.take() {
            self.writes += 1;
            self.sum_s += (now_s - written_s).max(0.0);
        }
    }

    fn mean_s(&self) -> Option<f64> {
        (self.writes > 0).then(|| self.sum_s / self.writes as f64)
    }
}

/// Chunks of a flow that count.
fn counted(context: &Context, writes: Writes, interval_s: f64, flow: &Flow) -> u64 {
    let room_s = context.end_s - interval_s - flow.opened.secs_f64();
    let written = (room_s / interval_s + 1.0 + 1e-9).max(0.0) as u64;
    flow.size_bytes.map_or(written, |size| written.min(size / writes.bytes.max(1)))
}

impl Metric for WriteTime {
    fn definitions(&self) -> &'static [Definition] {
        &[WRITE_TIME]
    }

    fn on_flow(&mut self, context: &Context, flow: &Flow, _: &TestFlow, sample: &FlowSample) {
        let Some(writes) = context.writes.filter(|writes| writes.interval_s.is_none()) else { return };
        let delivered = self.flows.entry(flow.id).or_default();
        let before = writes.first_bytes.saturating_add(writes.bytes.saturating_mul(delivered.writes));
        if delivered.written_s.is_none() && before > 0 && sample.delivered_bytes >= before {
            delivered.written_s = Some(sample.now.secs_f64() + writes.think_s);
        }
    }

    fn on_event(&mut self, ledger: &Ledger, event: &FlowEvent) {
        let Some(writes) = ledger.context.writes else { return };
        let (FlowEventKind::Received { bytes } | FlowEventKind::Completed { bytes }) = event.kind else {
            return;
        };
        let Some(flow) = ledger.tested(event.flow) else { return };
        let delivered = self.flows.entry(event.flow).or_default();
        let whole = bytes.saturating_sub(writes.first_bytes) / writes.bytes.max(1);
        match writes.interval_s {
            Some(interval_s) => {
                let whole = whole.min(counted(&ledger.context, writes, interval_s, flow));
                delivered.chunks(whole, (event.now - flow.opened).secs_f64(), interval_s);
            }
            None if whole > delivered.writes => {
                if delivered.writes == 0 && writes.first_bytes == 0 {
                    delivered.written_s = Some(flow.opened.secs_f64());
                }
                delivered.response(event.now.secs_f64());
            }
            None => {}
        }
    }

    fn values(&mut self, ledger: &Ledger) -> Vec<Option<f64>> {
        let Some(writes) = ledger.context.writes else { return vec![None] };
        let end_s = ledger.end.secs_f64();
        let time = ledger.mean_of(|flow, _| {
            let delivered = self.flows.entry(flow.id).or_default();
            let so_far_s = delivered.written_s.map_or(0.0, |written_s| end_s - written_s);
            if let Some(interval_s) = writes.interval_s {
                let counted = counted(&ledger.context, writes, interval_s, flow);
                delivered.chunks(counted, end_s - flow.opened.secs_f64(), interval_s);
            } else if so_far_s > delivered.mean_s().unwrap_or(0.0) {
                delivered.response(end_s);
            }
            delivered.mean_s()
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

    /// Of a flow that opens at `opened_ms` and receives, or where so it is said, knows to be delivered so many bytes by then.
    fn found(context: &Context, opened_ms: u64, news: &[(u64, &str, u64)], end_ms: u64) -> Option<f64> {
        let mut meter = Meter::new(context);
        let event = |ms, kind| FlowEvent { now: Time::from_ms(ms), flow: 0, kind };
        let size_bytes = context.size_bytes.unwrap_or(u64::MAX);
        meter.on_event(&event(opened_ms, FlowEventKind::Opened { size_bytes, under_test: true }));
        for (ms, what, bytes) in news {
            if *what == "acknowledged" {
                let now = Time::from_ms(*ms);
                meter.on_flow(&FlowSample { now, delivered_bytes: *bytes, ..FlowSample::default() });
                continue;
            }
            meter.on_event(&event(*ms, FlowEventKind::Received { bytes: *bytes }));
            if *bytes == size_bytes {
                meter.on_event(&event(*ms, FlowEventKind::Completed { bytes: *bytes }));
            }
        }
        let metrics = meter.finish(Time::from_ms(end_ms)).metrics;
        metrics.iter().find(|(id, _)| id.as_str() == WRITE_TIME.id).map(|(_, value)| *value)
    }

    /// 50 kB every second from 1 s on: the third chunk waits for the second.
    #[test]
    fn a_chunk_lasts_from_its_write_to_its_last_byte() {
        let writes = Some(Writes { bytes: 50_000, interval_s: Some(1.0), ..Writes::default() });
        let endless = |end_s| Context { writes, end_s, ..Context::default() };
        let received =
            [(1_100, 49_999), (1_200, 50_000), (3_300, 99_000), (3_600, 150_000), (4_100, 160_000)];
        let received = received.map(|(ms, bytes)| (ms, "received", bytes));
        // Written at 1, 2 and 3 s.
        close(found(&endless(4.0), 1_000, &received[..4], 4_000).unwrap(), (0.2 + 1.6 + 0.6) / 3.0, 1e-9);
        // The fourth counts with what it had; the fifth was written less than an interval before the limit.
        close(found(&endless(5.9), 1_000, &received, 5_900).unwrap(), (0.2 + 1.6 + 0.6 + 1.9) / 4.0, 1e-9);
        assert_eq!(found(&endless(1.5), 1_000, &received[..2], 1_500), None);

        let two = Context { writes, end_s: 60.0, size_bytes: Some(100_000), ..Context::default() };
        let received = [(300, "received", 50_000), (1_500, "received", 100_000)];
        close(found(&two, 0, &received, 1_500).unwrap(), 0.4, 1e-9);
        assert_eq!(found(&Context { writes: None, ..two }, 0, &received, 1_500), None);
    }

    /// A TLS server's 4 kB, then responses of 10 kB, 2 s after all before them was acknowledged.
    #[test]
    fn a_response_lasts_from_its_write_and_not_from_its_request() {
        let tls = Writes { bytes: 10_000, interval_s: None, think_s: 2.0, first_bytes: 4_000 };
        let context = |writes| Context { writes: Some(writes), end_s: 60.0, ..Context::default() };
        let news = [
            (150, "received", 4_000),
            (200, "acknowledged", 4_000),
            (2_300, "received", 9_000),
            (2_350, "acknowledged", 9_000),
            (2_500, "received", 14_000),
            (2_600, "acknowledged", 14_000),
            (5_100, "received", 24_000),
        ];
        // Written at 2.2 and 4.6 s.
        close(found(&context(tls), 0, &news, 5_200).unwrap(), 0.4, 1e-9);
        // A third has been written at 7.2 s: as long as the others took, it says nothing.
        let third = [&news[..], &[(5_200, "acknowledged", 24_000)]].concat();
        close(found(&context(tls), 0, &third, 7_500).unwrap(), 0.4, 1e-9);
        close(found(&context(tls), 0, &third, 8_400).unwrap(), (0.3 + 0.5 + 1.2) / 3.0, 1e-9);

        let plain = Writes { first_bytes: 0, ..tls };
        let news = [(400, "received", 10_000), (450, "acknowledged", 10_000), (2_600, "received", 20_000)];
        close(found(&context(plain), 100, &news, 2_700).unwrap(), 0.225, 1e-9);
    }
}

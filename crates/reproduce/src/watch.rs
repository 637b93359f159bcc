//! Watches a run and keeps its flows and bins.

use std::collections::BTreeMap;

use rampcc::Time;
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, LinkSample, Observer};

use crate::record::{BINS_MAX, Bins, FLOWS_MAX, FlowBins, FlowExit, FlowRow};

/// Keeps every flow of a run, and the progress of the first ones under test.
pub(crate) struct Watch {
    width: Time,
    bottleneck: u32,
    flows: Vec<Watched>,
    position: BTreeMap<u32, usize>,
    latest: usize,
    /// Of the others and of those under test.
    binned: [usize; 2],
    queue: Vec<u64>,
}

#[derive(Default)]
struct Watched {
    row: FlowRow,
    id: u32,
    opened: Time,
    bins: Option<FlowBins>,
    /// Sum and number of this bin's round-trip times.
    rtts: (f64, f64),
}

impl Watch {
    pub(crate) fn new(width: Time, bottleneck: u32) -> Self {
        Self {
            width,
            bottleneck,
            flows: Vec::new(),
            position: BTreeMap::new(),
            latest: 0,
            binned: [0; 2],
            queue: Vec::new(),
        }
    }

    /// The run is over.
    pub(crate) fn finish(self) -> (Vec<FlowRow>, Bins) {
        let mut rows = Vec::with_capacity(self.flows.len());
        let mut flows = Vec::new();
        for flow in self.flows {
            rows.push(flow.row);
            flows.extend(flow.bins);
        }
        (rows, Bins { width_s: self.width.secs_f64(), flows, queue_bytes: self.queue })
    }

    fn bin(&self, now: Time) -> Option<usize> {
        let bin = usize::try_from(now.ns() / self.width.ns().max(1)).ok()?;
        (bin < BINS_MAX).then_some(bin)
    }

    fn flow(&mut self, id: u32) -> Option<&mut Watched> {
        if self.flows.get(self.latest).is_none_or(|flow| flow.id != id) {
            self.latest = *self.position.get(&id)?;
        }
        self.flows.get_mut(self.latest)
    }

    fn open(&mut self, event: &FlowEvent, size_bytes: u64, under_test: bool) {
        if self.position.contains_key(&event.flow) {
            return;
        }
        self.position.insert(event.flow, self.flows.len());
        let count = &mut self.binned[usize::from(under_test)];
        let binned = *count < FLOWS_MAX;
        *count += usize::from(binned);
        self.flows.push(Watched {
            row: FlowRow {
                test: under_test,
                opened_s: event.now.secs_f64(),
                size_bytes: (size_bytes != u64::MAX).then_some(size_bytes),
                ..FlowRow::default()
            },
            id: event.flow,
            opened: event.now,
            bins: binned.then(|| FlowBins { test: under_test, ..FlowBins::default() }),
            rtts: (0.0, 0.0),
        });
    }
}

/// The column's entry, after what came before it.
fn at<T: Copy>(column: &mut Vec<T>, bin: usize, between: T) -> &mut T {
    if column.len() <= bin {
        column.resize(bin + 1, between);
    }
    &mut column[bin]
}

impl Observer for Watch {
    fn on_flow(&mut self, sample: &FlowSample) {
        let Some(bin) = self.bin(sample.now) else { return };
        let Some(flow) = self.flow(sample.flow) else { return };
        let Some(bins) = flow.bins.as_mut() else { return };
        let before = bins.cwnd_bytes.last().copied().unwrap_or(0);
        *at(&mut bins.cwnd_bytes, bin, before) = sample.cwnd_bytes;
        if sample.rtt == Time::ZERO {
            return;
        }
        if bins.rtt_ms.len() <= bin {
            flow.rtts = (0.0, 0.0);
        }
        flow.rtts = (flow.rtts.0 + sample.rtt.secs_f64() * 1e3, flow.rtts.1 + 1.0);
        *at(&mut bins.rtt_ms, bin, 0.0) = flow.rtts.0 / flow.rtts.1;
    }

    fn on_link(&mut self, sample: &LinkSample) {
        if sample.link != self.bottleneck {
            return;
        }
        if let Some(bin) = self.bin(sample.now) {
            let queue = at(&mut self.queue, bin, 0);
            *queue = (*queue).max(sample.queue_bytes);
        }
    }

    fn on_event(&mut self, event: &FlowEvent) {
        if let FlowEventKind::Opened { size_bytes, under_test } = event.kind {
            self.open(event, size_bytes, under_test);
            return;
        }
        let bin = self.bin(event.now);
        let Some(flow) = self.flow(event.flow) else { return };
        match event.kind {
            FlowEventKind::Dropped { data: true, .. } => {
                flow.row.lost_packets += 1;
                flow.row.lost_in_startup += u32::from(flow.row.exit.is_none());
            }
            FlowEventKind::Timeout { .. } => flow.row.timeouts += 1,
            FlowEventKind::StartupExit { reason, cwnd_bytes, .. } if flow.row.exit.is_none() => {
                flow.row.exit = Some(FlowExit {
                    reason: reason.word().to_owned(),
                    time_s: (event.now - flow.opened).secs_f64(),
                    window_bytes: cwnd_bytes,
                });
            }
            FlowEventKind::StartupResumed => flow.row.exit = None,
            FlowEventKind::Received { bytes } | FlowEventKind::Unfinished { bytes } => {
                flow.receive(bytes, bin);
            }
            FlowEventKind::Completed { bytes } => {
                flow.receive(bytes, bin);
                flow.row.completed_s.get_or_insert(event.now.secs_f64());
            }
            _ => {}
        }
    }
}

impl Watched {
    fn receive(&mut self, bytes: u64, bin: Option<usize>) {
        let more = bytes.saturating_sub(self.row.received_bytes);
        self.row.received_bytes += more;
        if let (Some(bins), Some(bin)) = (self.bins.as_mut(), bin) {
            *at(&mut bins.received_bytes, bin, 0) += more;
        }
    }
}

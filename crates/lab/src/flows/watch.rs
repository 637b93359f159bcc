//! Watches a run and keeps its flows and bins.

use std::collections::BTreeMap;

use rampcc::Time;
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, LinkSample, Observer};

use super::{BINS_MAX, Bins, FLOWS_MAX, FlowBins, FlowExit, FlowRow, Flows, FlowsWanted, ROUNDS_MAX};
use crate::Context;

/// A threshold of at least this many bytes is none.
const UNSET: u64 = 1 << 40;

/// Keeps every flow of a run, and the progress of the first ones under test.
pub struct Watch {
    wanted: FlowsWanted,
    bottleneck: u32,
    mss_bytes: u32,
    flows: Vec<Watched>,
    position: BTreeMap<u32, usize>,
    latest: usize,
    /// The bin that was asked for last, and when it begins and ends.
    bin: usize,
    bin_from: Time,
    bin_until: Time,
    /// Of the others and of those under test.
    binned: [usize; 2],
    together: [Vec<u64>; 2],
    queue: Vec<u64>,
    acks: Option<Acks>,
}

/// The ACKs of a flow by round trip.
#[derive(Default)]
struct Acks {
    flow: Option<u32>,
    /// Time of the last ACK that delivered something, and what was delivered by then.
    last: Option<(Time, u64)>,
    /// What was sent when the round began: an ACK of more ends it.
    round_end_bytes: u64,
    rounds: Vec<Vec<f64>>,
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
    /// For a run over this path.
    pub fn new(wanted: FlowsWanted, context: &Context) -> Self {
        Self {
            wanted,
            bottleneck: context.bottleneck,
            mss_bytes: context.mss_bytes,
            flows: Vec::new(),
            position: BTreeMap::new(),
            latest: 0,
            bin: 0,
            bin_from: Time::ZERO,
            bin_until: Time::ZERO,
            binned: [0; 2],
            together: [Vec::new(), Vec::new()],
            queue: Vec::new(),
            acks: wanted.acks.then(Acks::default),
        }
    }

    /// The run is over.
    pub fn finish(self) -> Flows {
        let mut rows = Vec::with_capacity(self.flows.len());
        let mut flows = Vec::new();
        for mut flow in self.flows {
            rows.push(flow.row);
            // Microseconds: more digits than that are the file's larger half.
            for rtt in flow.bins.iter_mut().flat_map(|bins| &mut bins.rtt_ms) {
                *rtt = (*rtt * 1e3).round() / 1e3;
            }
            flows.extend(flow.bins);
        }
        let bins = Bins {
            width_s: self.wanted.bin.secs_f64(),
            flows,
            together_bytes: self.together,
            queue_bytes: self.queue,
        };
        rows.retain(|flow| flow.test || self.wanted.others);
        let ack_rounds = self.acks.map(|acks| acks.rounds).unwrap_or_default();
        Flows { rows, bins, ack_rounds, mss_bytes: self.mss_bytes }
    }

    fn receive(&mut self, test: bool, more: u64, bin: Option<usize>) {
        if let Some(bin) = bin.filter(|_| more > 0) {
            *at(&mut self.together[usize::from(test)], bin, 0) += more;
        }
    }

    #[inline]
    fn bin(&mut self, now: Time) -> Option<usize> {
        if now < self.bin_from || now >= self.bin_until {
            self.find_bin(now);
        }
        (self.bin < BINS_MAX).then_some(self.bin)
    }

    #[cold]
    fn find_bin(&mut self, now: Time) {
        let width = self.wanted.bin.ns().max(1);
        let bin = now.ns() / width;
        self.bin = usize::try_from(bin).unwrap_or(usize::MAX);
        self.bin_from = Time::from_ns(bin * width);
        self.bin_until = self.bin_from + Time::from_ns(width);
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
        if let Some(acks) = self.acks.as_mut().filter(|_| under_test) {
            acks.flow.get_or_insert(event.flow);
        }
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

impl Acks {
    /// As BEST takes its samples: what an ACK delivers over the time since the one before. A round ends with the ACK of
    /// something that was sent after it began.
    fn note(&mut self, sample: &FlowSample) {
        let delivered = sample.delivered_bytes;
        if self.flow != Some(sample.flow) || self.last.is_some_and(|(_, before)| delivered <= before) {
            return;
        }
        if delivered == 0 {
            return;
        }
        if delivered > self.round_end_bytes {
            self.round_end_bytes = sample.sent_bytes.saturating_sub(sample.retransmitted_bytes);
            if self.rounds.len() == ROUNDS_MAX {
                self.flow = None;
                return;
            }
            self.rounds.push(Vec::new());
        }
        if let Some((then, before)) = self.last.filter(|(then, _)| *then < sample.now)
            && let Some(round) = self.rounds.last_mut()
        {
            round.push((delivered - before) as f64 / (sample.now - then).secs_f64());
        }
        // What ACKs at one instant deliver counts with the next one.
        if self.last.is_none_or(|(then, _)| then < sample.now) {
            self.last = Some((sample.now, delivered));
        }
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
    /// A tenth of a bin: what is told late by that belongs to the bin before.
    fn progress_every(&self) -> Time {
        Time::from_ns((self.wanted.bin.ns() / 10).max(1))
    }

    fn on_flow(&mut self, sample: &FlowSample) {
        if let Some(acks) = &mut self.acks {
            acks.note(sample);
        }
        let Some(bin) = self.bin(sample.now) else { return };
        let Some(flow) = self.flow(sample.flow) else { return };
        let Some(bins) = flow.bins.as_mut() else { return };
        let before = bins.cwnd_bytes.last().copied().unwrap_or(0);
        *at(&mut bins.cwnd_bytes, bin, before) = sample.cwnd_bytes;
        let threshold = if sample.ssthresh_bytes >= UNSET { 0 } else { sample.ssthresh_bytes };
        let before = bins.ssthresh_bytes.last().copied().unwrap_or(0);
        *at(&mut bins.ssthresh_bytes, bin, before) = threshold;
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
        // What a run's end finds has arrived before it.
        let cut_off = matches!(event.kind, FlowEventKind::Unfinished { .. });
        let bin = self.bin(event.now - Time::from_ns(u64::from(cut_off && event.now > Time::ZERO)));
        let Some(flow) = self.flow(event.flow) else { return };
        let test = flow.row.test;
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
                let more = flow.receive(bytes, bin);
                self.receive(test, more, bin);
            }
            FlowEventKind::Completed { bytes } => {
                flow.row.completed_s.get_or_insert(event.now.secs_f64());
                let more = flow.receive(bytes, bin);
                self.receive(test, more, bin);
            }
            _ => {}
        }
    }
}

impl Watched {
    /// Returns how much is new.
    fn receive(&mut self, bytes: u64, bin: Option<usize>) -> u64 {
        let more = bytes.saturating_sub(self.row.received_bytes);
        self.row.received_bytes += more;
        if let (Some(bins), Some(bin)) = (self.bins.as_mut(), bin) {
            *at(&mut bins.received_bytes, bin, 0) += more;
        }
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(acks: bool) -> Watch {
        Watch::new(FlowsWanted { bin: ms(100), acks, others: true }, &Context::default())
    }

    fn ms(ms: u64) -> Time {
        Time::from_ms(ms)
    }

    fn opened(watch: &mut Watch, flow: u32, under_test: bool) {
        let kind = FlowEventKind::Opened { size_bytes: u64::MAX, under_test };
        watch.on_event(&FlowEvent { now: Time::ZERO, flow, kind });
    }

    #[test]
    fn an_acks_bandwidth_is_what_it_delivers_since_the_one_before_in_its_round() {
        let mut watch = watch(true);
        opened(&mut watch, 7, false);
        opened(&mut watch, 8, true);
        // Two packets of 1000 bytes are sent, then four: both ACKs of the first two belong to the first round.
        for (flow, now, delivered_bytes, sent_bytes) in [
            (8, 90, 0, 2000),
            (8, 100, 1000, 2000),
            (7, 101, 9000, 9000),
            (8, 102, 2000, 4000),
            (8, 102, 2000, 6000),
            (8, 200, 3000, 6000),
            (8, 201, 4000, 8000),
            (8, 201, 5000, 8000),
            (8, 203, 6000, 8000),
        ] {
            watch.on_flow(&FlowSample {
                now: ms(now),
                flow,
                delivered_bytes,
                sent_bytes,
                ..FlowSample::default()
            });
        }
        let rounds = watch.finish().ack_rounds;
        let expected = [vec![5e5], vec![1e3 / 0.098, 1e6, 1e6]];
        assert_eq!(rounds.len(), expected.len(), "{rounds:?}");
        for (round, expected) in rounds.iter().zip(&expected) {
            assert_eq!(round.len(), expected.len(), "{rounds:?}");
            assert!(round.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6 * b), "{rounds:?}");
        }
    }

    #[test]
    fn what_many_flows_receive_is_counted_together() {
        let mut watch = watch(false);
        let flows = u32::try_from(FLOWS_MAX).unwrap() + 2;
        for flow in 0..flows {
            opened(&mut watch, flow, true);
            let kind = FlowEventKind::Received { bytes: 1000 };
            watch.on_event(&FlowEvent { now: ms(150), flow, kind });
        }
        let found = watch.finish();
        let lengths = (found.rows.len(), found.bins.flows.len(), found.ack_rounds.len());
        assert_eq!(lengths, (FLOWS_MAX + 2, FLOWS_MAX, 0));
        assert_eq!(found.bins.together_bytes, [vec![], vec![0, 1000 * u64::from(flows)]]);
    }

    #[test]
    fn what_the_end_of_a_run_finds_belongs_to_its_last_bin() {
        let mut watch = watch(false);
        opened(&mut watch, 0, true);
        for (now, kind) in
            [(150, FlowEventKind::Received { bytes: 1000 }), (300, FlowEventKind::Unfinished { bytes: 1500 })]
        {
            watch.on_event(&FlowEvent { now: ms(now), flow: 0, kind });
        }
        assert_eq!(watch.finish().bins.together_bytes[1], [0, 1000, 500]);
    }
}

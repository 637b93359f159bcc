//! State of each flow so far: the facts that metrics share, kept once.

use std::collections::BTreeMap;

use rampcc::{Phase, Time};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, LinkSample};

use crate::exit::{CwndHistory, QueueHistory};
use crate::startup::Startup;
use crate::{Context, ExitRecord, Slowing, StayRecord};

/// Every flow of a run, with the path they share.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) context: Context,
    flows: Vec<Flow>,
    position: BTreeMap<u32, usize>,
    latest: usize,
    /// Flows under test that are open and not complete.
    pub(crate) active: u32,
    queue: QueueHistory,
    /// When the run ended; the time of the latest news until then.
    pub(crate) end: Time,
}

#[derive(Debug, Default)]
pub(crate) struct Flow {
    pub(crate) id: u32,
    /// `None`: without end.
    pub(crate) size_bytes: Option<u64>,
    pub(crate) opened: Time,
    pub(crate) completed: Option<Time>,
    /// In order at the receiver.
    pub(crate) received_bytes: u64,
    pub(crate) dropped_packets: u64,
    pub(crate) timeouts: u64,
    /// A receiver has answered, or has received data.
    pub(crate) answered: bool,
    /// An end has given the connection up.
    pub(crate) lost: bool,
    /// Set for the flows that the compared algorithm steers.
    pub(crate) test: Option<Box<TestFlow>>,
}

/// What is kept of a flow under test beyond that.
#[derive(Debug, Default)]
pub(crate) struct TestFlow {
    /// When data could flow; the opening where nothing else is known.
    pub(crate) established: Time,
    pub(crate) last: FlowSample,
    /// Whether there was any: without them only events are known.
    pub(crate) sampled: bool,
    pub(crate) startup: Startup,
    pub(crate) exit: Option<ExitRecord>,
    /// Whether it has left start-up, be it that it has come back.
    pub(crate) left: bool,
    /// Window of the first sample.
    pub(crate) first_cwnd_bytes: u64,
    pub(crate) largest_cwnd_bytes: u64,
    cwnd: CwndHistory,
    /// When the packet left whose ACK made growth slower: what that saw is judged when start-up ends.
    slower_sent: Option<Time>,
    slowing: Option<Slowing>,
}

impl Ledger {
    pub(crate) fn new(context: &Context) -> Self {
        Self {
            queue: QueueHistory::new(context.base_rtt_s),
            context: context.clone(),
            flows: Vec::new(),
            position: BTreeMap::new(),
            latest: 0,
            active: 0,
            end: Time::ZERO,
        }
    }

    /// Flows under test, in the order in which they were opened.
    pub(crate) fn under_test(&self) -> impl Iterator<Item = (&Flow, &TestFlow)> {
        self.flows.iter().filter_map(|flow| Some((flow, flow.test.as_deref()?)))
    }

    pub(crate) fn others(&self) -> impl Iterator<Item = &Flow> {
        self.flows.iter().filter(|flow| flow.test.is_none())
    }

    /// The others without packets at a constant rate, which no receiver answers: their goodput and time mean nothing.
    pub(crate) fn other_transfers(&self) -> impl Iterator<Item = &Flow> {
        self.others().filter(|flow| flow.answered || flow.size_bytes.is_some())
    }

    /// Whether this flow is open or was, and not under test.
    pub(crate) fn is_other(&self, id: u32) -> bool {
        self.opened(id).is_some_and(|flow| flow.test.is_none())
    }

    /// The flow with this number, if it is under test.
    pub(crate) fn tested(&self, id: u32) -> Option<&Flow> {
        self.opened(id).filter(|flow| flow.test.is_some())
    }

    fn opened(&self, id: u32) -> Option<&Flow> {
        self.position.get(&id).and_then(|position| self.flows.get(*position))
    }

    /// Mean over the flows under test that have a value.
    pub(crate) fn mean_of(&self, mut value: impl FnMut(&Flow, &TestFlow) -> Option<f64>) -> Option<f64> {
        mean_of(self.under_test().filter_map(|(flow, test)| value(flow, test)))
    }

    /// The same over the flows whose samples were recorded.
    pub(crate) fn mean_of_sampled(
        &self,
        mut value: impl FnMut(&Flow, &TestFlow) -> Option<f64>,
    ) -> Option<f64> {
        self.mean_of(|flow, test| if test.sampled { value(flow, test) } else { None })
    }

    /// As in [`crate::RunRecord::stay`].
    pub(crate) fn stay(&self) -> Option<StayRecord> {
        if self.under_test().any(|(_, test)| test.exit.is_some()) {
            return None;
        }
        let (flow, test) = self.under_test().find(|(_, test)| test.sampled)?;
        Some(StayRecord { flow: flow.id, cwnd_bytes: test.last.cwnd_bytes, slowing: test.slowing })
    }

    /// When a flow was over: complete, or the run at its end.
    pub(crate) fn over(&self, flow: &Flow) -> Time {
        flow.completed.unwrap_or(self.end)
    }

    /// The flow, if it was opened.
    pub(crate) fn flow(&mut self, id: u32) -> Option<&mut Flow> {
        if self.flows.get(self.latest).is_none_or(|flow| flow.id != id) {
            self.latest = *self.position.get(&id)?;
        }
        self.flows.get_mut(self.latest)
    }

    /// Take in the sample of a flow under test; `None` if it is not one.
    pub(crate) fn take_sample(&mut self, sample: &FlowSample) -> Option<(&Context, &Flow, &TestFlow)> {
        self.end = self.end.max(sample.now);
        self.flow(sample.flow)?;
        let flow = self.flows.get_mut(self.latest)?;
        let (opened, dropped) = (flow.opened, flow.dropped_packets);
        let test = flow.test.as_deref_mut()?;
        test.last = *sample;
        test.sampled = true;
        if test.first_cwnd_bytes == 0 {
            test.first_cwnd_bytes = sample.cwnd_bytes;
        }
        test.largest_cwnd_bytes = test.largest_cwnd_bytes.max(sample.cwnd_bytes);
        if test.exit.is_none() {
            test.cwnd.push(sample);
            test.slower_sent = match sample.phase {
                Phase::Conservative => test.slower_sent.or(Some(sample.now - sample.rtt)),
                Phase::Startup => None,
                _ => test.slower_sent,
            };
            match sample.phase {
                Phase::Conservative if test.slowing.is_none() => {
                    let queued = self.queue.largest(sample.now - sample.rtt - sample.rtt, sample.now);
                    test.slowing = Some(Slowing {
                        time_s: (sample.now - opened).secs_f64(),
                        cwnd_bytes: sample.cwnd_bytes,
                        rtt_s: sample.rtt.secs_f64(),
                        min_rtt_s: sample.min_rtt.secs_f64(),
                        queueing_s: queued.map(|bytes| self.context.queueing_s(bytes, sample.now.secs_f64())),
                    });
                }
                Phase::Startup => test.slowing = None,
                _ => {}
            }
        }
        test.startup.on_sample(sample, dropped);
        let flow = self.flows.get(self.latest)?;
        Some((&self.context, flow, flow.test.as_deref()?))
    }

    pub(crate) fn take_link(&mut self, sample: &LinkSample) {
        self.end = self.end.max(sample.now);
        if sample.link == self.context.bottleneck && self.active > 0 {
            self.queue.push(sample);
        }
    }

    pub(crate) fn take_event(&mut self, event: &FlowEvent) {
        self.end = self.end.max(event.now);
        if let FlowEventKind::Opened { size_bytes, under_test } = event.kind {
            self.open(event, size_bytes, under_test);
            return;
        }
        let Some(flow) = self.flow(event.flow) else { return };
        flow.answered |= matches!(
            event.kind,
            FlowEventKind::Established | FlowEventKind::Received { .. } | FlowEventKind::Completed { .. }
        );
        match event.kind {
            FlowEventKind::Dropped { data: true, .. } => flow.dropped_packets += 1,
            FlowEventKind::Timeout { .. } => flow.timeouts += 1,
            FlowEventKind::ConnectionLost => flow.lost = true,
            FlowEventKind::Received { bytes } => flow.received_bytes = flow.received_bytes.max(bytes),
            FlowEventKind::Unfinished { bytes } => flow.received_bytes = flow.received_bytes.max(bytes),
            FlowEventKind::Completed { bytes } => {
                flow.received_bytes = flow.received_bytes.max(bytes);
                let first = flow.completed.replace(event.now).is_none();
                if flow.test.is_some() && first {
                    self.active = self.active.saturating_sub(1);
                }
            }
            _ => {}
        }
        self.take_test_event(event);
    }

    /// The run is over.
    pub(crate) fn finish(&mut self, end: Time) {
        self.end = self.end.max(end);
        for flow in &mut self.flows {
            let over = flow.completed.unwrap_or(self.end);
            // The last samples come before the last ACKs.
            let arrived = flow.completed.and(flow.size_bytes).unwrap_or(0);
            if let Some(test) = flow.test.as_deref_mut() {
                let last = FlowSample {
                    delivered_bytes: test.last.delivered_bytes.max(arrived),
                    sent_bytes: test.last.sent_bytes.max(arrived),
                    ..test.last
                };
                test.startup.finish(over, &last, flow.dropped_packets);
            }
        }
    }

    fn open(&mut self, event: &FlowEvent, size_bytes: u64, under_test: bool) {
        if self.position.contains_key(&event.flow) {
            return;
        }
        self.position.insert(event.flow, self.flows.len());
        self.active += u32::from(under_test);
        let test = under_test.then(|| {
            Box::new(TestFlow {
                established: event.now,
                last: FlowSample { now: event.now, flow: event.flow, ..FlowSample::default() },
                ..TestFlow::default()
            })
        });
        self.flows.push(Flow {
            id: event.flow,
            size_bytes: (size_bytes != u64::MAX).then_some(size_bytes),
            opened: event.now,
            test,
            ..Flow::default()
        });
    }

    fn take_test_event(&mut self, event: &FlowEvent) {
        let Some(&position) = self.position.get(&event.flow) else { return };
        let flow = &mut self.flows[position];
        let (opened, dropped) = (flow.opened, flow.dropped_packets);
        let Some(test) = flow.test.as_deref_mut() else { return };
        test.startup.on_event(event, &test.last, dropped);
        test.left |= matches!(event.kind, FlowEventKind::StartupExit { .. });
        match event.kind {
            FlowEventKind::Established => test.established = event.now,
            FlowEventKind::StartupExit { reason, evidence, limit, cwnd_bytes, deciding_sent }
                if test.exit.is_none() =>
            {
                let sent = (deciding_sent != Time::ZERO).then_some(deciding_sent);
                let looked = sent.map(|sent| test.slower_sent.map_or(sent, |slower| sent.min(slower)));
                // What is sent after the packet whose round-trip time was judged did not delay it.
                let way = self.context.before_bottleneck_s.map(Time::from_secs_f64);
                let judged = || {
                    let judged = (reason.unit() == "us").then_some(evidence)?;
                    let arrived = test.cwnd.sent_for(judged)? + way?;
                    let (at, bytes) = self.queue.latest(arrived)?;
                    let waiting_s = self.context.queueing_s(bytes, at.secs_f64());
                    Some((waiting_s - (arrived - at).secs_f64()).max(0.0))
                };
                let longest = || {
                    let queued = self.queue.largest(looked?, event.now)?;
                    Some(self.context.queueing_s(queued, event.now.secs_f64()))
                };
                test.exit = Some(ExitRecord {
                    flow: event.flow,
                    reason,
                    evidence,
                    limit,
                    time_s: (event.now - opened).secs_f64(),
                    at_s: event.now.secs_f64(),
                    cwnd_before_bytes: test.cwnd.latest_before(event.now).unwrap_or(cwnd_bytes),
                    cwnd_bytes,
                    deciding_sent_s: sent.map(Time::secs_f64),
                    deciding_cwnd_bytes: sent.and_then(|sent| test.cwnd.at(sent)),
                    min_rtt_s: (test.last.min_rtt != Time::ZERO).then(|| test.last.min_rtt.secs_f64()),
                    queueing_s: judged().or_else(longest),
                });
                test.cwnd = CwndHistory::default();
            }
            FlowEventKind::StartupResumed => test.exit = None,
            _ => {}
        }
    }
}

/// Mean of what there is; `None` of nothing.
pub(crate) fn mean_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut n) = (0.0, 0.0);
    for value in values {
        sum += value;
        n += 1.0;
    }
    (n > 0.0).then(|| sum / n)
}

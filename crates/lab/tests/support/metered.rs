//! Runs made by hand, and what is found in them.

use std::collections::BTreeMap;

use rampcc::{ExitReason, Time};
use rampcc_lab::{CapacityStep, Context, Measurements, Meter};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, LinkSample, Observer};

pub(crate) const MSS: u64 = 1_000;

/// 1 MB/s of payload, 100 ms, buffer of half a BDP; 10 % of a wire packet is headers.
pub(crate) fn context() -> Context {
    Context {
        description: String::new(),
        words: Vec::new(),
        base_rtt_s: 0.1,
        capacity: vec![CapacityStep { from_s: 0.0, bytes_per_s: 1e6 }],
        drain: Vec::new(),
        before_bottleneck_s: None,
        bdp_bytes: 100_000,
        buffer_bytes: Some(50_000),
        buffer_stated_bdp: None,
        early_drops: String::new(),
        mss_bytes: MSS as u32,
        header_bytes: 100,
        bottleneck: 0,
        size_bytes: Some(500_000),
        flows_under_test: 1,
        endless_flows: None,
        generated: false,
        shared: false,
        application_limited: false,
        writes: None,
        end_s: 10.0,
        chance: true,
    }
}

pub(crate) struct Run {
    pub(crate) meter: Meter,
}

impl Run {
    pub(crate) fn new(context: &Context) -> Self {
        Self { meter: Meter::new(context) }
    }

    pub(crate) fn event(&mut self, ms: u64, flow: u32, kind: FlowEventKind) -> &mut Self {
        self.meter.on_event(&FlowEvent { now: Time::from_ms(ms), flow, kind });
        self
    }

    pub(crate) fn open(&mut self, ms: u64, flow: u32, size_bytes: u64) -> &mut Self {
        self.event(ms, flow, FlowEventKind::Opened { size_bytes, under_test: true });
        self.event(ms, flow, FlowEventKind::Established)
    }

    pub(crate) fn sample(&mut self, ms: u64, change: impl FnOnce(&mut FlowSample)) -> &mut Self {
        let mut sample = FlowSample {
            now: Time::from_ms(ms),
            rtt: Time::from_ms(100),
            min_rtt: Time::from_ms(100),
            ssthresh_bytes: rampcc::UNSET,
            ..FlowSample::default()
        };
        change(&mut sample);
        self.meter.on_flow(&sample);
        self
    }

    pub(crate) fn exit(
        &mut self,
        ms: u64,
        reason: ExitReason,
        cwnd_bytes: u64,
        deciding_sent_ms: u64,
    ) -> &mut Self {
        let deciding_sent = Time::from_ms(deciding_sent_ms);
        let kind = FlowEventKind::StartupExit {
            reason,
            evidence: 120_000,
            limit: 112_500,
            cwnd_bytes,
            deciding_sent,
        };
        self.event(ms, 0, kind)
    }

    pub(crate) fn drops(&mut self, ms: u64, flow: u32, packets: u32) -> &mut Self {
        for _ in 0..packets {
            self.event(ms, flow, FlowEventKind::Dropped { link: 0, wire_bytes: 1_100, data: true });
        }
        self.event(ms, flow, FlowEventKind::Dropped { link: 1, wire_bytes: 40, data: false })
    }

    pub(crate) fn queue(&mut self, ms: u64, queue_bytes: u64) -> &mut Self {
        self.meter.on_link(&LinkSample { now: Time::from_ms(ms), link: 0, queue_bytes, queue_packets: 1 });
        self
    }

    pub(crate) fn finish(self, ms: u64) -> Measurements {
        self.meter.finish(Time::from_ms(ms))
    }
}

#[track_caller]
pub(crate) fn values(found: &Measurements, expected: &[(&str, f64)]) {
    for (id, expected) in expected {
        let value = found.metrics.get(*id).copied();
        assert!(
            value.is_some_and(|value| (value - expected).abs() <= 1e-9 * expected.abs().max(1.0)),
            "{id} is {value:?}, not {expected}; all: {:#?}",
            found.metrics
        );
    }
}

#[track_caller]
pub(crate) fn absent(found: &Measurements, ids: &[&str]) {
    let present: BTreeMap<_, _> = found.metrics.iter().filter(|(id, _)| ids.contains(&id.as_str())).collect();
    assert!(present.is_empty(), "{present:?}");
}

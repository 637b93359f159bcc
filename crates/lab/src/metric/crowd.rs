//! What the flows of a run have together: times of all, losses of all, equal shares.

use std::collections::BTreeMap;

use rampcc::Time;
use rampcc_trace::{FlowEvent, FlowEventKind};

use super::{Better, Definition, Metric};
use crate::ledger::{Flow, Ledger};
use crate::statistics::weighted;

/// When shares are compared, after the first flow under test has opened.
const FAIRNESS_AFTER: Time = Time::from_secs(3);

/// Time of flows.
pub const FLOWS_TIME: Definition = time(
    "flows_time",
    "time of flows",
    "mean time of the flows under test, where there are several flows; one that the run's end cut off counts with what it had",
);
/// Time of flows, 95 %.
pub const FLOWS_TIME_P95: Definition =
    time("flows_time_p95", "time of flows, 95 %", "the same, not exceeded by 95 % of the flows");
/// Time of flows, 99 %.
pub const FLOWS_TIME_P99: Definition =
    time("flows_time_p99", "time of flows, 99 %", "the same, not exceeded by 99 % of the flows");
/// Time of the others.
pub const OTHERS_TIME: Definition = time(
    "others_time",
    "time of the others",
    "mean time of the flows not under test; one that the run's end cut off counts with what it had",
);
/// Time of the others, 95 %.
pub const OTHERS_TIME_P95: Definition =
    time("others_time_p95", "time of the others, 95 %", "the same, not exceeded by 95 % of the flows");
/// Time of the others, 99 %.
pub const OTHERS_TIME_P99: Definition =
    time("others_time_p99", "time of the others, 99 %", "the same, not exceeded by 99 % of the flows");
/// Packets lost by all.
pub const DROPPED_PACKETS: Definition = Definition {
    id: "dropped_packets",
    name: "packets lost by all",
    unit: "packets",
    meaning: "data packets of all flows that links dropped, where there are several flows",
    better: Better::Lower,
};
/// Fairness after 3 s.
pub const FAIRNESS: Definition = Definition {
    id: "fairness_3s",
    name: "fairness after 3 s",
    unit: "ratio",
    meaning: "Jain's index of what several flows under test had received 3 s after the first opened: 1 where all had as much",
    better: Better::Higher,
};
/// Window growth.
pub const WINDOW_GROWTH: Definition = Definition {
    id: "window_growth",
    name: "growth of the window",
    unit: "ratio",
    meaning: "largest window of a flow under test over its first: the flow where that is most",
    better: Better::Neither,
};
/// Start-ups that ended.
pub const STARTUPS_ENDED: Definition = Definition {
    id: "startups_ended",
    name: "start-ups that ended",
    unit: "count",
    meaning: "flows under test that left start-up at least once",
    better: Better::Neither,
};

const DEFINITIONS: [Definition; 10] = [
    FLOWS_TIME,
    FLOWS_TIME_P95,
    FLOWS_TIME_P99,
    OTHERS_TIME,
    OTHERS_TIME_P95,
    OTHERS_TIME_P99,
    DROPPED_PACKETS,
    FAIRNESS,
    WINDOW_GROWTH,
    STARTUPS_ENDED,
];

const fn time(id: &'static str, name: &'static str, meaning: &'static str) -> Definition {
    Definition { id, name, unit: "s", meaning, better: Better::Lower }
}

/// All flows of a run together.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    first: Option<Time>,
    /// Received bytes of the flows under test, until shares are compared.
    received: BTreeMap<u32, u64>,
    compared: bool,
}

impl Metric for Crowd {
    fn definitions(&self) -> &'static [Definition] {
        &DEFINITIONS
    }

    fn on_event(&mut self, _: &Ledger, event: &FlowEvent) {
        // What the event itself brings comes after the instant that was due before it.
        self.compared |= self.first.is_some_and(|first| event.now > first + FAIRNESS_AFTER);
        if self.compared {
            return;
        }
        match event.kind {
            FlowEventKind::Opened { under_test: true, .. } => {
                self.first.get_or_insert(event.now);
                self.received.insert(event.flow, 0);
            }
            FlowEventKind::Received { bytes } => {
                if let Some(received) = self.received.get_mut(&event.flow) {
                    *received = (*received).max(bytes);
                }
            }
            _ => {}
        }
    }

    fn values(&mut self, ledger: &Ledger) -> Vec<Option<f64>> {
        let several = ledger.under_test().count() + ledger.others().count() > 1;
        let own = times(ledger, ledger.under_test().map(|(flow, _)| flow)).filter(|_| several);
        let others = times(ledger, ledger.other_transfers());
        let dropped = ledger.under_test().map(|(flow, _)| flow).chain(ledger.others());
        let dropped: u64 = dropped.map(|flow| flow.dropped_packets).sum();
        let growth = ledger.under_test().filter(|(_, test)| test.sampled);
        let growth =
            growth.map(|(_, test)| test.largest_cwnd_bytes as f64 / test.first_cwnd_bytes.max(1) as f64);
        let growth = growth.reduce(f64::max).map(|growth| growth.max(1.0));
        let any = ledger.under_test().next().is_some();
        let ended = ledger.under_test().filter(|(_, test)| test.left).count();
        let at = |times: Option<[f64; 3]>, which: usize| times.map(|times| times[which]);
        vec![
            at(own, 0),
            at(own, 1),
            at(own, 2),
            at(others, 0),
            at(others, 1),
            at(others, 2),
            several.then_some(dropped as f64),
            (self.received.len() > 1).then(|| jain(&self.received)),
            growth,
            any.then_some(ended as f64),
        ]
    }
}

/// Mean, 95th and 99th percentile, seconds; `None`: there is no flow.
fn times<'a>(ledger: &Ledger, flows: impl Iterator<Item = &'a Flow>) -> Option<[f64; 3]> {
    let mut flows: Vec<&Flow> = flows.collect();
    flows.sort_by_key(|flow| flow.id);
    let time = |flow: &Flow| (ledger.over(flow).max(flow.opened) - flow.opened).secs_f64();
    let seconds: Vec<(f64, f64)> = flows.into_iter().map(|flow| (time(flow), 1.0)).collect();
    let mean = seconds.iter().map(|(seconds, _)| seconds).sum::<f64>() / seconds.len() as f64;
    Some([mean, weighted::quantile(&seconds, 0.95)?, weighted::quantile(&seconds, 0.99)?])
}

/// Jain's index of fairness: 1 where all are equal, 1/n where one has all.
fn jain(shares: &BTreeMap<u32, u64>) -> f64 {
    let sum: f64 = shares.values().map(|share| *share as f64).sum();
    let squares: f64 = shares.values().map(|share| *share as f64 * *share as f64).sum();
    if squares > 0.0 { sum * sum / (shares.len() as f64 * squares) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, Meter};
    use rampcc_trace::Observer;

    #[test]
    fn a_crowd_is_what_its_flows_had() {
        let mut meter = Meter::new(&Context::default());
        let ms = Time::from_ms;
        let mut tell = |at: u64, flow: u32, kind: FlowEventKind| {
            meter.on_event(&FlowEvent { now: ms(at), flow, kind });
        };
        for (flow, under_test) in [(0, true), (1, true), (2, false)] {
            tell(0, flow, FlowEventKind::Opened { size_bytes: 10, under_test });
        }
        tell(500, 0, FlowEventKind::Received { bytes: 300 });
        tell(600, 1, FlowEventKind::Received { bytes: 100 });
        tell(700, 2, FlowEventKind::Dropped { link: 0, wire_bytes: 1500, data: true });
        tell(700, 2, FlowEventKind::Dropped { link: 0, wire_bytes: 40, data: false });
        tell(1000, 0, FlowEventKind::Completed { bytes: 300 });
        tell(4000, 1, FlowEventKind::Received { bytes: 300 });
        tell(5000, 2, FlowEventKind::Completed { bytes: 10 });
        let found = meter.finish(ms(9000)).metrics;
        let value = |metric: Definition| found.value(metric).unwrap();
        let all = |metrics: [Definition; 3]| metrics.map(value).to_vec();
        assert_eq!(all([FLOWS_TIME, FLOWS_TIME_P95, FLOWS_TIME_P99]), [5.0, 9.0, 9.0]);
        assert_eq!(all([OTHERS_TIME, OTHERS_TIME_P95, OTHERS_TIME_P99]), [5.0; 3]);
        assert_eq!(
            (value(DROPPED_PACKETS), value(STARTUPS_ENDED), found.value(WINDOW_GROWTH)),
            (1.0, 0.0, None)
        );
        // 300 and 100 after three seconds.
        assert!((value(FAIRNESS) - 0.8).abs() < 1e-12, "{}", value(FAIRNESS));
        assert!((jain(&[(1, 7), (2, 7), (3, 7)].into()) - 1.0).abs() < 1e-12);
    }
}

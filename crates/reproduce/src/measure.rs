//! The values of a metric in a run.

use rampcc_lab::flows::{FLOWS_MAX, FlowBins, FlowRow, Flows};
use rampcc_lab::statistics::quantile;
use rampcc_lab::{Context, RunRecord, metric};

use crate::expression::trend;
use crate::file::{Take, Whose};
use crate::quantity::{Column, Metric, Of, Quantity};

/// A run with its flows.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// What a comparison keeps.
    pub(crate) record: RunRecord,
    pub(crate) flows: Flows,
}

impl From<RunRecord> for Measured {
    fn from(mut record: RunRecord) -> Self {
        let flows = record.flows.take().map(|both| both.1).unwrap_or_default();
        Self { record, flows }
    }
}

impl Metric {
    pub(crate) fn value(&self, run: &Measured, path: &Context) -> Option<f64> {
        self.take.of(&self.values(run, path))
    }

    /// Every value of a run: one, or one for each flow or bin.
    pub(crate) fn values(&self, run: &Measured, path: &Context) -> Vec<f64> {
        let mut values = match self.quantity {
            Quantity::Lab(definition) => match run.record.value(definition) {
                // A download that was cut off took at least that long.
                None if definition == metric::DOWNLOAD_TIME => {
                    run.record.download_at_least_s.into_iter().collect()
                }
                value => value.into_iter().collect(),
            },
            Quantity::Windowed(definition) => {
                self.windowed(run, path, definition == metric::UTILISATION).into_iter().collect()
            }
            Quantity::Own(own) => self.own(&own.of, run, path),
        };
        for value in &mut values {
            *value *= self.scale;
        }
        values
    }

    fn own(&self, of: &Of, run: &Measured, path: &Context) -> Vec<f64> {
        match of {
            Of::Bin(_) => {
                self.curve(run).into_iter().filter(|(t, _)| self.in_window(*t)).map(|(_, y)| y).collect()
            }
            Of::Run { value, .. } => value(self, run, path).into_iter().collect(),
            Of::Ack => {
                let round = run.flows.ack_rounds.get(self.round.unwrap_or(0));
                round.into_iter().flatten().map(|bytes_per_s| bytes_per_s * 8e-6).collect()
            }
            Of::Flow(value) => self.chosen(run).filter_map(|flow| value(flow, &run.flows)).collect(),
            Of::Left => {
                let counts = |reason: &String| self.left.is_empty() || self.left.contains(reason);
                let left = |flow: &FlowRow| flow.exit.as_ref().is_some_and(|exit| counts(&exit.reason));
                self.chosen(run).map(|flow| f64::from(u8::from(left(flow)))).collect()
            }
        }
    }

    /// Over time, in seconds: the middle of each bin.
    pub(crate) fn curve(&self, run: &Measured) -> Vec<(f64, f64)> {
        let width = run.flows.bins.width_s;
        let flows = || self.binned(run);
        let mss = f64::from(run.flows.mss_bytes.max(1));
        let sum = |column: fn(&FlowBins) -> &[u64], scale: f64| {
            let length = flows().map(|flow| column(flow).len()).max().unwrap_or(0);
            let at = |bin: usize| flows().filter_map(|flow| column(flow).get(bin)).sum::<u64>();
            (0..length).map(|bin| at(bin) as f64 * scale).collect::<Vec<f64>>()
        };
        let kind = self.quantity.column();
        let column: Vec<f64> = match kind {
            // Not all of their windows are kept.
            Some(Column::Window | Column::Threshold)
                if self.flow.is_none() && self.count(run) > FLOWS_MAX =>
            {
                Vec::new()
            }
            Some(Column::Window) => sum(|flow| &flow.cwnd_bytes, 1.0 / mss),
            Some(Column::Threshold) => sum(|flow| &flow.ssthresh_bytes, 1.0 / mss),
            Some(Column::Rtt) => flows().next().map_or(Vec::new(), |flow| flow.rtt_ms.clone()),
            Some(Column::Queue) => run.flows.bins.queue_bytes.iter().map(|bytes| *bytes as f64).collect(),
            Some(Column::Sequence) => {
                let so_far = self.received(run).into_iter().scan(0, |sum, bytes| {
                    *sum += bytes;
                    Some(*sum)
                });
                so_far.map(|bytes| bytes as f64 / mss).collect()
            }
            Some(Column::Throughput) | None => {
                self.received(run).iter().map(|bytes| *bytes as f64 * 8e-6 / width).collect()
            }
        };
        let timed = column.into_iter().enumerate().map(|(bin, y)| ((bin as f64 + 0.5) * width, y));
        let silent = matches!(kind, Some(Column::Rtt | Column::Threshold));
        timed.filter(|(_, y)| !silent || *y > 0.0).collect()
    }

    /// Bytes in order at the receivers of the flows of interest, in each bin: of all of them, not only of the first ones.
    fn received(&self, run: &Measured) -> Vec<u64> {
        let columns: Vec<&[u64]> = if self.flow.is_some() {
            self.binned(run).map(|flow| flow.received_bytes.as_slice()).collect()
        } else {
            let both = run.flows.bins.together_bytes.iter().zip([false, true]);
            both.filter(|(_, test)| self.whose.has(*test)).map(|(bytes, _)| bytes.as_slice()).collect()
        };
        let length = columns.iter().map(|column| column.len()).max().unwrap_or(0);
        (0..length).map(|bin| columns.iter().filter_map(|column| column.get(bin)).sum()).collect()
    }

    /// Number of flows of interest.
    fn count(&self, run: &Measured) -> usize {
        run.flows.rows.iter().filter(|flow| self.whose.has(flow.test)).count()
    }

    /// The flows of interest among those with bins.
    fn binned<'a>(&'a self, run: &'a Measured) -> impl Iterator<Item = &'a FlowBins> {
        let numbered = run.flows.bins.flows.iter().filter(|flow| self.whose.has(flow.test)).enumerate();
        numbered.filter(|(index, _)| self.flow.is_none_or(|flow| flow == *index)).map(|(_, flow)| flow)
    }

    fn in_window(&self, time: f64) -> bool {
        self.window.is_none_or(|(from, to)| (from..to).contains(&time))
    }

    fn windowed(&self, run: &Measured, path: &Context, share: bool) -> Option<f64> {
        let (from, to) = self.window?;
        let width = run.flows.bins.width_s;
        // Of a flow that has no bins nothing is known.
        if self.flow.is_some() && self.binned(run).next().is_none() {
            return None;
        }
        let received: u64 = self
            .received(run)
            .iter()
            .enumerate()
            .filter(|(bin, _)| self.in_window((*bin as f64 + 0.5) * width))
            .map(|(_, bytes)| bytes)
            .sum();
        let bytes = received as f64;
        if share { Some(bytes / path.capacity_bytes(from, to)) } else { Some(bytes * 8e-6 / (to - from)) }
    }

    fn chosen<'a>(&'a self, run: &'a Measured) -> impl Iterator<Item = &'a FlowRow> {
        let fits = move |flow: &&FlowRow| {
            let size = self.size.as_ref();
            size.is_none_or(|size| flow.size_bytes.is_some_and(|bytes| size.contains(&bytes)))
                && self.opened.is_none_or(|(from, to)| (from..to).contains(&flow.opened_s))
        };
        let numbered = run.flows.rows.iter().filter(|flow| self.whose.has(flow.test)).enumerate();
        numbered
            .filter(|(index, _)| self.flow.is_none_or(|flow| flow == *index))
            .map(|(_, flow)| flow)
            .filter(fits)
    }
}

pub(crate) fn zero_time(metric: &Metric, run: &Measured, path: &Context) -> Option<f64> {
    let mut seconds = per_second(&metric.curve(run), run.flows.bins.width_s);
    // Bins end with the last byte, and a flow that is not complete is silent from there on.
    if metric.chosen(run).any(|flow| flow.completed_s.is_none()) {
        seconds.resize(seconds.len().max(run.end_s(path) as usize), 0.0);
    }
    let least = metric.below * path.bytes_per_s_at(0.0) * 8e-6;
    let first = seconds.iter().position(|rate| *rate >= least)?;
    let zero = |(second, rate): &(usize, &f64)| {
        *second > first && **rate < least && metric.in_window(*second as f64 + 0.5)
    };
    Some(seconds.iter().enumerate().filter(zero).count() as f64)
}

pub(crate) fn rtt_correlation(metric: &Metric, run: &Measured, _: &Context) -> Option<f64> {
    let flow = run.flows.bins.flows.iter().find(|flow| flow.test)?;
    let both = flow.rtt_ms.iter().zip(&flow.received_bytes).enumerate();
    let counts = |(bin, rtt_ms): (usize, f64)| {
        rtt_ms > 0.0 && metric.in_window((bin as f64 + 0.5) * run.flows.bins.width_s)
    };
    let chosen = both.filter(|(bin, (rtt, _))| counts((*bin, **rtt)));
    let pairs: Vec<(f64, f64)> = chosen.map(|(_, (rtt, bytes))| (*rtt, *bytes as f64)).collect();
    (pairs.len() > 2).then(|| trend(&pairs))
}

/// How long a flow was there: until it was complete, or until the end of what was seen.
pub(crate) fn until_end(flow: &FlowRow, flows: &Flows) -> Option<f64> {
    Some(flow.completed_s.or(bins_end(flows))? - flow.opened_s)
}

/// In seconds from 0 on.
fn per_second(curve: &[(f64, f64)], width: f64) -> Vec<f64> {
    let mut seconds: Vec<f64> = Vec::new();
    for (time, rate) in curve {
        let second = time.floor() as usize;
        if seconds.len() <= second {
            seconds.resize(second + 1, 0.0);
        }
        seconds[second] += rate * width;
    }
    seconds
}

/// Of the second flow under test against the first one.
pub(crate) fn convergence(_: &Metric, run: &Measured, _: &Context) -> Option<f64> {
    const SHARE: f64 = 0.8;
    const IN_A_ROW: usize = 3;
    let width = run.flows.bins.width_s;
    let rates = |flow: &FlowBins| {
        let timed = flow.received_bytes.iter().enumerate();
        let curve: Vec<(f64, f64)> =
            timed.map(|(bin, bytes)| ((bin as f64 + 0.5) * width, *bytes as f64 * 8e-6 / width)).collect();
        per_second(&curve, width)
    };
    let mut tested = run.flows.bins.flows.iter().filter(|flow| flow.test);
    let (first, second) = (rates(tested.next()?), rates(tested.next()?));
    let opened = run.flows.rows.iter().filter(|flow| flow.test).nth(1)?.opened_s;
    let length = first.len().min(second.len());
    let near: Vec<bool> = first.iter().zip(&second).map(|(a, b)| *b > 0.0 && *b >= SHARE * a).collect();
    let from = (opened.ceil() as usize).min(length);
    let found =
        (from..length.saturating_sub(IN_A_ROW - 1)).find(|at| near[*at..at + IN_A_ROW].iter().all(|n| *n));
    Some(found.unwrap_or(length) as f64 - opened)
}

impl Measured {
    /// The end of the run: of what was seen, or, while flows under test were not complete, of the time that it had.
    fn end_s(&self, path: &Context) -> f64 {
        let waited = self.flows.rows.iter().any(|flow| flow.test && flow.completed_s.is_none());
        if waited { path.end_s } else { bins_end(&self.flows).unwrap_or(0.0) }
    }
}

/// The end of what was seen.
fn bins_end(flows: &Flows) -> Option<f64> {
    let bins = flows.bins.flows.iter().map(|flow| flow.received_bytes.len());
    let bins = bins.chain([flows.bins.queue_bytes.len()]).max()?;
    Some(bins as f64 * flows.bins.width_s)
}

impl Whose {
    fn has(self, test: bool) -> bool {
        match self {
            Self::Test => test,
            Self::Others => !test,
            Self::All => true,
        }
    }
}

impl Take {
    /// One number of many; `None` of nothing.
    pub(crate) fn of(self, values: &[f64]) -> Option<f64> {
        let last = *values.last()?;
        let n = values.len() as f64;
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(match self {
            Self::Mean => values.iter().sum::<f64>() / n,
            Self::Median => quantile(&sorted, 0.5),
            Self::Min => sorted[0],
            Self::Max => sorted[sorted.len() - 1],
            Self::P5 => quantile(&sorted, 0.05),
            Self::P10 => quantile(&sorted, 0.1),
            Self::P25 => quantile(&sorted, 0.25),
            Self::P75 => quantile(&sorted, 0.75),
            Self::P90 => quantile(&sorted, 0.9),
            Self::P95 => quantile(&sorted, 0.95),
            Self::Total => values.iter().sum(),
            Self::Count => n,
            Self::Share => values.iter().filter(|value| **value != 0.0).count() as f64 / n,
            Self::Last => last,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rampcc_lab::flows::Bins;

    /// Two flows under test and another, in bins of half a second: the first has 8 Mbit/s from 1 s on, the second as much from
    /// 4 s on, having opened at 2 s.
    fn run() -> Measured {
        let bins = |from: usize| {
            let received = (0..20).map(|bin| if bin >= from { 500_000 } else { 0 });
            FlowBins {
                test: true,
                received_bytes: received.collect(),
                cwnd_bytes: vec![1000; 20],
                rtt_ms: vec![0.0, 5.0],
                ssthresh_bytes: Vec::new(),
            }
        };
        let flow = |opened_s, test, lost| FlowRow {
            test,
            opened_s,
            completed_s: Some(10.0),
            size_bytes: Some(4_000_000),
            received_bytes: 4_000_000,
            lost_packets: lost,
            ..FlowRow::default()
        };
        Measured {
            record: RunRecord::default(),
            flows: Flows {
                rows: vec![flow(0.0, true, 4), flow(2.0, true, 0), flow(0.0, false, 7)],
                bins: Bins {
                    width_s: 0.5,
                    flows: vec![bins(2), bins(8)],
                    together_bytes: [
                        vec![9; 20],
                        (0..20).map(|bin| 500_000 * (u64::from(bin >= 2) + u64::from(bin >= 8))).collect(),
                    ],
                    queue_bytes: vec![3; 20],
                },
                ack_rounds: vec![vec![1e6], vec![2e6, 4e6]],
                mss_bytes: 1000,
            },
        }
    }

    fn metric(name: &str) -> Metric {
        crate::read::metric::plain(Quantity::named(name).unwrap())
    }

    fn value(metric: &Metric) -> f64 {
        let path = Context {
            capacity: vec![rampcc_lab::CapacityStep { from_s: 0.0, bytes_per_s: 2e6 }],
            ..Context::default()
        };
        metric.value(&run(), &path).unwrap()
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
    }

    #[test]
    fn a_window_counts_what_arrived_in_it() {
        let Some(Quantity::Lab(definition)) = Quantity::named("utilisation") else { panic!() };
        let within = |window, flow| {
            value(&Metric {
                quantity: Quantity::Windowed(definition),
                window: Some(window),
                flow,
                ..metric("utilisation")
            })
        };
        close(within((0.0, 10.0), None), (18.0 + 12.0) * 0.5e6 / 20e6);
        close(within((4.0, 6.0), None), 1.0);
        close(within((4.0, 6.0), Some(1)), 0.5);
        close(within((0.0, 1.0), None), 0.0);
    }

    #[test]
    fn flows_are_chosen_by_whose_they_are_and_by_number() {
        close(value(&metric("flow_lost")), 2.0);
        close(value(&Metric { whose: Whose::Others, ..metric("flow_lost") }), 7.0);
        close(value(&Metric { flow: Some(0), ..metric("flow_lost") }), 4.0);
        close(value(&Metric { take: Take::Share, ..metric("flow_lost") }), 0.5);
        close(value(&Metric { flow: Some(1), ..metric("flow_goodput") }), 4.0);
        close(value(&Metric { opened: Some((1.0, 3.0)), ..metric("flow_time") }), 8.0);
        assert_eq!(
            Metric { size: Some(0..10), ..metric("flow_time") }.value(&run(), &Context::default()),
            None
        );
    }

    #[test]
    fn flows_without_bins_of_their_own_count_together_and_are_no_window() {
        let mut many = run();
        let ninth = FlowRow { test: true, ..FlowRow::default() };
        many.flows.rows.extend(std::iter::repeat_n(ninth, FLOWS_MAX));
        many.flows.bins.together_bytes[1][0] = 1_000_000;
        let path = Context::default();
        let rate = Metric { window: Some((0.0, 0.5)), take: Take::Max, ..metric("throughput") };
        close(rate.value(&many, &path).unwrap(), 16.0);
        assert_eq!(metric("cwnd").value(&many, &path), None, "not all of their windows are known");
        close(Metric { flow: Some(0), ..metric("cwnd") }.value(&many, &path).unwrap(), 1.0);
        assert_eq!(Metric { whose: Whose::Others, ..rate }.value(&many, &path), Some(9.0 * 8e-6 / 0.5));
    }

    #[test]
    fn the_bandwidth_of_acks_is_that_of_one_round() {
        close(value(&Metric { round: Some(1), ..metric("ack_bandwidth") }), 24.0);
        assert_eq!(
            Metric { round: Some(2), ..metric("ack_bandwidth") }.value(&run(), &Context::default()),
            None
        );
    }

    #[test]
    fn convergence_is_when_the_second_flow_has_nearly_as_much() {
        close(value(&metric("convergence_time")), 2.0);
    }

    #[test]
    fn round_trip_times_and_throughput_are_ranked_where_there_were_acks() {
        let mut run = run();
        run.flows.bins.flows[0].rtt_ms = vec![0.0, 5.0, 6.0, 7.0, 8.0];
        run.flows.bins.flows[0].received_bytes = vec![99, 40, 30, 10, 20];
        let mut metric = metric("rtt_correlation");
        let path = Context::default();
        close(metric.value(&run, &path).unwrap(), -0.8);
        metric.window = Some((1.5, 2.5));
        assert_eq!(metric.value(&run, &path), None, "two bins");
    }

    #[test]
    fn time_without_throughput_begins_after_the_first_data() {
        close(value(&Metric { flow: Some(0), ..metric("zero_time") }), 0.0);
        let mut stalled = run();
        stalled.flows.bins.flows[0].received_bytes[6..10].fill(0);
        let path = Context {
            capacity: vec![rampcc_lab::CapacityStep { from_s: 0.0, bytes_per_s: 2e6 }],
            ..Context::default()
        };
        let zero = |run: &Measured, path: &Context| {
            Metric { flow: Some(0), ..metric("zero_time") }.value(run, path).unwrap()
        };
        close(zero(&stalled, &path), 2.0);
        // The rest is not silence of a flow that has all of its bytes, and is that of another one.
        let path = Context { end_s: 15.0, ..path };
        close(zero(&stalled, &path), 2.0);
        stalled.flows.rows[0].completed_s = None;
        close(zero(&stalled, &path), 2.0 + 5.0);
        // A second with a quarter of the rate.
        stalled.flows.bins.flows[0].received_bytes[12] = 0;
        close(zero(&stalled, &path), 2.0 + 5.0);
        let below = Metric { flow: Some(0), below: 0.3, ..metric("zero_time") };
        close(below.value(&stalled, &path).unwrap(), 2.0 + 5.0 + 1.0);
    }

    #[test]
    fn every_name_is_known_once() {
        let names: Vec<&str> = Quantity::names().collect();
        let unique: std::collections::BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(names.len(), unique.len());
        assert!(names.iter().all(|name| Quantity::named(name).is_some()));
    }
}

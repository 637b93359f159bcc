//! The block of data that the charts are drawn from.

use ramp_trace::{FlowSeries, MarkKind, RunSeries};
use serde::Serialize;

use super::charts::{self, Differences, Distribution, Sizes};
use super::number::round;
use super::thin::thin;
use crate::{ArmSummary, Comparison, Context, Representative};

/// Points of all curves of a report together: about 1 MB.
const POINTS: usize = 60_000;
/// No curve needs more on a screen.
const MOST_POINTS: usize = 1_400;
/// A curve with fewer is no curve.
const FEWEST_POINTS: usize = 60;
/// Curves of each arm.
const CURVES: usize = 5;
/// Marks of drops on each arm.
const MOST_DROPS: usize = 300;
/// Points of the capacity's curve.
const CAPACITY_POINTS: usize = 400;

/// Everything that scripts read.
#[derive(Serialize)]
pub(super) struct Data {
    arms: Vec<Arm>,
    path: Path,
    view: View,
    distributions: Vec<Distribution>,
    sizes: Sizes,
    differences: Vec<Differences>,
}

#[derive(Serialize)]
struct Arm {
    label: String,
    yardstick: bool,
    style: usize,
    exit: Option<Exit>,
    series: Option<Series>,
}

#[derive(Serialize)]
struct Exit {
    t_s: f64,
    cwnd_bytes: u64,
}

#[derive(Serialize)]
struct Series {
    cwnd: Curve,
    in_flight: Curve,
    queue: Curve,
    rtt: Curve,
    delivered: Curve,
    /// When packets were dropped, seconds since the flow was opened.
    drops: Vec<f64>,
}

/// Seconds since the flow was opened, and values; `None` breaks the line.
#[derive(Serialize)]
struct Curve {
    t: Vec<f64>,
    y: Vec<Option<f64>>,
}

#[derive(Serialize)]
struct Path {
    bdp_bytes: u64,
    buffer_bytes: Option<u64>,
    buffer_wire_bytes: Option<f64>,
    base_rtt_s: f64,
    full_rtt_s: Option<f64>,
    size_bytes: Option<u64>,
    capacity: Vec<(f64, f64)>,
}

/// Spans of time, seconds.
#[derive(Serialize)]
struct View {
    startup: (f64, f64),
    whole: (f64, f64),
}

/// The data block of a comparison.
pub(super) fn data(comparison: &Comparison) -> Data {
    let view = view(comparison);
    let points = (POINTS / (comparison.arms.len().max(1) * CURVES)).clamp(FEWEST_POINTS, MOST_POINTS);
    let styles = styles(&comparison.arms);
    let arms = comparison.arms.iter().zip(&styles).map(|(summary, &style)| Arm {
        label: summary.label.clone(),
        yardstick: summary.yardstick,
        style,
        exit: exit(summary),
        series: series(summary, &comparison.context, points, &view),
    });
    Data {
        arms: arms.collect(),
        path: path(&comparison.context, view.whole.1),
        distributions: charts::distributions(comparison),
        sizes: charts::sizes(comparison),
        differences: charts::differences(comparison),
        view,
    }
}

/// Colour and dash of each arm. An algorithm looks the same in every report that has it once.
pub(super) fn styles(arms: &[ArmSummary]) -> Vec<usize> {
    let known = ramp::algorithms();
    let mut taken = Vec::new();
    for arm in arms {
        let algorithm = known
            .iter()
            .enumerate()
            .filter(|(_, algorithm)| arm.label.starts_with(algorithm.id))
            .max_by_key(|(_, algorithm)| algorithm.id.len());
        let wanted = algorithm.map_or(0, |(index, _)| index % 8);
        let style = if arm.yardstick || !taken.contains(&wanted) {
            wanted
        } else {
            (0..=taken.len()).find(|style| !taken.contains(style)).unwrap_or(wanted)
        };
        taken.push(if arm.yardstick { usize::MAX } else { style });
    }
    taken.iter().map(|&style| if style == usize::MAX { 0 } else { style }).collect()
}

/// Whether any arm has curves.
pub(super) fn has_curves(comparison: &Comparison) -> bool {
    comparison.arms.iter().any(|arm| curves(arm).is_some())
}

/// The arm's curves and the flow they follow: the one whose exit is explained, or else the first under test.
fn curves(arm: &ArmSummary) -> Option<(&RunSeries, &FlowSeries)> {
    let representative = arm.representative.as_ref()?;
    Some((representative.series.as_ref()?, flow_shown(representative)?))
}

/// Of a run that stands for its arm, the flow whose exit is explained, or else the first under test.
pub(super) fn flow_shown(representative: &Representative) -> Option<&FlowSeries> {
    let series = representative.series.as_ref()?;
    let explained = representative.exit.as_ref().map(|exit| exit.flow);
    let flow = (series.flows.iter().find(|flow| Some(flow.flow) == explained))
        .or_else(|| series.flows.iter().find(|flow| flow.under_test))?;
    (!flow.time_s.is_empty()).then_some(flow)
}

fn exit(arm: &ArmSummary) -> Option<Exit> {
    let exit = arm.representative.as_ref()?.exit.as_ref()?;
    Some(Exit { t_s: round(exit.time_s), cwnd_bytes: exit.cwnd_bytes })
}

fn series(arm: &ArmSummary, context: &Context, points: usize, view: &View) -> Option<Series> {
    let (run, flow) = curves(arm)?;
    let grain = grain(context);
    let curve = |times: &[f64], values: &[Option<f64>]| {
        let times: Vec<f64> = times.iter().map(|t| t - flow.opened_s).collect();
        let kept = thin(&times, values, points, view.startup.1);
        let kept = kept.into_iter().filter(|&i| times[i] >= 0.0 && times[i] <= view.whole.1);
        let (t, y) = kept.map(|i| ((times[i] / grain).round() * grain, values[i].map(round))).unzip();
        Curve { t: tidy(t, grain), y }
    };
    let bytes = |column: &[u64]| -> Vec<Option<f64>> { column.iter().map(|&v| Some(v as f64)).collect() };
    let (rtt_t, rtt_y): (Vec<f64>, Vec<Option<f64>>) = flow
        .time_s
        .iter()
        .zip(&flow.rtt_ms)
        .filter_map(|(&t, rtt)| rtt.map(|rtt| (t, Some(rtt / 1e3))))
        .unzip();
    let queue = run.links.iter().find(|link| link.link == context.bottleneck);
    Some(Series {
        cwnd: curve(&flow.time_s, &bytes(&flow.cwnd_bytes)),
        in_flight: curve(&flow.time_s, &bytes(&flow.in_flight_bytes)),
        queue: queue
            .map_or(Curve { t: Vec::new(), y: Vec::new() }, |q| curve(&q.time_s, &bytes(&q.queue_bytes))),
        rtt: curve(&rtt_t, &rtt_y),
        delivered: curve(&flow.time_s, &bytes(&flow.delivered_bytes)),
        drops: drops(flow),
    })
}

/// Drops closer together than the marks are wide need no mark each.
fn drops(flow: &FlowSeries) -> Vec<f64> {
    let times: Vec<f64> = flow
        .marks
        .iter()
        .filter(|mark| mark.kind == MarkKind::Drop)
        .map(|mark| round(mark.time_s - flow.opened_s))
        .collect();
    let every = times.len().div_ceil(MOST_DROPS).max(1);
    times.into_iter().step_by(every).collect()
}

/// Step of the times: a power of ten below one in five hundred of a round trip.
fn grain(context: &Context) -> f64 {
    let wanted = context.base_rtt_s / 500.0;
    let mut grain = 0.1;
    while grain > wanted && grain > 1.5e-7 {
        grain /= 10.0;
    }
    grain
}

/// Decimal fractions as short as the grain allows.
fn tidy(times: Vec<f64>, grain: f64) -> Vec<f64> {
    let mut decimals = 1;
    let mut step = 0.1;
    while step > grain * 1.5 {
        step /= 10.0;
        decimals += 1;
    }
    times.into_iter().map(|t| format!("{t:.decimals$}").parse().unwrap_or(t)).collect()
}

fn path(context: &Context, until: f64) -> Path {
    let buffer = context.buffer_bytes;
    let full = buffer
        .zip(context.over_bdp(1.0))
        .map(|(b, per_byte)| context.base_rtt_s * (1.0 + b as f64 * per_byte));
    let mut times = vec![0.0];
    times.extend(context.capacity.iter().map(|step| step.from_s).filter(|&t| t > 0.0 && t < until));
    times.push(until);
    let every = times.len().div_ceil(CAPACITY_POINTS);
    let last = times.len() - 1;
    let mut carried = 0.0;
    let mut before = 0.0;
    let mut capacity = Vec::new();
    for (i, &t) in times.iter().enumerate() {
        carried += context.capacity_bytes(before, t);
        before = t;
        if i % every == 0 || i == last {
            capacity.push((round(t), round(carried)));
        }
    }
    Path {
        bdp_bytes: context.bdp_bytes,
        buffer_bytes: buffer,
        buffer_wire_bytes: buffer.map(|b| round(b as f64 * context.wire_factor())),
        base_rtt_s: round(context.base_rtt_s),
        full_rtt_s: full.map(round),
        size_bytes: context.size_bytes,
        capacity,
    }
}

/// The whole is as long as the longest curve; start-up ends a little after the last exit, unless that one is far later
/// than most.
fn view(comparison: &Comparison) -> View {
    let ends = comparison.arms.iter().filter_map(|arm| {
        let (_, flow) = curves(arm)?;
        Some(flow.time_s.last()? - flow.opened_s)
    });
    let whole = ends.fold(0.0, f64::max);
    let whole = if whole > 0.0 { whole } else { comparison.context.end_s.max(1e-3) };
    let mut exits: Vec<f64> = comparison.arms.iter().filter_map(exit).map(|exit| exit.t_s).collect();
    exits.sort_unstable_by(f64::total_cmp);
    let rtt = comparison.context.base_rtt_s;
    let startup = match exits.last() {
        Some(&last) => last.min(exits[exits.len() / 2] * 4.0) * 1.15 + 3.0 * rtt,
        None => rtt * 20.0,
    };
    let startup = if startup > whole * 0.85 || startup <= 0.0 { whole } else { startup };
    View { startup: (0.0, round(startup)), whole: (0.0, round(whole)) }
}

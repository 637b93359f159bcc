//! Curves of one run, small enough that several runs of every algorithm fit into a page.

use rampcc_trace::{FlowSeries, MarkKind};
use serde::Serialize;

use super::number::round;
use super::thin::thin;
use crate::{Comparison, Context, Representative};

/// Points of all curves of the seed that is shown first: about half a megabyte. The other seeds share as many.
const POINTS: usize = 50_000;
/// No curve needs more on a screen.
const MOST_POINTS: usize = 1_400;
/// A curve with fewer is no curve.
const FEWEST_POINTS: usize = 60;
const CURVES: usize = 6;
/// Marks of drops on each run.
const MOST_DROPS: usize = 300;
/// A value is kept to one in so many of the largest.
const STEPS: f64 = 2e4;

/// What one run may take.
pub(super) struct Room {
    points: usize,
    /// Where start-up is over.
    startup_s: f64,
    /// No curve goes further.
    until_s: f64,
}

impl Room {
    /// For runs of the drawn seed of that index, with the ends of start-up and of everything.
    pub(super) fn new(comparison: &Comparison, index: usize, startup_s: f64, until_s: f64) -> Self {
        let seeds = if index == 0 { 1 } else { comparison.drawn.len().saturating_sub(1).max(1) };
        let curves = comparison.arms.len().max(1) * CURVES * seeds;
        Self { points: (POINTS / curves).clamp(FEWEST_POINTS, MOST_POINTS), startup_s, until_s }
    }
}

/// One run as it is drawn; times are seconds since the flow was opened.
#[derive(Serialize)]
pub(super) struct Run {
    exit: Option<Exit>,
    /// When the last byte arrived; `None`: it did not.
    done_s: Option<f64>,
    end_s: f64,
    series: Series,
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
    rate: Curve,
    /// When packets were dropped.
    drops: Vec<f64>,
}

/// Times and values as whole steps, each less the one before: `t` in steps of `10^te` s, `y` in steps of `10^ye`. A value that is
/// `None` breaks the line and is passed over by the next difference.
#[derive(Serialize)]
struct Curve {
    te: i32,
    ye: i32,
    t: Vec<i64>,
    y: Vec<Option<i64>>,
}

/// The curves of a run on its own path.
pub(super) fn run(run: &Representative, context: &Context, room: &Room) -> Option<Run> {
    let flow = flow_shown(run)?;
    let done = done_s(flow);
    let step = time_step(context);
    // The receiver has the last byte before the sender hears of it: the run is over then.
    let curve = |mut points: Vec<(f64, Option<f64>)>| {
        points.retain(|(t, _)| done.is_none_or(|done| *t <= done));
        let (times, values): (Vec<f64>, Vec<Option<f64>>) = points.into_iter().unzip();
        let kept = thin(&times, &values, room.points, room.startup_s);
        let kept = kept.into_iter().filter(|&i| times[i] >= 0.0 && times[i] <= room.until_s * 1.0001);
        Curve::new(kept.map(|i| (times[i], values[i])).collect(), step)
    };
    let bytes = |times: &[f64], column: &[u64]| -> Vec<(f64, Option<f64>)> {
        times.iter().zip(column).map(|(t, v)| (t - flow.opened_s, Some(*v as f64))).collect()
    };
    let held = |points: Vec<(f64, Option<f64>)>| held(flow, points, context.base_rtt_s);
    let rtt = (flow.time_s.iter().zip(&flow.rtt_ms))
        .filter_map(|(t, rtt)| Some((t - flow.opened_s, Some(rtt.as_ref()? / 1e3))));
    let links = run.series.iter().flat_map(|series| &series.links);
    let queue = links.filter(|link| link.link == context.bottleneck).flat_map(|link| {
        let gap_s = |at_s: f64| link.gap_s(at_s + flow.opened_s);
        drained(&bytes(&link.time_s, &link.queue_bytes), context, flow.opened_s, gap_s)
    });
    Some(Run {
        exit: run
            .exit
            .as_ref()
            .filter(|exit| exit.flow == flow.flow)
            .map(|exit| Exit { t_s: round(exit.time_s), cwnd_bytes: exit.cwnd_bytes }),
        done_s: done.map(round),
        end_s: round(end(run).unwrap_or(0.0)),
        series: Series {
            cwnd: curve(held(bytes(&flow.time_s, &flow.cwnd_bytes))),
            in_flight: curve(held(bytes(&flow.time_s, &flow.in_flight_bytes))),
            queue: curve(queue.collect()),
            rtt: curve(held(rtt.collect())),
            delivered: curve(held(bytes(&flow.time_s, &flow.delivered_bytes))),
            rate: curve(rates(flow, context.base_rtt_s)),
            drops: drops(flow),
        },
    })
}

/// What was delivered within `window_s`, per second. It is sampled when an ACK comes; where none comes for longer, nothing is
/// delivered until the next one. Between points of a thinned curve it is delivered evenly.
fn rates(flow: &FlowSeries, window_s: f64) -> Vec<(f64, Option<f64>)> {
    let mut all = Vec::with_capacity(flow.time_s.len());
    if window_s <= 0.0 {
        return all;
    }
    let level = |at: usize| flow.delivered_bytes[at] as f64;
    let mut first = 0;
    for (at, time) in flow.time_s.iter().enumerate() {
        let begin = time - window_s;
        while flow.time_s[first] < begin {
            first += 1;
        }
        let before = first.checked_sub(1).map_or(0.0, |last| {
            let (from, to) = (flow.time_s[last], flow.time_s[first]);
            let share = if to - from > flow.gap_s(to) { 0.0 } else { (begin - from) / (to - from) };
            level(last) + share * (level(first) - level(last))
        });
        all.push((time - flow.opened_s, Some((level(at) - before).max(0.0) / window_s)));
        let idle = time + window_s;
        if let Some(next) =
            flow.time_s.get(at + 1).filter(|next| **next > idle && **next - time > flow.gap_s(**next))
        {
            all.push((idle - flow.opened_s, Some(0.0)));
            all.push((just_before(next - flow.opened_s, window_s), Some(0.0)));
        }
    }
    all
}

/// What a sender has is sampled when an ACK comes. Where none comes for longer than a round trip, it stays as it was until the next
/// one, which finds another.
fn held(flow: &FlowSeries, points: Vec<(f64, Option<f64>)>, base_rtt_s: f64) -> Vec<(f64, Option<f64>)> {
    let mut all: Vec<(f64, Option<f64>)> = Vec::with_capacity(points.len());
    for point in points {
        if let Some((time, value)) = all.last().copied()
            && point.0 - time > flow.gap_s(point.0 + flow.opened_s).max(base_rtt_s)
        {
            all.push((just_before(point.0, base_rtt_s), value));
        }
        all.push(point);
    }
    all
}

/// Charts know one value of an instant: a [`time_step`] earlier or a little more.
fn just_before(at_s: f64, base_rtt_s: f64) -> f64 {
    at_s - base_rtt_s / 500.0
}

/// A queue is sampled when a packet comes. Where none comes for long, it drains at the link's rate and stays empty until the next
/// one. Between points of a thinned curve nobody knows.
fn drained(
    points: &[(f64, Option<f64>)],
    context: &Context,
    opened_s: f64,
    gap_s: impl Fn(f64) -> f64,
) -> Vec<(f64, Option<f64>)> {
    let long_s = |at_s: f64| gap_s(at_s).max(context.base_rtt_s / 4.0);
    let mut all = Vec::with_capacity(points.len());
    for (at, (time, value)) in points.iter().enumerate() {
        all.push((*time, *value));
        let Some(((next, _), waiting)) = points.get(at + 1).zip(*value) else { continue };
        let empty = time + context.queueing_s(waiting as u64, time + opened_s);
        if next - time > long_s(*next) && empty < *next {
            if waiting > 0.0 {
                all.push((empty, Some(0.0)));
            }
            all.push((just_before(*next, context.base_rtt_s).max(empty), Some(0.0)));
        }
    }
    all
}

/// Where a run's curves end, seconds since its flow was opened.
pub(super) fn end(run: &Representative) -> Option<f64> {
    let flow = flow_shown(run)?;
    Some(done_s(flow).unwrap_or(flow.time_s.last()? - flow.opened_s))
}

/// Of a run, the first flow under test to open: of every row the same one.
pub(super) fn flow_shown(run: &Representative) -> Option<&FlowSeries> {
    let series = run.series.as_ref()?;
    let shown = series.flows.iter().filter(|flow| flow.under_test && !flow.time_s.is_empty());
    shown.min_by(|a, b| a.opened_s.total_cmp(&b.opened_s))
}

fn done_s(flow: &FlowSeries) -> Option<f64> {
    let completed = flow.marks.iter().rfind(|mark| mark.kind == MarkKind::Completed)?;
    Some(completed.time_s - flow.opened_s)
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

/// The power of ten, in seconds, below one in five hundred of a round trip.
fn time_step(context: &Context) -> i32 {
    let wanted = context.base_rtt_s / 500.0;
    (-7..=-1).rev().find(|&e| power(e) <= wanted).unwrap_or(-7)
}

fn power(exponent: i32) -> f64 {
    let size = (0..exponent.abs()).fold(1.0, |size, _| size * 10.0);
    if exponent < 0 { 1.0 / size } else { size }
}

impl Curve {
    fn new(points: Vec<(f64, Option<f64>)>, te: i32) -> Self {
        let largest = points.iter().filter_map(|(_, y)| *y).fold(0.0, |most: f64, y| most.max(y.abs()));
        let ye = (-9..=12).rev().find(|&e| power(e) * STEPS <= largest).unwrap_or(-9);
        let steps = |value: f64, exponent: i32| -> i64 {
            let scaled = if exponent < 0 { value * power(-exponent) } else { value / power(exponent) };
            scaled.round() as i64
        };
        let (mut t, mut y) = (Vec::with_capacity(points.len()), Vec::with_capacity(points.len()));
        let (mut before, mut below) = (0, 0);
        for (time, value) in points {
            let at = steps(time, te);
            t.push(at - before);
            before = at;
            y.push(value.map(|value| {
                let level = steps(value, ye);
                level - std::mem::replace(&mut below, level)
            }));
        }
        Self { te, ye, t, y }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_add_up_to_the_values() {
        let points = vec![(0.0, Some(14_480.0)), (0.0123, None), (0.5, Some(52_428_800.0)), (2.0, Some(0.0))];
        let curve = Curve::new(points.clone(), -3);
        let (mut t, mut y) = (0, 0);
        for ((dt, dy), (time, value)) in curve.t.iter().zip(&curve.y).zip(points) {
            t += dt;
            assert!((t as f64 * 1e-3 - time).abs() <= 0.000_501, "{t} {time}");
            assert_eq!(dy.is_some(), value.is_some());
            y += dy.unwrap_or(0);
            if let Some(value) = value {
                let shown = y as f64 * power(curve.ye);
                assert!((shown - value).abs() <= 52_428_800.0 / STEPS, "{shown} {value}");
            }
        }
    }

    /// 1 MB/s and an RTT of 0.4 s: 500 kB are gone after half a second, not when the next packet comes.
    #[test]
    fn a_queue_drains_at_the_rate_of_its_link() {
        let mut context = crate::fixture::sample_comparison().context;
        context.base_rtt_s = 0.4;
        let factor = context.wire_factor();
        for step in &mut context.capacity {
            step.bytes_per_s = 1e6 / factor;
        }
        let waiting = [(1.0, Some(500e3)), (1.05, Some(500e3)), (3.0, Some(1500.0))];
        let drawn = drained(&waiting, &context, 0.0, |_| 0.0);
        let times: Vec<f64> = drawn.iter().map(|(time, _)| (time * 1e3).round() / 1e3).collect();
        assert_eq!(times, [1.0, 1.05, 1.55, 2.999, 3.0]);
        assert_eq!(drawn[2].1, Some(0.0));
        assert_eq!(drawn[3].1, Some(0.0));
        assert_eq!(
            drained(&waiting, &context, 0.0, |_| 2.0),
            waiting,
            "what came between may have been left out"
        );
    }

    /// 50 kB with each ACK, one in 50 to 60 ms, and then none for half a second.
    #[test]
    fn a_rate_is_of_one_window_and_falls_to_zero_without_acks() {
        let flow = FlowSeries {
            opened_s: 1.0,
            time_s: vec![1.05, 1.1, 1.16, 1.66],
            delivered_bytes: vec![50_000, 100_000, 150_000, 200_000],
            ..FlowSeries::default()
        };
        let drawn: Vec<_> =
            rates(&flow, 0.1).iter().map(|(t, rate)| ((t * 1e3).round(), rate.map(f64::round))).collect();
        let expected = [(50.0, 5e5), (100.0, 1e6), (160.0, 1e6), (260.0, 0.0), (660.0, 0.0), (660.0, 5e5)];
        assert_eq!(drawn, expected.map(|(t, rate)| (t, Some(rate))));
        assert!(rates(&flow, 0.0).is_empty(), "no path is known");
    }

    /// 1 MB/s, of which a point is left every 60 ms: more than a round trip.
    #[test]
    fn a_rate_between_points_that_are_left_is_even() {
        let flow = FlowSeries {
            time_s: (0..20).map(|point| 0.06 * f64::from(point)).collect(),
            delivered_bytes: (0..20).map(|point| 60_000 * point).collect(),
            grain_s: 0.02,
            ..FlowSeries::default()
        };
        let drawn = rates(&flow, 0.04);
        assert_eq!(drawn.len(), 20);
        for (time, rate) in &drawn[1..] {
            assert!((rate.unwrap() - 1e6).abs() < 1.0, "{time} {rate:?}");
        }
    }

    /// An application that pauses for a second: the window and what is in flight are not known to move meanwhile.
    #[test]
    fn what_a_pause_leaves_is_held() {
        let flow = FlowSeries { time_s: vec![0.1, 0.2, 1.3], ..FlowSeries::default() };
        let sampled = vec![(0.1, Some(9e3)), (0.2, Some(0.0)), (1.3, Some(5e3))];
        let of = |base_rtt_s| held(&flow, sampled.clone(), base_rtt_s);
        assert_eq!(of(0.1), [sampled[0], sampled[1], (1.3 - 2e-4, Some(0.0)), sampled[2]]);
        assert_eq!(of(1.2), sampled, "a round trip may take as long");
    }

    #[test]
    fn nothing_and_zeros_are_curves() {
        assert!(Curve::new(Vec::new(), -2).t.is_empty());
        assert_eq!(Curve::new(vec![(0.0, Some(0.0)), (1.0, Some(0.0))], -2).y, [Some(0), Some(0)]);
    }
}

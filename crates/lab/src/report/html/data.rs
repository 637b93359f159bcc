//! The block of data that the charts are drawn from.

use std::borrow::Cow;

use serde::Serialize;

use super::charts::{self, Differences, Distribution, Sizes};
use super::curves::{self, Room, Run, flow_shown};
use super::number::round;
use crate::{ArmSummary, Comparison, Context};

const CAPACITY_POINTS: usize = 400;

/// Everything that scripts read.
#[derive(Serialize)]
pub(super) struct Data {
    arms: Vec<Arm>,
    /// Index of the row that leads: drawn over the others.
    leader: Option<usize>,
    /// Seeds of all runs; `values` of distributions have one entry for each.
    seeds: Vec<u64>,
    drawn: Vec<Drawn>,
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
    /// Finished runs.
    n: u32,
}

/// The runs of one seed.
#[derive(Serialize)]
struct Drawn {
    seed: u64,
    path: Path,
    /// By arm; `None`: it has no run of this seed, or no curves of it.
    runs: Vec<Option<Run>>,
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

pub(super) fn data(comparison: &Comparison) -> Data {
    let view = view(comparison);
    let styles = styles(&comparison.arms);
    let arms = comparison.arms.iter().zip(&styles).map(|(summary, &style)| Arm {
        label: summary.label.clone(),
        yardstick: summary.yardstick,
        style,
        n: summary.n,
    });
    let drawn = comparison.drawn.iter().enumerate().map(|(index, drawn)| {
        let room = Room::new(comparison, index, view.startup.1, view.whole.1);
        let run = |arm: &ArmSummary| {
            let run = arm.drawn(drawn.seed)?;
            curves::run(run, &comparison.context.of_run(run.path.as_ref()), &room)
        };
        Drawn {
            seed: drawn.seed,
            path: path(&context_of(comparison, drawn.seed), view.whole.1),
            runs: comparison.arms.iter().map(run).collect(),
        }
    });
    Data {
        arms: arms.collect(),
        leader: comparison.arms.iter().position(|arm| Some(&arm.label) == comparison.leader.as_ref()),
        seeds: comparison.seeds.clone(),
        drawn: drawn.collect(),
        distributions: charts::distributions(comparison),
        sizes: charts::sizes(comparison),
        differences: charts::differences(comparison),
        view,
    }
}

/// The path that the runs of a seed met, as far as the longest of them went.
pub(super) fn context_of(comparison: &Comparison, seed: u64) -> Cow<'_, Context> {
    let runs = comparison.arms.iter().filter_map(|arm| arm.drawn(seed)?.path.as_ref());
    comparison.context.of_run(runs.max_by_key(|path| path.capacity.len()))
}

/// Colour and dash of each arm. An algorithm looks the same in every report that has it once.
pub(super) fn styles(arms: &[ArmSummary]) -> Vec<usize> {
    let known = rampcc::algorithms();
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

pub(super) fn has_curves(comparison: &Comparison) -> bool {
    comparison.arms.iter().flat_map(|arm| &arm.drawn).any(|run| flow_shown(run).is_some())
}

fn path(context: &Context, until: f64) -> Path {
    let buffer = context.buffer_bytes;
    // Where the rate varies, a full buffer lasts now longer, now less long.
    let full = buffer.filter(|_| !context.varies() && context.bdp_bytes > 0).map(|bytes| {
        context.base_rtt_s + context.queueing_s((bytes as f64 * context.wire_factor()) as u64, 0.0)
    });
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

/// The whole is as long as the longest curve; start-up ends a little after the last exit of the seed that is shown first, unless
/// that one is far later than most.
fn view(comparison: &Comparison) -> View {
    let runs = comparison.arms.iter().flat_map(|arm| &arm.drawn);
    let whole = runs.filter_map(curves::end).fold(0.0, f64::max);
    let whole = if whole > 0.0 { whole } else { comparison.context.end_s.max(1e-3) };
    let first = comparison.drawn.first().map(|drawn| drawn.seed);
    let exit = |arm: &ArmSummary| Some(arm.drawn(first?)?.exit.as_ref()?.time_s);
    let mut exits: Vec<f64> = comparison.arms.iter().filter_map(exit).collect();
    exits.sort_unstable_by(f64::total_cmp);
    let rtt = comparison.context.base_rtt_s;
    let startup = match exits.last() {
        Some(&last) => last.min(exits[exits.len() / 2] * 4.0) * 1.15 + 3.0 * rtt,
        None => rtt * 20.0,
    };
    let startup = if startup > whole * 0.85 || startup <= 0.0 { whole } else { startup };
    View { startup: (0.0, round(startup)), whole: (0.0, round(whole)) }
}

/// Whether start-up is a part of what there is.
pub(super) fn has_two_views(comparison: &Comparison) -> bool {
    let view = view(comparison);
    view.startup.1 < view.whole.1
}

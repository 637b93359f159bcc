//! Notes on a comparison: what a reader must know besides the verdict.

use rampcc::figures::counted;

use crate::Context;
use crate::comparison::{ArmSummary, Comparison};
use crate::explain::standing;
use crate::format::{bit_rate, count, list, quantity, seconds, share};
use crate::metric::{self, Better, Definition, MetricInfo};
use crate::standing::times;
use crate::statistics::skewness;
use crate::summary::Summary;
use crate::verdict::notable;
use crate::words::Note;

/// From this skewness on, intervals of means by ten runs are much too narrow. Six runs are the fewest that reach it.
const TAIL: f64 = 1.5;

/// What a reader must know besides the verdict.
pub(crate) fn notes(comparison: &Comparison) -> Vec<Note> {
    let mut notes = Vec::new();
    let planned = comparison.seeds.len();
    for arm in comparison.arms.iter().filter(|arm| (arm.n as usize) < planned) {
        notes.push(Note::of(&arm.label, format!("{} of {planned} runs are there.", arm.n)));
    }
    for arm in &comparison.arms {
        let cut_off =
            arm.of(metric::UNFINISHED).map_or(0, |s| s.values.iter().flatten().filter(|v| **v > 0.0).count());
        if cut_off > 0 {
            let lost = arm.lost_connections();
            let shown = arm.representative.as_ref();
            let why = match shown.and_then(|run| Some((run, run.stay.as_ref()?))) {
                _ if lost > 0 => format!(": {lost} lost the connection"),
                Some((run, stay)) => {
                    let context = comparison.context.of_run(run.path.as_ref());
                    let which = if arm.n > 1 { format!(" (seed {})", run.seed) } else { String::new() };
                    format!(": it never left start-up{which}, and {}", standing(stay, context.bdp_bytes))
                }
                None => String::new(),
            };
            let end = whole_seconds(comparison.context.end_s);
            let text = if comparison.context.generated {
                format!(
                    "{cut_off} of {} runs ended, after {end}, before all their downloads: those do not count.",
                    arm.n
                )
            } else {
                format!("{cut_off} of {} runs did not finish within {end}{why}.", arm.n)
            };
            notes.push(Note::of(&arm.label, text));
        }
    }
    if comparison.context.of_several() {
        notes.push(Note::of_all(format!(
            "Goodput, times, windows, losses and the share of start-up used are means over a run's flows under test, each of which \
             counts once, however long it lasts{}; the reason is that of the first one to open that left.",
            exits_of(comparison)
        )));
    }
    if let Some(endless) = comparison.context.endless_flows {
        notes.push(Note::of_all(format!(
            "{endless} of {} flows under test {} no end: download times are those of the others, everything else is of all.",
            comparison.context.flows_under_test,
            if endless == 1 { "has" } else { "have" }
        )));
    }
    notes.extend(pauses(&comparison.context).map(Note::of_all));
    if comparison.context.policed() {
        notes.push(Note::of_all(
            "A policer limits this path: BDPs and shares of the capacity are of its rate, to which its burst comes on top, and queues \
             drain at the rate of the link.",
        ));
    }
    if comparison.context.varies() {
        let whose = if comparison.met.is_some() { "each run's" } else { "its" };
        notes.push(Note::of_all(format!(
            "The rate varies. A BDP is that of {whose} mean rate over the first 10 s, or 32 round trips if they last \
             longer; what the path holds at an instant is more or less."
        )));
    }
    notes.extend(comparison.arms.iter().filter_map(bursts).map(Note::of_all));
    notes.extend(marked(comparison).map(Note::of_all));
    if let Some(emulation) = comparison.emulation.as_ref().filter(|emulation| emulation.samples_lost > 0) {
        let all = emulation.samples + emulation.samples_lost;
        notes.push(Note::of_all(format!("{} of {all} samples were lost.", emulation.samples_lost)));
    }
    let Some(info) = comparison.primary_info() else { return notes };
    for arm in &comparison.arms {
        let Some(modes) = arm.metric(&info.id).and_then(|summary| summary.modes) else { continue };
        let text = format!(
            "{} is bimodal, {} in {} of runs and {} in the rest; its mean describes neither.",
            info.name,
            quantity(modes.low, &info.unit),
            share(modes.low_share),
            quantity(modes.high, &info.unit),
        );
        notes.push(Note { starred: true, ..Note::of(&arm.label, text) });
    }
    notes.extend(tails(comparison));
    notes.extend(means_apart(comparison, info));
    notes.extend(cost_to_others(comparison));
    if !comparison.context.chance {
        let others = comparison.arms.iter().any(|arm| arm.of(metric::OTHERS_GOODPUT).is_some());
        notes.push(Note::of_all(if others || comparison.context.of_several() {
            "Nothing here is random, so a run repeats exactly. But flows that compete meet in one phase of many: `start-jitter` on a \
             flow, with more runs, shows what another start would change."
        } else {
            "This path has no randomness: one run suffices."
        }));
    } else if planned == 1 {
        notes.push(Note::of_all("One run each: nothing here has an interval."));
    }
    notes
}

/// What an application that writes now and then does to what is compared.
fn pauses(context: &Context) -> Option<String> {
    let asked = context.writes.and_then(|writes| Some(writes.bytes as f64 / writes.interval_s?));
    let asked = asked.map(|rate| rate * f64::from(context.flows_under_test));
    let carried = context.capacity_bytes(0.0, context.end_s) / context.end_s;
    match asked.filter(|rate| *rate > carried) {
        Some(rate) => Some(format!(
            "The application writes {}, more than the path carries: chunks wait for those before them, the longer the run the longer.",
            bit_rate(rate * 8.0)
        )),
        None if context.application_limited => Some(
            "The application writes now and then: goodput and the shares of the path that were used count its pauses. After a pause \
             hosts may begin anew with a small window (idle-restart), those of ideal too."
                .to_owned(),
        ),
        None => None,
    }
}

/// "; those of exits over the flows that left: 2 of 3 for limited": a mean of few of a row's flows beside one of all would mislead.
fn exits_of(comparison: &Comparison) -> String {
    let context = &comparison.context;
    let left = |arm: &ArmSummary| arm.of(metric::STARTUPS_ENDED).map(|summary| summary.mean);
    let flows = (!context.generated).then(|| f64::from(context.flows_under_test));
    let most = flows.or_else(|| comparison.arms.iter().filter_map(left).reduce(f64::max));
    let few: Vec<String> = (comparison.arms.iter())
        .filter_map(|arm| Some((arm, left(arm).filter(|left| most.is_some_and(|most| *left < most))?)))
        .map(|(arm, left)| {
            let of = flows.map_or(String::new(), |flows| format!(" of {flows}"));
            format!("{}{of} for {}", count(left), arm.label)
        })
        .collect();
    if few.is_empty() {
        return String::new();
    }
    format!(
        "; those of exits are over the flows that left, a run's {}",
        list(&few.iter().map(String::as_str).collect::<Vec<_>>())
    )
}

/// `120 s`: a limit that a user has set, so without decimals where it has none.
fn whole_seconds(value: f64) -> String {
    if value >= 1.0 && value.fract().abs() < 1e-9 { format!("{value:.0} s") } else { seconds(value) }
}

/// "h3 sends up to 118 packets back to back in start-up, 61 of them lost; its first flight is 32 packets.": means over runs.
fn bursts(arm: &ArmSummary) -> Option<String> {
    let mean = |metric: Definition| arm.of(metric).map(|summary| summary.mean);
    let (burst, flight) = (mean(metric::BURST)?, mean(metric::FIRST_FLIGHT)?);
    let lost = mean(metric::BURST_LOST).filter(|lost| *lost > 0.0);
    let lost = lost.map_or(String::new(), |lost| format!(", {lost:.0} of them lost"));
    Some(format!(
        "{} sends up to {} back to back in start-up{lost}; its first flight is {}.",
        arm.label,
        counted(format!("{burst:.0}"), "packet"),
        counted(format!("{flight:.0}"), "packet")
    ))
}

/// Rows whose interval is narrower than it says, because their runs have a tail.
fn tails(comparison: &Comparison) -> Vec<Note> {
    let Some(info) = comparison.primary_info() else { return Vec::new() };
    let tail = |summary: &Summary| {
        let values: Vec<f64> = summary.known_or_least().into_iter().flatten().collect();
        skewness(&values).filter(|skewness| summary.modes.is_none() && skewness.abs() > TAIL)
    };
    (comparison.arms.iter())
        .filter_map(|arm| Some((arm, arm.metric(&info.id).and_then(tail)?)))
        .map(|(arm, _)| {
            let text = format!(
                "{} has a long tail, so the interval of its mean is too narrow for 95 %, and a p value near 0.05 says little.",
                info.name
            );
            Note::of(&arm.label, text)
        })
        .collect()
}

/// From here on a ratio of means and a mean of ratios are two numbers to a reader.
const APART: f64 = 0.015;

/// "… by the means alone: enhanced +35 %.": where the table would seem to contradict itself.
fn means_apart(comparison: &Comparison, info: &MetricInfo) -> Option<Note> {
    let leader = comparison.leader.as_deref().and_then(|label| comparison.arm(label))?;
    let mean =
        |arm: &ArmSummary| arm.metric(&info.id).filter(|summary| summary.unfinished() == 0).map(|s| s.mean);
    let base = mean(leader)?;
    let apart: Vec<String> = (comparison.arms.iter())
        .filter(|arm| !arm.yardstick && arm.label != leader.label)
        .filter_map(|arm| {
            let of_means = mean(arm)? / base;
            let by_run = comparison.pair(&info.id, &arm.label, &leader.label)?.ratio?;
            let off = (of_means / by_run - 1.0).abs() > APART;
            off.then(|| format!("{} {}", arm.label, times(of_means)))
        })
        .collect();
    let names: Vec<&str> = apart.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| {
        Note::of_all(format!(
            "\"vs leader\" averages the ratios run by run (geometric mean), in which a few slow runs weigh {}; by the means \
             alone: {}.",
            if info.better == Better::Higher { "more" } else { "less" },
            list(&names)
        ))
    })
}

/// From here on others pay for it.
const DEAR: f64 = 1.1;

/// "… competing flows' downloads take 69 % longer than with `hystart`, and lose 159 packets instead of 50.": a lead that others
/// pay for.
fn cost_to_others(comparison: &Comparison) -> Option<Note> {
    let leader = comparison.leader.as_deref().and_then(|label| comparison.arm(label))?;
    let rival = comparison.arm(notable(comparison)?)?;
    let both = |metric: Definition| Some([leader.of(metric)?, rival.of(metric)?]);
    let [time, base] = both(metric::OTHERS_DOWNLOAD_TIME)?;
    let ratio = time.mean / base.mean;
    // Intervals that meet prove nothing.
    let apart = match (&time.interval, &base.interval) {
        (Some(time), Some(base)) => time.low > base.high,
        _ => !comparison.context.chance,
    };
    if !(apart && ratio >= DEAR) {
        return None;
    }
    let lost = both(metric::OTHERS_LOST).filter(|[lost, base]| lost.mean > base.mean);
    let lost = lost.map_or_else(String::new, |[lost, base]| {
        format!(", and lose {:.0} packets instead of {:.0}", lost.mean, base.mean)
    });
    let text = format!(
        "competing flows' downloads take {:.0} % longer than with {}{lost}.",
        100.0 * (ratio - 1.0),
        rival.label
    );
    Some(Note::of(&leader.label, text))
}

/// Runs that stand with a reservation.
fn marked(comparison: &Comparison) -> Option<String> {
    let all = comparison.emulation.as_ref().filter(|emulation| emulation.marked > 0)?;
    let arms: Vec<String> = (comparison.arms.iter())
        .filter_map(|arm| Some((arm, arm.emulation.as_ref().filter(|e| e.marked > 0)?)))
        .map(|(arm, emulation)| format!("{} {}", arm.label, emulation.marked))
        .collect();
    let reason = all.reason.as_ref().map_or(String::new(), |reason| format!("; the first because {reason}"));
    Some(format!(
        "In {} of {} the emulator's error may have changed the answer ({}){reason}.",
        all.marked,
        counted(all.runs, "run"),
        arms.join(", ")
    ))
}

//! A trial in words.

use rampcc::figures::{counted, span};
use rampcc_lab::Finding;

use super::guard::{Harm, Stop};
use super::judge::{How, Metric, Row, TrialReport};

/// Fewer blocks make wide intervals.
const FEW_BLOCKS: u32 = 5;

/// One sentence.
pub(super) fn verdict(report: &TrialReport) -> String {
    match &report.ending.how {
        How::RolledBack(stop) => rolled_back(report, stop),
        How::Completed => sentence(&comparison(report)),
        How::Interrupted => {
            format!("Interrupted after {}; so far {}.", duration(report.ending.after_s), comparison(report))
        }
        How::Vanished => format!(
            "The control group was removed after {}, as a restart of its service does, and a new one of its name is another; \
             until then {}.",
            duration(report.ending.after_s),
            comparison(report)
        ),
        How::Unknown => {
            format!(
                "The trial died after {}; until then {}.",
                duration(report.ending.after_s),
                comparison(report)
            )
        }
    }
}

/// What else a reader must know.
pub(super) fn notes(report: &TrialReport) -> Vec<String> {
    let (plan, ending) = (&report.plan, &report.ending);
    let mut notes = Vec::new();
    if report.uneven() {
        let all = ending.assigned[0] + ending.assigned[1];
        notes.push(format!(
            "The split cannot be the draw's: {} of {all} connections got {} where {} were due (p = {}). Something keeps \
             connections from one arm; do not trust the comparison before it is found.",
            ending.assigned[0],
            plan.arms[0],
            percent(plan.new_share()),
            probability(report.draw_p.unwrap_or(0.0)),
        ));
    }
    for (arm, refused) in plan.arms.iter().zip(ending.refused).filter(|(_, refused)| *refused > 0) {
        notes
            .push(format!("{} could not have {arm}: a route locks another.", counted(refused, "connection")));
    }
    if ending.lost_events > 0 {
        notes.push(format!(
            "{} beginnings and ends of connections were lost for want of room.",
            ending.lost_events
        ));
    }
    if ending.without_storage > 0 {
        notes.push(format!(
            "{} could not be followed for want of memory.",
            counted(ending.without_storage, "connection")
        ));
    }
    if ending.chosen > 0 {
        notes.push(format!(
            "{} left alone: the application, or another BPF program, had chosen a congestion control \
             (--all tries them too).",
            counted(ending.chosen, "connection")
        ));
    }
    if ending.nested > 0 {
        notes.push(format!(
            "{} left alone: an attachment to a control group further inside came first (--all tries them \
             too).",
            counted(ending.nested, "connection")
        ));
    }
    if ending.open != [0, 0] {
        let [new, old] = ending.open;
        notes.push(format!(
            "Still open at the end and not counted: {new} of {}, {old} of {}.",
            plan.arms[0], plan.arms[1]
        ));
    }
    if matches!(ending.how, How::RolledBack(_)) {
        notes.push("Where a trial stops early, the difference it stopped for is exaggerated.".to_owned());
    }
    let blocks = report.overall().blocks;
    if (1..FEW_BLOCKS).contains(&blocks) {
        let plural = if blocks == 1 { "block has" } else { "blocks have" };
        notes.push(format!("Only {blocks} {plural} transfers of both arms: intervals are wide or missing."));
    }
    notes
}

fn rolled_back(report: &TrialReport, stop: &Stop) -> String {
    let [new, old] = &report.plan.arms;
    let points = format!("{} percentage points", number(stop.effect * 100.0));
    let harm = match stop.harm {
        Harm::Slower => {
            format!("transfers under {new} took {} longer than under {old}", percent(stop.effect - 1.0))
        }
        Harm::Retransmits => format!("{new} retransmitted {points} more than {old}"),
        Harm::Unfinished => format!("{points} more connections under {new} than under {old} did not finish"),
    };
    format!(
        "Rolled back after {}: {harm} (p = {}, where {} was enough; {} and {} connections).",
        duration(report.ending.after_s),
        probability(stop.p),
        probability(stop.threshold),
        stop.counts[0],
        stop.counts[1],
    )
}

fn comparison(report: &TrialReport) -> String {
    let [new, old] = &report.plan.arms;
    if report.nothing_tried() {
        return nothing(report);
    }
    let row = report.overall();
    let Some((effect, [low, high])) = row.effect.zip(row.interval) else {
        let [a, b] = row.counts;
        return format!("there are too few transfers to compare ({a} of {new}, {b} of {old})");
    };
    let basis = format!(
        "{} and {} in {} of {}",
        row.counts[0],
        counted(row.counts[1], "transfer"),
        counted(row.blocks, "block"),
        duration(report.plan.block_s)
    );
    let words = match row.finding {
        Finding::Lower => {
            format!("transfers under {new} took {} less time than under {old} ({})", percent(1.0 - effect), {
                span(&percent(1.0 - high), &percent(1.0 - low))
            })
        }
        Finding::Higher => {
            format!("transfers under {new} took {} more time than under {old} ({})", percent(effect - 1.0), {
                span(&percent(low - 1.0), &percent(high - 1.0))
            })
        }
        Finding::Equivalent => {
            let margin = percent(report.plan.margin);
            format!(
                "transfers under {new} and {old} took the same time within {margin} ({})",
                change(low, high)
            )
        }
        Finding::CannotTell => {
            format!("the transfer times of {new} and {old} cannot be told apart ({})", { change(low, high) })
        }
    };
    format!("{words}{}: {basis}", retransmissions(report))
}

/// Why neither arm was tried.
fn nothing(report: &TrialReport) -> String {
    let (ending, cgroup) = (&report.ending, &report.plan.cgroup);
    if ending.chosen + ending.nested > 0 {
        return format!("nothing was tried, since every new connection of {cgroup} was left alone");
    }
    if ending.refused != [0, 0] || ending.without_storage > 0 {
        return format!("nothing was tried, since no new connection of {cgroup} could have its arm");
    }
    format!(
        "nothing was tried, since {cgroup} had no new connection (a server's own is in /proc/PID/cgroup; connections that \
         were open before the trial do not count)"
    )
}

fn retransmissions(report: &TrialReport) -> String {
    let row = report.rows.iter().find(|row| row.metric == Metric::RetransmittedShare);
    match row.and_then(|row| Some((row, row.values[0]?, row.values[1]?))) {
        Some((Row { finding: finding @ (Finding::Lower | Finding::Higher), .. }, new, old)) => {
            let less = if *finding == Finding::Lower { "less" } else { "more" };
            let arm = &report.plan.arms[0];
            format!(", and {arm} retransmitted {less} ({} against {})", percent(new), percent(old))
        }
        _ => String::new(),
    }
}

/// "8 % less to 12 % more".
fn change(low: f64, high: f64) -> String {
    let end = |ratio: f64| {
        let word = if ratio < 1.0 { "less" } else { "more" };
        format!("{} {word}", percent((ratio - 1.0).abs()))
    };
    span(&end(low), &end(high))
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

/// Two or three digits that tell.
fn number(value: f64) -> String {
    let digits = match value.abs() {
        size if size < 0.0005 => 0,
        size if size < 1.0 => 2,
        size if size < 10.0 => 1,
        _ => 0,
    };
    rampcc::figures::decimals(value, digits)
}

/// A share as people read it.
fn percent(share: f64) -> String {
    format!("{} %", number(share * 100.0))
}

fn probability(p: f64) -> String {
    if p < 0.001 { format!("{p:.0e}") } else { format!("{p:.3}") }
}

/// Seconds, minutes, hours.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{} s", number(s)),
        s if s < 7200.0 => format!("{} min", number(s / 60.0)),
        s => format!("{} h", number(s / 3600.0)),
    }
}

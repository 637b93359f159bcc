//! `ramp status`: the attached algorithms and their counters.

use std::io::{self, Write};

use clap::Args;
use rampcc::ExitReason;
use rampcc::figures::counted;
use rampcc_host::{AttachedAlgorithm, Attachment, Health, printable};
use rampcc_linux::{Counters, Guard};
use serde_json::{Value, json};

use super::{HostArgs, told};
use crate::error::Result;
use crate::table::table;
use crate::terminal::Terminal;

/// Show the attached algorithms and their counters
///
/// Shows for each attachment how many connections it has opened and has open, how many of them ran as plain CUBIC (no
/// memory for their state, or their start-up was already over), why start-ups ended, and which congestion controls the
/// connections of its network namespace or control group use now.
#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    host: HostArgs,
}

/// Runs the command.
pub(crate) fn status(args: &StatusArgs, terminal: Terminal, out: &mut impl Write) -> Result {
    let attachments = args.host.host().attachments().map_err(told)?;
    if args.json {
        let all: Vec<_> = attachments.iter().map(to_json).collect();
        serde_json::to_writer_pretty(&mut *out, &all).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(());
    }
    if attachments.is_empty() {
        writeln!(out, "Nothing is attached.")?;
        return Ok(());
    }
    let header = ["scope", "runs", "state", "since", "opened", "open", "plain CUBIC"].map(str::to_owned);
    let rows: Vec<_> = attachments.iter().map(row).collect();
    writeln!(out, "{}", table(&header, &rows, terminal.width))?;
    for attachment in &attachments {
        writeln!(out, "\n{}", terminal.bold(&attachment.scope))?;
        for (name, text) in details(attachment) {
            writeln!(out, "  {name:<13}{text}")?;
        }
    }
    Ok(())
}

fn row(attachment: &Attachment) -> Vec<String> {
    let mut cells = vec![attachment.scope.clone()];
    let unknown = || "?".to_owned();
    let attached = attachment.attached.as_ref();
    let name = attached.map(|attached| attached.name.clone());
    cells.push(name.or_else(|| attachment.health.left_in_force()).unwrap_or_else(unknown));
    cells.push(state(&attachment.health).to_owned());
    cells.push(attached.map_or_else(unknown, |attached| age(attached.age_s)));
    match attached.and_then(|attached| attached.counters) {
        Some(counters) => {
            cells.extend([counters.opened, counters.open(), plain(&counters)].map(|n| n.to_string()));
        }
        None => cells.extend(std::iter::repeat_with(unknown).take(3)),
    }
    cells
}

fn details(attachment: &Attachment) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(what) = trouble(attachment) {
        lines.push(("trouble", what));
    }
    if let Some(attached) = &attachment.attached {
        let settings: Vec<_> = settings(attached);
        let settings = if settings.is_empty() { "default".to_owned() } else { settings.join(", ") };
        lines.push(("algorithm", format!("{}, parameters {settings}", attached.id)));
        if let Some(unit) = &attachment.unit {
            lines.push(("unit", unit.clone()));
        }
        lines.push(("since", format!("{} ({})", attached.since(), age(attached.age_s))));
        if attached.guard != Guard::default() {
            lines.push(("limits", limits(attached.guard)));
        }
        if let Some(counters) = &attached.counters {
            lines.push(("exits", exits(counters)));
            lines.extend(regrets(counters).map(|text| ("regrets", text)));
            if counters.bounded > 0 {
                lines.push(("bounded", format!("{} whose window the bound has held", counters.bounded)));
            }
            if plain(counters) > 0 {
                lines.push((
                    "plain CUBIC",
                    format!(
                        "{} without memory for their state, {} already past their start-up, {} of a short round trip",
                        counters.without_storage, counters.late, counters.short_rtt
                    ),
                ));
            }
            if counters.left_out > 0 {
                lines.push((
                    "left out",
                    format!(
                        "{} that the kernel did not announce, steered from their first ACK on",
                        counters.left_out
                    ),
                ));
            }
        }
        if let Some(places) = attached.places {
            lines.push(("remembers", counted(places, "place")));
        }
        if let Some(assigned) = &attached.assigned {
            let mut text = vec![counted(assigned.assigned.iter().sum::<u64>(), "connection")];
            if assigned.chosen > 0 {
                text.push(format!("{} keep their application's choice", assigned.chosen));
            }
            if assigned.nested > 0 {
                text.push(format!("{} taken by a control group further inside", assigned.nested));
            }
            let refused: u64 = assigned.refused.iter().sum();
            if refused > 0 {
                text.push(format!("{refused} refused it"));
            }
            lines.push(("assigned", text.join("; ")));
        }
    }
    if let Some(connections) = &attachment.connections {
        let total: u64 = connections.values().sum();
        let mut counts: Vec<_> = connections.iter().collect();
        counts.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), (*name).clone()));
        let share = |count: u64| count as f64 * 100.0 / total.max(1) as f64;
        let text: Vec<_> =
            counts.iter().map(|(name, count)| format!("{name} {count} ({:.0} %)", share(**count))).collect();
        lines.push(("open now", if text.is_empty() { "none".to_owned() } else { text.join(", ") }));
    }
    if let Some(replaced) = &attachment.replaced {
        lines.push(("to put back", replaced.clone()));
    }
    lines
}

fn state(health: &Health) -> &'static str {
    match health {
        Health::InForce => "in force",
        Health::Unpinned => "in force, unpinned",
        Health::Overridden(_) => "overridden",
        Health::Unfinished(_) => "interrupted",
        Health::Unregistered => "gone from the kernel",
        Health::Gone(_) | Health::Remade(_) => "without a place",
        Health::Unknown(_) => "unknown",
        Health::Stale => "before boot",
        Health::Lost(None) => "no record",
        Health::Lost(Some(_)) => "in force, no record",
        Health::Foreign(_) => "another version's",
    }
}

fn trouble(attachment: &Attachment) -> Option<String> {
    let clears = "`ramp detach` clears it up";
    Some(match &attachment.health {
        Health::InForce => return None,
        Health::Unpinned => {
            "its pins have been removed, but new connections still use it; `ramp detach` puts back what was before"
                .into()
        }
        Health::Overridden(now) if Some(now) == attachment.replaced.as_ref() => {
            format!("there is {now} again, set by another process or by a detachment that died; {clears}")
        }
        Health::Overridden(now) => format!("another process has set {now} since; {clears} and leaves that"),
        Health::Unfinished(what) => format!("a process died while {what}; {clears}"),
        Health::Unregistered => {
            format!("its pins have been removed; {clears} and puts back what was before")
        }
        Health::Gone(what) => format!("the {what} no longer exists; {clears}"),
        Health::Remade(path) => format!(
            "the control group was removed and made again, as the restart of a service does; nothing is attached to the \
             new one: ramp attach {} --scope cgroup {}",
            attachment.attached.as_ref().map_or("ALGORITHM", |attached| &attached.id),
            printable(&path.to_string_lossy()),
        ),
        Health::Unknown(why) => why.clone(),
        Health::Stale => format!("the last boot has undone it; {clears}"),
        Health::Lost(Some(name)) => format!(
            "new connections use {name}, which is ramp's, but what it replaced is on no record here: detach it where it \
             was attached (--pins, --records), or set what you want, then `ramp detach`"
        ),
        Health::Lost(None) => "what it replaced is not known: set what you want, then `ramp detach`".into(),
        Health::Foreign(version) => format!(
            "a later version of ramp has written its record (format {version}): `ramp detach` of that version undoes it"
        ),
    })
}

/// Connections that had no start-up of ours.
fn plain(counters: &Counters) -> u64 {
    counters.without_storage + counters.late + counters.short_rtt
}

fn exits(counters: &Counters) -> String {
    let all = counters.all_exits();
    if all == 0 {
        return "none yet".into();
    }
    let mut reasons: Vec<_> = ExitReason::ALL
        .into_iter()
        .map(|reason| (counters.exits(reason), reason.word()))
        .filter(|(count, _)| *count > 0)
        .collect();
    reasons.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let text: Vec<_> = reasons
        .into_iter()
        .map(|(count, word)| format!("{word} {count} ({:.0} %)", count as f64 * 100.0 / all as f64))
        .collect();
    text.join(", ")
}

/// Ends of start-ups that the algorithm chose, and what came of them was not good.
fn regrets(counters: &Counters) -> Option<String> {
    let Counters { too_late, too_early, .. } = counters;
    (too_late + too_early > 0).then(|| {
        format!("{too_late} too late (losses at once), {too_early} too early (the window more than doubled)")
    })
}

fn limits(guard: Guard) -> String {
    let rtt = (guard.least_rtt_us > 0)
        .then(|| format!("round trips of at least {} ms", f64::from(guard.least_rtt_us) / 1e3));
    let bound = (guard.window_bound > 0).then(|| {
        format!("a window of at most the first one and {} x the most in flight", guard.window_bound)
    });
    rtt.into_iter().chain(bound).collect::<Vec<_>>().join(", ")
}

fn settings(attached: &AttachedAlgorithm) -> Vec<String> {
    attached.settings().into_iter().map(|(name, value)| format!("{name}={value}")).collect()
}

/// `2 h 5 min`.
fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

fn to_json(attachment: &Attachment) -> Value {
    let attached = attachment.attached.as_ref();
    let counters = attached.and_then(|attached| attached.counters).map(|counters| {
        let exits: Value = ExitReason::ALL
            .into_iter()
            .filter(|reason| *reason != ExitReason::None)
            .map(|reason| (reason.word().to_owned(), json!(counters.exits(reason))))
            .collect();
        json!({
            "opened": counters.opened,
            "closed": counters.closed,
            "open": counters.open(),
            "plain_cubic": {
                "without_storage": counters.without_storage,
                "late": counters.late,
                "short_rtt": counters.short_rtt,
            },
            "bounded": counters.bounded,
            "regrets": { "too_late": counters.too_late, "too_early": counters.too_early },
            "left_out": counters.left_out,
            "lost_events": counters.lost_events,
            "exits": exits,
        })
    });
    let assigned = attached.and_then(|attached| attached.assigned).map(|assigned| {
        json!({
            "assigned": assigned.assigned.iter().sum::<u64>(),
            "chosen": assigned.chosen,
            "nested": assigned.nested,
            "refused": assigned.refused.iter().sum::<u64>(),
        })
    });
    json!({
        "scope": attachment.scope,
        "unit": attachment.unit,
        "state": state(&attachment.health),
        "in_force": attachment.health.in_force(),
        "trouble": trouble(attachment),
        "algorithm": attached.map(|attached| attached.id.clone()),
        "settings": attached.map(|attached| {
            attached.settings().into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect::<Value>()
        }),
        "limits": attached.map(|attached| json!({
            "min_rtt_us": attached.guard.least_rtt_us,
            "window_bound": attached.guard.window_bound,
        })),
        "congestion_control":
            attached.map(|attached| attached.name.clone()).or_else(|| attachment.health.left_in_force()),
        "since_s": attached.map(|attached| attached.since_s),
        "pins": attached.map(|attached| attached.pins.clone()),
        "counters": counters,
        "places": attached.and_then(|attached| attached.places),
        "assigned": assigned,
        "open_by_congestion_control": attachment.connections,
        "replaced": attachment.replaced,
    })
}

#[cfg(test)]
mod tests {
    use super::{Guard, age, limits};

    #[test]
    fn ages_have_two_units_at_most() {
        assert_eq!([0, 59, 60, 7_500, 90_000].map(age), ["0 s", "59 s", "1 min", "2 h 5 min", "1 d 1 h"]);
    }

    #[test]
    fn limits_are_said_in_the_units_of_their_options() {
        let text = limits(Guard { least_rtt_us: 2_500, window_bound: 4 });
        assert_eq!(
            text,
            "round trips of at least 2.5 ms, a window of at most the first one and 4 x the most in flight"
        );
        assert_eq!(limits(Guard { least_rtt_us: 0, window_bound: 1 }).matches("round trips").count(), 0);
    }
}

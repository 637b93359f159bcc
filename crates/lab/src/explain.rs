//! An exit in words.

use crate::format::{bytes, count, number, of_bdp, seconds};
use crate::{Context, ExitRecord, Reason, RunRecord};

/// Why and when a run left start-up, with what, and what one round more would have brought.
///
/// `what_if` is the run of the same arm and seed with `extra_startup_rounds` set.
pub fn explain_exit(record: &RunRecord, context: &Context, what_if: Option<&RunRecord>) -> String {
    let Some(exit) = &record.exit else {
        return "never left start-up while the run lasted".to_owned();
    };
    let mut text = format!("left at {} because {}", seconds(exit.time_s), cause(exit, context));
    if let (Reason::Loss, Some(lost)) = (exit.reason, record.metric("startup_lost_packets")) {
        text.push_str(&format!(", {} in start-up", count(lost)));
    }
    if let Some(bdp) = context.over_bdp(exit.cwnd_bytes as f64) {
        text.push_str(&format!("; window {}", window(bdp)));
    }
    if let Some(judged) = exit.deciding_cwnd_bytes
        && let Some(bdp) = context.over_bdp(judged as f64)
        && exit.cwnd_before_bytes > judged + judged / 20
    {
        text.push_str(&format!(", {} when the deciding packet was sent", window(bdp)));
    }
    if let Some(later) = what_if.filter(|later| stayed_longer(exit, later)) {
        text.push_str(&outcome(record, later, context));
    }
    text
}

/// Whether the what-if run is another run at all: an algorithm that left because of loss left all the same, and
/// one that knows the path had no reason to stay.
fn stayed_longer(exit: &ExitRecord, later: &RunRecord) -> bool {
    let forced =
        matches!(exit.reason, Reason::Loss | Reason::Rto | Reason::Ecn | Reason::Known | Reason::Never);
    !forced && later.exit.as_ref().is_none_or(|later| later.time_s > exit.time_s)
}

/// "0.89 BDP", "0.4 % of the BDP".
fn window(over_bdp: f64) -> String {
    if over_bdp < 0.1 { of_bdp(over_bdp) } else { format!("{over_bdp:.2} BDP") }
}

/// The deciding comparison, and whether it measured what it meant to.
pub(crate) fn cause(exit: &ExitRecord, context: &Context) -> String {
    let (evidence, limit) = (exit.evidence as f64, exit.limit as f64);
    let known = exit.evidence > 0 || exit.limit > 0;
    match exit.reason {
        Reason::AckTrain if !known => "the ACK train grew as long as the bound".to_owned(),
        Reason::Delay if !known => "the round-trip time rose above the bound".to_owned(),
        Reason::Ssthresh => format!("the window of {} reached ssthresh of {}", bytes(evidence), bytes(limit)),
        Reason::AckTrain => {
            let both = [evidence * 1e-6, limit * 1e-6].map(seconds);
            format!("the ACK train lasted {} against a bound of {}", both[0], both[1])
        }
        Reason::Delay => {
            let both = [evidence * 1e-6, limit * 1e-6].map(seconds);
            let mut text = format!("the round-trip time rose to {} against a bound of {}", both[0], both[1]);
            match misreading(exit, context) {
                Some(Misreading::Jitter) => {
                    let queued = exit.queueing_s.unwrap_or(0.0);
                    text.push_str(&format!(
                        ", although the peak queueing delay until then was {}",
                        seconds(queued)
                    ));
                }
                Some(Misreading::Burst) => text.push_str(", a queue that its own burst made"),
                None => {}
            }
            text
        }
        Reason::Gap => {
            let both = [limit * 1e-9, evidence * 1e-9].map(seconds);
            format!("packets sent {} apart came back {} apart", both[0], both[1])
        }
        Reason::Bandwidth => {
            let both = [evidence, limit].map(bytes);
            format!("the window of {} reached measured rate times round-trip time, {}", both[0], both[1])
        }
        Reason::Loss => "packets were lost".to_owned(),
        Reason::Ecn => "the path marked packets".to_owned(),
        Reason::Rto => "the retransmission timer expired".to_owned(),
        Reason::Known => format!("the window reached the path's BDP, {}", bytes(limit)),
        Reason::Never => "the run ended".to_owned(),
    }
}

/// The same in a clause, for the verdict.
pub(crate) fn short_cause(exit: &ExitRecord, context: &Context) -> &'static str {
    match (exit.reason, misreading(exit, context)) {
        (Reason::Ssthresh, _) => "its window reached ssthresh",
        (Reason::AckTrain, Some(_)) => "its ACK train was stretched on the way",
        (Reason::AckTrain, None) => "its ACK train lasted as long as half the RTT (the HyStart limit)",
        (Reason::Delay, Some(Misreading::Jitter)) => "its delay test took jitter for queueing",
        (Reason::Delay, Some(Misreading::Burst)) => "its delay test saw the queue of its own burst",
        (Reason::Delay, None) => "its delay test saw the round-trip time rise",
        (Reason::Gap, _) => "its packet trains underestimated the rate",
        (Reason::Bandwidth, _) => "its window reached the rate it had measured",
        (Reason::Loss, _) => "it lost packets",
        (Reason::Ecn, _) => "the path marked its packets",
        (Reason::Rto, _) => "its retransmission timer expired",
        (Reason::Known, _) => "it knows the path",
        (Reason::Never, _) => "the run ended",
    }
}

/// A test that fired on something else than a full path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misreading {
    /// Less than half of the rise was queueing at the bottleneck.
    Jitter,
    /// The queue was there, but the window was below half of the BDP: a burst passed through.
    Burst,
}

pub(crate) fn misreading(exit: &ExitRecord, context: &Context) -> Option<Misreading> {
    let early = context.over_bdp(exit.cwnd_before_bytes as f64).is_some_and(|bdp| bdp < 0.5);
    match exit.reason {
        Reason::Delay => {
            let rise = exit.evidence as f64 * 1e-6 - exit.min_rtt_s?;
            match exit.queueing_s? {
                queued if rise > 0.0 && queued < rise / 2.0 => Some(Misreading::Jitter),
                _ if early => Some(Misreading::Burst),
                _ => None,
            }
        }
        Reason::AckTrain if early => Some(Misreading::Burst),
        _ => None,
    }
}

fn outcome(record: &RunRecord, later: &RunRecord, context: &Context) -> String {
    let rounds = match later.extra_startup_rounds {
        1 => "one round later".to_owned(),
        rounds => format!("{rounds} rounds later"),
    };
    let mut parts = Vec::new();
    if let Some(exit) = &later.exit
        && let Some(bdp) = context.over_bdp(exit.cwnd_bytes as f64)
    {
        parts.push(format!("have been {}", window(bdp)));
    }
    let before = record.metric("lost_packets");
    match (before, later.metric("lost_packets")) {
        (Some(before), Some(after)) if after > before => {
            parts.push(format!("have lost {} packets instead of {}", count(after), count(before)));
        }
        (_, Some(after)) if after > 0.0 => parts.push(format!("have lost {} packets", count(after))),
        (_, Some(_)) => parts.push("have lost nothing".to_owned()),
        _ => {}
    }
    match (record.metric("download_time"), later.metric("download_time")) {
        (Some(now), Some(then)) if seconds(now) == seconds(then) => {}
        (Some(now), Some(then)) => {
            let both = [then, now].map(seconds);
            parts.push(format!("have taken {} instead of {}", both[0], both[1]));
        }
        (Some(_), None) => parts.push("not have finished".to_owned()),
        _ => {
            if let (Some(now), Some(then)) = (record.metric("goodput"), later.metric("goodput")) {
                parts.push(format!("have got {} Mbit/s instead of {}", number(then), number(now)));
            }
        }
    }
    if parts.is_empty() {
        return String::new();
    }
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    format!("; {rounds} it would {}", crate::format::list(&parts))
}

//! An exit in words.

use std::fmt;

use rampcc::figures::counted;
use serde::Serializer;

use crate::context::over_bdp;
use crate::format::{bit_rate, bytes, count, number, of_bdp, seconds};
use crate::{Context, ExitReason, ExitRecord, RunRecord, StayRecord, metric};

/// What the explanation of an exit from start-up says, as numbers; [`Display`](fmt::Display) makes the words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// Exit from start-up; `None`: it never left.
    pub exit: Option<ExitRecord>,
    /// As in [`RunRecord::stay`].
    pub stay: Option<StayRecord>,
    /// True if the exit is inferred from packets; what was in flight then stands for the window.
    pub inferred: bool,
    /// Bandwidth-delay product of the run's path; 0: unknown.
    pub bdp_bytes: u64,
    /// Time that the window takes to pass the bottleneck, seconds: no more of a queue is the sender's own. `None`: unknown.
    pub own_queue_s: Option<f64>,
    /// True if a queue need not be the flow's own: other traffic, or several flows under test, cross the bottleneck.
    pub shared: bool,
    /// Packets lost in start-up.
    pub startup_lost_packets: Option<f64>,
    /// True if the run may have several flows under test: the exit is of one of them, other numbers are means over all.
    pub several: bool,
    /// What the run came to.
    pub outcome: Outcome,
    /// The same run with start-up made longer; `None`: it was not played.
    pub later: Option<Later>,
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Packets lost.
    pub lost_packets: Option<f64>,
    /// Download time, seconds; `None`: it did not finish.
    pub download_s: Option<f64>,
    /// Payload rate.
    pub goodput_mbit_s: Option<f64>,
}

/// A run whose start-up lasted longer than its algorithm would have it.
#[derive(Clone, Debug, PartialEq)]
pub struct Later {
    /// Round trips by which it was longer.
    pub rounds: u32,
    /// Exit from start-up.
    pub exit: Option<ExitRecord>,
    /// What it came to.
    pub outcome: Outcome,
}

impl Explanation {
    /// Of a run; `what_if` is the run of the same arm and seed with `extra_startup_rounds` set.
    pub fn of(record: &RunRecord, context: &Context, what_if: Option<&RunRecord>) -> Self {
        let later = |run: &RunRecord| Later {
            rounds: run.extra_startup_rounds,
            exit: run.exit.clone(),
            outcome: Outcome::of(run),
        };
        Self {
            exit: record.exit.clone(),
            stay: record.stay.clone(),
            // Of a program the path sees packets alone.
            inferred: record.emulation.as_ref().is_some_and(|emulation| emulation.wire.is_some()),
            bdp_bytes: context.bdp_bytes,
            own_queue_s: record.exit.as_ref().and_then(|exit| own_queue_s(exit, context)),
            shared: shared(context),
            startup_lost_packets: record.value(metric::STARTUP_LOST_PACKETS),
            several: context.of_several(),
            outcome: Outcome::of(record),
            later: what_if.map(later),
        }
    }
}

impl Outcome {
    fn of(run: &RunRecord) -> Self {
        Self {
            lost_packets: run.value(metric::LOST_PACKETS),
            download_s: run.value(metric::DOWNLOAD_TIME),
            goodput_mbit_s: run.value(metric::GOODPUT),
        }
    }
}

/// Reason, time, window, and the effect of one more round.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(exit) = &self.exit else {
            f.write_str("never left start-up while the run lasted")?;
            return self
                .stay
                .as_ref()
                .map_or(Ok(()), |stay| write!(f, "; {}", standing(stay, self.bdp_bytes)));
        };
        let (seems, what) =
            if self.inferred { (", as its packets suggest,", "in flight") } else { ("", "window") };
        if self.several {
            write!(f, "flow {} ", exit.flow)?;
        }
        write!(
            f,
            "left at {}{seems} because {}",
            seconds(exit.time_s),
            cause(exit, self.bdp_bytes, self.own_queue_s, self.shared)
        )?;
        match self.startup_lost_packets.filter(|_| exit.reason == ExitReason::Loss) {
            Some(0.0) => f.write_str(", or so it was believed")?,
            Some(lost) if self.several => {
                write!(f, ", {} in start-up as the mean over its flows", count(lost))?;
            }
            Some(lost) => write!(f, ", {} in start-up", count(lost))?,
            None => {}
        }
        if let Some(bdp) = over_bdp(exit.cwnd_bytes as f64, self.bdp_bytes) {
            write!(f, "; {what} {}", window(bdp))?;
        }
        if let Some(judged) = exit.deciding_cwnd_bytes
            && let Some(bdp) = over_bdp(judged as f64, self.bdp_bytes)
            && exit.cwnd_before_bytes > judged + judged / 20
        {
            write!(f, ", {} when the deciding packet was sent", window(bdp))?;
        }
        match self.later.as_ref().filter(|later| stayed_longer(exit, later)) {
            Some(later) => f.write_str(&outcome(&self.outcome, later, self.bdp_bytes)),
            None => Ok(()),
        }
    }
}

/// As text: files for programs are read by no part of ramp.
pub(crate) fn in_words<S: Serializer>(said: &Explanation, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(said)
}

/// The [`Explanation`] of a run in words.
pub fn explain_exit(record: &RunRecord, context: &Context, what_if: Option<&RunRecord>) -> String {
    Explanation::of(record, context, what_if).to_string()
}

/// Whether the what-if run is another run at all: an algorithm that left because of loss left all the same, and
/// one that knows the path had no reason to stay.
fn stayed_longer(exit: &ExitRecord, later: &Later) -> bool {
    let forced = exit.reason.is_congestion() || matches!(exit.reason, ExitReason::Known | ExitReason::None);
    !forced && later.exit.as_ref().is_none_or(|later| later.time_s > exit.time_s)
}

/// "0.89 BDP", "0.4 % of the BDP".
fn window(over_bdp: f64) -> String {
    if over_bdp < 0.1 { of_bdp(over_bdp) } else { format!("{over_bdp:.2} BDP") }
}

/// The deciding comparison, and whether it measured what it meant to.
fn cause(exit: &ExitRecord, bdp_bytes: u64, own_queue_s: Option<f64>, shared: bool) -> String {
    let reason = exit.reason;
    let side = |value: u64| match reason.unit() {
        "bytes" => bytes(value as f64),
        "us" => seconds(value as f64 * 1e-6),
        "ns" => seconds(value as f64 * 1e-9),
        "bytes/s" => bit_rate(value as f64 * 8.0),
        _ => value.to_string(),
    };
    let mut text = reason.comparison(exit.evidence, exit.limit, side);
    match (reason, misreading(exit, bdp_bytes, own_queue_s, shared)) {
        (ExitReason::Delay, Some(Misreading::Jitter)) => {
            let queued = exit.queueing_s.filter(|queued| *queued > 0.0);
            text.push_str(
                &queued.map_or(", although nothing had queued at the bottleneck".to_owned(), |queued| {
                    format!(", although its wait in the queue was {} at most", seconds(queued))
                }),
            );
        }
        (ExitReason::Delay, Some(Misreading::Burst)) => text.push_str(", a queue that its own burst made"),
        (ExitReason::Delay, Some(Misreading::Shared)) => text.push_str(", a queue that other traffic shares"),
        (ExitReason::Delay, Some(Misreading::Others)) => {
            let [queued, own] = [exit.queueing_s, own_queue_s].map(|time| seconds(time.unwrap_or(0.0)));
            text.push_str(&format!(", a queue of {queued}, of which its own packets made {own} at most"));
        }
        _ => {}
    }
    text
}

/// The same in a clause, for the verdict.
pub(crate) fn short_cause(exit: &ExitRecord, context: &Context) -> &'static str {
    match (exit.reason, misreading(exit, context.bdp_bytes, own_queue_s(exit, context), shared(context))) {
        (ExitReason::Gap, Some(_)) => "its packet trains underestimated the rate",
        (ExitReason::AckTrain, Some(_)) => "its ACK train was stretched on the way",
        (ExitReason::Delay, Some(Misreading::Jitter)) if !context.chance => {
            "its delay test saw a wait that was no queue at the bottleneck"
        }
        (ExitReason::Delay, Some(Misreading::Jitter)) => "its delay test took jitter for queueing",
        (ExitReason::Delay, Some(Misreading::Burst)) => "its delay test saw the queue of its own burst",
        (ExitReason::Delay, Some(Misreading::Shared)) => {
            "its delay test saw a queue that other traffic shares"
        }
        (ExitReason::Delay, Some(Misreading::Others)) => {
            "its delay test saw a queue that its own packets do not explain"
        }
        (reason, _) => reason.clause(),
    }
}

/// Where a flow stood that stayed in start-up, and what had made it grow more slowly: "its growth had slowed at 6.00 s,
/// with 0.4 % of the BDP, when the RTT was 48.0 ms above the smallest, of which at most 2.00 ms was queueing at the bottleneck; ...".
pub(crate) fn standing(stay: &StayRecord, bdp_bytes: u64) -> String {
    let window_of = |cwnd_bytes: u64| {
        over_bdp(cwnd_bytes as f64, bdp_bytes).map_or_else(|| bytes(cwnd_bytes as f64), window)
    };
    let last = format!("its last window was {}", window_of(stay.cwnd_bytes));
    let Some(slowing) = stay.slowing else { return last };
    let rise = (slowing.rtt_s - slowing.min_rtt_s).max(0.0);
    let queued = match slowing.queueing_s {
        None => String::new(),
        Some(0.0) => ", though nothing had queued at the bottleneck".to_owned(),
        Some(queued) => {
            format!(", of which at most {} was queueing at the bottleneck", seconds(queued.min(rise)))
        }
    };
    format!(
        "its growth had slowed at {} with {}, where the RTT was {} above the smallest{queued}; {last}",
        seconds(slowing.time_s),
        window_of(slowing.cwnd_bytes),
        seconds(rise),
    )
}

/// A test that fired on something else than a full path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Misreading {
    /// Less than half of the rise was queueing at the bottleneck.
    Jitter,
    /// The queue was there, but the window was below half of the BDP, also at the rate of that time: a burst passed through.
    Burst,
    /// The queue was there at such a window, but what else crosses the bottleneck may have left no room.
    Shared,
    /// The queue was there, but less than half of it can have been the sender's own.
    Others,
    /// Packets came back farther apart than the path serves them: the window is below half of the BDP.
    Gap,
}

/// Time that the window takes to pass the bottleneck at the rate that it had; `None`: the rate is unknown.
fn own_queue_s(exit: &ExitRecord, context: &Context) -> Option<f64> {
    let wire = exit.cwnd_before_bytes as f64 * context.wire_factor();
    let time = context.queueing_s(wire as u64, exit.deciding_sent_s.unwrap_or(exit.at_s));
    (time > 0.0).then_some(time)
}

fn shared(context: &Context) -> bool {
    context.shared || context.of_several()
}

fn misreading(
    exit: &ExitRecord,
    bdp_bytes: u64,
    own_queue_s: Option<f64>,
    shared: bool,
) -> Option<Misreading> {
    let early = over_bdp(exit.cwnd_before_bytes as f64, bdp_bytes).is_some_and(|bdp| bdp < 0.5);
    match exit.reason {
        ExitReason::Delay => {
            let min_rtt_s = exit.min_rtt_s?;
            let rise = exit.evidence as f64 * 1e-6 - min_rtt_s;
            match exit.queueing_s? {
                queued if rise > 0.0 && queued < rise / 2.0 => Some(Misreading::Jitter),
                queued if early && own_queue_s.is_some_and(|own| own < queued / 2.0) => {
                    Some(Misreading::Others)
                }
                _ if early && shared => Some(Misreading::Shared),
                _ if early && own_queue_s.is_none_or(|own| own < min_rtt_s / 2.0) => Some(Misreading::Burst),
                _ => None,
            }
        }
        ExitReason::AckTrain if early => Some(Misreading::Burst),
        ExitReason::Gap if over_bdp(exit.cwnd_bytes as f64, bdp_bytes).is_some_and(|bdp| bdp < 0.5) => {
            Some(Misreading::Gap)
        }
        _ => None,
    }
}

fn outcome(now: &Outcome, later: &Later, bdp_bytes: u64) -> String {
    let rounds = match later.rounds {
        1 => "one round later".to_owned(),
        rounds => format!("{rounds} rounds later"),
    };
    let mut parts = Vec::new();
    if let Some(exit) = &later.exit
        && let Some(bdp) = over_bdp(exit.cwnd_bytes as f64, bdp_bytes)
    {
        parts.push(format!("have been {}", window(bdp)));
    }
    let then = &later.outcome;
    match (now.lost_packets, then.lost_packets) {
        (Some(before), Some(after)) if after > before => {
            parts.push(format!("have lost {} instead of {}", counted(count(after), "packet"), count(before)));
        }
        (_, Some(after)) if after > 0.0 => {
            parts.push(format!("have lost {}", counted(count(after), "packet")));
        }
        (_, Some(_)) => parts.push("have lost nothing".to_owned()),
        _ => {}
    }
    match (now.download_s, then.download_s) {
        (Some(now), Some(then)) if seconds(now) == seconds(then) => {}
        (Some(now), Some(then)) => {
            let both = [then, now].map(seconds);
            parts.push(format!("have taken {} instead of {}", both[0], both[1]));
        }
        (Some(_), None) => parts.push("not have finished".to_owned()),
        _ => {
            if let (Some(now), Some(then)) = (now.goodput_mbit_s, then.goodput_mbit_s) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CapacityStep;

    #[test]
    fn a_queue_is_its_own_only_as_far_as_its_window_explains_it() {
        let capacity = vec![CapacityStep { from_s: 0.0, bytes_per_s: 1e6 }];
        let context = Context { bdp_bytes: 1_000_000, capacity, chance: true, ..Context::default() };
        let said_on = |context: &Context, queueing_s: f64| {
            let exit = ExitRecord {
                flow: 0,
                reason: ExitReason::Delay,
                evidence: 1_100_000,
                limit: 1_016_000,
                time_s: 3.0,
                at_s: 3.0,
                cwnd_before_bytes: 50_000,
                cwnd_bytes: 50_000,
                deciding_sent_s: None,
                deciding_cwnd_bytes: Some(25_000),
                min_rtt_s: Some(1.0),
                queueing_s: Some(queueing_s),
            };
            let long = Explanation {
                bdp_bytes: context.bdp_bytes,
                own_queue_s: own_queue_s(&exit, context),
                shared: shared(context),
                exit: Some(exit.clone()),
                ..Explanation::default()
            };
            (short_cause(&exit, context), long.to_string())
        };
        let said = |queueing_s| said_on(&context, queueing_s);
        // A window of 50 kB passes 1 MB/s in 50 ms.
        let (short, long) = said(0.09);
        assert!(short.contains("its own burst") && long.contains("its own burst made"), "{short}; {long}");
        let (short, long) = said(0.3);
        assert_eq!(short, "its delay test saw a queue that its own packets do not explain");
        assert!(long.contains("a queue of 300 ms, of which its own packets made 50.0 ms at most"), "{long}");
        // The same where something else may keep the link busy, or where the link is slow just then.
        let (short, long) = said_on(&Context { shared: true, ..context.clone() }, 0.09);
        assert_eq!(short, "its delay test saw a queue that other traffic shares");
        assert!(long.contains("a queue that other traffic shares"), "{long}");
        let slow = vec![CapacityStep { from_s: 0.0, bytes_per_s: 8e4 }];
        let (short, long) = said_on(&Context { capacity: slow, ..context.clone() }, 0.6);
        assert!(!short.contains("burst") && !long.contains("burst"), "{short}; {long}");
        let (short, _) = said(0.02);
        assert_eq!(short, "its delay test took jitter for queueing");
    }

    #[test]
    fn trains_are_said_to_underestimate_only_where_they_do() {
        let context = Context { bdp_bytes: 100_000, ..Context::default() };
        let said = |cwnd_bytes| {
            let exit = ExitRecord { reason: ExitReason::Gap, cwnd_bytes, ..ExitRecord::default() };
            short_cause(&exit, &context)
        };
        assert_eq!(said(40_000), "its packet trains underestimated the rate");
        assert_eq!(said(87_000), ExitReason::Gap.clause());
        assert!(!ExitReason::Gap.clause().contains("underestimated"));
    }
}

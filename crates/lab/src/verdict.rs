//! Verdict of a comparison, in words.

use crate::ExitReason;
use crate::comparison::{ArmSummary, Comparison, Finding, LeftOut, Pair};
use crate::explain::short_cause;
use crate::fares;
use crate::format::{bytes, count, list, number, of_bdp, quantity, seconds, share, with_interval};
use crate::gentle::{A_HAIR, burden, costs, equals};
use crate::metric::{self, Better, MetricInfo};
use crate::standing::cut_off;

/// The answer, and what belongs to it.
pub(crate) fn words(comparison: &Comparison) -> (String, Vec<String>) {
    let leader = comparison.leader.as_deref().and_then(|label| comparison.arm(label));
    let Some((leader, info)) = leader.zip(comparison.primary_info()) else {
        return (nothing_to_say(comparison), missing(&comparison.left_out).collect());
    };
    let rivals = Rivals::new(comparison, leader, info);
    let mut headline = achievement(comparison, leader, info);
    if !rivals.equal.is_empty() {
        let alike = if is_time(info) { "as fast as" } else { "as good as" };
        headline.push_str(&format!(
            ", {alike} {} (less than {} apart)",
            list(&rivals.equal),
            share(comparison.margin)
        ));
    }
    if !rivals.ahead.is_empty() {
        headline.push_str(&run_by_run(&rivals.ahead));
    }
    if !rivals.unclear.is_empty() {
        headline.push_str(&too_few(leader, &rivals));
    }
    headline.push('.');
    // Who brings a candidate asks for it first.
    let own = fares::sentences(comparison, info);
    let (headline, general) = if own.is_empty() { (headline, None) } else { (own.join(" "), Some(headline)) };
    let notable = rivals.notable(comparison).map(|pair| advantage(comparison, pair, info));
    let rest = [gentle(comparison, leader), distance(comparison, leader, info)];
    let facts = general.into_iter().chain(notable).chain(missing(&comparison.left_out));
    (headline, facts.chain(rest.into_iter().flatten()).collect())
}

/// "best and paced are missing here: this build has no BPF programs": who reads the verdict takes the table for all there is.
pub fn missing(left_out: &[LeftOut]) -> impl Iterator<Item = String> + '_ {
    left_out.iter().map(|left_out| {
        let names: Vec<&str> = left_out.rows.iter().map(String::as_str).collect();
        let are = if names.len() == 1 { "is" } else { "are" };
        format!("{} {are} missing here: {}.", list(&names), left_out.why.trim_end_matches('.'))
    })
}

/// ", though run by run paced is ahead (p = 0.002)": the leader has the best mean, and the test is of ranks or logarithms.
fn run_by_run(ahead: &[&Pair]) -> String {
    let names: Vec<&str> = ahead.iter().map(|pair| pair.arm.as_str()).collect();
    let most = ahead.iter().filter_map(|pair| pair.p).fold(0.0, f64::max);
    let are = if names.len() == 1 { "is" } else { "are" };
    let p = if most < 0.001 { "p < 0.001".to_owned() } else { format!("p = {most:.3}") };
    format!(", though run by run {} {are} ahead ({p})", list(&names))
}

/// ", but 10 runs are too few to rank it against hystart (about 24 that vary like these would do)".
fn too_few(leader: &ArmSummary, rivals: &Rivals<'_>) -> String {
    let (runs, are) = (leader.n, if leader.n == 1 { "run is" } else { "runs are" });
    let names: Vec<&str> = rivals.unclear.iter().map(|pair| pair.arm.as_str()).collect();
    let most =
        rivals.unclear.iter().map(|pair| pair.runs_needed).max_by_key(|n| n.unwrap_or(u32::MAX)).flatten();
    let all = rivals.unclear.iter().all(|pair| pair.runs_needed.is_some());
    let enough = match most.filter(|_| all) {
        Some(most) => format!(" (about {most} that vary like these would do)"),
        None if leader.n > 1 => " (not even 10 000 would do)".to_owned(),
        None => String::new(),
    };
    format!(", but {runs} {are} too few to rank it against {}{enough}", list(&names))
}

pub(crate) fn is_time(info: &MetricInfo) -> bool {
    matches!(info.unit.as_str(), "s" | "ms")
}

/// The row that the headline sets the leader against.
pub(crate) fn notable(comparison: &Comparison) -> Option<&str> {
    let leader = comparison.leader.as_deref().and_then(|label| comparison.arm(label))?;
    let rivals = Rivals::new(comparison, leader, comparison.primary_info()?);
    rivals.notable(comparison).map(|pair| pair.arm.as_str())
}

/// The other contenders, by what may be said about them, the nearest first.
struct Rivals<'a> {
    equal: Vec<&'a str>,
    unclear: Vec<&'a Pair>,
    /// Better for certain by the test, worse on average.
    ahead: Vec<&'a Pair>,
    /// Worse for certain.
    worse: Vec<&'a Pair>,
}

impl<'a> Rivals<'a> {
    fn new(comparison: &'a Comparison, leader: &ArmSummary, info: &MetricInfo) -> Self {
        let worse_is = if info.better == Better::Higher { Finding::Lower } else { Finding::Higher };
        let mut rivals =
            Self { equal: Vec::new(), unclear: Vec::new(), ahead: Vec::new(), worse: Vec::new() };
        let pairs =
            comparison.pairs.iter().filter(|pair| pair.metric == info.id && pair.against == leader.label);
        for pair in pairs {
            match pair.finding {
                Finding::Equivalent => rivals.equal.push(&pair.arm),
                // However few runs there are: nothing tells the two apart.
                Finding::CannotTell if leader.alike.contains(&pair.arm) || pair.same_values() => {
                    rivals.equal.push(&pair.arm);
                }
                finding if finding == worse_is => rivals.worse.push(pair),
                Finding::Higher | Finding::Lower => rivals.ahead.push(pair),
                Finding::CannotTell => rivals.unclear.push(pair),
            }
        }
        rivals
    }

    /// The baseline if it is worse, else the nearest that is.
    fn notable(&self, comparison: &Comparison) -> Option<&'a Pair> {
        let baseline = self.worse.iter().find(|pair| Some(&pair.arm) == comparison.baseline.as_ref());
        baseline.or(self.worse.first()).copied()
    }
}

fn nothing_to_say(comparison: &Comparison) -> String {
    if comparison.arms.iter().all(|arm| arm.n == 0) {
        return "No run has finished, so there is nothing to compare.".to_owned();
    }
    let contenders = comparison.arms.iter().any(|arm| !arm.yardstick && arm.n > 0);
    if !contenders {
        return "Only the reference has run, so there is nothing to compare.".to_owned();
    }
    if comparison.primary == metric::GOODPUT.id {
        return "Nothing got through: no algorithm delivered a byte.".to_owned();
    }
    if comparison.primary == metric::DOWNLOAD_TIME.id {
        return "No algorithm finished the transfer before the end of the run.".to_owned();
    }
    format!("No run has a value for {}, so there is nothing to compare.", comparison.primary)
}

/// "best downloads 36 MB in 11.1 s ± 0.1".
fn achievement(comparison: &Comparison, leader: &ArmSummary, info: &MetricInfo) -> String {
    let Some(summary) = leader.metric(&info.id) else { return leader.label.clone() };
    let value = with_interval(summary, &info.unit);
    let size = comparison.context.size_bytes.map_or("its data".to_owned(), |size| bytes(size as f64));
    let context = &comparison.context;
    let of_several = context.generated || (context.size_bytes.is_none() && context.flows_under_test > 1);
    let mut text = match info.id.as_str() {
        id if id == metric::DOWNLOAD_TIME.id && of_several => {
            let that_end = if context.endless_flows.is_some() { " that end" } else { "" };
            format!("{} takes {value} for a download, the mean of its flows{that_end}", leader.label)
        }
        id if id == metric::DOWNLOAD_TIME.id && comparison.context.flows_under_test > 1 => {
            let flows = comparison.context.flows_under_test;
            format!("{} downloads {size} on each of {flows} flows in {value} (their mean)", leader.label)
        }
        id if id == metric::DOWNLOAD_TIME.id => format!("{} downloads {size} in {value}", leader.label),
        id if id == metric::GOODPUT.id => {
            let of_flows = if context.of_several() { " for a flow, the mean of its flows" } else { "" };
            format!("{} gets {value}{of_flows}", leader.label)
        }
        id if id == metric::WRITE_TIME.id => {
            let what = context.writes.map_or("what is written".to_owned(), |writes| {
                let of_flows = if context.of_several() { " of each flow" } else { "" };
                let one = writes.what().trim_end_matches('s');
                format!("a {one} of {}{of_flows}", bytes(writes.bytes as f64))
            });
            format!("{} delivers {what} in {value} (their mean)", leader.label)
        }
        _ => {
            let end = if info.better == Better::Higher { "highest" } else { "lowest" };
            format!("{} has the {end} {}, {value}", leader.label, info.name)
        }
    };
    match summary.unfinished() {
        0 if summary.n < leader.n => {
            text.push_str(&format!(" in the {} of {} runs that finish", summary.n, leader.n));
        }
        0 => {}
        cut_off => text.push_str(&format!(" or more ({cut_off} of {} runs did not finish)", leader.n)),
    }
    text
}

/// "It is 2.4 times as fast as hystart, which in its median run leaves at 0.9 s with 6 % of the BDP because …".
fn advantage(comparison: &Comparison, pair: &Pair, info: &MetricInfo) -> String {
    let least = if pair.at_least { "at least " } else { "" };
    let how_much = match pair.ratio {
        Some(ratio) if info.better == Better::Higher => {
            format!("gets {}", times(1.0 / ratio, "as much as", "more than"))
        }
        Some(ratio) if is_time(info) => format!("is {least}{}", times(ratio, "as fast as", "faster than")),
        Some(ratio) => format!("has {}", times(ratio, "less than", "less than")),
        None => format!("is {} better than", quantity(pair.difference.abs(), &info.unit)),
    };
    let arm = comparison.arm(&pair.arm);
    if let Some(lost) = arm.and_then(lost_connections) {
        return format!("{} {lost}.", pair.arm);
    }
    let mut text = format!("It {how_much} {}", pair.arm);
    // Of several flows each leaves in its own way, and one slow flow may be the mean.
    let run = arm.and_then(|arm| arm.representative.as_ref()).filter(|_| !comparison.context.of_several());
    if let Some((arm, run, exit)) = arm.zip(run).and_then(|(arm, run)| Some((arm, run, run.exit.as_ref()?))) {
        let context = comparison.context.of_run(run.path.as_ref());
        let one_of_many = arm.n > 1 && comparison.context.chance;
        // A rare exit does not explain what is true on average.
        let count =
            |reason| arm.exits.iter().find(|count| count.reason == reason).map_or(0, |count| count.runs);
        if let Some(usual) = arm.exits.first().filter(|_| one_of_many && 2 * count(exit.reason) <= arm.n) {
            let how = match usual.reason {
                ExitReason::None => "never leaves start-up".to_owned(),
                reason => format!("leaves because of {}", reason.word()),
            };
            return format!("{text}, which {how} in {} of {} runs.", usual.runs, arm.n);
        }
        // Times and windows are the table's, means over runs; a cause is that of one run.
        let mean = |metric| Some(arm).filter(|_| one_of_many)?.of(metric).map(|summary| summary.mean);
        text.push_str(&format!(
            ", which leaves at {}",
            seconds(mean(metric::EXIT_TIME).unwrap_or(exit.time_s))
        ));
        let window = mean(metric::EXIT_WINDOW_BDP).or_else(|| context.over_bdp(exit.cwnd_bytes as f64));
        let in_flight = if comparison.on_wire() { " in flight" } else { "" };
        text.push_str(&window.map_or(String::new(), |bdp| format!(" with {}{in_flight}", of_bdp(bdp))));
        let which = if one_of_many { " on average, in its median run" } else { "" };
        text.push_str(&format!("{which} because {}", short_cause(exit, &context)));
    }
    text.push('.');
    text
}

/// "loses its connection in 3 of 3 runs": how long it took says nothing.
fn lost_connections(arm: &ArmSummary) -> Option<String> {
    let lost = arm.lost_connections();
    let runs = if arm.n == 1 { "its run".to_owned() } else { format!("{lost} of {} runs", arm.n) };
    (lost > 0).then(|| format!("loses its connection in {runs}"))
}

/// "2.4 times as fast as", "12 % faster than".
pub(crate) fn times(ratio: f64, multiple: &str, percent: &str) -> String {
    if ratio >= 1.2 {
        format!("{} times {multiple}", number(ratio))
    } else {
        format!("{} {percent}", share(ratio - 1.0))
    }
}

/// "ideal, told the rate and BDP in advance, takes 9.8 s, 12 % less."
fn distance(comparison: &Comparison, leader: &ArmSummary, info: &MetricInfo) -> Option<String> {
    let ideal = comparison.yardstick.as_deref().and_then(|label| comparison.arm(label))?;
    let summary = ideal.metric(&info.id)?;
    let varies = comparison.context.capacity.len() > 1;
    let told = if varies { "mean rate and BDP" } else { "rate and BDP" };
    let verb = if is_time(info) { "takes" } else { "has" };
    let mut text =
        format!("{}, told the {told} in advance, {verb} {}", ideal.label, quantity(summary.mean, &info.unit));
    let at_least = cut_off(comparison, ideal);
    if at_least {
        text.push_str(" or more");
    }
    let pair = comparison.pair(&info.id, &leader.label, &ideal.label);
    if let Some(change) = pair.and_then(|pair| pair.ratio).map(|ratio| 1.0 / ratio - 1.0)
        && change.abs() >= 0.0005
    {
        let word = if change < 0.0 { "less" } else { "more" };
        let least = if at_least { "at least " } else { "" };
        text.push_str(&format!(", {least}{} {word}", share(change.abs())));
        if pair.is_some_and(|pair| pair.finding == Finding::CannotTell) && comparison.context.chance {
            text.push_str(", which may be chance.");
            return Some(text);
        }
        let behind = if info.better == Better::Higher { change < 0.0 } else { change > 0.0 };
        if behind && !comparison.context.application_limited {
            text.push_str(if varies {
                ": it does not follow the rate"
            } else {
                ": only its start-up is ideal"
            });
        }
    }
    text.push('.');
    Some(text)
}

/// "Of these equals, enhanced is the gentlest: queue peak 61 ms, lost packets 0 (`slow_start`: 2.0 s, 3478)."
fn gentle(comparison: &Comparison, leader: &ArmSummary) -> Option<String> {
    let gentlest = comparison.gentlest.as_deref().and_then(|label| comparison.arm(label))?;
    let equals = equals(comparison, &leader.label);
    let context = &comparison.context;
    let harshest = || {
        equals
            .iter()
            .max_by(|a, b| burden(context, &equals, a).total_cmp(&burden(context, &equals, b)))
            .copied()
    };
    let other = if gentlest.label == leader.label { harshest()? } else { leader };
    let others = || equals.iter().filter(|arm| arm.label != gentlest.label);
    let gentler = others().any(|arm| burden(context, &equals, arm) <= burden(context, &equals, gentlest));
    let how = if gentler { "among the gentlest" } else { "the gentlest" };
    let least =
        others().min_by(|a, b| burden(context, &equals, a).total_cmp(&burden(context, &equals, b))).copied();
    let still =
        least.filter(|arm| burden(context, &equals, arm) < burden(context, &equals, gentlest) - A_HAIR);
    let mean =
        |arm: &ArmSummary, metric: metric::Definition| arm.of(metric).map(|summary| summary.mean.max(0.0));
    // What `less` has clearly less of than `more`, as `of` has it.
    let told = |less: &ArmSummary, more: &ArmSummary, of: &ArmSummary, named: bool| {
        let told = costs(context).filter_map(|metric| {
            let info = comparison.info(metric.id)?;
            let differ = mean(less, metric)? < 0.9 * mean(more, metric)?;
            let value = count_or_quantity(mean(of, metric)?, &info.unit);
            // The table's column is of start-up alone.
            let overall = if metric == metric::LOST_PACKETS { " overall" } else { "" };
            differ.then(|| if named { format!("{}{overall} {value}", info.name) } else { value })
        });
        told.collect::<Vec<String>>().join(", ")
    };
    let here = told(gentlest, other, gentlest, true);
    (!here.is_empty()).then(|| {
        format!(
            "Of these equals, {} is {how}: {here} ({}: {}{}).",
            gentlest.label,
            other.label,
            told(gentlest, other, other, false),
            still.map_or(String::new(), |arm| {
                format!("; gentler still, {}: {}", arm.label, told(arm, gentlest, arm, true))
            })
        )
    })
}

fn count_or_quantity(value: f64, unit: &str) -> String {
    if unit == "packets" { count(value) } else { quantity(value, unit) }
}

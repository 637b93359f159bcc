//! Reach of an answer, in words.

use rampcc::figures::counted;

use super::{CarriedRow, Carries, Influence, LOSS, UncertainField};
use crate::Comparison;
use crate::format::{seconds, share};
use crate::verdict::{self, is_time};

/// A field is said to turn the answer if its index comes by chance less often than this.
const CERTAIN: f64 = 0.05;

impl Carries {
    /// All this in one sentence; empty: there is nothing to say.
    pub(crate) fn sentence(&self, comparison: &Comparison) -> String {
        sentence(comparison, self)
    }

    pub(crate) fn warning(&self, comparison: &Comparison) -> Option<String> {
        warning(comparison, self)
    }

    pub(crate) fn method(&self, comparison: &Comparison) -> String {
        method(comparison, self)
    }
}

/// "best is within 5 % of the fastest on 58 of 64 neighbouring paths; the return link's rate turns it: …"
fn sentence(comparison: &Comparison, carries: &Carries) -> String {
    if carries.neighbourhood.paths.is_empty() {
        return String::new();
    }
    if carries.decided == 0 {
        return format!("On none of {} neighbouring paths has any row a result.", carries.undecided());
    }
    let simulated = if carries.backend.is_some() { "simulated " } else { "" };
    let paths = if carries.decided == 1 { "path" } else { "paths" };
    let place = format!("{simulated}neighbouring {paths}{}", without(comparison, carries));
    let margin = share(comparison.margin);
    let top = if comparison.primary_info().is_some_and(is_time) { "fastest" } else { "leader there" };
    let rest = assumed(&carries.neighbourhood.fields);
    let played = |leader: &&str| carries.rows.iter().any(|row| row.label == **leader);
    let Some(leader) = comparison.leader.as_deref().filter(played) else {
        // Shares stand in the table all the same.
        let Some(row) = carries.furthest(None) else { return String::new() };
        let paths = carries.paths(row);
        let (label, decided) = (&row.label, carries.decided);
        let absent = comparison
            .leader
            .as_ref()
            .map_or(String::new(), |leader| format!("; {leader} was not played there"));
        return format!(
            "{label} carries furthest: it is within {margin} of the {top} on {paths} of {decided} {place}{absent}.{rest}"
        );
    };
    if carries.holds == carries.decided {
        let all = if carries.decided == 1 { "the".to_owned() } else { format!("all {}", carries.decided) };
        let all = format!("{leader} is within {margin} of the {top} on {all} {place}.");
        return all + &against(comparison, carries, leader) + &rest;
    }
    let only = if carries.holds * 2 < carries.decided { "only " } else { "" };
    let mut text = format!(
        "{leader} is within {margin} of the {top} on {only}{} of {} {place}",
        carries.holds, carries.decided
    );
    match carries.turning().and_then(|found| Some((found, carries.neighbourhood.fields.get(found.field)?))) {
        Some((found, field)) => text.push_str(&turning(carries, found, field)),
        None if carries.influences.is_empty() => {}
        None => text.push_str("; no single field decides where"),
    }
    if let Some(row) = carries.furthest(Some(leader)) {
        text.push_str(&format!("; {} carries further, {}", row.label, carries.paths(row)));
    }
    text.push('.');
    text + &against(comparison, carries, leader) + &rest
}

/// " (2 more are undecided: no row finishes there within 30 s)": paths that the shares leave out.
fn without(comparison: &Comparison, carries: &Carries) -> String {
    let undecided = carries.undecided();
    let silent = |path: &usize| carries.rows.iter().all(|row| row.yardstick || row.values[*path].is_none());
    let paths = carries.neighbourhood.paths.len();
    let why = if (0..paths).filter(silent).count() < undecided {
        String::new()
    } else if comparison.primary_info().is_some_and(is_time) {
        format!(": no row finishes there within {}", seconds(comparison.context.end_s))
    } else {
        ": no row has a result there".to_owned()
    };
    match undecided {
        0 => String::new(),
        1 => format!(" (1 more is undecided{why})"),
        more => format!(" ({more} more are undecided{why})"),
    }
}

/// " Assumed there: the loss 0 to 0.01 %.": the ranges that were not typed, so that they are not taken for the path's own.
fn assumed(fields: &[UncertainField]) -> String {
    let ranges: Vec<String> = (fields.iter().filter(|field| field.assumed))
        .map(|field| format!("{} {}", name(&field.field), field.values))
        .collect();
    if ranges.is_empty() { String::new() } else { format!(" Assumed there: {}.", ranges.join(", ")) }
}

/// "But of 64 neighbouring paths `rapid` is within 5 % of the fastest on 60, best on 8.": a reader of one line would take the
/// wrong row elsewhere.
fn warning(comparison: &Comparison, carries: &Carries) -> Option<String> {
    let leader = comparison.leader.as_deref()?;
    let row = carries.furthest(Some(leader)).filter(|_| carries.holds * 2 < carries.decided)?;
    let top = if comparison.primary_info().is_some_and(is_time) { "fastest" } else { "leader" };
    Some(format!(
        "But of {} neighbouring paths{} {} is within {} of the {top} on {}, {leader} on {}.",
        carries.decided,
        without(comparison, carries),
        row.label,
        share(comparison.margin),
        carries.paths(row),
        carries.holds
    ))
}

/// " There hystart is more than 5 % slower on 50 of 64, and more than 5 % faster on 9.": whether the headline's difference holds.
fn against(comparison: &Comparison, carries: &Carries, leader: &str) -> String {
    let row = |label: &str| carries.rows.iter().find(|row| row.label == label);
    let Some((rival, own)) = verdict::notable(comparison).and_then(|rival| Some((row(rival)?, row(leader)?)))
    else {
        return String::new();
    };
    let behind: Vec<f64> = (rival.regrets.iter().zip(&own.regrets))
        .filter_map(|(theirs, ours)| Some((1.0 + (*theirs)?) / (1.0 + (*ours)?)))
        .collect();
    let beyond = 1.0 + comparison.margin;
    let worse = behind.iter().filter(|ratio| **ratio > beyond).count();
    let better = behind.iter().filter(|ratio| **ratio < 1.0 / beyond).count();
    let (slower, faster) = if comparison.primary_info().is_some_and(is_time) {
        ("slower", "faster")
    } else {
        ("worse", "better")
    };
    let margin = share(comparison.margin);
    let all = behind.len();
    let of_both = if all < carries.decided as usize {
        format!(" ({all} have a result of both)")
    } else {
        String::new()
    };
    if worse == 0 && better == 0 {
        return format!(" On these paths {} is as good, within {margin}{of_both}.", rival.label);
    }
    if worse == all {
        return format!(" There {} is more than {margin} {slower} on all of them{of_both}.", rival.label);
    }
    let of_both = if of_both.is_empty() { "" } else { " that have a result of both" };
    let (only, worse) = match worse {
        0 => ("", "none".to_owned()),
        few if few * 2 < all => ("only ", few.to_string()),
        many => ("", many.to_string()),
    };
    let less = match better {
        0 => format!("never that much {faster}"),
        paths => format!("more than {margin} {faster} on {paths}"),
    };
    format!(
        " There {} is more than {margin} {slower} on {only}{worse} of {all}{of_both}, and {less}.",
        rival.label
    )
}

/// "; the return link's rate turns it: below 3.1 Mbit/s on 2 of 18, above on 46 of 46 (below it paced leads on 12)".
fn turning(carries: &Carries, found: &Influence, field: &UncertainField) -> String {
    let mut text = format!("; {} turns it", name(&field.field));
    let Some(split) = &found.split else { return text };
    let ((below, lower), (above, upper)) = (split.holds_below, split.holds_above);
    let rate = |(holds, of): (u32, u32)| f64::from(holds) / f64::from(of.max(1));
    let weak_below = rate(split.holds_below) <= rate(split.holds_above);
    let (word, value, weak, other, strong) = if weak_below {
        ("below", &split.above, (below, lower), "above", (above, upper))
    } else {
        ("above", &split.below, (above, upper), "below", (below, lower))
    };
    text.push_str(&format!(
        ": {word} {} on {} of {}, {other} on {} of {}",
        short(value),
        weak.0,
        weak.1,
        strong.0,
        strong.1
    ));
    let inside = |at: f64| (at < split.at) == weak_below;
    if let Some((rival, paths)) = carries.rival(found.field, inside) {
        text.push_str(&format!(" ({word} it {rival} leads on {paths})"));
    }
    text
}

/// What a reader calls a field.
pub fn name(field: &str) -> String {
    let parts: Vec<&str> = field.split('.').filter(|part| part.parse::<usize>().is_err()).collect();
    let (place, rest) = match parts.as_slice() {
        ["path" | "dumbbell", "reverse", rest @ ..] => ("the return link's ", rest),
        ["path" | "dumbbell" | "parking-lot", rest @ ..] => ("the ", rest),
        _ => return format!("`{field}`"),
    };
    let what = match rest {
        ["rate"] => "rate",
        ["rtt"] => "round-trip time",
        ["delay"] => "delay",
        ["buffer"] => "buffer",
        ["queue"] => "queue",
        ["queue", "above"] => "level of the queue from which packets are dropped",
        ["queue", ..] => return format!("`{field}`"),
        ["loss", "to-bad"] => "chance that a burst of losses begins",
        ["loss", "to-good"] => "chance that a burst of losses ends",
        ["loss", "bad"] => "loss within a burst",
        ["loss", "good"] => "loss between bursts",
        ["loss", ..] => "loss",
        ["jitter"] => "jitter",
        ["jitter", "period"] => "time between grants",
        ["jitter", "assured"] => "assured bytes of a grant",
        ["jitter", "request-delay"] => "delay of a request for capacity",
        ["jitter", "amplitude"] => "slow swing of the delay",
        ["jitter", ..] => "jitter",
        ["ack-filter", ..] => "aggregation of ACKs",
        ["cross-traffic"] => "cross traffic",
        _ => return format!("`{field}`"),
    };
    format!("{place}{what}")
}

/// `3.162 Mbit/s` as `3.2 Mbit/s`.
pub fn short(value: &str) -> String {
    let (digits, unit) = value.split_once(' ').unwrap_or((value, ""));
    let Ok(found) = digits.parse::<f64>() else { return value.to_owned() };
    let rounded: f64 = format!("{found:.1e}").parse().unwrap_or(found);
    format!("{rounded} {unit}").trim_end().to_owned()
}

/// How it was found.
fn method(comparison: &Comparison, carries: &Carries) -> String {
    let fields = carries.neighbourhood.fields.len();
    let simulated = match &carries.backend {
        Some(_) => " The neighbours are the simulator's, not those of what played the comparison.",
        None => "",
    };
    format!(
        "How far the answer carries: {} drawn from the ranges of {fields} uncertain {} (Sobol's sequence with Owen's \
         scrambling), one run of each row on each, all rows with the path's own seed. A row is within {} of the leader there or it is not; \
         a run that does not finish counts with the time at which it was cut off. What turns the answer: first-order Sobol indices of \
         ln(1 + regret) by ranks (Gamboa et al. 2022), {} shuffles, Holm over the fields. The nearest loss is of more than {}, by the root \
         mean square over all ranges.{simulated}",
        counted(carries.neighbourhood.paths.len(), "path"),
        if fields == 1 { "field" } else { "fields" },
        share(comparison.margin),
        super::influence::SHUFFLES,
        share(LOSS),
    )
}

impl Carries {
    /// The field that decides most, if that is certain.
    pub fn turning(&self) -> Option<&Influence> {
        self.influences.first().filter(|influence| influence.p < CERTAIN)
    }

    /// Paths that no share counts: no row has a result there, or not every row was played.
    pub(crate) fn undecided(&self) -> usize {
        self.neighbourhood.paths.len().saturating_sub(self.decided as usize)
    }

    /// On how many of the decided paths a row is within the margin.
    pub(crate) fn paths(&self, row: &CarriedRow) -> u32 {
        (row.carries.unwrap_or_default() * f64::from(self.decided)).round() as u32
    }

    /// The row that carries furthest, and further than the leader, if there is one.
    fn furthest(&self, leader: Option<&str>) -> Option<&CarriedRow> {
        let of = |row: &CarriedRow| row.carries.unwrap_or(-1.0);
        let leads = |row: &&CarriedRow| Some(row.label.as_str()) == leader;
        let own = self.rows.iter().find(leads).map_or(-1.0, of);
        let mut others = self.rows.iter().filter(|row| !leads(row) && of(row) > own);
        let first = others.next()?;
        Some(others.fold(first, |best, row| if of(row) > of(best) { row } else { best }))
    }

    /// The contender that is most often the best where a field is `inside`, other than the leader, and on how many paths.
    fn rival(&self, field: usize, inside: impl Fn(f64) -> bool) -> Option<(&str, usize)> {
        let paths = &self.neighbourhood.paths;
        let here = |i: &usize| paths[*i].at.get(field).is_some_and(|at| inside(*at));
        let leads = |row: &CarriedRow| {
            let zero = |i: &usize| row.values[*i].is_some() && row.regrets[*i].is_some_and(|r| r <= 1e-12);
            (0..paths.len()).filter(here).filter(zero).count()
        };
        let mut counts: Vec<(&str, usize)> = self
            .rows
            .iter()
            .filter(|row| !row.yardstick)
            .map(|row| (row.label.as_str(), leads(row)))
            .collect();
        counts.sort_by_key(|(_, paths)| std::cmp::Reverse(*paths));
        counts.into_iter().next().filter(|(_, paths)| *paths > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_names() {
        for (field, expected) in [
            ("path.reverse.rate", "the return link's rate"),
            ("path.buffer", "the buffer"),
            ("path.reverse.jitter.0.period", "the return link's time between grants"),
            ("path.reverse.jitter.0.assured", "the return link's assured bytes of a grant"),
            ("path.cross-traffic", "the cross traffic"),
            ("sender.initial-window", "`sender.initial-window`"),
        ] {
            assert_eq!(name(field), expected);
        }
    }

    #[test]
    fn values_of_a_split_have_two_digits() {
        assert_eq!(short("3.162 Mbit/s"), "3.2 Mbit/s");
        assert_eq!(short("0.0001234"), "0.00012");
        assert_eq!(short("250 packets"), "250 packets");
        assert_eq!(short("drop-tail"), "drop-tail");
    }
}

//! A recommendation as text.

use std::fmt::Write as _;

use rampcc::figures::{counted, span};

use super::judge::{BySize, Flip, Judged, Recommendation, SLIGHT, no_harm};
use crate::judge::Interval;
use crate::text::{Cells, percent, percent_fine, ratio, size};

/// Packets of an initial window, at most (RFC 6928 §2).
const STANDARD_WINDOW: u32 = 10;

/// Headings and what they mean, for the table and for `ramp explain`.
pub const COLUMNS: [(&str, &str); 13] = [
    ("initial window", "packets that may be sent before the first ACK"),
    ("start-up", "as the stack calls it"),
    ("pacing", "as the stack calls it; –: the start-up paces by itself"),
    (
        "× ideal",
        "download time over that of a sender that knows the path: geometric mean over paths and sizes",
    ),
    (
        "costs",
        "by how much it is slower than the recommended choice, 95 % interval over paths; `tied`: the interval holds 0",
    ),
    ("slower", "share of paths and sizes on which it takes over 5 % longer than the fastest choice"),
    ("worst", "the largest ratio to a sender that knows the path"),
    ("lost", "payload lost over the file, mean"),
    ("queue", "queueing delay not exceeded for 95 % of a download, median over the paths"),
    (
        "others lose",
        "packets that a running flow loses because of it, over those that pipe and buffer hold together, mean; missing where no path has a running flow",
    ),
    (
        "crowd",
        "download time where twenty downloads begin within two round trips, all with this choice, over that with the default; –: one did not end",
    ),
    ("crowd p95", "95th percentile of the download times there, over that with the default"),
    ("crowd loses", "packets dropped there, over those that the files have"),
];

/// The table, the fastest choice first.
pub fn table(found: &Recommendation) -> Cells {
    let head = COLUMNS.iter().map(|(heading, _)| (*heading).to_owned()).collect();
    let row = |choice: &Judged| {
        let mark = if choice.label == found.recommended {
            "recommended".to_owned()
        } else {
            choice.over_recommended.as_ref().map_or("–".to_owned(), against)
        };
        vec![
            choice.initial_window.to_string(),
            format!("{}{}", choice.start_up, if choice.default { " (default)" } else { "" }),
            if choice.pacing.is_empty() { "–".to_owned() } else { choice.pacing.clone() },
            ratio(choice.ideal),
            mark,
            percent(choice.slower),
            ratio(choice.worst),
            format!("{:.2} %", 100.0 * choice.lost),
            format!("{:.1} ms", choice.queue_ms),
            choice.others_lost.map_or("–".to_owned(), |lost| format!("{lost:.3}")),
            choice.crowd.map_or("–".to_owned(), |crowd| ratio(crowd.time)),
            choice.crowd.map_or("–".to_owned(), |crowd| ratio(crowd.slowest)),
            choice.crowd.map_or("–".to_owned(), |crowd| percent(crowd.dropped)),
        ]
    };
    let mut table = Cells { head, rows: found.choices.iter().map(row).collect() };
    // Where no path has a running flow the column says nothing.
    if found.choices.iter().all(|choice| choice.others_lost.is_none()) {
        let place = COLUMNS.iter().position(|(heading, _)| *heading == "others lose").unwrap_or_default();
        for cells in std::iter::once(&mut table.head).chain(&mut table.rows) {
            cells.remove(place);
        }
    }
    table
}

/// `+12 to +18 %`, `-3 to -1 %`, `+0.2 to +1.1 %`, `+9 %` where both ends read alike.
fn against(over: &Interval) -> String {
    if over.tied() {
        return "tied".to_owned();
    }
    let ends = [over.low, over.high].map(|ratio| 100.0 * (ratio - 1.0));
    // An end that is not 0 does not read as 0.
    let digits = usize::from(ends.iter().any(|end| end.abs() < 0.5));
    let [low, high] = ends.map(|end| match format!("{end:+.digits$}").as_str() {
        "+0.0" | "-0.0" => "0".to_owned(),
        other => other.to_owned(),
    });
    format!("{} %", span(&low, &high))
}

/// What it says, a paragraph each.
pub fn sentences(found: &Recommendation) -> Vec<String> {
    let more = [largest(found), without_crowds(found), faster(found)].into_iter().flatten();
    let mut all = vec![std::iter::once(recommended(found)).chain(more).collect::<Vec<_>>().join(" ")];
    if found.paths == 1 {
        all.push("All of this is of one path, and says nothing of how sure it is on others.".to_owned());
    }
    all.extend(to_set(found));
    all.push(holds(found));
    all.extend(found.flips.iter().map(flipped));
    all.push(sizes(found));
    all
}

/// What would be faster, and its price.
fn faster(found: &Recommendation) -> Option<String> {
    let label = found.faster.as_ref()?;
    let choice = found.choices.iter().find(|choice| choice.label == *label)?;
    let over = choice.over_recommended.as_ref()?;
    // Said already.
    if found.without_crowds.as_ref() == Some(label) {
        return None;
    }
    let default = found.choices.iter().find(|choice| choice.label == found.default)?;
    let mut harm = Vec::new();
    if choice.lost > default.lost + SLIGHT {
        harm.push(format!(
            "It loses {:.2} % of the file, the default {:.2} %.",
            100.0 * choice.lost,
            100.0 * default.lost
        ));
    }
    if let (Some(lost), Some(by_default)) = (choice.others_lost, default.others_lost)
        && lost > by_default + SLIGHT
    {
        harm.push(format!(
            "It costs a running flow {lost:.3} of what pipe and buffer hold, the default {by_default:.3}."
        ));
    }
    if !no_harm(choice.crowd, default.crowd) {
        harm.push(together(choice, default));
    }
    let less = percent(1.0 - over.ratio);
    if harm.is_empty() {
        return Some(format!("{label} takes {less} less time."));
    }
    Some(format!("{label} takes {less} less time, but does more harm than the default. {}", harm.join(" ")))
}

/// What twenty of a choice do that start together.
fn together(choice: &Judged, default: &Judged) -> String {
    match (choice.crowd, default.crowd) {
        (Some(crowd), Some(by_default)) => format!(
            "Twenty of them that start together lose {} of their files, by default {}, and the slowest of them take {} times as long.",
            percent(crowd.dropped),
            percent(by_default.dropped),
            ratio(crowd.slowest)
        ),
        _ => "Of twenty that start together some do not end.".to_owned(),
    }
}

/// What would be recommended if connections never started together, and what that does where they do.
fn without_crowds(found: &Recommendation) -> Option<String> {
    let label = found.without_crowds.as_ref()?;
    let choice = |label: &str| found.choices.iter().find(|choice| choice.label == label);
    let (other, default) = (choice(label)?, choice(&found.default)?);
    let less = percent(1.0 - other.over_recommended.as_ref()?.ratio);
    let set = if other.set.is_empty() { String::new() } else { format!(" ({})", other.set.join("; ")) };
    let harm = together(other, default);
    Some(format!("If connections never start in crowds, {label} takes {less} less time{set}. {harm}"))
}

/// Where the answer is the end of what was tried, or beyond what the standard allows.
fn largest(found: &Recommendation) -> Option<String> {
    let largest = found.choices.iter().map(|choice| choice.initial_window).max()?;
    let chosen = found.choices.iter().find(|choice| choice.label == found.recommended)?;
    let alone = found.choices.iter().all(|choice| choice.initial_window == largest);
    let end = if chosen.initial_window == largest && !alone {
        format!("{largest} packets is the largest initial window that was tried. ")
    } else {
        String::new()
    };
    let wide = chosen.initial_window > STANDARD_WINDOW;
    let standard = format!("RFC 6928 allows {STANDARD_WINDOW} packets.");
    (wide || !end.is_empty()).then(|| (end + if wide { &standard } else { "" }).trim_end().to_owned())
}

fn recommended(found: &Recommendation) -> String {
    let choice = |label: &str| found.choices.iter().find(|choice| choice.label == label);
    let (Some(chosen), Some(default)) = (choice(&found.recommended), choice(&found.default)) else {
        return String::new();
    };
    let mut text = format!(
        "Recommended: {}, {} × the time of a sender that knows the path.",
        found.recommended,
        ratio(chosen.ideal)
    );
    if chosen.default {
        return text
            + " That is the stack's default: of the choices that lose no more, cost a running flow no more, and do a crowd no harm, none is certainly over 5 % faster.";
    }
    let longer = default.over_recommended.as_ref().map_or(String::new(), |over| {
        if over.tied() {
            " is as fast and".to_owned()
        } else {
            let share = |ratio: f64| match (ratio - 1.0).abs() {
                small @ ..0.02 => percent_fine(small),
                large => percent(large),
            };
            let [ratio, low, high] = [over.ratio, over.low, over.high].map(share);
            let (word, low, high) =
                if over.ratio < 1.0 { ("less", high, low) } else { ("longer", low, high) };
            let ends = if low == high { String::new() } else { format!(" ({low} to {high})") };
            format!(" takes {ratio} {word}{ends} and")
        }
    });
    let _ = write!(
        text,
        " The default, {},{longer} loses {:.2} % of the file; the recommended choice loses {:.2} %.",
        found.default,
        100.0 * default.lost,
        100.0 * chosen.lost
    );
    text
}

fn to_set(found: &Recommendation) -> Option<String> {
    let chosen = found.choices.iter().find(|choice| choice.label == found.recommended)?;
    (!chosen.set.is_empty()).then(|| format!("To set it: {}", chosen.set.join("; ")))
}

fn holds(found: &Recommendation) -> String {
    let turns = match (found.flips.is_empty(), found.holds == found.paths) {
        (false, _) => " Where another one is faster on average:",
        (true, true) => " No property of a path by itself makes another choice over 5 % faster.",
        (true, false) if found.holds == 0 => " Everywhere another choice is faster.",
        (true, false) => {
            " On the others another choice is faster, and no property of a path by itself says where."
        }
    };
    format!(
        "It is within 5 % of the fastest choice on {} of {}.{turns}",
        found.holds,
        counted(found.paths, "path")
    )
}

fn flipped(flip: &Flip) -> String {
    format!(
        "- {} ({}): {}; the recommended choice takes {} longer there",
        flip.condition,
        counted(flip.paths, "path"),
        flip.instead,
        percent(flip.costs - 1.0)
    )
}

fn sizes(found: &Recommendation) -> String {
    let one = |by: &BySize| {
        if by.fastest == found.recommended {
            format!("{}: the recommended choice", size(by.bytes))
        } else {
            format!("{}: {} (recommended: +{})", size(by.bytes), by.fastest, percent(by.recommended - 1.0))
        }
    };
    let all: Vec<String> = found.by_size.iter().map(one).collect();
    format!("Fastest by size of download: {}.", all.join("; "))
}

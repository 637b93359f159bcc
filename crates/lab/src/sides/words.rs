//! Sides in words: made at the end, from their numbers. Nothing reads them back.

use serde::Serialize;

use super::{Difference, SideBySide, SideRow};
use crate::comparison::{Comparison, Finding};
use crate::format::list;
use crate::{Note, notes, verdict};

/// What sides say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SidesWords {
    /// Agreement of the sides, a sentence for each after the first.
    pub verdict: String,
    /// Notes that a reader needs with it, each with its side.
    pub notes: Vec<String>,
}

impl SidesWords {
    /// Of sides and the comparisons that they were made of, in the same order.
    pub fn of(all: &SideBySide, comparisons: &[Comparison]) -> Self {
        let agreements: Vec<String> = (1..all.sides.len()).map(|side| agreement(all, side)).collect();
        Self { verdict: agreements.join(" "), notes: notes(&all.sides, comparisons) }
    }
}

/// What holds for all sides is said once.
fn notes(sides: &[String], comparisons: &[Comparison]) -> Vec<String> {
    let notes: Vec<Vec<Note>> = comparisons.iter().map(notes::notes).collect();
    let common = |note: &&Note| notes.iter().all(|side| side.contains(note));
    let own = sides.iter().zip(&notes).flat_map(|(name, side)| {
        let own = side.iter().filter(|note| !common(note));
        own.map(move |note| format!("{name}: {}", note.plain()))
    });
    let missing = sides.iter().zip(comparisons).flat_map(|(name, side)| {
        verdict::missing(&side.left_out).map(move |missing| format!("{name}: {missing}"))
    });
    let on_wire = sides.iter().zip(comparisons).filter(|(_, side)| side.on_wire());
    let on_wire =
        on_wire.map(|(name, _)| format!("{name}: its windows are the bytes in flight that the path saw."));
    let of_all = notes.first().into_iter().flatten().filter(common);
    missing.chain(own).chain(on_wire).chain(of_all.map(Note::plain)).collect()
}

/// "Of 9 rows that both played, 7 have the same download time on linux as on sim within 5 %, 1 differs by more, and the runs do not
/// tell for 1; the largest difference is +7.1 % (paced)."
fn agreement(all: &SideBySide, side: usize) -> String {
    let (first, second) = (&all.sides[0], &all.sides[side]);
    let name = all.info(&all.primary).map_or(all.primary.as_str(), |info| info.name.as_str());
    let found = |row: &SideRow| {
        let difference = row.metric(&all.primary)?.difference(side)?;
        Some((row.label.clone(), difference.ratio?, *difference))
    };
    let rows: Vec<(String, f64, Difference)> = all.rows.iter().filter_map(found).collect();
    let far = |ratio: f64| libm::log(ratio).abs();
    let Some((label, most, _)) = rows.iter().max_by(|a, b| far(a.1).total_cmp(&far(b.1))) else {
        return format!("No row has a {name} on {first} and on {second}.");
    };
    let percent = |ratio: f64| format!("{:+.1} %", (ratio - 1.0) * 100.0);
    if let [(only, ratio, difference)] = rows.as_slice() {
        let reach = difference.ratio_interval.map(|interval| [interval.low, interval.high].map(percent));
        let reach = match reach {
            Some([low, high]) if low != high => format!(" ({low} to {high})"),
            _ => String::new(),
        };
        return format!(
            "{only}: its {name} on {second} differs by {}{reach} from that on {first}.",
            percent(*ratio)
        );
    }
    let within = rows.iter().filter(|(_, _, difference)| difference.finding == Finding::Equivalent).count();
    let apart = rows.iter().filter(|(_, ratio, difference)| beyond(*ratio, difference, all.margin)).count();
    let mut parts = vec![format!(
        "{within} {} the same {name} on {second} as on {first} within {:.0} %",
        if within == 1 { "has" } else { "have" },
        all.margin * 100.0
    )];
    if apart > 0 {
        parts.push(format!("{apart} {} by more", if apart == 1 { "differs" } else { "differ" }));
    }
    let untold = rows.len() - within - apart;
    if untold > 0 {
        parts.push(format!("the runs do not tell for {untold}"));
    }
    let parts = list(&parts.iter().map(String::as_str).collect::<Vec<_>>());
    format!(
        "Of {} rows that both played, {parts}; the largest difference is {} ({label}).",
        rows.len(),
        percent(*most)
    )
}

/// Whether a ratio is surely larger or smaller than the margin allows.
fn beyond(ratio: f64, difference: &Difference, margin: f64) -> bool {
    let [low, high] = difference.ratio_interval.map_or([ratio; 2], |interval| [interval.low, interval.high]);
    let certain = difference.finding != Finding::CannotTell;
    certain
        && difference.finding != Finding::Equivalent
        && (low > 1.0 + margin || high < 1.0 / (1.0 + margin))
}

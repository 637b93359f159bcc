//! A comparison in words: made at the end, from its numbers, for output. Nothing reads them back.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::comparison::Comparison;
use crate::{EmulationSummary, notes, pairs, verdict};

/// What a comparison says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Words {
    /// The answer in one sentence; where candidates were played, one for each of how it fares.
    pub headline: String,
    /// Where it does not hold, in one sentence, if another row carries much further: for who reads the headline alone.
    #[serde(skip)]
    pub elsewhere: Option<String>,
    /// Further facts, a sentence each: who leads where the headline is about a candidate, how far behind the notable rival is and
    /// why, which rows are missing, which of several equals is the gentlest, where the reference stands.
    pub facts: Vec<String>,
    /// How far the answer carries, in one sentence; `None`: no neighbouring paths were played.
    #[serde(skip)]
    pub reach: Option<String>,
    /// The headline, the facts and how far the answer carries as one text.
    pub verdict: String,
    /// Notes that a reader needs with the verdict: missing runs, unfinished transfers, two modes.
    pub notes: Vec<Note>,
    /// Methods behind the numbers, one sentence each.
    pub method: Vec<String>,
}

/// A note that a reader needs with the verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Label of the row that it is about; `None`: all of them.
    pub row: Option<String>,
    /// A sentence that needs no subject where it is about a row.
    pub text: String,
    /// True if the mean of that row says less than it seems to.
    pub starred: bool,
}

impl Note {
    pub(crate) fn of_all(text: impl Into<String>) -> Self {
        Self { row: None, text: text.into(), starred: false }
    }

    pub(crate) fn of(row: &str, text: impl Into<String>) -> Self {
        Self { row: Some(row.to_owned()), text: text.into(), starred: false }
    }

    /// `hystart: 3 of 10 runs are there.`
    pub fn plain(&self) -> String {
        self.row.as_ref().map_or_else(|| self.text.clone(), |row| format!("{row}: {}", self.text))
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.starred { "* " } else { "" }, self.plain())
    }
}

/// As text: what it is made of is for reports.
impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Words {
    /// Of a comparison that is complete.
    pub fn of(comparison: &Comparison) -> Self {
        let (headline, facts) = verdict::words(comparison);
        let reach = comparison.carries.as_ref().map(|carries| carries.sentence(comparison));
        let reach = reach.filter(|reach| !reach.is_empty());
        let elsewhere = comparison.carries.as_ref().and_then(|carries| carries.warning(comparison));
        let sentences: Vec<&str> =
            std::iter::once(&headline).chain(&facts).chain(&reach).map(String::as_str).collect();
        let verdict = sentences.join(" ");
        let mut method = method(comparison);
        method.extend(comparison.emulation.as_ref().map(played));
        method.extend(comparison.carries.as_ref().map(|carries| carries.method(comparison)));
        Self { headline, elsewhere, verdict, notes: notes::notes(comparison), method, facts, reach }
    }
}

/// Notes that say the same of several rows, as one: `a, b and 3 more: ...`.
pub(crate) fn grouped(notes: &[Note]) -> Vec<Note> {
    const NAMED: usize = 4;
    let mut groups: Vec<(Vec<&str>, &Note)> = Vec::new();
    for note in notes {
        let row = note.row.as_deref();
        match groups.iter_mut().find(|(of, known)| row.is_some() && !of.is_empty() && known.text == note.text)
        {
            Some((of, _)) => of.extend(row),
            None => groups.push((row.into_iter().collect(), note)),
        }
    }
    let rows = |of: &[&str]| match of {
        [] => None,
        few if few.len() <= NAMED => Some(few.join(", ")),
        several => {
            Some(format!("{} and {} more", several[..NAMED - 1].join(", "), several.len() + 1 - NAMED))
        }
    };
    groups.into_iter().map(|(of, first)| Note { row: rows(&of), ..first.clone() }).collect()
}

/// How runs in real time were made.
fn played(emulation: &EmulationSummary) -> String {
    format!(
        "Played in real time with the TCP of {}: real sockets in two network namespaces, joined by the links of the simulator under a real clock. {}. The path is the same for the same seed; what hosts do at the same time is not.",
        emulation.kernel, emulation.sockets
    )
}

fn method(comparison: &Comparison) -> Vec<String> {
    let chance = comparison.context.chance;
    let mut method = Vec::new();
    if chance {
        method.push(
            "All algorithms met the same random numbers: run i of each used seed i, so differences are paired.".to_owned(),
        );
        method.push(
            "Intervals of means are 95 %: bias-corrected accelerated bootstrap (4000 resamples) from 10 runs on, Student's t \
             below, or the smallest and largest value where that would reach below zero."
                .to_owned(),
        );
    }
    method.extend(pairs::method(comparison.margin, &comparison.context));
    if chance {
        method.push("Two modes are reported where Hartigan's dip test rejects one mode at 5 %.".to_owned());
    }
    method
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_note_on_several_rows_is_one() {
        let notes = [
            Note::of("a", "late."),
            Note { starred: true, ..Note::of("a b", "late.") },
            Note::of_all("One run each."),
            Note::of("c", "late."),
            Note::of("c", "lost."),
        ];
        let said: Vec<String> = grouped(&notes).iter().map(Note::plain).collect();
        assert_eq!(said, ["a, a b, c: late.", "One run each.", "c: lost."]);
    }
}

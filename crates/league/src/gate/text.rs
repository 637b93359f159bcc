//! Gates as text.

use std::fmt::Write as _;

use rampcc::figures::{counted, plural, span};

use super::measure::MEASURES;
use super::{Gate, Measured, Tested, Verdict, Worst};
use crate::text::Cells;

/// Runs of each row that rank the two over the worst path.
pub const REPLAYED: u32 = 10;
/// What the command is for that plays the worst path.
pub const REPLAY: &str = "To play both over it ten times, first with that seed";

/// As sentences have it.
pub(super) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::NotWorse => "not worse",
        Verdict::Worse => "worse",
        Verdict::CannotTell => "cannot tell",
    }
}

fn words(id: &str, value: f64) -> String {
    let measure = MEASURES.iter().find(|measure| measure.id == id);
    measure.map_or_else(|| format!("{value:+}"), |measure| (measure.words)(value))
}

/// What was looked at.
pub fn cells(gate: &Gate) -> Cells {
    let sure = format!("{:.0} % interval", 100.0 * (1.0 - 2.0 * gate.terms.alpha));
    let head = ["measure", "change", &sure, "margin", "verdict"].map(str::to_owned).to_vec();
    let row = |one: &Measured| {
        let said = |value| words(one.id, value);
        vec![
            one.name.to_owned(),
            said(one.mean.mean),
            span(&said(one.mean.low), &said(one.mean.high)),
            said(one.margin),
            verdict(one.verdict).to_owned(),
        ]
    };
    Cells { head, rows: gate.measures.iter().map(row).collect() }
}

/// "download time +5.2 %, between +3.9 % and +6.6 %, margin +5.0 %"; `None`: it is decided.
fn open(one: &Measured) -> Option<String> {
    let said = |value| words(one.id, value);
    let Measured { name, margin, mean, .. } = one;
    (one.verdict == Verdict::CannotTell).then(|| {
        let [at, low, high, margin] = [mean.mean, mean.low, mean.high, *margin].map(said);
        format!("{name} {at}, between {low} and {high}, margin {margin}")
    })
}

impl Gate {
    /// The answer about a row whose fault is known, in a line.
    pub fn told(&self, fault: &str) -> String {
        let open: Vec<String> = match self.verdict {
            Verdict::CannotTell => self.measures.iter().filter_map(open).collect(),
            _ => Vec::new(),
        };
        let open = if open.is_empty() { String::new() } else { format!(" ({})", open.join("; ")) };
        format!(
            "{}, {fault}: {} after {}{open}",
            self.new,
            verdict(self.verdict),
            counted(self.pairs, "pair")
        )
    }

    /// The answer in a sentence.
    pub fn sentence(&self) -> String {
        let Self { old, new, .. } = self;
        let pairs = counted(self.pairs, "pair");
        match self.verdict {
            Verdict::NotWorse => {
                format!("`{new}` is not worse than `{old}` by more than the margins ({pairs}).")
            }
            Verdict::Worse => {
                let by: Vec<&str> =
                    self.measures.iter().filter(|m| m.verdict == Verdict::Worse).map(|m| m.name).collect();
                format!("`{new}` is worse than `{old}`: {} ({pairs}).", by.join("; "))
            }
            Verdict::CannotTell => {
                format!(
                    "{pairs} {} not tell whether `{new}` is worse than `{old}`.",
                    plural(self.pairs, "does", "do")
                )
            }
        }
    }
}

impl Worst {
    /// Where, and by how much.
    pub fn sentence(&self) -> String {
        let seconds = |s: Option<f64>| s.map_or("unfinished".to_owned(), |s| format!("{s:.3} s"));
        format!(
            "Slowest against the old one: {}, the first {}: {} instead of {} ({:.2} times)",
            self.path,
            crate::text::size(self.bytes),
            seconds(self.new_s),
            seconds(self.old_s),
            self.ratio
        )
    }
}

/// For a pull request. `replay` plays the worst path.
pub fn markdown(gate: &Gate, replay: Option<&str>) -> String {
    let Cells { head, rows } = cells(gate);
    let mut text = format!("**{}**\n\n", gate.sentence());
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    text += &line(&head);
    text += &line(&vec!["---".to_owned(); head.len()]);
    text.extend(rows.iter().map(|row| line(row)));
    if let Some(worst) = &gate.worst {
        let _ = write!(text, "\n{}.", worst.sentence());
        if let Some(replay) = replay {
            let _ = write!(text, " {REPLAY}: `{replay}`");
        }
        text.push('\n');
    }
    let _ = write!(text, "\nPaths of `{}`, seed {}", gate.edition, gate.seed);
    if !gate.paths.is_empty() {
        let _ = write!(text, " ({})", gate.paths.join(", "));
    }
    if gate.refused > 0 {
        let _ = write!(text, "; the machine was too busy for {} more pairs", gate.refused);
    }
    let _ = writeln!(
        text,
        "; a false \"worse\" and a false \"not worse\" have a chance of at most {:.0} % each.",
        100.0 * gate.terms.alpha
    );
    text
}

impl Tested {
    /// Markdown: how many of each, and which were not as they should be.
    pub fn markdown(&self) -> String {
        let [shown, found] = self.found();
        let mut text = format!(
            "| gates | number | as they should be | pairs, median | most |\n|---|---|---|---|---|\n\
             | of a row with itself, other seeds | {} | {} not called worse | {} |\n\
             | of a row with a mutant beyond the margins | {shown} | {found} called worse | {} |\n\
             | of a row with a mutant within them | {} | not called worse, twice | |\n",
            self.alike.len(),
            self.alike.len() - self.alarms(),
            pairs(&self.alike),
            pairs(&self.mutants),
            self.within(),
        );
        text += "\n| mutant | a sender that … | verdict | pairs | by |\n|---|---|---|---|---|\n";
        for one in &self.mutants {
            let by = if one.by.is_empty() { "–".to_owned() } else { one.by.join("; ") };
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} | {by} |",
                one.name,
                one.fault,
                match (one.differs, one.within) {
                    (false, _) => "does not show",
                    (true, true) => "not worse, twice",
                    (true, false) => verdict(one.verdict),
                },
                one.pairs
            );
        }
        for one in self.alike.iter().filter(|one| one.verdict != Verdict::NotWorse) {
            let said = verdict(one.verdict);
            let _ = writeln!(
                text,
                "\n`{}` with itself, seed {}: {said} after {}.",
                one.name,
                one.seed,
                counted(one.pairs, "pair")
            );
        }
        text
    }
}

/// Median and largest number of pairs.
fn pairs(of: &[super::Counted]) -> String {
    let mut pairs: Vec<u32> = of.iter().filter(|one| one.differs).map(|one| one.pairs).collect();
    pairs.sort_unstable();
    match pairs.as_slice() {
        [] => "– | –".to_owned(),
        all => format!("{} | {}", all[all.len() / 2], all[all.len() - 1]),
    }
}

//! Whether a gate can be believed: how often it says "worse" of what is the same, and how many faults it finds.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use rampcc::{Algorithm, Traits};
use rampcc_backend::Backend;
use rampcc_experiment::{ExperimentError, Progress, Result, Row};
use rampcc_scenario::Arm;
use serde::Serialize;

use super::{Gate, MUTATIONS, Question, Sides, Terms, Verdict};
use crate::candidate::{Apart, candidate, scratch};

/// Part of the mutants beyond the margins that a gate has to find.
const LEAST_FOUND: f64 = 0.95;
/// Part of the mutants that may be within the margins: a gate that lets everything pass is none.
const MOST_WITHIN: f64 = 0.2;

/// A test of gates.
pub struct SelfTest<'a> {
    /// Gates between two runs of the same row, which differ by chance alone.
    pub alike: u32,
    /// The rows, in turn, and with each fault; empty: those that are compared by default.
    pub rows: Vec<&'static Algorithm>,
    /// Of every gate.
    pub terms: Terms,
    /// Who plays.
    pub backend: &'a dyn Backend,
    /// How mutants are compiled and played.
    pub apart: &'a Apart,
    /// Results directory.
    pub out: PathBuf,
    /// True to take results that are there.
    pub reuse: bool,
}

/// What the gates said.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tested {
    /// Of every gate.
    pub terms: Terms,
    /// Of what is the same.
    pub alike: Vec<Counted>,
    /// Of what has a fault.
    pub mutants: Vec<Counted>,
}

/// What one gate said.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counted {
    /// Label of the row, or name of the mutant.
    pub name: String,
    /// What is wrong with it; empty: nothing.
    pub fault: &'static str,
    /// Seed of the paths.
    pub seed: u64,
    /// What it said.
    pub verdict: Verdict,
    /// After so many pairs.
    pub pairs: u32,
    /// True if any pair differed: a fault that never shows cannot be found.
    pub differs: bool,
    /// True if two gates over different paths say that it is not worse: whatever is wrong with it does no harm beyond the margins.
    pub within: bool,
    /// Measures that said "worse".
    pub by: Vec<&'static str>,
}

impl Tested {
    /// How many gates between equals said "worse".
    pub fn alarms(&self) -> usize {
        self.alike.iter().filter(|one| one.verdict == Verdict::Worse).count()
    }

    /// How many mutants showed in any run and are not within the margins, and how many of these were found.
    pub fn found(&self) -> [usize; 2] {
        let shown = self.mutants.iter().filter(|one| one.differs && !one.within);
        [shown.clone().count(), shown.filter(|one| one.verdict == Verdict::Worse).count()]
    }

    /// How many mutants showed, and are within the margins.
    pub fn within(&self) -> usize {
        self.mutants.iter().filter(|one| one.differs && one.within).count()
    }

    /// True if there are no more alarms than said, 95 of 100 mutants beyond the margins were found, and most are beyond them.
    pub fn as_it_should_be(&self) -> bool {
        let [shown, found] = self.found();
        self.alarms() as f64 <= self.terms.alpha * self.alike.len() as f64
            && found as f64 >= LEAST_FOUND * shown as f64
            && self.within() as f64 <= MOST_WITHIN * (shown + self.within()) as f64
    }
}

impl SelfTest<'_> {
    /// Plays all of it.
    ///
    /// # Errors
    ///
    /// As [`Question::ask`], and where a mutant does not compile.
    pub fn play(&self, progress: &dyn Progress, interrupted: &AtomicBool) -> Result<Tested> {
        let rows = if self.rows.is_empty() { compared(self.backend) } else { self.rows.clone() };
        let mut tested = Tested { terms: self.terms, alike: Vec::new(), mutants: Vec::new() };
        for (number, row) in (0..u64::from(self.alike)).zip(rows.iter().cycle()) {
            let question = self.question(plain(row), plain(row), Some(number));
            let gate = question.ask_of(Sides::Seeds, progress, interrupted)?;
            progress.on_note(&gate.told("with itself"));
            tested.alike.push(Counted::of(&gate, ""));
        }
        let place = scratch()?;
        for row in rows {
            for mutation in MUTATIONS {
                let header = place.path().join(format!("{}.h", mutation.name(row)));
                fs::write(&header, mutation.header(row)).map_err(|cause| ExperimentError::File {
                    action: "write",
                    path: header.clone(),
                    cause,
                })?;
                let mutant = candidate(&header.to_string_lossy(), self.apart, &[])?;
                let gate = self.question(plain(row), mutant.clone(), None).ask(progress, interrupted)?;
                progress.on_note(&gate.told(mutation.meaning));
                let mut counted = Counted::of(&gate, mutation.meaning);
                if counted.passes() {
                    let again = self.question(plain(row), mutant, Some(counted.other_seed()));
                    let again = again.ask(progress, interrupted)?;
                    progress.on_note(&again.told("again, on other paths"));
                    counted.confirm(&again);
                }
                tested.mutants.push(counted);
            }
        }
        Ok(tested)
    }

    fn question(&self, old: Row, new: Row, seed: Option<u64>) -> Question<'_> {
        Question {
            old,
            new,
            terms: self.terms,
            seed,
            backend: self.backend,
            out: self.out.clone(),
            reuse: self.reuse,
        }
    }
}

/// Rows that are compared by default, and that this backend can play.
fn compared(backend: &dyn Backend) -> Vec<&'static Algorithm> {
    let playable = |row: &&'static Algorithm| {
        row.traits.has(Traits::DEFAULT)
            && !row.traits.has(Traits::KNOWS_PATH)
            && row.unmet(backend.lacks()).next().is_none()
    };
    rampcc::algorithms().iter().filter(playable).collect()
}

fn plain(row: &'static Algorithm) -> Row {
    Arm::new(row).into()
}

impl Counted {
    /// Of a gate whose answer is known: what is wrong with the new row; empty: nothing.
    pub fn of(gate: &Gate, fault: &'static str) -> Self {
        let worse = gate.measures.iter().filter(|measured| measured.verdict == Verdict::Worse);
        Self {
            name: gate.new.clone(),
            fault,
            seed: gate.seed,
            verdict: gate.verdict,
            pairs: gate.pairs,
            differs: gate.differs,
            within: false,
            by: worse.map(|measured| measured.name).collect(),
        }
    }

    /// True of a fault that shows and is not called worse: to be asked about again, on the paths of [`Self::other_seed`].
    pub fn passes(&self) -> bool {
        self.differs && self.verdict == Verdict::NotWorse
    }

    /// Of other paths.
    pub fn other_seed(&self) -> u64 {
        self.seed ^ 1
    }

    /// What a second gate says of a fault that the first let pass.
    pub fn confirm(&mut self, again: &Gate) {
        self.within = again.verdict == Verdict::NotWorse;
    }
}

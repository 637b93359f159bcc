//! The same question of two programs, which play in real time: a few paths, one run at a time, until the caller says that the
//! time is over.

use std::sync::atomic::AtomicBool;

use rampcc::Time;
use rampcc_backend::{Backend, BackendError};
use rampcc_experiment::{ExperimentError, Progress, Result, Row, Run, context, digest, failed};
use rampcc_lab::Context;
use rampcc_scenario::{Scenario, Source};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use sha2::{Digest, Sha256};

use super::measure::{MEASURES, MUCH, Pair};
use super::{Gate, Judge, Terms, Values, Verdict, Worst, short};
use crate::outcome::{Outcome, holds};
use crate::population::{EDITION, PREFIX, Path, Population, Which};
use crate::yardstick::causal_s;

/// Paths that a gate plays on.
pub const PATHS: usize = 12;
/// Sizes of downloads, bytes: one run serves them all.
const SIZES: [u64; 3] = [100_000, 1_000_000, 2_000_000];
/// The largest of them takes no longer on a path, s: ten minutes have to do for many pairs.
const LONGEST_S: f64 = 3.0;
/// A run of the new program that takes so many times as long as that of the old one just before ends there, unfinished: the
/// download time counts no more than that ([`MEASURES`]).
const CUT: f64 = MUCH;
/// And this much longer, s: a program that stands still at its beginning has sent something by then.
const CUT_AFTER_S: f64 = 0.5;
/// The program that takes so many times as long as the other, over all runs so far, goes second, where it can be cut.
const SLOW: f64 = 1.5;
/// Pairs in a row for which the machine was too busy, before it gives up.
const BUSY: u32 = 10;

/// What is asked of two programs.
pub struct Programs<'a> {
    /// As it was.
    pub old: Row,
    /// As it may become.
    pub new: Row,
    /// How sure, and how far.
    pub terms: Terms,
    /// Of the paths; `None`: what both rows are decides it, so that it cannot be chosen.
    pub seed: Option<u64>,
    /// Who plays: both rows are of its controls.
    pub backend: &'a dyn Backend,
}

impl Terms {
    /// For programs, whose runs take seconds and differ by chance: margins that ten minutes suffice for.
    pub fn of_programs() -> Self {
        let mut terms = Self::default();
        for (margin, (id, wide)) in terms.margins.iter_mut().zip(WIDE) {
            debug_assert!(MEASURES.iter().any(|measure| measure.id == id));
            *margin = wide;
        }
        terms
    }
}

/// Margins by measure, in the order of [`MEASURES`]: 5 % of time, a tenth of pipe and buffer, 2 % of the download, one path in ten.
const WIDE: [(&str, f64); MEASURES.len()] = [
    ("time", 0.048_790_164_169_432_05), // ln 1.05
    ("startup_lost", 0.1),
    ("sent_again", 0.02),
    ("much_slower", 0.1),
];

/// A path with what is needed of it for each run.
struct Ready {
    path: Path,
    digest: String,
    context: Context,
}

/// One pair.
struct Turn<'a> {
    ready: &'a Ready,
    /// Of the pair, and the seed of both runs.
    number: u64,
    old_first: bool,
}

/// What has been played.
struct Turns<'a> {
    asked: &'a Programs<'a>,
    paths: &'a [Ready],
    judge: Judge,
    played: u64,
    /// Pairs for which the machine was too busy.
    refused: u32,
    in_a_row: u32,
    /// By side, s.
    taken_s: [f64; 2],
}

impl Turns<'_> {
    /// One more pair on a path; `None`: the machine was too busy.
    fn pair(
        &mut self,
        path: usize,
        progress: &dyn Progress,
        interrupted: &AtomicBool,
    ) -> Result<Option<Values>> {
        let ready = &self.paths[path];
        self.played += 1;
        let old_first = self.played % 2 == 1 || self.taken_s[1] > SLOW * self.taken_s[0];
        let turn = Turn { ready, number: self.played, old_first };
        let Some([old, new]) = self.asked.pair(&turn, progress, interrupted)? else {
            self.refused += 1;
            self.in_a_row += 1;
            if self.in_a_row == BUSY {
                return Err(ExperimentError::Run {
                    run: format!("on {}", ready.path.name),
                    cause: format!("the machine was too busy for {BUSY} pairs in a row"),
                });
            }
            return Ok(None);
        };
        self.in_a_row = 0;
        self.taken_s = [self.taken_s[0] + old.had_s, self.taken_s[1] + new.had_s];
        let bytes = SIZES[SIZES.len() - 1];
        let pair = Pair { old: &old, new: &new, holds_bytes: holds(&ready.context), bytes };
        self.judge.slowest(Worst::of(&pair, &ready.path.name, self.played, &SIZES));
        Ok(Some(self.judge.values(&pair)))
    }
}

/// The same, over when the download has had this time.
fn until(scenario: &Scenario, seconds: f64) -> Scenario {
    let mut cut = scenario.clone();
    let opening = scenario.flows.first().map_or(Time::ZERO, |flow| flow.start);
    cut.stop.after = cut.stop.after.min(opening + Time::from_secs_f64(seconds));
    cut
}

impl Programs<'_> {
    /// Plays pairs while there is `time_left`, until it is sure or the pairs are used up. The first are on paths drawn at random, so that
    /// a great fault is found at once; then come rounds of a pair on each path, in which a small one is not lost between paths.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Input`] where a program fails, [`ExperimentError::Run`] where the machine is too busy, and
    /// [`ExperimentError::Interrupted`].
    pub fn ask(
        &self,
        progress: &dyn Progress,
        time_left: &dyn Fn() -> bool,
        interrupted: &AtomicBool,
    ) -> Result<Gate> {
        let seed = self.seed.unwrap_or_else(|| self.own_seed());
        let paths = self.paths(seed)?;
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut turns = Turns {
            asked: self,
            paths: &paths,
            judge: Judge::new(self.terms, paths.len()),
            played: 0,
            refused: 0,
            in_a_row: 0,
            taken_s: [0.0; 2],
        };
        let play = |turns: &mut Turns<'_>, path| loop {
            if !time_left() {
                return Ok(None);
            }
            if let Some(values) = turns.pair(path, progress, interrupted)? {
                return Ok::<_, ExperimentError>(Some(values));
            }
        };
        'asked: while turns.judge.verdict() == Verdict::CannotTell && turns.judge.pairs < self.terms.pairs {
            let left = (self.terms.pairs - turns.judge.pairs) as usize;
            if (turns.judge.pairs as usize) < paths.len() || left < paths.len() {
                let path = random.random_range(0..paths.len());
                let Some(values) = play(&mut turns, path)? else { break };
                turns.judge.add(path, values);
                continue;
            }
            let mut order: Vec<usize> = (0..paths.len()).collect();
            order.shuffle(&mut random);
            let mut round = vec![[0.0; MEASURES.len()]; paths.len()];
            for path in order {
                let Some(values) = play(&mut turns, path)? else { break 'asked };
                round[path] = values;
            }
            turns.judge.add_round(&round);
        }
        progress.on_end();
        let gate = turns.judge.gate([&self.old.label, &self.new.label], seed);
        let names = paths.iter().map(|ready| format!("{PREFIX}{}", ready.path.name)).collect();
        Ok(Gate { paths: names, refused: turns.refused, ..gate })
    }

    /// Both runs with the same seed; `None`: the machine was too busy for one of them.
    fn pair(
        &self,
        turn: &Turn<'_>,
        progress: &dyn Progress,
        interrupted: &AtomicBool,
    ) -> Result<Option<[Outcome; 2]>> {
        let ready = turn.ready;
        let mut outcomes: [Option<Outcome>; 2] = [None, None];
        for side in if turn.old_first { [0, 1] } else { [1, 0] } {
            let row = [&self.old, &self.new][side];
            let name = format!("{} on {}", row.label, ready.path.name);
            progress.on_start(&name);
            let whole = &ready.path.scenario;
            let cut = outcomes[0].as_ref().map(|old| until(whole, CUT * old.had_s + CUT_AFTER_S));
            let mut played = self.run(turn, side, cut.as_ref().unwrap_or(whole), interrupted);
            // It may have sent nothing in so short a time.
            if let (Err((BackendError::Failed(_), _)), Some(_)) = (&played, cut) {
                played = self.run(turn, side, whole, interrupted);
            }
            match played {
                Ok(outcome) => outcomes[side] = Some(outcome),
                Err((BackendError::Refused(_), _)) => return Ok(None),
                Err((BackendError::Interrupted { .. }, _)) => {
                    let (finished, runs) = (2 * turn.number as usize - 2, 2 * self.terms.pairs as usize);
                    return Err(ExperimentError::Interrupted { finished, runs, place: ".".into() });
                }
                Err((BackendError::Failed(_), message)) => {
                    return Err(ExperimentError::Input { message, help: None });
                }
            }
            progress.on_finish(&name);
        }
        let [Some(old), Some(new)] = outcomes else { return Ok(None) };
        Ok(Some([old, new]))
    }

    /// One of them; an error with the sentence that names the run.
    fn run(
        &self,
        turn: &Turn<'_>,
        side: usize,
        scenario: &Scenario,
        interrupted: &AtomicBool,
    ) -> Result<Outcome, (BackendError, String)> {
        let row = [&self.old, &self.new][side];
        let run = Run { seed: turn.number, ..Run::of(scenario, &turn.ready.digest, row, self.backend) };
        match run.watch("", &mut (), interrupted) {
            Ok(record) => Ok(Outcome::new(&record, &turn.ready.context, &SIZES)),
            Err(error) => {
                let told = failed(&run, &error).to_string();
                Err((error, told))
            }
        }
    }

    /// Of a population that is drawn anew, those that programs can play and that are soon over: of each access type in
    /// turn, until there are enough.
    fn paths(&self, seed: u64) -> Result<Vec<Ready>> {
        let mut by_access: Vec<(String, Vec<Ready>)> = Vec::new();
        for path in Population::open(&Which::Fresh(short(seed)))?.paths {
            if let Some(ready) = self.playable(&path)? {
                match by_access.iter_mut().find(|(access, _)| *access == path.access) {
                    Some((_, same)) => same.push(ready),
                    None => by_access.push((path.access, vec![ready])),
                }
            }
        }
        let mut found = Vec::new();
        let mut each: Vec<_> = by_access.into_iter().map(|(_, paths)| paths.into_iter()).collect();
        while found.len() < PATHS {
            let before = found.len();
            found.extend(each.iter_mut().filter_map(Iterator::next).take(PATHS - before));
            if found.len() == before {
                return Err(ExperimentError::Input {
                    message: format!("of the paths of seed {seed} programs can play {before}"),
                    help: Some(format!("another --seed: {PATHS} are needed")),
                });
            }
        }
        Ok(found)
    }

    fn playable(&self, path: &Path) -> Result<Option<Ready>> {
        let one = path.scenario.flows.len() == 1 && path.scenario.traffic.is_empty();
        if !one || !matches!(path.scenario.flows[0].source, Source::Sized(_)) {
            return Ok(None);
        }
        let bytes = SIZES[SIZES.len() - 1];
        let path = path.with_size(bytes)?;
        let context = context(&path.scenario);
        let soon = causal_s(&path.scenario, &context, bytes) <= LONGEST_S;
        let ready = soon && self.backend.check(&path.scenario, None).is_ok();
        Ok(ready.then(|| Ready { digest: digest(&path.scenario), context, path }))
    }

    /// Of what both rows are: their commands and files.
    fn own_seed(&self) -> u64 {
        let mut text = Sha256::new();
        text.update(EDITION);
        for row in [&self.old, &self.new] {
            text.update([0]);
            text.update(row.control().map_or("", |control| control.definition));
        }
        super::folded(&text.finalize())
    }
}

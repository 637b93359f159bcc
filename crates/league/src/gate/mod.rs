//! A gate for changes: whether a new start-up is worse than an old one by more than a margin, on paths to which neither was tuned.
//!
//! [`Question::ask`] draws a path at a time from the league's ranges, plays both over it with the same seed, and stops as soon as
//! it is sure (evidence.rs). It says "worse" of a start-up that is within all margins with a chance of `alpha` at most, and "not
//! worse" of one that is beyond a margin with the same.

mod evidence;
mod measure;
mod mutants;
mod programs;
mod self_test;
mod text;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use rampcc_backend::Backend;
use rampcc_experiment::{Ahead, ExperimentError, Progress, Result, Row, Steering, context};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::design::ACCESS;
use crate::outcome::holds;
use crate::play::Request;
use crate::population::{EDITION, PREFIX, Path, Population, path};
use evidence::Evidence;
pub use evidence::Mean;
use measure::{MEASURES, Measure, Pair};
use mutants::MUTATIONS;
pub use programs::{PATHS, Programs};
pub use self_test::{Counted, SelfTest, Tested};
pub use text::{REPLAY, REPLAYED, cells, markdown};

/// Sizes of downloads, bytes: one run serves them all.
const SIZES: [u64; 3] = [100_000, 1_000_000, 10_000_000];
/// Paths that are played before anybody looks: enough for all cores.
const BATCH: u32 = 32;
/// Paths whose access type is drawn, too, so that a great fault is found at once. Then come rounds, with a path of each type.
const DRAWN: u32 = 16;
/// Paths of each access type in a population.
const OF_EACH: u32 = 20;
/// Seeds of populations, below it: what people can type.
const SEEDS: u64 = 1 << 32;

/// What is asked.
pub struct Question<'a> {
    /// As it was.
    pub old: Row,
    /// As it may become.
    pub new: Row,
    /// How sure, and how far.
    pub terms: Terms,
    /// Of the paths; `None`: what both rows are decides it, so that it cannot be chosen.
    pub seed: Option<u64>,
    /// Who plays.
    pub backend: &'a dyn Backend,
    /// Results directory.
    pub out: PathBuf,
    /// True to take results that are there.
    pub reuse: bool,
}

/// How sure, and how far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Terms {
    /// Chance of a false "worse", and of a false "not worse", at most.
    pub alpha: f64,
    /// By how much means may rise: the logarithm of the download time, the share of pipe and buffer that is lost in start-up, the
    /// share of the download that is sent again, and the share of paths that are much slower.
    pub margins: [f64; MEASURES.len()],
    /// Pairs of runs after which it gives up.
    pub pairs: u32,
}

impl Default for Terms {
    fn default() -> Self {
        Self { alpha: 0.05, margins: MEASURES.map(|measure| measure.margin), pairs: 2000 }
    }
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Not by more than a margin.
    NotWorse,
    /// By more than a margin.
    Worse,
    /// The pairs did not suffice.
    CannotTell,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// Whether it is worse.
    pub verdict: Verdict,
    /// Label of the old row.
    pub old: String,
    /// Label of the new row.
    pub new: String,
    /// How sure, and how far.
    pub terms: Terms,
    /// Seed of the paths.
    pub seed: u64,
    /// Edition of the ranges that they are drawn from.
    pub edition: &'static str,
    /// Pairs of runs that it took.
    pub pairs: u32,
    /// True if the two runs of any pair differ in anything.
    pub differs: bool,
    /// What was looked at.
    pub measures: Vec<Measured>,
    /// Where the new one is slowest compared with the old one; `None`: nowhere.
    pub worst: Option<Worst>,
    /// The paths, for command lines, where they are a few; empty: each pair has one of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Pairs that do not count, since the machine was too busy.
    #[serde(skip_serializing_if = "is_zero")]
    pub refused: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// One of the things that were looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Key.
    pub id: &'static str,
    /// As tables call it.
    pub name: &'static str,
    /// By how much it may rise.
    pub margin: f64,
    /// By how much it rises.
    #[serde(flatten)]
    pub mean: Mean,
    /// What the pairs say of it.
    pub verdict: Verdict,
}

/// A download over one path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Worst {
    /// For command lines: `league:fresh-7-wifi-03`.
    pub path: String,
    /// Seed of the run.
    pub run_seed: u64,
    /// Of the download, or of its beginning.
    pub bytes: u64,
    /// What makes the path's download as large as the gate played it: `size=10000000B`; `None`: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
    /// Seconds of the old one; `None`: it did not finish.
    pub old_s: Option<f64>,
    /// Seconds of the new one.
    pub new_s: Option<f64>,
    /// New over old.
    pub ratio: f64,
}

impl Question<'_> {
    /// Plays until it is sure, or the pairs are used up.
    ///
    /// # Errors
    ///
    /// As [`Request::play`].
    pub fn ask(&self, progress: &dyn Progress, interrupted: &AtomicBool) -> Result<Gate> {
        self.ask_of(Sides::Rows, progress, interrupted)
    }

    fn ask_of(&self, sides: Sides, progress: &dyn Progress, interrupted: &AtomicBool) -> Result<Gate> {
        let seed = self.seed.unwrap_or_else(|| self.own_seed());
        progress.on_backend(&Ahead {
            backend: self.backend,
            runs: 2 * self.terms.pairs as usize,
            runs_here: 2 * self.terms.pairs as usize,
            longest: rampcc::Time::ZERO,
        });
        let mut judge = Judge::new(self.terms, ACCESS.len());
        let mut draws = Draws::new(seed);
        let mut round = Vec::new();
        while judge.pairs < self.terms.pairs && judge.verdict() == Verdict::CannotTell {
            let count = BATCH.min(self.terms.pairs - judge.pairs);
            let places: Vec<Place> =
                (judge.pairs..judge.pairs + count).map(|pair| self.place(pair, &mut draws)).collect();
            let paths = places.iter().map(|place| draws.path(place.access));
            let paths = paths.collect::<Result<Vec<_>, _>>()?;
            let cut: Vec<_> = paths.iter().map(|path| path.setting_up_to(SIZES[SIZES.len() - 1])).collect();
            let paths = paths.iter().map(|path| path.up_to(SIZES[SIZES.len() - 1]));
            let paths = paths.collect::<Result<Vec<_>, _>>()?;
            let holds: Vec<_> = paths.iter().map(|path| holds(&context(&path.scenario))).collect();
            let league = self.request(paths, sides).play(&Within(progress), interrupted)?;
            for (index, played) in league.paths.iter().enumerate() {
                if judge.verdict() != Verdict::CannotTell {
                    break;
                }
                let [old, new] = match sides {
                    Sides::Rows => [0, 1].map(|row| &played.outcomes[row][0]),
                    // A path without chance has one run.
                    Sides::Seeds => [0, played.seeds.len() - 1].map(|seed| &played.outcomes[0][seed]),
                };
                let pair = Pair { old, new, holds_bytes: holds[index], bytes: played.file_bytes };
                let values = judge.values(&pair);
                let worst = Worst::of(&pair, &played.name, played.seeds[0], &league.sizes);
                judge.slowest(Worst { setting: cut[index].clone(), ..worst });
                if places[index].drawn {
                    judge.add(places[index].access, values);
                    continue;
                }
                round.push(values);
                if round.len() == ACCESS.len() {
                    judge.add_round(&round);
                    round.clear();
                }
            }
        }
        progress.on_end();
        Ok(judge.gate([&self.old.label, &self.new.label], seed))
    }

    /// Where a pair is played; what does not make a round at the end is drawn, too.
    fn place(&self, pair: u32, draws: &mut Draws) -> Place {
        let of_each = ACCESS.len() as u32;
        let begins = pair - pair.saturating_sub(DRAWN) % of_each;
        let drawn = pair < DRAWN || begins + of_each > self.terms.pairs;
        let access = if drawn { draws.access() } else { (pair - begins) as usize };
        Place { access, drawn }
    }

    fn request(&self, paths: Vec<Path>, sides: Sides) -> Request<'_> {
        let (entrants, seeds) = match sides {
            Sides::Rows => (vec![self.old.clone(), self.new.clone()], 1),
            Sides::Seeds => (vec![self.old.clone()], 2),
        };
        Request {
            population: Population { name: "gate".to_owned(), paths, settings: Vec::new() },
            entrants,
            sizes: SIZES.to_vec(),
            seeds,
            backend: self.backend,
            workers: None,
            out: self.out.clone(),
            reuse: self.reuse,
            pairs: false,
            crowds: false,
        }
    }

    /// Of what both rows are: their settings and code.
    fn own_seed(&self) -> u64 {
        let mut text = Sha256::new();
        text.update(EDITION);
        for row in [&self.old, &self.new] {
            if let Steering::Core(arm) = &row.steering {
                text.update(format!("\n{} {:?} {:?} ", arm.algorithm.id, arm.set, arm.sender.words()));
            }
            text.update(row.code.as_ref().map_or("", |code| code.digest.as_str()));
        }
        folded(&text.finalize())
    }
}

/// A seed that people can type.
fn folded(digest: &[u8]) -> u64 {
    digest[..4].iter().fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}

/// A seed within those of populations.
fn short(seed: u64) -> u64 {
    seed % SEEDS
}

/// What the two runs of a pair are.
#[derive(Clone, Copy)]
enum Sides {
    /// Of the old row and the new one, with the same seed.
    Rows,
    /// Both of the old row, with two seeds.
    Seeds,
}

impl Worst {
    /// The download of a pair that takes longest compared with the old one.
    fn of(pair: &Pair<'_>, path: &str, run_seed: u64, sizes: &[u64]) -> Self {
        let all = pair.ratios().zip(sizes).zip(pair.old.seconds.iter().zip(&pair.new.seconds));
        let slowest = all.max_by(|((a, _), _), ((b, _), _)| a.total_cmp(b));
        let ((ratio, bytes), (old_s, new_s)) = slowest.expect("a path is played for a size at least");
        Self {
            path: format!("{PREFIX}{path}"),
            run_seed,
            bytes: *bytes,
            setting: None,
            old_s: *old_s,
            new_s: *new_s,
            ratio: libm::exp(ratio),
        }
    }
}

/// Where a pair is played.
struct Place {
    /// Of [`ACCESS`].
    access: usize,
    /// Whether the type was drawn; otherwise the pair is of a round.
    drawn: bool,
}

/// Paths, each of a population of its own, so that they are independent of one another.
struct Draws {
    random: Pcg64Mcg,
}

impl Draws {
    fn new(seed: u64) -> Self {
        Self { random: Pcg64Mcg::seed_from_u64(seed) }
    }

    fn access(&mut self) -> usize {
        self.random.random_range(0..ACCESS.len())
    }

    fn path(&mut self, access: usize) -> Result<Path> {
        let access = ACCESS[access];
        let number = self.random.random_range(1..=OF_EACH);
        let name = format!("fresh-{}-{access}-{number:02}", self.random.random_range(0..SEEDS));
        let unknown =
            || ExperimentError::Input { message: format!("the league has no path `{name}`"), help: None };
        let scenario = path(&format!("{PREFIX}{name}"), &[]).ok_or_else(unknown)??;
        Ok(Path { name, access: access.to_owned(), scenario })
    }
}

/// Tells of runs, not of batches.
struct Within<'a>(&'a dyn Progress);

impl Progress for Within<'_> {
    fn on_start(&self, run: &str) {
        self.0.on_start(run);
    }
    fn on_finish(&self, run: &str) {
        self.0.on_finish(run);
    }
    fn on_note(&self, line: &str) {
        self.0.on_note(line);
    }
}

/// A pair's, in the order of [`MEASURES`].
type Values = [f64; MEASURES.len()];

/// The evidence so far.
struct Judge {
    terms: Terms,
    pairs: u32,
    differs: bool,
    evidence: [Evidence; MEASURES.len()],
    /// On "worse", spread evenly over the measures: what 1 was worth at best.
    stake: f64,
    worst: Option<Worst>,
}

impl Judge {
    fn new(terms: Terms, strata: usize) -> Self {
        let evidence = std::array::from_fn(|index| {
            let Measure { low, high, .. } = MEASURES[index];
            Evidence::new([low, high], terms.margins[index].clamp(low, high), strata)
        });
        Self { terms, pairs: 0, differs: false, evidence, stake: 1.0, worst: None }
    }

    /// A pair of a stratum drawn at random.
    fn add(&mut self, stratum: usize, values: Values) {
        self.pairs += 1;
        for (evidence, value) in self.evidence.iter_mut().zip(values) {
            evidence.add(stratum, value);
        }
        self.look();
    }

    fn add_round(&mut self, pairs: &[Values]) {
        self.pairs += pairs.len() as u32;
        for (index, evidence) in self.evidence.iter_mut().enumerate() {
            let values: Vec<f64> = pairs.iter().map(|values| values[index]).collect();
            evidence.add_round(&values);
        }
        self.look();
    }

    /// What the measures are of a pair.
    fn values(&mut self, pair: &Pair<'_>) -> Values {
        self.differs |= pair.old != pair.new;
        MEASURES.each_ref().map(|measure| (measure.of)(pair))
    }

    fn slowest(&mut self, found: Worst) {
        let slower = self.worst.as_ref().map_or(1.0, |worst| worst.ratio);
        if found.ratio > slower {
            self.worst = Some(found);
        }
    }

    /// The result is not looked at before a round is over.
    fn look(&mut self) {
        let stakes = self.evidence.iter().map(Evidence::stake).sum::<f64>();
        self.stake = self.stake.max(stakes / MEASURES.len() as f64);
    }

    /// One measure suffices for "worse", or several together: if all are within their margins, no stake grows on average, nor
    /// does the mean of the stakes. All of them must be sure for "not worse".
    fn verdict(&self) -> Verdict {
        if self.stake >= 1.0 / self.terms.alpha {
            Verdict::Worse
        } else if self.evidence.iter().all(|evidence| evidence.below() <= self.terms.alpha) {
            Verdict::NotWorse
        } else {
            Verdict::CannotTell
        }
    }

    /// What it says of one measure.
    fn of(&self, evidence: &Evidence) -> Verdict {
        if self.verdict() == Verdict::Worse && evidence.above() <= self.terms.alpha {
            Verdict::Worse
        } else if evidence.below() <= self.terms.alpha {
            Verdict::NotWorse
        } else {
            Verdict::CannotTell
        }
    }

    fn gate(self, [old, new]: [&str; 2], seed: u64) -> Gate {
        let measured = MEASURES.iter().zip(&self.evidence).zip(self.terms.margins);
        let measured = measured.map(|((measure, evidence), margin)| Measured {
            id: measure.id,
            name: measure.name,
            margin,
            mean: evidence.mean(self.terms.alpha),
            verdict: self.of(evidence),
        });
        Gate {
            verdict: self.verdict(),
            old: old.to_owned(),
            new: new.to_owned(),
            terms: self.terms,
            seed,
            edition: EDITION,
            pairs: self.pairs,
            differs: self.differs,
            measures: measured.collect(),
            worst: self.worst,
            paths: Vec::new(),
            refused: 0,
        }
    }
}

//! A test bench for congestion controllers of QUIC stacks.
//!
//! [`noq::bench`] and [`quinn::bench`] take a controller as its stack takes it. [`Bench::play`] plays it against the stack's own and
//! against ramp's rows, over paths of eight kinds of access, in virtual time: the same path, seed and download for every row, no
//! socket, no clock, and the same report to the byte each time. [`Bench::gate`] asks whether a change makes it worse.
//!
//! A row with a controller that draws random numbers that cannot be seeded, as noq's BBR3 does, is the one exception.
//!
//! ```
//! use noq_proto::congestion::CubicConfig;
//! use rampcc_quic_bench::{Paths, noq};
//!
//! let mut mine = CubicConfig::default();
//! mine.initial_window(32 * 1200);
//! let report = noq::bench("mine", mine).paths(Paths::Few).sizes(&[100_000]).play()?;
//! println!("{report}");
//! assert!(report.ratio("mine", "noq_cubic").is_some_and(|ratio| ratio.high < 1.0));
//! # Ok::<(), rampcc_quic_bench::Error>(())
//! ```

mod report;

use std::sync::atomic::AtomicBool;

use rampcc_backend::Backend;
use rampcc_experiment::Row;
use rampcc_league::gate::{Question, Terms};
use rampcc_league::{Apart, Extent, Population, Request, Which, entrants};
use rampcc_quic_sim::{Bringing, Brought, Stack};

pub use rampcc_experiment::ExperimentError as Error;
pub use rampcc_league::Interval;
pub use rampcc_league::gate::{Gate, Verdict, markdown};
pub use report::Report;

/// Label of the controller as it was.
const BEFORE: &str = "before";

/// Controllers for noq-proto.
pub mod noq {
    use std::sync::Arc;

    use noq_proto::congestion::ControllerFactory;
    use rampcc_quic_sim::{Brought, Stack};

    use crate::Bench;

    /// A bench for a controller, which the report calls `name`.
    pub fn bench(name: &'static str, factory: impl ControllerFactory + Send + Sync + 'static) -> Bench {
        Bench::new(Stack::Noq, name, Brought::Noq(Arc::new(factory)))
    }
}

/// Controllers for quinn-proto.
pub mod quinn {
    use std::sync::Arc;

    use quinn_proto::congestion::ControllerFactory;
    use rampcc_quic_sim::{Brought, Stack};

    use crate::Bench;

    /// A bench for a controller, which the report calls `name`.
    pub fn bench(name: &'static str, factory: impl ControllerFactory + Send + Sync + 'static) -> Bench {
        Bench::new(Stack::Quinn, name, Brought::Quinn(Arc::new(factory)))
    }
}

/// Paths to play on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paths {
    /// One of each kind of access, 8 in all: seconds.
    Few,
    /// Four of each, 32 in all.
    Quick,
    /// All 160 of the league.
    Public,
    /// 160 others, for a last look.
    HeldOut,
    /// 160 drawn by this seed.
    Fresh(u64),
}

/// What to play.
#[derive(Clone, Debug)]
pub struct Bench {
    stack: Stack,
    name: &'static str,
    brought: Vec<(&'static str, Brought)>,
    rows: Vec<String>,
    paths: Paths,
    sizes: Vec<u64>,
    seed: u64,
}

impl Bench {
    fn new(stack: Stack, name: &'static str, mine: Brought) -> Self {
        Self {
            stack,
            name,
            brought: vec![(name, mine)],
            rows: Vec::new(),
            paths: Paths::Quick,
            sizes: vec![100_000, 1_000_000, 10_000_000],
            seed: 1,
        }
    }

    /// Further rows, by the names of `ramp list algorithms`. The stack's own CUBIC, `slow_start` and `hystart` are always there.
    #[must_use]
    pub fn rows(self, rows: &[&str]) -> Self {
        Self { rows: rows.iter().map(|&row| row.to_owned()).collect(), ..self }
    }

    /// On which paths; 32 of the league's by default.
    #[must_use]
    pub fn paths(self, paths: Paths) -> Self {
        Self { paths, ..self }
    }

    /// Sizes of downloads, bytes: 1, 2 or 5 times a power of ten. 100 kB, 1 MB and 10 MB by default.
    #[must_use]
    pub fn sizes(self, sizes: &[u64]) -> Self {
        Self { sizes: sizes.to_vec(), ..self }
    }

    /// Of the paths of a [`gate`](Self::gate).
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Plays every row on every path.
    ///
    /// # Errors
    ///
    /// If a row has an unknown name, or needs what the stack does not have.
    pub fn play(self) -> Result<Report, Error> {
        let backend = Bringing::new(self.stack, self.brought.clone());
        let own = backend.controls()[self.brought.len()].name;
        let mut named = vec![self.name.to_owned(), own.to_owned()];
        named.extend(self.rows.iter().cloned());
        // No candidate is compiled, so no compiler is asked for.
        let entrants = entrants(&named, &[], &Apart::new("cc", "", &[]), &[&backend])?;
        let (quick, which) = match self.paths {
            Paths::Few | Paths::Quick => (true, Which::Public),
            Paths::Public => (false, Which::Public),
            Paths::HeldOut => (false, Which::HeldOut),
            Paths::Fresh(seed) => (false, Which::Fresh(seed)),
        };
        let mut population = Population::open(&which)?;
        if self.paths == Paths::Few {
            population = population.of_each(1);
        }
        let extent = Extent::new(population, quick, &self.sizes, None)?;
        let out = directory()?;
        let request = Request {
            population: extent.population,
            entrants,
            sizes: extent.sizes,
            seeds: extent.seeds,
            backend: &backend,
            workers: None,
            out: out.path().to_owned(),
            reuse: false,
            pairs: false,
            crowds: false,
        };
        let league = request.play(&(), &AtomicBool::new(false))?;
        Ok(Report::new(self.name, league))
    }

    /// Plays it against the same controller as it was, on paths to which neither was tuned, until it is sure whether the change makes it
    /// worse. [`markdown`] writes the answer for a pull request.
    ///
    /// # Errors
    ///
    /// None that its caller can cause.
    pub fn gate(self, before: Self) -> Result<Gate, Error> {
        let mut brought = self.brought.clone();
        brought.extend(before.brought.into_iter().take(1).map(|(_, factory)| (BEFORE, factory)));
        let backend = Bringing::new(self.stack, brought);
        let row = |name: &str| Row::parse(name, &[&backend]);
        let out = directory()?;
        let question = Question {
            old: row(BEFORE)?,
            new: row(self.name)?,
            terms: Terms::default(),
            seed: Some(self.seed),
            backend: &backend,
            out: out.path().to_owned(),
            reuse: false,
        };
        question.ask(&(), &AtomicBool::new(false))
    }
}

/// Where runs are kept while they are played.
fn directory() -> Result<tempfile::TempDir, Error> {
    let wrong = |error: std::io::Error| Error::Input {
        message: format!("no temporary directory can be made: {error}"),
        help: Some("a TMPDIR that may be written".to_owned()),
    };
    tempfile::tempdir().map_err(wrong)
}

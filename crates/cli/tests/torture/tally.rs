//! What was tried, and what came of it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// After so many failures of a kind the rest is not worth its time.
const ENOUGH: usize = 5;

/// Of one kind of cruelty.
pub(crate) struct Tally {
    /// What was done, for the report.
    pub(crate) name: &'static str,
    /// What each trial had to come to.
    pub(crate) demand: &'static str,
    pub(crate) tried: u64,
    pub(crate) failures: Vec<String>,
    counts: BTreeMap<&'static str, u64>,
    until: Instant,
    rounds: u64,
}

impl Tally {
    pub(crate) fn new(name: &'static str, demand: &'static str, time: Duration) -> Self {
        let until = Instant::now() + time;
        Self { name, demand, tried: 0, failures: Vec::new(), counts: BTreeMap::new(), until, rounds: 0 }
    }

    /// Whether there is time for another round; the first is always made.
    pub(crate) fn goes_on(&mut self) -> bool {
        self.rounds += 1;
        !self.enough()
    }

    /// Whether the rest of this round is left out.
    pub(crate) fn enough(&self) -> bool {
        let late = Instant::now() >= self.until;
        self.failures.len() >= ENOUGH || (self.rounds > 1 && late)
    }

    pub(crate) fn tried(&mut self, what: &str, outcome: Result<(), String>) {
        self.tried += 1;
        if let Err(error) = outcome {
            self.failures.push(format!("{what}: {error}"));
        }
    }

    /// Something else worth knowing.
    pub(crate) fn count(&mut self, what: &'static str, more: u64) {
        *self.counts.entry(what).or_default() += more;
    }

    /// The largest reported value.
    pub(crate) fn most(&mut self, what: &'static str, value: u64) {
        let most = self.counts.entry(what).or_default();
        *most = value.max(*most);
    }

    /// Kind, how many, of these well, and the rest.
    pub(crate) fn row(&self) -> String {
        let counts: Vec<_> = self.counts.iter().map(|(what, count)| format!("{what}: {count}")).collect();
        let well = self.tried - self.failures.len() as u64;
        format!(
            "| {} | {} | {} {well} of {} | {} |",
            self.name,
            self.tried,
            self.demand,
            self.tried,
            counts.join("; ")
        )
    }
}

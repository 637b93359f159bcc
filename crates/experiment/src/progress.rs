//! Observers of an experiment's progress.

use rampcc::Time;
use rampcc_backend::Backend;

/// Watches an experiment. Runs are reported from several threads, in no order.
pub trait Progress: Sync {
    /// One backend begins.
    fn on_backend(&self, _: &Ahead<'_>) {}
    /// A run is being played: row and seed.
    fn on_start(&self, _: &str) {}
    /// A run has its result, played now or found in the results directory.
    fn on_finish(&self, _: &str) {}
    /// The backend is done, or Ctrl-C came.
    fn on_end(&self) {}
    /// Something was done otherwise than it was asked for, and why.
    fn on_note(&self, _: &str) {}
}

/// Ignores everything.
impl Progress for () {}

/// Work ahead of a backend.
#[derive(Clone, Copy, Debug)]
pub struct Ahead<'a> {
    /// Backend.
    pub backend: &'a dyn Backend,
    /// Runs, those on neighbouring paths included.
    pub runs: usize,
    /// Of these, those on the described paths.
    pub runs_here: usize,
    /// Longest duration of one of them, on the backend's own clock.
    pub longest: Time,
}

//! Places where this host keeps ramp's changes to it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Below which the kernel's objects are pinned.
pub const PINS: &str = "/sys/fs/bpf/ramp";
/// Directory of the records of what they replaced.
pub const RECORDS: &str = "/run/ramp";
/// Attaching takes some tens of milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// A host, as far as ramp changes it: a directory of pins and a directory of records.
#[derive(Clone)]
pub struct Host {
    pins: PathBuf,
    records: PathBuf,
    patience: Duration,
    unit: Option<String>,
    on_step: Option<Arc<dyn Fn(&'static str) + Send + Sync>>,
}

impl Host {
    /// The usual places: `/sys/fs/bpf/ramp` and `/run/ramp`.
    pub fn system() -> Self {
        Self::at(PINS, RECORDS)
    }

    /// Places of one's own; `pins` lies in a BPF file system.
    pub fn at(pins: impl Into<PathBuf>, records: impl Into<PathBuf>) -> Self {
        Self { pins: pins.into(), records: records.into(), patience: PATIENCE, unit: None, on_step: None }
    }

    /// Tells every step just before it is taken. A process may die at any of them: [`Host::detach`] recovers.
    #[must_use]
    pub fn on_step(self, told: impl Fn(&'static str) + Send + Sync + 'static) -> Self {
        Self { on_step: Some(Arc::new(told)), ..self }
    }

    /// Time for which another process may keep this one from changing the host; 10 s by default.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// What is attached from now on is this unit's of a service manager, and goes with [`Host::detach_unit`], whatever
    /// its scope. A unit has one attachment: what it has on another scope is detached first.
    #[must_use]
    pub fn for_unit(self, unit: impl Into<String>) -> Self {
        Self { unit: Some(unit.into()), ..self }
    }

    /// Below which the kernel's objects are pinned.
    pub fn pins(&self) -> &Path {
        &self.pins
    }

    /// Directory of the records of what they replaced.
    pub fn records(&self) -> &Path {
        &self.records
    }

    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    pub(crate) fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }

    pub(crate) fn step(&self, what: &'static str) {
        if let Some(told) = &self.on_step {
            told(what);
        }
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("pins", &self.pins)
            .field("records", &self.records)
            .finish_non_exhaustive()
    }
}

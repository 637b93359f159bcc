//! Where this host keeps what ramp has done to it.

use std::path::{Path, PathBuf};

/// Below which the kernel's objects are pinned.
const PINS: &str = "/sys/fs/bpf/ramp";
/// Where it is on record what they replaced.
const RECORDS: &str = "/run/ramp";

/// A host, as far as ramp changes it: a directory of pins and a directory of records.
#[derive(Clone, Debug)]
pub struct Host {
    pins: PathBuf,
    records: PathBuf,
}

impl Host {
    /// The usual places: `/sys/fs/bpf/ramp` and `/run/ramp`.
    pub fn system() -> Self {
        Self::at(PINS, RECORDS)
    }

    /// Places of one's own; `pins` lies in a BPF file system.
    pub fn at(pins: impl Into<PathBuf>, records: impl Into<PathBuf>) -> Self {
        Self { pins: pins.into(), records: records.into() }
    }

    /// Below which the kernel's objects are pinned.
    pub fn pins(&self) -> &Path {
        &self.pins
    }

    /// Where it is on record what they replaced.
    pub fn records(&self) -> &Path {
        &self.records
    }
}

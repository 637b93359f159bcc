//! A directory of a test's own, here and in the tests of the crates that build on this one.

use std::fs;
use std::path::{Path, PathBuf};

/// A directory that goes away with the test.
pub(crate) struct Place(pub(crate) PathBuf);

impl Place {
    /// `name` must be unique among all tests of a crate.
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

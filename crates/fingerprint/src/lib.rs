//! For build scripts: a number that changes with the sources that decide a result, so that a stored run is not found
//! again after a change that could have moved it.
//!
//! A part of ramp, not meant for other programs: any release may change it.
//!
//! ```no_run
//! // build.rs
//! rampcc_fingerprint::emit("SOURCES", &["src", "../tcp/src"]);
//! // src/lib.rs: env!("SOURCES") is eight hexadecimal digits
//! ```

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Sets the variable `name` for the crate that is built to the fingerprint of files and folders, relative to its own.
///
/// What is not there adds nothing: a published crate carries no folder but its own, and its version stands for the others, whose
/// versions it names exactly.
///
/// # Panics
///
/// Outside of a build script; and in the repository, if a source is not there.
#[expect(clippy::disallowed_methods, reason = "cargo speaks to a build script through its environment")]
pub fn emit(name: &str, sources: &[&str]) {
    let home = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it for build scripts"));
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it for build scripts");
    let mut hash = Fnv::default();
    hash.add(version.as_bytes());
    for source in sources {
        let source = home.join(source);
        // Within the repository, what is named is there: a file that moves must not leave the key in silence.
        assert!(
            source.exists() || !home.join("../fingerprint").exists(),
            "{} is not there",
            source.display()
        );
        tell(&format!("rerun-if-changed={}", source.display()));
        hash.add_all(&source);
    }
    tell(&format!("rustc-env={name}={:08x}", hash.folded()));
}

#[expect(clippy::print_stdout, reason = "it is how a build script speaks to cargo")]
fn tell(line: &str) {
    println!("cargo::{line}");
}

/// FNV-1a over names and contents: a label, not a seal.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// A file, or all files of a folder in the order of their names below it.
    fn add_all(&mut self, place: &Path) {
        for path in files_below(place) {
            let name = path.strip_prefix(place).unwrap_or(&path);
            self.add(name.to_string_lossy().as_bytes());
            self.add(&fs::read(&path).unwrap_or_default());
        }
    }

    fn folded(&self) -> u32 {
        (self.0 ^ (self.0 >> 32)) as u32
    }
}

fn files_below(place: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut waiting = vec![place.to_path_buf()];
    while let Some(next) = waiting.pop() {
        if next.is_file() {
            files.push(next);
        } else {
            waiting.extend(fs::read_dir(next).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(place: &Path) -> u32 {
        let mut hash = Fnv::default();
        hash.add_all(place);
        hash.folded()
    }

    #[test]
    fn names_and_contents_count_and_what_is_not_there_does_not() {
        let place = env::temp_dir().join(format!("ramp-fingerprint-{}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        let missing = of(&place);
        fs::create_dir_all(place.join("below")).unwrap();
        assert_eq!(of(&place), missing);
        fs::write(place.join("below/a.rs"), "one").unwrap();
        let one = of(&place);
        fs::write(place.join("below/a.rs"), "two").unwrap();
        let two = of(&place);
        fs::rename(place.join("below/a.rs"), place.join("below/b.rs")).unwrap();
        let renamed = of(&place);
        assert!(missing != one && one != two && two != renamed);
        assert_eq!(of(&place), renamed);
        assert_ne!(of(&place.join("below/b.rs")), missing);
        fs::remove_dir_all(&place).unwrap();
    }
}

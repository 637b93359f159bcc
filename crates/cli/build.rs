//! Gathers the documents of the algorithms, which the command carries with it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let crate_directory = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("documents.rs"), documents(&crate_directory.join("algorithms")))
        .expect("OUT_DIR is writable");
}

/// A Rust table of (algorithm id, its document).
fn documents(directory: &Path) -> String {
    println!("cargo::rerun-if-changed={}", directory.display());
    let mut table =
        String::from("/// Algorithm id and document.\npub(crate) const DOCUMENTS: &[(&str, &str)] = &[\n");
    for path in files_below(directory) {
        if path.extension().is_some_and(|e| e == "md") {
            let id = path.file_stem().expect("it has an extension").to_string_lossy();
            let path = path.canonicalize().expect("it was just listed");
            let path = path.to_str().expect("rustc reads only UTF-8 paths from source");
            writeln!(table, "    ({id:?}, include_str!({path:?})),").expect("a string grows");
        }
    }
    table + "];\n"
}

/// All files below a directory, in order of their paths; none if it does not exist.
fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut waiting = vec![directory.to_path_buf()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { waiting.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

//! Gathers what the command carries with it: the documents of the algorithms, and a fingerprint of every source
//! that can move a result, so that stored runs are never reused after a change.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// What decides a run with the kernel's TCP beside that.
const LINUX_SOURCES: [&str; 4] =
    ["crates/emulator/src", "crates/testbed/src", "crates/linux/bpf", "crates/linux/src"];

/// Relative to the workspace: what decides a run's result. Scenarios are part of a run's own key.
const SOURCES: [&str; 8] = [
    "include/ramp",
    "crates/ramp/src",
    "crates/path/src",
    "crates/tcp/src",
    "crates/trace/src",
    "crates/scenario/src",
    "crates/sim/src",
    "crates/lab/src",
];

fn main() {
    let crate_directory = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("documents.rs"), documents(&crate_directory.join("algorithms")))
        .expect("OUT_DIR is writable");
    let workspace = crate_directory.join("../..");
    println!("cargo::rustc-env=RAMP_SOURCE={:08x}", fingerprint(&workspace, &SOURCES));
    println!("cargo::rustc-env=RAMP_LINUX_SOURCE={:08x}", fingerprint(&workspace, &LINUX_SOURCES));
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

/// FNV-1a over names and contents, folded to 32 bits: a label, not a seal.
fn fingerprint(workspace: &Path, sources: &[&str]) -> u32 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for source in sources {
        let directory = workspace.join(source);
        println!("cargo::rerun-if-changed={}", directory.display());
        for path in files_below(&directory) {
            let name = path.strip_prefix(&directory).expect("it is below");
            add(name.to_string_lossy().as_bytes());
            add(&fs::read(&path).unwrap_or_default());
        }
    }
    (hash ^ (hash >> 32)) as u32
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

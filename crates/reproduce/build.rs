//! Lists `experiments/*/*.toml`, so that a new file is a new experiment.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(cargo("CARGO_MANIFEST_DIR")).join("experiments");
    let mut files = Vec::new();
    for paper in entries(&root) {
        files
            .extend(entries(&paper).into_iter().filter(|file| file.extension().is_some_and(|e| e == "toml")));
    }
    let mut table = String::from("static BUILT_IN: &[(&str, &str)] = &[\n");
    for file in files {
        let name = file.strip_prefix(&root).expect("it is below").display().to_string();
        writeln!(table, "    ({name:?}, include_str!({:?})),", file.display()).expect("a string takes all");
    }
    table += "];\n";
    let out = cargo("OUT_DIR");
    fs::write(Path::new(&out).join("built_in.rs"), table).expect("the output directory is writable");
}

/// What a folder holds, in the order of names, Figure 2 before Figure 10; nothing of a file.
fn entries(place: &Path) -> Vec<PathBuf> {
    println!("cargo::rerun-if-changed={}", place.display());
    let Ok(found) = fs::read_dir(place) else { return Vec::new() };
    let mut found: Vec<PathBuf> = found.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.sort_by_cached_key(|path| parts(&path.to_string_lossy()));
    found
}

/// A text's words and numbers, by turns.
fn parts(text: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len()));
        let digits;
        (digits, rest) = after.split_at(after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len()));
        parts.push((word.to_owned(), digits.parse().unwrap_or(0)));
    }
    parts
}

#[expect(clippy::disallowed_methods, reason = "this is how cargo talks to build scripts")]
fn cargo(name: &str) -> String {
    std::env::var(name).expect("cargo sets it")
}

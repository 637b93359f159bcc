//! Lists `experiments/*/*.toml`, so that a new file is a new experiment, and a new `paper.toml` a new paper.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use order::parts;

#[path = "src/order.rs"]
mod order;

fn main() {
    let root = PathBuf::from(cargo("CARGO_MANIFEST_DIR")).join("experiments");
    let mut files = Vec::new();
    for paper in entries(&root) {
        files
            .extend(entries(&paper).into_iter().filter(|file| file.extension().is_some_and(|e| e == "toml")));
    }
    let (papers, experiments): (Vec<PathBuf>, Vec<PathBuf>) =
        files.into_iter().partition(|file| file.ends_with("paper.toml"));
    let mut table = String::new();
    for (name, files) in [("PAPERS", papers), ("BUILT_IN", experiments)] {
        writeln!(table, "pub(crate) static {name}: &[(&str, &str)] = &[").expect("a string takes all");
        for file in files {
            let name = file.strip_prefix(&root).expect("it is below").display().to_string();
            writeln!(table, "    ({name:?}, include_str!({:?})),", file.display())
                .expect("a string takes all");
        }
        table += "];\n";
    }
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

#[expect(clippy::disallowed_methods, reason = "this is how cargo talks to build scripts")]
fn cargo(name: &str) -> String {
    std::env::var(name).expect("cargo sets it")
}

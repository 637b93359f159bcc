//! Lists `scenarios/*.toml`, so that a new file is a new built-in scenario.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let directory = Path::new(&root).join("scenarios");
    println!("cargo::rerun-if-changed={}", directory.display());
    let mut names: Vec<String> = fs::read_dir(&directory)
        .expect("scenarios/ is part of the source")
        .filter_map(|entry| {
            entry.ok()?.file_name().into_string().ok()?.strip_suffix(".toml").map(str::to_owned)
        })
        .collect();
    names.sort();
    let mut table = String::from("static BUILT_IN: &[(&str, &str)] = &[\n");
    for name in &names {
        let path = directory.join(format!("{name}.toml"));
        println!("cargo::rerun-if-changed={}", path.display());
        writeln!(table, "    ({name:?}, include_str!({:?})),", path.display()).expect("a string takes all");
    }
    table.push_str("];\n");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("built_in.rs"), table).expect("the output directory is writable");
}

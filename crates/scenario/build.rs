//! Lists `scenarios/*.toml`, so that a new file is a new built-in scenario, and the measured links in `scenarios/traces`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

fn main() {
    let root = cargo("CARGO_MANIFEST_DIR");
    let directory = Path::new(&root).join("scenarios");
    println!("cargo::rerun-if-changed={}", directory.display());
    let scenarios = table("BUILT_IN: &[(&str, &str)]", "include_str!", &directory, ".toml");
    let traces = table("TRACES: &[(&str, &[u8])]", "include_bytes!", &directory.join("traces"), ".gz");
    let table = scenarios + &traces;
    let out = cargo("OUT_DIR");
    fs::write(Path::new(&out).join("built_in.rs"), table).expect("the output directory is writable");
}

/// A table of the files with this ending, by name without it.
fn table(head: &str, include: &str, directory: &Path, ending: &str) -> String {
    let root = cargo("CARGO_MANIFEST_DIR");
    println!("cargo::rerun-if-changed={}", directory.display());
    let mut names: Vec<String> = fs::read_dir(directory)
        .expect("scenarios/ is part of the source")
        .filter_map(|entry| {
            entry.ok()?.file_name().into_string().ok()?.strip_suffix(ending).map(str::to_owned)
        })
        .collect();
    names.sort();
    let mut table = format!("static {head} = &[\n");
    for name in &names {
        let path = directory.join(format!("{name}{ending}"));
        println!("cargo::rerun-if-changed={}", path.display());
        // So written that the generated source is the same wherever the package lies.
        let below = format!("/{}", path.strip_prefix(&root).expect("it is below").display());
        writeln!(table, "    ({name:?}, {include}(concat!(env!(\"CARGO_MANIFEST_DIR\"), {below:?}))),")
            .expect("a string takes all");
    }
    table + "];\n"
}

#[expect(clippy::disallowed_methods, reason = "this is how cargo talks to build scripts")]
fn cargo(name: &str) -> String {
    std::env::var(name).expect("cargo sets it")
}

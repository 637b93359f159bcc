//! Compiles the C core into one object, the table of algorithms that `abi` reads, and gathers their documents.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script where to write through its environment"
)]
fn main() {
    println!("cargo::rerun-if-changed=include/ramp");
    println!("cargo::rerun-if-changed=src/shim.c");
    println!("cargo::rerun-if-changed=docs");
    cc::Build::new()
        .file("src/shim.c")
        .include("include")
        .std("c99")
        .opt_level(2)
        .warnings(true)
        .compile("ramp_core");
    let output = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&output).join("documents.rs"), documents()).expect("OUT_DIR is writable");
}

/// `docs/<id>.md`, sorted by id: an algorithm's document is found by its name alone.
fn documents() -> String {
    let mut paths: Vec<_> = fs::read_dir("docs")
        .expect("docs links to docs/algorithms")
        .map(|entry| entry.expect("a readable directory").path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    paths.sort();
    let mut table = String::from(
        "/// Identifier and document of each algorithm.\npub(crate) const DOCUMENTS: &[(&str, &str)] = &[\n",
    );
    for path in paths {
        let id = path.file_stem().expect("a file name").to_string_lossy().into_owned();
        let path = path.canonicalize().expect("the file was listed");
        writeln!(table, "    ({id:?}, include_str!({:?})),", path.to_string_lossy())
            .expect("writing to a string");
    }
    table.push_str("];\n");
    table
}

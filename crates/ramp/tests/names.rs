//! No crate but `ramp` knows an algorithm by name: source texts outside of it hold no algorithm's id as a string.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where an id of an algorithm stands for something else, by file below `crates`.
const OTHER_MEANINGS: [(&str, &[&str]); 10] = [
    // Rows that a property test of the command draws from.
    ("cli/src/reuse.rs", &["hystart", "slow_start", "best"]),
    // The kernel's congestion controls.
    ("emulator/src/download.rs", &["bbr"]),
    ("linux/src/starts.rs", &["bbr"]),
    ("testbed/src/row.rs", &["bbr"]),
    ("scenario/src/names.rs", &["bbr", "bbr3", "vegas"]),
    // A switch of the kernel's CUBIC.
    ("testbed/src/kernel.rs", &["hystart"]),
    // A function of formulae.
    ("reproduce/src/expression.rs", &["spread"]),
    // A state of qlog's.
    ("quic/src/qlog.rs", &["slow_start"]),
    // A field.
    ("scenario/src/cpu.rs", &["search"]),
    // An example in the reference.
    ("scenario/src/schema/flows.rs", &["slow_start"]),
];

#[test]
fn no_other_crate_names_an_algorithm() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates");
    let mut files = Vec::new();
    for one in fs::read_dir(crates).expect("crates") {
        let one = one.expect("a crate").path();
        if !one.ends_with("ramp") {
            sources(&one.join("src"), &mut files);
        }
    }
    assert!(files.len() > 200, "{} files are not the crates", files.len());
    let mut found = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("UTF-8");
        let name = file.strip_prefix(crates).expect("below").to_string_lossy().into_owned();
        found.extend(named(&text).map(|id| (name.clone(), id)));
    }
    let allowed: BTreeSet<_> = OTHER_MEANINGS
        .iter()
        .flat_map(|(file, ids)| ids.iter().map(|id| ((*file).to_owned(), *id)))
        .collect();
    let new: Vec<_> = found.difference(&allowed).collect();
    let gone: Vec<_> = allowed.difference(&found).collect();
    assert!(new.is_empty(), "ask for a trait instead of a name: {new:?}");
    assert!(gone.is_empty(), "exceptions that nothing needs: {gone:?}");
}

#[test]
fn the_search_sees_names_in_code_only() {
    let text = "// \"hystart\"\nlet a = \"best\";\n#[cfg(test)]\nlet b = \"paced\";\n";
    assert_eq!(named(text).collect::<Vec<_>>(), ["best"]);
}

/// Ids in the code of a file, without comments and tests.
fn named(text: &str) -> impl Iterator<Item = &'static str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code: String = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let ids = rampcc::algorithms().iter().map(|algorithm| algorithm.id);
    ids.filter(move |id| code.contains(&format!("\"{id}\"")))
}

/// Rust files below, but those that only tests use.
fn sources(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !["tests.rs", "testing.rs", "fixture.rs"].contains(&name.as_str())
        {
            files.push(path);
        }
    }
}

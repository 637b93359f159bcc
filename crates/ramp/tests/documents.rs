//! Headers, registry and documents say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use rampcc::{Algorithm, algorithms};

#[path = "support/blessed.rs"]
mod blessed;
#[path = "support/index.rs"]
mod index;

const OPENING: &str =
    "<!-- parameters: from the header; `RAMP_BLESS=1 cargo test -p rampcc --test documents` rewrites -->\n";
const CLOSING: &str = "<!-- end -->\n";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document_path(id: &str) -> PathBuf {
    root().join("docs/algorithms").join(id).with_extension("md")
}

fn header(id: &str) -> String {
    fs::read_to_string(root().join("include/ramp").join(id).with_extension("h"))
        .expect("a header for every row")
}

/// One space between words.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_row_has_a_document_and_every_document_a_row() {
    let rows: BTreeSet<String> = algorithms().iter().map(|a| a.id.to_string()).collect();
    let documents: BTreeSet<String> = fs::read_dir(root().join("docs/algorithms"))
        .expect("the documents")
        .map(|entry| entry.expect("a readable directory").path())
        .map(|path| path.file_stem().expect("a file name").to_string_lossy().into_owned())
        .filter(|name| name != "README")
        .collect();
    assert_eq!(rows, documents);
    for algorithm in algorithms() {
        for section in
            ["# ", "\n## How it decides\n", "\n## Parameters\n", "\n## Deviations\n", "\n## Caveats\n"]
        {
            assert!(algorithm.document().contains(section), "{}: no {section:?}", algorithm.id);
        }
    }
}

#[test]
fn every_deviation_of_a_header_is_in_its_document_and_no_other() {
    let mut count = 0;
    for algorithm in algorithms() {
        let (_, deviations) = algorithm.document().split_once("\n## Deviations\n").expect("the section");
        let (deviations, _) = deviations.split_once("\n## ").expect("the next section");
        let documented: BTreeSet<String> = deviations.split("\n- ").skip(1).map(plain).collect();
        let header = header(algorithm.id);
        let comment = header.split("*/").nth(1).expect("the second comment describes the algorithm");
        let comment: Vec<&str> = comment.lines().map(|l| l.trim_start_matches([' ', '*'])).collect();
        let declared: BTreeSet<String> = comment.join("\n").split("Deviates:").skip(1).map(plain).collect();
        assert_eq!(declared, documented, "{}", algorithm.id);
        assert_eq!(
            header.matches("Deviates:").count(),
            declared.len(),
            "{}: outside the first comment",
            algorithm.id
        );
        count += declared.len();
    }
    assert!(count >= 10, "the test no longer finds them: {count}");
}

#[test]
fn parameter_tables_are_the_headers() {
    for algorithm in algorithms() {
        blessed::between(&document_path(algorithm.id), OPENING, CLOSING, &table(algorithm));
    }
}

fn table(algorithm: &Algorithm) -> String {
    let mut table =
        String::from("| name | unit | default | range | source | meaning |\n|---|---|---|---|---|---|\n");
    for p in &algorithm.parameters {
        let choices: Vec<&str> =
            p.unit.strip_prefix("choice:").map(|c| c.split('|').collect()).unwrap_or_default();
        let (unit, default, range) = if choices.is_empty() {
            (p.unit, p.default.to_string(), format!("{} to {}", p.minimum, p.maximum))
        } else {
            ("choice", choices[p.default as usize].to_string(), choices.join(", "))
        };
        let default = algorithm
            .overrides(p.name)
            .fold(default, |text, other| format!("{text}; {}: {}", other.environment, other.value));
        writeln!(table, "| `{}` | {unit} | {default} | {range} | {} | {} |", p.name, p.source, p.meaning)
            .expect("writing to a string");
    }
    table
}

#[test]
fn the_index_has_every_row_as_the_registry_has_it() {
    let text = fs::read_to_string(index::path()).expect("the index");
    blessed::whole(&index::path(), &index::page(&text, &BTreeMap::new()));
    for algorithm in algorithms() {
        let row = format!("| [`{0}`]({0}.md) |", algorithm.id);
        assert_eq!(text.matches(&row).count(), 1, "{row}");
        let (state, page) = (algorithm.state_bytes(), algorithm.document());
        let excused = page.contains("above the bound of 4 kB");
        assert_eq!(state > 4096, excused, "{}: {state} bytes of state", algorithm.id);
    }
}

#[test]
fn times_stay_in_the_index_and_new_ones_replace_them() {
    let text = fs::read_to_string(index::path()).expect("the index");
    let timed = |column, time: &str| BTreeMap::from([("best", (column, time.to_owned()))]);
    let native = index::page(&text, &timed(index::Times::Native, "7777"));
    let both = index::page(&native, &timed(index::Times::Kernel, "8888"));
    assert!(both.contains("| 7777 | 8888 |\n"));
    assert_eq!(index::page(&both, &BTreeMap::new()), both);
}

#[test]
fn tables_are_well_formed() {
    for algorithm in algorithms() {
        assert!(algorithm.id.len() <= 10, "{}: the kernel allows ramp_<id> 15 letters", algorithm.id);
        let names: BTreeSet<&str> = algorithm.parameters.iter().map(|p| p.name).collect();
        assert_eq!(names.len(), algorithm.parameters.len(), "{}: a name twice", algorithm.id);
        assert!(algorithm.parameters.len() <= rampcc::PARAMETERS_MAX);
        for p in &algorithm.parameters {
            assert!(p.minimum <= p.default && p.default <= p.maximum, "{}: {}", algorithm.id, p.name);
            assert!(!p.source.is_empty() && !p.meaning.is_empty(), "{}: {}", algorithm.id, p.name);
            if let Some(choices) = p.unit.strip_prefix("choice:") {
                assert_eq!((p.minimum, p.maximum), (0, choices.split('|').count() as u64 - 1), "{}", p.name);
            }
        }
    }
}

#[test]
fn every_cited_source_is_in_the_references() {
    let references = fs::read_to_string(root().join("docs/references.md")).expect("the references");
    for algorithm in algorithms() {
        let text = format!("{}{}", header(algorithm.id), algorithm.document());
        let keys = text
            .match_indices('[')
            .filter_map(|(at, _)| text[at..].split_inclusive(']').next())
            .filter(|key| key.len() <= 7 && key[1..].starts_with(|c: char| c.is_ascii_uppercase()));
        let rfcs = text
            .match_indices("RFC ")
            .filter_map(|(at, _)| text.get(at..at + 8))
            .filter(|rfc| rfc.ends_with(|c: char| c.is_ascii_digit()));
        for source in keys.chain(rfcs) {
            assert!(references.contains(source), "{}: {source} is not in docs/references.md", algorithm.id);
        }
    }
}

//! `docs/guide/scenarios.md` against the schema and the code.

use std::fmt::Write as _;
use std::path::Path;

use rampcc_scenario::{Scenario, schema};
use rampcc_tcp::Profile;

#[path = "../../ramp/tests/support/blessed.rs"]
mod blessed;

const BEGIN: &str =
    "<!-- reference: made from the schema; `RAMP_BLESS=1 cargo test -p rampcc-scenario` writes it -->";

fn guide() -> String {
    blessed::read(&blessed::page("guide/scenarios.md"))
}

fn reference() -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    let mut text = format!("{BEGIN}\n");
    for table in schema::tables() {
        write!(text, "\n### `{}`\n\n{}\n\n", table.name, table.meaning).unwrap();
        text.push_str("| field | allowed | default | meaning |\n|---|---|---|---|\n");
        for field in table.fields() {
            writeln!(
                text,
                "| `{}` | {} | {} | {} |",
                field.name,
                cell(&field.allowed),
                cell(&field.default),
                cell(field.meaning)
            )
            .unwrap();
        }
    }
    text.push_str("\n### Parameters by profile\n\nOf `[algorithm.<id>]`, unless set otherwise.\n\n");
    text.push_str("| parameter | `modern` | `era`, `ns2` | why |\n|---|---|---|---|\n");
    for other in rampcc::OVERRIDES {
        let algorithm = rampcc::algorithm(other.algorithm).unwrap();
        let index = algorithm.parameters.iter().position(|p| p.name == other.parameter).unwrap();
        let [modern, era, ns2] = [Profile::Modern, Profile::Era, Profile::Ns2]
            .map(|profile| algorithm.parameters_in(profile.environment())[index]);
        assert_eq!(era, ns2, "one column holds both");
        let reason = other.reason;
        writeln!(text, "| `{}.{}` | {modern} | {era} | {reason} |", algorithm.id, other.parameter).unwrap();
    }
    text
}

#[test]
fn the_guide_holds_every_field_with_default_and_meaning() {
    blessed::from(&blessed::page("guide/scenarios.md"), BEGIN, &reference());
}

#[test]
fn every_field_says_what_it_is() {
    for table in schema::tables() {
        assert!(table.meaning.ends_with('.'), "{}", table.name);
        for field in table.fields() {
            let (name, field_name) = (table.name, field.name);
            assert!(!field.allowed.is_empty() && !field.default.is_empty(), "{name} {field_name}");
            assert!(
                field.name == "kind" || field.meaning.ends_with('.'),
                "{name} {field_name}: {}",
                field.meaning
            );
        }
    }
}

#[test]
fn every_example_of_the_guide_is_a_scenario() {
    let text = guide();
    let mut examples = 0;
    for part in text.split("```toml\n").skip(1) {
        let example = part.split("```").next().unwrap_or_default();
        if example.contains("trace = ") || example.contains("file = ") {
            continue; // needs a file beside it
        }
        Scenario::parse("guide", example, None).unwrap_or_else(|e| panic!("{}\n{example}", e.explain()));
        examples += 1;
    }
    assert!(examples >= 5, "{examples} examples");
}

#[test]
fn the_guide_lists_every_built_in_scenario() {
    let text = guide();
    for name in Scenario::built_in_names() {
        assert!(text.contains(&format!("`{name}`")), "{name} is missing");
    }
}

/// CONTRIBUTING.md promises these four for a queue.
#[test]
fn a_queue_is_known_in_four_places() {
    fn sources(directory: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(directory).expect("a directory of the source") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(&crates).expect("the crates") {
        let sources_of_one = entry.expect("an entry").path().join("src");
        if sources_of_one.is_dir() {
            sources(&sources_of_one, &mut all);
        }
    }
    let knows = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).expect("a source");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        code.into_iter()
            .any(|line| ["RandomDrop", "random_drop", "random-drop"].iter().any(|n| line.contains(n)))
    };
    let name = |path: std::path::PathBuf| {
        path.strip_prefix(&crates).expect("below the crates").to_string_lossy().into_owned()
    };
    let mut found: Vec<String> = all.into_iter().filter(knows).map(name).collect();
    found.sort();
    assert_eq!(
        found,
        [
            "path/src/config.rs",
            "path/src/queue/mod.rs",
            "path/src/queue/random_drop.rs",
            "scenario/src/queue.rs"
        ]
    );
}

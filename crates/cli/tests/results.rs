//! `docs/guide/results.md` against the types that are written.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::path::Path;

use rampcc_lab::report::{CSV_COLUMNS, FORMAT, RUNS_COLUMNS};

#[path = "../../ramp/tests/support/blessed.rs"]
mod blessed;

const BEGIN: &str = "<!-- reference: made from the types; `RAMP_BLESS=1 cargo test -p rampcc-cli --test results` writes it -->";

/// A document: its heading, the type it is, and the files that define that type and those of its fields.
const DOCUMENTS: [(&str, &str, &[&str]); 3] = [
    (
        "`comparison.json`, `ramp compare --json`",
        "Written",
        &[
            "lab/src/report/machine.rs",
            "lab/src/words.rs",
            "lab/src/comparison.rs",
            "lab/src/summary.rs",
            "lab/src/gentle.rs",
            "lab/src/metric/definition.rs",
            "lab/src/carries.rs",
            "lab/src/carries/influence.rs",
            "lab/src/context.rs",
            "lab/src/record.rs",
            "lab/src/drawn.rs",
            "lab/src/emulation.rs",
            "trace/src/emulation.rs",
            "trace/src/provenance.rs",
        ],
    ),
    (
        "`league-*.json`, `ramp league --json`",
        "Table",
        &[
            "league/src/judge/mod.rs",
            "league/src/judge/line.rs",
            "league/src/judge/certain.rs",
            "league/src/judge/tree.rs",
            "league/src/crowds.rs",
        ],
    ),
    (
        "`recommend-*.json`, `ramp recommend --json`",
        "Recommendation",
        &["league/src/recommend/judge.rs", "league/src/recommend/starts.rs", "league/src/judge/certain.rs"],
    ),
];

/// A field or a value: its name (none of one whose own fields stand in its place), its type (none of a value), its meaning.
struct Line {
    name: String,
    of: String,
    meaning: String,
}

/// The public types of a source file, as far as they are written.
fn types(source: &str) -> BTreeMap<String, Vec<Line>> {
    let mut types: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    let (mut inside, mut meaning) = (None::<(String, bool)>, String::new());
    let (mut skipped, mut flat) = (false, false);
    for line in source.lines() {
        let text = line.trim();
        if let Some(words) = text.strip_prefix("///") {
            meaning = format!("{meaning} {}", words.trim());
            continue;
        }
        if text.starts_with("#[") {
            skipped |= text.starts_with("#[serde(skip)");
            flat |= text.starts_with("#[serde(flatten)");
            continue;
        }
        match &inside {
            Some(_) if line == "}" => inside = None,
            Some((name, false)) => {
                if let Some((field, of)) = text.strip_prefix("pub ").and_then(|text| text.split_once(": "))
                    && !skipped
                {
                    let of = of.trim_end_matches(',').to_owned();
                    let name_of_field = if flat { "" } else { field };
                    let line =
                        Line { name: name_of_field.to_owned(), of, meaning: meaning.trim().to_owned() };
                    types.entry(name.clone()).or_default().push(line);
                }
            }
            Some((name, true)) => {
                let value = text.trim_end_matches(',');
                if value.chars().all(char::is_alphanumeric) && !value.is_empty() {
                    let line =
                        Line { name: snake(value), of: String::new(), meaning: meaning.trim().to_owned() };
                    types.entry(name.clone()).or_default().push(line);
                }
            }
            None => {
                let named = |keyword: &str| {
                    let rest = line.strip_prefix(keyword)?.strip_suffix(" {")?;
                    Some(rest.to_owned())
                };
                inside = named("pub struct ")
                    .map(|name| (name, false))
                    .or_else(|| named("pub enum ").map(|name| (name, true)));
            }
        }
        meaning.clear();
        (skipped, flat) = (false, false);
    }
    types
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    for (index, c) in name.chars().enumerate() {
        if c.is_uppercase() && index > 0 {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// A Rust type as JSON has it, and the types that it names.
fn told(of: &str, known: &BTreeMap<String, Vec<Line>>) -> (String, Vec<String>) {
    let of = of.trim().trim_start_matches("&'static ");
    if of == "Option<About>" {
        // Written as the sentences that it stands for.
        return ("text".to_owned(), Vec::new());
    }
    let inner = |outer: &str| of.strip_prefix(outer).and_then(|rest| rest.strip_suffix('>'));
    if let Some(one) = inner("Option<") {
        let (text, named) = told(one, known);
        return (format!("{text} or null"), named);
    }
    if let Some(one) = inner("Vec<") {
        let (text, named) = told(one, known);
        return (format!("list of {text}"), named);
    }
    if let Some((_, value)) = inner("BTreeMap<").and_then(|both| both.split_once(", ")) {
        let (text, named) = told(value, known);
        return (format!("object of {text}"), named);
    }
    if let Some((one, count)) = of.strip_prefix('[').and_then(|o| o.strip_suffix(']')?.split_once("; ")) {
        let (text, named) = told(one, known);
        return (format!("{count} of {text}"), named);
    }
    if let Some(parts) = of.strip_prefix('(').and_then(|of| of.strip_suffix(')')) {
        let parts: Vec<(String, Vec<String>)> = parts.split(", ").map(|part| told(part, known)).collect();
        let texts: Vec<&str> = parts.iter().map(|(text, _)| text.as_str()).collect();
        return (
            format!("pair of {}", texts.join(" and ")),
            parts.iter().flat_map(|(_, n)| n.clone()).collect(),
        );
    }
    let plain = match of {
        "f64" => "number",
        "u64" | "u32" | "usize" | "i64" => "integer",
        "bool" => "boolean",
        // A note and an explanation are written as sentences.
        "String" | "str" | "ExitReason" | "Note" | "Explanation" => "text",
        // Curves, which these files leave out.
        "RunSeries" => "object",
        name if known.contains_key(name) => return (format!("`{name}`"), vec![name.to_owned()]),
        other => panic!("the reference does not know the type {other}"),
    };
    (plain.to_owned(), Vec::new())
}

/// Without what only Rust's documentation can follow.
fn plain(meaning: &str) -> String {
    let mut text = meaning.replace("[`", "`").replace("`]", "`").replace('|', "\\|");
    while let Some(at) = text.find("`(") {
        let end = text[at..].find(')').expect("a link ends");
        text.replace_range(at + 1..=at + end, "");
    }
    text.replace("`None`", "null").replace("`true`", "true")
}

fn columns(text: &mut String, heading: &str, columns: &[(&str, &str)]) {
    write!(text, "\n## {heading}\n\n| column | meaning |\n|---|---|\n").unwrap();
    for (name, meaning) in columns {
        writeln!(text, "| `{name}` | {meaning} |").unwrap();
    }
}

/// Those of a type, with those of its parts that stand in their place; of two of a name, its own.
fn fields<'a>(known: &'a BTreeMap<String, Vec<Line>>, name: &str) -> Vec<&'a Line> {
    let own: BTreeSet<&str> = known[name].iter().map(|line| line.name.as_str()).collect();
    let parts = |line: &'a Line| match line.name.as_str() {
        "" => fields(known, &line.of).into_iter().filter(|part| !own.contains(part.name.as_str())).collect(),
        _ => vec![line],
    };
    known[name].iter().flat_map(parts).collect()
}

fn reference() -> String {
    let mut text = format!("{BEGIN}\n\nThe number of the form, `format`, is {FORMAT}.\n");
    for (heading, root, files) in DOCUMENTS {
        let mut known = BTreeMap::new();
        for file in files {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
            known.extend(types(&std::fs::read_to_string(&path).expect("a source")));
        }
        write!(text, "\n## {heading}\n").unwrap();
        let (mut waiting, mut seen) = (VecDeque::from([root.to_owned()]), BTreeSet::from([root.to_owned()]));
        while let Some(name) = waiting.pop_front() {
            write!(text, "\n### `{name}`\n\n").unwrap();
            let lines = fields(&known, &name);
            let values = lines[0].of.is_empty();
            text.push_str(if values {
                "| value | meaning |\n|---|---|\n"
            } else {
                "| field | is | meaning |\n|---|---|---|\n"
            });
            for line in lines {
                if values {
                    writeln!(text, "| `{}` | {} |", line.name, plain(&line.meaning)).unwrap();
                    continue;
                }
                let (is, named) = told(&line.of, &known);
                writeln!(text, "| `{}` | {is} | {} |", line.name, plain(&line.meaning)).unwrap();
                waiting.extend(named.into_iter().filter(|name| seen.insert(name.clone())));
            }
        }
    }
    columns(&mut text, "`comparison.csv`, `ramp compare --csv`", &CSV_COLUMNS);
    columns(&mut text, "`runs.csv`", &RUNS_COLUMNS);
    text
}

#[test]
fn the_guide_holds_every_field_and_column_that_is_written() {
    blessed::from(&blessed::page("guide/results.md"), BEGIN, &reference());
}

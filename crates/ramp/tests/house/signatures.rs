//! No function takes a tuple: neither `(from, to): (u32, u32)` nor `pair: &(u32, u32)`. What belongs together gets a struct with
//! named fields; several of one kind are an array; a slice or an iterator may have tuples in it, and a function may return one.

use crate::files;

#[test]
fn no_parameter_is_a_tuple() {
    let all = files(&["crates", "examples", "fuzz", "python"], "rs");
    assert!(all.len() > 700, "{} files are not the sources", all.len());
    let found: Vec<_> = all
        .iter()
        .filter(|(file, _)| !file.ends_with("house/signatures.rs"))
        .flat_map(|(file, text)| tuples(text).into_iter().map(move |found| format!("{file}: {found}")))
        .collect();
    assert!(found.is_empty(), "give these names, in a struct or as arguments: {found:#?}");
}

#[test]
fn the_search_sees_tuples_in_any_form_and_nothing_else() {
    let text = "fn a((x, y): (u8, u8), z: u8) {}\nfn b<T: Fn(u8) -> u8>(&self, one: &'a mut (T,\n u8)) {}
        fn c(f: impl Fn((u8, u8)) -> (u8, u8), g: &[(u8, u8)], h: &(dyn Fn() + Sync), none: ()) -> (u8, u8) {}
        fn d(pair: Pair) {}\ntype Pair = (u8, u8);\ntype Whole = u8;\n// fn e(x: (u8, u8)) {}\n";
    assert_eq!(tuples(text), ["a: (x, y): (u8, u8)", "b: one: &'a mut (T, u8)", "d: pair: Pair"]);
}

/// The parameters of a file's functions that are tuples, or of a type that is one by another name.
fn tuples(text: &str) -> Vec<String> {
    let code: Vec<_> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let aliases = aliases(&code);
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + 3..];
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let Some(rest) = parameters(&rest[name.len()..]).filter(|_| !name.is_empty()) else { continue };
        for one in split(rest) {
            let one = one.split_whitespace().collect::<Vec<_>>().join(" ");
            let Some((pattern, kind)) = one.split_once(": ") else { continue };
            if pattern.starts_with('(') || is_tuple(kind) || aliases.contains(&bare(kind)) {
                found.push(format!("{name}: {one}"));
            }
        }
    }
    found
}

/// Names of types that are tuples.
fn aliases(code: &str) -> Vec<&str> {
    let types = code.split("type ").skip(1).filter_map(|rest| rest.split_once(" = "));
    types.filter(|(name, kind)| !name.contains(['\n', ';']) && is_tuple(kind)).map(|(name, _)| name).collect()
}

/// Without a reference.
fn bare(kind: &str) -> &str {
    let kind = kind.trim_start_matches('&').trim_start();
    let kind =
        if kind.starts_with('\'') { kind.split_once(' ').map_or(kind, |(_, kind)| kind) } else { kind };
    kind.trim_start_matches("mut ")
}

fn is_tuple(kind: &str) -> bool {
    inside(bare(kind)).is_some_and(|within| split(within).count() > 1)
}

/// What the brackets at the beginning hold.
fn inside(text: &str) -> Option<&str> {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return (c == ')').then(|| &text[1..at]);
        }
    }
    None
}

/// What the brackets of a function hold, which its generic parameters may precede.
fn parameters(text: &str) -> Option<&str> {
    let mut depth = 0_i32;
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if last != '-' => depth -= 1,
            '(' if depth == 0 => return inside(&text[at..]),
            _ => {}
        }
        last = c;
    }
    None
}

/// At the commas outside all brackets.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    let mut last = ' ';
    let parts = text.split(move |c| {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if last != '-' => depth -= 1,
            _ => {}
        }
        last = c;
        c == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

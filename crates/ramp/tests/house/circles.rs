//! Which files of a crate need each other: small groups only, so that each can be read on its own. Between crates cargo allows no
//! circles.

use std::collections::{BTreeMap, BTreeSet};

use crate::files;

/// Most files that may need each other.
const MOST: usize = 4;

/// A file by its module path below its crate: empty for `lib.rs`.
type Module = Vec<String>;

/// The rooms of `crates/lab`, as ARCHITECTURE.md draws them, and what is in each: no file needs one of a room that comes later.
const ROOMS: [(&str, &str); 5] = [
    ("statistics and numbers", "statistics summary format"),
    ("measures", "metric flows ledger meter startup exit record context"),
    ("judgement", "comparison judge pairs drawn alike carries sides gentle about explain emulation"),
    ("words", "words verdict fares notes standing carries/words sides/words"),
    ("pages", "report"),
];

#[test]
fn every_room_of_the_lab_needs_only_those_before_it() {
    let all = crates();
    let texts = &all["crates/lab"];
    let room = |module: &Module| {
        let path = module.join("/");
        let holds = |names: &str| names.split(' ').any(|name| path == name);
        let exact = ROOMS.iter().position(|(_, names)| holds(names));
        let folder = ROOMS.iter().position(|(_, names)| names.split(' ').any(|name| name == module[0]));
        exact.or(folder).unwrap_or_else(|| panic!("{path} is in no room"))
    };
    let uses: BTreeMap<_, _> = texts.iter().map(|(module, text)| (module, uses(text))).collect();
    let mut wrong = Vec::new();
    for (module, paths) in uses.iter().filter(|(module, _)| !module.is_empty()) {
        let later = |other: &&Module| !other.is_empty() && room(other) > room(module);
        wrong.extend(needs(module, paths, &uses).into_iter().filter(later).map(|other| (*module, other)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn few_files_need_each_other() {
    let crates = crates();
    let wrong: Vec<_> = crates
        .iter()
        .flat_map(|(name, texts)| circles(texts).into_iter().map(move |circle| (name, circle)))
        .filter(|(_, circle)| circle.len() > MOST)
        .collect();
    assert!(wrong.is_empty(), "more than {MOST} files need each other: {wrong:#?}");
}

/// The sources of every crate, by its folder; without those that only tests use.
fn crates() -> BTreeMap<String, BTreeMap<Module, String>> {
    let mut crates: BTreeMap<String, BTreeMap<Module, String>> = BTreeMap::new();
    for (file, text) in files(&["crates", "python"], "rs") {
        let parts: Vec<_> = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        let Some(source) = parts.iter().position(|part| part == "src") else { continue };
        let mut module = parts[source + 1..].to_vec();
        module.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
        let in_tests = |part: &String| ["tests", "testing", "fixture"].contains(&part.as_str());
        if !module.iter().any(in_tests) {
            crates.entry(parts[..source].join("/")).or_default().insert(module, text);
        }
    }
    assert!(crates.len() > 20 && crates.values().map(BTreeMap::len).sum::<usize>() > 400, "not the crates");
    crates
}

#[test]
fn circles_are_found_through_what_others_export() {
    let text = |module: &str, text: &str| {
        let module =
            module.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        (module, text.to_owned())
    };
    let texts = BTreeMap::from([
        text("", "mod a;\npub use a::{A, b::B};\n"),
        text("a", "pub mod b;\npub use b::B;\npub struct A(crate::c::C);"),
        text("a::b", "use super::A;\npub struct B;"),
        text(
            "c",
            "use crate::B;\n// use crate::d::D;\npub struct C;\n#[cfg(test)]\nmod tests { use crate::d::D; }",
        ),
        text("d", "use std::fmt;\nuse crate::c::{self, C};"),
    ]);
    let name = |circle: &BTreeSet<&Module>| circle.iter().map(|module| module.join("::")).collect::<Vec<_>>();
    assert_eq!(circles(&texts).iter().map(name).collect::<Vec<_>>(), [["a", "a::b", "c"]]);
}

/// Files that need each other, directly or not.
fn circles(texts: &BTreeMap<Module, String>) -> Vec<BTreeSet<&Module>> {
    let uses: BTreeMap<_, _> = texts.iter().map(|(module, text)| (module, uses(text))).collect();
    let needs: BTreeMap<_, BTreeSet<_>> =
        uses.iter().map(|(module, paths)| (*module, needs(module, paths, &uses))).collect();
    let reach: BTreeMap<_, _> = needs.keys().map(|module| (*module, reached(module, &needs))).collect();
    let around = |module: &&Module| -> BTreeSet<&Module> {
        reach[module].iter().copied().filter(|other| reach[other].contains(module)).collect()
    };
    let all: BTreeSet<_> = needs.keys().map(around).collect();
    all.into_iter().filter(|circle| circle.len() > 1).collect()
}

/// One path that a file names.
struct Use {
    path: Vec<String>,
    exported: bool,
}

fn needs<'t>(module: &Module, paths: &[Use], uses: &BTreeMap<&'t Module, Vec<Use>>) -> BTreeSet<&'t Module> {
    // Who exports what is in a folder's files need not know it.
    let own = |one: &&Use| one.exported && uses.contains_key(&[&module[..], &one.path[..1]].concat());
    let paths = paths.iter().filter(|one| !own(one));
    paths.filter_map(|one| defined(module, &one.path, uses)).filter(|other| *other != module).collect()
}

/// The file in which what `module` calls `path` is defined; `None`: another crate's.
fn defined<'t>(
    module: &Module,
    path: &[String],
    uses: &BTreeMap<&'t Module, Vec<Use>>,
) -> Option<&'t Module> {
    let child = |module: &[String], name: &String| {
        let child = [module, std::slice::from_ref(name)].concat();
        uses.contains_key(&child).then_some(child)
    };
    let (mut at, mut rest) = match path[0].as_str() {
        "crate" => (Vec::new(), &path[1..]),
        "self" => (module.clone(), &path[1..]),
        "super" => {
            let up = path.iter().take_while(|part| *part == "super").count();
            (module[..module.len().checked_sub(up)?].to_vec(), &path[up..])
        }
        _ => (child(module, &path[0])?, &path[1..]),
    };
    while let Some(below) = rest.first().and_then(|name| child(&at, name)) {
        (at, rest) = (below, &rest[1..]);
    }
    let found = uses.get_key_value(&at)?;
    let exported =
        found.1.iter().find(|one| one.exported && one.path.last() == rest.first() && one.path.len() > 1);
    match exported {
        Some(one) if !rest.is_empty() => defined(&at, &one.path, uses),
        _ => Some(*found.0),
    }
}

fn reached<'t>(from: &'t Module, needs: &BTreeMap<&'t Module, BTreeSet<&'t Module>>) -> BTreeSet<&'t Module> {
    let mut reached = BTreeSet::from([from]);
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        next.extend(needs[module].iter().copied().filter(|other| reached.insert(other)));
    }
    reached
}

/// Every path in a file's code, tests left out.
fn uses(text: &str) -> Vec<Use> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let code: Vec<_> = code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    let mut other = String::new();
    for statement in code.split(';') {
        let begin = statement.rfind("\nuse ").or_else(|| statement.rfind("use ").filter(|at| *at == 0));
        let exporting = statement.rfind("pub use ").or_else(|| statement.rfind("pub(crate) use "));
        let exporting = exporting.or_else(|| statement.rfind("pub(super) use "));
        match exporting.or(begin) {
            Some(at) if !statement[at..].contains(['(', ')']) || exporting.is_some() => {
                other.push_str(&statement[..at]);
                let tree = statement[at..].split_once("use ").unwrap_or_default().1;
                found
                    .extend(expand(tree).into_iter().map(|path| Use { path, exported: exporting.is_some() }));
            }
            _ => other.push_str(statement),
        }
    }
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let paths = other.split(|c| !part(c)).filter(|path| {
        ["crate::", "super::", "self::"].iter().any(|begin| path.starts_with(begin)) && !path.ends_with(':')
    });
    found.extend(
        paths.map(|path| Use { path: path.split("::").map(str::to_owned).collect(), exported: false }),
    );
    found
}

/// `a::{b, c::d}` as the paths that it stands for.
fn expand(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let Some((begin, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        let path: Vec<_> = path.split("::").map(|part| part.trim().to_owned()).collect();
        return vec![path].into_iter().filter(|path| path.iter().all(|part| !part.is_empty())).collect();
    };
    let inner = rest.trim_end().trim_end_matches('}');
    let mut depth = 0_u32;
    let parts = inner.split(move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts
        .filter(|part| !part.trim().is_empty())
        .flat_map(|part| expand(&format!("{begin}{}", part.trim())))
        .collect()
}

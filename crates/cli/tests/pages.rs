//! The pages of the documentation: all are found from `docs/README.md`, links lead somewhere, long ones say what they hold.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

/// A page of more lines has a table of contents.
const LONG: usize = 300;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the source")
}

/// Relative links of a page, without anchors.
fn links(page: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(page).expect("a page");
    // What stands in code is no link.
    let prose: String = text.split("```").step_by(2).collect();
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    targets
        .filter(|target| !target.contains("://") && !target.starts_with('#'))
        .map(|target| page.with_file_name(target.split('#').next().unwrap_or_default()))
        .collect()
}

fn pages(directory: &Path, into: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            pages(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "md" || ending == "txt") {
            into.insert(path);
        }
    }
}

#[test]
fn every_page_is_found_from_the_index_and_every_link_leads_somewhere() {
    let root = root();
    let index = root.join("docs/README.md");
    assert!(links(&root.join("README.md")).contains(&index), "README.md links docs/README.md");
    let (mut found, mut waiting) = (BTreeSet::from([index.clone()]), VecDeque::from([index]));
    while let Some(page) = waiting.pop_front() {
        for link in links(&page) {
            let target =
                link.canonicalize().unwrap_or_else(|_| panic!("{}: {}", page.display(), link.display()));
            let of_docs = target.starts_with(root.join("docs"));
            if of_docs
                && target.is_file()
                && found.insert(target.clone())
                && target.extension().is_some_and(|e| e == "md")
            {
                waiting.push_back(target);
            }
        }
    }
    let mut all = BTreeSet::new();
    pages(&root.join("docs"), &mut all);
    let lost: Vec<&PathBuf> = all.difference(&found).collect();
    assert!(all.len() > 70 && lost.is_empty(), "not linked: {lost:?}");
}

/// As GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = heading
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
        .collect::<String>();
    kept.replace(' ', "-")
}

#[test]
fn a_long_page_begins_with_its_contents() {
    let mut all = BTreeSet::new();
    pages(&root().join("docs"), &mut all);
    let mut long = 0;
    for page in all.iter().filter(|page| page.extension().is_some_and(|ending| ending == "md")) {
        let text = fs::read_to_string(page).expect("a page");
        if text.lines().count() <= LONG {
            continue;
        }
        long += 1;
        let (top, _) = text.split_once("\n## ").expect("sections");
        for heading in text.lines().filter_map(|line| line.strip_prefix("## ")) {
            let entry = format!("[{heading}](#{})", anchor(heading));
            assert!(top.contains(&entry), "{}: no {entry} above its first section", page.display());
        }
    }
    assert!(long >= 2, "{long} pages are long");
}

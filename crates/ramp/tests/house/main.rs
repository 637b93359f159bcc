//! House rules of CONTRIBUTING.md that no other tool checks.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

mod circles;
mod signatures;
mod sizes;

/// The files with this ending below these folders of the repository, by their places in it.
fn files(folders: &[&str], ending: &str) -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut places = Vec::new();
    for folder in folders {
        below(&root.join(folder), ending, &mut places);
    }
    let read = |place: PathBuf| {
        let text = fs::read_to_string(&place).expect("UTF-8");
        (place.strip_prefix(&root).expect("below").to_string_lossy().into_owned(), text)
    };
    places.into_iter().map(read).collect()
}

fn below(folder: &Path, ending: &str, places: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let place = entry.expect("an entry").path();
        // Crates have links to what they share, and examples folders of what was built.
        let elsewhere = place.is_symlink() || place.ends_with("target");
        if place.is_dir() && !elsewhere {
            below(&place, ending, places);
        } else if place.extension().is_some_and(|extension| extension == ending) {
            places.push(place);
        }
    }
}

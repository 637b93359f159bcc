//! Files stay under about 500 lines.

use crate::files;

/// "About".
const MOST: usize = 500;

#[test]
fn a_file_is_short_enough_to_be_read_at_once() {
    let mut all = files(&["crates", "examples", "fuzz", "python"], "rs");
    assert!(all.len() > 700, "{} files are not the sources", all.len());
    for ending in ["h", "c"] {
        all.extend(files(&["include", "crates", "tests"], ending));
    }
    let long: Vec<_> =
        all.iter().filter(|(_, text)| text.lines().count() > MOST).map(|(file, _)| file).collect();
    assert!(long.is_empty(), "more than {MOST} lines, split them by meaning: {long:?}");
}

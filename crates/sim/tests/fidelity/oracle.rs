//! Reads the ns-2 and ns-3 results in `oracles/`.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// One row of a results table, by column name.
pub(crate) type Row = BTreeMap<String, String>;

/// A file of oracle results.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fidelity/oracles").join(name)
}

/// All rows of a CSV table of the oracles, gzipped or not.
pub(crate) fn table(name: &str) -> Vec<Row> {
    let path = path(name);
    let mut bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    if path.extension().is_some_and(|e| e == "gz") {
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut plain).expect("valid gzip");
        bytes = plain;
    }
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    reader.deserialize().map(|row| row.expect("a row with as many fields as the header")).collect()
}

/// The first row whose columns have these values.
pub(crate) fn find<'a>(rows: &'a [Row], wanted: &[(&str, &str)]) -> &'a Row {
    rows.iter()
        .find(|row| wanted.iter().all(|(column, value)| row[*column] == *value))
        .unwrap_or_else(|| panic!("no row with {wanted:?}"))
}

/// A number in a row; `None` where the field is empty.
pub(crate) fn number(row: &Row, column: &str) -> Option<f64> {
    let field = &row[column];
    (!field.is_empty())
        .then(|| field.parse().unwrap_or_else(|_| panic!("{column} = {field:?} is not a number")))
}

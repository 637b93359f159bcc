//! Columns of text without lines between them.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};

/// A table as wide as the terminal at most; the first column is for copying and stays whole.
pub(crate) fn table(header: &[String], rows: &[Vec<String>], width: usize) -> String {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX))
        .set_header(header)
        .add_rows(rows);
    let last = header.len().saturating_sub(1);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if index < last { 2 } else { 0 }));
    }
    if let Some(names) = table.column_mut(0) {
        names.set_constraint(ColumnConstraint::ContentWidth);
    }
    table.trim_fmt()
}

//! Columns of text without lines between them.

use std::fmt::Write as _;

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};

const GAP: usize = 2;

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
        column.set_padding((0, if index < last { GAP as u16 } else { 0 }));
    }
    if let Some(names) = table.column_mut(0) {
        names.set_constraint(ColumnConstraint::ContentWidth);
    }
    table.trim_fmt()
}

/// The same of figures: none is broken into lines, headings only between words. The last columns that do not fit are left out, and
/// the line below names them.
pub(crate) fn figures(header: &[String], rows: &[Vec<String>], width: usize) -> String {
    let longest = |text: &str| text.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
    let least = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.fold(longest(&header[column]), usize::max)
    };
    let mut used = 0;
    let fit = (0..header.len())
        .take_while(|column| {
            used += least(*column) + if *column > 0 { GAP } else { 0 };
            used <= width
        })
        .count()
        .max(2)
        .min(header.len());
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX))
        .set_header(&header[..fit])
        .add_rows(rows.iter().map(|row| &row[..fit.min(row.len())]));
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if index + 1 < fit { GAP as u16 } else { 0 }));
        let least = u16::try_from(least(index) + if index + 1 < fit { GAP } else { 0 }).unwrap_or(u16::MAX);
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
    }
    let mut text = table.trim_fmt();
    if fit < header.len() {
        let left: Vec<&str> = header[fit..].iter().map(String::as_str).collect();
        let _ = write!(text, "\nnot in {width} columns: {}", left.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::figures;

    fn table(width: usize) -> String {
        let header = ["algorithm", "x ideal", "vs first", "slower than slow start"].map(str::to_owned);
        let row = ["slow_start", "1.405", "+18 to 27 %", "0 %"].map(str::to_owned).to_vec();
        figures(&header, &[row], width)
    }

    #[test]
    fn no_figure_is_broken_and_what_is_left_out_is_named() {
        for width in [20, 30, 40, 60, 100] {
            let text = table(width);
            let (shown, left) = text.split_once("\nnot in").unwrap_or((&text, ""));
            assert!(shown.contains("slow_start") && shown.contains("1.405"), "{width}: {text}");
            for (heading, cell) in [("vs first", "+18 to 27 %"), ("slower than slow start", "0 %")] {
                assert!(shown.contains(cell) || left.contains(heading), "{width}: {text}");
            }
            assert!(width < 30 || shown.lines().all(|line| line.chars().count() <= width), "{text}");
        }
        assert!(!table(100).contains("not in"));
    }
}

//! A table that fits into a given width, or a list where no table does.

/// What a cell's text means, for colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tone {
    #[default]
    Plain,
    /// The best, or as good.
    Good,
    /// Undecided.
    Unclear,
    /// Set apart.
    Aside,
    Heading,
}

impl Tone {
    /// The text, coloured for a terminal (ANSI, eight colours, so that themes of both shades carry it).
    pub(super) fn paint(self, text: &str, colour: bool) -> String {
        let code = match self {
            _ if !colour => return text.to_owned(),
            Self::Plain => return text.to_owned(),
            Self::Good => "32",
            Self::Unclear => "33",
            Self::Aside => "2",
            Self::Heading => "1",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) tone: Tone,
}

/// A column with its cells, one per row.
#[derive(Clone, Debug)]
pub(super) struct Column<'a> {
    /// Two lines of heading.
    pub(super) heading: [&'a str; 2],
    pub(super) right: bool,
    /// Smaller ones stay longer when the width is short.
    pub(super) rank: u8,
    pub(super) cells: Vec<Cell>,
}

const GAP: usize = 2;
/// With fewer columns than this a list says more.
const FEWEST_COLUMNS: usize = 4;

/// Lay out columns, the first one naming the rows; `groups` are the sizes of runs of rows that stand together.
pub(super) fn lay_out(mut columns: Vec<Column<'_>>, groups: &[usize], width: usize, colour: bool) -> String {
    let all = columns.clone();
    while total_width(&columns) > width {
        let Some(least) = (0..columns.len()).max_by_key(|i| columns[*i].rank) else { break };
        columns.remove(least);
    }
    if columns.len() < FEWEST_COLUMNS.min(all.len()) {
        return list(&all, groups, width, colour);
    }
    table(&columns, groups, colour)
}

fn table(columns: &[Column<'_>], groups: &[usize], colour: bool) -> String {
    let widths: Vec<usize> = columns.iter().map(Column::width).collect();
    let mut out = String::new();
    for line in 0..2 {
        let headings = columns.iter().map(|c| (c.heading[line], Tone::Heading));
        push_line(&mut out, columns.iter().zip(&widths).zip(headings), colour);
    }
    out.push_str(&Tone::Aside.paint(&"─".repeat(total_width(columns)), colour));
    out.push('\n');
    let mut row = 0;
    for (i, size) in groups.iter().filter(|size| **size > 0).enumerate() {
        if i > 0 {
            out.push('\n');
        }
        for row in row..row + size {
            let cells = columns.iter().map(|c| (c.cells[row].text.as_str(), c.cells[row].tone));
            push_line(&mut out, columns.iter().zip(&widths).zip(cells), colour);
        }
        row += size;
    }
    out
}

fn push_line<'a>(
    out: &mut String,
    cells: impl Iterator<Item = ((&'a Column<'a>, &'a usize), (&'a str, Tone))>,
    colour: bool,
) {
    let mut blanks = 0;
    for (i, ((column, width), (text, tone))) in cells.enumerate() {
        let padding = width - length(text);
        blanks += if i > 0 { GAP } else { 0 };
        if column.right {
            blanks += padding;
        }
        if !text.is_empty() {
            out.push_str(&" ".repeat(blanks));
            out.push_str(&tone.paint(text, colour));
            blanks = 0;
        }
        if !column.right {
            blanks += padding;
        }
    }
    out.push('\n');
}

/// Each row as a paragraph: its name, then one line per column.
fn list(columns: &[Column<'_>], groups: &[usize], width: usize, colour: bool) -> String {
    let Some((names, values)) = columns.split_first() else { return String::new() };
    let mut out = String::new();
    for row in 0..groups.iter().sum() {
        if row > 0 {
            out.push('\n');
        }
        let name = &names.cells[row];
        for line in wrap(&name.text, width) {
            out.push_str(&name.tone.paint(&line, colour));
            out.push('\n');
        }
        for column in values.iter().filter(|column| !column.cells[row].text.is_empty()) {
            let (heading, cell) = (column.heading.join(" "), &column.cells[row]);
            for line in wrap(&format!("{}: {}", heading.trim(), cell.text), width.saturating_sub(GAP)) {
                out.push_str(&" ".repeat(GAP));
                out.push_str(&cell.tone.paint(&line, colour));
                out.push('\n');
            }
        }
    }
    out
}

/// A space at which no line ends.
pub(super) const TIED: char = '\u{a0}';

/// Break a text into lines of at most `width` characters, between words where there are any.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_ascii_whitespace() {
        if !line.is_empty() && length(&line) + 1 + length(word) > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for letter in word.chars() {
            if length(&line) == width {
                lines.push(std::mem::take(&mut line));
            }
            // What must not be torn apart is put together with this one.
            line.push(if letter == TIED { ' ' } else { letter });
        }
    }
    lines.push(line);
    lines
}

impl Column<'_> {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| length(&cell.text));
        cells.chain(self.heading.iter().map(|heading| length(heading))).max().unwrap_or(0)
    }
}

fn total_width(columns: &[Column<'_>]) -> usize {
    columns.iter().map(Column::width).sum::<usize>() + GAP * columns.len().saturating_sub(1)
}

fn length(text: &str) -> usize {
    text.chars().count()
}

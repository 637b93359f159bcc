//! Markdown as a terminal shows it: headings bold, prose filled, tables aligned, code as it is.

use std::io::{self, Write};

use crate::table::table;
use crate::terminal::{Terminal, broken};

/// Write a document; `section` may write a section of level 2 itself and says whether it did.
pub(crate) fn write_document<W: Write>(
    document: &str,
    terminal: Terminal,
    out: &mut W,
    section: &mut impl FnMut(&str, &mut W) -> io::Result<bool>,
) -> io::Result<()> {
    let mut block = Block::default();
    let mut code = false;
    let mut skipping = false;
    let mut empty = true;
    for line in document.lines() {
        if line.trim_start().starts_with("```") {
            block.flush(terminal, out)?;
            code = !code;
            continue;
        }
        let heading = line.trim_start_matches('#');
        let level = if code || !heading.starts_with(' ') { 0 } else { line.len() - heading.len() };
        if level > 0 {
            block.flush(terminal, out)?;
            skipping = false;
            if !empty {
                writeln!(out)?;
            }
            empty = true;
            if level == 2 && section(heading.trim(), out)? {
                skipping = true;
                empty = false;
            } else {
                writeln!(out, "{}", terminal.bold(heading.trim()))?;
            }
        } else if skipping || line.starts_with("<!--") {
        } else if code {
            writeln!(out, "{line}")?;
            empty = false;
        } else if line.is_empty() {
            block.flush(terminal, out)?;
            if !empty {
                writeln!(out)?;
            }
            empty = true;
        } else {
            block.add(line, terminal, out)?;
            empty = false;
        }
    }
    block.flush(terminal, out)
}

/// Lines that belong together: a paragraph, an item, a table.
#[derive(Default)]
struct Block {
    lines: Vec<String>,
}

impl Block {
    fn add(&mut self, line: &str, terminal: Terminal, out: &mut impl Write) -> io::Result<()> {
        let in_table = self.lines.first().is_some_and(|first| first.starts_with('|'));
        if is_item(line) || in_table != line.starts_with('|') {
            self.flush(terminal, out)?;
        }
        self.lines.push(line.to_owned());
        Ok(())
    }

    fn flush(&mut self, terminal: Terminal, out: &mut impl Write) -> io::Result<()> {
        let lines = std::mem::take(&mut self.lines);
        let Some(first) = lines.first() else { return Ok(()) };
        if first.starts_with('|') {
            let mut rows =
                lines.iter().filter(|line| line.contains(|c: char| !"|-: ".contains(c))).map(|l| cells(l));
            let header = rows.next().unwrap_or_default();
            let rows: Vec<Vec<String>> = rows.collect();
            return writeln!(out, "{}", table(&header, &rows, terminal.width));
        }
        let indent = " ".repeat(first.len() - first.trim_start().len());
        let hanging = if is_item(first) { format!("{indent}  ") } else { indent.clone() };
        let text: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
        let options = broken(terminal.width).initial_indent(&indent).subsequent_indent(&hanging);
        writeln!(out, "{}", textwrap::fill(&text.join(" "), options))
    }
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("- ") || line.starts_with("* ")
}

fn cells(row: &str) -> Vec<String> {
    row.trim().trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_filled_and_code_is_not() {
        let document = "# Title\n\nSome words that\ngo on and on.\n- an item that is long\n\n```c\nint  code;\n\n```\n\
                        ## Mine\nskipped\n## Table\n<!-- note -->\n| `a` | b |\n|---|---|\n| 1 | 22 |\n";
        let mut out = Vec::new();
        let terminal = Terminal { width: 20, colour: false };
        write_document(document, terminal, &mut out, &mut |heading, out| {
            Ok(heading == "Mine" && writeln!(out, "written").is_ok())
        })
        .unwrap();
        let expected = "Title\nSome words that go\non and on.\n- an item that is\n  long\n\nint  code;\n\n\n\
                        written\n\nTable\na  b\n1  22\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}

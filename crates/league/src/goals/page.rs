//! Sheets in Markdown, and their places on a page.

use std::fmt::Write;

use super::{Judged, Sheet};

/// Ends a place.
const END: &str = "<!-- end -->\n";

/// A sheet as a table; what misses its goal is bold, and what may is in italics.
pub fn markdown(sheet: &Sheet) -> String {
    let mut text = format!("| | {} |\n|---|{}\n", sheet.head.join(" | "), "---|".repeat(sheet.head.len()));
    for line in &sheet.lines {
        write!(text, "| {} |", line.measure).expect("a string grows");
        for cell in &line.cells {
            match (cell.text.as_str(), cell.judged) {
                ("", _) => text.push_str(" |"),
                (words, Judged::Missed) => write!(text, " **{words}** |").expect("a string grows"),
                (words, Judged::CannotTell) => write!(text, " *{words}* |").expect("a string grows"),
                (words, _) => write!(text, " {words} |").expect("a string grows"),
            }
        }
        text.push('\n');
    }
    text
}

/// The place of sheets on a page: from a line `<!-- NAME: … -->` to a line `<!-- end -->`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    before: String,
    name: String,
    after: String,
}

impl Marked {
    /// `None`: the page has no such place.
    pub fn find(page: &str, name: &str) -> Option<Self> {
        let opening = format!("<!-- {name}: ");
        let start = match page.strip_prefix(opening.as_str()) {
            Some(_) => 0,
            None => page.find(&format!("\n{opening}"))? + 1,
        };
        let end = start + page[start..].find(END)?;
        let after = page[end + END.len()..].to_owned();
        Some(Self { before: page[..start].to_owned(), name: name.to_owned(), after })
    }

    /// The page with these sheets there, and the command that makes them.
    pub fn page(&self, sheets: &[Sheet], command: &str) -> String {
        let tables: Vec<String> = sheets.iter().map(markdown).collect();
        format!(
            "{}<!-- {}: written by `{command}` -->\n{}{END}{}",
            self.before,
            self.name,
            tables.join("\n"),
            self.after
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goals::{Cell, Line};

    fn sheet(text: &str, judged: Judged) -> Sheet {
        let cells = vec![Cell::plain("1.1"), Cell { text: text.to_owned(), judged }, Cell::default()];
        Sheet {
            head: ["goal", "here", "there"].map(str::to_owned).to_vec(),
            lines: vec![Line { measure: "time".to_owned(), cells }],
        }
    }

    #[test]
    fn what_misses_its_goal_is_bold() {
        assert_eq!(
            markdown(&sheet("1.2", Judged::Missed)),
            "| | goal | here | there |\n|---|---|---|---|\n| time | 1.1 | **1.2** | |\n"
        );
        assert!(markdown(&sheet("1.0", Judged::Met)).contains("| 1.0 |"));
        assert!(markdown(&sheet("1.1", Judged::CannotTell)).contains("| *1.1* |"));
    }

    #[test]
    fn only_the_place_is_written_and_the_second_time_it_is_the_same() {
        let page =
            "# A\n\n<!-- other: x -->\na\n<!-- end -->\n\n<!-- goals: old -->\nold\n<!-- end -->\n\nend\n";
        let found = Marked::find(page, "goals").unwrap();
        let once = found.page(&[sheet("1.2", Judged::Missed)], "ramp league");
        assert!(
            once.starts_with(
                "# A\n\n<!-- other: x -->\na\n<!-- end -->\n\n<!-- goals: written by `ramp league` -->\n| | goal"
            ),
            "{once}"
        );
        assert!(once.ends_with("|\n<!-- end -->\n\nend\n") && !once.contains("old"), "{once}");
        assert_eq!(
            Marked::find(&once, "goals").unwrap().page(&[sheet("1.2", Judged::Missed)], "ramp league"),
            once
        );
        assert_eq!(Marked::find(page, "ablation"), None);
        assert_eq!(Marked::find("<!-- goals: x -->\nno end", "goals"), None);
    }
}

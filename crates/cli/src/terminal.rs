//! Where output goes: how wide, and whether in colour.

use std::env;
use std::io::{self, IsTerminal};

use clap::ColorChoice;

/// Width of text that is written to a file or a pipe.
const WIDTH_OF_A_PIPE: usize = 120;

/// How standard output wants its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// Columns.
    pub(crate) width: usize,
    /// Whether escape sequences are welcome.
    pub(crate) colour: bool,
}

impl Terminal {
    /// Ask standard output and the environment (`COLUMNS`, `NO_COLOR`).
    pub(crate) fn stdout(choice: ColorChoice) -> Self {
        let columns = env::var("COLUMNS").ok().and_then(|c| c.parse().ok()).filter(|&c: &usize| c > 0);
        let asked = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
        Self {
            width: columns.or_else(asked).unwrap_or(WIDTH_OF_A_PIPE).max(20),
            colour: wants_colour(choice, io::stdout().is_terminal()),
        }
    }

    /// In bold, if escape sequences are welcome.
    pub(crate) fn bold(self, text: &str) -> String {
        if self.colour { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Faint, if escape sequences are welcome.
    pub(crate) fn faint(self, text: &str) -> String {
        if self.colour { format!("\x1b[2m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// How prose is broken into lines: between words alone, so that names stay whole, `HyStart++` as well as those with hyphens.
pub(crate) fn broken<'a>(width: usize) -> textwrap::Options<'a> {
    textwrap::Options::new(width)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
}

/// Diagnostics go to standard error, which may be a terminal when standard output is not.
pub(crate) fn set_up_diagnostics(choice: ColorChoice) {
    let is_terminal = io::stderr().is_terminal();
    let colour = wants_colour(choice, is_terminal);
    let width =
        terminal_size::terminal_size_of(io::stderr()).map_or(WIDTH_OF_A_PIPE, |(w, _)| usize::from(w.0));
    // Fails only when set twice.
    let _ = miette::set_hook(Box::new(move |_| {
        Box::new(
            miette::MietteHandlerOpts::new()
                .color(colour)
                .unicode(is_terminal)
                .terminal_links(false)
                // Names with hyphens are to be copied.
                .word_splitter(textwrap::WordSplitter::NoHyphenation)
                .width(width)
                .build(),
        )
    }));
}

/// <https://no-color.org>: any non-empty value turns colour off, unless the command line asks for it.
fn wants_colour(choice: ColorChoice, is_terminal: bool) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            is_terminal
                && env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
                && env::var_os("TERM").is_none_or(|v| v != "dumb")
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_name_stays_whole() {
        let lines =
            |width| textwrap::wrap("The default is HyStart++ with ack-train", super::broken(width)).len();
        assert_eq!((lines(23), lines(24), lines(30)), (3, 2, 2));
        assert_eq!(textwrap::wrap("it is HyStart++ here", super::broken(14)), ["it is", "HyStart++ here"]);
    }
}

//! The manual pages, made from what `--help` says.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::error::{CliError, Result};

/// A page for the command and one for each of its subcommands, `ramp-compare.1` and so on.
pub(crate) fn write(command: Command, directory: &Path) -> Result {
    fs::create_dir_all(directory).map_err(CliError::file("make", directory))?;
    let mut command = command.disable_help_subcommand(true);
    command.build();
    pages(&command, directory)
}

fn pages(command: &Command, directory: &Path) -> Result {
    let page = Man::new(command.clone()).manual("ramp").source(concat!("ramp ", env!("CARGO_PKG_VERSION")));
    let path = directory.join(page.get_filename());
    let file = File::create(&path).map_err(CliError::file("write", &path))?;
    render(&page, command, &mut BufWriter::new(file)).map_err(CliError::file("write", &path))?;
    command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set())
        .try_for_each(|inner| pages(inner, directory))
}

fn render(page: &Man, command: &Command, out: &mut impl Write) -> io::Result<()> {
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    page.render_options_section(out)?;
    if command.get_subcommands().any(|inner| !inner.is_hide_set()) {
        page.render_subcommands_section(out)?;
    }
    if let Some(help) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        below(&help.to_string()).to_writer(out)?;
    }
    out.flush()
}

/// What `--help` says below the options. `clap_mangen` would fill its examples as paragraphs: here `Examples:` is a heading, what
/// is indented keeps its lines, and the rest is under `NOTES`.
fn below(help: &str) -> Roff {
    let mut roff = Roff::new();
    let mut section = String::new();
    for line in help.lines().filter(|line| !line.is_empty()) {
        if line.starts_with(' ') {
            roff.control("nf", []).text([roman(line)]).control("fi", []);
            continue;
        }
        let heading = line.strip_suffix(':').filter(|words| !words.contains(' ')).map(str::to_uppercase);
        let is_text = heading.is_none();
        let heading = heading.unwrap_or_else(|| "NOTES".to_owned());
        if heading != section {
            roff.control("SH", [heading.as_str()]);
            section = heading;
        }
        if is_text {
            roff.text([roman(line)]);
        }
    }
    roff
}

//! `ramp league --on linux`: a sample of the league's paths on another backend, held against the simulator.

use std::io::Write;
use std::path::PathBuf;

use rampcc::figures::counted;
use rampcc_backend::Backend;
use rampcc_league::Extent;
use rampcc_league::sides::{Agreement, SampleAsked, SidesRequest, judge, rows, text};
use rampcc_league::text::Cells;

use crate::backends;
use crate::error::Result;
use crate::league::LeagueArgs;
use crate::progress::{self, Bar};
use crate::provenance;
use crate::table::figures;
use crate::terminal::{Terminal, broken};

/// Of each kind of difference, those that are printed.
const MOST: usize = 5;

/// Run the command.
pub(crate) fn league(
    args: &LeagueArgs,
    other: &'static dyn Backend,
    terminal: Terminal,
    out: &mut impl Write,
) -> Result {
    let request = request(args, other)?;
    let place = request.out.clone();
    let interrupted = progress::interruption_of(args.backends());
    let sides = request.play(&Bar::default(), &interrupted).map_err(progress::kept)?;
    progress::say_found(sides.found, sides.runs);
    let agreement = judge(&sides);
    let files = sides.write(&place, &agreement, &provenance::command())?;
    if args.format.json() {
        out.write_all(files.json.as_bytes())?;
    } else if args.format.csv() {
        out.write_all(files.csv.as_bytes())?;
    } else {
        print(&agreement, terminal, out)?;
        writeln!(out, "\nreport: {}", files.report.display())?;
    }
    progress::ended(sides.refused, out)
}

fn request(args: &LeagueArgs, other: &'static dyn Backend) -> Result<SidesRequest<'static>> {
    let population = args.population(&args.which())?;
    let asked = SampleAsked { quick: args.quick, paths: args.sample, sizes: &args.sizes, seeds: args.seeds };
    let extent = Extent::sample(population, &asked, other)?;
    let found = rows(&args.algorithms, backends::ALL, other)?;
    if let Some(without) = found.without() {
        say!("{without}");
    }
    Ok(SidesRequest {
        population: extent.population,
        rows: found.here,
        left_out: found.left_out,
        sizes: extent.sizes,
        seeds: extent.seeds,
        backends: [backends::ALL[0], other],
        out: args.out.clone().unwrap_or_else(|| PathBuf::from("ramp-results/league")),
        reuse: args.playing.reuse(),
    })
}

fn print(agreement: &Agreement, terminal: Terminal, out: &mut impl Write) -> Result {
    let [first, second] = agreement.backends;
    let heading = format!(
        "{}: {} on {second} and {first}",
        agreement.population,
        counted(agreement.paths.len(), "path")
    );
    writeln!(out, "{}", terminal.bold(&heading))?;
    for Cells { head, rows } in [text::rows(agreement), text::access(agreement)] {
        writeln!(out, "\n{}", figures(&head, &rows, terminal.width))?;
    }
    writeln!(out, "\n{}", textwrap::fill(&text::verdict(agreement), broken(terminal.width)))?;
    let lines = text::differences(agreement, MOST);
    if !lines.is_empty() {
        writeln!(out, "\n{}", terminal.bold("Where they do not agree:"))?;
    }
    for line in lines {
        let options = broken(terminal.width).initial_indent("- ").subsequent_indent("  ");
        writeln!(out, "{}", textwrap::fill(&line, options))?;
    }
    writeln!(out, "\n{}", textwrap::fill(&text::method(agreement), broken(terminal.width)))?;
    Ok(())
}

//! `ramp recommend`: which of a stack's settings to choose.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use rampcc::figures::counted;
use rampcc_experiment::{Around, VERSION, write_whole};
use rampcc_lab::report::FORMAT;
use rampcc_league::recommend::{Paths, Recommendation, Stack, Starts, sentences, table};
use rampcc_league::text::Cells;
use rampcc_league::{KNOWN_SIZES, Population, Request};
use serde::Serialize;

use crate::backends;
use crate::error::{CliError, Result};
use crate::league::{WhichArgs, known_size};
use crate::playing::PlayingArgs;
use crate::progress::{self, Bar};
use crate::provenance;
use crate::scenario_args::ScenarioArgs;
use crate::table::figures;
use crate::terminal::{Terminal, broken};

/// Paths from stated ranges, unless the command line says otherwise.
const DRAWN: u32 = 64;
/// Paths of each access type of a quick call.
const QUICK: usize = 4;

/// Choose initial window, start-up and pacing among what a stack lets you set
///
/// Plays every combination on the paths that you have: those of stated ranges, of your own population, or the league's. It says which is
/// fastest, which loses least among those that are as fast, what the others cost, on which paths another one is better, and how to set it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ramp recommend --stack linux                        the league's 160 paths
  ramp recommend --stack quiche --paths mine.toml     your own population (docs/guide/league.md)
  ramp recommend --stack nginx --rate 50mbit --rtt 30ms --uncertain path.rtt=10ms..200ms --uncertain path.rate=5mbit..500mbit
  ramp recommend --stack quinn geo-satellite          a scenario's own ranges
  ramp recommend --stack linux --quick                fewer paths
  ramp recommend --stack mine.toml                    a stack of your own, in the form of stacks/linux.toml")]
pub(crate) struct RecommendArgs {
    /// Stack: linux, msquic, nginx, quiche or quinn, or a file that says what yours lets you set
    #[arg(long, value_name = "STACK")]
    stack: String,
    #[command(flatten)]
    which: WhichArgs,
    /// Sizes of downloads, which count alike [default: 100kB,1MB,10MB, as far as the paths have them]
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', value_parser = known_size(), hide_possible_values = true)]
    sizes: Vec<u64>,
    /// Runs of each choice on each path that has anything random
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    seeds: u32,
    /// Four paths of each access type of a population, or 16 from stated ranges
    #[arg(long)]
    quick: bool,
    /// An uncertain field and its range or values, e.g. path.rtt=10ms..200ms; adds to those that the scenario states
    #[arg(long, value_name = "FIELD=LOW..HIGH", conflicts_with_all = ["held_out", "fresh", "paths"])]
    uncertain: Vec<String>,
    /// Number of paths to draw from stated ranges [default: 64; 16 with --quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096), conflicts_with_all = ["held_out", "fresh", "paths"])]
    neighbours: Option<u32>,
    /// Directory for results [default: ramp-results/recommend]
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the recommendation as JSON instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    playing: PlayingArgs,
    #[command(flatten)]
    scenario: ScenarioArgs,
}

impl RecommendArgs {
    fn paths(&self) -> Result<Paths> {
        if self.scenario.is_given() || !self.uncertain.is_empty() || self.neighbours.is_some() {
            if self.which.any() {
                return Err(CliError::input_help(
                    "a path and a population are two questions",
                    "a scenario or path options, or one of --held-out, --fresh and --paths",
                ));
            }
            let around = Around { uncertain: self.uncertain.clone(), paths: None };
            let scenario = around.apply(self.scenario.scenario(&[])?)?;
            let count = self.neighbours.unwrap_or(if self.quick { DRAWN / 4 } else { DRAWN });
            return Ok(Paths::around(&scenario, count)?);
        }
        let population = Population::open(&self.which.which())?;
        let population = if self.quick { population.of_each(QUICK) } else { population };
        Ok(Paths::of(population).set(&self.scenario.settings()?)?)
    }
}

/// A recommendation and where it comes from.
#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    version: &'a str,
    command: &'a str,
    #[serde(flatten)]
    found: &'a Recommendation,
}

/// Run the command.
pub(crate) fn recommend(args: &RecommendArgs, terminal: Terminal, out: &mut impl Write) -> Result {
    let stack = Stack::open(&args.stack)?;
    let (paths, sizes) = args.paths()?.with_sizes(&args.sizes)?;
    args.playing.spread();
    let place = args.out.clone().unwrap_or_else(|| PathBuf::from("ramp-results/recommend"));
    let request = Request {
        population: paths.population,
        entrants: stack.entrants()?,
        sizes,
        seeds: args.seeds,
        backend: backends::ALL[0],
        workers: None,
        out: place.clone(),
        reuse: args.playing.reuse(),
        pairs: false,
        crowds: false,
    };
    let interrupted = progress::interruption_soon();
    let league = request.play(&Bar::default(), &interrupted).map_err(progress::kept)?;
    let starts = Starts::play(&request, &Bar::default(), &interrupted).map_err(progress::kept)?;
    progress::say_found(league.found, league.runs);
    let found = stack.judge(&league, &starts, paths.ranges.as_ref());
    let document =
        Document { format: FORMAT, version: VERSION, command: &provenance::command(), found: &found };
    let json = serde_json::to_string_pretty(&document).expect("plain data") + "\n";
    let name = PathBuf::from(&args.stack);
    let name = name.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let file = place.join(format!("recommend-{name}.json"));
    write_whole(&file, |file| file.write_all(json.as_bytes()))?;
    if args.json {
        out.write_all(json.as_bytes())?;
        return Ok(());
    }
    print(&found, terminal, out)?;
    writeln!(out, "all values: {}", file.display())?;
    Ok(())
}

fn print(found: &Recommendation, terminal: Terminal, out: &mut impl Write) -> Result {
    let sizes: Vec<&str> = (found.sizes.iter())
        .filter_map(|bytes| KNOWN_SIZES.iter().find(|(_, known)| known == bytes))
        .map(|(name, _)| *name)
        .collect();
    let title = format!(
        "{}: {} of {}, downloads of {}",
        found.stack,
        counted(found.paths, "path"),
        found.population,
        sizes.join(", ")
    );
    let fill = |text: &str, indent: &str| {
        let options = broken(terminal.width).subsequent_indent(indent);
        textwrap::fill(text, options)
    };
    writeln!(out, "{}", terminal.bold(&fill(&title, "")))?;
    if !found.ranges.is_empty() {
        writeln!(out, "{}", fill(&format!("drawn from {}", found.ranges.join("; ")), ""))?;
    }
    let Cells { head, rows } = table(found);
    writeln!(out, "\n{}\n", figures(&head, &rows, terminal.width))?;
    for text in sentences(found) {
        let indent = if text.starts_with("- ") { "  " } else { "" };
        writeln!(out, "{}", fill(&text, indent))?;
    }
    writeln!(out, "{}", fill(&found.notes, ""))?;
    Ok(())
}

//! `ramp league`: every algorithm on a population of paths.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap_complete::engine::ArgValueCompleter;
use rampcc::figures::counted;
use rampcc_backend::{Backend, Clock};
use rampcc_experiment::Row;
use rampcc_league::text::Cells;
use rampcc_league::{
    Extent, KNOWN_SIZES, PREFIX, Population, Request, Standing, Submission, Table, Weights, Which, entrants,
    submission_digest, submittable, text,
};
use rampcc_scenario::Setting;

use crate::backends::{self, On};
use crate::candidate::{self, CandidateArgs};
use crate::completions;
use crate::error::{CliError, Result};
use crate::playing::PlayingArgs;
use crate::progress::{self, Bar};
use crate::provenance;
use crate::report::FormatArgs;
use crate::scenario_args::quantity;
use crate::table::figures;
use crate::terminal::{Terminal, broken};
use crate::{league_goals, league_sides};

/// Groups of paths on which an algorithm fails, of those that are printed.
const GROUPS: usize = 2;

/// Rank algorithms over a population of paths
///
/// Plays every algorithm on 160 paths of eight access types, drawn once from stated ranges (league/design.toml), and compares
/// download times with those of a sender that knows the path. Finished runs are kept: a second call plays only what is
/// missing.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ramp league                                         every algorithm, the public paths
  ramp league --quick                                 some paths, small downloads: less than a minute
  ramp league --candidate my_start.h                  a header that is in no registry, as one more row
  ramp league --algorithms hystart,best --candidate my_start.h:gain=3
  ramp league --held-out                              paths for a last look, to which nothing was tuned
  ramp league --fresh 42                              paths drawn now
  ramp league --weights mix.toml                      your mix of access types: `cable = 3`, `wifi = 2`
  ramp league --goals --candidate my_start.h          the goals of a start-up, and which of them it meets
  ramp league --ablation league/reach.toml --algorithms reach     what each mechanism brings
  ramp league --on linux                              some of the paths in this kernel too, and whether they agree
  ramp league --submit my_start.h                     the digest to publish; then with --draw HEX: scored on paths drawn since
  ramp league --set receiver.timestamps=off           every path with a field set
  ramp league --show geo-07                           one path as a scenario file
  ramp compare league:geo-07                          all about one path")]
pub(crate) struct LeagueArgs {
    /// Algorithms and groups, separated by commas, as for `ramp compare` [default: all]
    #[arg(long, short, value_name = "A,B,C", add = ArgValueCompleter::new(completions::rows_and_groups))]
    pub(crate) algorithms: Vec<String>,
    #[command(flatten)]
    pub(crate) candidates: CandidateArgs,
    #[command(flatten)]
    pub(crate) which: WhichArgs,
    /// Backend: sim, quic, quinn, or linux to hold the simulator against this kernel
    ///
    /// `quic` and `quinn` play a real QUIC stack each, in virtual time, whose own controllers are rows.
    ///
    /// `linux` (or `sim,linux`) plays a sample of the paths, downloads of 10 MB at most, with this kernel's own TCP over an emulated
    /// path in real time, and the same in the simulator, and says where the two do not agree (docs/guide/league.md).
    #[arg(long, value_parser = backends::by_name(), value_name = "BACKENDS", value_delimiter = ',', default_value = "sim")]
    on: Vec<On>,
    /// Paths of the sample that --on linux plays [default: 40; 8 with --quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) sample: Option<u32>,
    /// Weights of access types, a line `TYPE = NUMBER` each; those not named count nothing [default: all alike]
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Sizes of downloads: 1, 2 or 5 times a power of ten from 10kB to 100MB
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', value_parser = known_size(), hide_possible_values = true)]
    pub(crate) sizes: Vec<u64>,
    /// Runs of each algorithm on each path that has anything random [default: 3; 1 with --quick or --on linux]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) seeds: Option<u32>,
    /// Four paths of each access type, downloads of 10 MB at most, one run each
    #[arg(long)]
    pub(crate) quick: bool,
    /// Hold one algorithm to the goals of a start-up, and print them as Markdown
    ///
    /// It plays the public paths, with --held-out and --fresh SEED those too, 54 paths with a running flow, and a geostationary path over
    /// what is not known of its return link.
    ///
    /// The goals are those of league/goals.toml, or of a FILE of its form.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, conflicts_with_all = ["on", "weights", "sizes"])]
    #[expect(clippy::option_option, reason = "absent, without a file, or with one")]
    pub(crate) goals: Option<Option<PathBuf>>,
    /// What each mechanism and constant of one algorithm brings: its settings, from a file (league/reach.toml), as Markdown
    ///
    /// Every setting plays each path once, and the same further paths as --goals.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["on", "weights", "sizes", "goals"])]
    pub(crate) ablation: Option<PathBuf>,
    /// Write the tables of --goals or --ablation into a page, where a line `<!-- goals: … -->` (or ablation) opens their place and
    /// `<!-- end -->` closes it
    #[arg(long, value_name = "FILE.md")]
    pub(crate) into: Option<PathBuf>,
    /// Score a header on paths and seeds that are drawn after it, against all algorithms; without --draw it prints what to publish first
    ///
    /// docs/guide/submit.md says how, and what is checked.
    #[arg(long, value_name = "FILE.h", conflicts_with_all = ["headers", "held_out", "fresh", "paths", "on", "weights", "set", "show", "goals", "ablation"])]
    submit: Option<PathBuf>,
    /// 32 to 64 hexadecimal digits that became public after the digest of --submit
    #[arg(long, value_name = "HEX", requires = "submit")]
    draw: Option<String>,
    /// Set any field of every path that is played, e.g. `receiver.timestamps=off`
    #[arg(long, value_name = "FIELD=VALUE", allow_hyphen_values = true, value_parser = quantity,
        add = ArgValueCompleter::new(completions::fields))]
    set: Vec<String>,
    /// Print a path as a scenario file, and play nothing
    #[arg(long, value_name = "NAME")]
    show: Option<String>,
    /// Directory for results [default: ramp-results/league]
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) playing: PlayingArgs,
}

/// Which paths.
#[derive(Args, Debug)]
pub(crate) struct WhichArgs {
    /// The half of the population that is kept for a last look: do not tune to it
    #[arg(long, conflicts_with = "paths")]
    held_out: bool,
    /// A population drawn afresh, by this seed
    #[arg(long, value_name = "SEED", conflicts_with = "paths")]
    fresh: Option<u64>,
    /// Your own population: a table [NAME] for each path, with `access` and the fields of a scenario, one a line
    #[arg(long, value_name = "FILE")]
    paths: Option<PathBuf>,
}

impl WhichArgs {
    /// The one population that is asked for.
    pub(crate) fn which(&self) -> Which<'_> {
        match (&self.paths, self.fresh) {
            (Some(path), _) => Which::File(path),
            (None, Some(seed)) => Which::Fresh(seed),
            (None, None) if self.held_out => Which::HeldOut,
            (None, None) => Which::Public,
        }
    }

    /// Whether one is asked for.
    pub(crate) fn any(&self) -> bool {
        self.held_out || self.fresh.is_some() || self.paths.is_some()
    }
}

pub(crate) fn known_size() -> impl TypedValueParser<Value = u64> {
    PossibleValuesParser::new(KNOWN_SIZES.map(|(name, _)| name)).map(|name| {
        KNOWN_SIZES.iter().find(|(known, _)| *known == name).expect("clap takes only these names").1
    })
}

impl LeagueArgs {
    /// What it plays on.
    pub(crate) fn backends(&self) -> impl Iterator<Item = &'static dyn Backend> {
        self.on.iter().map(|on| on.0)
    }

    /// What plays a league in virtual time.
    fn played_on(&self) -> &'static dyn Backend {
        self.backends().find(|backend| backend.clock() == Clock::Virtual).unwrap_or(backends::ALL[0])
    }

    /// The backend that the simulator is held against, if one is named; fails where options do not go with it.
    fn other(&self) -> Result<Option<&'static dyn Backend>> {
        let mut others = self.backends().filter(|backend| backend.clock() == Clock::Real);
        let Some(other) = others.next() else {
            let Some(count) = self.sample else { return Ok(None) };
            return Err(CliError::input_help(
                format!("--sample {count}: the simulator plays all paths"),
                "--on linux, which plays a sample of them",
            ));
        };
        let not = |option: &str, help: &str| {
            Err(CliError::input_help(format!("{option} does not go with --on {}", other.name()), help))
        };
        if !self.candidates.headers.is_empty() {
            return not(
                "--candidate",
                "a header outside the registry is not compiled for the kernel: play it on sim",
            );
        }
        if self.weights.is_some() {
            return not("--weights", "paths of the sample count alike");
        }
        Ok(Some(other))
    }

    /// The one population that is asked for.
    pub(crate) fn which(&self) -> Which<'_> {
        self.which.which()
    }

    /// All that are: the public one, or a file's, and further ones.
    pub(crate) fn populations(&self) -> Vec<Which<'_>> {
        if let Some(path) = &self.which.paths {
            return vec![Which::File(path)];
        }
        let held_out = self.which.held_out.then_some(Which::HeldOut);
        [Which::Public].into_iter().chain(held_out).chain(self.which.fresh.map(Which::Fresh)).collect()
    }

    /// Its paths, with what is set.
    pub(crate) fn population(&self, which: &Which<'_>) -> Result<Population> {
        Ok(Population::open(which)?.with(&self.settings()?)?)
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        Ok(self.set.iter().map(|text| Setting::parse(text)).collect::<Result<_, _>>()?)
    }

    fn extent(&self) -> Result<Extent> {
        let population = self.population(&self.which())?;
        Ok(Extent::new(population, self.quick, &self.sizes, self.seeds)?)
    }

    pub(crate) fn out(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| PathBuf::from("ramp-results/league"))
    }

    pub(crate) fn entrants(&self) -> Result<Vec<Row>> {
        let submitted = self.submit.iter().map(|header| header.display().to_string());
        let candidates: Vec<String> = self.candidates.headers.iter().cloned().chain(submitted).collect();
        let mut named = self.algorithms.clone();
        if named.is_empty() && self.submit.is_some() {
            named.push("all".to_owned());
        }
        let mut players = backends::ALL.to_vec();
        let played = self.played_on().name();
        players.sort_by_key(|backend| backend.name() != played);
        Ok(entrants(&named, &candidates, &candidate::apart(), &players)?)
    }
}

/// Run the command.
pub(crate) fn league(args: &LeagueArgs, terminal: Terminal, out: &mut impl Write) -> Result {
    if let Some(name) = &args.show {
        return show(args, name, out);
    }
    args.playing.spread();
    if args.goals.is_none() && args.which.held_out && args.which.fresh.is_some() {
        return Err(CliError::input_help(
            "--held-out and --fresh are two populations",
            "one of them; --goals takes both",
        ));
    }
    if args.goals.is_some() || args.ablation.is_some() {
        return league_goals::league(args, out);
    }
    if args.into.is_some() {
        return Err(CliError::input_help(
            "--into has no table to write",
            "--goals or --ablation FILE with it",
        ));
    }
    if let Some(other) = args.other()? {
        return league_sides::league(args, other, terminal, out);
    }
    let submission = match (&args.submit, &args.draw) {
        (Some(header), Some(draw)) => Some(Submission::new(header, draw)?),
        (Some(header), None) => return announce(header, out),
        (None, _) => None,
    };
    let Extent { population, sizes, seeds } = match &submission {
        Some(submission) => Extent::new(submission.population()?, args.quick, &args.sizes, args.seeds)?,
        None => args.extent()?,
    };
    let weights = match &args.weights {
        Some(path) => Weights::load(path, &population)?,
        None => Weights::default(),
    };
    let entrants = args.entrants()?;
    if submission.is_some() {
        entrants.iter().filter(|row| row.code.is_some()).try_for_each(submittable)?;
    }
    let place = args.out();
    let backend = args.played_on();
    // Two downloads at a time, and crowds of them, are questions to the simulator.
    let beside = backend.name() == backends::ALL[0].name();
    let request = Request {
        population,
        entrants,
        sizes,
        seeds,
        backend,
        workers: None,
        out: place.clone(),
        reuse: args.playing.reuse(),
        pairs: beside,
        crowds: beside && args.which.paths.is_none(),
    };
    let interrupted = progress::interruption_soon();
    let league = request.play(&Bar::default(), &interrupted).map_err(progress::kept)?;
    progress::say_found(league.found, league.runs);
    let judged = league.judge(&weights);
    let files = league.write(&place, &judged, &provenance::command())?;
    if let Some(submission) = &submission {
        say!("record: {}", submission.write(&place, &league, &judged)?.display());
    }
    if args.format.json() {
        out.write_all(files.json.as_bytes())?;
    } else if args.format.csv() {
        out.write_all(files.csv.as_bytes())?;
    } else {
        print(&judged, terminal, out)?;
        writeln!(out, "\nreport: {}", files.report.display())?;
        return Ok(());
    }
    say!("report: {}", files.report.display());
    Ok(())
}

/// What to publish before paths are drawn.
fn announce(header: &Path, out: &mut impl Write) -> Result {
    let digest = submission_digest(header)?;
    writeln!(out, "{digest}")?;
    writeln!(
        out,
        "\nPublish this SHA-256 of {} first, with the name of a public randomness beacon and a later time. Then score it with what \
         the beacon says at that time: ramp league --submit {0} --draw HEX",
        header.display()
    )?;
    Ok(())
}

/// A path of the asked population as a scenario file; a name that says its population is of that.
fn show(args: &LeagueArgs, name: &str, out: &mut impl Write) -> Result {
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    let which = args.which();
    if let Which::File(_) = which {
        let population = args.population(&which)?;
        let Some(path) = population.paths.iter().find(|path| path.name == name) else {
            let message = format!("{} has no path `{name}`", population.name);
            return Err(CliError::input_help(message, "the name of one of its tables"));
        };
        return Ok(write!(out, "name = \"{name}\"\n{}", path.scenario.text)?);
    }
    let whole = match which {
        _ if name.starts_with("held-out-") || name.starts_with("fresh-") => format!("{PREFIX}{name}"),
        Which::Fresh(seed) => format!("{PREFIX}fresh-{seed}-{name}"),
        Which::HeldOut => format!("{PREFIX}held-out-{name}"),
        Which::Public | Which::File(_) => format!("{PREFIX}{name}"),
    };
    let scenario = rampcc_league::path(&whole, &args.settings()?)
        .ok_or_else(|| CliError::input("it names no path"))??;
    Ok(write!(out, "name = \"{}\"\n{}", scenario.name, scenario.text)?)
}

fn print(judged: &Table, terminal: Terminal, out: &mut impl Write) -> Result {
    writeln!(out, "{}", terminal.bold(&format!("{}: {}", judged.population, counted(judged.paths, "path"))))?;
    for Cells { head, rows } in
        [Some(text::time(judged)), Some(text::cost(judged)), text::among(judged)].into_iter().flatten()
    {
        writeln!(out, "\n{}", figures(&head, &rows, terminal.width))?;
    }
    let legend = text::legend(judged) + " `ramp explain COLUMN` says what a column shows.";
    writeln!(out, "\n{}", textwrap::fill(&legend, broken(terminal.width)))?;
    for standing in explained(judged) {
        let lines = text::fails(standing, GROUPS);
        if !lines.is_empty() {
            writeln!(out, "\nWhere {} takes longest:", terminal.bold(&standing.label))?;
        }
        for line in lines {
            let options = broken(terminal.width).initial_indent("- ").subsequent_indent("  ");
            writeln!(out, "{}", textwrap::fill(&line, options))?;
        }
    }
    Ok(())
}

/// The leader, candidates, and what Linux does.
fn explained(judged: &Table) -> impl Iterator<Item = &Standing> {
    let linux = rampcc::of_cubic().id;
    let worth = move |(place, s): &(usize, &Standing)| {
        !s.yardstick && (*place == 0 || s.candidate || s.label == linux)
    };
    judged.standings.iter().enumerate().filter(worth).map(|(_, standing)| standing)
}

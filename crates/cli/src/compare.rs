//! `ramp compare`: play every algorithm on one path, judge, report.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rampcc_backend::Backend;
use rampcc_experiment::{Around, Experiment, ExperimentError, Request, Sweep};

use crate::backends::{self, On};
use crate::candidate::CandidateArgs;
use crate::completions;
use crate::error::{CliError, Result};
use crate::playing::PlayingArgs;
use crate::programs::ProgramArgs;
use crate::progress::{self, Bar, Said};
use crate::provenance;
use crate::report::{FormatArgs, show};
use crate::scenario_args::ScenarioArgs;
use crate::terminal::Terminal;

/// Compare start-up algorithms on a path
///
/// Plays the scenario with every algorithm and several seeds, on all cores, and says which is best, by how much,
/// and with what certainty. ramp keeps finished runs: a second call plays only the missing ones, and Ctrl-C loses
/// nothing.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ramp compare                                    a GEO satellite download, the default algorithms
  ramp compare --algorithms deployed              a group: all, default, papers, modern or deployed
  ramp compare geo-viasat --algorithms best,hystart,paced --runs 30 --out DIR
  ramp compare my-path.toml                       a scenario file (docs/guide/scenarios.md)
  ramp compare --rate 100mbit --rtt 50ms --buffer 1bdp --size 10MB
  ramp compare --trace link.down --delay-trace link.delay --rtt 40ms
  ramp compare --sweep algorithm.hystart.low_window=16,32,64
  ramp compare cable --sweep path.buffer='0.25 bdp,1 bdp,4 bdp'
  ramp compare --candidate my_start.h             a header that is in no registry, as one more row
  ramp compare --uncertain path.reverse.rate=1mbit..50mbit       paths on which the answer holds
  ramp compare --on linux --rate 100mbit --rtt 40ms --size 10MB  with this kernel's own TCP
  ramp compare --on sim,linux,quic --algorithms hystart,best     simulator, kernel and QUIC side by side
  ramp compare --on program geo-jitter --row caddy-h2 --row caddy-h3   servers and clients (docs/guide/programs.md)")]
pub(crate) struct CompareArgs {
    /// Backend: sim, quic, linux and others, or several of them side by side
    ///
    /// `sim` is the simulator. `linux` is this kernel's own TCP over an emulated path, in real time, one run at a time
    /// (docs/guide/linux.md). `quic` is a QUIC stack in virtual time, `quic-real` the same over UDP sockets and TLS, in real
    /// time (docs/guide/quic.md). `program` is a server and a client of your own over that path (docs/guide/programs.md).
    #[arg(long, value_parser = backends::by_name_or_programs(), value_name = "BACKENDS", value_delimiter = ',', default_value = "sim")]
    on: Vec<On>,
    /// Algorithms and groups to compare, separated by commas [default: the group `default`]
    ///
    /// [LABEL=]ALGORITHM[:PARAMETER=VALUE,...], e.g. `hystart,late=hystart:low_window=64,best`; or a group: `all`,
    /// `default`, `papers`, `modern`, `deployed`, each with the yardstick; with --on linux also `cubic`,
    /// `cubic_no_hystart`, `bbr` and `reno`, the kernel's own
    #[arg(long, short, value_name = "A,B,C", add = ArgValueCompleter::new(completions::rows_and_groups))]
    algorithms: Vec<String>,
    #[command(flatten)]
    candidates: CandidateArgs,
    #[command(flatten)]
    programs: ProgramArgs,
    /// Runs per algorithm; run i of every algorithm meets the same random numbers [default: the scenario's; at most 3
    /// on linux, where runs are in real time]
    ///
    /// The simulator plays a path without randomness once, whatever N is: every run would be the same.
    #[arg(long, short = 'n', value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    runs: Option<u32>,
    /// Seed of the first run; the next ones count up
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    seed: Option<u64>,
    /// One row per value of algorithm.ID.PARAMETER, or one comparison per value of a scenario's field
    #[arg(long, value_name = "FIELD=A,B,C", add = ArgValueCompleter::new(completions::fields))]
    sweep: Vec<String>,
    /// Directory for results [default: ramp-results/SCENARIO-DIGEST]
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    playing: PlayingArgs,
    #[command(flatten)]
    scenario: ScenarioArgs,
    #[command(flatten)]
    neighbours: NeighbourArgs,
}

impl CompareArgs {
    /// What it plays on.
    pub(crate) fn backends(&self) -> impl Iterator<Item = &'static dyn Backend> {
        self.on.iter().map(|on| on.0)
    }

    /// Fails where it does not say what to play.
    pub(crate) fn asks_for(&self) -> Result {
        Experiment::plan(self.request()?, &Said)?;
        Ok(())
    }

    fn request(&self) -> Result<Request<'_>> {
        let names: Vec<&str> = self.backends().map(Backend::name).collect();
        if let Some((at, twice)) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
            return Err(CliError::input(format!(
                "--on names `{twice}` twice, as number {} of {}",
                at + 1,
                names.len()
            )));
        }
        let brought = self.programs.brought(self.backends().any(backends::is_brought))?;
        let on = self.backends().map(|on| {
            let made = brought.backends.iter().find(|backend| backend.name() == on.name());
            *made.unwrap_or(&on)
        });
        let on: Vec<&'static dyn Backend> = on.collect();
        // Without names each backend has its usual rows: programs those that were brought.
        let named = !self.algorithms.is_empty() || on.iter().copied().all(backends::is_brought);
        let brought_rows = if named { brought.rows } else { Vec::new() };
        let algorithms = [self.algorithms.clone(), brought_rows].concat();
        let beside = Sweep::parse(&self.sweep)?.rows(&algorithms, brought.backends)?;
        let candidates = self.candidates.rows(&beside)?;
        self.scenario.sets_what_is_played(beside.iter().chain(&candidates))?;
        Ok(Request {
            on,
            algorithms,
            candidates,
            left_out: brought.left_out,
            sweep: self.sweep.clone(),
            runs: self.runs,
            seed: self.seed,
            around: self.neighbours.around(),
            out: self.out.clone(),
            reuse: self.playing.reuse(),
            command: provenance::command(),
            typed: provenance::typed(),
            ..Request::new(brought.backends, |settings| self.scenario.scenario(settings))
        })
    }
}

/// Options for paths around the described one.
#[derive(Args, Debug)]
#[command(next_help_heading = "Neighbouring paths")]
struct NeighbourArgs {
    /// An uncertain field and its range or values, e.g. path.reverse.rate=1mbit..50mbit or
    /// sender.congestion-control=reno,cubic; adds to those that the scenario states
    #[arg(long, value_name = "FIELD=LOW..HIGH")]
    uncertain: Vec<String>,
    /// Number of paths to draw from the uncertain ranges [default: 64; 0 in a sweep of scenario fields]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=65536))]
    neighbours: Option<u32>,
    /// Take the path exactly as described: no neighbouring paths
    #[arg(long, conflicts_with_all = ["uncertain", "neighbours"])]
    exact: bool,
}

impl NeighbourArgs {
    fn around(&self) -> Around {
        let paths = if self.exact { Some(0) } else { self.neighbours };
        Around { uncertain: self.uncertain.clone(), paths }
    }
}

/// Run the command.
pub(crate) fn compare(args: &CompareArgs, terminal: Terminal, out: &mut impl Write) -> Result {
    let experiment = Experiment::plan(args.request()?, &Said)?;
    args.playing.spread();
    let interrupted = progress::interruption_of(args.backends());
    let finished = experiment.play(&Bar::default(), &interrupted).map_err(|error| {
        let seen = match &error {
            ExperimentError::Interrupted { finished: 1.., place, .. } => Some(place.clone()),
            _ => None,
        };
        let error = progress::kept(error);
        if let Some(place) = seen {
            say!("to see the finished runs: ramp report {}", place.display());
        }
        error
    })?;
    progress::say_found(finished.played.reused, finished.runs);
    show(&finished.found, args.format, terminal, out)?;
    progress::ended(finished.played.refused, out)
}

//! `ramp compare`: play every algorithm on one path, judge, report.

mod plan;
mod variant;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use ramp_lab::Comparison;
use ramp_scenario::Scenario;

use crate::backend::Backend;
use crate::completions;
use crate::error::CliError;
use crate::kernel;
use crate::neighbours::NeighbourArgs;
use crate::place::PLAN;
use crate::play::{PlayOptions, Played};
use crate::progress;
use crate::provenance;
use crate::report::{FormatArgs, Plan};
use crate::results::Results;
use crate::rows::Row;
use crate::scenario_args::ScenarioArgs;
use crate::store::Store;
use crate::sweep;
use crate::terminal::Terminal;
use plan::Comparisons;
use variant::Variant;

/// Compare start-up algorithms on a path
///
/// Plays the scenario with every algorithm and several seeds, on all cores, and says which is best, by how much,
/// and with what certainty. Results are kept: a second call plays only what is missing, and Ctrl-C loses nothing.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ramp compare                                    a GEO satellite download, all algorithms
  ramp compare geo-viasat --algorithms best,hystart,paced --runs 30 --out DIR
  ramp compare my-path.toml                       a scenario file (docs/guide/scenarios.md)
  ramp compare --rate 100mbit --rtt 50ms --buffer 1bdp --size 10MB
  ramp compare --trace link.down --delay-trace link.delay --rtt 40ms
  ramp compare --sweep algorithm.hystart.low_window=16,32,64
  ramp compare cable --sweep path.buffer='0.25 bdp,1 bdp,4 bdp'
  ramp compare --uncertain path.reverse.rate=1mbit..50mbit           how far the answer carries; --exact: not asked
  ramp compare --on linux --rate 100mbit --rtt 40ms --size 10MB      with this kernel's own TCP, in real time
  ramp compare --on sim,linux --algorithms hystart,best              simulator and kernel side by side")]
pub(crate) struct CompareArgs {
    /// What plays: sim, linux, or both side by side
    ///
    /// `sim` is the simulator. `linux` plays with this kernel's own TCP over an emulated path, in real time, one run
    /// after the other (docs/guide/linux.md).
    #[arg(long, value_enum, value_name = "BACKENDS", value_delimiter = ',', default_value = "sim")]
    on: Vec<Backend>,
    /// Algorithms to compare, separated by commas, each with settings of its own if wanted; without it, all
    ///
    /// [LABEL=]ALGORITHM[:PARAMETER=VALUE,...], e.g. `hystart,late=hystart:low_window=64,best`; with --on linux also
    /// `cubic`, `cubic_no_hystart`, `bbr` and `reno`, the kernel's own
    #[arg(long, short, value_name = "A,B,C", add = ArgValueCompleter::new(completions::rows))]
    algorithms: Vec<String>,
    /// Runs per algorithm; run i of every algorithm meets the same random numbers [default: the scenario's; on linux,
    /// where a run takes as long as it takes, at most 3]
    ///
    /// A simulated path without randomness is played once, whatever N is: every run would be the same.
    #[arg(long, short = 'n', value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    runs: Option<u32>,
    /// Seed of the first run; the next ones count up
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    seed: Option<u64>,
    /// One row per value of algorithm.ID.PARAMETER, or one comparison per value of a scenario's field
    #[arg(long, value_name = "FIELD=A,B,C", add = ArgValueCompleter::new(completions::fields))]
    sweep: Vec<String>,
    /// Where results go [default: ramp-results/SCENARIO-DIGEST]
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
    /// Play everything again, even if there are results
    #[arg(long)]
    no_cache: bool,
    /// Runs at the same time [default: one per core]
    #[arg(long, short, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    #[command(flatten)]
    neighbours: NeighbourArgs,
    #[command(flatten)]
    scenario: ScenarioArgs,
}

impl CompareArgs {
    /// Whether it plays with this kernel's TCP.
    pub(crate) fn on_linux(&self) -> bool {
        self.on.contains(&Backend::Linux)
    }

    /// Fails where it does not say what to play.
    pub(crate) fn asks_for(&self) -> Result<(), CliError> {
        Comparisons::all(self).map(|_| ())
    }
}

/// Run the command.
pub(crate) fn compare(args: &CompareArgs, terminal: Terminal, out: &mut impl Write) -> Result<(), CliError> {
    let comparisons = Comparisons::all(args)?;
    if let Some(jobs) = args.jobs {
        // Fails only when the pool is in use already, which it is not.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(usize::from(jobs)).build_global();
    }
    if let Some((files, plan)) = &comparisons.sweep {
        sweep::write_plan(files, plan)?;
    }
    let interrupted = progress::interruption();
    let command = provenance::command();
    let mut played = Played::default();
    let mut judged: BTreeMap<(usize, Backend), (Store, Comparison)> = BTreeMap::new();
    // Virtual time first: it is over soon.
    for backend in [Backend::Sim, Backend::Linux] {
        let variants = || comparisons.variants().filter(|(_, variant)| variant.backend == backend);
        let runs: usize = variants().map(|(_, variant)| variant.runs()).sum();
        if runs == 0 {
            continue;
        }
        if backend == Backend::Linux {
            let here = variants().map(|(_, variant)| variant.runs_here()).sum();
            say!("{}", announcement(here, variants().map(|(_, variant)| variant)));
        }
        let bar = progress::bar(runs);
        let options = PlayOptions {
            reuse: !args.no_cache,
            command: &command,
            bar: &bar,
            one_at_a_time: backend == Backend::Linux,
            interrupted: &interrupted,
        };
        for (number, variant) in variants() {
            let store = variant.store(args)?;
            store.write_json(PLAN, &variant.plan)?;
            let (comparison, more) = variant.play(&store, &options)?;
            played.add(more);
            let (comparison, more) = variant.look_around(args, comparison, &store, &options)?;
            played.add(more);
            if let Some(comparison) = comparison {
                judged.insert((number, backend), (store, comparison));
            }
        }
        bar.finish_and_clear();
    }
    let runs: usize = comparisons.variants().map(|(_, variant)| variant.runs()).sum();
    if judged.len() < comparisons.variants().count() {
        say_interrupted(&played, runs, &comparisons.place(args));
        return Err(CliError::Interrupted);
    }
    if played.reused > 0 {
        say!("{} of {runs} runs were finished already", played.reused);
    }
    let mut results = Vec::new();
    for (number, set) in comparisons.sets.iter().enumerate() {
        let sides = set.variants.iter().filter_map(|v| judged.remove(&(number, v.backend)));
        let found = match (<[_; 2]>::try_from(sides.collect::<Vec<_>>()), &set.sides) {
            (Ok(both), Some(sides)) => Results::both(Store::bare(&sides.directory)?, &sides.plan, both)?,
            (Ok([(store, comparison), _]), None) => Results::one(store, comparison)?,
            (Err(mut one), _) => match one.pop() {
                Some((store, comparison)) => Results::one(store, comparison)?,
                None => continue,
            },
        };
        // The same on every backend.
        let plan = set.variants.first().map(|variant| &variant.plan);
        results.push((number, found.beside(plan.map(Plan::departures).unwrap_or_default())));
    }
    match &comparisons.sweep {
        Some((files, plan)) => sweep::show((files, plan), &results, (args.format, terminal), out)?,
        None => results.iter().try_for_each(|(_, results)| results.print(args.format, terminal, out))?,
    }
    if played.refused.is_empty() {
        return Ok(());
    }
    // What there is shall be seen.
    out.flush()?;
    Err(CliError::Refused { refused: played.refused })
}

/// How long it will take at most, for those who wonder.
fn announcement<'a>(runs: usize, variants: impl Iterator<Item = &'a Variant>) -> String {
    let longest = variants.map(|variant| variant.scenario.stop.after.secs_f64()).fold(0.0, f64::max);
    format!(
        "linux: {runs} runs in real time, one after the other, each {longest:.0} s at most; Ctrl-C keeps the finished ones"
    )
}

/// Refuses a scenario that the kernel cannot play, with everything that it asks in vain.
pub(crate) fn check(scenario: &Scenario, rows: &[Row]) -> Result<(), CliError> {
    let mut reasons: Vec<String> = Vec::new();
    for row in rows {
        for reason in kernel::check(scenario, row).err().into_iter().flatten() {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
    }
    if reasons.is_empty() {
        return Ok(());
    }
    let profile = ["era", "ns2"].into_iter().find(|profile| {
        let asked = format!("profile=\"{profile}\"");
        scenario.text.lines().any(|line| line.replace(' ', "").starts_with(&asked))
    });
    let help = profile.map(|profile| {
        format!(
            "the scenario's hosts are those of its time (`profile = \"{profile}\"`); `--profile modern` takes back what the \
             profile says, though not what the file sets itself"
        )
    });
    Err(CliError::Unplayable { scenario: scenario.name.clone(), reasons, help })
}

fn say_interrupted(total: &Played, runs: usize, directory: &Path) {
    let finished = total.reused + total.fresh;
    say!("interrupted: {finished} of {runs} runs are finished and kept in {}", directory.display());
    say!("to go on:    {}", provenance::typed());
    if finished > 0 {
        say!("to look at what is there: ramp report {}", directory.display());
    }
}

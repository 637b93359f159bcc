//! `ramp compare`: play every algorithm on one path, judge, report.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args;
use indicatif::ProgressBar;
use ramp_lab::Comparison;
use ramp_scenario::{Arm, Scenario, Setting};
use ramp_trace::Provenance;

use crate::error::CliError;
use crate::play::{PlayOptions, Played, Run, context, digest, play_all};
use crate::progress;
use crate::provenance::{self, BACKEND, VERSION};
use crate::report::{FormatArgs, PLAN, Plan, write_outputs};
use crate::scenario_args::{ScenarioArgs, Sweep, YARDSTICK};
use crate::store::{Store, file_name_part};
use crate::terminal::Terminal;

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
  ramp compare cable --sweep path.buffer='0.25 bdp,1 bdp,4 bdp'")]
pub(crate) struct CompareArgs {
    /// Algorithms to compare, separated by commas, each with settings of its own if wanted; without it, all
    ///
    /// [LABEL=]ALGORITHM[:PARAMETER=VALUE,...], e.g. `hystart,late=hystart:low_window=64,best`
    #[arg(long, short, value_name = "A,B,C")]
    algorithms: Vec<String>,
    /// Runs per algorithm; run i of every algorithm meets the same random numbers
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    runs: Option<u32>,
    /// Seed of the first run; the next ones count up
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// One row per value of algorithm.ID.PARAMETER, or one comparison per value of a scenario's field
    #[arg(long, value_name = "FIELD=A,B,C")]
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
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    #[command(flatten)]
    scenario: ScenarioArgs,
}

/// Run the command.
pub(crate) fn compare(args: &CompareArgs, terminal: Terminal, out: &mut impl Write) -> Result<(), CliError> {
    let comparisons = Variant::all(args)?;
    if let Some(jobs) = args.jobs {
        // Fails only when the pool is in use already, which it is not.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(usize::from(jobs)).build_global();
    }
    let runs: usize = comparisons.iter().map(|c| c.arms.len() * c.plan.seeds.len()).sum();
    let interrupted = progress::interruption();
    let bar = progress::bar(runs);
    let command = provenance::command();
    let options =
        PlayOptions { reuse: !args.no_cache, command: &command, bar: &bar, interrupted: &interrupted };
    let mut judged = Vec::new();
    let mut total = Played::default();
    for variant in &comparisons {
        let store = Store::create(&variant.directory)?;
        store.write_json(PLAN, &variant.plan)?;
        let (comparison, played) = variant.play(&store, &options)?;
        total.reused += played.reused;
        total.fresh += played.fresh;
        total.missing += played.missing;
        judged.push((variant, store, comparison));
    }
    bar.finish_and_clear();
    if interrupted.load(Ordering::Relaxed) && total.missing > 0 {
        let directory = args.out.as_deref().unwrap_or(&comparisons[0].directory);
        say_interrupted(&total, runs, directory);
        return Err(CliError::Interrupted);
    }
    if total.reused > 0 {
        eprintln!("{} of {runs} runs were finished already", total.reused);
    }
    for (variant, store, comparison) in &judged {
        write_outputs(store, comparison)?;
        if let Some(label) = &variant.label
            && !args.format.for_machines()
        {
            writeln!(out, "{}", terminal.bold(label))?;
        }
        args.format.print(comparison, terminal, out)?;
        args.format.say_where(store, out)?;
    }
    Ok(())
}

/// One comparison: a scenario, its rows, its seeds and its place.
struct Variant {
    /// The swept field and its value; `None`: there is only this one.
    label: Option<String>,
    scenario: Scenario,
    arms: Vec<Arm>,
    plan: Plan,
    directory: PathBuf,
}

impl Variant {
    /// The comparisons that the command line asks for: one, or one per value of swept scenario fields.
    fn all(args: &CompareArgs) -> Result<Vec<Self>, CliError> {
        let sweep = Sweep::parse(&args.sweep)?;
        let arms = sweep.arms(&args.algorithms)?;
        let mut variants = Vec::new();
        for settings in &sweep.variants {
            let scenario = args.scenario.scenario(settings)?;
            let texts: Vec<&str> = settings.iter().map(Setting::text).collect();
            let label = (!texts.is_empty()).then(|| texts.join(", "));
            variants.push(Self::new(args, label, scenario, arms.clone())?);
        }
        Ok(variants)
    }

    fn new(
        args: &CompareArgs,
        label: Option<String>,
        scenario: Scenario,
        arms: Vec<Arm>,
    ) -> Result<Self, CliError> {
        let labels: Vec<String> = arms.iter().map(|a| a.label.clone()).collect();
        if labels.iter().collect::<BTreeSet<_>>().len() < labels.len() {
            return Err(CliError::input(format!("--algorithms names a row twice: {}", labels.join(", "))));
        }
        let first = args.seed.unwrap_or(scenario.seed);
        let count = u64::from(args.runs.unwrap_or(scenario.runs).max(1));
        let last = first.checked_add(count - 1).ok_or_else(|| {
            CliError::input(format!(
                "--seed {first} and --runs {count} go beyond the largest seed, {}",
                u64::MAX
            ))
        })?;
        let digest = digest(&scenario);
        let provenance = Provenance {
            version: VERSION.to_owned(),
            command: provenance::command(),
            backend: BACKEND.to_owned(),
            scenario: scenario.name.clone(),
            scenario_hash: digest.clone(),
            scenario_text: scenario.text.clone(),
            arm: String::new(),
            seed: first,
        };
        let directory = match (&args.out, &label) {
            (Some(out), None) => out.clone(),
            (Some(out), Some(label)) => out.join(file_name_part(label)),
            (None, _) => Path::new("ramp-results").join(format!(
                "{}-{}",
                file_name_part(&scenario.name),
                digest.get(..8).unwrap_or(&digest)
            )),
        };
        let plan = Plan {
            provenance,
            context: context(&scenario),
            arms: labels,
            yardsticks: arms
                .iter()
                .filter(|a| a.algorithm.id == YARDSTICK)
                .map(|a| a.label.clone())
                .collect(),
            seeds: (first..=last).collect(),
        };
        Ok(Self { label, scenario, arms, plan, directory })
    }

    /// All real runs; then for each row the run that stands for it, with curves and once more leaving start-up a
    /// round later.
    fn play(&self, store: &Store, options: &PlayOptions<'_>) -> Result<(Comparison, Played), CliError> {
        let run = |arm, seed| Run {
            scenario: &self.scenario,
            digest: &self.plan.provenance.scenario_hash,
            arm,
            seed,
            extra_startup_rounds: 0,
            curves: false,
        };
        let real: Vec<Run<'_>> = self
            .plan
            .seeds
            .iter()
            .flat_map(|seed| self.arms.iter().map(move |arm| run(arm, *seed)))
            .collect();
        let (mut records, played) = play_all(&real, store, options)?;
        let comparison = self.plan.judge(&records);
        if played.missing > 0 {
            return Ok((comparison, played));
        }
        let shown = self.arms.iter().filter_map(|arm| {
            let row = comparison.arms.iter().find(|row| row.label == arm.label)?;
            Some((run(arm, row.representative.as_ref()?.seed), row.representative.as_ref()?.exit.is_some()))
        });
        let closer: Vec<Run<'_>> = shown
            .flat_map(|(run, left)| {
                let later = left.then(|| Run { extra_startup_rounds: 1, ..run.clone() });
                [Some(Run { curves: true, ..run }), later].into_iter().flatten()
            })
            .collect();
        let hidden = ProgressBar::hidden();
        let (later, more) = play_all(&closer, store, &PlayOptions { bar: &hidden, ..*options })?;
        records.extend(later);
        Ok((self.plan.judge(&records), Played { missing: more.missing, ..played }))
    }
}

fn say_interrupted(total: &Played, runs: usize, directory: &Path) {
    let finished = total.reused + total.fresh;
    eprintln!("interrupted: {finished} of {runs} runs are finished and kept in {}", directory.display());
    eprintln!("to go on:    {}", provenance::typed());
    if finished > 0 {
        eprintln!("to look at what is there: ramp report {}", directory.display());
    }
}

//! `ramp compare`: play every algorithm on one path, judge, report.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args;
use indicatif::ProgressBar;
use ramp_lab::Comparison;
use ramp_scenario::{Scenario, Setting};
use ramp_trace::Provenance;

use crate::backend::Backend;
use crate::error::CliError;
use crate::kernel;
use crate::play::{PlayOptions, Played, Run, context, digest, play_all};
use crate::progress;
use crate::provenance::{self, VERSION};
use crate::report::{FormatArgs, PLAN, Plan, PlannedRow, write_outputs};
use crate::rows::{Row, playable};
use crate::scenario_args::{ScenarioArgs, Sweep};
use crate::sides::{SidesPlan, beside, print_sides, write_sides};
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
  ramp compare cable --sweep path.buffer='0.25 bdp,1 bdp,4 bdp'
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
    #[arg(long, short, value_name = "A,B,C")]
    algorithms: Vec<String>,
    /// Runs per algorithm; run i of every algorithm meets the same random numbers [default: the scenario's; on linux,
    /// where a run takes as long as it takes, at most 3]
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

impl CompareArgs {
    /// Whether it plays with this kernel's TCP.
    pub(crate) fn on_linux(&self) -> bool {
        self.on.contains(&Backend::Linux)
    }
}

/// Run the command.
pub(crate) fn compare(args: &CompareArgs, terminal: Terminal, out: &mut impl Write) -> Result<(), CliError> {
    let comparisons = Comparisons::all(args)?;
    if let Some(jobs) = args.jobs {
        // Fails only when the pool is in use already, which it is not.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(usize::from(jobs)).build_global();
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
            eprintln!("{}", announcement(runs, variants().map(|(_, variant)| variant)));
        }
        let bar = progress::bar(runs);
        let options =
            PlayOptions { reuse: !args.no_cache, command: &command, bar: &bar, interrupted: &interrupted };
        for (number, variant) in variants() {
            let store = Store::create(&variant.directory)?;
            store.write_json(PLAN, &variant.plan)?;
            let (comparison, more) = variant.play(&store, &options)?;
            played.add(more);
            judged.insert((number, backend), (store, comparison));
        }
        bar.finish_and_clear();
    }
    let runs: usize = comparisons.variants().map(|(_, variant)| variant.runs()).sum();
    if interrupted.load(Ordering::Relaxed) && played.missing > 0 {
        say_interrupted(&played, runs, &comparisons.place(args));
        return Err(CliError::Interrupted);
    }
    if played.reused > 0 {
        eprintln!("{} of {runs} runs were finished already", played.reused);
    }
    for (number, set) in comparisons.sets.iter().enumerate() {
        if let Some(label) = &set.label
            && !args.format.for_machines()
        {
            writeln!(out, "{}", terminal.bold(label))?;
        }
        let results: Vec<_> = set.variants.iter().filter_map(|v| judged.get(&(number, v.backend))).collect();
        for (store, comparison) in &results {
            write_outputs(store, comparison)?;
        }
        if let ([(_, first), (_, second)], Some(sides)) = (results.as_slice(), &set.sides) {
            let files = Store::bare(&sides.directory)?;
            let both = beside(&sides.plan, [first, second]);
            write_sides(&files, &sides.plan, &both)?;
            print_sides(args.format, &files, &both, terminal, out)?;
            continue;
        }
        for (store, comparison) in results {
            args.format.print(comparison, terminal, out)?;
            args.format.say_where(store, out)?;
        }
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
    let era = scenario.text.lines().any(|line| line.replace(' ', "").starts_with("profile=\"era\""));
    let help = era.then(|| {
        "the scenario's hosts are those of its time (`profile = \"era\"`); `--profile modern` takes back what the profile \
         says, though not what the file sets itself"
            .to_owned()
    });
    Err(CliError::Unplayable { scenario: scenario.name.clone(), reasons, help })
}

/// Everything that the command line asks for.
struct Comparisons {
    sets: Vec<Set>,
}

/// One scenario, on one backend or on two.
struct Set {
    /// The swept fields and their values; `None`: there is only this one.
    label: Option<String>,
    variants: Vec<Variant>,
    sides: Option<Sides>,
}

/// Where two backends meet.
struct Sides {
    plan: SidesPlan,
    directory: PathBuf,
}

impl Comparisons {
    /// One, or one per value of swept scenario fields; each on every backend.
    fn all(args: &CompareArgs) -> Result<Self, CliError> {
        let sweep = Sweep::parse(&args.sweep)?;
        let named = !args.algorithms.is_empty();
        let rows = sweep.rows(&args.algorithms)?;
        let mut backends = args.on.clone();
        backends.sort_unstable();
        backends.dedup();
        let mut played = Vec::new();
        for &backend in &backends {
            // Rows that a sweep asks for are asked for by name.
            let named = named || !sweep.rows.is_empty();
            let (rows, without) = playable(&rows, backend, named, backends.len() == 1)?;
            if let Some(without) = without {
                eprintln!("{without}");
            }
            played.push((backend, rows));
        }
        let mut sets = Vec::new();
        for settings in &sweep.variants {
            let scenario = args.scenario.scenario(settings)?;
            let texts: Vec<&str> = settings.iter().map(Setting::text).collect();
            let label = (!texts.is_empty()).then(|| texts.join(", "));
            let place = Place::new(args, label.as_deref(), &scenario, backends.len() > 1);
            let mut variants = Vec::new();
            for (backend, rows) in &played {
                if *backend == Backend::Linux {
                    check(&scenario, rows)?;
                }
                variants.push(Variant::new(args, *backend, scenario.clone(), rows.clone(), &place)?);
            }
            let sides = match variants.as_slice() {
                [first, second] => Some(Sides {
                    plan: SidesPlan::new(
                        &provenance::command(),
                        &place.both,
                        [(first.backend, &first.directory), (second.backend, &second.directory)],
                    ),
                    directory: place.both,
                }),
                _ => None,
            };
            sets.push(Set { label, variants, sides });
        }
        Ok(Self { sets })
    }

    /// Each with the number of its set.
    fn variants(&self) -> impl Iterator<Item = (usize, &Variant)> {
        self.sets.iter().enumerate().flat_map(|(number, set)| set.variants.iter().map(move |v| (number, v)))
    }

    /// Where to look for results.
    fn place(&self, args: &CompareArgs) -> PathBuf {
        let first = self.sets.first().and_then(|set| set.variants.first());
        args.out.clone().or_else(|| first.map(|first| first.directory.clone())).unwrap_or_default()
    }
}

/// Where the results of a scenario go.
struct Place {
    /// Of each backend alone.
    sim: PathBuf,
    linux: PathBuf,
    /// Of both together.
    both: PathBuf,
}

impl Place {
    fn new(args: &CompareArgs, label: Option<&str>, scenario: &Scenario, together: bool) -> Self {
        if let Some(out) = &args.out {
            let out = label.map_or_else(|| out.clone(), |label| out.join(file_name_part(label)));
            let of = |name: &str| if together { out.join(name) } else { out.clone() };
            return Self { sim: of("sim"), linux: of("linux"), both: out };
        }
        // Results of one backend are found again whether it was alone or not.
        let digest = digest(scenario);
        let short = digest.get(..8).unwrap_or(&digest);
        let place = |tail: &str| {
            Path::new("ramp-results").join(format!("{}-{short}{tail}", file_name_part(&scenario.name)))
        };
        Self { sim: place(""), linux: place("-linux"), both: place("-sim-linux") }
    }

    fn of(&self, backend: Backend) -> &Path {
        match backend {
            Backend::Sim => &self.sim,
            Backend::Linux => &self.linux,
        }
    }
}

/// One comparison: a scenario, what plays it, its rows, its seeds and its place.
struct Variant {
    backend: Backend,
    scenario: Scenario,
    rows: Vec<Row>,
    plan: Plan,
    directory: PathBuf,
}

impl Variant {
    fn new(
        args: &CompareArgs,
        backend: Backend,
        scenario: Scenario,
        rows: Vec<Row>,
        place: &Place,
    ) -> Result<Self, CliError> {
        let labels: Vec<String> = rows.iter().map(|row| row.label.clone()).collect();
        if labels.iter().collect::<BTreeSet<_>>().len() < labels.len() {
            return Err(CliError::input(format!("--algorithms names a row twice: {}", labels.join(", "))));
        }
        let first = args.seed.unwrap_or(scenario.seed);
        let count = u64::from(args.runs.unwrap_or(backend.default_runs(scenario.runs)).max(1));
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
            backend: backend.identity(),
            scenario: scenario.name.clone(),
            scenario_hash: digest.clone(),
            scenario_text: scenario.text.clone(),
            arm: String::new(),
            seed: first,
        };
        let plan = Plan {
            provenance,
            context: context(&scenario),
            rows: rows.iter().map(|row| planned(row, &scenario)).collect(),
            seeds: (first..=last).collect(),
        };
        Ok(Self { backend, scenario, rows, plan, directory: place.of(backend).to_path_buf() })
    }

    fn runs(&self) -> usize {
        self.rows.len() * self.plan.seeds.len()
    }

    /// All real runs; then for each row the run that stands for it, with curves and once more leaving start-up a
    /// round later.
    fn play(&self, store: &Store, options: &PlayOptions<'_>) -> Result<(Comparison, Played), CliError> {
        // A run in real time is not played twice: it keeps its curves at once.
        let real_time = self.backend == Backend::Linux;
        let run = |index: usize, seed| Run {
            scenario: &self.scenario,
            digest: &self.plan.provenance.scenario_hash,
            row: &self.rows[index],
            steering: &self.plan.rows[index].steering,
            backend: self.backend,
            seed,
            extra_startup_rounds: 0,
            curves: real_time,
        };
        let rows = 0..self.rows.len();
        let seeds = self.plan.seeds.iter();
        let real: Vec<Run<'_>> =
            seeds.flat_map(|seed| rows.clone().map(move |row| run(row, *seed))).collect();
        let (mut records, played) = play_all(&real, store, options)?;
        let comparison = self.plan.judge(&records);
        if played.missing > 0 || real_time {
            return Ok((comparison, played));
        }
        let shown = rows.filter_map(|row| {
            let label = &self.rows[row].label;
            let arm = comparison.arms.iter().find(|arm| arm.label == *label)?;
            Some((run(row, arm.representative.as_ref()?.seed), arm.representative.as_ref()?.exit.is_some()))
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

fn planned(row: &Row, scenario: &Scenario) -> PlannedRow {
    PlannedRow { label: row.label.clone(), steering: row.steering(scenario), yardstick: row.yardstick() }
}

fn say_interrupted(total: &Played, runs: usize, directory: &Path) {
    let finished = total.reused + total.fresh;
    eprintln!("interrupted: {finished} of {runs} runs are finished and kept in {}", directory.display());
    eprintln!("to go on:    {}", provenance::typed());
    if finished > 0 {
        eprintln!("to look at what is there: ramp report {}", directory.display());
    }
}

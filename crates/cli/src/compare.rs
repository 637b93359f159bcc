//! `ramp compare`: play every algorithm on one path, judge, report.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use indicatif::ProgressBar;
use ramp_lab::{Comparison, Context};
use ramp_scenario::Scenario;
use ramp_trace::Provenance;

use crate::backend::Backend;
use crate::completions;
use crate::error::CliError;
use crate::kernel;
use crate::neighbours::{self, NeighbourArgs, Neighbours};
use crate::place::{self, PLAN};
use crate::play::{PlayOptions, Played, Run, context, digest, play_all};
use crate::progress;
use crate::provenance::{self, VERSION};
use crate::report::{FormatArgs, Plan, PlannedRow};
use crate::results::Results;
use crate::rows::{Row, playable};
use crate::scenario_args::{ScenarioArgs, Sweep};
use crate::sides::SidesPlan;
use crate::store::{Store, file_name_part};
use crate::sweep::{self, SweepPlan};
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

/// Comparisons of at most this many runs keep the curves of all: about as many are drawn.
const FEW_RUNS: u64 = 4;

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

/// Everything that the command line asks for.
struct Comparisons {
    sets: Vec<Set>,
    /// What they are together, if scenario fields are swept.
    sweep: Option<(Store, SweepPlan)>,
}

/// One scenario, on one backend or on two.
struct Set {
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
                say!("{without}");
            }
            played.push((backend, rows));
        }
        let mut compared = Vec::new();
        let mut names = BTreeSet::new();
        for settings in &sweep.variants {
            let label = sweep::label(settings);
            if !names.insert(label.clone()) {
                return Err(CliError::input(format!("--sweep names a value twice: {label}")));
            }
            let scenario = args.neighbours.apply(args.scenario.scenario(settings)?)?;
            let mut variants = Vec::new();
            for (backend, rows) in &played {
                if *backend == Backend::Linux {
                    check(&scenario, rows)?;
                }
                variants.push(Variant::new(args, *backend, scenario.clone(), rows.clone())?);
            }
            compared.push(variants);
        }
        let swept = sweep.variants.iter().any(|settings| !settings.is_empty());
        let together = if swept { Some(together(&compared, args)?) } else { None };
        let mut sets = Vec::new();
        for (mut variants, settings) in compared.into_iter().zip(&sweep.variants) {
            let below = |(_, directory): &(String, PathBuf)| {
                directory.join(unique(&sweep::label(settings), &mut names))
            };
            let out = args.out.as_ref().map(|out| together.as_ref().map_or_else(|| out.clone(), below));
            let name = variants.first().map_or(String::new(), |v| v.scenario.name.clone());
            let sides = placed(&mut variants, &name, out.as_deref())?;
            sets.push(Set { variants, sides });
        }
        let sweep = match together {
            None => None,
            Some((identity, directory)) => {
                let settings = sweep.variants.iter().map(Vec::as_slice);
                let points = settings.zip(sets.iter().map(Set::directory));
                let plan = SweepPlan::new(&identity, &directory, points);
                Some((Store::bare(&directory)?, plan))
            }
        };
        Ok(Self { sets, sweep })
    }

    /// Each with the number of its set.
    fn variants(&self) -> impl Iterator<Item = (usize, &Variant)> {
        self.sets.iter().enumerate().flat_map(|(number, set)| set.variants.iter().map(move |v| (number, v)))
    }

    /// Where to look for results.
    fn place(&self, args: &CompareArgs) -> PathBuf {
        if let Some((files, _)) = &self.sweep {
            return files.path("");
        }
        let out = args.out.clone().filter(|_| self.variants().count() > 1);
        out.or_else(|| self.variants().next().map(|(_, first)| first.directory.clone())).unwrap_or_default()
    }
}

impl Set {
    /// Where its page is.
    fn directory(&self) -> &Path {
        let first = self.variants.first().map(|variant| variant.directory.as_path());
        self.sides.as_ref().map(|sides| sides.directory.as_path()).or(first).unwrap_or(Path::new(""))
    }
}

/// What all comparisons of a sweep are together, and where that goes.
fn together(compared: &[Vec<Variant>], args: &CompareArgs) -> Result<(String, PathBuf), CliError> {
    let all = || compared.iter().flatten();
    let identity = place::identity(all().map(|variant| variant.plan.identity.as_str()));
    let name = all().next().map_or(String::new(), |first| first.scenario.name.clone());
    let directory = place::directory(args.out.as_deref(), &name, "-sweep", &identity)?;
    Ok((identity, directory))
}

/// A directory's name for a sweep's values that none of `names` is; two labels may look alike once they are names.
fn unique(label: &str, names: &mut BTreeSet<String>) -> String {
    let name = file_name_part(label);
    let mut number = 1;
    let mut found = format!("/{name}");
    while !names.insert(found.clone()) {
        number += 1;
        found = format!("/{name}-{number}");
    }
    found[1..].to_owned()
}

/// Gives every comparison of a set its directory; results of one backend are found again whether it was alone or not.
fn placed(variants: &mut [Variant], name: &str, out: Option<&Path>) -> Result<Option<Sides>, CliError> {
    let place = |variant: &Variant, out: Option<&Path>| {
        let tail = if variant.backend == Backend::Linux { "-linux" } else { "" };
        place::directory(out, name, tail, &variant.plan.identity)
    };
    let [first, second] = variants else {
        for variant in variants {
            variant.directory = place(variant, out)?;
        }
        return Ok(None);
    };
    let identity = place::identity([first.plan.identity.as_str(), &second.plan.identity]);
    let both = place::directory(out, name, "-sim-linux", &identity)?;
    for variant in [&mut *first, &mut *second] {
        let below = out.map(|_| both.join(variant.backend.to_string()));
        variant.directory = place(variant, below.as_deref())?;
    }
    let sides = [(first.backend, first.directory.as_path()), (second.backend, &second.directory)];
    Ok(Some(Sides { plan: SidesPlan::new(&identity, &both, sides), directory: both }))
}

/// One comparison: a scenario, what plays it, its rows, its seeds and its place.
struct Variant {
    backend: Backend,
    scenario: Scenario,
    rows: Vec<Row>,
    neighbours: Option<Neighbours>,
    plan: Plan,
    directory: PathBuf,
}

impl Variant {
    fn new(
        args: &CompareArgs,
        backend: Backend,
        scenario: Scenario,
        rows: Vec<Row>,
    ) -> Result<Self, CliError> {
        let first = args.seed.unwrap_or(scenario.seed);
        // Real time always leaves something to chance; virtual time only what the scenario does.
        let chance = backend == Backend::Linux || scenario.has_chance();
        let asked = args.runs.unwrap_or(backend.default_runs(scenario.runs)).max(1);
        let count = if chance { u64::from(asked) } else { 1 };
        if first.checked_add(count - 1).is_none() {
            return Err(CliError::input(format!(
                "--seed {first} and --runs {count} go beyond the largest seed, {}",
                u64::MAX
            )));
        }
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
        let rows_planned: Vec<PlannedRow> = rows.iter().map(|row| planned(row, &scenario)).collect();
        let on = backend.to_string();
        let swept = args.sweep.iter().any(|text| !text.trim_start().starts_with("algorithm."));
        let neighbours = args.neighbours.draw(&scenario, &rows, (first, swept))?;
        let around = neighbours.iter().flat_map(Neighbours::identity);
        let steered = rows_planned.iter().flat_map(|row| [row.label.as_str(), &row.steering]);
        let plan = Plan {
            identity: place::identity([digest.as_str(), &on].into_iter().chain(steered).chain(around)),
            typed: provenance::typed(),
            provenance,
            context: Context { chance, ..context(&scenario) },
            rows: rows_planned,
            first_seed: first,
            runs: count,
        };
        Ok(Self { backend, scenario, rows, neighbours, plan, directory: PathBuf::new() })
    }

    /// Its results, and where else some of its runs may lie.
    fn store(&self, args: &CompareArgs) -> Result<Store, CliError> {
        let store = Store::create(&self.directory)?;
        if args.no_cache {
            return Ok(store);
        }
        let hash = &self.plan.provenance.scenario_hash;
        Ok(store.with_relatives(place::relatives(&self.directory, args.out.as_deref(), hash)))
    }

    /// How many are played.
    fn runs(&self) -> usize {
        self.runs_here() + self.neighbours.as_ref().map_or(0, Neighbours::runs)
    }

    /// How many of them on the described path.
    fn runs_here(&self) -> usize {
        self.plan.played_rows().len() * usize::try_from(self.plan.runs).unwrap_or(usize::MAX)
    }

    /// One run of every row that the simulator knows on every neighbouring path, unless Ctrl-C has come.
    fn look_around(
        &self,
        args: &CompareArgs,
        comparison: Option<Comparison>,
        store: &Store,
        options: &PlayOptions<'_>,
    ) -> Result<(Option<Comparison>, Played), CliError> {
        let Some(neighbours) = &self.neighbours else {
            neighbours::forget(&self.directory);
            return Ok((comparison, Played::default()));
        };
        let Some(comparison) = comparison else { return Ok((None, Played::default())) };
        let hash = &self.plan.provenance.scenario_hash;
        let relatives = if args.no_cache {
            Vec::new()
        } else {
            place::relatives(&self.directory, args.out.as_deref(), hash)
        };
        neighbours.play(comparison, (store, relatives), options)
    }

    /// All real runs; then for each row those of the seeds that are drawn, with curves, and the first of them once more
    /// leaving start-up a round later. No comparison: Ctrl-C came before the last of them.
    fn play(
        &self,
        store: &Store,
        options: &PlayOptions<'_>,
    ) -> Result<(Option<Comparison>, Played), CliError> {
        let real_time = self.backend == Backend::Linux;
        // A run in real time is not played twice, and few runs are all drawn: they keep their curves at once.
        let curves = real_time || self.plan.runs <= FEW_RUNS;
        let run = |index: usize, seed| Run {
            scenario: &self.scenario,
            digest: &self.plan.provenance.scenario_hash,
            row: &self.rows[index],
            steering: &self.plan.rows[index].steering,
            backend: self.backend,
            seed,
            extra_startup_rounds: 0,
            curves,
        };
        let rows = self.plan.played_rows();
        let of_seed = |seed| rows.iter().map(move |row| run(*row, seed));
        let (real, played) = play_all(self.plan.seeds().flat_map(of_seed), store, options)?;
        if played.finished() + played.refused.len() < self.runs_here() {
            return Ok((None, played));
        }
        let mut records = self.plan.shared(real);
        let comparison = self.plan.judge(&records);
        if real_time {
            return Ok((Some(comparison), played));
        }
        let closer = rows.iter().flat_map(|&row| {
            let arm = comparison.arm(&self.rows[row].label);
            let drawn = arm.map_or(&[][..], |arm| &arm.drawn);
            let later = drawn.first().filter(|drawn| drawn.exit.is_some());
            let later =
                later.map(|drawn| Run { extra_startup_rounds: 1, curves: false, ..run(row, drawn.seed) });
            drawn.iter().map(move |drawn| Run { curves: true, ..run(row, drawn.seed) }).chain(later)
        });
        let closer: Vec<Run<'_>> = closer.collect();
        let count = closer.len();
        let hidden = ProgressBar::hidden();
        let (later, more) = play_all(closer.into_iter(), store, &PlayOptions { bar: &hidden, ..*options })?;
        if more.finished() < count {
            return Ok((None, played));
        }
        records.extend(self.plan.shared(later));
        Ok((Some(self.plan.judge(&records)), played))
    }
}

fn planned(row: &Row, scenario: &Scenario) -> PlannedRow {
    PlannedRow {
        label: row.label.clone(),
        steering: row.steering(scenario),
        yardstick: row.yardstick(),
        departures: row.departures(scenario),
    }
}

fn say_interrupted(total: &Played, runs: usize, directory: &Path) {
    let finished = total.reused + total.fresh;
    say!("interrupted: {finished} of {runs} runs are finished and kept in {}", directory.display());
    say!("to go on:    {}", provenance::typed());
    if finished > 0 {
        say!("to look at what is there: ramp report {}", directory.display());
    }
}

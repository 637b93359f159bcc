//! Work that a request takes, and playing it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use rampcc::Time;
use rampcc_backend::{Backend, Clock};
use rampcc_lab::Comparison;
use rampcc_scenario::{Scenario, TrafficKind};

use crate::asked::{EVERY, Sweep};
use crate::error::{ExperimentError, Result};
use crate::judged::Found;
use crate::place::{self, PLAN};
use crate::plan::Plan;
use crate::play::{Played, Playing};
use crate::playable::{Asked, playable};
use crate::progress::{Ahead, Progress};
use crate::request::Request;
use crate::results::Results;
use crate::row::Row;
use crate::sides::SidesPlan;
use crate::store::{Store, file_name_part};
use crate::sweep::{self, SweepPlan, Swept};
use crate::variant::Variant;

/// Everything that a request asks for, checked, with nothing played or written yet.
pub struct Experiment<'a> {
    request: Request<'a>,
    sets: Vec<Set<'a>>,
    /// Where all are together, if scenario fields are swept.
    sweep: Option<(PathBuf, SweepPlan)>,
}

/// Result of an experiment.
pub struct Finished {
    /// The comparisons, written to their directories.
    pub found: Found,
    /// Counts of the runs that were played.
    pub played: Played,
    /// Number of runs asked for.
    pub runs: usize,
}

/// One scenario, on one backend or on several.
struct Set<'a> {
    variants: Vec<Variant<'a>>,
    sides: Option<Sides>,
}

/// Where several backends meet.
struct Sides {
    plan: SidesPlan,
    directory: PathBuf,
}

impl<'a> Experiment<'a> {
    /// One comparison, or one for each value of swept scenario fields; each on every backend.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with the request, before anything is played or written.
    pub fn plan(request: Request<'a>, progress: &dyn Progress) -> Result<Self> {
        let sweep = Sweep::parse(&request.sweep)?;
        let everything = request.algorithms.iter().any(|text| text.split(',').any(|row| row.trim() == EVERY));
        let named = !request.algorithms.is_empty() && !everything;
        let mut rows = sweep.rows(&request.algorithms, request.backends)?;
        for row in &request.candidates {
            if rows.iter().any(|other| other.label == row.label) {
                let problem = format!("names the row `{}` twice", row.label);
                return Err(ExperimentError::request("candidate", problem));
            }
            rows.push(row.clone());
        }
        let backends = ordered(&request)?;
        let mut played = Vec::new();
        for &backend in &backends {
            // Rows that a sweep asks for are asked for by name.
            let named = named || !sweep.rows.is_empty();
            let mut rows = playable(&rows, backend, Asked { named, alone: backends.len() == 1 })?;
            if let Some(without) = rows.without() {
                progress.on_note(&without);
            }
            if !backend.steers() {
                rows.left_out.extend_from_slice(&request.left_out);
            }
            played.push((backend, rows));
        }
        let plays = |row: &&Row| {
            row.brought
                || played.iter().any(|(_, rows)| rows.here.iter().any(|played| played.label == row.label))
        };
        if let (Some(nowhere), Some((backend, _))) = (rows.iter().find(|row| !plays(row)), played.last()) {
            // The error that this row is by itself.
            playable(std::slice::from_ref(nowhere), *backend, Asked { named: true, alone: true })?;
        }
        let swept = sweep.variants.iter().any(|settings| !settings.is_empty());
        let mut compared = Vec::new();
        let mut names = BTreeSet::new();
        for settings in &sweep.variants {
            let label = sweep::label(settings);
            if !names.insert(label.clone()) {
                return Err(ExperimentError::request("sweep", format!("names a value twice: {label}")));
            }
            let scenario = request.around.apply((request.scenario)(settings)?)?;
            let mut variants = Vec::new();
            for (backend, rows) in &played {
                check(*backend, &scenario, &rows.here)?;
                variants.push(Variant::new(&request, swept, *backend, scenario.clone(), rows.clone())?);
            }
            compared.push(variants);
        }
        let together = if swept { Some(together(&compared, &request, progress)?) } else { None };
        let mut sets = Vec::new();
        for (mut variants, settings) in compared.into_iter().zip(&sweep.variants) {
            let below = |(_, directory): &(String, PathBuf)| {
                directory.join(unique(&sweep::label(settings), &mut names))
            };
            let out = request.out.as_ref().map(|out| together.as_ref().map_or_else(|| out.clone(), below));
            let name = variants.first().map_or(String::new(), |v| v.scenario.name.clone());
            let sides = placed(&mut variants, &name, out.as_deref(), &request, progress)?;
            sets.push(Set { variants, sides });
        }
        let sweep = together.map(|(identity, directory)| {
            let settings = sweep.variants.iter().map(Vec::as_slice);
            let points = settings.zip(sets.iter().map(Set::directory));
            let plan = SweepPlan::new(&identity, &directory, points, &request.command);
            (directory, plan)
        });
        Ok(Self { request, sets, sweep })
    }

    /// Number of runs that it takes, including those that are already on disk.
    pub fn runs(&self) -> usize {
        self.variants().map(|(_, variant)| variant.runs()).sum()
    }

    /// Finds or plays every run, judges, and writes the results. Runs are kept as they are finished.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Interrupted`] where `interrupted` was raised before the last run; the same request goes on from there.
    pub fn play(&self, progress: &dyn Progress, interrupted: &AtomicBool) -> Result<Finished> {
        if let Some((directory, plan)) = &self.sweep {
            sweep::write_plan(&Store::bare(directory)?, plan)?;
        }
        let mut played = Played::default();
        let mut judged = BTreeMap::new();
        // Virtual time first: it is over soon.
        for clock in [Clock::Virtual, Clock::Real] {
            for &backend in self.request.on.iter().filter(|backend| backend.clock() == clock) {
                played.add(self.play_on(backend, progress, interrupted, &mut judged)?);
            }
        }
        let runs = self.runs();
        if judged.len() < self.variants().count() {
            return Err(ExperimentError::Interrupted {
                finished: played.finished(),
                runs,
                place: self.place(),
            });
        }
        let mut results = Vec::new();
        for (number, set) in self.sets.iter().enumerate() {
            results.push((number, set.results(number, &mut judged)?));
        }
        let found = match &self.sweep {
            Some((directory, plan)) => {
                Found::Sweep(Box::new(Swept::new(Store::bare(directory)?, plan.clone(), results)?))
            }
            None => Found::Comparisons(results.into_iter().map(|(_, results)| results).collect()),
        };
        Ok(Finished { found, played, runs })
    }

    fn play_on(
        &self,
        backend: &dyn Backend,
        progress: &dyn Progress,
        interrupted: &AtomicBool,
        judged: &mut Judged,
    ) -> Result<Played> {
        let variants = || self.variants().filter(|(_, variant)| variant.backend.name() == backend.name());
        let runs: usize = variants().map(|(_, variant)| variant.runs()).sum();
        let mut played = Played::default();
        if runs == 0 {
            return Ok(played);
        }
        progress.on_backend(&Ahead {
            backend,
            runs,
            runs_here: variants().map(|(_, variant)| variant.runs_here()).sum(),
            longest: variants().map(|(_, v)| v.scenario.stop.after).max().unwrap_or(Time::ZERO),
        });
        for (number, variant) in variants() {
            let store = variant.store(&self.request)?;
            store.write_json(PLAN, &variant.plan)?;
            let playing = Playing {
                reuse: self.request.reuse,
                command: &self.request.command,
                workers: self.request.workers,
                ..Playing::new(&store, backend, progress, interrupted)
            };
            let (comparison, more) = variant.play(&playing)?;
            played.add(more);
            let (comparison, more) = variant.look_around(&self.request, comparison, &playing)?;
            played.add(more);
            if let Some(comparison) = comparison {
                judged.insert((number, backend.name()), (store, comparison));
            }
        }
        progress.on_end();
        Ok(played)
    }

    /// Each with the number of its set.
    fn variants(&self) -> impl Iterator<Item = (usize, &Variant<'a>)> {
        self.sets.iter().enumerate().flat_map(|(number, set)| set.variants.iter().map(move |v| (number, v)))
    }

    /// Directory of the results.
    pub fn place(&self) -> PathBuf {
        if let Some((directory, _)) = &self.sweep {
            return directory.clone();
        }
        let out = self.request.out.clone().filter(|_| self.variants().count() > 1);
        out.or_else(|| self.variants().next().map(|(_, first)| first.directory.clone())).unwrap_or_default()
    }
}

/// What was found, by the number of the set and the backend's name.
type Judged = BTreeMap<(usize, &'static str), (Store, Comparison)>;

/// The backends to play on, each once, in the order of all.
fn ordered<'a>(request: &Request<'a>) -> Result<Vec<&'a dyn Backend>> {
    let asked = |backend: &&&dyn Backend| request.on.iter().any(|on| on.name() == backend.name());
    let backends: Vec<&dyn Backend> = request.backends.iter().filter(asked).copied().collect();
    match request.on.iter().find(|on| backends.iter().all(|b| b.name() != on.name())) {
        Some(unknown) => Err(ExperimentError::request(
            "on",
            format!("names `{}`, which is none of the backends", unknown.name()),
        )),
        None if backends.is_empty() => Err(ExperimentError::request("on", "names no backend")),
        None => Ok(backends),
    }
}

/// Refuses a scenario that tests nothing, and one that the backend cannot play, with all that it cannot do of it.
pub fn check(backend: &dyn Backend, scenario: &Scenario, rows: &[Row]) -> Result {
    tests_something(scenario)?;
    let mut reasons: Vec<String> = Vec::new();
    for row in rows {
        let refused = backend.check(&row.scenario(scenario), row.control());
        for reason in refused.err().into_iter().flatten() {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
    }
    if reasons.is_empty() {
        return Ok(());
    }
    let help = scenario.past_profile().map(|profile| {
        format!(
            "the scenario's hosts are those of its time (`profile = \"{profile}\"`); `--profile modern` takes back what the \
             profile says, though not what the file sets itself"
        )
    });
    Err(ExperimentError::Unplayable {
        backend: backend.title(),
        scenario: scenario.name.clone(),
        reasons,
        help,
    })
}

/// There is nothing to compare where every flow names its algorithm.
fn tests_something(scenario: &Scenario) -> Result {
    let drawn = scenario.traffic.iter().any(|traffic| match traffic.kind {
        TrafficKind::Cbr { .. } => false,
        TrafficKind::Poisson { under_test_share, .. }
        | TrafficKind::Web { under_test_share, .. }
        | TrafficKind::Listed { under_test_share, .. } => under_test_share > 0.0,
    });
    if drawn || scenario.flows.iter().any(|flow| flow.under_test) {
        return Ok(());
    }
    Err(ExperimentError::input_help(
        format!("{}: no flow is under test", scenario.name),
        "leave `algorithm` out of at least one `[[flow]]`, or give `[[traffic]]` an `under-test-share`",
    ))
}

impl Set<'_> {
    /// Where its page is.
    fn directory(&self) -> &Path {
        let first = self.variants.first().map(|variant| variant.directory.as_path());
        self.sides.as_ref().map(|sides| sides.directory.as_path()).or(first).unwrap_or(Path::new(""))
    }

    /// What was found on its backends, together.
    fn results(&self, number: usize, judged: &mut Judged) -> Result<Results> {
        let found = self.variants.iter().filter_map(|v| judged.remove(&(number, v.backend.name())));
        let results = Results::of(found.collect(), || match &self.sides {
            Some(sides) => Ok(Some((Store::bare(&sides.directory)?, &sides.plan))),
            None => Ok(None),
        })?;
        // The same on every backend.
        let plan = self.variants.first().map(|variant| &variant.plan);
        Ok(results.beside(plan.map(Plan::departures).unwrap_or_default()))
    }
}

/// What all comparisons of a sweep are together, and where that goes.
fn together(
    compared: &[Vec<Variant<'_>>],
    request: &Request<'_>,
    progress: &dyn Progress,
) -> Result<(String, PathBuf)> {
    let all = || compared.iter().flatten();
    let identity = place::identity(all().map(|variant| variant.plan.identity.as_str()));
    let name = all().next().map_or(String::new(), |first| first.scenario.name.clone());
    let directory = place::directory(request.out.as_deref(), &name, "-sweep", &identity, progress)?;
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
fn placed(
    variants: &mut [Variant<'_>],
    name: &str,
    out: Option<&Path>,
    request: &Request<'_>,
    progress: &dyn Progress,
) -> Result<Option<Sides>> {
    let place = |variant: &Variant<'_>, out: Option<&Path>| {
        let tail = match variant.backend.clock() {
            Clock::Virtual => String::new(),
            Clock::Real => format!("-{}", variant.backend.name()),
        };
        place::directory(out, name, &tail, &variant.plan.identity, progress)
    };
    if let [alone] = variants {
        alone.directory = place(alone, out)?;
        return Ok(None);
    }
    let identity = place::identity(variants.iter().map(|variant| variant.plan.identity.as_str()));
    let names: Vec<&str> = variants.iter().map(|variant| variant.backend.name()).collect();
    let all = place::directory(out, name, &format!("-{}", names.join("-")), &identity, progress)?;
    for variant in &mut *variants {
        let below = out.map(|_| all.join(variant.backend.name()));
        variant.directory = place(variant, below.as_deref())?;
    }
    let sides: Vec<(&str, &Path)> =
        names.into_iter().zip(variants.iter().map(|variant| variant.directory.as_path())).collect();
    Ok(Some(Sides { plan: SidesPlan::new(&identity, &request.command, &all, &sides), directory: all }))
}

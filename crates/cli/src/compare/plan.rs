//! What a command line asks for: one comparison, or one for each value of swept fields, on every backend; and where each goes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::variant::Variant;
use super::{CompareArgs, check};
use crate::backend::Backend;
use crate::error::CliError;
use crate::place;
use crate::rows::playable;
use crate::scenario_args::Sweep;
use crate::sides::SidesPlan;
use crate::store::{Store, file_name_part};
use crate::sweep::{self, SweepPlan};

/// Everything that the command line asks for.
pub(super) struct Comparisons {
    pub(super) sets: Vec<Set>,
    /// What they are together, if scenario fields are swept.
    pub(super) sweep: Option<(Store, SweepPlan)>,
}

/// One scenario, on one backend or on two.
pub(super) struct Set {
    pub(super) variants: Vec<Variant>,
    pub(super) sides: Option<Sides>,
}

/// Where two backends meet.
pub(super) struct Sides {
    pub(super) plan: SidesPlan,
    pub(super) directory: PathBuf,
}

impl Comparisons {
    /// One, or one per value of swept scenario fields; each on every backend.
    pub(super) fn all(args: &CompareArgs) -> Result<Self, CliError> {
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
    pub(super) fn variants(&self) -> impl Iterator<Item = (usize, &Variant)> {
        self.sets.iter().enumerate().flat_map(|(number, set)| set.variants.iter().map(move |v| (number, v)))
    }

    /// Where to look for results.
    pub(super) fn place(&self, args: &CompareArgs) -> PathBuf {
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

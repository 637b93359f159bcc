//! Paths of a population that a backend in real time can carry.

use std::collections::BTreeMap;

use rampcc_backend::Backend;
use rampcc_experiment::{ExperimentError, Result, context};
use rampcc_scenario::{Scenario, Setting};

use crate::population::{Path, Population};
use crate::yardstick::at_least_s;

/// Longest download of a sample, as the path alone allows it, seconds: real time is dear.
pub const LONGEST_S: f64 = 20.0;
/// A run ends after so many times what its download takes at least, and so many seconds.
const PATIENCE: (f64, f64) = (4.0, 10.0);

impl Population {
    /// Up to `count` paths that `backend` can carry, with downloads of at most `bytes`.
    ///
    /// A path is carried if the backend has everything that it asks for (rate, delay, queue, traffic, the hosts' rules) and its
    /// download takes at most [`LONGEST_S`] at the path's rate. Of those, the access types take turns, each in the order of the
    /// file, whose first points lie evenly. A run ends with its download, and is not waited for much longer than that can take.
    ///
    /// # Errors
    ///
    /// If it can carry none; the error says what it lacks for the first ones.
    pub fn sample(self, backend: &dyn Backend, count: usize, bytes: u64) -> Result<Self> {
        let (name, settings, all) = (self.name.clone(), self.settings.clone(), self.paths.len());
        let access = self.access();
        let mut refused = Vec::new();
        let mut by_access: BTreeMap<String, Vec<Path>> = BTreeMap::new();
        for path in self.up_to(bytes)?.paths {
            match carried(&path.scenario, backend)? {
                Ok(scenario) => {
                    by_access.entry(path.access.clone()).or_default().push(Path { scenario, ..path });
                }
                Err(reason) => refused.push(format!("{}: {reason}", path.name)),
            }
        }
        if by_access.is_empty() {
            refused.truncate(3);
            return Err(ExperimentError::Unplayable {
                backend: backend.title(),
                scenario: format!("{name}, none of {all} paths"),
                reasons: refused,
                help: Some("docs/guide/league.md says which paths of a league it can carry".to_owned()),
            });
        }
        let mut turns: Vec<_> =
            access.iter().filter_map(|kind| by_access.remove(kind)).map(Vec::into_iter).collect();
        let mut paths = Vec::new();
        while paths.len() < count {
            let before = paths.len();
            paths.extend(turns.iter_mut().filter_map(Iterator::next));
            if paths.len() == before {
                break;
            }
        }
        paths.truncate(count);
        Ok(Self { name, paths, settings })
    }
}

/// The path as it is played there, or the first reason why it cannot be.
fn carried(scenario: &Scenario, backend: &dyn Backend) -> Result<Result<Scenario, String>> {
    if let Err(reasons) = backend.check(scenario, None) {
        return Ok(Err(reasons.into_iter().next().unwrap_or_default()));
    }
    let path = context(scenario);
    let Some(bytes) = path.size_bytes else { return Ok(Err("has no download of one size".to_owned())) };
    let least_s = at_least_s(scenario, &path, bytes);
    if least_s > LONGEST_S {
        return Ok(Err(format!("its download takes {least_s:.0} s at least, {LONGEST_S} s are allowed")));
    }
    let opened_s =
        scenario.flows.iter().find(|flow| flow.under_test).map_or(0.0, |flow| flow.start.secs_f64());
    let longest_s = opened_s + PATIENCE.0 * least_s + PATIENCE.1;
    let settings = [
        Setting::parse("stop=complete")?,
        Setting::parse(&format!("duration={:.1} s", longest_s.min(scenario.stop.after.secs_f64())))?,
    ];
    let (text, directory) = (&scenario.text, scenario.directory.as_deref());
    Ok(Ok(Scenario::parse_with(&scenario.name, text, directory, &settings)?))
}

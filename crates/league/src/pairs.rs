//! Two connections that begin together: the larger over the smaller share.

use rampcc_experiment::{Result, digest};
use rampcc_lab::RunRecord;
use rampcc_lab::metric::{SHARES, SHARES_AFTER_S};

use crate::play::Request;
use crate::population::Population;

const PATHS: &str = include_str!("../population/pairs.toml");
/// Runs of each algorithm on each path.
pub(crate) const SEEDS: u64 = 3;

/// The paths, each with its digest.
pub(crate) fn paths(request: &Request<'_>) -> Result<(Population, Vec<String>)> {
    let population = Population::parse("pairs", PATHS, None)?.with(&request.population.settings)?;
    let digests = population.paths.iter().map(|path| digest(&path.scenario)).collect();
    Ok((population, digests))
}

/// Of a run, larger over smaller share at each of [`SHARES_AFTER_S`].
pub(crate) fn shares(record: &RunRecord) -> [f64; SHARES_AFTER_S.len()] {
    SHARES.map(|metric| record.value(metric).unwrap_or(1.0))
}

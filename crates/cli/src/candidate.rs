//! `--candidate`: an algorithm that is in no registry, for every command that simulates.

use std::env;

use clap::Args;
use rampcc_experiment::Row;

use crate::error::CliError;

/// Algorithms that are in no registry.
#[derive(Args, Debug)]
pub(crate) struct CandidateArgs {
    /// A C header that defines one more algorithm, with parameters after a colon: FILE.h[:NAME=VALUE,...]
    ///
    /// It is compiled with $CC, or cc. docs/guide/league.md says what it has to define.
    #[arg(long = "candidate", value_name = "FILE.h")]
    pub(crate) headers: Vec<String>,
}

impl CandidateArgs {
    /// Beside these rows.
    pub(crate) fn rows(&self, beside: &[Row]) -> Result<Vec<Row>, CliError> {
        Ok(rampcc_league::candidates(&self.headers, &compiler(), beside)?)
    }
}

/// What compiles C here.
pub(crate) fn compiler() -> String {
    env::var("CC").ok().filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "cc".to_owned())
}

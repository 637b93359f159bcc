//! `--candidate`: an algorithm that is in no registry, for every command that simulates.

use std::env;
use std::path::Path;

use clap::Args;
use rampcc_experiment::Row;
use rampcc_league::{Apart, serve_candidate};

use crate::backends;
use crate::error::{CliError, Result};

/// Algorithms that are in no registry.
#[derive(Args, Debug)]
pub(crate) struct CandidateArgs {
    /// A C header that defines one more algorithm, with parameters after a colon: FILE.h[:NAME=VALUE,...]
    ///
    /// It is compiled with $CC, or cc, and played in processes of its own that may open no file and no socket.
    /// Runs in real time (--on linux) play none: the kernel never gets its code.
    /// docs/guide/algorithm.md says what it has to define and what it may do.
    #[arg(long = "candidate", value_name = "FILE.h")]
    pub(crate) headers: Vec<String>,
}

impl CandidateArgs {
    /// Compared with these rows.
    pub(crate) fn rows(&self, beside: &[Row]) -> Result<Vec<Row>> {
        Ok(rampcc_league::candidates(&self.headers, &apart(), beside)?)
    }
}

/// The command, hidden from help, that a process of a candidate is started with.
pub(crate) const CHILD: &str = "candidate-process";

/// How candidates are compiled and played here: by this very program.
pub(crate) fn apart() -> Apart {
    let compiler = env::var("CC").ok().filter(|name| !name.trim().is_empty());
    // On Linux also where the file has been replaced since.
    let own = Path::new("/proc/self/exe");
    let program =
        if own.exists() { own.to_owned() } else { env::current_exe().unwrap_or_else(|_| "ramp".into()) };
    Apart::new(compiler.as_deref().unwrap_or("cc"), program, &[CHILD])
}

/// Plays a candidate for the process that has started this one.
pub(crate) fn serve() -> Result {
    serve_candidate(backends::ALL[0]).map_err(CliError::Output)
}

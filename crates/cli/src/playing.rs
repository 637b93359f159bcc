//! Options of every command that plays many runs and keeps them.

use clap::Args;

/// How runs are played.
#[derive(Args, Debug)]
pub(crate) struct PlayingArgs {
    /// Play every run again, even if there are stored results
    #[arg(long)]
    no_cache: bool,
    /// Runs at the same time [default: one per core]
    #[arg(long, short, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

impl PlayingArgs {
    /// Whether stored results count.
    pub(crate) fn reuse(&self) -> bool {
        !self.no_cache
    }

    /// As many threads as are asked for.
    pub(crate) fn spread(&self) {
        if let Some(jobs) = self.jobs {
            // Fails only when the pool is in use already, which it is not.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(usize::from(jobs)).build_global();
        }
    }
}

//! Commands for a live host, in a build that has none of the algorithms for the kernel.

use std::io::Write;

use clap::{Args, Subcommand};

use crate::error::CliError;
use crate::terminal::Terminal;

/// What could be done to a live host.
#[derive(Subcommand, Debug)]
pub(crate) enum HostCommand {
    /// Attach a start-up algorithm to this host (not in this build)
    Attach(AnyArgs),
    /// Show the attached algorithms and their counters (not in this build)
    Status(AnyArgs),
    /// Detach, and restore exactly what was there before (not in this build)
    Detach(AnyArgs),
    /// Check what works on this host, what does not, and how to fix it (not in this build)
    Doctor(AnyArgs),
    /// Watch connections start up, live (not in this build)
    Watch(AnyArgs),
    /// Try an algorithm on live traffic: A/B, with a guard (not in this build)
    Trial(AnyArgs),
    /// Export the counters of attached algorithms to Prometheus (not in this build)
    Export(AnyArgs),
}

/// Whatever is said.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct AnyArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    words: Vec<String>,
}

impl HostCommand {
    /// Says what would make it run.
    #[expect(clippy::unused_self, reason = "the face of the commands that are there")]
    pub(crate) fn run(self, _: Terminal, _: &mut impl Write) -> Result<(), CliError> {
        Err(CliError::Kernel {
            message: "this ramp was built without the algorithms for the kernel".to_owned(),
            help: Some(
                "on Linux, with clang, libbpf-dev, libelf-dev and zlib1g-dev: cargo install --path crates/cli \
                 --features linux"
                    .to_owned(),
            ),
        })
    }
}

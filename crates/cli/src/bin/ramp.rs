//! The `ramp` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    rampcc_cli::main()
}

//! The `ramp` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ramp_cli::main()
}

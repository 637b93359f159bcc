//! `ramp detach`: back to what was before.

use std::io::Write;

use clap::Args;
use rampcc_host::{Detached, HostError, Restored, Scope};

use super::{HostArgs, told};
use crate::error::CliError;
use crate::terminal::Terminal;

/// Detach, and put back exactly what was before
///
/// Without a scope: everything that is attached. Also clears up after a command that was killed half-way. What somebody
/// else has set meanwhile stays. Connections that run finish with the algorithm they have.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ramp detach
  ramp detach --scope cgroup /sys/fs/cgroup/system.slice/nginx.service

Exit codes: 0 done, or nothing was attached; 1 something is still attached, or left of it; 2 nothing is attached to that
scope.")]
pub(crate) struct DetachArgs {
    /// Only this: system, netns NAME, cgroup PATH, route PREFIX
    #[arg(long, num_args = 1..=4, value_names = ["KIND", "NAME"])]
    scope: Vec<String>,
    /// Tell every step
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    host: HostArgs,
}

/// Runs the command.
pub(crate) fn detach(args: &DetachArgs, terminal: Terminal, out: &mut impl Write) -> Result<(), CliError> {
    let scope = if args.scope.is_empty() { None } else { Some(Scope::parse(&args.scope).map_err(told)?) };
    let mut host = args.host.host();
    if args.verbose {
        host = host.on_step(|step| say!("- {step}"));
    }
    match host.detach(scope.as_ref()) {
        Ok(done) if done.is_empty() => writeln!(out, "Nothing is attached.")?,
        Ok(done) => say(&done, terminal, out)?,
        Err(HostError::Partly { done, cause }) => {
            say(&done, terminal, out)?;
            out.flush()?;
            return Err(told(*cause));
        }
        Err(error) => return Err(told(error)),
    }
    Ok(())
}

fn say(done: &[Detached], terminal: Terminal, out: &mut impl Write) -> Result<(), CliError> {
    for detached in done {
        let names = if detached.names.is_empty() {
            String::new()
        } else {
            format!(" ({})", detached.names.join(", "))
        };
        let now = match &detached.restored {
            Restored::PutBack(what) => format!("back is {what}"),
            Restored::WasThere(what) => format!("there was already: {what}"),
            Restored::LeftForeign(what) => format!("somebody else has set this since, and it stays: {what}"),
            Restored::Gone(what) => format!("the {what} no longer exists"),
        };
        writeln!(out, "{} is detached{names}; {now}.", terminal.bold(&detached.scope))?;
        match detached.still_open {
            0 => {}
            1 => writeln!(out, "  1 open connection goes on with it until it closes.")?,
            open => writeln!(out, "  {open} open connections go on with it until they close.")?,
        }
        for note in &detached.notes {
            writeln!(out, "  {note}")?;
        }
    }
    Ok(())
}

//! `ramp detach`: restores what was there before.

use std::io::Write;

use clap::Args;
use rampcc_host::{Detached, HostError, Restored, Scope};

use super::{HostArgs, told};
use crate::error::Result;
use crate::terminal::Terminal;

/// Detach, and restore exactly what was there before
///
/// Without a scope, detaches everything. Also clears up after a command that was killed half-way. Settings that
/// others have changed meanwhile stay. Open connections keep their algorithm until they close.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ramp detach
  ramp detach --scope cgroup /sys/fs/cgroup/system.slice/nginx.service
  ramp detach --unit best          what `ramp attach --unit best` has attached, wherever

Exit codes: 0 done, or nothing was attached; 1 something is still attached, or a part of it remains; 2 nothing is
attached to that scope.")]
pub(crate) struct DetachArgs {
    /// Detach only this: system, netns NAME, cgroup PATH, route PREFIX
    #[arg(long, num_args = 1..=4, value_names = ["KIND", "NAME"])]
    scope: Vec<String>,
    /// Detach only what `ramp attach --unit NAME` has attached, whatever its scope
    #[arg(long, value_name = "NAME", conflicts_with = "scope", value_parser = super::unit_name)]
    unit: Option<String>,
    /// Print every step
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    host: HostArgs,
}

/// Runs the command.
pub(crate) fn detach(args: &DetachArgs, terminal: Terminal, out: &mut impl Write) -> Result {
    let scope = if args.scope.is_empty() { None } else { Some(Scope::parse(&args.scope).map_err(told)?) };
    let mut host = args.host.host();
    if args.verbose {
        host = host.on_step(|step| say!("- {step}"));
    }
    let result = match &args.unit {
        Some(unit) => host.detach_unit(unit),
        None => host.detach(scope.as_ref()),
    };
    match result {
        Ok(done) if done.is_empty() => match &args.unit {
            Some(unit) => writeln!(out, "Nothing is attached by unit {unit}.")?,
            None => writeln!(out, "Nothing is attached.")?,
        },
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

fn say(done: &[Detached], terminal: Terminal, out: &mut impl Write) -> Result {
    for detached in done {
        let names = if detached.names.is_empty() {
            String::new()
        } else {
            format!(" ({})", detached.names.join(", "))
        };
        let now = match &detached.restored {
            Restored::PutBack(what) => format!("restored: {what}"),
            Restored::WasThere(what) => format!("was already there: {what}"),
            Restored::LeftForeign(what) => format!("kept, because another process has set it since: {what}"),
            Restored::Gone(what) => format!("the {what} no longer exists"),
        };
        writeln!(out, "{} is detached{names}; {now}.", terminal.bold(&detached.scope))?;
        match detached.still_open {
            0 => {}
            1 => writeln!(out, "  1 open connection keeps it until it closes.")?,
            open => writeln!(out, "  {open} open connections keep it until they close.")?,
        }
        for note in &detached.notes {
            writeln!(out, "  {note}")?;
        }
    }
    Ok(())
}

//! `ramp doctor`: what works here, what does not, and how to fix it.

use std::io::{self, Write};

use clap::Args;
use rampcc_host::doctor::{Check, State, can_attach, examine, loadable};
use serde_json::json;

use super::{HostArgs, caution};
use crate::error::{CliError, Result};
use crate::terminal::{Terminal, broken};

/// Check what works on this host, what does not, and how to fix it
///
/// Checks the kernel, BTF, configuration, capabilities, limits and sysctls, and with the capabilities also whether the
/// algorithm with the largest state passes the verifier. Changes nothing.
#[derive(Args, Debug)]
#[command(after_help = "\
Each check is ok, degraded (attaching works, something else does not or works less well) or missing.

Exit codes: 0 attaching can work, 1 it cannot.")]
pub(crate) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Load every algorithm, not one: that takes about half a minute
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    host: HostArgs,
}

/// Runs the command.
pub(crate) fn doctor(args: &DoctorArgs, terminal: Terminal, out: &mut impl Write) -> Result {
    let mut tried = loadable();
    tried.truncate(if args.all { tried.len() } else { 1 });
    let mut checks = Vec::new();
    for check in examine(&args.host.host(), &tried) {
        if !args.json {
            say(&check, terminal, out)?;
            // The next one may take a while.
            out.flush()?;
        }
        checks.push(check);
    }
    let works = can_attach(&checks);
    if args.json {
        let all: Vec<_> = checks
            .iter()
            .map(|check| {
                json!({
                    "check": check.name,
                    "state": check.state.word(),
                    "found": check.found,
                    "meaning": check.meaning,
                    "mend": check.mend,
                })
            })
            .collect();
        let report = json!({ "can_attach": works, "checks": all });
        serde_json::to_writer_pretty(&mut *out, &report).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        writeln!(out)?;
    }
    if works {
        if !args.json {
            writeln!(out, "Attaching can work here.")?;
            for caution in rampcc::algorithms().iter().filter_map(caution) {
                writeln!(out, "{caution}")?;
            }
        }
        return Ok(());
    }
    out.flush()?;
    let missing = checks.iter().filter(|check| check.state == State::Missing);
    let names: Vec<_> = missing.map(|check| check.name).collect();
    Err(CliError::Kernel { message: format!("attaching cannot work here: {}", names.join(", ")), help: None })
}

fn say(check: &Check, terminal: Terminal, out: &mut impl Write) -> Result {
    let word = format!("{:<10}", check.state.word());
    let word = if check.state == State::Ok { word } else { terminal.bold(&word) };
    writeln!(out, "{word}{:<18}{}", check.name, check.found)?;
    let indent = " ".repeat(28);
    let options = broken(terminal.width.max(60)).initial_indent(&indent).subsequent_indent(&indent);
    if !check.meaning.is_empty() && check.state != State::Ok {
        writeln!(out, "{}", textwrap::fill(&check.meaning, &options))?;
    }
    if !check.mend.is_empty() {
        // Whole, so that it can be copied.
        writeln!(out, "{indent}-> {}", check.mend)?;
    }
    Ok(())
}

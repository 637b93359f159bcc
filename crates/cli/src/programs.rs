//! `--on program`: rows of two programs each.

use std::path::PathBuf;

use clap::Args;
use rampcc_backend::Backend;
use rampcc_lab::LeftOut;
#[cfg(target_os = "linux")]
use rampcc_testbed::{Program, Programs, ready_made};

use crate::backends;
#[cfg(target_os = "linux")]
use crate::error::nearest;
use crate::error::{CliError, Result};

/// Servers and clients as rows.
#[derive(Args, Debug)]
#[command(next_help_heading = "Programs (--on program)")]
pub(crate) struct ProgramArgs {
    /// A row: a ready-made one, perhaps with a congestion control (nginx:cubic), or NAME='SERVER COMMAND' (docs/guide/programs.md)
    ///
    /// Ready-made are caddy-h2, caddy-h3, nginx, nginx-h2, ngtcp2-bbr2, ngtcp2-cubic, ngtcp2-reno and python. The server
    /// listens at {address}:{port} and serves {dir}, where `object` has {bytes} bytes. The client gets {url}; a row with
    /// {certificate} and {key} has an https address. {host} is {address} as in a URL: IPv6 in brackets.
    #[arg(long = "row", value_name = "NAME[:CONTROL]|NAME=COMMAND")]
    pub(crate) rows: Vec<String>,
    /// The client's command of all rows, or of NAME alone; a row without one has ramp's own HTTP/1.1 client
    #[arg(long = "client", value_name = "[NAME=]COMMAND")]
    pub(crate) clients: Vec<String>,
    /// A file of rows, which --row then names as well as the ready-made ones
    #[arg(long = "programs", value_name = "FILE.toml")]
    pub(crate) file: Option<PathBuf>,
    /// All rows over IPv6; `ipv6 = true` in a file of rows is for one
    #[arg(long)]
    pub(crate) ipv6: bool,
}

/// Backends of a comparison, and the rows that programs bring.
pub(crate) struct Brought {
    /// All that rows may be of.
    pub(crate) backends: &'static [&'static dyn Backend],
    /// Names of the rows, in order.
    pub(crate) rows: Vec<String>,
    /// Rows whose programs are not installed.
    pub(crate) left_out: Vec<LeftOut>,
}

impl ProgramArgs {
    /// With programs among the backends if they are `asked` for.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn brought(&self, _asked: bool) -> Result<Brought> {
        match self.rows.first() {
            Some(_) => Err(CliError::input("--row needs Linux: programs play in its namespaces")),
            None => Ok(Brought { backends: backends::ALL, rows: Vec::new(), left_out: Vec::new() }),
        }
    }

    /// With programs among the backends if they are `asked` for.
    #[cfg(target_os = "linux")]
    pub(crate) fn brought(&self, asked: bool) -> Result<Brought> {
        if !asked {
            let given = [("row", !self.rows.is_empty()), ("client", !self.clients.is_empty())];
            let given = given.into_iter().chain([("programs", self.file.is_some()), ("ipv6", self.ipv6)]);
            return match given.into_iter().find(|(_, given)| *given) {
                Some((option, _)) => Err(CliError::input(format!("--{option} is for --on program"))),
                None => Ok(Brought { backends: backends::ALL, rows: Vec::new(), left_out: Vec::new() }),
            };
        }
        let known = self.known()?;
        let mut programs = Vec::new();
        for text in &self.rows {
            let program = self.row(text, &known)?;
            if programs.iter().any(|other: &Program| other.name == program.name) {
                return Err(CliError::input(format!("--row names the row `{}` twice", program.name)));
            }
            let controls = backends::ALL.iter().flat_map(|backend| backend.controls());
            if controls.into_iter().any(|control| control.name == program.name) {
                return Err(CliError::input(format!(
                    "--row `{}`: this is the name of a congestion control",
                    program.name
                )));
            }
            programs.push(program);
        }
        if programs.is_empty() {
            let names: Vec<&str> = known.iter().map(|program| program.name.as_str()).collect();
            return Err(CliError::input_help(
                "--on program plays the rows that --row names",
                format!("--row NAME='SERVER COMMAND', or one of {}", names.join(", ")),
            ));
        }
        let mut left_out = Vec::new();
        programs.retain(|program| {
            let missing = program.missing();
            let here = missing.is_empty();
            if !here {
                left_out.push(LeftOut { rows: vec![program.name.clone()], why: missing.join(", ") });
            }
            here
        });
        let absent = left_out.iter().map(|row| format!("without {}: {}", row.rows.join(", "), row.why));
        if programs.is_empty() {
            let absent: Vec<String> = absent.collect();
            return Err(CliError::input_help(
                "--row: no row has all of its programs installed",
                absent.join("; "),
            ));
        }
        for row in absent {
            say!("{row}");
        }
        for program in &programs {
            program.check_here().map_err(|error| CliError::input(format!("--row: {error}")))?;
        }
        let rows = programs.iter().map(|program| program.name.clone()).collect();
        // As long as the process, as all backends.
        let made: &'static dyn Backend = Box::leak(Box::new(Programs::new(programs)));
        let backends = [backends::ALL, &[made]].concat().leak();
        Ok(Brought { backends, rows, left_out })
    }

    /// Rows that have names: the ready-made ones and those of the file, which may replace them.
    #[cfg(target_os = "linux")]
    pub(crate) fn known(&self) -> Result<Vec<Program>> {
        let mut known = ready_made();
        let Some(path) = &self.file else { return Ok(known) };
        let wrong = |cause| CliError::input(format!("{}: {cause}", path.display()));
        let text = rampcc_scenario::read_small(path).map_err(wrong)?;
        let own = Program::parse_all(&text).map_err(|error| wrong(error.to_string()))?;
        known.retain(|program| own.iter().all(|other| other.name != program.name));
        known.extend(own);
        Ok(known)
    }

    /// A row by its name, or NAME=COMMAND.
    #[cfg(target_os = "linux")]
    pub(crate) fn row(&self, text: &str, known: &[Program]) -> Result<Program> {
        let program = self.named(text, known)?;
        Ok(if self.ipv6 { program.over_ipv6() } else { program })
    }

    #[cfg(target_os = "linux")]
    fn named(&self, text: &str, known: &[Program]) -> Result<Program> {
        let (name, server) = match text.split_once('=') {
            Some((name, server)) => (name.trim(), Some(server.trim())),
            None => (text.trim(), None),
        };
        let (known_name, control) = match name.split_once(':') {
            Some((row, control)) if server.is_none() => (row, Some(control)),
            _ => (name, None),
        };
        let client = self.client(name)?;
        let wrong = |error: rampcc_testbed::ProgramError| CliError::input(format!("--row: {error}"));
        if let Some(server) = server {
            return Program::new(name, server, client).map_err(wrong);
        }
        let Some(program) = known.iter().find(|program| program.name == known_name) else {
            let names: Vec<&str> = known.iter().map(|program| program.name.as_str()).collect();
            return Err(CliError::input_help(
                format!(
                    "--row: there is no row `{known_name}`; did you mean `{}`?",
                    nearest(known_name, &names, 1).join("")
                ),
                format!("NAME='SERVER COMMAND', or one of {}", names.join(", ")),
            ));
        };
        let client = client.map(str::to_owned).or_else(|| program.client.clone());
        let program = Program { client, ..program.clone() };
        Ok(match control {
            Some(control) => program.with_control(control).map_err(wrong)?,
            None => program,
        })
    }

    /// The client's command of a row; what names no row of this call is a command for all.
    #[cfg(target_os = "linux")]
    fn client(&self, name: &str) -> Result<Option<&str>> {
        let names = || self.rows.iter().map(|row| row.split('=').next().unwrap_or(row).trim());
        let own = |text: &'_ str| {
            text.split_once('=')
                .filter(|(row, _)| names().any(|name| name == row.trim()))
                .map(|(row, _)| row.len())
        };
        let of = |wanted: bool| {
            self.clients.iter().filter_map(move |text| match own(text) {
                Some(length) if wanted && text[..length].trim() == name => Some(text[length + 1..].trim()),
                None if !wanted => Some(text.trim()),
                _ => None,
            })
        };
        let found: Vec<&str> =
            if of(true).next().is_some() { of(true).collect() } else { of(false).collect() };
        match found.as_slice() {
            [] => Ok(None),
            [""] => Err(CliError::input("--client is empty")),
            [one] => Ok(Some(one)),
            _ => Err(CliError::input(format!("--client gives the row `{name}` two commands"))),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn args(rows: &[&str], clients: &[&str]) -> ProgramArgs {
        let strings = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        ProgramArgs { rows: strings(rows), clients: strings(clients), file: None, ipv6: false }
    }

    #[test]
    fn a_client_is_of_all_rows_or_of_one() {
        let args = args(&["a=sleep 1", "b=sleep 2", "c=sleep 3"], &["curl x=y {url}", "b=wget {url}"]);
        assert_eq!(args.client("a").unwrap(), Some("curl x=y {url}"));
        assert_eq!(args.client("b").unwrap(), Some("wget {url}"));
        let twice = ProgramArgs { clients: vec!["x".to_owned(), "y".to_owned()], ..args };
        assert!(twice.client("a").unwrap_err().to_string().contains("two commands"));
    }

    #[test]
    fn the_help_names_every_ready_made_row() {
        let command = ProgramArgs::augment_args(clap::Command::new("compare"));
        let rows = command.get_arguments().find(|option| option.get_id() == "rows").unwrap();
        let help = rows.get_long_help().unwrap().to_string();
        let list = help.split_once("Ready-made are ").unwrap().1.split_once('.').unwrap().0.to_owned();
        let named: std::collections::BTreeSet<&str> =
            list.split([',', ' ']).filter(|word| !["", "and"].contains(word)).collect();
        let known = ready_made();
        assert_eq!(named, known.iter().map(|program| program.name.as_str()).collect());
    }

    #[test]
    fn rows_are_commands_or_names() {
        let row = |text| args(&[text], &[]).row(text, &ready_made());
        assert_eq!(row("mine=sleep {port}").unwrap().server, "sleep {port}");
        let cubic = row("nginx:cubic").unwrap();
        assert_eq!(
            (cubic.name.as_str(), cubic.congestion_control.as_deref()),
            ("nginx-cubic", Some("cubic"))
        );
        assert!(
            row("nginx:").is_err()
                && row("nginx:a b").is_err()
                && row("nginx:averylongnamethatnobodyhas").is_err()
        );
        assert!(row("caddy-h3").unwrap().client.unwrap().contains("gtlsclient"));
        let error = format!("{:?}", miette::Report::new(row("caddi-h3").unwrap_err()));
        assert!(error.contains("did you mean `caddy-h3`?"), "{error}");
        let unasked = args(&["a=sleep 1"], &[]).brought(false);
        assert!(unasked.err().unwrap().to_string().contains("--on program"));
        let twice = args(&["a=sleep 1", "a=sleep 2"], &[]).brought(true);
        assert!(twice.err().unwrap().to_string().contains("twice"));
        let kernels = args(&["cubic=sleep 1"], &[]).brought(true);
        assert!(kernels.err().unwrap().to_string().contains("name of a congestion control"));
        let brought = args(&["a=sleep 1", "b=sleep 2"], &[]).brought(true).unwrap();
        assert_eq!(
            (brought.rows, brought.backends.len()),
            (vec!["a".to_owned(), "b".to_owned()], backends::ALL.len() + 1)
        );
    }
}

//! The `ramp` command: one file per subcommand, and no logic that a user of the libraries would miss. A library only so
//! that it can be fuzzed.

/// Prints a line to standard error and ignores write errors: a closed pipe must not stop the command.
macro_rules! say {
    ($($words:tt)*) => {{
        let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{}\n", format_args!($($words)*)));
    }};
}

mod backends;
mod candidate;
mod columns;
mod compare;
mod completions;
mod document;
mod error;
mod explain;
mod gate;
#[cfg(target_os = "linux")]
mod gate_programs;
mod glossary;
#[cfg_attr(not(all(target_os = "linux", feature = "linux")), path = "host/absent.rs")]
mod host;
mod league;
mod league_goals;
mod league_sides;
mod list;
mod manual;
mod playing;
mod programs;
mod progress;
mod provenance;
mod recommend;
mod replay;
mod report;
mod reproduce;
#[cfg(test)]
mod reuse;
mod run;
mod scenario_args;
mod table;
mod terminal;
mod topics;

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ColorChoice, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use rampcc_backend::Backend;

use crate::error::{CliError, Result};
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  ramp compare                                     a GEO satellite download, the default algorithms
  ramp compare --rate 100mbit --rtt 50ms --buffer 1bdp --size 10MB
  ramp compare geo-viasat --algorithms best,hystart,paced --runs 30
  ramp compare --on linux                          the same with this kernel's own TCP
  ramp attach best                                 an algorithm for this host's own connections
  ramp league                                      every algorithm on 160 paths: which one if the path is not known
  ramp gate old.h new.h                            whether a change makes a start-up worse
  ramp recommend --stack linux                     initial window, start-up and pacing among what a stack lets you set
  ramp reproduce hystart-fig18b                    a figure of a paper, with its claims checked
  ramp list scenarios                              other paths to compare on
  ramp explain hystart                             how an algorithm decides

Exit codes: 0 done, 1 failed, 2 the input is wrong, 3 a trial was rolled back or had no connection, or a gate cannot tell, 130 interrupted.";

/// Which start-up algorithm is best on a path, by how much, with what certainty, and why
#[derive(Parser, Debug)]
#[command(name = "ramp", version = rampcc_experiment::VERSION, long_version = provenance::long_version(), after_help = EXAMPLES)]
struct Cli {
    /// Use of colour: auto, always or never
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    color: ColorChoice,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Compare(Box<compare::CompareArgs>),
    Run(Box<run::RunArgs>),
    League(Box<league::LeagueArgs>),
    Gate(Box<gate::GateArgs>),
    Recommend(Box<recommend::RecommendArgs>),
    Replay(replay::ReplayArgs),
    Report(report::ReportArgs),
    Reproduce(reproduce::ReproduceArgs),
    List(list::ListArgs),
    Explain(explain::ExplainArgs),
    #[command(flatten)]
    Host(host::HostCommand),
    /// Print a shell script that completes commands, options and names
    ///
    /// For bash, in ~/.bashrc: source <(ramp completions bash)
    Completions {
        /// Name of the shell
        shell: Shell,
    },
    /// Write the manual pages, one for each command, into a directory
    #[command(hide = true)]
    Man {
        /// Made if it is missing
        directory: PathBuf,
    },
    /// Play a candidate for another process of this program
    #[command(name = candidate::CHILD, hide = true)]
    CandidateProcess,
}

/// The command, with this process's arguments.
pub fn main() -> ExitCode {
    // A shell that completes asks this very command, and it answers and ends here.
    clap_complete::CompleteEnv::with_factory(Cli::command).var(completions::VARIABLE).complete();
    let cli = Cli::try_parse().unwrap_or_else(|error| with_tip(error).exit());
    terminal::set_up_diagnostics(cli.color);
    let terminal = Terminal::stdout(cli.color);
    if let Ok(address) = std::env::var("RAMP_PLAYGROUND") {
        rampcc_lab::report::html::playground_at(&address);
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let done = dispatch(cli.command, terminal, &mut out).and_then(|()| Ok(out.flush()?));
    // What is still in the buffer has been reported as unwritable already.
    let (_, _) = out.into_parts();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            let code = ExitCode::from(error.exit_code());
            if !error.is_said() {
                say!("{:?}", miette::Report::new(error));
            }
            code
        }
    }
}

/// An option that another command has: which, instead of how to pass its name as a value.
fn with_tip(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg).cloned() else {
        return error;
    };
    if error.kind() != ErrorKind::UnknownArgument || !option.starts_with("--") {
        return error;
    }
    let _ = error.remove(ContextKind::Suggested);
    let name = option.trim_start_matches("--");
    let has =
        |command: &&clap::Command| command.get_arguments().any(|argument| argument.get_long() == Some(name));
    let program = Cli::command();
    let commands: Vec<String> =
        (program.get_subcommands().filter(|command| !command.is_hide_set()).filter(has))
            .map(|command| format!("`ramp {}`", command.get_name()))
            .collect();
    if !commands.is_empty() {
        let tip = format!("an option of {}", commands.join(", "));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Whether a command line is understood: up to the scenarios and rows that it asks for, none of which is played. The error
/// is what a user would see.
pub fn understood<T: Into<OsString> + Clone>(words: impl IntoIterator<Item = T>) -> Result<(), String> {
    let cli = Cli::try_parse_from(words).map_err(|error| error.to_string())?;
    let asked = match &cli.command {
        Command::Compare(args) => args.asks_for(),
        Command::Run(args) => args.asks_for(),
        Command::Reproduce(args) => args.asks_for(),
        _ => Ok(()),
    };
    asked.map_err(|error| format!("{:?}", miette::Report::new(error)))
}

fn dispatch(command: Command, terminal: Terminal, out: &mut impl Write) -> Result {
    for backend in command.backends() {
        backend.prepare().map_err(|message| CliError::Kernel { message, help: None })?;
    }
    match command {
        Command::Compare(args) => compare::compare(&args, terminal, out),
        Command::Run(args) => run::run(&args, out),
        Command::League(args) => league::league(&args, terminal, out),
        Command::Gate(args) => gate::gate(&args, terminal, out),
        Command::Recommend(args) => recommend::recommend(&args, terminal, out),
        Command::Replay(args) => replay::replay(&args, terminal, out),
        Command::Report(args) => report::report(&args, terminal, out),
        Command::Reproduce(args) => reproduce::reproduce(&args, terminal, out),
        Command::List(args) => list::list(&args, terminal, out),
        Command::Explain(args) => explain::explain(&args, &topics::commands(&Cli::command()), terminal, out),
        Command::Host(command) => command.run(terminal, out),
        Command::Completions { shell } => completions::script(shell, out),
        Command::Man { directory } => manual::write(Cli::command(), &directory),
        Command::CandidateProcess => candidate::serve(),
    }
}

impl Command {
    /// What it plays on.
    fn backends(&self) -> Vec<&'static dyn Backend> {
        match self {
            Self::Compare(args) => args.backends().collect(),
            Self::Run(args) => vec![args.backend()],
            Self::League(args) => args.backends().collect(),
            Self::Reproduce(args) => vec![args.backend()],
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_of_another_command_is_told_so() {
        let told = |line: &str| with_tip(Cli::try_parse_from(line.split(' ')).unwrap_err()).to_string();
        assert!(
            told("ramp run --runs 3").contains("tip: an option of `ramp compare`"),
            "{}",
            told("ramp run --runs 3")
        );
        assert!(told("ramp run --sizes 3").contains("similar argument exists: '--size'"));
        assert!(!told("ramp run --potatoes 3").contains("as a value"));
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}

//! `ramp attach`: an algorithm for a live host.

use std::io::{self, BufRead, IsTerminal, Write};
use std::time::Duration;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rampcc::figures::counted;
use rampcc::{Algorithm, LINUX_LACKS, Traits};
use rampcc_host::{Change, HostError, Scope, privileges};
use rampcc_linux::{Guard, Options};
use rampcc_scenario::Arm;

use super::{HostArgs, caution, told, values};
use crate::completions;
use crate::error::{CliError, Result, nearest};
use crate::terminal::Terminal;

/// Attach a start-up algorithm to this host
///
/// New connections of the scope start with the algorithm and continue with the kernel's CUBIC; open connections stay
/// as they are. The attachment survives this command, until `ramp detach` or the next boot. ramp first records what it
/// replaces, so `ramp detach` restores it exactly, even if this command is killed half-way.
#[derive(Args, Debug)]
#[command(after_help = "\
Scopes:
  system                     the default of this network namespace (tcp_congestion_control)
  netns NAME                 the default of another one, as ip netns names it
  cgroup PATH                connections that a control group (v2) and those below it open or accept
  route PREFIX [metric N]    connections over a route of the main table (congctl)

Examples:
  ramp attach best                 asks first: it is for every new connection of this host
  ramp attach best --yes           does not ask
  ramp attach best --scope cgroup /sys/fs/cgroup/system.slice/nginx.service
  ramp attach best --scope route 203.0.113.0/24 --set algorithm.best.threshold=2MB/s
  ramp attach best --min-rtt 20ms --window-bound 4          within limits of the host's own

Needs CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON; `ramp doctor` says which are missing.")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct AttachArgs {
    /// Name of an algorithm (`ramp list algorithms`)
    #[arg(add = ArgValueCompleter::new(completions::algorithms))]
    algorithm: Option<String>,
    /// New connections to change: system, netns NAME, cgroup PATH, route PREFIX
    #[arg(long, num_args = 1..=5, value_names = ["KIND", "NAME"], default_value = "system")]
    scope: Vec<String>,
    /// Set a parameter, as in algorithm.best.threshold=2MB/s
    #[arg(long, value_name = "FIELD=VALUE")]
    set: Vec<String>,
    /// Leave connections whose handshake takes less than this to the kernel's CUBIC
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    min_rtt: Option<Duration>,
    /// Hold the window to the initial one plus at most N times the most that was in flight; slow start needs 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    window_bound: Option<u32>,
    /// Do not ask before changing every new connection of the host; required without a terminal
    #[arg(long, short)]
    yes: bool,
    /// Refuse if something else is attached to the scope, instead of replacing it
    #[arg(long)]
    no_replace: bool,
    /// Attach in the name of a service's unit, for `ramp detach --unit NAME`: one attachment, on whatever scope
    #[arg(long, value_name = "NAME", value_parser = super::unit_name)]
    unit: Option<String>,
    /// Show the full output of the kernel's verifier if it rejects the program
    #[arg(long)]
    verifier_log: bool,
    /// Print every step
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    host: HostArgs,
}

/// Runs the command.
pub(crate) fn attach(args: &AttachArgs, terminal: Terminal, out: &mut impl Write) -> Result {
    let (scope_words, names) = split(&args.scope);
    let names: Vec<&str> =
        args.algorithm.iter().map(String::as_str).chain(names.iter().map(String::as_str)).collect();
    let kind = args.scope.first().map_or("", String::as_str);
    if !args.scope.is_empty() && !Scope::KINDS.contains(&kind) {
        let near = nearest(kind, &Scope::KINDS, 1).join(", ");
        return Err(CliError::input_help(
            format!("there is no scope `{kind}`"),
            format!("did you mean `{near}`? --scope takes {}", Scope::SYNTAX),
        ));
    }
    let [name] = names.as_slice() else {
        let message = if names.is_empty() {
            "attach: which algorithm?".to_owned()
        } else {
            format!("attach takes one algorithm, not {}", names.join(" and "))
        };
        return Err(CliError::input_help(message, format!("known: {}", known().join(", "))));
    };
    let algorithm = algorithm(name)?;
    let scope = Scope::parse(scope_words).map_err(told)?;
    let options = Options { guard: guard(args)?, ..options(algorithm, &args.set)? };
    if !args.yes && whole_host(&scope) {
        agreed(&scope, algorithm)?;
    }
    let mut host = args.host.host();
    if let Some(unit) = &args.unit {
        host = host.for_unit(unit);
    }
    if args.verbose {
        host = host.on_step(|step| say!("- {step}"));
    }
    let attached = if args.no_replace {
        host.attach_only(&scope, algorithm, &options)
    } else {
        host.attach(&scope, algorithm, &options)
    };
    let attached = attached.map_err(|error| explained(error, args.verifier_log))?;
    // It is attached, whatever comes of this.
    let kept = privileges::keep_only(&[]).err();
    if let Some(recovered) = &attached.recovered {
        writeln!(out, "Undone first: {recovered}.")?;
    }
    let name = terminal.bold(&attached.name);
    let verb = match attached.change {
        Change::Made => Some("is attached to"),
        Change::Replaced => Some("takes over on"),
        Change::None => None,
    };
    if let Some(verb) = verb {
        let id = algorithm.id;
        writeln!(out, "{name} {verb} {scope}: new connections start with {id} and continue with CUBIC.")?;
        if matches!(scope, Scope::Cgroup(_)) {
            writeln!(out, "Applications that choose a congestion control themselves keep it.")?;
        } else {
            writeln!(out, "Before: {}. `ramp detach` puts that back.", attached.replaced)?;
        }
    } else {
        writeln!(out, "{name} is attached to {scope} already; nothing has changed.")?;
    }
    if let Some(caution) = caution(algorithm) {
        writeln!(out, "{caution}")?;
    }
    for note in &attached.notes {
        writeln!(out, "{note}")?;
    }
    if let Some(error) = kept {
        writeln!(out, "This command has kept its capabilities to its end: {error}.")?;
    }
    Ok(())
}

fn whole_host(scope: &Scope) -> bool {
    match scope {
        Scope::System => true,
        Scope::Route(prefix) => prefix.length == 0,
        Scope::Netns(_) | Scope::Cgroup(_) => false,
    }
}

/// Asks, if there is a terminal to ask at.
fn agreed(scope: &Scope, algorithm: &Algorithm) -> Result {
    let change = format!(
        "every new TCP connection of {scope} that does not choose its own would start with {}",
        algorithm.id
    );
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(CliError::input_help(
            format!("--yes is required without a terminal: {change}"),
            "or name a part of this host: --scope cgroup PATH, --scope route PREFIX",
        ));
    }
    if let Some(caution) = caution(algorithm) {
        say!("{caution}");
    }
    say!("{}{}.\n`ramp detach` takes it back. Continue? [y/N]", change[..1].to_uppercase(), &change[1..]);
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(CliError::Kernel { message: "not attached; nothing has changed".to_owned(), help: None }),
    }
}

/// The words that belong to a scope, and those after it: `--scope system best`.
fn split(words: &[String]) -> (&[String], &[String]) {
    let own = match words.first().map(String::as_str) {
        Some("netns" | "cgroup") => 2,
        Some("route") if words.get(2).is_some_and(|word| word == "metric") => 4,
        Some("route") => 2,
        _ => 1,
    };
    words.split_at(own.min(words.len()))
}

fn is_yardstick(algorithm: &Algorithm) -> bool {
    algorithm.traits.has(Traits::KNOWS_PATH)
}

fn known() -> Vec<&'static str> {
    rampcc::algorithms()
        .iter()
        .filter(|algorithm| !is_yardstick(algorithm) && algorithm.runs_without(LINUX_LACKS))
        .map(|algorithm| algorithm.id)
        .collect()
}

fn algorithm(name: &str) -> Result<&'static Algorithm> {
    match rampcc::algorithm(name) {
        Some(algorithm) if is_yardstick(algorithm) => Err(CliError::input_help(
            format!("`{name}` must know its path in advance, which is impossible on a live host"),
            format!("known: {}", known().join(", ")),
        )),
        Some(algorithm) => match algorithm.unmet(LINUX_LACKS).next() {
            Some(unmet) => Err(CliError::input_help(
                format!("`{name}` cannot run in the kernel: {}", unmet.reason),
                format!("known: {}", known().join(", ")),
            )),
            None => Ok(algorithm),
        },
        None => {
            let (near, known) = (nearest(name, &known(), 1).join(", "), known().join(", "));
            let help = format!("did you mean `{near}`? Known: {known}");
            Err(CliError::input_help(format!("there is no algorithm `{name}`"), help))
        }
    }
}

/// What the host allows the algorithm.
fn guard(args: &AttachArgs) -> Result<Guard> {
    let least = args.min_rtt.unwrap_or_default();
    let least_rtt_us = u32::try_from(least.as_micros()).map_err(|_| {
        CliError::input_help(
            format!("--min-rtt {} s: too long", least.as_secs()),
            "at most an hour: 20ms, 1s",
        )
    })?;
    Ok(Guard { least_rtt_us, window_bound: args.window_bound.unwrap_or(0) })
}

/// The kernel's defaults with `--set` on top.
fn options(algorithm: &'static Algorithm, set: &[String]) -> Result<Options> {
    let mut arm = Arm::parse(algorithm.id)?;
    for text in set {
        let parts = text.split_once('=').and_then(|(key, value)| {
            let (id, name) = key.trim().strip_prefix("algorithm.")?.split_once('.')?;
            Some((id.trim(), name.trim(), value.trim()))
        });
        let example = algorithm.parameters.first().map_or("NAME", |parameter| parameter.name);
        let help =
            format!("FIELD=VALUE, such as algorithm.{}.{example}=VALUE (ramp explain {0})", algorithm.id);
        let Some((id, name, value)) = parts else {
            return Err(CliError::input_help(format!("--set {text}: not a parameter of an algorithm"), help));
        };
        if id != algorithm.id {
            return Err(CliError::input_help(
                format!("--set {text}: `{id}` is not the algorithm to attach"),
                help,
            ));
        }
        arm = arm.with(name, value)?;
    }
    let mut options = Options::new(algorithm);
    for (name, value) in arm.parameters_of("an attachment")? {
        let index = algorithm.parameters.iter().position(|parameter| parameter.name == name);
        options.parameters[index.expect("the arm was made by the algorithm's table")] = *value;
    }
    Ok(options)
}

/// With the verifier's words, or how to get them.
fn explained(error: HostError, verifier_log: bool) -> CliError {
    let log = match &error {
        HostError::Load(load) => load.log().to_owned(),
        _ => String::new(),
    };
    let error = told(error);
    if log.is_empty() {
        return error;
    }
    if verifier_log {
        say!("{}", log.trim_end());
        return error;
    }
    match error {
        CliError::Kernel { message, help: None } => CliError::Kernel {
            message,
            help: Some(format!(
                "{} of the verifier's log: add --verifier-log",
                counted(log.lines().count(), "line")
            )),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn what_follows_a_scope_is_not_part_of_it() {
        for (text, own) in [
            ("system best", 1),
            ("netns blue best", 2),
            ("cgroup /a/b", 2),
            ("route default best", 2),
            ("route default metric 5 best", 4),
            ("route", 1),
        ] {
            let words = strings(text);
            assert_eq!(split(&words).0.len(), own, "{text}");
        }
    }

    #[test]
    fn settings_are_written_as_for_compare() {
        let best = algorithm("best").unwrap();
        let index = best.parameters.iter().position(|p| p.name == "threshold").unwrap();
        let set = options(best, &strings("algorithm.best.threshold=2MB/s")).unwrap();
        assert_eq!(set.parameters[index], 2_000_000);
        assert_eq!(options(best, &[]).unwrap().parameters, Options::new(best).parameters);
        for text in ["threshold=1", "algorithm.hystart.low_window=3", "algorithm.best.no=1", "algorithm.best"]
        {
            let error = options(best, &strings(text)).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{text}");
        }
    }

    #[test]
    fn only_what_is_for_the_whole_host_is_asked_for() {
        for (text, whole) in [
            ("system", true),
            ("route default", true),
            ("route ::/0 metric 5", true),
            ("route 10.0.0.0/8", false),
            ("netns blue", false),
            ("cgroup /a", false),
        ] {
            assert_eq!(whole_host(&Scope::parse(&strings(text)).unwrap()), whole, "{text}");
        }
    }

    #[test]
    fn what_knows_the_path_is_not_for_live_hosts() {
        assert!(algorithm("ideal").unwrap_err().to_string().contains("know its path"));
        let carried = rampcc::algorithms().iter().filter(|algorithm| algorithm.runs_without(LINUX_LACKS));
        assert!(known().len() + 1 == carried.count() && !known().contains(&"ideal"));
    }
}

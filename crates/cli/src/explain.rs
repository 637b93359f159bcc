//! `ramp explain`: documents of algorithms, scenarios and metrics.

use std::io::{self, Write};

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rampcc::{Algorithm, ExitReason, Parameter};
use rampcc_league::recommend;
use rampcc_scenario::Scenario;

use crate::columns::{COLUMNS, column};
use crate::completions;
use crate::document::write_document;
use crate::error::{CliError, Result, nearest};
use crate::glossary;
use crate::terminal::{Terminal, broken};
use crate::topics::{self, Topic};

/// Explain an algorithm, a scenario, a metric, a column, a field, a command or anything else with a name
///
/// For an algorithm: the idea and its source, how it decides, every parameter with its default, range and
/// source, and its known weaknesses.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ramp explain hystart          how HyStart decides, and its constants
  ramp explain geo-satellite    what the default path is
  ramp explain download_time    what a metric means
  ramp explain carries          a column of the table of `ramp compare`
  ramp explain ack-train        a reason to leave start-up
  ramp explain path.buffer      a field of a scenario file
  ramp explain trial            a command
  ramp explain bdp              a term")]
pub(crate) struct ExplainArgs {
    /// Name of an algorithm, scenario or metric, as `ramp list` gives it, of a column, of a reason to leave, of a stack of `ramp recommend`, of a command, a backend, a group, a parameter (`hystart.low_window`) or a field (`path.buffer`), or a term of the glossary; a path of the league (league:cable-07)
    #[arg(add = ArgValueCompleter::new(completions::topics))]
    topic: String,
}

/// Run the command; `commands` are those that a topic may be.
pub(crate) fn explain(
    args: &ExplainArgs,
    commands: &[Topic],
    terminal: Terminal,
    out: &mut impl Write,
) -> Result {
    let metrics = rampcc_lab::definitions();
    let algorithms = rampcc::algorithms().iter().map(|a| a.id);
    let reasons = ExitReason::ALL.into_iter().map(ExitReason::word);
    let columns = COLUMNS.iter().map(|(heading, _)| *heading);
    let known: Vec<&str> = algorithms
        .chain(Scenario::built_in_names())
        .chain(metrics.iter().map(|m| m.id))
        .chain(rampcc_reproduce::OWN.iter().map(|own| own.id))
        .chain(columns)
        .chain(reasons)
        .chain(recommend::Stack::names())
        .chain(glossary::terms().map(|(term, _)| term))
        .collect();
    let written = args.topic.replace(['-', ' '], "_");
    let same = |name: &&&str| {
        name.eq_ignore_ascii_case(&args.topic) || name.replace('-', "_").eq_ignore_ascii_case(&written)
    };
    let metric_called = || {
        let plain = |name: &str| name.to_lowercase().replace(['-', '_'], " ");
        Some(metrics.iter().find(|metric| plain(metric.name) == plain(&args.topic))?.id)
    };
    let named =
        known.iter().find(same).copied().or_else(|| Some(column(&args.topic)?.0)).or_else(metric_called);
    let Some(topic) = named else {
        if let Some(path) = rampcc_league::path(&args.topic, &[]) {
            return Ok(explain_scenario(&path?, terminal, out)?);
        }
        return explain_other(&args.topic, commands, &known, terminal, out);
    };
    if let Some(algorithm) = rampcc::algorithm(topic) {
        return Ok(explain_algorithm(algorithm, terminal, out)?);
    }
    if let Some(scenario) = Scenario::built_in(topic) {
        return Ok(explain_scenario(&scenario, terminal, out)?);
    }
    if let Some(metric) = metrics.iter().find(|m| m.id == topic) {
        writeln!(out, "{}  {}", terminal.bold(metric.id), terminal.faint(metric.unit))?;
        writeln!(out, "{}", textwrap::fill(metric.meaning, broken(terminal.width)))?;
    }
    if let Some(own) = rampcc_reproduce::OWN.iter().find(|own| own.id == topic) {
        let of = format!("{}, in files of `ramp reproduce`", own.unit);
        writeln!(out, "{}  {}", terminal.bold(own.id), terminal.faint(of.trim_start_matches(", ")))?;
        writeln!(out, "{}", textwrap::fill(own.meaning, broken(terminal.width)))?;
    }
    if let Some((heading, meaning)) = column(topic) {
        writeln!(out, "{}  {}", terminal.bold(heading), terminal.faint("column of a comparison's table"))?;
        writeln!(out, "{}", textwrap::fill(&plain(meaning), broken(terminal.width)))?;
    }
    if recommend::Stack::names().any(|name| name == topic) {
        return explain_stack(topic, terminal, out);
    }
    if let Some(reason) = ExitReason::ALL.into_iter().find(|reason| reason.word() == topic) {
        explain_reason(reason, terminal, out)?;
    }
    if let Some((term, meaning)) = glossary::terms().find(|(term, _)| *term == topic) {
        writeln!(out, "{}  {}", terminal.bold(term), terminal.faint("term"))?;
        writeln!(out, "{}", textwrap::fill(&plain(&meaning), broken(terminal.width)))?;
    }
    // What the tables of other commands call so.
    let headings = topics::headings();
    let same = |heading: &&Topic| heading.name.eq_ignore_ascii_case(topic);
    Ok(headings.iter().filter(same).try_for_each(|heading| explain_topic(heading, terminal, out))?)
}

fn explain_topic(topic: &Topic, terminal: Terminal, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{}  {}", terminal.bold(&topic.name), terminal.faint(&plain(&topic.kind)))?;
    writeln!(out, "{}", textwrap::fill(&plain(&topic.meaning), broken(terminal.width)))
}

/// What has a name elsewhere: a command, a backend, a field.
fn explain_other(
    name: &str,
    commands: &[Topic],
    known: &[&str],
    terminal: Terminal,
    out: &mut impl Write,
) -> Result {
    let found = topics::called(name, commands);
    if found.is_empty() {
        let topics = [commands, &topics::all()].concat();
        let mut all: Vec<&str> =
            known.iter().copied().chain(topics.iter().map(|t| t.name.as_str())).collect();
        all.sort_unstable();
        all.dedup();
        let help = format!("similar names: {}; all names: ramp list", nearest(name, &all, 3).join(", "));
        return Err(CliError::input_help(format!("nothing is called `{name}`"), help));
    }
    Ok(found.iter().try_for_each(|topic| explain_topic(topic, terminal, out))?)
}

/// What a stack lets one set, how, and where that is said.
fn explain_stack(name: &str, terminal: Terminal, out: &mut impl Write) -> Result {
    let stack = recommend::Stack::open(name)?;
    writeln!(out, "{}  {}", terminal.bold(&stack.title), terminal.faint("stack of `ramp recommend`"))?;
    writeln!(out, "{}", textwrap::fill(stack.notes.trim(), broken(terminal.width)))?;
    let mut part = "";
    for offer in &stack.offers {
        if offer.part != part {
            part = offer.part;
            writeln!(out, "\n{}", terminal.bold(part))?;
        }
        let default = if offer.default { " (default)" } else { "" };
        writeln!(out, "  {}{default}", offer.name)?;
        for text in [format!("set: {}", offer.set), format!("source: {}", offer.source)] {
            let options = broken(terminal.width).initial_indent("      ").subsequent_indent("      ");
            writeln!(out, "{}", textwrap::fill(&text, options))?;
        }
    }
    Ok(())
}

fn explain_reason(reason: ExitReason, terminal: Terminal, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}  {}", terminal.bold(reason.word()), terminal.faint("reason to leave start-up"))?;
    let kind =
        if reason.is_estimate() { "an estimate and its error" } else { "what was measured, and its bound" };
    let unit = match reason.unit() {
        "" => String::new(),
        unit => format!(" Evidence and limit, {kind}, are in {unit}."),
    };
    let text = match reason {
        ExitReason::None => "Start-up lasted until the download was finished, or until the run was cut off: *not finished* tells the two \
                             apart."
            .to_owned(),
        _ => format!("Start-up ended because {}.{unit}", reason.clause()),
    };
    writeln!(out, "{}", textwrap::fill(&text, broken(terminal.width)))?;
    let rows = rampcc::algorithms().iter().filter(|row| row.own_exits().any(|own| own == reason));
    let rows: Vec<_> = rows.map(|row| row.id).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let text = format!("Algorithms with a rule for it: {}.", rows.join(", "));
    writeln!(out, "{}", textwrap::fill(&text, broken(terminal.width)))
}

/// Markdown without its marks.
fn plain(text: &str) -> String {
    let mut plain = text.replace('`', "");
    while let Some((before, rest)) = plain.split_once('[') {
        let Some((words, rest)) = rest.split_once("](") else { break };
        let after = rest.split_once(')').map_or("", |(_, after)| after);
        plain = format!("{before}{words}{after}");
    }
    plain
}

fn explain_scenario(scenario: &Scenario, terminal: Terminal, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", terminal.bold(&scenario.name))?;
    if !scenario.description.is_empty() {
        writeln!(out, "{}", textwrap::fill(&scenario.description, broken(terminal.width)))?;
    }
    writeln!(out)?;
    let flow = scenario.flows.iter().position(|f| f.under_test).unwrap_or(0);
    let facts = scenario.facts(flow);
    writeln!(out, "  base RTT    {}", facts.base_rtt)?;
    match facts.capacity.as_slice() {
        [(_, rate)] => writeln!(out, "  payload     {rate}")?,
        _ => writeln!(out, "  payload     varies")?,
    }
    writeln!(out, "  BDP         {}", megabytes(facts.bdp_bytes))?;
    match facts.buffer_bytes {
        u64::MAX => writeln!(out, "  buffer      unlimited")?,
        bytes => {
            let share = bytes as f64 / facts.bdp_bytes.max(1) as f64;
            writeln!(out, "  buffer      {}, {share:.2} BDP", megabytes(bytes))?;
        }
    }
    writeln!(out, "  runs        {}\n", scenario.runs)?;
    writeln!(out, "{}\n{}", terminal.bold("File"), scenario.text.trim_end())
}

fn megabytes(bytes: u64) -> String {
    match bytes {
        u64::MAX => "unlimited".to_owned(),
        0..1_000_000 => format!("{:.1} kB of payload", bytes as f64 / 1e3),
        _ => format!("{:.2} MB of payload", bytes as f64 / 1e6),
    }
}

fn explain_algorithm<W: Write>(algorithm: &Algorithm, terminal: Terminal, out: &mut W) -> io::Result<()> {
    writeln!(out, "{}  {}", terminal.bold(algorithm.id), terminal.faint(algorithm.source))?;
    writeln!(out, "{}\n", textwrap::fill(algorithm.idea, broken(terminal.width)))?;
    let document = algorithm.document();
    // What stands above the first section has just been said.
    let sections = document.find("\n## ").map_or("## Parameters\n", |start| &document[start + 1..]);
    write_document(sections, terminal, out, &mut |heading, out| {
        let parameters = heading == "Parameters";
        if parameters {
            write_parameters(algorithm, terminal, out)?;
        }
        Ok(parameters)
    })?;
    let own: Vec<_> = algorithm.own_exits().map(ExitReason::word).collect();
    if !own.is_empty() {
        writeln!(out, "\nExits of its own: {}", own.join(", "))?;
    }
    writeln!(out, "\nState: {} bytes a connection", algorithm.state_bytes())
}

fn write_parameters(algorithm: &Algorithm, terminal: Terminal, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", terminal.bold("Parameters"))?;
    let Some(first) = algorithm.parameters.first() else { return writeln!(out, "  none") };
    for parameter in &algorithm.parameters {
        write_parameter(parameter, terminal, out)?;
        for other in algorithm.overrides(parameter.name) {
            let text = format!("{} on {}: {}", other.value, other.environment, other.reason);
            let options = broken(terminal.width).initial_indent("      ").subsequent_indent("      ");
            writeln!(out, "{}", textwrap::fill(&text, options))?;
        }
    }
    let example = format!("algorithm.{}.{}", algorithm.id, first.name);
    writeln!(out, "\n  to set:   --set {example}=VALUE")?;
    writeln!(out, "  to sweep: --sweep {example}=A,B")?;
    writeln!(out, "  in files: [algorithm.{}]", algorithm.id)
}

fn write_parameter(parameter: &Parameter, terminal: Terminal, out: &mut impl Write) -> io::Result<()> {
    let (default, range, unit) = parameter_range(parameter);
    let value = match unit.as_str() {
        "choice" | "count" => default,
        unit => format!("{default} {unit}"),
    };
    writeln!(out, "  {} = {value}", terminal.bold(parameter.name))?;
    let detail = format!("{} ({range}; {})", parameter.meaning, parameter.source);
    let options = broken(terminal.width).initial_indent("      ").subsequent_indent("      ");
    writeln!(out, "{}", textwrap::fill(&detail, options))
}

/// Default, range and unit of a parameter as people write them: choices by their names.
pub(crate) fn parameter_range(p: &Parameter) -> (String, String, String) {
    if let Some(choices) = p.unit.strip_prefix("choice:") {
        let choices: Vec<&str> = choices.split('|').collect();
        let default =
            usize::try_from(p.default).ok().and_then(|v| choices.get(v)).copied().unwrap_or_default();
        return (default.to_owned(), choices.join(", "), "choice".to_owned());
    }
    let value = |v: u64| if v == u64::MAX { "none".to_owned() } else { v.to_string() };
    (value(p.default), format!("{} to {}", value(p.minimum), value(p.maximum)), p.unit.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Terminal = Terminal { width: 40, colour: false };

    #[test]
    fn what_a_table_prints_is_a_topic() {
        let trial = clap::Command::new("trial").about("Try an algorithm");
        let commands = topics::commands(&clap::Command::new("ramp").subcommand(trial));
        let said = |topic: &str| {
            let mut out = Vec::new();
            explain(&ExplainArgs { topic: topic.to_owned() }, &commands, PLAIN, &mut out).unwrap();
            String::from_utf8(out).unwrap().replace('\n', " ")
        };
        assert!(said("carries").contains("share of the neighbouring paths"));
        assert!(!said("carries").contains("]("));
        assert!(said("never-left").contains("cut off"));
        for reason in ExitReason::ALL.into_iter().filter(|reason| *reason != ExitReason::None) {
            assert!(said(reason.word()).contains(reason.clause()), "{}", reason.word());
        }
        assert_eq!(said("download-time"), said("download_time"));
        assert!(said("trial").contains("command") && said("path.buffer").contains("Default: "));
        assert!(said("× ideal").contains("geometric mean"));
        for (name, meaning) in [
            ("harm to others' goodput", "yardstick"),
            ("Start-up utilisation", "what the path could have carried"),
            ("tied", "contains 0"),
            ("gentlest", "shortest queue"),
            ("the same in every run", "sign test"),
            ("the same runs", "what the leader does"),
            ("90 % interval", "one-sided"),
            ("era", "RFC 6675"),
            ("ns2", "ns-2.35"),
        ] {
            assert!(said(name).contains(meaning), "{name}: {}", said(name));
        }
        for stack in recommend::Stack::names() {
            assert!(said(stack).contains("(default)") && said(stack).contains("source: "), "{stack}");
        }
    }

    #[test]
    fn choices_have_names() {
        let parameter = Parameter {
            name: "version",
            unit: "choice:old|new",
            source: "here",
            meaning: "which",
            default: 1,
            minimum: 0,
            maximum: 1,
        };
        let mut out = Vec::new();
        write_parameter(&parameter, PLAIN, &mut out).unwrap();
        let expected = "  version = new\n      which (old, new; here)\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}

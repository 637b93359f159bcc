//! `ramp explain`: what an algorithm does and why, what a scenario is, what a metric means.

use std::io::Write;

use clap::Args;
use ramp::{Algorithm, Parameter};
use ramp_scenario::Scenario;

use crate::error::{CliError, suggestion};
use crate::terminal::Terminal;

include!(concat!(env!("OUT_DIR"), "/documents.rs"));

/// Explain an algorithm, a scenario or a metric
///
/// For an algorithm: the idea and where it comes from, how it decides, every parameter with its default, range and
/// source, and what it is known to get wrong.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ramp explain hystart          how HyStart decides, and its constants
  ramp explain geo-satellite    what the default path is
  ramp explain download_time    what a metric means")]
pub(crate) struct ExplainArgs {
    /// Name of an algorithm, scenario or metric, as `ramp list` gives it
    topic: String,
}

/// Run the command.
pub(crate) fn explain(args: &ExplainArgs, terminal: Terminal, out: &mut impl Write) -> Result<(), CliError> {
    let topic = args.topic.as_str();
    if let Some(algorithm) = ramp::algorithm(topic) {
        return Ok(explain_algorithm(algorithm, terminal, out)?);
    }
    if let Some(scenario) = Scenario::built_in(topic) {
        return Ok(explain_scenario(&scenario, terminal, out)?);
    }
    let metrics = ramp_lab::definitions();
    if let Some(metric) = metrics.iter().find(|m| m.id == topic) {
        writeln!(out, "{}  {}", terminal.bold(metric.id), terminal.faint(metric.unit))?;
        writeln!(out, "{}", textwrap::fill(metric.meaning, terminal.width))?;
        return Ok(());
    }
    let algorithms = ramp::algorithms().iter().map(|a| a.id);
    let known: Vec<&str> =
        algorithms.chain(Scenario::built_in_names()).chain(metrics.iter().map(|m| m.id)).collect();
    Err(CliError::input_help(format!("there is nothing called `{topic}`"), suggestion(topic, &known)))
}

fn explain_scenario(scenario: &Scenario, terminal: Terminal, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{}", terminal.bold(&scenario.name))?;
    writeln!(out, "{}\n", textwrap::fill(&scenario.description, terminal.width))?;
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

fn explain_algorithm(algorithm: &Algorithm, terminal: Terminal, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{}  {}", terminal.bold(algorithm.id), terminal.faint(algorithm.source))?;
    writeln!(out, "{}", textwrap::fill(algorithm.idea, terminal.width))?;
    if !algorithm.parameters.is_empty() {
        writeln!(out, "\n{}", terminal.bold("Parameters"))?;
        for parameter in &algorithm.parameters {
            write_parameter(parameter, terminal, out)?;
        }
        let example = format!("algorithm.{}.{}", algorithm.id, algorithm.parameters[0].name);
        writeln!(out, "\n  Set one with --set {example}=VALUE, sweep it with --sweep {example}=A,B,")?;
        writeln!(out, "  or write it under [algorithm.{}] in a scenario.", algorithm.id)?;
    }
    writeln!(out, "\nState: {} bytes a connection", algorithm.state_bytes())?;
    if let Some((_, document)) = DOCUMENTS.iter().find(|(id, _)| *id == algorithm.id) {
        writeln!(out)?;
        write_document(document, terminal, out)?;
    }
    Ok(())
}

fn write_parameter(parameter: &Parameter, terminal: Terminal, out: &mut impl Write) -> std::io::Result<()> {
    let (default, range, unit) = parameter_range(parameter);
    let value = match unit.as_str() {
        "choice" | "count" => default,
        unit => format!("{default} {unit}"),
    };
    let detail = terminal.faint(&format!("({range}; {})", parameter.source));
    writeln!(out, "  {} = {value}  {detail}", terminal.bold(parameter.name))?;
    let options = textwrap::Options::new(terminal.width).initial_indent("      ").subsequent_indent("      ");
    writeln!(out, "{}", textwrap::fill(parameter.meaning, options))
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

/// Markdown as a terminal shows it: headings bold, prose filled, tables and code as they are.
fn write_document(document: &str, terminal: Terminal, out: &mut impl Write) -> std::io::Result<()> {
    let mut paragraph = String::new();
    let mut code = false;
    for line in document.lines().chain([""]) {
        let fence = line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        let is_heading = !code && heading.len() < line.len() && heading.starts_with(' ');
        let as_it_is = code || fence || line.starts_with('|') || line.starts_with("    ");
        let starts_item = line.trim_start().starts_with("- ") || line.trim_start().starts_with("* ");
        if (as_it_is || is_heading || starts_item || line.is_empty()) && !paragraph.is_empty() {
            write_filled(&paragraph, terminal, out)?;
            paragraph.clear();
        }
        if fence {
            code = !code;
        } else if is_heading {
            writeln!(out, "{}", terminal.bold(heading.trim()))?;
        } else if as_it_is || line.is_empty() {
            writeln!(out, "{line}")?;
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(if paragraph.is_empty() { line } else { line.trim_start() });
        }
    }
    Ok(())
}

fn write_filled(paragraph: &str, terminal: Terminal, out: &mut impl Write) -> std::io::Result<()> {
    let text = paragraph.trim_start();
    let indent = " ".repeat(paragraph.len() - text.len());
    let hanging =
        if text.starts_with("- ") || text.starts_with("* ") { format!("{indent}  ") } else { indent.clone() };
    let options = textwrap::Options::new(terminal.width).initial_indent(&indent).subsequent_indent(&hanging);
    writeln!(out, "{}", textwrap::fill(text, options))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Terminal = Terminal { width: 20, colour: false };

    #[test]
    fn documents_are_filled_but_tables_and_code_are_not() {
        let document = "# Title\n\nSome words that\ngo on and on.\n- an item that is long\n\n| a | table stays as it is |\n\n```c\nint  code;\n```\n";
        let mut out = Vec::new();
        write_document(document, PLAIN, &mut out).unwrap();
        let expected = "Title\n\nSome words that go\non and on.\n- an item that is\n  long\n\n| a | table stays as it is |\n\nint  code;\n\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
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
        let expected = "  version = new  (old, new; here)\n      which\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}

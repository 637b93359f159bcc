//! `ramp run`: one run, every sample and event of it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use ramp_lab::{Context, Meter, RunRecord, explain_exit};
use ramp_scenario::Arm;
use ramp_sim::{SimulationError, simulate};
use ramp_trace::{Both, FlowEvent, FlowSample, Format, LinkSample, Observer, TraceError, Writer};

use crate::error::CliError;
use crate::play::{Run, context, digest};
use crate::progress;
use crate::provenance;
use crate::scenario_args::ScenarioArgs;
use crate::store::write_whole;

/// Play one run and write every sample and event of it
///
/// One line per ACK of a flow under test, per packet that reaches the bottleneck, and per event. Without --samples
/// they go to standard output; the summary always goes to standard error.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ramp run geo-satellite --algorithm best --samples best.csv
  ramp run --rate 100mbit --rtt 50ms --samples run.jsonl
  ramp run cable --algorithm hystart:low_window=64 | grep -v '^#' | head")]
pub(crate) struct RunArgs {
    /// What steers the flows under test: [LABEL=]ALGORITHM[:PARAMETER=VALUE,...]
    #[arg(long, short, value_name = "A", default_value = "hystart")]
    algorithm: String,
    /// For everything random; without it, the scenario's first
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Where samples go: a file that ends in .csv or .jsonl
    #[arg(long, short, value_name = "FILE")]
    samples: Option<PathBuf>,
    /// JSON lines instead of CSV on standard output
    #[arg(long, conflicts_with = "samples")]
    json: bool,
    #[command(flatten)]
    scenario: ScenarioArgs,
}

/// Run the command.
pub(crate) fn run(args: &RunArgs, out: &mut impl Write) -> Result<(), CliError> {
    let format = match &args.samples {
        Some(path) => format_of(path)?,
        None if args.json => Format::JsonLines,
        None => Format::Csv,
    };
    let scenario = args.scenario.scenario(&[])?;
    let arm = Arm::parse(&args.algorithm)?;
    let digest = digest(&scenario);
    let seed = args.seed.unwrap_or(scenario.seed);
    let run =
        Run { scenario: &scenario, digest: &digest, arm: &arm, seed, extra_startup_rounds: 0, curves: false };
    let interrupted = progress::interruption();
    let record = match &args.samples {
        Some(path) => {
            let mut record = Err(CliError::Interrupted);
            let written = write_whole(path, |file| {
                record = play(&run, file, format, &interrupted);
                // A file that is not complete is not kept.
                if record.is_ok() { Ok(()) } else { Err(io::Error::other("the run did not end")) }
            });
            let record = record.map_err(|error| match error {
                CliError::Output(cause) => CliError::file("write", path)(cause),
                other => other,
            })?;
            written?;
            record
        }
        None => play(&run, out, format, &interrupted)?,
    };
    summarise(&record, &run, args.samples.as_deref());
    Ok(())
}

fn format_of(path: &Path) -> Result<Format, CliError> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("csv") => Ok(Format::Csv),
        Some("jsonl" | "ndjson") => Ok(Format::JsonLines),
        _ => Err(CliError::input_help(
            format!("--samples {}: the name does not tell the format", path.display()),
            "end it in .csv or .jsonl",
        )),
    }
}

fn play<W: Write>(
    run: &Run<'_>,
    out: W,
    format: Format,
    interrupted: &AtomicBool,
) -> Result<(RunRecord, Context), CliError> {
    let scenario = run.scenario();
    let context = context(&scenario);
    let provenance = run.provenance(&provenance::command());
    let writer = Writer::new(out, format, &provenance).map_err(output)?;
    let mut observer = Both(Meter::new(&context), StopOnFailure { writer, stop: interrupted });
    let outcome = simulate(&scenario, run.seed, &mut observer, interrupted);
    let Both(meter, StopOnFailure { writer, .. }) = observer;
    writer.finish().map_err(output)?;
    let end = match outcome {
        Ok(outcome) => outcome.end,
        Err(SimulationError::Interrupted { at }) => {
            eprintln!("interrupted at {at} of simulated time");
            return Err(CliError::Interrupted);
        }
        Err(cause) => return Err(CliError::Simulation { run: run.to_string(), cause }),
    };
    let found = meter.finish(end);
    let record = RunRecord {
        provenance,
        extra_startup_rounds: 0,
        metrics: found.metrics,
        exit: found.exit,
        downloads: found.downloads,
        series: None,
    };
    Ok((record, context))
}

fn output(error: TraceError) -> CliError {
    match error {
        TraceError::Io(error) => CliError::Output(error),
        other => CliError::Output(io::Error::other(other)),
    }
}

/// Ends a run whose samples nobody can take any more, as after `| head`.
struct StopOnFailure<'a, W: Write> {
    writer: Writer<W>,
    stop: &'a AtomicBool,
}

impl<W: Write> StopOnFailure<'_, W> {
    fn check(&self) {
        if self.writer.failed() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl<W: Write> Observer for StopOnFailure<'_, W> {
    fn on_flow(&mut self, sample: &FlowSample) {
        self.writer.on_flow(sample);
        self.check();
    }
    fn on_link(&mut self, sample: &LinkSample) {
        self.writer.on_link(sample);
        self.check();
    }
    fn on_event(&mut self, event: &FlowEvent) {
        self.writer.on_event(event);
        self.check();
    }
}

fn summarise((record, context): &(RunRecord, Context), run: &Run<'_>, samples: Option<&Path>) {
    eprintln!("{run} on {}: {}", record.provenance.scenario, explain_exit(record, context, None));
    for definition in ramp_lab::definitions() {
        if let Some(value) = record.metric(definition.id) {
            eprintln!("  {:28} {:>12} {}", definition.name, significant(value), definition.unit);
        }
    }
    if let Some(path) = samples {
        eprintln!("samples: {}", path.display());
    }
}

/// Four digits that say something; counts whole.
fn significant(value: f64) -> String {
    if value.fract().abs() < 1e-9 {
        return format!("{value:.0}");
    }
    let decimals = (0..9).find(|d| value.abs() * 10f64.powi(*d) >= 1000.0).unwrap_or(9);
    format!("{value:.*}", usize::try_from(decimals).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_are_shown() {
        let shown = [0.0, 3.0, 12345.678, 5.3512, 0.001_234_56].map(significant);
        assert_eq!(shown, ["0", "3", "12346", "5.351", "0.001235"]);
    }
}

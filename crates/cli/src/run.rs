//! `ramp run`: one run with all its samples and events.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rampcc_backend::{Backend, BackendError, Clock};
use rampcc_experiment::{Row, Run, check, digest, playable, write_whole};
use rampcc_lab::report::quantity;
use rampcc_lab::{Emulation, RunRecord, explain_exit};
use rampcc_trace::{FlowEvent, FlowSample, Format, LinkSample, Observer, TraceError, Writer};

use crate::backends::{self, On};
use crate::completions;
use crate::error::CliError;
use crate::progress;
use crate::provenance;
use crate::scenario_args::ScenarioArgs;

/// Play one run and write all its samples and events
///
/// One line per ACK of a flow under test, per packet that reaches the bottleneck, and per event. Without --samples
/// they go to standard output; the summary always goes to standard error.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ramp run geo-satellite --algorithm best --samples best.csv
  ramp run --rate 100mbit --rtt 50ms --samples run.jsonl
  ramp run cable --algorithm hystart:low_window=64 | grep -v '^#' | head
  ramp run --on linux --rate 100mbit --rtt 40ms --size 10MB --algorithm cubic --samples cubic.csv")]
pub(crate) struct RunArgs {
    /// Backend: sim or linux
    #[arg(long, value_parser = backends::by_name(), value_name = "BACKEND", default_value = "sim")]
    on: On,
    /// Algorithm of the flows under test: [LABEL=]ALGORITHM[:PARAMETER=VALUE,...]; with --on linux also
    /// `cubic`, `cubic_no_hystart`, `bbr` and `reno`, the kernel's own
    #[arg(long, short, value_name = "A", default_value = rampcc::of_cubic().id, add = ArgValueCompleter::new(completions::rows))]
    algorithm: String,
    /// Seed of everything random [default: the scenario's first]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    seed: Option<u64>,
    /// File for the samples; its name ends in .csv or .jsonl
    #[arg(long, short, value_name = "FILE")]
    samples: Option<PathBuf>,
    /// Write JSON lines instead of CSV to standard output
    #[arg(long, conflicts_with = "samples")]
    json: bool,
    #[command(flatten)]
    scenario: ScenarioArgs,
}

impl RunArgs {
    /// What it plays on.
    pub(crate) fn backend(&self) -> &'static dyn Backend {
        self.on.0
    }

    /// Fails where it does not say what to play.
    pub(crate) fn asks_for(&self) -> Result<(), CliError> {
        self.scenario.scenario(&[])?;
        row(self).map(|_| ())
    }
}

/// Run the command.
pub(crate) fn run(args: &RunArgs, out: &mut impl Write) -> Result<(), CliError> {
    let format = match &args.samples {
        Some(path) => format_of(path)?,
        None if args.json => Format::JsonLines,
        None => Format::Csv,
    };
    let scenario = args.scenario.scenario(&[])?;
    let row = row(args)?;
    check(args.backend(), &scenario, slice::from_ref(&row))?;
    let digest = digest(&scenario);
    let seed = args.seed.unwrap_or(scenario.seed);
    let steering = row.steering(&scenario);
    let run = Run {
        scenario: &scenario,
        digest: &digest,
        row: &row,
        steering: &steering,
        backend: args.backend(),
        seed,
        extra_startup_rounds: 0,
        curves: false,
    };
    let interrupted = progress::interruption();
    let record = match &args.samples {
        Some(path) => {
            let mut played = None;
            let written = write_whole(path, |file| {
                let result = play(&run, file, format, &interrupted);
                // A file that is not complete is not kept.
                let complete = result.is_ok();
                played = Some(result);
                if complete { Ok(()) } else { Err(io::Error::other("the run did not end")) }
            });
            match (played, written) {
                (Some(Err(CliError::Output(cause))), _) => return Err(CliError::file("write", path)(cause)),
                (Some(Err(error)), _) => return Err(error),
                (_, Err(error)) => return Err(error.into()),
                (Some(Ok(record)), Ok(())) => record,
                (None, Ok(())) => unreachable!("a file is written by playing"),
            }
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
            format!("--samples {}: cannot infer the format", path.display()),
            "end the name in .csv or .jsonl",
        )),
    }
}

fn play<W: Write>(
    run: &Run<'_>,
    out: W,
    format: Format,
    interrupted: &AtomicBool,
) -> Result<RunRecord, CliError> {
    let command = provenance::command();
    let writer = Writer::new(out, format, &run.provenance(&command)).map_err(output)?;
    let mut observer = StopOnFailure { writer, stop: interrupted };
    let played = run.watch(&command, &mut observer, interrupted);
    // First: a run whose samples cannot be written is stopped as by Ctrl-C.
    observer.writer.finish().map_err(output)?;
    played.map_err(|error| match error {
        BackendError::Interrupted { at } => {
            match run.backend.clock() {
                Clock::Virtual => say!("interrupted at {at} of simulated time"),
                Clock::Real => say!("interrupted after {at}"),
            }
            CliError::Interrupted
        }
        BackendError::Refused(reason) => CliError::Refused { refused: vec![format!("{run}: {reason}")] },
        BackendError::Failed(cause) => CliError::Run { run: run.to_string(), cause },
    })
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

fn summarise(record: &RunRecord, run: &Run<'_>, samples: Option<&Path>) {
    say!("{run} on {}: {}", record.provenance.scenario, explain_exit(record, &run.context(), None));
    for definition in rampcc_lab::definitions() {
        if let Some(value) = record.metric(definition.id) {
            say!("  {:28} {:>16}", definition.name, quantity(value, definition.unit));
        }
    }
    if let Some(emulation) = &record.emulation {
        say_emulation(emulation);
    }
    if let Some(departure) = run.row.departures(run.scenario) {
        say!("{departure}");
    }
    if let Some(path) = samples {
        say!("samples: {}", path.display());
    }
}

/// How true the path was, and with which sockets.
fn say_emulation(emulation: &Emulation) {
    let verdict = match emulation.marked.as_slice() {
        [] => "ok".to_owned(),
        reasons => format!("marked: {}", reasons.join("; ")),
    };
    let priority = if emulation.realtime { "real-time" } else { "normal" };
    say!("emulation on {}: {verdict}", emulation.kernel);
    say!(
        "  packets late by [us]: median {:.1}, 99 % {:.1}, most {:.1}; {:.0} tolerated; {} packets, {priority} priority, \
         {:.0} % of a processor, attempt {}",
        emulation.lateness_median_us,
        emulation.lateness_p99_us,
        emulation.lateness_max_us,
        emulation.tolerated_us,
        emulation.packets,
        emulation.cpu_share * 100.0,
        emulation.attempts,
    );
    say!("  samples: {}, {} lost", emulation.samples, emulation.samples_lost);
    say!("  {}", emulation.sockets);
}

/// The one row of a run.
fn row(args: &RunArgs) -> Result<Row, CliError> {
    let row = Row::parse(&args.algorithm, backends::ALL)?;
    let (mut rows, _) = playable(slice::from_ref(&row), args.backend(), (true, true))?;
    Ok(rows.pop().unwrap_or(row))
}

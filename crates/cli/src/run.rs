//! `ramp run`: one run with all its samples and events.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rampcc_backend::{Backend, BackendError, Clock};
use rampcc_experiment::{Asked, Refused, Row, Run, check, digest, playable, write_whole};
use rampcc_lab::report::quantity;
use rampcc_lab::{Emulation, RunRecord, explain_exit};
use rampcc_quic_sim::FlowQlog;
use rampcc_trace::{
    DecisionWriter, FlowDecision, FlowEvent, FlowSample, Format, LinkSample, Observer, TraceError, Writer,
};

use crate::backends::{self, On};
use crate::candidate;
use crate::completions;
use crate::error::{CliError, Result};
use crate::progress;
use crate::provenance;
use crate::scenario_args::ScenarioArgs;

/// Play one run and write all its samples and events
///
/// One line per ACK of a flow under test, per packet that reaches the bottleneck, and per event. Without --samples,
/// --decisions and --qlog they go to standard output, unless that is a terminal and --json is not given; the summary always goes to
/// standard error.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ramp run geo-satellite --algorithm best --samples best.csv
  ramp run --rate 100mbit --rtt 50ms --samples run.jsonl
  ramp run cable --algorithm hystart:low_window=64 | grep -v '^#' | head
  ramp run geo-satellite --algorithm best --decisions best-decisions.csv
  ramp run geo-satellite --candidate my_start.h --samples mine.csv
  ramp run --on linux --rate 100mbit --rtt 40ms --size 10MB --algorithm cubic --samples cubic.csv
  ramp run --on quic --rate 100mbit --rtt 40ms --size 10MB --algorithm hystartpp --qlog run.sqlog")]
pub(crate) struct RunArgs {
    /// Backend: sim, quic, linux and others
    #[arg(long, value_parser = backends::by_name(), value_name = "BACKEND", default_value = "sim")]
    on: On,
    /// Algorithm of the flows under test: [LABEL=]ALGORITHM[:PARAMETER=VALUE,...]; with --on linux also
    /// `cubic`, `cubic_no_hystart`, `bbr` and `reno`, the kernel's own
    #[arg(long, short, value_name = "A", default_value = rampcc::of_cubic().id, add = ArgValueCompleter::new(completions::rows))]
    algorithm: String,
    /// A C header that defines the algorithm, with parameters after a colon: FILE.h[:NAME=VALUE,...]
    ///
    /// It is compiled with $CC, or cc. docs/guide/league.md says what it has to define.
    #[arg(long, value_name = "FILE.h", conflicts_with = "algorithm")]
    candidate: Option<String>,
    /// Seed of everything random [default: the scenario's first]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    seed: Option<u64>,
    /// File for the samples; its name ends in .csv or .jsonl
    #[arg(long, short, value_name = "FILE")]
    samples: Option<PathBuf>,
    /// File for every call of the start-up algorithm, for `ramp replay`; its name ends in .csv or .jsonl
    #[arg(long, value_name = "FILE")]
    decisions: Option<PathBuf>,
    /// File for the qlog of the first flow under test, with its exit; of a QUIC backend
    #[arg(long, value_name = "FILE")]
    qlog: Option<PathBuf>,
    /// Write JSON lines instead of CSV to standard output
    #[arg(long, conflicts_with_all = ["samples", "decisions", "qlog"])]
    json: bool,
    #[command(flatten)]
    scenario: ScenarioArgs,
}

impl RunArgs {
    /// What it plays on.
    pub(crate) fn backend(&self) -> &'static dyn Backend {
        self.on.0
    }

    /// Files that it asks for, by their options.
    fn files(&self) -> Vec<(&'static str, &Path)> {
        let all = [("--samples", &self.samples), ("--decisions", &self.decisions), ("--qlog", &self.qlog)];
        all.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?))).collect()
    }

    /// Fails where it does not say what to play.
    pub(crate) fn asks_for(&self) -> Result {
        self.scenario.scenario(&[])?;
        row(self).map(|_| ())
    }
}

pub(crate) fn run(args: &RunArgs, out: &mut impl Write) -> Result {
    for (option, path) in [("--samples", &args.samples), ("--decisions", &args.decisions)] {
        path.as_ref().map(|path| format_of(option, path)).transpose()?;
    }
    let files = args.files();
    for (at, (option, path)) in files.iter().enumerate() {
        if let Some((other, _)) = files[..at].iter().find(|(_, named)| named == path) {
            return Err(CliError::input(format!("{other} and {option} name the same file")));
        }
    }
    if args.qlog.is_some() && !backends::is_quic(args.backend()) {
        return Err(CliError::input_help(
            format!("--qlog: {} has no QUIC connection to log", args.backend().title()),
            "add --on quic, --on quinn or --on quic-real",
        ));
    }
    let scenario = args.scenario.scenario(&[])?;
    scenario.check_uncertain()?;
    let row = row(args)?;
    check(args.backend(), &scenario, slice::from_ref(&row))?;
    let digest = digest(&scenario);
    let seed = args.seed.unwrap_or(scenario.seed);
    let run = Run { seed, ..Run::of(&scenario, &digest, &row, args.backend()) };
    if let (Some(_), Some(control)) = (&args.decisions, row.control()) {
        return Err(CliError::input_help(
            format!(
                "--decisions: `{}` is the {}'s own and asks no algorithm of the core",
                control.name, control.owner
            ),
            "record one of `ramp list algorithms`",
        ));
    }
    let interrupted = progress::interruption();
    let format = args.decisions.as_ref().map_or(Ok(Format::Csv), |path| format_of("--decisions", path))?;
    let record = perhaps(args.qlog.as_deref(), Format::JsonLines, |qlog| {
        perhaps(args.decisions.as_deref(), format, |decisions| {
            samples(args, out, |samples| play(&run, Sinks { samples, decisions, qlog }, &interrupted))
        })
    })?;
    summarise(&record, &run);
    if only_summary(args) {
        say!(
            "samples: not written; --samples FILE keeps every ACK, packet and event, a pipe or --json prints them"
        );
    }
    for (option, path) in files {
        say!("{}: {}", option.trim_start_matches('-'), path.display());
    }
    Ok(())
}

/// Where the lines of a run go; `None`: they are not wanted.
struct Sinks<'a> {
    samples: Option<Sink<'a>>,
    decisions: Option<Sink<'a>>,
    qlog: Option<Sink<'a>>,
}

/// Where one kind of lines goes.
struct Sink<'a> {
    out: Box<dyn Write + 'a>,
    format: Format,
    /// `None`: standard output.
    path: Option<&'a Path>,
}

impl Sink<'_> {
    fn error(path: Option<&Path>, error: TraceError) -> CliError {
        let cause = match error {
            TraceError::Io(error) => error,
            other => io::Error::other(other),
        };
        match path {
            Some(path) => CliError::file("write", path)(cause),
            None => CliError::Output(cause),
        }
    }
}

/// Plays with a kind of lines going into a file of their own, where one is named.
fn perhaps(
    path: Option<&Path>,
    format: Format,
    play: impl FnOnce(Option<Sink<'_>>) -> Result<RunRecord>,
) -> Result<RunRecord> {
    match path {
        Some(path) => {
            whole_file(path, |file| play(Some(Sink { out: Box::new(file), format, path: Some(path) })))
        }
        None => play(None),
    }
}

/// Plays with samples going where they are asked for; nowhere, if only decisions are.
fn samples(
    args: &RunArgs,
    out: &mut impl Write,
    play: impl FnOnce(Option<Sink<'_>>) -> Result<RunRecord>,
) -> Result<RunRecord> {
    match &args.samples {
        Some(path) => {
            let format = format_of("--samples", path)?;
            whole_file(path, |file| play(Some(Sink { out: Box::new(file), format, path: Some(path) })))
        }
        None if args.decisions.is_some() || args.qlog.is_some() || only_summary(args) => play(None),
        None => {
            let format = if args.json { Format::JsonLines } else { Format::Csv };
            play(Some(Sink { out: Box::new(out), format, path: None }))
        }
    }
}

/// Whether samples are not wanted: they would be megabytes on a terminal.
fn only_summary(args: &RunArgs) -> bool {
    args.files().is_empty() && !args.json && io::stdout().is_terminal()
}

/// A file that is there only if it is complete.
fn whole_file(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<RunRecord>) -> Result<RunRecord> {
    let mut filled = None;
    let written = write_whole(path, |file| {
        let result = fill(file);
        let complete = result.is_ok();
        filled = Some(result);
        if complete { Ok(()) } else { Err(io::Error::other("the run did not end")) }
    });
    match filled {
        Some(Err(error)) => Err(error),
        Some(Ok(record)) => written.map(|()| record).map_err(CliError::from),
        None => Err(written.err().map_or_else(|| CliError::input("nothing was played"), CliError::from)),
    }
}

fn format_of(option: &str, path: &Path) -> Result<Format> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("csv") => Ok(Format::Csv),
        Some("jsonl" | "ndjson") => Ok(Format::JsonLines),
        _ => Err(CliError::input_help(
            format!("{option} {}: cannot infer the format", path.display()),
            "end the name in .csv or .jsonl",
        )),
    }
}

fn play(run: &Run<'_>, sinks: Sinks<'_>, interrupted: &AtomicBool) -> Result<RunRecord> {
    let command = provenance::command();
    let provenance = run.provenance(&command);
    let Sinks { samples, decisions, qlog } = sinks;
    let (samples_path, decisions_path) = (path_of(samples.as_ref()), path_of(decisions.as_ref()));
    let qlog_path = path_of(qlog.as_ref());
    let samples = samples.map(|sink| Writer::new(sink.out, sink.format, &provenance)).transpose();
    let samples = samples.map_err(|error| Sink::error(samples_path.as_deref(), error))?;
    let decisions = decisions.map(|sink| DecisionWriter::new(sink.out, sink.format, &provenance)).transpose();
    let decisions = decisions.map_err(|error| Sink::error(decisions_path.as_deref(), error))?;
    let logged = run.scenario.flows.iter().position(|flow| flow.under_test).unwrap_or(0) as u32;
    let title = format!("{run} on {}", run.scenario.name);
    let qlog = qlog.map(|sink| FlowQlog::new(sink.out, &title, logged)).transpose();
    let qlog = qlog.map_err(|error| Sink::error(qlog_path.as_deref(), TraceError::Io(error)))?;
    let mut observer = StopOnFailure { samples, decisions, qlog, stop: interrupted };
    let played = run.watch(&command, &mut observer, interrupted);
    // First: a run whose lines cannot be written is stopped as by Ctrl-C.
    let StopOnFailure { samples, decisions, qlog, .. } = observer;
    samples.map_or(Ok(()), Writer::finish).map_err(|error| Sink::error(samples_path.as_deref(), error))?;
    decisions
        .map_or(Ok(()), DecisionWriter::finish)
        .map_err(|error| Sink::error(decisions_path.as_deref(), error))?;
    qlog.map_or(Ok(()), |qlog| qlog.finish().map(|_| ()))
        .map_err(|error| Sink::error(qlog_path.as_deref(), TraceError::Io(error)))?;
    played.map_err(|error| match error {
        BackendError::Interrupted { at } => {
            match run.backend.clock() {
                Clock::Virtual => say!("interrupted at {at} of simulated time"),
                Clock::Real => say!("interrupted after {at}"),
            }
            CliError::Interrupted
        }
        BackendError::Refused(reason) => {
            CliError::Refused { refused: vec![Refused { run: run.to_string(), reason }] }
        }
        BackendError::Failed(cause) => CliError::Run { run: run.to_string(), cause },
    })
}

fn path_of(sink: Option<&Sink<'_>>) -> Option<PathBuf> {
    sink.and_then(|sink| sink.path).map(Path::to_path_buf)
}

/// Ends a run whose output is closed, as after `| head`.
struct StopOnFailure<'a, S: Write, D: Write, Q: Write> {
    samples: Option<Writer<S>>,
    decisions: Option<DecisionWriter<D>>,
    qlog: Option<FlowQlog<Q>>,
    stop: &'a AtomicBool,
}

impl<S: Write, D: Write, Q: Write> StopOnFailure<'_, S, D, Q> {
    fn check(&self) {
        let failed = self.samples.as_ref().is_some_and(Writer::failed)
            || self.decisions.as_ref().is_some_and(DecisionWriter::failed)
            || self.qlog.as_ref().is_some_and(FlowQlog::failed);
        if failed {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl<S: Write, D: Write, Q: Write> Observer for StopOnFailure<'_, S, D, Q> {
    fn on_flow(&mut self, sample: &FlowSample) {
        self.samples.on_flow(sample);
        self.qlog.on_flow(sample);
        self.check();
    }
    fn on_link(&mut self, sample: &LinkSample) {
        self.samples.on_link(sample);
        self.check();
    }
    fn on_event(&mut self, event: &FlowEvent) {
        self.samples.on_event(event);
        self.qlog.on_event(event);
        self.check();
    }
    fn on_decision(&mut self, decision: &FlowDecision) {
        self.decisions.on_decision(decision);
        self.check();
    }
    fn wants_decisions(&self) -> bool {
        self.decisions.wants_decisions()
    }
}

fn summarise(record: &RunRecord, run: &Run<'_>) {
    say!("{run} on {}: {}", record.provenance.scenario, explain_exit(record, &run.context(), None));
    if run.context().of_several() {
        say!("  means over the flows under test, of what each has of its own:");
    }
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
    if let Some(hosts) = &emulation.hosts {
        say!(
            "  hosts late by [us]: median {:.1}, 99 % {:.1}, most {:.1}; {} packets and timers",
            hosts.median_us,
            hosts.p99_us,
            hosts.max_us,
            hosts.count,
        );
    }
    say!("  samples: {}, {} lost", emulation.samples, emulation.samples_lost);
    say!("  {}", emulation.sockets);
}

fn row(args: &RunArgs) -> Result<Row> {
    let row = match &args.candidate {
        Some(header) => rampcc_league::candidate(header, &candidate::apart(), &[])?,
        None => Row::parse(&args.algorithm, backends::ALL)?,
    };
    let mut rows = playable(slice::from_ref(&row), args.backend(), Asked { named: true, alone: true })?.here;
    Ok(rows.pop().unwrap_or(row))
}

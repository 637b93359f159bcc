//! `ramp replay`: recorded decisions put to other algorithms.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter;
use rampcc::figures::counted;
use rampcc::{Algorithm, Environment, HintSource, PARAMETERS_MAX, Time, Traits, UNSET};
use rampcc_lab::report::quantity;
use rampcc_scenario::{Arm, Scenario, ScenarioError};
use rampcc_trace::{
    Course, FlowDecision, Observer, Opening, Provenance, Recorded, Replay, Told, TraceError, read_decisions,
};
use serde::Serialize;

use crate::completions;
use crate::error::{CliError, Result};
use crate::table::table;
use crate::terminal::{Terminal, broken};

/// Ask other algorithms what they would have decided in a recorded run
///
/// FILE is what `ramp run --decisions FILE` has written, in the simulator or in the kernel. The replay is open loop: every
/// algorithm gets what the recorded connection saw, and its own window does not change that. The replay ends where
/// the recorded algorithm left start-up, since later ACKs were not recorded.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ramp run geo-satellite --algorithm slow_start --decisions run.csv
  ramp replay run.csv --algorithm hystart --algorithm hystart:low_window=64
  ramp replay run.csv --algorithm best --format json")]
pub(crate) struct ReplayArgs {
    /// File of decisions
    file: PathBuf,
    /// Algorithm to ask: [LABEL=]ALGORITHM[:PARAMETER=VALUE,...]; may be given several times. The recorded one is always shown
    #[arg(long, short, value_name = "A", add = ArgValueCompleter::new(completions::rows))]
    algorithm: Vec<String>,
    /// Form of the output
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    format: Form,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    /// A table and sentences
    Text,
    /// One object
    Json,
    /// One line for each row and flow
    Csv,
}

/// Everything that was recorded.
#[derive(Default)]
struct Recording(Vec<FlowDecision>);

impl Observer for Recording {
    fn on_decision(&mut self, decision: &FlowDecision) {
        self.0.push(decision.clone());
    }
}

impl Recording {
    fn openings(&self) -> impl Iterator<Item = &Opening> {
        self.0.iter().filter_map(|decision| {
            if let Told::Open(opening) = &decision.call.told { Some(&**opening) } else { None }
        })
    }
}

/// What one row did with one flow.
#[derive(Serialize)]
struct Line {
    row: String,
    flow: u32,
    /// Whether this is what happened, and not what would have.
    recorded: bool,
    algorithm: &'static str,
    parameters: String,
    opened_ns: u64,
    /// `None`: still in start-up at `until_ns`.
    left_ns: Option<u64>,
    reason: Option<&'static str>,
    unit: Option<&'static str>,
    evidence: Option<u64>,
    limit: Option<u64>,
    /// After the decision; without one, after the last call.
    cwnd_bytes: u64,
    ssthresh_bytes: Option<u64>,
    exits: u32,
    until_ns: u64,
    calls: u64,
    #[serde(skip)]
    course: Course,
}

impl Line {
    fn new(row: &str, flow: u32, course: &Course) -> Self {
        let exit = course.exit;
        let unit = exit.map(|exit| exit.reason.unit()).filter(|unit| !unit.is_empty());
        let sided = exit.filter(|_| unit.is_some());
        Self {
            row: row.to_owned(),
            flow,
            recorded: false,
            algorithm: course.algorithm,
            parameters: rampcc::algorithm(course.algorithm)
                .map_or_else(String::new, |algorithm| named(algorithm, &course.parameters)),
            opened_ns: course.opened.ns(),
            left_ns: exit.map(|exit| exit.at.ns()),
            reason: exit.map(|exit| exit.reason.word()),
            unit,
            evidence: sided.map(|exit| exit.evidence),
            limit: sided.map(|exit| exit.limit),
            cwnd_bytes: exit.map_or(course.cwnd_bytes, |exit| exit.cwnd_bytes),
            ssthresh_bytes: exit.map(|exit| exit.ssthresh_bytes).filter(|bytes| *bytes != UNSET),
            exits: course.exits,
            until_ns: course.until.ns(),
            calls: course.calls,
            course: *course,
        }
    }

    fn cells(&self, flows: bool) -> Vec<String> {
        let side = |value: Option<u64>| match (value, self.unit) {
            (Some(value), Some(unit)) => with_unit(value, unit),
            _ => "–".to_owned(),
        };
        let mut cells = vec![
            self.row.clone(),
            self.course.exit.map_or_else(|| "–".to_owned(), |exit| clock(exit.at)),
            self.reason.unwrap_or("still in start-up").to_owned(),
            side(self.evidence),
            side(self.limit),
            with_unit(self.cwnd_bytes, "bytes"),
            self.calls.to_string(),
        ];
        if flows {
            cells.insert(1, self.flow.to_string());
        }
        cells
    }

    fn sentence(&self, flows: bool, by: &str) -> String {
        let who = if flows { format!("{}, flow {}", self.row, self.flow) } else { self.row.clone() };
        let Some(exit) = self.course.exit else {
            let until = clock(self.course.until);
            return if self.recorded {
                format!("{who} was still in start-up at {until}, when the recording ends.")
            } else {
                format!("{who} would still have been in start-up at {until}, where the calls of {by} end.")
            };
        };
        let side = |value: u64| with_unit(value, exit.reason.unit());
        let why = exit.reason.comparison(exit.evidence, exit.limit, side);
        let left = if self.recorded { "left" } else { "would have left" };
        let again = match self.exits {
            0 | 1 => String::new(),
            more => format!(" It leaves {more} times; this is the first."),
        };
        format!("{who} {left} at {}: {why}.{again}", clock(exit.at))
    }
}

/// All that the command says.
#[derive(Serialize)]
struct Answer<'a> {
    /// Every row but the recorded one gets what the recorded row's connection saw.
    open_loop: bool,
    provenance: &'a Provenance,
    /// Decisions of the recorded row that this version's core has taken again.
    compared: u64,
    /// Where it decides differently.
    differs: Option<String>,
    rows: Vec<Line>,
}

/// Run the command.
pub(crate) fn replay(args: &ReplayArgs, terminal: Terminal, out: &mut impl Write) -> Result {
    let arms = args
        .algorithm
        .iter()
        .map(|text| {
            let arm = Arm::parse(text)?;
            arm.parameters_of("a recorded run")?;
            Ok(arm)
        })
        .collect::<Result<Vec<_>, ScenarioError>>()?;
    let (recording, provenance) = read(&args.file)?;
    let mut recorded = Recorded::default();
    let mut again = Replay::recorded();
    let mut differs = None;
    for decision in &recording.0 {
        recorded.handle_decision(decision);
        if let Err(difference) = again.handle_decision(decision) {
            differs.get_or_insert(difference.to_string());
        }
    }
    let label = if provenance.arm.is_empty() { "recorded" } else { &provenance.arm };
    let openings: Vec<Opening> = recording.openings().copied().collect();
    // A label begins with its algorithm, unless the user has chosen it.
    let arm = label.split(' ').next().and_then(rampcc::algorithm).map(|algorithm| algorithm.id);
    let mut rows: Vec<Line> = recorded
        .courses()
        .iter()
        .map(|(flow, course)| {
            // A scenario may give a flow an algorithm of its own.
            let row = if arm.is_none_or(|arm| arm == course.algorithm) { label } else { course.algorithm };
            Line { recorded: true, ..Line::new(row, *flow, course) }
        })
        .collect();
    for (text, arm) in args.algorithm.iter().zip(&arms) {
        admissible(text, arm.algorithm, &openings)?;
        // Each flow is asked about by itself: they may have had other parameters.
        let mut replays = BTreeMap::new();
        for decision in &recording.0 {
            if let Told::Open(opening) = &decision.call.told {
                let parameters = parameters(arm, &provenance, opening, &openings);
                replays.insert(decision.flow, Replay::other(arm.algorithm, parameters));
            }
            if let Some(replay) = replays.get_mut(&decision.flow) {
                // What is missing is missing for the recorded row, too, which says so.
                let _ = replay.handle_decision(decision);
            }
        }
        let courses = replays.values().flat_map(Replay::courses);
        rows.extend(courses.map(|(flow, course)| Line::new(&arm.label, flow, course)));
    }
    rows.sort_by_key(|line| line.flow);
    let answer =
        Answer { open_loop: true, provenance: &provenance, compared: again.compared(), differs, rows };
    match args.format {
        Form::Text => write_text(&answer, label, terminal, out)?,
        Form::Json => {
            serde_json::to_writer_pretty(&mut *out, &answer).map_err(io::Error::from)?;
            writeln!(out)?;
        }
        Form::Csv => {
            out.write_all(provenance.comment().as_bytes())?;
            let mut csv = csv::Writer::from_writer(&mut *out);
            for line in &answer.rows {
                csv.serialize(line).map_err(io::Error::from)?;
            }
            csv.flush()?;
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<(Recording, Provenance)> {
    let wrong = |problem: String| {
        CliError::input_help(
            format!("{}: {problem}", path.display()),
            "expected a file that `ramp run --decisions FILE` has written",
        )
    };
    let file = File::open(path).map_err(|cause| wrong(cause.to_string()))?;
    let mut recording = Recording::default();
    let provenance = read_decisions(BufReader::new(file), &mut recording)
        .map_err(|error: TraceError| wrong(error.to_string()))?;
    if recording.openings().next().is_none() {
        return Err(wrong("it holds no beginning of a connection".to_owned()));
    }
    Ok((recording, provenance))
}

/// A yardstick needs the path's values.
fn admissible(text: &str, algorithm: &Algorithm, openings: &[Opening]) -> Result {
    let told = |opening: &Opening| opening.config.hint.source() == HintSource::Path;
    if algorithm.traits.has(Traits::KNOWS_PATH) && !openings.iter().all(told) {
        return Err(CliError::input_help(
            format!(
                "--algorithm {text}: `{}` must know the path, which this recording does not hold",
                algorithm.id
            ),
            "a recording of the simulator does",
        ));
    }
    Ok(())
}

/// What the row would have had in that run: what was recorded of the same algorithm, or what the scenario gives it, and what
/// the command line sets on top.
fn parameters(
    arm: &Arm,
    provenance: &Provenance,
    own: &Opening,
    openings: &[Opening],
) -> [u64; PARAMETERS_MAX] {
    let mut recorded = std::iter::once(own).chain(openings);
    let same = recorded.find(|opening| opening.algorithm.id == arm.algorithm.id);
    let mut values = same.map_or_else(
        || {
            let scenario = Scenario::parse(&provenance.scenario, &provenance.scenario_text, None);
            let plain = Arm { set: Vec::new(), ..arm.clone() };
            scenario.map_or_else(
                |_| arm.algorithm.parameters_in(Environment::LinuxServer),
                |scenario| scenario.with_arm(&plain).steering.parameters,
            )
        },
        |opening| opening.config.parameter,
    );
    for (name, value) in &arm.set {
        if let Some(index) = arm.algorithm.parameters.iter().position(|parameter| parameter.name == name) {
            values[index] = *value;
        }
    }
    values
}

fn named(algorithm: &Algorithm, values: &[u64]) -> String {
    let each = algorithm.parameters.iter().zip(values);
    each.map(|(parameter, value)| format!("{}={value}", parameter.name)).collect::<Vec<_>>().join(" ")
}

fn write_text(answer: &Answer<'_>, by: &str, terminal: Terminal, out: &mut impl Write) -> Result {
    let Provenance { scenario, backend, seed, .. } = answer.provenance;
    let flows = answer.rows.iter().any(|line| line.flow != answer.rows[0].flow);
    let backend = backend.split('+').next().unwrap_or(backend);
    writeln!(out, "{by} on {scenario}, seed {seed}, recorded on {backend}; instants are those of that run")?;
    writeln!(out)?;
    let mut header = vec!["row", "left start-up", "because of", "evidence", "limit", "window", "calls"];
    if flows {
        header.insert(1, "flow");
    }
    let header: Vec<String> = header.into_iter().map(str::to_owned).collect();
    let cells: Vec<Vec<String>> = answer.rows.iter().map(|line| line.cells(flows)).collect();
    writeln!(out, "{}", table(&header, &cells, terminal.width))?;
    writeln!(out)?;
    let mut text = String::new();
    for line in &answer.rows {
        let _ = writeln!(text, "{}", line.sentence(flows, by));
    }
    if answer.rows.iter().any(|line| !line.recorded) {
        let _ = writeln!(
            text,
            "Open loop: every other row was given what {by}'s connection saw; its own window changed nothing of that."
        );
    }
    let _ = match &answer.differs {
        None => {
            writeln!(
                text,
                "{by} decides here as recorded, byte for byte ({}).",
                counted(answer.compared, "call")
            )
        }
        Some(difference) => {
            writeln!(text, "The core of this version cannot follow {by} to the end: {difference}.")
        }
    };
    for line in text.lines() {
        writeln!(out, "{}", textwrap::fill(line, broken(terminal.width)))?;
    }
    Ok(())
}

fn clock(at: Time) -> String {
    quantity(at.secs_f64(), "s")
}

fn with_unit(value: u64, unit: &str) -> String {
    match unit {
        "us" => quantity(value as f64 * 1e-6, "s"),
        "ns" => quantity(value as f64 * 1e-9, "s"),
        "" => value.to_string(),
        unit => quantity(value as f64, unit),
    }
}

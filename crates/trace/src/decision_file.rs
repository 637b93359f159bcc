//! Decisions in files: CSV with comments on top, or JSON lines; one line per call of an algorithm.
//!
//! Both begin with the provenance and have the same names. `record` is `open`, `ack` or `event` and says which columns a line has.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};

use rampcc::{
    Ack, Config, Decision, Event, EventKind, ExitReason, Field, Hint, HintSource, Phase, Time, UNSET,
};
use serde::Serializer;
use serde::ser::SerializeMap;

use crate::file::{Head, Lines, io_error, read_comments};
use crate::{Call, FlowDecision, Format, Observer, Opening, Provenance, Result, Told, TraceError};

/// Fields that may be empty, with what that stands for: `RAMP_UNSET` of the contract, or zero, where older files have no such column.
type Empty = &'static [(&'static str, u64)];

const CONFIG: Empty = &[
    ("initial_ssthresh_bytes", UNSET),
    ("size_bytes", UNSET),
    ("receive_window_bytes", UNSET),
    ("now_ns", 0),
    ("tsval", 0),
];
const ACK: Empty = &[("receive_window_bytes", UNSET), ("tsval", 0)];
const DECISION: Empty = &[
    ("ssthresh_bytes", UNSET),
    ("pacing_bytes_per_s", UNSET),
    ("chirp_packets", 0),
    ("chirp_gap_ns", 0),
    ("chirp_step_ns", 0),
    ("chirp_pause_ns", 0),
];

/// Names of all columns, in their order.
fn columns() -> Vec<String> {
    let mut columns: Vec<String> =
        ["record", "time_ns", "flow", "index", "algorithm", "parameters", "kind"].map(str::to_owned).into();
    for name in names(Config::FIELDS).chain(names(Ack::FIELDS)).chain(names(Event::FIELDS)) {
        if !columns.iter().any(|known| known == name) {
            columns.push(name.to_owned());
        }
    }
    columns.extend(names(Hint::FIELDS).map(|name| format!("hint_{name}")));
    columns.push("hint_source".to_owned());
    for side in ["before", "after"] {
        columns.extend(names(Decision::FIELDS).map(|name| format!("{side}_{name}")));
        columns.extend([format!("{side}_phase"), format!("{side}_exit_reason")]);
    }
    columns
}

fn names<T>(fields: &[Field<T>]) -> impl Iterator<Item = &'static str> {
    fields.iter().map(|field| field.name)
}

fn of_empty(empty: Empty, name: &str) -> Option<u64> {
    empty.iter().find(|(each, _)| *each == name).map(|(_, value)| *value)
}

/// What stands in one field.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Number(u64),
    Word(String),
}

/// One line by its fields; what is empty is not there.
#[derive(Default)]
struct Line {
    number: u64,
    values: BTreeMap<String, Value>,
}

impl Line {
    fn number(&mut self, name: &str, value: u64) {
        self.values.insert(name.to_owned(), Value::Number(value));
    }

    fn word(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_owned(), Value::Word(value.to_owned()));
    }

    fn put<T>(&mut self, prefix: &str, fields: &[Field<T>], empty: Empty, record: &T) {
        for field in fields {
            let value = (field.get)(record);
            if of_empty(empty, field.name) != Some(value) {
                self.number(&[prefix, field.name].concat(), value);
            }
        }
    }

    fn take<T>(&self, prefix: &str, fields: &[Field<T>], empty: Empty, record: &mut T) -> Result {
        for field in fields {
            let name = [prefix, field.name].concat();
            let value = match of_empty(empty, field.name) {
                Some(empty) if !self.values.contains_key(&name) => empty,
                _ => self.whole(&name, field.max)?,
            };
            (field.set)(record, value);
        }
        Ok(())
    }

    fn wrong(&self, name: &str, allowed: impl Into<String>) -> TraceError {
        let found = match self.values.get(name) {
            None => "nothing".to_owned(),
            Some(Value::Number(number)) => format!("`{number}`"),
            Some(Value::Word(word)) => format!("`{}`", word.chars().take(40).collect::<String>()),
        };
        TraceError::Field { line: self.number, field: name.to_owned(), found, allowed: allowed.into() }
    }

    fn whole(&self, name: &str, max: u64) -> Result<u64> {
        let number = match self.values.get(name) {
            Some(Value::Number(number)) => Some(*number),
            Some(Value::Word(word)) => word.parse().ok(),
            None => None,
        };
        number
            .filter(|number| *number <= max)
            .ok_or_else(|| self.wrong(name, format!("a whole number from 0 to {max}")))
    }

    fn small(&self, name: &str) -> Result<u32> {
        self.whole(name, u64::from(u32::MAX)).map(|number| number as u32)
    }

    /// The entry of a list that has this word.
    fn entry<T: Copy, const N: usize>(
        &self,
        name: &str,
        all: [T; N],
        word: impl Fn(T) -> &'static str,
    ) -> Result<T> {
        let found = match self.values.get(name) {
            Some(Value::Word(found)) => all.into_iter().find(|known| word(*known) == found),
            _ => None,
        };
        found.ok_or_else(|| self.wrong(name, format!("one of: {}", all.map(word).join(", "))))
    }

    fn put_decision(&mut self, side: &str, decision: &Decision) {
        self.put(&format!("{side}_"), Decision::FIELDS, DECISION, decision);
        self.word(&format!("{side}_phase"), decision.phase().word());
        self.word(&format!("{side}_exit_reason"), decision.exit_reason().word());
    }

    fn decision(&self, side: &str) -> Result<Decision> {
        let mut decision = Decision::new();
        self.take(&format!("{side}_"), Decision::FIELDS, DECISION, &mut decision)?;
        let phase = self.entry(&format!("{side}_phase"), Phase::ALL, Phase::word)?;
        let reason = self.entry(&format!("{side}_exit_reason"), ExitReason::ALL, ExitReason::word)?;
        Ok(decision.placed(phase, reason))
    }

    fn put_opening(&mut self, Opening { algorithm, config }: &Opening) {
        self.word("algorithm", algorithm.id);
        let set = |(parameter, value): (&rampcc::Parameter, &u64)| format!("{}={value}", parameter.name);
        let parameters: Vec<String> = algorithm.parameters.iter().zip(&config.parameter).map(set).collect();
        if !parameters.is_empty() {
            self.word("parameters", &parameters.join(" "));
        }
        self.put("", Config::FIELDS, CONFIG, config);
        self.put("hint_", Hint::FIELDS, &[], &config.hint);
        self.word("hint_source", config.hint.source().word());
    }

    fn opening(&self) -> Result<Opening> {
        let known = match self.values.get("algorithm") {
            Some(Value::Word(id)) => rampcc::algorithms().iter().find(|algorithm| algorithm.id == id),
            _ => None,
        };
        let algorithm = known.ok_or_else(|| {
            let ids: Vec<&str> = rampcc::algorithms().iter().map(|algorithm| algorithm.id).collect();
            self.wrong("algorithm", format!("one of: {}", ids.join(", ")))
        })?;
        let mut config = Config::new(algorithm, 0, 0);
        self.take("", Config::FIELDS, CONFIG, &mut config)?;
        let mut hint = Hint::of(self.entry("hint_source", HintSource::ALL, HintSource::word)?);
        self.take("hint_", Hint::FIELDS, &[], &mut hint)?;
        config.hint = hint;
        let names: Vec<&str> = algorithm.parameters.iter().map(|parameter| parameter.name).collect();
        let allowed = || match names.as_slice() {
            [] => "nothing".to_owned(),
            _ => format!("NAME=NUMBER for each of: {}", names.join(", ")),
        };
        let text = match self.values.get("parameters") {
            Some(Value::Word(text)) => text.as_str(),
            Some(Value::Number(_)) => return Err(self.wrong("parameters", allowed())),
            None => "",
        };
        let mut set = vec![false; names.len()];
        for each in text.split_whitespace() {
            let place = each.split_once('=').and_then(|(name, value)| {
                Some((names.iter().position(|known| *known == name)?, value.parse().ok()?))
            });
            let (index, value) = place.ok_or_else(|| self.wrong("parameters", allowed()))?;
            config.parameter[index] = value;
            set[index] = true;
        }
        if !set.iter().all(|set| *set) {
            return Err(self.wrong("parameters", allowed()));
        }
        Ok(Opening { algorithm, config })
    }

    fn flow_decision(&self) -> Result<FlowDecision> {
        let told = match self.entry("record", ["open", "ack", "event"], |word| word)? {
            "open" => Told::Open(Box::new(self.opening()?)),
            "ack" => {
                let mut ack = Ack::default();
                self.take("", Ack::FIELDS, ACK, &mut ack)?;
                Told::Ack(ack)
            }
            _ => {
                let kind = self.entry("kind", EventKind::ALL, EventKind::word)?;
                let mut event = Event { now_ns: 0, lost_bytes: 0, in_flight_bytes: 0, kind, mss_bytes: 0 };
                self.take("", Event::FIELDS, &[], &mut event)?;
                Told::Event(event)
            }
        };
        Ok(FlowDecision {
            now: Time::from_ns(self.whole("time_ns", u64::MAX)?),
            flow: self.small("flow")?,
            index: self.small("index")?,
            call: Call { told, before: self.decision("before")?, after: self.decision("after")? },
        })
    }
}

impl From<&FlowDecision> for Line {
    fn from(decision: &FlowDecision) -> Self {
        let mut line = Self::default();
        let Call { told, before, after } = &decision.call;
        line.number("time_ns", decision.now.ns());
        line.number("flow", u64::from(decision.flow));
        line.number("index", u64::from(decision.index));
        let record = match told {
            Told::Open(opening) => {
                line.put_opening(opening);
                "open"
            }
            Told::Ack(ack) => {
                line.put("", Ack::FIELDS, ACK, ack);
                "ack"
            }
            Told::Event(event) => {
                line.put("", Event::FIELDS, &[], event);
                line.word("kind", event.kind.word());
                "event"
            }
        };
        line.word("record", record);
        line.put_decision("before", before);
        line.put_decision("after", after);
        line
    }
}

/// Writes every decision that it gets. The first failure stops it and comes out of [`DecisionWriter::finish`].
pub struct DecisionWriter<W: Write> {
    lines: Lines<W>,
    columns: Vec<String>,
    failed: Option<TraceError>,
}

impl<W: Write> DecisionWriter<W> {
    /// Begin a file with its provenance.
    pub fn new(out: W, format: Format, provenance: &Provenance) -> Result<Self> {
        let columns = columns();
        Ok(Self { lines: Lines::begin(out, format, provenance, &columns)?, columns, failed: None })
    }

    /// Whether writing has failed, so that a run may stop early.
    pub fn failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Write out what is buffered; the first failure of all.
    pub fn finish(mut self) -> Result {
        match self.failed {
            Some(error) => Err(error),
            None => Ok(self.lines.flush()?),
        }
    }

    fn write(&mut self, line: &Line) -> Result {
        let value = |column: &String| line.values.get(column);
        match &mut self.lines {
            Lines::Csv(csv) => {
                let cells = self.columns.iter().map(|column| match value(column) {
                    None => String::new(),
                    Some(Value::Number(number)) => number.to_string(),
                    Some(Value::Word(word)) => word.clone(),
                });
                csv.write_record(cells).map_err(io_error)?;
            }
            Lines::Json(out) => {
                let mut text = serde_json::Serializer::new(&mut *out);
                let mut map = text.serialize_map(None).map_err(std::io::Error::from)?;
                for (column, value) in self.columns.iter().filter_map(|c| Some((c, value(c)?))) {
                    match value {
                        Value::Number(number) => map.serialize_entry(column, number),
                        Value::Word(word) => map.serialize_entry(column, word),
                    }
                    .map_err(std::io::Error::from)?;
                }
                SerializeMap::end(map).map_err(std::io::Error::from)?;
                out.write_all(b"\n")?;
            }
        }
        Ok(())
    }
}

impl<W: Write> Observer for DecisionWriter<W> {
    fn on_decision(&mut self, decision: &FlowDecision) {
        if self.failed.is_none() {
            self.failed = self.write(&decision.into()).err();
        }
    }
    fn wants_decisions(&self) -> bool {
        true
    }
}

/// Tell an observer every decision in a file; the provenance comes back.
///
/// # Errors
/// Names the first line, and the field, that is not as [`DecisionWriter`] writes it.
pub fn read_decisions(mut file: impl BufRead, observer: &mut (impl Observer + ?Sized)) -> Result<Provenance> {
    match file.fill_buf()?.first() {
        Some(b'{') => read_json(file, observer),
        Some(b'#') => read_csv(file, observer),
        _ => Err(TraceError::NoProvenance),
    }
}

fn read_json(file: impl BufRead, observer: &mut (impl Observer + ?Sized)) -> Result<Provenance> {
    let columns = columns();
    let mut provenance = None;
    for (number, text) in (1..).zip(file.lines()) {
        let text = text?;
        let json = |source| TraceError::Json { line: number, source };
        if provenance.is_none() {
            provenance = Some(serde_json::from_str::<Head>(&text).map_err(json)?.provenance);
            continue;
        }
        if text.is_empty() {
            continue;
        }
        let fields: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text).map_err(json)?;
        let mut line = Line { number, ..Line::default() };
        for (name, value) in fields {
            known(&columns, &name, number)?;
            let value = match value {
                serde_json::Value::Number(number) if number.is_u64() => number.as_u64().map(Value::Number),
                serde_json::Value::String(word) => Some(Value::Word(word)),
                _ => None,
            };
            let value = value.ok_or_else(|| TraceError::Field {
                line: number,
                field: name.clone(),
                found: "another value".to_owned(),
                allowed: "a whole number or a word".to_owned(),
            })?;
            line.values.insert(name, value);
        }
        observer.on_decision(&line.flow_decision()?);
    }
    provenance.ok_or(TraceError::NoProvenance)
}

fn read_csv(mut file: impl BufRead, observer: &mut (impl Observer + ?Sized)) -> Result<Provenance> {
    let (provenance, comments) = read_comments(&mut file)?;
    let columns = columns();
    let mut rows = csv::Reader::from_reader(file);
    let at = |source: csv::Error| {
        let line = comments + source.position().map_or(1, csv::Position::line);
        TraceError::Csv { line, source }
    };
    let names = rows.headers().map_err(at)?.clone();
    for (index, name) in names.iter().enumerate() {
        known(&columns, name, comments + 1)?;
        if names.iter().take(index).any(|before| before == name) {
            return Err(TraceError::Field {
                line: comments + 1,
                field: name.to_owned(),
                found: "the column twice".to_owned(),
                allowed: "each column once".to_owned(),
            });
        }
    }
    let mut row = csv::StringRecord::new();
    while rows.read_record(&mut row).map_err(at)? {
        let number = comments + row.position().map_or(1, csv::Position::line);
        let cells = names.iter().zip(&row).filter(|(_, cell)| !cell.is_empty());
        let values = cells.map(|(name, cell)| (name.to_owned(), Value::Word(cell.to_owned()))).collect();
        observer.on_decision(&Line { number, values }.flow_decision()?);
    }
    Ok(provenance)
}

fn known(columns: &[String], name: &str, line: u64) -> Result {
    if columns.iter().any(|known| known == name) {
        return Ok(());
    }
    Err(TraceError::Field {
        line,
        field: name.chars().take(40).collect(),
        found: "an unknown column".to_owned(),
        allowed: "a file of decisions, as `--decisions` writes it".to_owned(),
    })
}

//! Paths like the one that a scenario describes, drawn from what it does not know.

use std::path::Path;

use toml::de::DeTable;
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use crate::document::Section;
use crate::error::{File, Result, ScenarioError, shortened};
use crate::model::Scenario;
use crate::parse::Given;
use crate::schema;
use crate::settings::Setting;
use crate::uncertain::{Range, Uncertain, Values, twice};
use crate::units;

/// Paths around a scenario's.
#[derive(Clone, Debug)]
pub struct Neighbourhood {
    /// Fields that differ between them.
    pub fields: Vec<Uncertain>,
    /// Place of the described path in the range of each field, from 0 to 1; `None`: unknown.
    pub described: Vec<Option<f64>>,
    /// The paths.
    pub paths: Vec<Neighbour>,
}

/// One path of a neighbourhood.
#[derive(Clone, Debug)]
pub struct Neighbour {
    /// The path: an ordinary scenario, in which nothing is uncertain.
    pub scenario: Scenario,
    /// Place in the range of each field, from 0 to 1.
    pub at: Vec<f64>,
    /// The values there, as people write them.
    pub values: Vec<String>,
}

impl Scenario {
    /// So many paths from the ranges of what is uncertain.
    ///
    /// They are the points of a Sobol sequence with Owen's scrambling (Owen 1995, in the form of Burley 2020), one
    /// dimension for each field: 64 of them lie one in each sixty-fourth of every range, and the first of a larger number are those of
    /// a smaller. `seed` scrambles. Nothing uncertain gives no paths.
    ///
    /// Fails where a range ends at something that the field may not be, or does not hold the value that the text states.
    pub fn neighbourhood(&self, count: u32, seed: u64) -> Result<Neighbourhood> {
        let fields = self.uncertain.clone();
        let Ok(document) = self.text.parse::<DocumentMut>() else { return Ok(Neighbourhood::none()) };
        fields.iter().try_for_each(|uncertain| self.possible(&document, uncertain))?;
        let count = if fields.is_empty() { 0 } else { count.min(1 << 16) };
        let seed = (seed ^ (seed >> 32)) as u32;
        let mut paths = Vec::new();
        for index in 0..count {
            let at: Vec<f64> = (0..fields.len())
                .map(|dimension| f64::from(sobol_burley::sample(index, dimension as u32, seed)))
                .collect();
            let values: Vec<String> =
                fields.iter().zip(&at).map(|(f, share)| f.values.shown(*share)).collect();
            let scenario = self
                .at(&document, &fields, &at)
                .map_err(|error| self.blame_together(&fields, &values, error))?;
            paths.push(Neighbour { scenario, at, values });
        }
        let described = fields.iter().map(|f| described(&document, f)).collect();
        Ok(Neighbourhood { fields, described, paths })
    }

    /// Fails where [`Scenario::neighbourhood`] would, whatever is drawn: what is stated of a path must be right though no
    /// neighbour of it is played.
    pub fn check_uncertain(&self) -> Result {
        let Ok(document) = self.text.parse::<DocumentMut>() else { return Ok(()) };
        let stated = self.uncertain.iter().filter(|uncertain| !uncertain.assumed);
        stated.into_iter().try_for_each(|uncertain| self.possible(&document, uncertain))
    }

    /// Whether the field may be what both ends of its range say, or each of its values.
    fn possible(&self, document: &DocumentMut, uncertain: &Uncertain) -> Result {
        for share in uncertain.values.ends() {
            self.at(document, std::slice::from_ref(uncertain), &[share]).map_err(|error| {
                let what = match uncertain.values {
                    Values::Range(_) => "one end of its range is not possible",
                    Values::Choice(_) => "one of its values is not possible",
                };
                self.blame(uncertain, what, error)
            })?;
        }
        self.holds_described(document, uncertain)
    }

    /// The scenario without the ranges that were not stated: naming what is uncertain means that and nothing else.
    #[must_use]
    pub fn without_assumed(mut self) -> Self {
        self.uncertain.retain(|known| !known.assumed);
        self
    }

    /// The scenario with further uncertain fields, in its text as well. They take the place of what it says of the same
    /// fields, of parts of them, and of what they are parts of.
    #[must_use]
    pub fn with_uncertain(mut self, more: &[Uncertain]) -> Self {
        self.uncertain.retain(|known| !more.iter().any(|new| new.overlaps(&known.field)));
        self.uncertain.extend_from_slice(more);
        self.uncertain.sort_by(|a, b| a.field.cmp(&b.field));
        let text = written(&self.text, &self.uncertain);
        let stated = std::mem::replace(&mut self.text, text);
        self.original.text.get_or_insert(stated);
        self
    }

    /// The bottleneck's buffer as the text states it, if in `bdp`; where it states none, that is 1.
    pub fn stated_buffer_bdp(&self) -> Option<f64> {
        let document = self.text.parse::<DocumentMut>().ok()?;
        let shape =
            ["path", "dumbbell", "parking-lot"].into_iter().find(|shape| document.contains_key(shape))?;
        let stated = |field: &str| lookup(document.as_item(), &[shape, field]);
        let buffer = match stated("buffer") {
            Some(buffer) => units::buffer(buffer.as_str()?).ok()?,
            None => units::Buffer::Bdp(f64::from(u8::from(stated("rate").is_some()))),
        };
        match buffer {
            units::Buffer::Bdp(share) if share > 0.0 => Some(share),
            _ => None,
        }
    }

    /// The text without what is uncertain: what decides a run.
    pub fn certain_text(&self) -> String {
        let Ok(mut document) = self.text.parse::<DocumentMut>() else { return self.text.clone() };
        match document.remove("uncertain") {
            Some(_) => document.to_string().trim_end().to_owned() + "\n",
            None => self.text.trim_end().to_owned() + "\n",
        }
    }

    /// The path at these shares of the ranges.
    fn at(&self, document: &DocumentMut, fields: &[Uncertain], at: &[f64]) -> Result<Self> {
        let mut document = document.clone();
        let mut settings = Vec::new();
        for (field, share) in fields.iter().zip(at) {
            let (key, value) = (&field.field, field.values.at(*share));
            let setting = Setting::new(&format!("{key}={value}"), key, &value)?;
            setting.apply(&mut document)?;
            settings.push(setting);
        }
        let text = written(&document.to_string(), &[]);
        let directory = self.directory.as_deref();
        let traces = self.original.traces.clone();
        let given = Given { name: &self.name, text: &text, written: None, directory, traces };
        let mut scenario = Self::parse_blaming(&given, &settings)?;
        scenario.name.clone_from(&self.name);
        Ok(scenario)
    }

    /// Paths around another value than the stated one are no neighbours.
    fn holds_described(&self, document: &DocumentMut, uncertain: &Uncertain) -> Result {
        let parts: Vec<&str> = uncertain.field.split('.').collect();
        let stated = lookup(document.as_item(), &parts).filter(|value| uncertain.values.excludes(value));
        let Some(stated) = stated else { return Ok(()) };
        let stated = stated.as_str().map_or_else(|| stated.to_string().trim().to_owned(), str::to_owned);
        let problem = format!("the path is described with {stated}, which the range does not hold");
        let allowed = format!("a range that holds {stated}, or a path described with a value of this range");
        self.of_range(uncertain, &problem, &allowed).map_or(Ok(()), Err)
    }

    /// An error in values that were drawn for several fields is one of the field at fault.
    fn blame_together(&self, fields: &[Uncertain], values: &[String], error: ScenarioError) -> ScenarioError {
        let at_fault = error.field().and_then(|wrong| {
            let plain = |field: &str| field.replace(['[', ']'], ".").replace("..", ".");
            fields.iter().rposition(|f| f.overlaps(&plain(&wrong.field)))
        });
        let Some(index) = at_fault else { return error };
        let uncertain = &fields[index];
        let table = |field: &str| field.rsplit_once('.').map_or(String::new(), |(table, _)| table.to_owned());
        let others: Vec<String> = (fields.iter().zip(values))
            .filter(|(f, _)| f.field != uncertain.field && table(&f.field) == table(&uncertain.field))
            .map(|(f, value)| format!("{} = {value}", f.field))
            .collect();
        let beside = if others.is_empty() { String::new() } else { format!(" beside {}", others.join(", ")) };
        self.blame(uncertain, &format!("{} is not possible{beside}", values[index]), error)
    }

    /// An error in values of what is uncertain is one of the line or the option that gives them.
    fn blame(&self, uncertain: &Uncertain, what: &str, error: ScenarioError) -> ScenarioError {
        let (inner, allowed) = match &error {
            ScenarioError::Field(wrong) if wrong.field == uncertain.field => {
                (wrong.problem.clone(), wrong.allowed.clone())
            }
            ScenarioError::Field(wrong) => {
                (format!("{}: {}", wrong.field, wrong.problem), wrong.allowed.clone())
            }
            ScenarioError::Setting { problem, .. } => {
                (problem.clone(), "a field that the described path has".to_owned())
            }
            _ => return error,
        };
        let problem = format!("{what}: {inner}");
        self.of_range(uncertain, &problem, &allowed).unwrap_or(error)
    }

    /// An error of the line or the option that states a range; `None`: neither does.
    fn of_range(&self, uncertain: &Uncertain, problem: &str, allowed: &str) -> Option<ScenarioError> {
        if let Some(option) = &uncertain.option {
            let (problem, allowed) = (problem.to_owned(), allowed.to_owned());
            return Some(ScenarioError::Setting { text: option.clone(), problem, allowed });
        }
        let text = self.original.text.as_ref().unwrap_or(&self.text);
        let file = File::new(&self.original.label, text);
        let table = DeTable::parse(text).ok()?;
        let root = Section::root(&file, &table, &schema::ROOT);
        let entries = root.get("uncertain")?.entries("").ok()?;
        let (_, _, value) = entries.into_iter().find(|(name, _, _)| *name == uncertain.field)?;
        Some(value.error(problem, allowed))
    }
}

impl Neighbourhood {
    fn none() -> Self {
        Self { fields: Vec::new(), described: Vec::new(), paths: Vec::new() }
    }
}

/// What a scenario's file begins with.
#[derive(Clone, Copy, Debug)]
pub struct Heading<'a> {
    /// Its name.
    pub name: &'a str,
    /// One sentence.
    pub description: &'a str,
    /// Its first seed.
    pub seed: u64,
}

/// A scenario's text as a file of its own with this heading; files that it names relative to itself are looked for in
/// `directory`.
pub fn standalone(text: &str, heading: Heading<'_>, directory: Option<&Path>) -> String {
    let Heading { name, description, seed } = heading;
    let Ok(mut document) = text.parse::<DocumentMut>() else { return text.to_owned() };
    let seed = i64::try_from(seed).unwrap_or(i64::MAX);
    for (key, new) in [("name", name.into()), ("description", description.into()), ("seed", seed.into())] {
        let mut new: Value = new;
        match document.get_mut(key) {
            Some(Item::Value(old)) => {
                *new.decor_mut() = old.decor().clone();
                *old = new;
            }
            _ => {
                document.insert(key, value(new));
            }
        }
    }
    if let Some(directory) = directory {
        relocate(document.as_table_mut(), directory);
    }
    document.to_string()
}

/// Names of files, wherever they stand.
fn relocate(table: &mut dyn TableLike, directory: &Path) {
    for (key, item) in table.iter_mut() {
        let file = ["trace", "delay-trace", "file"].contains(&key.get());
        match item {
            Item::Value(Value::String(name)) if file => {
                let place = directory.join(name.value().as_str()).display().to_string();
                *item = value(place);
            }
            Item::ArrayOfTables(list) => list.iter_mut().for_each(|inner| relocate(inner, directory)),
            _ => {
                if let Some(inner) = item.as_table_like_mut() {
                    relocate(inner, directory);
                }
            }
        }
    }
}

impl Uncertain {
    /// From `FIELD=LOW..HIGH`, or `FIELD=A,B,C` for a choice.
    pub fn parse(text: &str) -> Result<Self> {
        let option = given(text);
        let wrong = |problem: &str| wrong(&option, problem);
        let (field, values) = text.split_once('=').ok_or_else(|| wrong("there is no `=`"))?;
        let (field, values) = (field.trim(), values.trim());
        let first = field.split('.').next().unwrap_or_default();
        if !crate::settings::is_field(field) || schema::ROOT.entry(first).is_none() {
            return Err(wrong("the part before `=` is not a field"));
        }
        if crate::parse::uncertain::PATHLESS.contains(&first) {
            return Err(wrong("it is not part of the path"));
        }
        let several = crate::settings::list(values);
        let values = if several.len() > 1 {
            let toml = |v: &&str| {
                v.parse::<Value>().unwrap_or_else(|_| Value::from(*v)).to_string().trim().to_owned()
            };
            let all: Vec<String> = several.iter().map(toml).collect();
            if let Some(index) = twice(&all) {
                return Err(wrong(&format!("the value `{}` is there twice", shortened(several[index]))));
            }
            Values::Choice(all)
        } else {
            Values::Range(Range::parse(values, None).map_err(|problem| wrong(&problem))?)
        };
        let reason = "Given on the command line.".to_owned();
        Ok(Self { field: field.to_owned(), values, reason, assumed: false, option: Some(option.clone()) })
    }

    /// All of them, of which none is, or holds, another.
    pub fn parse_all(texts: &[String]) -> Result<Vec<Self>> {
        let mut all: Vec<Self> = Vec::new();
        for text in texts {
            let one = Self::parse(text)?;
            if let Some(other) = all.iter().find(|other| other.overlaps(&one.field)) {
                let problem = if other.field == one.field {
                    "the field is given twice".to_owned()
                } else {
                    format!("`{}` is given as well, and one holds the other", other.field)
                };
                return Err(wrong(&given(text), &problem));
            }
            all.push(one);
        }
        Ok(all)
    }
}

/// An option for messages.
fn given(text: &str) -> String {
    format!("--uncertain {}", shortened(text))
}

fn wrong(option: &str, problem: &str) -> ScenarioError {
    ScenarioError::Setting {
        text: option.to_owned(),
        problem: problem.to_owned(),
        allowed: "FIELD=LOW..HIGH, such as path.reverse.rate=1mbit..50mbit, or FIELD=A,B,C".to_owned(),
    }
}

/// `text` with this and nothing else for what is uncertain.
pub(crate) fn written(text: &str, uncertain: &[Uncertain]) -> String {
    let Ok(mut document) = text.parse::<DocumentMut>() else { return text.to_owned() };
    document.remove("uncertain");
    let mut table = Table::new();
    for known in uncertain {
        let mut entry = InlineTable::new();
        match &known.values {
            Values::Range(range) => {
                entry.insert("range", Value::from(known.values.describe()));
                entry.insert("scale", Value::from(if range.logarithmic { "log" } else { "linear" }));
            }
            Values::Choice(values) => {
                let list = values.iter().filter_map(|v| v.parse::<Value>().ok()).collect();
                entry.insert("values", Value::Array(list));
            }
        }
        entry.insert("reason", Value::from(known.reason.as_str()));
        if known.assumed {
            entry.insert("assumed", Value::from(true));
        }
        table.insert(&known.field, value(entry));
    }
    let mut end = document.to_string().trim_end().to_owned();
    end.push_str("\n\n");
    let mut last = DocumentMut::new();
    last.insert("uncertain", Item::Table(table));
    end + &last.to_string()
}

/// Where the described path lies in a range.
fn described(document: &DocumentMut, uncertain: &Uncertain) -> Option<f64> {
    let parts: Vec<&str> = uncertain.field.split('.').collect();
    if let Some(found) = lookup(document.as_item(), &parts) {
        return uncertain.values.share_of(&found);
    }
    // What holds without the field.
    match parts.as_slice() {
        [.., "jitter" | "ack-filter" | "loss" | "cross-traffic"] => match &uncertain.values {
            Values::Range(range) => (range.low <= 0.0).then_some(0.0),
            values @ Values::Choice(_) => values.share_of(&Value::from(0)),
        },
        ["path" | "dumbbell" | "parking-lot", "buffer"] => uncertain.values.share_of(&Value::from("1 bdp")),
        [shape @ ("path" | "dumbbell"), "reverse", "rate"] => {
            uncertain.values.share_of(&lookup(document.as_item(), &[shape, "rate"])?)
        }
        _ => None,
    }
}

/// The value of a dotted field; without a number, the first table of a list stands for all.
fn lookup(item: &Item, parts: &[&str]) -> Option<Value> {
    match item {
        Item::Value(value) => within(value, parts),
        Item::ArrayOfTables(list) => {
            let (index, rest) = indexed(parts);
            let (first, rest) = rest.split_first()?;
            lookup(list.get(index)?.get(first)?, rest)
        }
        Item::Table(table) => {
            let (first, rest) = parts.split_first()?;
            lookup(table.get(first)?, rest)
        }
        Item::None => None,
    }
}

fn within(value: &Value, parts: &[&str]) -> Option<Value> {
    let Some((first, rest)) = parts.split_first() else { return Some(value.clone()) };
    match value {
        Value::InlineTable(table) => within(table.get(first)?, rest),
        Value::Array(list) => {
            let (index, rest) = indexed(parts);
            within(list.get(index)?, rest)
        }
        _ => None,
    }
}

fn indexed<'p>(parts: &'p [&'p str]) -> (usize, &'p [&'p str]) {
    let index = parts.first().and_then(|part| part.parse().ok());
    index.map_or((0, parts), |index| (index, &parts[1..]))
}

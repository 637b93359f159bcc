//! What Python asks for, as the engine takes it.

use std::ops::RangeInclusive;
use std::path::Path;

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use rampcc_backend::Backend;
use rampcc_experiment::ExperimentError;
use rampcc_scenario::{Scenario, Setting};
use rampcc_sim::Simulator;

use crate::error::{InputError, wrong};

/// What plays. Real time, which wants the process for itself, is left to the command.
pub(crate) static BACKENDS: &[&dyn Backend] = &[&Simulator];

/// Lists and dicts within each other. No scenario has as many, and a list may be in itself.
const NESTED_MOST: usize = 32;

/// A value of a scenario's field; `None` removes the field.
pub(crate) struct Value(Option<toml::Value>);

impl<'a, 'py> FromPyObject<'a, 'py> for Value {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if value.is_none() {
            return Ok(Self(None));
        }
        Ok(Self(Some(toml_value(&value, 0)?)))
    }
}

impl Value {
    /// As on a command line, where a text needs no quotes; in a list it does where it has a comma.
    fn text(&self, listed: bool) -> String {
        match &self.0 {
            None => String::new(),
            Some(toml::Value::String(text)) if !listed || !text.contains([',', '"', '{', '[']) => {
                text.clone()
            }
            Some(value) => value.to_string(),
        }
    }
}

/// A value as a scenario file has it, within so many others.
fn toml_value(value: &Bound<'_, PyAny>, nested: usize) -> PyResult<toml::Value> {
    if nested > NESTED_MOST {
        let problem = "a value of a scenario is nested too deeply";
        return Err(wrong(format!(
            "{problem}\nhelp: at most {NESTED_MOST} lists and dicts within each other"
        )));
    }
    if let Ok(table) = value.cast::<PyDict>() {
        let entry = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok((key.extract::<String>()?, toml_value(&value, nested + 1)?))
        };
        return Ok(toml::Value::Table(table.iter().map(entry).collect::<PyResult<_>>()?));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let each = value.try_iter()?.map(|item| toml_value(&item?, nested + 1));
        return Ok(toml::Value::Array(each.collect::<PyResult<_>>()?));
    }
    // A truth value is an integer too.
    if value.is_instance_of::<PyBool>() {
        return Ok(toml::Value::Boolean(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(toml::Value::Integer(value.extract()?));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(toml::Value::Float(value.extract()?));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(toml::Value::String(value.extract()?));
    }
    let problem =
        format!("{} is no value of a scenario: a text, a number, a bool, a list or a dict", value.repr()?);
    Err(PyTypeError::new_err(problem))
}

/// A path: a name, a file, or the text of one.
pub(crate) struct Place {
    name: String,
    /// `None`: it is found by its name.
    text: Option<String>,
}

impl<'a, 'py> FromPyObject<'a, 'py> for Place {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PyDict>() {
            let text = toml::to_string(&toml_value(&value, 0)?).map_err(|error| wrong(error.to_string()))?;
            return Ok(Self { name: "scenario".to_owned(), text: Some(text) });
        }
        let name: String = value.extract()?;
        if name.contains('\n') {
            return Ok(Self { name: "scenario".to_owned(), text: Some(name) });
        }
        Ok(Self { name, text: None })
    }
}

/// A path with settings on top.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PathAsked {
    scenario: Place,
    settings: Vec<(String, Value)>,
}

impl PathAsked {
    /// The scenario, with a sweep's settings on top of all.
    pub(crate) fn scenario(&self, swept: &[Setting]) -> Result<Scenario, ExperimentError> {
        let mut settings = Vec::new();
        for (field, value) in &self.settings {
            settings.push(Setting::parse(&format!("{field}={}", value.text(false)))?);
        }
        settings.extend(swept.iter().cloned());
        let Place { name, text } = &self.scenario;
        match text {
            Some(text) => Ok(Scenario::parse_with(name, text, Some(Path::new("")), &settings)?),
            None => rampcc_league::path(name, &settings)
                .unwrap_or_else(|| Ok(Scenario::open_with(name, &settings)?)),
        }
    }
}

/// `FIELD=A,B,C` for each swept field.
pub(crate) fn sweeps(fields: &[(String, Vec<Value>)]) -> Vec<String> {
    let listed = |values: &[Value]| values.iter().map(|value| value.text(true)).collect::<Vec<_>>().join(",");
    fields.iter().map(|(field, values)| format!("{field}={}", listed(values))).collect()
}

/// The arguments of a call. What is of no use is an error with the field's name.
pub(crate) fn read<T>(asked: &Bound<'_, PyDict>) -> PyResult<T>
where
    T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    asked.extract().map_err(|error: PyErr| {
        let py = asked.py();
        let (mut root, mut field) = (error, None);
        while let Some(cause) = root.cause(py) {
            let said = root.value(py).to_string();
            field = said.rsplit(['.', ' ']).next().map(str::to_owned).or(field);
            root = cause;
        }
        match field {
            Some(field) if root.is_instance_of::<PyOverflowError>(py) => wrong(format!(
                "`{field}` has a number that is out of range\nhelp: a whole number from 0 to {}",
                i64::MAX
            )),
            Some(field) if !root.is_instance_of::<InputError>(py) => {
                PyTypeError::new_err(format!("`{field}`: {}", root.value(py)))
            }
            _ => root,
        }
    })
}

/// How many threads play; 0: one per core.
pub(crate) fn threads(jobs: Option<i64>) -> PyResult<usize> {
    Ok(within("jobs", jobs, 1..=1024)?.map_or(0, |jobs| jobs as usize))
}

/// A number in its range.
pub(crate) fn within(name: &str, value: Option<i64>, range: RangeInclusive<u32>) -> PyResult<Option<u32>> {
    let Some(number) = value else { return Ok(None) };
    match u32::try_from(number).ok().filter(|number| range.contains(number)) {
        Some(number) => Ok(Some(number)),
        None => Err(wrong(format!(
            "`{name}` is {number}\nhelp: a number from {} to {}",
            range.start(),
            range.end()
        ))),
    }
}

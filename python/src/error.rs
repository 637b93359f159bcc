//! The engine's errors as Python's.

use miette::Diagnostic;
use pyo3::prelude::*;
use rampcc_experiment::ExperimentError;
use rampcc_reproduce::ReproduceError;

pyo3::import_exception!(rampcc._errors, RampError);
pyo3::import_exception!(rampcc._errors, InputError);
pyo3::import_exception!(rampcc._errors, RampWarning);

/// An error of the engine.
pub(crate) trait Told: Diagnostic {
    /// True if the input must change.
    fn is_input(&self) -> bool;
}

impl Told for ExperimentError {
    fn is_input(&self) -> bool {
        Self::is_input(self)
    }
}

impl Told for ReproduceError {
    fn is_input(&self) -> bool {
        Self::is_input(self)
    }
}

/// What the command says, without its decoration: the message, and below it what is allowed.
pub(crate) fn text(error: &impl Told) -> String {
    let help = error.help().map_or_else(String::new, |help| format!("\nhelp: {help}"));
    format!("{error}{help}")
}

/// As an exception: `InputError` where the command ends with exit code 2.
pub(crate) fn raise(error: &impl Told) -> PyErr {
    let text = text(error);
    if error.is_input() { InputError::new_err(text) } else { RampError::new_err(text) }
}

/// An argument that the engine never sees.
pub(crate) fn wrong(text: impl Into<String>) -> PyErr {
    InputError::new_err(text.into())
}

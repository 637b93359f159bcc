//! Runs that this process plays for another one.

use std::sync::atomic::AtomicBool;

use rampcc_backend::Backend;
use rampcc_experiment::{Received, Result, Row, Task};

use crate::candidate::{Apart, sent};

/// Plays the run of a comparison or a league over the path that was `received`; the answer is for the caller of
/// [`Workers`](rampcc_experiment::Workers). Candidates are compiled and played as `apart` says.
///
/// # Errors
///
/// Where this process would play another run than the one that was asked for, and where the run fails.
pub fn perform(
    task: &Task,
    received: &Received,
    backend: &dyn Backend,
    apart: &Apart,
    interrupted: &AtomicBool,
) -> Result<String> {
    let row = match &task.code {
        Some(text) => {
            let (algorithm, code) = sent(text, apart)?;
            Row { code: Some(code), ..task.row_of(algorithm) }
        }
        None => task.row()?,
    };
    task.record(&task.run(received, &row, backend)?, interrupted)
}

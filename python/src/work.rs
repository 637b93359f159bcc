//! Work of the engine, beside which Python stays awake.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use rampcc_experiment::{ExperimentError, Progress};
use rayon::ThreadPoolBuilder;

use crate::error::{RampError, RampWarning, raise, text};

/// How long Ctrl-C may go unnoticed.
const LOOK: Duration = Duration::from_millis(50);

/// Who is warned: the caller of the function that asks for this work through another one.
const CALLER: u32 = 3;

/// What is done otherwise than it was asked for.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Progress for Notes {
    fn on_note(&self, line: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
    }
}

/// Does `work` on so many threads (0: one per core) while other threads of Python run, and Ctrl-C raises the flag.
///
/// The threads end with the work: a process that forks afterwards leaves none behind.
pub(crate) fn done<T: Send>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce(&dyn Progress, &AtomicBool) -> Result<T, ExperimentError> + Send,
) -> PyResult<T> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| RampError::new_err(error.to_string()))?;
    let notes = Notes::default();
    let interrupted = AtomicBool::new(false);
    let caller = thread::current();
    let (result, stopped) = thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let result = pool.install(|| work(&notes, &interrupted));
            caller.unpark();
            result
        });
        let mut stopped = None;
        while !worker.is_finished() {
            py.detach(|| thread::park_timeout(LOOK));
            if stopped.is_none()
                && let Err(signal) = py.check_signals()
            {
                interrupted.store(true, Ordering::Relaxed);
                stopped = Some(signal);
            }
        }
        (worker.join().unwrap_or_else(|panic| resume_unwind(panic)), stopped)
    });
    for note in notes.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let warn = py.import("warnings")?.getattr("warn")?;
        warn.call1((note, py.get_type::<RampWarning>(), CALLER))?;
    }
    match (result, stopped) {
        (Ok(value), None) => Ok(value),
        (Ok(_), Some(signal)) => Err(signal),
        (Err(error), None) => Err(raise(&error)),
        (Err(error), Some(signal)) => {
            signal.value(py).call_method1("add_note", (text(&error),))?;
            Err(signal)
        }
    }
}

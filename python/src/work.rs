//! Work of the engine, during which Python can be interrupted.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use rampcc_experiment::{Progress, Workers};
use rayon::ThreadPoolBuilder;

use crate::elsewhere::{Call, Distributor};
use crate::error::{RampError, RampWarning, Told, raise, text};

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

/// Who plays.
#[derive(Debug, Default)]
pub(crate) struct Hands<'a> {
    /// Threads of this process; 0: one per core.
    pub(crate) threads: usize,
    /// A function of Python that has other processes play: an iterator of tasks in, one of answers out.
    pub(crate) distribute: Option<&'a Py<PyAny>>,
}

/// What work has besides its arguments: whom to report to, who else plays, and the flag that stops it.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) progress: &'a dyn Progress,
    pub(crate) workers: Option<&'a dyn Workers>,
    pub(crate) interrupted: &'a AtomicBool,
}

/// Does `work` while other threads of Python run, and Ctrl-C raises the flag. What other processes play, they are given by this thread,
/// whose Python hears signals.
///
/// The threads end with the work: a process that forks afterwards leaves none behind.
pub(crate) fn done<T: Send, E: Told + Send>(
    py: Python<'_>,
    hands: &Hands<'_>,
    work: impl FnOnce(Around<'_>) -> Result<T, E> + Send,
) -> PyResult<T> {
    let pool = ThreadPoolBuilder::new().num_threads(hands.threads).build();
    let pool = pool.map_err(|error| RampError::new_err(error.to_string()))?;
    let notes = Notes::default();
    let interrupted = AtomicBool::new(false);
    let caller = thread::current();
    let (calls, called) = mpsc::channel::<Call>();
    let distributor = hands.distribute.map(|_| Distributor::new(calls, caller.clone()));
    let (result, stopped) = thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let workers = distributor.as_ref().map(|distributor| -> &dyn Workers { distributor });
            let around = Around { progress: &notes, workers, interrupted: &interrupted };
            let result = pool.install(|| work(around));
            caller.unpark();
            result
        });
        let mut stopped = None;
        while !worker.is_finished() {
            let served = if let (Ok(call), Some(distribute)) = (called.try_recv(), hands.distribute) {
                call.serve(distribute.bind(py))
            } else {
                py.detach(|| thread::park_timeout(LOOK));
                py.check_signals()
            };
            if let Err(signal) = served {
                interrupted.store(true, Ordering::Relaxed);
                stopped.get_or_insert(signal);
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

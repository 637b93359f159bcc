//! Runs that other processes play: how they reach Python, and how a worker does them.

use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;

use pyo3::prelude::*;
use pyo3::types::PyString;
use rampcc_experiment::{ExperimentError, Keep, Received, Sent, Task, Workers};
use rampcc_league::{Apart, perform, serve_candidate};

use crate::asked::BACKENDS;
use crate::work::{Hands, done};

/// Passes tasks to the thread that may call Python, and its answers back.
pub(crate) struct Distributor {
    calls: Mutex<Sender<Call>>,
    caller: Thread,
}

/// Asks that thread to have tasks played.
pub(crate) struct Call {
    wants: Sender<Want>,
}

/// What it says to the engine.
enum Want {
    /// The next task.
    Task(Sender<Option<Sent>>),
    /// An answer to keep.
    Keep(usize, String),
    /// Nothing more.
    End,
}

impl Distributor {
    pub(crate) fn new(calls: Sender<Call>, caller: Thread) -> Self {
        Self { calls: Mutex::new(calls), caller }
    }
}

impl Workers for Distributor {
    fn play(
        &self,
        tasks: &mut rampcc_experiment::Tasks<'_>,
        keep: &mut Keep<'_>,
    ) -> Result<(), ExperimentError> {
        let (wants, wanted) = mpsc::channel();
        // Without a listener there is nothing to do: it is stopping.
        let _ = self.calls.lock().unwrap_or_else(PoisonError::into_inner).send(Call { wants });
        self.caller.unpark();
        for want in wanted {
            match want {
                Want::Task(reply) => {
                    let _ = reply.send(tasks.next().transpose()?);
                }
                Want::Keep(number, answer) => keep(number, &answer)?,
                Want::End => break,
            }
        }
        Ok(())
    }
}

impl Call {
    /// Gives the tasks to `distribute`, and its answers to the engine. An engine that has stopped listening says itself why.
    pub(crate) fn serve(self, distribute: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = distribute.py();
        let answered = (|| {
            let tasks = Tasks { wants: Mutex::new(self.wants.clone()), path: Mutex::new(None) };
            let answers = distribute.call1((tasks,))?;
            for answer in answers.try_iter()? {
                let (number, answer) = answer?.extract()?;
                if self.wants.send(Want::Keep(number, answer)).is_err() {
                    answers.call_method0("close")?;
                    break;
                }
            }
            py.check_signals()
        })();
        let _ = self.wants.send(Want::End);
        answered
    }
}

/// Tasks for other processes, one after the other: digest and content of a path, number, content of the task.
#[pyclass(frozen, module = "rampcc._engine")]
pub(crate) struct Tasks {
    wants: Mutex<Sender<Want>>,
    /// The last path.
    path: Mutex<Option<(Arc<str>, Py<PyString>)>>,
}

type Numbered = (String, Py<PyString>, usize, String);

#[pymethods]
impl Tasks {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> Option<Numbered> {
        let (reply, replied) = mpsc::channel();
        self.wants.lock().unwrap_or_else(PoisonError::into_inner).send(Want::Task(reply)).ok()?;
        let Sent { number, digest, path, task } = py.detach(move || replied.recv()).ok()??;
        let mut last = self.path.lock().unwrap_or_else(PoisonError::into_inner);
        let text = match &*last {
            Some((known, text)) if Arc::ptr_eq(known, &path) => text.clone_ref(py),
            _ => PyString::new(py, &path).unbind(),
        };
        *last = Some((path, text.clone_ref(py)));
        Some((digest, text, number, task))
    }
}

/// How candidates are compiled and played: by this Python.
pub(crate) fn apart(py: Python<'_>, compiler: &str) -> PyResult<Apart> {
    let program: String = py.import("sys")?.getattr("executable")?.extract()?;
    Ok(Apart::new(compiler, program, &["-c", "from rampcc._engine import play_candidate; play_candidate()"]))
}

/// Plays a candidate for the process that has started this one.
#[pyfunction]
pub(crate) fn play_candidate() -> PyResult<()> {
    Ok(serve_candidate(BACKENDS[0])?)
}

/// Does tasks on one path, as a worker, and gives their answers in order. Candidates are compiled with `compiler`.
#[pyfunction]
pub(crate) fn play(py: Python<'_>, path: &str, tasks: Vec<String>, compiler: &str) -> PyResult<Vec<String>> {
    let apart = apart(py, compiler)?;
    done(py, &Hands { threads: 1, distribute: None }, |around| {
        let received = Received::read(path)?;
        let answer = |text: String| {
            let task: Task = serde_json::from_str(&text)?;
            perform(&task, &received, BACKENDS[0], &apart, around.interrupted)
        };
        tasks.into_iter().map(answer).collect()
    })
}

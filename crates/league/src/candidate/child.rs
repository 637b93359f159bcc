//! The child: takes a candidate in, gives its rights away, and plays what it is asked.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::AtomicBool;

use libloading::Library;
use rampcc::Algorithm;
use rampcc_backend::Backend;
use rampcc_experiment::{Code, Received, Result, Row, Task, failed};
use rampcc_trace::{CpuSample, FlowDecision, FlowEvent, FlowSample, LinkSample, Observer, Outcome};

use super::confine;
use super::wire::{Ask, BLOCK, Decided, Said, add, messages, receive, send};

/// Serves the process at the other end of standard input, a socket, until that closes it. Runs are played on `backend`.
///
/// # Errors
///
/// Where the other end speaks another language, or is gone in the middle of a word.
pub fn serve_candidate(backend: &dyn Backend) -> io::Result<()> {
    // A file reads and writes with the two plainest calls of the kernel, which a candidate is left anyway.
    let mut line = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut block = Vec::new();
    // A report of a panic would read the program's own file, which a candidate must not.
    panic::set_hook(Box::new(|_| {}));
    let mut loaded = None;
    while receive(&mut line, &mut block)?.is_some() {
        for ask in messages::<Ask>(&block) {
            let mut saying = Saying { line: &mut line, block: Vec::new(), decisions: false, error: None };
            let last = match ask? {
                Ask::Load { object, digest } => match load(&object) {
                    Ok(algorithm) => {
                        loaded = Some(Loaded { algorithm, digest });
                        Said::Loaded(algorithm.description())
                    }
                    Err(message) => Said::Failed(message),
                },
                Ask::Play { path, task, decisions } => {
                    saying.decisions = decisions;
                    let loaded: &Loaded =
                        loaded.as_ref().ok_or_else(|| io::Error::other("nothing is loaded"))?;
                    let run = || loaded.play(&path, &task, backend, &mut saying);
                    match panic::catch_unwind(AssertUnwindSafe(run)) {
                        Ok(Ok(outcome)) => Said::Ended(outcome),
                        Ok(Err(error)) => Said::Failed(error.to_string()),
                        Err(panicked) => Said::Failed(panic_message(panicked.as_ref())),
                    }
                }
            };
            saying.say(&last);
            saying.flush()?;
        }
    }
    Ok(())
}

fn panic_message(panicked: &(dyn std::any::Any + Send)) -> String {
    let text = panicked.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panicked.downcast_ref::<&str>().copied());
    format!("the simulation panicked: {}", text.unwrap_or("without a word"))
}

/// Gives the rights away, and loads. The object may run code of its own as it is loaded.
fn load(object: &[u8]) -> Result<&'static Algorithm, String> {
    let place = confine::Object::new(object).map_err(|error| format!("cannot be set down: {error}"))?;
    confine::before_loading().map_err(|error| format!("its process cannot be confined: {error}"))?;
    let algorithm = open(place.path()).map_err(|error| format!("cannot be loaded: {error}"))?;
    confine::before_playing().map_err(|error| format!("its process cannot be confined: {error}"))?;
    Ok(algorithm)
}

/// The algorithm of a shared object, which stays loaded.
#[expect(unsafe_code, reason = "the algorithm comes from a shared object")]
fn open(object: &std::path::Path) -> Result<&'static Algorithm, libloading::Error> {
    // SAFETY: constructors of the object run here, and may do anything to this process. It is a child that holds nothing but
    // this candidate and has given its rights away; the process that started it takes its output as data.
    let library: &'static Library = Box::leak(Box::new(unsafe { Library::new(object) }?));
    // SAFETY: both are what `shim.c` defines under these names, and the library stays. What a candidate puts there instead
    // harms this process alone.
    let algorithms = unsafe {
        let rows = library.get::<*const std::ffi::c_void>(b"ramp_algorithm_rows\0")?;
        let count = library.get::<*const usize>(b"ramp_algorithm_count\0")?;
        rampcc::foreign_algorithms(*rows, **count)
    };
    let algorithms: &'static [Algorithm] = Box::leak(algorithms.into_boxed_slice());
    Ok(&algorithms[0])
}

/// A candidate, and the digest of its source.
struct Loaded {
    algorithm: &'static Algorithm,
    digest: String,
}

impl Loaded {
    fn play(
        &self,
        path: &str,
        task: &str,
        backend: &dyn Backend,
        saying: &mut Saying<'_>,
    ) -> Result<Outcome> {
        let path = Received::read(path)?;
        let task: Task = serde_json::from_str(task)?;
        let code = Code { text: "".into(), digest: self.digest.clone(), player: None };
        let row = Row { code: Some(code), ..task.row_of(self.algorithm) };
        let run = task.run(&path, &row, backend)?;
        let played = run.play(saying, &AtomicBool::new(false)).map_err(|error| failed(&run, &error))?;
        Ok(played.outcome)
    }
}

/// Passes on what an observer gets.
struct Saying<'a> {
    line: &'a mut File,
    block: Vec<u8>,
    decisions: bool,
    error: Option<io::Error>,
}

impl Saying<'_> {
    fn say(&mut self, said: &Said) {
        if self.error.is_some() {
            return;
        }
        let said = add(&mut self.block, said)
            .and_then(|()| if self.block.len() < BLOCK { Ok(()) } else { send(self.line, &mut self.block) });
        self.error = said.err();
    }

    fn flush(mut self) -> io::Result<()> {
        match self.error.take() {
            Some(error) => Err(error),
            None if self.block.is_empty() => Ok(()),
            None => send(self.line, &mut self.block),
        }
    }
}

impl Observer for Saying<'_> {
    fn on_flow(&mut self, sample: &FlowSample) {
        self.say(&Said::Flow(*sample));
    }
    fn on_link(&mut self, sample: &LinkSample) {
        self.say(&Said::Link(*sample));
    }
    fn on_cpu(&mut self, sample: &CpuSample) {
        self.say(&Said::Cpu(*sample));
    }
    fn on_event(&mut self, event: &FlowEvent) {
        self.say(&Said::Event(*event));
    }
    fn on_decision(&mut self, decision: &FlowDecision) {
        self.say(&Said::Decision(Box::new(Decided::new(decision))));
    }
    fn wants_decisions(&self) -> bool {
        self.decisions
    }
}

//! Candidates played apart: the processes that play them, and what is reported when one of these dies.

use std::fmt;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use rampcc::{Algorithm, Description, Time};
use rampcc_backend::{BackendError, Played};
use rampcc_experiment::{ExperimentError, Parcel, Player, Result, Run, Task};
use rampcc_trace::Observer;

use super::wire::{Ask, Said, add, messages, receive, send};

/// What is added to an error of a candidate that could not be loaded.
const HELP: &str = if cfg!(target_feature = "crt-static") {
    "this ramp is static and cannot load what a compiler has made; docs/install.md says which builds can"
} else {
    "docs/guide/algorithm.md says what a candidate may do"
};
/// How often an interruption and the child's clock are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Of processor time, without a word: hundreds of times what a run takes between two.
const PATIENCE: Duration = Duration::from_secs(10);
/// The same by the clock on the wall, for a child that does not even compute, on however busy a machine.
const ASLEEP: u32 = 30;

/// How candidates are compiled, and what starts the processes that play them.
#[derive(Clone, Debug)]
pub struct Apart {
    /// Compiles C.
    pub compiler: String,
    /// A program that calls [`serve_candidate`](crate::serve_candidate), with its arguments.
    pub program: PathBuf,
    /// These.
    pub arguments: Vec<String>,
    /// Processor time after which a candidate that has not come back is given up.
    pub patience: Duration,
}

impl Apart {
    /// With `compiler`, in processes of `program`.
    pub fn new(compiler: &str, program: impl Into<PathBuf>, arguments: &[&str]) -> Self {
        Self {
            compiler: compiler.to_owned(),
            program: program.into(),
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            patience: PATIENCE,
        }
    }
}

/// A compiled candidate and the processes that have loaded it and are free.
pub(super) struct Processes {
    /// As users call it.
    pub(super) file: String,
    pub(super) apart: Apart,
    pub(super) object: Vec<u8>,
    pub(super) digest: String,
    free: Mutex<Vec<Process>>,
    /// What the first of them said it is.
    algorithm: Mutex<Option<&'static Algorithm>>,
}

impl fmt::Debug for Processes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Processes({})", self.file)
    }
}

impl Processes {
    pub(super) fn new(file: String, apart: Apart, object: Vec<u8>, digest: String) -> Arc<Self> {
        let (free, algorithm) = (Mutex::default(), Mutex::default());
        Arc::new(Self { file, apart, object, digest, free, algorithm })
    }

    /// Loads it into a first process, and says what it is.
    pub(super) fn describe(&self) -> Result<&'static Algorithm> {
        let wrong = |message: String| ExperimentError::Input { message, help: Some(HELP.to_owned()) };
        let (process, description) = self.start(&AtomicBool::new(false)).map_err(|lost| match lost {
            Lost::Said(message) => wrong(format!("your candidate {} {message}", self.file)),
            other => wrong(format!("your candidate {} {other} when it was loaded", self.file)),
        })?;
        let algorithm: &'static Algorithm = Box::leak(Box::new(Algorithm::of_another_process(description)));
        self.lay_by(process);
        *self.algorithm.lock().unwrap_or_else(PoisonError::into_inner) = Some(algorithm);
        Ok(algorithm)
    }

    fn lay_by(&self, process: Process) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(process);
    }

    /// One that is free and lives, or a new one.
    fn process(&self, interrupted: &AtomicBool) -> Result<Process, Lost> {
        let next = || self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        while let Some(mut process) = next() {
            if let Ok(None) = process.child.try_wait() {
                return Ok(process);
            }
        }
        self.start(interrupted).map(|(process, _)| process)
    }

    fn start(&self, interrupted: &AtomicBool) -> Result<(Process, Description), Lost> {
        let mut process = Process::start(&self.apart)?;
        process.ask(&Ask::Load { object: self.object.clone(), digest: self.digest.clone() })?;
        let mut block = Vec::new();
        process.hear(&mut block, interrupted)?;
        match messages(&block).next() {
            Some(Ok(Said::Loaded(description))) if description.is_sound() => Ok((process, description)),
            Some(Ok(Said::Failed(message))) => Err(Lost::Said(message)),
            _ => Err(Lost::Garbled),
        }
    }

    fn run(
        &self,
        run: &Run<'_>,
        observer: &mut dyn Observer,
        reached: &mut Time,
        interrupted: &AtomicBool,
    ) -> Result<Played, Lost> {
        let said = |error: ExperimentError| Lost::Said(error.to_string());
        let path = Parcel::new(run.scenario).map_err(said)?;
        let path = serde_json::to_string(&path).map_err(|error| Lost::Said(error.to_string()))?;
        let mut task = Task::new(run, "").map_err(said)?;
        task.code = None;
        let task = serde_json::to_string(&task).map_err(|error| Lost::Said(error.to_string()))?;
        let algorithm = self.algorithm.lock().unwrap_or_else(PoisonError::into_inner).ok_or(Lost::Garbled)?;
        let mut process = self.process(interrupted)?;
        process.ask(&Ask::Play { path, task, decisions: observer.wants_decisions() })?;
        let mut block = Vec::new();
        loop {
            process.hear(&mut block, interrupted)?;
            for said in messages(&block) {
                match said.map_err(|_| Lost::Garbled)? {
                    Said::Flow(sample) => {
                        *reached = sample.now;
                        observer.on_flow(&sample);
                    }
                    Said::Link(sample) => observer.on_link(&sample),
                    Said::Cpu(sample) => observer.on_cpu(&sample),
                    Said::Event(event) => observer.on_event(&event),
                    Said::Decision(decided) => {
                        observer.on_decision(&decided.open(algorithm).ok_or(Lost::Garbled)?);
                    }
                    Said::Ended(outcome) => {
                        self.lay_by(process);
                        return Ok(Played { outcome, emulation: None });
                    }
                    Said::Failed(message) => {
                        self.lay_by(process);
                        return Err(Lost::Said(message));
                    }
                    Said::Loaded(_) => return Err(Lost::Garbled),
                }
            }
        }
    }
}

impl Player for Processes {
    fn play(
        &self,
        run: &Run<'_>,
        observer: &mut dyn Observer,
        interrupted: &AtomicBool,
    ) -> Result<Played, BackendError> {
        let mut reached = Time::ZERO;
        self.run(run, observer, &mut reached, interrupted).map_err(|lost| match lost {
            Lost::Interrupted => BackendError::Interrupted { at: reached },
            Lost::Said(message) => BackendError::Failed(message),
            Lost::Start(error) => BackendError::Failed(format!("no process for {}: {error}", self.file)),
            lost => BackendError::Failed(format!(
                "your candidate {} {lost} on {}, seed {}",
                self.file, run.scenario.name, run.seed
            )),
        })
    }
}

/// Why there is no answer.
enum Lost {
    /// The child cannot do it, and says why.
    Said(String),
    /// There is no child.
    Start(io::Error),
    /// It is dead.
    Dead(ExitStatus),
    /// It computed for so long without a word.
    Loops(Duration),
    /// It neither computes nor ends.
    Sleeps,
    /// Its output cannot be read.
    Garbled,
    Interrupted,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Said(message) => f.write_str(message),
            Self::Start(error) => write!(f, "has no process: {error}"),
            Self::Dead(status) => match (status.signal(), status.code()) {
                (Some(libc::SIGSYS), _) => {
                    f.write_str("asked the kernel for what a candidate may not do (SIGSYS)")
                }
                (Some(number), _) => write!(f, "crashed ({})", signal_name(number)),
                (None, Some(code)) => write!(f, "ended its process (exit code {code})"),
                (None, None) => f.write_str("ended its process"),
            },
            Self::Loops(time) => {
                write!(f, "did not come back for {} s of processor time", time.as_secs_f64())
            }
            Self::Sleeps => f.write_str("does nothing and does not come back"),
            Self::Garbled => f.write_str("has broken its process, which says what makes no sense"),
            Self::Interrupted => f.write_str("was interrupted"),
        }
    }
}

fn signal_name(number: i32) -> String {
    let known = [
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGTRAP, "SIGTRAP"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGXFSZ, "SIGXFSZ"),
    ];
    known
        .iter()
        .find(|(known, _)| *known == number)
        .map_or_else(|| format!("signal {number}"), |(_, name)| (*name).to_owned())
}

/// A child. It ends with this value.
struct Process {
    child: Child,
    line: UnixStream,
    patience: Duration,
}

impl Process {
    fn start(apart: &Apart) -> Result<Self, Lost> {
        let started = || {
            let (line, theirs) = UnixStream::pair()?;
            line.set_read_timeout(Some(LOOK))?;
            line.set_write_timeout(Some(apart.patience))?;
            let mut command = Command::new(&apart.program);
            command
                .args(&apart.arguments)
                .stdin(Stdio::from(OwnedFd::from(theirs)))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                // A terminal's Ctrl-C is for this process, which decides.
                .process_group(0);
            Ok(Self { child: spawn(command)?, line, patience: apart.patience })
        };
        started().map_err(Lost::Start)
    }

    fn ask(&mut self, ask: &Ask) -> Result<(), Lost> {
        let mut block = Vec::new();
        let sent = add(&mut block, ask).and_then(|()| send(&mut self.line, &mut block));
        sent.map_err(|_| self.buried())
    }

    /// The next block that it says.
    fn hear(&mut self, block: &mut Vec<u8>, interrupted: &AtomicBool) -> Result<(), Lost> {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Lost::Interrupted);
        }
        let mut watch = Watch { silences: 0, computed: self.computed(), patience: self.patience };
        let mut lost = None;
        let (pid, line) = (self.child.id(), &self.line);
        let mut patient = Patient(line, || {
            lost = watch.lost(pid, interrupted);
            lost.is_some()
        });
        let heard = receive(&mut patient, block);
        if let Some(lost) = lost {
            return Err(lost);
        }
        match heard {
            Ok(Some(())) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(Lost::Garbled),
            _ => Err(self.buried()),
        }
    }

    fn computed(&self) -> Duration {
        computed(self.child.id())
    }

    /// What it died of. It has closed its end: a process that is ending has its status already, and any other is ended.
    fn buried(&mut self) -> Lost {
        let _ = self.child.kill();
        self.child.wait().map_or(Lost::Garbled, Lost::Dead)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command, and who waits for its process.
type Order = (Command, mpsc::Sender<io::Result<Child>>);

/// Starts a process from a thread that lives as long as this process does. A child asks the kernel to be killed when its parent
/// dies, and for that the parent is the thread that started it: a caller's thread may end long before its child is idle.
fn spawn(command: Command) -> io::Result<Child> {
    // With the process that the thread is of: a fork has no threads but the one that forked.
    static SPAWNER: Mutex<Option<(u32, mpsc::Sender<Order>)>> = Mutex::new(None);
    let gone = || io::Error::other("the thread that starts processes has ended");
    let (reply, child) = mpsc::channel();
    {
        let mut spawner = SPAWNER.lock().unwrap_or_else(PoisonError::into_inner);
        let orders = match &*spawner {
            Some((process, orders)) if *process == std::process::id() => orders.clone(),
            _ => {
                let (orders, taken) = mpsc::channel::<Order>();
                thread::Builder::new().name("spawner".to_owned()).spawn(move || {
                    for (mut command, reply) in taken {
                        let _ = reply.send(command.spawn());
                    }
                })?;
                *spawner = Some((std::process::id(), orders.clone()));
                orders
            }
        };
        orders.send((command, reply)).map_err(|_| gone())?;
    }
    child.recv().map_err(|_| gone())?
}

/// Since when nothing has been heard.
struct Watch {
    /// Each of [`LOOK`].
    silences: u32,
    computed: Duration,
    patience: Duration,
}

impl Watch {
    fn lost(&mut self, pid: u32, interrupted: &AtomicBool) -> Option<Lost> {
        if interrupted.load(Ordering::Relaxed) {
            return Some(Lost::Interrupted);
        }
        if computed(pid).saturating_sub(self.computed) > self.patience {
            return Some(Lost::Loops(self.patience));
        }
        self.silences += 1;
        (LOOK * self.silences > self.patience * ASLEEP).then_some(Lost::Sleeps)
    }
}

/// Processor time that a process has taken.
#[cfg(target_os = "linux")]
fn computed(pid: u32) -> Duration {
    use nix::time::{clock_getcpuclockid, clock_gettime};
    use nix::unistd::Pid;
    let pid = Pid::from_raw(pid.cast_signed());
    clock_getcpuclockid(pid).and_then(clock_gettime).map_or(Duration::ZERO, Duration::from)
}

/// There is no such clock: [`ASLEEP`] holds.
#[cfg(not(target_os = "linux"))]
fn computed(_: u32) -> Duration {
    Duration::ZERO
}

/// Reads on after each silence until it has to give up.
struct Patient<'a, F>(&'a UnixStream, F);

impl<F: FnMut() -> bool> Read for Patient<'_, F> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(into) {
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    if (self.1)() {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                other => return other,
            }
        }
    }
}

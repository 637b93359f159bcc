//! A command and everything that it starts.

use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use rampcc::Time;
use rampcc_emulator::Clock;

/// The shell that is first in its process namespace. It runs the command as its child, for which signals have their usual
/// meaning, and ends with it; then the kernel ends whatever else is there.
const FIRST: &str = r#"/bin/sh -c "$1" & wait "$!""#;
/// More than this on its outputs is no diagnosis.
pub(super) const OUTPUT_MAX: u64 = 16 << 20;
/// The last words that are kept.
const WORDS: usize = 2 << 10;
/// Time between asking to end and ending.
const GRACE: Duration = Duration::from_millis(500);

/// A running command. Dropping it ends it and everything that it has started, as does the end of this process.
#[derive(Debug)]
pub(super) struct Process {
    first: Pid,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    ended: Mutex<Option<Ended>>,
    changed: Condvar,
    written: AtomicU64,
    flooded: AtomicBool,
    words: Mutex<Vec<u8>>,
}

/// How and when a command ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    /// On the clock of the path; zero: time had not begun.
    pub(super) at: Time,
}

impl Ended {
    /// `exit status 3`, `signal 9`.
    pub(super) fn words(&self) -> String {
        match (self.status.code(), self.status.signal()) {
            // As shells tell of a child's signal.
            (Some(code @ 129..=192), _) => format!("signal {}", code - 128),
            (Some(code), _) => format!("exit status {code}"),
            (_, signal) => format!("signal {}", signal.unwrap_or_default()),
        }
    }
}

impl Process {
    /// Starts `line`; `shell` is `/bin/sh` in the right network namespace.
    pub(super) fn start(mut shell: Command, line: &str, clock: Option<Clock>) -> io::Result<Self> {
        shell.args(["-c", FIRST, "sh", line]);
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let shared = Arc::new(Shared::default());
        let (tell, told) = mpsc::channel();
        let watcher = Arc::clone(&shared);
        // The child ends with the thread that has started it, and the namespace with the child.
        let thread = thread::Builder::new().name("rampcc-program".to_owned()).spawn(move || {
            let started =
                unshare(CloneFlags::CLONE_NEWPID).map_err(io::Error::from).and_then(|()| shell.spawn());
            match started {
                Err(error) => tell.send(Err(error)).unwrap_or_default(),
                Ok(mut child) => {
                    let pipes = (child.stdout.take(), child.stderr.take());
                    let _ = tell.send(Ok((Pid::from_raw(child.id().cast_signed()), pipes)));
                    watcher.wait_for(child, clock);
                }
            }
        })?;
        let started =
            told.recv().unwrap_or_else(|_| Err(io::Error::other("the thread of a program panicked")));
        let (first, (output, errors)) = started?;
        let mut process = Self { first, shared, threads: vec![thread] };
        process.listen(output)?;
        process.listen(errors)?;
        Ok(process)
    }

    pub(super) fn ended(&self) -> Option<Ended> {
        *self.shared.ended()
    }

    /// The same, at most so long from now.
    pub(super) fn wait(&self, most: Duration) -> Option<Ended> {
        let ended = self.shared.ended();
        let waited = self.shared.changed.wait_timeout_while(ended, most, |ended| ended.is_none());
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Whether it has written more than [`OUTPUT_MAX`].
    pub(super) fn flooded(&self) -> bool {
        self.shared.flooded.load(Ordering::Relaxed)
    }

    /// The first process of its namespace.
    pub(super) fn first(&self) -> Pid {
        self.first
    }

    /// The last line that it has written, and all before it; to be called once it has ended.
    pub(super) fn last_words(&mut self) -> String {
        self.end();
        let words = self.shared.words.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&words);
        let last = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
        let plain: String = last.chars().filter(|c| !c.is_control()).take(200).collect();
        plain
    }

    fn listen(&mut self, pipe: Option<impl Read + Send + 'static>) -> io::Result<()> {
        let Some(pipe) = pipe else { return Ok(()) };
        let shared = Arc::clone(&self.shared);
        let listener = thread::Builder::new().name("rampcc-words".to_owned());
        self.threads.push(listener.spawn(move || shared.listen(pipe))?);
        Ok(())
    }

    /// Asks it to end, then ends it.
    fn end(&mut self) {
        self.signal(|first| killpg(first, Signal::SIGTERM));
        if self.wait(GRACE).is_none() {
            self.signal(|first| kill(first, Signal::SIGKILL));
        }
        for thread in self.threads.drain(..) {
            // It has nothing to tell.
            let _ = thread.join();
        }
    }

    fn signal(&self, send: impl FnOnce(Pid) -> nix::Result<()>) {
        let ended = self.shared.ended();
        // Until it has been waited for, its number cannot be another process's.
        if ended.is_none() {
            let _ = send(self.first);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn ended(&self) -> MutexGuard<'_, Option<Ended>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for(&self, mut child: Child, clock: Option<Clock>) {
        let first = Pid::from_raw(child.id().cast_signed());
        while waitid(Id::Pid(first), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT)
            == Err(nix::errno::Errno::EINTR)
        {}
        let at = clock.map_or(Time::ZERO, Clock::now);
        let mut ended = self.ended();
        // A process whose end is unknown has failed.
        let status = child.wait().unwrap_or_else(|_| ExitStatus::from_raw(1 << 8));
        *ended = Some(Ended { status, at });
        self.changed.notify_all();
    }

    /// Until no process writes any more, or there was too much.
    fn listen(&self, mut pipe: impl Read) {
        let mut buffer = [0; 16 << 10];
        loop {
            let read = match pipe.read(&mut buffer) {
                Ok(0) => return,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return,
            };
            let before = self.written.fetch_add(read as u64, Ordering::Relaxed);
            if before + read as u64 > OUTPUT_MAX {
                // The waiting thread gets an error; the writer meets a closed pipe.
                self.flooded.store(true, Ordering::Relaxed);
                return;
            }
            let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
            words.extend_from_slice(&buffer[..read]);
            let surplus = words.len().saturating_sub(WORDS);
            words.drain(..surplus);
        }
    }
}

//! One TCP transfer over the path, with real sockets.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rampcc::Time;
use rampcc_trace::FlowSample;

use crate::connection::{Connect, Connection, Opener, run_above_engine};
use crate::{Clock, EmulatorError, Result, Running, TcpInfo};

/// Written or read at once.
const CHUNK: usize = 256 << 10;
/// Transfer to make.
#[derive(Clone, Debug)]
pub struct Download {
    /// Index of the flow: its hosts are the transfer's, and samples carry it.
    pub flow: usize,
    /// Payload bytes; `u64::MAX`: until `limit`.
    pub size_bytes: u64,
    /// The sender's congestion control; `None`: the namespace's default, `reno`.
    pub congestion_control: Option<String>,
    /// End that opens the connection.
    pub opener: Opener,
    /// Time between looks at `TCP_INFO`.
    pub sample_every: Time,
    /// Give up after this long.
    pub limit: Time,
}

/// Outcome of the transfer. Times are those of [`Running::clock`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Downloaded {
    /// The congestion control that steered it.
    pub congestion_control: String,
    /// Time of the first SYN.
    pub opened: Time,
    /// Time when the sender's socket was connected.
    pub established: Time,
    /// Time when the receiver had read the last byte; `None`: it gave up first.
    pub completed: Option<Time>,
    /// Payload bytes that the receiver has read.
    pub received_bytes: u64,
    /// The sender's socket at the end.
    pub sender: TcpInfo,
    /// Samples passed on.
    pub samples: u64,
    /// Looks at `TCP_INFO` that failed.
    pub samples_lost: u64,
}

impl Downloaded {
    /// From the first SYN to the last byte.
    pub fn duration(&self) -> Option<Time> {
        self.completed.map(|completed| completed - self.opened)
    }
}

impl Default for Download {
    fn default() -> Self {
        Self {
            flow: 0,
            size_bytes: 10_000_000,
            congestion_control: None,
            opener: Opener::Sender,
            sample_every: Time::from_ms(2),
            limit: Time::from_secs(120),
        }
    }
}

impl Running {
    /// Transfers bytes over the path, and passes on what the sender's socket says of itself whenever that has changed.
    ///
    /// It returns when the receiver has the last byte, or at the limit. Transfers may run at the same time, each in a
    /// thread of its own.
    pub fn download(&self, download: &Download, sampled: impl FnMut(&FlowSample)) -> Result<Downloaded> {
        if download.flow >= self.scenario().flows.len() {
            return Err(EmulatorError::Flow { index: download.flow });
        }
        let connection = self.connect(&Connect {
            flow: download.flow,
            congestion_control: download.congestion_control.clone(),
            opener: download.opener,
            paced: false,
            limit: download.limit,
        })?;
        let deadline = connection.opened + download.limit;
        Transfer { download, clock: self.clock(), connection, deadline }.run(sampled)
    }
}

struct Transfer<'a> {
    download: &'a Download,
    clock: Clock,
    connection: Connection,
    deadline: Time,
}

/// What the threads of a transfer share.
#[derive(Default)]
struct Shared {
    received: AtomicU64,
    over: AtomicBool,
}

impl Transfer<'_> {
    fn run(&self, sampled: impl FnMut(&FlowSample)) -> Result<Downloaded> {
        let shared = Shared::default();
        let (done, completed) = channel();
        thread::scope(|scope| {
            let sending = scope.spawn(|| {
                // Without the privilege it works as well as it can; the emulator's report tells.
                let _ = run_above_engine();
                self.send(&shared)
            });
            let receiving = scope.spawn(|| {
                let _ = run_above_engine();
                let result = self.receive(&shared);
                // The other end waits as long as this thread lives.
                let _ = done.send(());
                result
            });
            let (samples, samples_lost) = self.watch(&shared, &completed, sampled);
            shared.over.store(true, Ordering::Relaxed);
            let received = receiving.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let sent = sending.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            sent.map_err(|cause| EmulatorError::io("sending", cause))?;
            let completed = received.map_err(|cause| EmulatorError::io("receiving", cause))?;
            let sender = TcpInfo::of(&self.connection.sender)
                .map_err(|cause| EmulatorError::io("reading TCP_INFO", cause))?;
            Ok(Downloaded {
                congestion_control: self.connection.congestion_control.clone(),
                opened: self.connection.opened,
                established: self.connection.established,
                completed,
                received_bytes: shared.received.load(Ordering::Relaxed),
                sender,
                samples,
                samples_lost,
            })
        })
    }

    fn over(&self, shared: &Shared) -> bool {
        shared.over.load(Ordering::Relaxed) || self.clock.now() >= self.deadline
    }

    fn send(&self, shared: &Shared) -> io::Result<()> {
        let chunk = vec![0; CHUNK];
        let mut left = self.download.size_bytes;
        let mut stream = &self.connection.sender;
        while left > 0 && !self.over(shared) {
            let length = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
            match stream.write(&chunk[..length]) {
                Ok(written) => left -= written as u64,
                Err(error) if is_wait(&error) => {}
                // The receiver gave up at the limit.
                Err(_) if self.over(shared) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        if left == 0 {
            stream.shutdown(Shutdown::Write)?;
        }
        Ok(())
    }

    /// When the last byte was read; `None` if it gave up.
    fn receive(&self, shared: &Shared) -> io::Result<Option<Time>> {
        let mut buffer = vec![0; CHUNK];
        let mut received = 0;
        while !self.over(shared) {
            match self.connection.receiver.stream().and_then(|mut stream| stream.read(&mut buffer)) {
                Ok(0) if received < self.download.size_bytes => {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the sender stopped early"));
                }
                Ok(read) => received += read as u64,
                Err(error) if is_wait(&error) => continue,
                Err(error) => return Err(error),
            }
            shared.received.store(received, Ordering::Relaxed);
            if received >= self.download.size_bytes {
                return Ok(Some(self.clock.now()));
            }
        }
        Ok(None)
    }

    /// Samples the sender's socket until the receiver is done; how many samples there were, and how many failed.
    fn watch(
        &self,
        shared: &Shared,
        completed: &Receiver<()>,
        mut sampled: impl FnMut(&FlowSample),
    ) -> (u64, u64) {
        let paces = self.connection.congestion_control.contains("bbr");
        let every = Duration::from_nanos(self.download.sample_every.ns().max(100_000));
        let (mut samples, mut lost, mut last) = (0, 0, TcpInfo::default());
        loop {
            let waited = completed.recv_timeout(every);
            match TcpInfo::of(&self.connection.sender) {
                Ok(info) if info != last => {
                    sampled(&info.sample(self.clock.now(), self.download.flow as u32, paces));
                    samples += 1;
                    last = info;
                }
                Ok(_) => {}
                Err(_) => lost += 1,
            }
            if waited != Err(RecvTimeoutError::Timeout) || self.over(shared) {
                return (samples, lost);
            }
        }
    }
}

fn is_wait(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

//! The applications of a run: each flow opens its connection at its time, writes, and reads at the other end.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rampcc::Time;
use rampcc_emulator::{Connect, Connection, EmulatorError, Opener, Running, TcpInfo, run_above_engine};
use rampcc_scenario::{FlowConfig, Scenario, Source};
use rampcc_tcp::Pacing;
use rampcc_trace::{FlowEvent, FlowEventKind, next_round_number};

use crate::controls::Controls;
use crate::{Result, TestbedError};

/// Written or read at once.
const CHUNK: usize = 256 << 10;
/// How often a server looks whether all it wrote is acknowledged: a tenth of the shortest round trips that are played.
const ACKED_LOOK: Time = Time::from_us(100);
/// How often waiting threads look whether the run was interrupted.
const LOOK: Duration = Duration::from_millis(100);

/// What the threads of a run share.
pub(crate) struct Stage<'a> {
    pub(crate) running: &'a Running,
    pub(crate) scenario: &'a Scenario,
    pub(crate) controls: &'a Controls,
    pub(crate) interrupted: &'a AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

/// How a server answers requests.
#[derive(Clone, Copy)]
struct Responses {
    bytes: u64,
    /// From a request to its answer.
    think: Time,
    left: u64,
}

#[derive(Default)]
struct State {
    under_test: usize,
    /// Set once: the run has ended.
    over: Option<Time>,
    open: Vec<Arc<Opened>>,
}

/// A connection that has been opened.
pub(crate) struct Opened {
    pub(crate) flow: usize,
    pub(crate) connection: Connection,
}

/// What became of a flow.
#[derive(Debug, Default)]
pub(crate) struct Transfer {
    /// `None`: the run ended first.
    pub(crate) opened: Option<Time>,
    pub(crate) completed: Option<Time>,
    pub(crate) received_bytes: u64,
    pub(crate) events: Vec<FlowEvent>,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(
        running: &'a Running,
        scenario: &'a Scenario,
        controls: &'a Controls,
        interrupted: &'a AtomicBool,
    ) -> Self {
        let under_test = scenario.flows.iter().filter(|flow| flow.under_test).count();
        let state = Mutex::new(State { under_test, ..State::default() });
        Self { running, scenario, controls, interrupted, state, changed: Condvar::new() }
    }

    /// Connections in the order of opening, those from `from` on.
    pub(crate) fn opened(&self, from: usize) -> Vec<Arc<Opened>> {
        self.state().open.iter().skip(from).map(Arc::clone).collect()
    }

    /// When the run ended; `None`: it goes on.
    pub(crate) fn over(&self) -> Option<Time> {
        let mut state = self.state();
        let now = self.running.clock().now();
        if state.over.is_none()
            && (now >= self.scenario.stop.after || self.interrupted.load(Ordering::Relaxed))
        {
            self.end(&mut state, now.min(self.scenario.stop.after));
        }
        state.over
    }

    /// Waits until `at` on the run's clock; `false`: the run ended first.
    pub(crate) fn wait_until(&self, at: Time) -> bool {
        loop {
            if self.over().is_some() {
                return false;
            }
            let now = self.running.clock().now();
            if now >= at {
                return true;
            }
            let left = Duration::from_nanos((at - now).ns()).min(LOOK);
            // Whether it timed out or not, the loop looks again.
            let _ = self.changed.wait_timeout(self.state(), left).map_err(PoisonError::into_inner);
        }
    }

    /// One flow from its opening to its end. An error ends the run.
    pub(crate) fn transfer(&self, flow: usize, at: Time) -> Result<Transfer> {
        // Without the privilege it works as well as it can; the emulator's report tells.
        let _ = run_above_engine();
        let result = self.try_transfer(flow, at);
        if result.is_err() {
            self.give_up();
        }
        result
    }

    /// Ends the run now.
    pub(crate) fn give_up(&self) {
        let now = self.running.clock().now();
        self.end(&mut self.state(), now);
    }

    fn try_transfer(&self, flow: usize, at: Time) -> Result<Transfer> {
        let config = &self.scenario.flows[flow];
        let mut transfer = Transfer::default();
        if !self.wait_until(at) {
            return Ok(transfer);
        }
        let Some(opened) = self.open(flow, config, &mut transfer)? else { return Ok(transfer) };
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let _ = run_above_engine();
                self.receive(&opened, config)
            });
            let sent = self.send(&opened, &config.source);
            let received = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            sent.map_err(|cause| TestbedError::Io { action: "sending", cause })?;
            let received = received.map_err(|cause| TestbedError::Io { action: "receiving", cause })?;
            transfer.completed = received.completed;
            transfer.received_bytes = received.received_bytes;
            transfer.events.extend(received.events);
            Ok(transfer)
        })
    }

    fn open(&self, flow: usize, config: &FlowConfig, transfer: &mut Transfer) -> Result<Option<Arc<Opened>>> {
        let now = self.running.clock().now();
        transfer.opened = Some(now);
        let kind =
            FlowEventKind::Opened { size_bytes: config.source.size_bytes(), under_test: config.under_test };
        transfer.events.push(FlowEvent { now, flow: flow as u32, kind });
        let wanted = Connect {
            flow,
            congestion_control: Some(self.controls.names[flow].clone()),
            opener: Opener::Sender,
            paced: config.sender.pacing == Pacing::Always,
            limit: self.scenario.stop.after - now,
        };
        let connection = match self.running.connect(&wanted) {
            Ok(connection) => connection,
            // The end of the run came first.
            Err(EmulatorError::Late { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if connection.congestion_control != self.controls.names[flow] {
            let problem = format!(
                "it asked for congestion control {} and got {}",
                self.controls.names[flow], connection.congestion_control
            );
            return Err(TestbedError::Steering { flow: config.name.clone(), problem });
        }
        let now = connection.established;
        transfer.events.push(FlowEvent { now, flow: flow as u32, kind: FlowEventKind::Established });
        let opened = Arc::new(Opened { flow, connection });
        self.state().open.push(Arc::clone(&opened));
        self.changed.notify_all();
        Ok(Some(opened))
    }

    fn send(&self, opened: &Opened, source: &Source) -> io::Result<()> {
        let endless = |count: u64| if count == 0 { u64::MAX } else { count };
        let all = match *source {
            Source::Bulk => self.write(opened, u64::MAX)?,
            Source::Sized(bytes) => self.write(opened, bytes)?,
            Source::Chunks { chunk_bytes, interval, chunks } => {
                self.write_chunks(opened, chunk_bytes, interval, endless(chunks))?
            }
            Source::Responses { first_bytes, response_bytes, think, responses } => {
                let responses = Responses { bytes: response_bytes, think, left: endless(responses) };
                self.respond(opened, first_bytes, responses)?
            }
        };
        if !all {
            return Ok(());
        }
        match opened.connection.sender.shutdown(Shutdown::Write) {
            // The receiver has everything and is gone.
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            other => other,
        }
    }

    /// `false`: the run ended first.
    fn write_chunks(&self, opened: &Opened, bytes: u64, interval: Time, mut left: u64) -> io::Result<bool> {
        let mut next = opened.connection.opened;
        while left > 0 {
            if !self.wait_until(next) || !self.write(opened, bytes)? {
                return Ok(false);
            }
            next += interval;
            left -= u64::from(left != u64::MAX);
        }
        Ok(true)
    }

    /// `false`: the run ended first.
    fn respond(&self, opened: &Opened, first: u64, responses: Responses) -> io::Result<bool> {
        let Responses { bytes, think, mut left } = responses;
        let mut written = first;
        if first > 0 && !self.write(opened, first)? {
            return Ok(false);
        }
        while left > 0 {
            if written > 0 && !self.wait_for_request(opened, written, think)? {
                return Ok(false);
            }
            if !self.write(opened, bytes)? {
                return Ok(false);
            }
            written = written.saturating_add(bytes);
            left -= u64::from(left != u64::MAX);
        }
        Ok(true)
    }

    /// Until so many bytes, all there are, have been acknowledged, and `think` longer. `false`: the run ended first.
    fn wait_for_request(&self, opened: &Opened, written: u64, think: Time) -> io::Result<bool> {
        loop {
            let info = TcpInfo::of(&opened.connection.sender)?;
            let now = self.running.clock().now();
            if info.unacked == 0 && info.bytes_acked >= written {
                return Ok(self.wait_until(now + think));
            }
            if !self.wait_until(now + ACKED_LOOK) {
                return Ok(false);
            }
        }
    }

    /// `false`: the run ended first.
    fn write(&self, opened: &Opened, bytes: u64) -> io::Result<bool> {
        let chunk = vec![0; CHUNK];
        let mut stream = &opened.connection.sender;
        let mut left = bytes;
        while left > 0 {
            if self.over().is_some() {
                return Ok(false);
            }
            let length = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
            match stream.write(&chunk[..length]) {
                Ok(written) => left -= written as u64,
                Err(error) if is_wait(&error) => {}
                Err(_) if self.over().is_some() => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn receive(&self, opened: &Opened, config: &FlowConfig) -> io::Result<Transfer> {
        let size_bytes = config.source.size_bytes();
        let mut buffer = vec![0; CHUNK];
        let mut transfer = Transfer::default();
        let mut report_from = 1;
        while transfer.completed.is_none() {
            if self.over().is_some() {
                return Ok(transfer);
            }
            match opened.connection.receiver.stream().and_then(|mut stream| stream.read(&mut buffer)) {
                Ok(0) => {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the sender stopped early"));
                }
                Ok(read) => transfer.received_bytes += read as u64,
                Err(error) if is_wait(&error) => continue,
                Err(_) if self.over().is_some() => return Ok(transfer),
                Err(error) => return Err(error),
            }
            let (now, flow, bytes) =
                (self.running.clock().now(), opened.flow as u32, transfer.received_bytes);
            let mut tell = |kind| transfer.events.push(FlowEvent { now, flow, kind });
            if bytes >= report_from {
                report_from = next_round_number(bytes).min(config.source.write_end(bytes));
                tell(FlowEventKind::Received { bytes });
            }
            if bytes >= size_bytes {
                tell(FlowEventKind::Completed { bytes });
                transfer.completed = Some(now);
                self.complete(config, now);
            }
        }
        Ok(transfer)
    }

    fn complete(&self, config: &FlowConfig, now: Time) {
        let mut state = self.state();
        state.under_test -= usize::from(config.under_test);
        if config.under_test && state.under_test == 0 && self.scenario.stop.when_complete {
            self.end(&mut state, now);
        }
    }

    fn end(&self, state: &mut MutexGuard<'_, State>, now: Time) {
        if state.over.is_none() {
            state.over = Some(now);
            self.changed.notify_all();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn is_wait(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

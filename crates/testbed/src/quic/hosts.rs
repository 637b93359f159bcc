//! What the threads of a run do besides carrying datagrams.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rampcc::Time;
use rampcc_quic_sim::{Receiver, Sender};
use rampcc_sim::{Receiving, Sending};
use rampcc_trace::{FlowEvent, FlowEventKind, next_round_number};

use super::driver::Host;
use crate::log::Log;

pub(super) const FLOW: u32 = 0;

/// When the run ended, for both threads.
pub(super) struct Over<'a> {
    at: AtomicU64,
    after: Time,
    interrupted: &'a AtomicBool,
}

impl<'a> Over<'a> {
    /// At `after` at the latest.
    pub(super) fn new(after: Time, interrupted: &'a AtomicBool) -> Self {
        Self { at: AtomicU64::new(u64::MAX), after, interrupted }
    }

    pub(super) fn end(&self, now: Time) {
        self.at.fetch_min(now.ns(), Ordering::Relaxed);
    }

    pub(super) fn goes_on(&self, now: Time) -> bool {
        self.at.load(Ordering::Relaxed) == u64::MAX
            && now < self.after
            && !self.interrupted.load(Ordering::Relaxed)
    }
}

/// What else the sending thread does.
pub(super) struct Sends<'a> {
    over: &'a Over<'a>,
    size_bytes: u64,
    sampled: bool,
    /// Every call of the algorithm is wanted.
    recorded: bool,
    state: State,
    pub(super) samples: u64,
    pub(super) log: Log,
}

/// Of the connection, as its application knows it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Lost,
}

impl<'a> Sends<'a> {
    pub(super) fn new(over: &'a Over<'a>, size_bytes: u64, sampled: bool, recorded: bool) -> Self {
        let (state, log) = (State::New, Log::default());
        Self { over, size_bytes, sampled, recorded: sampled && recorded, state, samples: 0, log }
    }

    fn event(&mut self, now: Time, kind: FlowEventKind) {
        self.log.event(FlowEvent { now, flow: FLOW, kind });
    }
}

impl Host for Sends<'_> {
    type End = Sender;

    fn attend(&mut self, end: &mut Sender, now: Time, packet: bool) {
        if self.state == State::New {
            self.state = State::Open;
            if self.recorded {
                end.record_decisions();
            }
            self.event(now, FlowEventKind::Opened { size_bytes: self.size_bytes, under_test: true });
            end.open(now);
            end.write(now, self.size_bytes);
            end.finish(now);
        }
        if packet && self.sampled {
            self.samples += 1;
            self.log.flow(end.sample(now));
        }
        while let Some(decision) = end.poll_decision() {
            self.log.decision(decision);
        }
        while let Some(kind) = end.poll_event() {
            if matches!(kind, FlowEventKind::ConnectionLost) {
                self.state = State::Lost;
            }
            self.event(now, kind);
        }
    }

    /// Nothing moves any more once the connection is lost.
    fn goes_on(&mut self, now: Time) -> bool {
        if self.state == State::Lost {
            self.over.end(self.over.after);
        }
        self.over.goes_on(now)
    }
}

/// What else the receiving thread does.
pub(super) struct Receives<'a> {
    over: &'a Over<'a>,
    sampled: bool,
    /// In-order bytes from which the next report is due.
    report_from: u64,
    pub(super) completed: Option<Time>,
    pub(super) received: u64,
    pub(super) log: Log,
}

impl<'a> Receives<'a> {
    pub(super) fn new(over: &'a Over<'a>, sampled: bool) -> Self {
        Self { over, sampled, report_from: 1, completed: None, received: 0, log: Log::default() }
    }
}

impl Host for Receives<'_> {
    type End = Receiver;

    fn attend(&mut self, end: &mut Receiver, now: Time, _: bool) {
        self.received = end.received_bytes();
        let mut event = |kind| self.log.event(FlowEvent { now, flow: FLOW, kind });
        if self.sampled && self.received >= self.report_from {
            self.report_from = next_round_number(self.received);
            event(FlowEventKind::Received { bytes: self.received });
        }
        if self.completed.is_none() && end.completed() {
            self.completed = Some(now);
            event(FlowEventKind::Completed { bytes: self.received });
            self.over.end(now);
        }
    }

    fn goes_on(&mut self, now: Time) -> bool {
        self.over.goes_on(now)
    }
}

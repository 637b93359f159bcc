//! Events of the programs in the kernel, from their ring buffers: every ACK of a start-up, and its end.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use rampcc::{Ack, Decision, EventKind, ExitReason, Phase, Time};
use rampcc_emulator::Clock;
use rampcc_linux::{CallEvent, Calls, Event, Loaded};
use rampcc_scenario::FlowConfig;
use rampcc_trace::{Call, FlowDecision, FlowEvent, FlowEventKind, FlowSample, Told as CallTold};

use crate::controls::{Controls, Steered};
use crate::seen::Seen;
use crate::told::FlowTold;
use crate::{Result, TestbedError};

/// One connection of so many may begin with its first ACK.
const LEFT_OUT: u64 = 200;

/// Events by load and by the kernel's number of the connection, in order.
#[derive(Default)]
pub(crate) struct Told {
    events: BTreeMap<(usize, u64), Vec<Event>>,
}

impl Told {
    pub(crate) fn gather(&mut self, loaded: &[Loaded]) -> io::Result<()> {
        for (index, loaded) in loaded.iter().enumerate() {
            for event in loaded.drain(Duration::ZERO)? {
                self.events.entry((index, event.header().flow)).or_default().push(event);
            }
        }
        Ok(())
    }

    /// Events that found no room in the ring buffers.
    pub(crate) fn lost(controls: &Controls) -> io::Result<u64> {
        controls.loaded.iter().map(|loaded| Ok(loaded.counters()?.lost_events)).sum()
    }

    /// Every connection that should have a program has one, from its beginning on. `connections` are the numbers of each kind:
    /// of a thousand pages a few may begin with their first ACK.
    pub(crate) fn check(controls: &Controls, kinds: &[FlowConfig], connections: &[u64]) -> Result {
        for (index, loaded) in controls.loaded.iter().enumerate() {
            let counters = loaded.counters();
            let counters = counters
                .map_err(|cause| TestbedError::Io { action: "reading the programs' counters", cause })?;
            let flows = || (0..kinds.len()).filter(|flow| controls.loaded_of[*flow] == Some(index));
            let flow = || flows().next().map_or(String::new(), |flow| kinds[flow].name.clone());
            if counters.without_storage > 0 {
                return Err(TestbedError::Steering {
                    flow: flow(),
                    problem: "the kernel had no memory for the algorithm's state (net.core.optmem_max)"
                        .to_owned(),
                });
            }
            let connections: u64 = flows().map(|flow| connections[flow]).sum();
            if counters.left_out > connections / LEFT_OUT || counters.opened < connections {
                return Err(TestbedError::LeftOut { flow: flow() });
            }
        }
        Ok(())
    }

    /// What was reported of one flow, as samples and events.
    pub(crate) fn of_flow(&self, flow: usize, seen: &Seen, controls: &Controls, clock: Clock) -> FlowTold {
        let steers = steering(flow, controls).is_some();
        let mut told = FlowTold { steers, ..FlowTold::default() };
        let Some(events) = self.events_of(flow, seen, controls) else { return told };
        let mut looks = seen.looks.iter().map(|look| look.sample).peekable();
        let mut known = FlowSample { flow: flow as u32, ..FlowSample::default() };
        let mut newest: Option<&Ack> = None;
        let mut acks = events.iter().filter_map(ack).skip(1);
        // Of a start-up that a timeout has begun again the first exit is the run's.
        let mut followed = false;
        for event in events {
            match event {
                Event::Call(CallEvent { header, call, .. }) if matches!(call.told, CallTold::Open(_)) => {
                    known.now = clock.from_monotonic(header.time());
                    known.cwnd_bytes = call.after.cwnd_bytes;
                    known.ssthresh_bytes = call.after.ssthresh_bytes;
                    known.pacing_bytes_per_s = call.after.pacing_bytes_per_s;
                    told.samples.push(known);
                }
                Event::Call(event) if resumes(&event.call) && told.exited.is_some() && !followed => {
                    let now = clock.from_monotonic(event.header.time());
                    let kind = FlowEventKind::StartupResumed;
                    told.events.push(FlowEvent { now, flow: flow as u32, kind });
                    told.exited = None;
                }
                Event::Call(event) => {
                    let Some(ack) = event.ack() else { continue };
                    let now = clock.from_monotonic(event.header.time());
                    while let Some(look) = looks.next_if(|look| look.now <= now) {
                        known = FlowSample { min_rtt: known.min_rtt, ..look };
                    }
                    // What the next ACK found under way is what this one left there.
                    let in_flight = acks.next().map(|next| next.in_flight_bytes);
                    known = sample(now, ack, &event.call.after, in_flight, &known);
                    told.samples.push(known);
                    newest = Some(ack);
                }
                Event::Exit(exit) if told.exited.is_none() => {
                    let sent = newest.map_or(Time::ZERO, |ack| Time::from_ns(ack.newest_sent_ns));
                    let decision = &exit.decision;
                    let sent = steering(flow, controls).map_or(sent, |load| {
                        let algorithm = controls.loaded[load].algorithm();
                        algorithm.decided_by(decision.exit_reason(), decision.evidence, sent)
                    });
                    let left = left(exit, clock, flow as u32, sent);
                    told.exited = Some(left.now);
                    if exit.decision.exit_reason() != ExitReason::None {
                        told.events.push(left);
                    }
                }
                Event::Exit(_) => followed = true,
                Event::Close(_) => {}
            }
        }
        told.count = events.len() as u64;
        told
    }

    /// The first exits of all connections that are not listed flows; `whose` knows them by the server's end, the client's, and a
    /// time.
    pub(crate) fn exits(
        &self,
        clock: Clock,
        whose: impl Fn(SocketAddr, SocketAddr, Time) -> Option<u32>,
    ) -> Vec<FlowEvent> {
        let first = |events: &Vec<Event>| {
            let exit = events
                .iter()
                .find_map(|event| if let Event::Exit(exit) = event { Some(exit) } else { None })?;
            let left = left(exit, clock, 0, Time::ZERO);
            let flow = whose(exit.tuple.local(), exit.tuple.remote(), left.now)?;
            (exit.decision.exit_reason() != ExitReason::None).then_some(FlowEvent { flow, ..left })
        };
        self.events.values().filter_map(first).collect()
    }

    /// Every call of the algorithm that steers one flow.
    pub(crate) fn decisions(
        &self,
        flow: usize,
        seen: &Seen,
        controls: &Controls,
        clock: Clock,
    ) -> Vec<FlowDecision> {
        let mut calls = Calls::default();
        let events = self.events_of(flow, seen, controls).into_iter().flatten();
        events
            .filter_map(|event| calls.handle_event(event))
            .map(|decision| FlowDecision {
                now: clock.from_monotonic(decision.now),
                flow: flow as u32,
                ..decision
            })
            .collect()
    }

    /// What was reported of the connection of one flow.
    fn events_of(&self, flow: usize, seen: &Seen, controls: &Controls) -> Option<&Vec<Event>> {
        let load = steering(flow, controls)?;
        let opened = seen.connection.as_ref()?;
        let ends = [opened.connection.local, opened.connection.remote];
        self.events.iter().find_map(|((from, _), events)| {
            (*from == load && events.iter().any(|event| tuple(event) == Some(ends))).then_some(events)
        })
    }
}

/// The end of a flow's start-up. `sent`: when what decided it was sent, if that is known.
fn left(exit: &rampcc_linux::FlowEvent, clock: Clock, flow: u32, sent: Time) -> FlowEvent {
    let decision = exit.decision;
    let kind = FlowEventKind::StartupExit {
        reason: decision.exit_reason(),
        evidence: decision.evidence,
        limit: decision.limit,
        cwnd_bytes: decision.cwnd_bytes,
        deciding_sent: clock.from_monotonic(sent),
    };
    FlowEvent { now: clock.from_monotonic(exit.exited().unwrap_or(exit.header.time())), flow, kind }
}

fn steering(flow: usize, controls: &Controls) -> Option<usize> {
    controls.loaded_of[flow].filter(|_| controls.steered[flow] == Steered::Core)
}

fn ack(event: &Event) -> Option<&Ack> {
    if let Event::Call(call) = event { call.ack() } else { None }
}

/// Whether the exit that a reduction caused is taken back with it.
fn resumes(call: &Call) -> bool {
    matches!(&call.told, CallTold::Event(event) if event.kind == EventKind::Undone)
        && call.before.phase() == Phase::Done
        && call.after.phase() != Phase::Done
}

fn tuple(event: &Event) -> Option<[SocketAddr; 2]> {
    let tuple = match event {
        Event::Call(event) => event.tuple.as_ref()?,
        Event::Exit(event) | Event::Close(event) => &event.tuple,
    };
    Some([tuple.local(), tuple.remote()])
}

/// One ACK of a start-up. What only `TCP_INFO` tells is as at the latest look.
fn sample(now: Time, ack: &Ack, after: &Decision, in_flight: Option<u64>, known: &FlowSample) -> FlowSample {
    let rtt = Time::from_us(u64::from(ack.rtt_us));
    let min_rtt = match (rtt, known.min_rtt) {
        (Time::ZERO, known) => known,
        (rtt, Time::ZERO) => rtt,
        (rtt, known) => rtt.min(known),
    };
    FlowSample {
        now,
        cwnd_bytes: after.cwnd_bytes,
        ssthresh_bytes: after.ssthresh_bytes,
        in_flight_bytes: in_flight.unwrap_or(ack.in_flight_bytes.saturating_sub(ack.acked_bytes)),
        sent_bytes: ack.sent_bytes,
        delivered_bytes: ack.delivered_bytes,
        rtt,
        min_rtt,
        pacing_bytes_per_s: after.pacing_bytes_per_s,
        delivery_bytes_per_s: ack.delivery_bytes_per_s,
        phase: after.phase(),
        ..*known
    }
}

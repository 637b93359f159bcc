//! Events of the programs in the kernel, from their ring buffers: every ACK of a start-up, and its end.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use rampcc::{ExitReason, Time};
use rampcc_emulator::Clock;
use rampcc_linux::{AckEvent, Event, Loaded};
use rampcc_scenario::Scenario;
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample};

use crate::TestbedError;
use crate::controls::{Controls, Steered};
use crate::seen::Seen;
use crate::told::FlowTold;

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

    /// Every connection that should have a program has one, from its beginning on.
    pub(crate) fn check(controls: &Controls, scenario: &Scenario, seen: &[Seen]) -> Result<(), TestbedError> {
        for (index, loaded) in controls.loaded.iter().enumerate() {
            let counters = loaded.counters();
            let counters = counters
                .map_err(|cause| TestbedError::Io { action: "reading the programs' counters", cause })?;
            let flows = || (0..scenario.flows.len()).filter(|flow| controls.loaded_of[*flow] == Some(index));
            let flow = || flows().next().map_or(String::new(), |flow| scenario.flows[flow].name.clone());
            if counters.without_storage > 0 {
                return Err(TestbedError::Steering {
                    flow: flow(),
                    problem: "the kernel had no memory for the algorithm's state (net.core.optmem_max)"
                        .to_owned(),
                });
            }
            let connections = flows().filter(|flow| seen[*flow].connection.is_some()).count() as u64;
            if counters.left_out > 0 || counters.opened < connections {
                return Err(TestbedError::LeftOut { flow: flow() });
            }
        }
        Ok(())
    }

    /// What was told of one flow, as samples and events.
    pub(crate) fn of_flow(&self, flow: usize, seen: &Seen, controls: &Controls, clock: Clock) -> FlowTold {
        let Some(load) = controls.loaded_of[flow].filter(|_| controls.steered[flow] == Steered::Core) else {
            return FlowTold::default();
        };
        let mut told = FlowTold { steers: true, ..FlowTold::default() };
        let Some(opened) = &seen.connection else { return told };
        let ends = [opened.connection.local, opened.connection.remote].map(SocketAddr::V4);
        let Some(events) = self.events.iter().find_map(|((from, _), events)| {
            (*from == load && events.iter().any(|event| tuple(event) == Some(ends))).then_some(events)
        }) else {
            return told;
        };
        let mut looks = seen.looks.iter().map(|look| look.sample).peekable();
        let mut known = FlowSample { flow: flow as u32, ..FlowSample::default() };
        let mut newest: Option<&AckEvent> = None;
        let mut acks = events.iter().filter_map(ack).skip(1);
        for event in events {
            match event {
                Event::Open(open) => {
                    known.now = clock.from_monotonic(open.header.time());
                    known.cwnd_bytes = open.decision.cwnd_bytes;
                    known.ssthresh_bytes = open.decision.ssthresh_bytes;
                    known.pacing_bytes_per_s = open.decision.pacing_bytes_per_s;
                    told.samples.push(known);
                }
                Event::Ack(event) => {
                    let now = clock.from_monotonic(event.header.time());
                    while let Some(look) = looks.next_if(|look| look.now <= now) {
                        known = FlowSample { min_rtt: known.min_rtt, ..look };
                    }
                    // What the next ACK found under way is what this one left there.
                    let in_flight = acks.next().map(|next| next.ack.in_flight_bytes);
                    known = sample(now, event, in_flight, &known);
                    told.samples.push(known);
                    newest = Some(event);
                }
                Event::Exit(exit) if told.exited.is_none() => {
                    let now = clock.from_monotonic(exit.exited().unwrap_or(exit.header.time()));
                    let sent = newest.map_or(Time::ZERO, |event| Time::from_ns(event.ack.newest_sent_ns));
                    let decision = exit.decision;
                    let kind = FlowEventKind::StartupExit {
                        reason: decision.exit_reason(),
                        evidence: decision.evidence,
                        limit: decision.limit,
                        cwnd_bytes: decision.cwnd_bytes,
                        deciding_sent: clock.from_monotonic(sent),
                    };
                    if decision.exit_reason() != ExitReason::None {
                        told.events.push(FlowEvent { now, flow: flow as u32, kind });
                    }
                    told.exited = Some(now);
                }
                _ => {}
            }
        }
        told.count = events.len() as u64;
        told
    }
}

fn ack(event: &Event) -> Option<&AckEvent> {
    if let Event::Ack(event) = event { Some(event) } else { None }
}

fn tuple(event: &Event) -> Option<[SocketAddr; 2]> {
    let tuple = match event {
        Event::Open(event) => &event.tuple,
        Event::Exit(event) | Event::Close(event) => &event.tuple,
        Event::Ack(_) | Event::Told(_) => return None,
    };
    Some([tuple.local(), tuple.remote()])
}

/// One ACK of a start-up. What only `TCP_INFO` tells is as at the latest look.
fn sample(now: Time, event: &AckEvent, in_flight: Option<u64>, known: &FlowSample) -> FlowSample {
    let ack = &event.ack;
    let rtt = Time::from_us(u64::from(ack.rtt_us));
    let min_rtt = match (rtt, known.min_rtt) {
        (Time::ZERO, known) => known,
        (rtt, Time::ZERO) => rtt,
        (rtt, known) => rtt.min(known),
    };
    FlowSample {
        now,
        cwnd_bytes: event.after.cwnd_bytes,
        ssthresh_bytes: event.after.ssthresh_bytes,
        in_flight_bytes: in_flight.unwrap_or(ack.in_flight_bytes.saturating_sub(ack.acked_bytes)),
        sent_bytes: ack.sent_bytes,
        delivered_bytes: ack.delivered_bytes,
        rtt,
        min_rtt,
        pacing_bytes_per_s: event.after.pacing_bytes_per_s,
        delivery_bytes_per_s: ack.delivery_bytes_per_s,
        phase: event.after.phase(),
        ..*known
    }
}

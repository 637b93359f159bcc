//! One run of QUIC over a path.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rampcc::Time;
use rampcc_backend::Control;
use rampcc_emulator::{Emulator, End, ErrorReport, Lateness, Running, Verdict};
use rampcc_quic_sim::{Apart, Stack};
use rampcc_scenario::Scenario;
use rampcc_sim::{Connecting, Sending};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowTotals, Observer, Outcome};

use super::driver::Driver;
use super::hosts::{FLOW, Over, Receives, Sends};
use super::socket::{Socket, lost_in_namespace};
use super::tls;
use crate::log::Log;
use crate::play::{host_tcp, joined, links};
use crate::{Result, TestbedError};

/// A run that the machine was too busy for is tried this often.
const ATTEMPTS: u32 = 3;
const PORTS: [u16; 2] = [4433, 443];

/// What there is to know of a run besides samples and events.
pub(super) struct Played {
    pub(super) outcome: Outcome,
    /// Its verdict is on the emulator and on the hosts' threads.
    pub(super) report: ErrorReport,
    /// Of the hosts' threads.
    pub(super) hosts: Lateness,
    pub(super) samples: u64,
    pub(super) attempts: u32,
}

/// A run.
pub(super) struct Task<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) control: Option<Control>,
    pub(super) seed: u64,
    /// A run that was refused each time has a result all the same.
    pub(super) keep_refused: bool,
    pub(super) interrupted: &'a AtomicBool,
}

/// Plays it, again where the machine was too busy.
pub(super) fn play(task: &Task<'_>, observer: &mut impl Observer) -> Result<Played> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let (log, played) = task.play_once(observer.wants_decisions())?;
        let refused = matches!(played.report.verdict, Verdict::Refused(_));
        if !refused || (attempts == ATTEMPTS && task.keep_refused) {
            log.tell(played.outcome.end, observer);
            return Ok(Played { attempts, ..played });
        }
        if attempts == ATTEMPTS {
            return Err(TestbedError::Refused { attempts, report: Box::new(played.report) });
        }
    }
}

impl Task<'_> {
    fn play_once(&self, recorded: bool) -> Result<(Log, Played)> {
        let scenario = self.scenario;
        let options = rampcc_emulator::Options {
            // A thread does not answer within the write that brings it a packet: what it does takes its own time.
            back_dating: Time::ZERO,
            sample_queue: true,
            record_drops: true,
            tcp: host_tcp(scenario),
            ..rampcc_emulator::Options::default()
        };
        let protection = tls::protection().map_err(|cause| TestbedError::Io {
            action: "making a certificate",
            cause: std::io::Error::other(cause),
        })?;
        let flow = &scenario.flows[0];
        let size_bytes = flow.source.size_bytes();
        let running = Emulator::start(scenario, self.seed, &options)?;
        let sockets = sockets(&running, flow.from, flow.to)?;
        let [sends, receives] = sockets;
        let connecting =
            Connecting { flow: FLOW, sender: &flow.sender, receiver: &flow.receiver, seed: self.seed };
        let apart = &Apart::new(Stack::Noq, self.control, protection);
        let opens = scenario.opening_times(self.seed).first().map_or(Time::ZERO, |opening| opening.0);
        let over = &Over::new(scenario.stop.after, self.interrupted);
        let clock = running.clock();
        let sampled = flow.sender.sampled;
        let io = |cause| TestbedError::Io { action: "driving a QUIC connection", cause };
        let mut sending = Sends::new(over, size_bytes, sampled, recorded);
        let mut receiving = Receives::new(over, sampled);
        let (sender, receiver) = thread::scope(|scope| {
            let (sending, receiving) = (&mut sending, &mut receiving);
            let receiver = scope.spawn(move || {
                let end = apart.receiver(&connecting, size_bytes);
                let mut driver = Driver::new(end, receives, clock);
                let result = driver.run(receiving);
                over.end(clock.now());
                result.map(|()| Tally::of(driver, 0))
            });
            let sender = scope.spawn(move || {
                while clock.now() < opens && over.goes_on(clock.now()) {
                    sends.wait((opens - clock.now()).min(Time::from_ms(5)))?;
                }
                let mut driver = Driver::new(apart.sender(&connecting), sends, clock);
                let result = driver.run(sending);
                over.end(clock.now());
                let retransmitted = driver.carried.end.sample(clock.now()).retransmitted_bytes;
                result.map(|()| Tally::of(driver, retransmitted))
            });
            (joined(sender), joined(receiver))
        });
        let (sender, receiver) = (sender.map_err(io)?, receiver.map_err(io)?);
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(TestbedError::Interrupted { at: clock.now() });
        }
        let end = receiving.completed.unwrap_or(scenario.stop.after);
        let lost = lost(&running)? + sender.refused + receiver.refused;
        let server = running.address(flow.from);
        let mut report = running.stop()?;
        let mut delays = sender.delays;
        delays.extend(receiver.delays);
        let hosts = Lateness::of(delays);
        let late = Verdict::late(
            ["packets and timers were attended to", "packet or timer was attended to"],
            &hosts,
            report.tolerated,
        );
        report.verdict = report.verdict.and(Verdict::lost(lost, "datagrams at the hosts' sockets")).and(late);
        let Sends { samples, log: mut all, .. } = sending;
        all.append(receiving.log);
        report.queue.iter().for_each(|sample| all.link(*sample));
        let mut dropped_packets = 0;
        for drop in report.drops.iter().filter(|drop| drop.now <= end) {
            let data = Some(drop.from.ip()) == server;
            dropped_packets += u64::from(data);
            let kind = FlowEventKind::Dropped { link: drop.link, wire_bytes: drop.wire_bytes, data };
            all.event(FlowEvent { now: drop.now, flow: FLOW, kind });
        }
        if receiving.completed.is_none() {
            let kind = FlowEventKind::Unfinished { bytes: receiving.received };
            all.event(FlowEvent { now: end, flow: FLOW, kind });
        }
        let outcome = Outcome {
            end,
            data_packets: sender.data_packets,
            events: report.ports.iter().map(|port| port.read.packets + port.written.packets).sum(),
            links: links(scenario, &report),
            flows: vec![FlowTotals {
                opened: opens,
                completed: receiving.completed.unwrap_or(Time::NEVER),
                size_bytes,
                received_bytes: receiving.received,
                retransmitted_bytes: sender.retransmitted,
                data_packets: sender.data_packets,
                dropped_packets,
                under_test: true,
            }],
        };
        Ok((all, Played { outcome, report, hosts, samples, attempts: 1 }))
    }
}

/// What a driver has counted.
struct Tally {
    delays: Vec<Time>,
    refused: u64,
    data_packets: u64,
    retransmitted: u64,
}

impl Tally {
    fn of<E>(driver: Driver<E>, retransmitted: u64) -> Self {
        let Driver { delays, refused, data_packets, .. } = driver;
        Self { delays, refused, data_packets, retransmitted }
    }
}

/// One in each namespace, connected to the other.
fn sockets(running: &Running, from: usize, to: usize) -> Result<[Socket; 2]> {
    let host = |node: usize| running.hosts().iter().find(|host| host.node == node).cloned();
    let (Some(from), Some(to)) = (host(from), host(to)) else {
        return Err(TestbedError::Io {
            action: "looking for the flow's hosts",
            cause: std::io::Error::other("the path has none for it"),
        });
    };
    let at = [SocketAddr::new(from.address, PORTS[0]), SocketAddr::new(to.address, PORTS[1])];
    let socket = |end: End, own: usize| {
        let made = running.in_namespace(end, || Socket::between(at[own], at[1 - own]))?;
        made.map_err(|cause| TestbedError::Io { action: "making a UDP socket", cause })
    };
    Ok([socket(from.end, 0)?, socket(to.end, 1)?])
}

/// Datagrams that the kernel had no room for at the sockets.
fn lost(running: &Running) -> Result<u64> {
    let mut all = 0;
    for end in End::BOTH {
        let lost = running.in_namespace(end, lost_in_namespace)?;
        all += lost.map_err(|cause| TestbedError::Io { action: "reading the counters of UDP", cause })?;
    }
    Ok(all)
}

//! One run of two programs over a path.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rampcc::Time;
use rampcc_emulator::{Emulator, End, ErrorReport, Host, HostTcp, Ready, Running, Verdict};
use rampcc_scenario::Scenario;
use rampcc_trace::{FlowEvent, FlowEventKind, FlowTotals, Observer, Outcome, next_round_number};

use super::client::{self, Loaded, Object};
use super::folder::{Folder, PORT};
use super::foreign;
use super::listening::Listener;
use super::process::{OUTPUT_MAX, Process};
use super::processors::Processors;
use super::row::Program;
use super::wire::Wire;
use crate::log::Log;
use crate::play::{host_tcp, links};
use crate::{Result, TestbedError};

/// A run that the machine was too busy for is tried this often.
const ATTEMPTS: u32 = 3;
/// A server is ready within a fraction of this.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the processes are looked at.
const LOOK: Duration = Duration::from_millis(10);
/// The shell's word for a command that it does not find.
const NOT_FOUND: i32 = 127;
/// Time for which the server's threads waited for a processor, added up, over that of the run: above the first the run is
/// marked, above the second, where at any moment one of them waited, refused. Programs that have hosts of their own elsewhere stood
/// in each other's way, or others in theirs.
const STARVED: (f64, f64) = (0.25, 1.0);

/// What there is to know of a run besides samples and events.
pub(super) struct Played {
    pub(super) outcome: Outcome,
    pub(super) report: ErrorReport,
    pub(super) attempts: u32,
    /// What else the path saw.
    pub(super) wire: rampcc_trace::Wire,
    /// Why the programs may have changed the answer.
    pub(super) marked: Vec<String>,
}

/// A run.
pub(super) struct Task<'a> {
    pub(super) program: &'a Program,
    pub(super) scenario: &'a Scenario,
    pub(super) seed: u64,
    pub(super) interrupted: &'a AtomicBool,
}

struct Seen {
    /// By ramp's own client.
    loaded: Option<Loaded>,
    /// When a command ended; `None`: the end of the run cut it off.
    ended: Option<Time>,
}

/// Plays it, again where the machine was too busy.
pub(super) fn play(task: &Task<'_>, observer: &mut impl Observer) -> Result<Played> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let (log, mut played) = task.play_once()?;
        let starved = played.wire.starved_share > STARVED.1;
        let refused = matches!(played.report.verdict, Verdict::Refused(_)) || starved;
        if !refused {
            played.attempts = attempts;
            log.tell(played.outcome.end, observer);
            return Ok(played);
        }
        if attempts == ATTEMPTS {
            if starved {
                return Err(TestbedError::Starved {
                    attempts,
                    share: played.wire.starved_share,
                    processors: played.wire.others_busy,
                });
            }
            return Err(TestbedError::Refused { attempts, report: Box::new(played.report) });
        }
    }
}

impl Task<'_> {
    fn play_once(&self) -> Result<(Log, Played)> {
        let scenario = self.scenario;
        let options = rampcc_emulator::Options {
            // A program does not answer within the write that brings it a packet: what it does takes its own time.
            back_dating: Time::ZERO,
            sample_queue: true,
            record_drops: true,
            record_packets: true,
            tcp: self.host_tcp(),
            family: self.program.family(),
            ..rampcc_emulator::Options::default()
        };
        let flow = &scenario.flows[0];
        let size_bytes = flow.source.size_bytes();
        let ready = Emulator::ready(scenario, self.seed, &options)?;
        let host = |node: usize| ready.hosts().iter().find(|host| host.node == node).cloned();
        let (Some(from), Some(to)) = (host(flow.from), host(flow.to)) else {
            return Err(self.failed("the path has no hosts for it".to_owned()));
        };
        let io = |action| move |cause| TestbedError::Io { action, cause };
        let folder = Folder::new(self.program, from.address, size_bytes, self.seed)
            .map_err(io("preparing a folder for the programs"))?;
        let line = folder.fill(&self.program.server);
        let shell = ready.command(from.end, "/bin/sh")?;
        let mut server = Process::start(shell, &line, None).map_err(io("starting the server"))?;
        self.wait_until_ready(&ready, &from, &mut server, &folder)?;
        let running = ready.start()?;
        running.steer(flow.to, &self.program.tcp_control())?;
        let before = Processors::now(server.first());
        let opening = scenario.opening_times(self.seed).first().map_or(Time::ZERO, |opening| opening.0);
        self.pause(&running, opening)?;
        let seen = match &self.program.client {
            None => self.load(&running, [&from, &to], &mut server, &folder),
            Some(client) => {
                let client = folder.fill(client);
                self.run_client(&running, to.end, &client, &mut server)
            }
        };
        let used = Processors::now(server.first()).since(&before);
        let report = running.stop()?;
        drop(server);
        match seen {
            Ok(seen) => self.measure(from.address, &seen, report, used),
            Err(TestbedError::Program { row, problem }) => {
                let on_path = foreign::seen(&report, from.address).map(|seen| format!("; {seen}"));
                Err(TestbedError::Program { row, problem: problem + &on_path.unwrap_or_default() })
            }
            Err(error) => Err(error),
        }
    }

    /// As the scenario has it, and the row.
    fn host_tcp(&self) -> HostTcp {
        let asked = host_tcp(self.scenario);
        let initial_window_packets = self.program.initial_window.or(asked.initial_window_packets);
        HostTcp { initial_window_packets, ..asked }
    }

    /// Its samples, events and totals.
    fn measure(
        &self,
        server: IpAddr,
        seen: &Seen,
        report: ErrorReport,
        used: Processors,
    ) -> Result<(Log, Played)> {
        let scenario = self.scenario;
        let size_bytes = scenario.flows[0].source.size_bytes();
        let wire = Wire::between(&report, scenario, server);
        let completed = match (&seen.loaded, seen.ended) {
            (Some(loaded), _) => loaded.completed,
            (None, Some(ended)) => wire.last_delivery(ended),
            (None, None) => None,
        };
        let end = completed.unwrap_or(scenario.stop.after);
        let crossed = wire.delivered_bytes(end);
        let ended_well = completed.is_some() || seen.ended.is_some();
        if ended_well && crossed < size_bytes {
            return Err(self.failed(format!(
                "the client ended well, but only {crossed} of {size_bytes} bytes crossed the path"
            )));
        }
        if crossed == 0 {
            return Err(self.failed(format!(
                "not one byte of the server crossed the path within {:.0} s",
                end.secs_f64()
            )));
        }
        let mut log = Log::default();
        let mut event = |now, kind| log.event(FlowEvent { now, flow: 0, kind });
        let opened = wire.opened().unwrap_or_default();
        event(opened, FlowEventKind::Opened { size_bytes, under_test: true });
        event(wire.requested().unwrap_or(opened), FlowEventKind::Established);
        let received = match &seen.loaded {
            Some(loaded) => loaded.received.clone(),
            None => received(&report.packets, server, size_bytes),
        };
        let received_bytes = if completed.is_some() {
            size_bytes
        } else {
            received.iter().filter(|(at, _)| *at <= end).map(|(_, bytes)| *bytes).max().unwrap_or(0)
        };
        for (now, bytes) in received {
            event(now, FlowEventKind::Received { bytes });
        }
        match completed {
            Some(now) => event(now, FlowEventKind::Completed { bytes: size_bytes }),
            None => event(end, FlowEventKind::Unfinished { bytes: received_bytes }),
        }
        let exit = wire.exit().filter(|exit| exit.at <= end);
        if let Some(exit) = exit {
            let (cwnd_bytes, reason) = (exit.in_flight_bytes, exit.reason);
            let kind = FlowEventKind::StartupExit {
                reason,
                evidence: 0,
                limit: 0,
                cwnd_bytes,
                deciding_sent: Time::ZERO,
            };
            event(exit.at, kind);
        }
        let mut dropped_packets = 0;
        for drop in report.drops.iter().filter(|drop| drop.now <= end) {
            let data = drop.data && drop.from.ip() == server;
            dropped_packets += u64::from(data);
            let kind = FlowEventKind::Dropped { link: drop.link, wire_bytes: drop.wire_bytes, data };
            event(drop.now, kind);
        }
        report.queue.iter().for_each(|sample| log.link(*sample));
        if scenario.flows[0].sender.sampled {
            wire.samples(end, 0).into_iter().for_each(|sample| log.flow(sample));
        }
        let (data_packets, _) = wire.sent(end);
        let outcome = Outcome {
            end,
            data_packets,
            events: report.ports.iter().map(|port| port.read.packets + port.written.packets).sum(),
            links: links(scenario, &report),
            flows: vec![FlowTotals {
                opened,
                completed: completed.unwrap_or(Time::NEVER),
                size_bytes,
                received_bytes,
                retransmitted_bytes: wire.samples(end, 0).last().map_or(0, |last| last.retransmitted_bytes),
                data_packets,
                dropped_packets,
                under_test: true,
            }],
        };
        let left = exit.map_or(end, |exit| exit.at);
        let share = |time: Time| time.secs_f64() / report.played.secs_f64().max(1e-9);
        let (starved, busy) = (share(used.waited), share(used.all - used.own));
        let seen = rampcc_trace::Wire {
            response_s: completed.zip(wire.requested()).map(|(end, asked)| (end - asked).secs_f64()),
            starved_share: starved,
            others_busy: busy,
            ..wire.facts(&report.packets, left)
        };
        let mut marked = Vec::new();
        if starved > STARVED.0 {
            let share = starved * 100.0;
            marked.push(format!(
                "the server's threads waited for a processor for {share:.0} % of the run, while others kept {busy:.1} of them \
                 busy"
            ));
        }
        if report.packets_lost > 0 {
            marked.push(format!("{} packets found no room in the record of the path", report.packets_lost));
        }
        Ok((log, Played { outcome, report, attempts: 1, wire: seen, marked }))
    }

    /// Until a socket listens at its port, or its own test succeeds.
    #[expect(
        clippy::disallowed_methods,
        reason = "servers tell nobody that they listen, and how long one waits for them is real time"
    )]
    fn wait_until_ready(&self, ready: &Ready, host: &Host, server: &mut Process, folder: &Folder) -> Result {
        let Host { end, address, .. } = *host;
        let began = Instant::now();
        loop {
            self.go_on()?;
            self.check_server(server, "before it was ready")?;
            let is_ready = if let Some(test) = &self.program.ready {
                let shell = ready.command(end, "/bin/sh")?;
                let test = Process::start(shell, &folder.fill(test), None);
                let test = test.map_err(|cause| TestbedError::Io {
                    action: "testing whether the server is ready",
                    cause,
                })?;
                test.wait(PATIENCE).is_some_and(|ended| ended.status.success())
            } else {
                let all = ready.in_namespace(end, Listener::all)?;
                all.iter().any(|listener| listener.serves(address, PORT, self.program.listens))
            };
            if is_ready {
                return Ok(());
            }
            if began.elapsed() > PATIENCE {
                let elsewhere = ready.in_namespace(end, Listener::all)?;
                return Err(self.failed(never_ready(
                    self.program,
                    SocketAddr::new(address, PORT),
                    &elsewhere,
                )));
            }
            thread::sleep(LOOK);
        }
    }

    /// The client's command, from start to end.
    fn run_client(&self, running: &Running, end: End, client: &str, server: &mut Process) -> Result<Seen> {
        let shell = running.command(end, "/bin/sh")?;
        let clock = running.clock();
        let started = Process::start(shell, client, Some(clock));
        let mut process =
            started.map_err(|cause| TestbedError::Io { action: "starting the client", cause })?;
        loop {
            let ended = process.wait(LOOK);
            if process.flooded() {
                return Err(self.failed(flooded("client")));
            }
            if let Some(ended) = ended {
                if ended.status.success() {
                    return Ok(Seen { loaded: None, ended: Some(ended.at) });
                }
                let last = process.last_words();
                let problem = if ended.status.code() == Some(NOT_FOUND) {
                    format!("the shell does not find the client's command: {last}")
                } else {
                    format!("the client ended with {}{}", ended.words(), said(&last))
                };
                // A server that has just gone is the better reason.
                self.check_server(server, "during the download")?;
                return Err(self.failed(problem));
            }
            self.go_on()?;
            self.check_server(server, "during the download")?;
            if self.over(clock.now())? {
                return Ok(Seen { loaded: None, ended: None });
            }
        }
    }

    /// ramp's own client.
    fn load(
        &self,
        running: &Running,
        [from, to]: [&Host; 2],
        server: &mut Process,
        folder: &Folder,
    ) -> Result<Seen> {
        let (clock, size_bytes) = (running.clock(), self.scenario.flows[0].source.size_bytes());
        let url = folder.fill("{url}");
        let left = self.scenario.stop.after - clock.now();
        let longest = Duration::from_nanos(left.ns().max(1));
        let server_at = SocketAddr::new(from.address, PORT);
        let object = Object { server: server_at, url: &url, size_bytes, longest };
        let over = AtomicBool::new(false);
        let go_on = || !over.load(Ordering::Relaxed);
        let loaded = thread::scope(|scope| {
            let client = scope.spawn(|| running.in_namespace(to.end, || client::load(&object, clock, go_on)));
            let watched: Result = (|| loop {
                if client.is_finished() {
                    return Ok(());
                }
                self.go_on()?;
                self.check_server(server, "during the download")?;
                if self.over(clock.now())? {
                    return Ok(());
                }
                let _ = server.wait(LOOK);
            })();
            over.store(true, Ordering::Relaxed);
            let loaded = client.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            watched.map(|()| loaded)
        })?;
        let loaded = loaded?.map_err(|problem| self.failed(problem))?;
        Ok(Seen { loaded: Some(loaded), ended: None })
    }

    /// Whether the end of the run has come; an error where the row allows less.
    fn over(&self, now: Time) -> Result<bool> {
        match self.program.limit {
            Some(limit) if now > limit && limit < self.scenario.stop.after => {
                Err(self
                    .failed(format!("the client had not ended after its limit of {:.0} s", limit.secs_f64())))
            }
            _ => Ok(now >= self.scenario.stop.after),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the path's time is the machine's")]
    fn pause(&self, running: &Running, until: Time) -> Result {
        while running.clock().now() < until {
            self.go_on()?;
            let left = Duration::from_nanos((until - running.clock().now()).ns());
            thread::sleep(left.min(LOOK));
        }
        Ok(())
    }

    fn check_server(&self, server: &mut Process, when: &str) -> Result {
        // In this order: one that wrote too much ends by the pipe that closes for it.
        let ended = server.ended();
        if server.flooded() {
            return Err(self.failed(flooded("server")));
        }
        let Some(ended) = ended else { return Ok(()) };
        let last = server.last_words();
        Err(self.failed(if ended.status.code() == Some(NOT_FOUND) {
            format!("the shell does not find the server's command: {last}")
        } else if ended.status.success() {
            format!(
                "the server ended {when} with exit status 0; it must stay in the foreground{}",
                said(&last)
            )
        } else {
            format!("the server ended {when} with {}{}", ended.words(), said(&last))
        }))
    }

    fn go_on(&self) -> Result {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(TestbedError::Interrupted { at: Time::ZERO });
        }
        Ok(())
    }

    fn failed(&self, problem: String) -> TestbedError {
        TestbedError::Program { row: self.program.name.clone(), problem }
    }
}

fn said(last: &str) -> String {
    match last {
        "" => ", and said nothing".to_owned(),
        last if foreign::wants_terminal(last) => {
            format!("; it needs a terminal, and programs have none here; its last words: {last}")
        }
        last => format!("; its last words: {last}"),
    }
}

fn flooded(who: &str) -> String {
    format!(
        "the {who} wrote more than {} MB to its standard output; send that elsewhere (> /dev/null)",
        OUTPUT_MAX >> 20
    )
}

fn never_ready(program: &Program, address: SocketAddr, elsewhere: &[Listener]) -> String {
    let seconds = PATIENCE.as_secs();
    if let Some(test) = &program.ready {
        return format!("after {seconds} s its test of readiness has not succeeded: {test}");
    }
    let found: Vec<String> = elsewhere.iter().map(ToString::to_string).collect();
    let found = if found.is_empty() {
        "it listens nowhere".to_owned()
    } else {
        format!("it listens at {}", found.join(", "))
    };
    format!("after {seconds} s nothing listens at {address}; {found}")
}

/// Payload that had reached the client whenever that passed a round number; all but the last byte, which only the client
/// knows.
fn received(packets: &[rampcc_emulator::Seen], server: IpAddr, size_bytes: u64) -> Vec<(Time, u64)> {
    let mut arrived: Vec<(Time, u64)> = packets
        .iter()
        .filter(|seen| seen.from.ip() == server && seen.due != Time::NEVER)
        .map(|seen| (seen.due, u64::from(seen.payload_bytes)))
        .collect();
    arrived.sort_unstable();
    let (mut bytes, mut report_from) = (0, 1);
    let mut told = Vec::new();
    for (at, more) in arrived {
        bytes += more;
        if bytes >= report_from && bytes < size_bytes {
            report_from = next_round_number(bytes);
            told.push((at, bytes));
        }
    }
    told
}

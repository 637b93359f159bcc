//! One run from scenario to samples.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rampcc::{Time, UNSET};
use rampcc_emulator::{Buffers, Dropped, Emulator, End, ErrorReport, HostTcp, Verdict};
use rampcc_scenario::Scenario;
use rampcc_tcp::AckPolicy;
use rampcc_trace::{
    FlowEvent, FlowEventKind, FlowSample, FlowTotals, LinkTotals, Observer, Outcome, SenderState,
};

use crate::applications::{Stage, Transfer};
use crate::check::{RTO_MIN, check};
use crate::controls::{Controls, Steered};
use crate::exits::{self, Hystart};
#[cfg(feature = "bpf")]
use crate::kernel_events::Told;
use crate::kinds::kinds;
use crate::log::Log;
use crate::row::Row;
use crate::seen::{Look, Seen};
use crate::told::FlowTold;
use crate::watch::Watched;
use crate::web::{Object, Web, Whose};
use crate::{Result, TestbedError};

/// Options of playing a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Options of the emulator; the scenario decides what it records and how it sets up the hosts.
    pub emulator: rampcc_emulator::Options,
    /// A run whose error would have changed the answer, or in which the kernel did not call a congestion control, is
    /// played again, until it has been tried this often.
    pub attempts: u32,
    /// A run that was refused each time has a result all the same: for what does not depend on time.
    pub keep_refused: bool,
    /// Control group (v2) that the web servers are started in; `None`: this process's own.
    pub servers_in: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            emulator: rampcc_emulator::Options::default(),
            attempts: 3,
            keep_refused: false,
            servers_in: None,
        }
    }
}

/// Outcome of a run, apart from the observer's samples and events.
#[derive(Clone, Debug)]
pub struct Played {
    /// As the simulator tells it. `events` counts packets read and written.
    pub outcome: Outcome,
    /// Error of the emulator against the scenario.
    pub report: ErrorReport,
    /// Socket buffers of both namespaces.
    pub buffers: Buffers,
    /// Samples, and what of them was lost.
    pub samples: SampleCounts,
    /// Number of attempts; all but the last were refused.
    pub attempts: u32,
    /// Release of the kernel.
    pub kernel: String,
}

/// Samples of the flows, and what of them was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleCounts {
    /// Looks at `TCP_INFO` that showed a change.
    pub looks: u64,
    /// ACKs and congestion events that the programs in the kernel reported.
    pub kernel_events: u64,
    /// Looks that failed.
    pub lost_looks: u64,
    /// Events for which the ring buffer had no room.
    pub lost_kernel_events: u64,
    /// Queue samples and drops that the emulator had no room for.
    pub lost_link_samples: u64,
}

impl SampleCounts {
    /// All that was lost.
    pub fn lost(&self) -> u64 {
        self.lost_looks + self.lost_kernel_events + self.lost_link_samples
    }
}

/// One run to be played.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// With [`Row::Core`] the flows under test are steered as it says ([`Scenario::with_arm`]); every other row is a congestion
    /// control of the kernel, which steers them instead. Flows that are not under test keep theirs.
    pub scenario: &'a Scenario,
    /// Algorithm or congestion control of the flows under test.
    pub row: Row,
    /// For everything random.
    pub seed: u64,
    /// Options of playing it.
    pub options: Options,
}

impl<'a> Task<'a> {
    /// A run with the usual options.
    pub fn new(scenario: &'a Scenario, row: Row, seed: u64) -> Self {
        Self { scenario, row, seed, options: Options::default() }
    }
}

/// Plays a scenario once, in real time, and then tells `observer` what happened. `interrupted` is looked at ten times a second.
///
/// # Errors
///
/// [`TestbedError::Unsupported`] names what [`check`] finds; [`TestbedError::Refused`] is a run that the machine was too
/// busy for, as often as the options say.
pub fn play<O: Observer>(task: &Task<'_>, observer: &mut O, interrupted: &AtomicBool) -> Result<Played> {
    let Task { row, seed, options, .. } = task;
    check(task.scenario, *row).map_err(TestbedError::Unsupported)?;
    let scenario = task.scenario.at_seed(*seed);
    let mut attempts = 0;
    loop {
        attempts += 1;
        go_on(interrupted)?;
        // Loaded anew each time: events belong to one attempt.
        let controls = Controls::new(&scenario, *row)?;
        go_on(interrupted)?;
        let decisions = observer.wants_decisions();
        let run = Run { scenario: &scenario, seed: *seed, controls: &controls, options, decisions };
        let last = attempts >= options.attempts;
        let (log, played) = match run.play(attempts, interrupted) {
            Err(TestbedError::LeftOut { .. }) if !last => continue,
            result => result?,
        };
        let refused = matches!(played.report.verdict, Verdict::Refused(_));
        if !refused || (last && options.keep_refused) {
            log.tell(played.outcome.end, observer);
            return Ok(played);
        }
        if last {
            return Err(TestbedError::Refused { attempts, report: Box::new(played.report) });
        }
    }
}

/// An error once the run is interrupted: loading programs and making networks take a while.
fn go_on(interrupted: &AtomicBool) -> Result {
    if interrupted.load(Ordering::Relaxed) {
        return Err(TestbedError::Interrupted { at: Time::ZERO });
    }
    Ok(())
}

struct Run<'a> {
    scenario: &'a Scenario,
    seed: u64,
    controls: &'a Controls,
    options: &'a Options,
    /// Whether the observer wants every call of an algorithm.
    #[cfg_attr(not(feature = "bpf"), expect(dead_code, reason = "the programs tell them"))]
    decisions: bool,
}

impl Run<'_> {
    fn play(&self, attempts: u32, interrupted: &AtomicBool) -> Result<(Log, Played)> {
        let scenario = self.scenario;
        let emulator = rampcc_emulator::Options {
            sample_queue: true,
            record_drops: true,
            tcp: host_tcp(scenario),
            ..self.options.emulator.clone()
        };
        let running = Emulator::start(scenario, self.seed, &emulator)?;
        let buffers = running.buffers();
        let kinds = kinds(scenario);
        let base_rtt = kinds.iter().map(|kind| {
            let (sender, ack_bytes) = (&kind.sender, kind.receiver.ack_bytes);
            scenario.facts_between(kind.from, kind.to, sender, ack_bytes).base_rtt
        });
        let base_rtt = base_rtt.min().unwrap_or_default();
        let openings = scenario.opening_times(self.seed);
        let stage = Stage::new(&running, scenario, self.controls, interrupted);
        let web = Web::start(&stage, self.seed, self.options.servers_in.as_deref())?;
        let (transfers, loaded, watched) = thread::scope(|scope| {
            let (stage, web) = (&stage, &web);
            let threads: Vec<_> = (0..scenario.flows.len())
                .map(|flow| {
                    let at = openings.iter().find(|(_, id)| *id as usize == flow).map_or(Time::ZERO, |o| o.0);
                    scope.spawn(move || stage.transfer(flow, at))
                })
                .collect();
            let loaders: Vec<_> =
                (0..scenario.traffic.len()).map(|traffic| scope.spawn(move || web.load(traffic))).collect();
            let watcher = scope.spawn(move || Watched::watch(stage, base_rtt));
            let transfers: Vec<_> = threads.into_iter().map(joined).collect();
            let loaded: Vec<_> = loaders.into_iter().map(joined).collect();
            (transfers, loaded, joined(watcher))
        });
        drop(web);
        let transfers = transfers.into_iter().collect::<Result<Vec<Transfer>, _>>()?;
        let loaded = loaded.into_iter().collect::<Result<Vec<Vec<Object>>, _>>()?;
        let watched =
            watched.map_err(|cause| TestbedError::Io { action: "reading the ring buffer", cause })?;
        let end = stage.over().unwrap_or(scenario.stop.after);
        if interrupted.load(Ordering::Relaxed) {
            return Err(TestbedError::Interrupted { at: end });
        }
        let hystart = [Hystart::read(&running, End::Sender)?, Hystart::read(&running, End::Receiver)?];
        let end_of = |node| running.hosts().iter().find(|host| host.node == node).map(|host| host.end);
        let ends: Vec<End> =
            scenario.flows.iter().map(|flow| end_of(flow.from).unwrap_or(End::Sender)).collect();
        #[cfg(feature = "bpf")]
        let clock = running.clock();
        let report = running.stop()?;
        let mut samples = SampleCounts {
            looks: watched.flows.iter().map(|seen| seen.looks.len() as u64).sum(),
            lost_looks: watched.flows.iter().map(|seen| seen.failed).sum(),
            lost_link_samples: report.queue_samples_lost + report.drops_lost,
            ..SampleCounts::default()
        };
        let mut log = Log::default();
        for transfer in &transfers {
            transfer.events.iter().for_each(|event| log.event(*event));
        }
        report.queue.iter().for_each(|sample| log.link(*sample));
        #[cfg(feature = "bpf")]
        {
            let listed = watched.flows.iter().map(|seen| u64::from(seen.connection.is_some()));
            let pages =
                loaded.iter().map(|objects| objects.iter().filter(|object| object.began()).count() as u64);
            Told::check(self.controls, &kinds, &listed.chain(pages).collect::<Vec<_>>())?;
            samples.lost_kernel_events = Told::lost(self.controls)
                .map_err(|cause| TestbedError::Io { action: "reading the programs' counters", cause })?;
        }
        for (index, seen) in watched.flows.iter().enumerate() {
            #[cfg(not(feature = "bpf"))]
            let told = FlowTold::default();
            #[cfg(feature = "bpf")]
            let told = watched.told.of_flow(index, seen, self.controls, clock);
            samples.kernel_events += told.count;
            if scenario.flows[index].sender.sampled {
                self.tell(index, seen, &told, hystart[ends[index] as usize], &mut log);
                #[cfg(feature = "bpf")]
                if self.decisions {
                    let decisions = watched.told.decisions(index, seen, self.controls, clock);
                    for decision in decisions {
                        log.decision(decision);
                    }
                }
            }
        }
        let mut objects: Vec<Object> = loaded.into_iter().flatten().collect();
        objects.sort_unstable_by_key(|object| object.flow);
        let whose = Whose::new(&objects);
        #[cfg(feature = "bpf")]
        for exit in watched.told.exits(clock, |server, client, now| whose.flow(server, client, now)) {
            samples.kernel_events += 1;
            log.event(exit);
        }
        let mut flows = self.totals(&transfers, &watched.flows, &report, &mut log);
        let drops = report.drops.iter().filter(|drop| drop.now <= end);
        flows.extend(totals_of_objects(&objects, &whose, drops, &mut log));
        let listed = transfers.iter().zip(0..);
        let all = listed.chain(objects.iter().map(|object| (&object.transfer, object.flow)));
        for (transfer, flow) in all.filter(|(transfer, _)| transfer.completed.is_none()) {
            let kind = FlowEventKind::Unfinished { bytes: transfer.received_bytes };
            log.event(FlowEvent { now: end, flow, kind });
        }
        let outcome = Outcome {
            end,
            data_packets: flows.iter().map(|flow| flow.data_packets).sum(),
            events: report.ports.iter().map(|port| port.read.packets + port.written.packets).sum(),
            links: links(scenario, &report),
            flows,
        };
        let kernel = crate::kernel_release();
        Ok((log, Played { outcome, report, buffers, samples, attempts, kernel }))
    }

    /// Samples and events of one flow.
    fn tell(&self, index: usize, seen: &Seen, told: &FlowTold, hystart: Hystart, log: &mut Log) {
        let flow = index as u32;
        let mss = u64::from(self.scenario.flows[index].sender.mss_bytes);
        let own = match self.controls.steered[index] {
            Steered::Own(row) => Some(row),
            Steered::Core => None,
        };
        for sample in &told.samples {
            log.flow(*sample);
        }
        for event in &told.events {
            log.event(*event);
        }
        let mut before = FlowSample { flow, ssthresh_bytes: UNSET, ..FlowSample::default() };
        let mut left = told.steers;
        let mut timeouts = 0;
        for look @ Look { sample, timeouts: expired, .. } in &seen.looks {
            let now = sample.now;
            let mut tell = |kind| log.event(FlowEvent { now, flow, kind });
            let sample = told.adjusted(sample);
            if !left && look.left {
                left = true;
                let kind = exits::exit(own, &before, &sample);
                let kind = if own == Some(Row::Cubic) { hystart.explain(kind, mss) } else { kind };
                tell(kind);
            }
            if *expired > timeouts {
                tell(FlowEventKind::Timeout { backoff: expired - timeouts });
                timeouts = *expired;
            }
            let repairing = |state| state != SenderState::Open;
            match (repairing(before.state), repairing(sample.state)) {
                (false, true) => {
                    let FlowSample { cwnd_bytes, in_flight_bytes, .. } = sample;
                    tell(FlowEventKind::RecoveryStart { cwnd_bytes, in_flight_bytes });
                }
                (true, false) => tell(FlowEventKind::RecoveryEnd),
                _ => {}
            }
            log.flow(sample);
            before = sample;
        }
    }

    fn totals(
        &self,
        transfers: &[Transfer],
        seen: &[Seen],
        report: &ErrorReport,
        log: &mut Log,
    ) -> Vec<FlowTotals> {
        let mut flows: Vec<FlowTotals> = (self.scenario.flows.iter().zip(transfers).zip(seen))
            .map(|((config, transfer), seen)| FlowTotals {
                opened: transfer.opened.unwrap_or(Time::NEVER),
                completed: transfer.completed.unwrap_or(Time::NEVER),
                size_bytes: config.source.size_bytes(),
                received_bytes: transfer.received_bytes,
                retransmitted_bytes: seen.last.bytes_retrans,
                data_packets: u64::from(seen.last.data_segs_out),
                dropped_packets: 0,
                under_test: config.under_test,
            })
            .collect();
        for drop in &report.drops {
            let joins = |seen: &Seen| {
                seen.connection.as_ref().is_some_and(|opened| {
                    let (local, remote) = (opened.connection.local, opened.connection.remote);
                    [(local, remote), (remote, local)].contains(&(drop.from, drop.to))
                })
            };
            let Some(index) = seen.iter().position(joins) else { continue };
            flows[index].dropped_packets += u64::from(drop.data);
            let kind =
                FlowEventKind::Dropped { link: drop.link, wire_bytes: drop.wire_bytes, data: drop.data };
            log.event(FlowEvent { now: drop.now, flow: index as u32, kind });
        }
        flows
    }
}

/// Of web sessions, in the order of opening; their events go into the log.
fn totals_of_objects<'a>(
    objects: &[Object],
    whose: &Whose,
    drops: impl Iterator<Item = &'a Dropped>,
    log: &mut Log,
) -> Vec<FlowTotals> {
    let mut dropped: BTreeMap<u32, u64> = BTreeMap::new();
    for drop in drops {
        let Some(flow) = whose.flow(drop.from, drop.to, drop.now) else { continue };
        *dropped.entry(flow).or_default() += u64::from(drop.data);
        let kind = FlowEventKind::Dropped { link: drop.link, wire_bytes: drop.wire_bytes, data: drop.data };
        log.event(FlowEvent { now: drop.now, flow, kind });
    }
    let totals = objects.iter().map(|object| {
        object.transfer.events.iter().for_each(|event| log.event(*event));
        object.totals(dropped.get(&object.flow).copied().unwrap_or(0))
    });
    totals.collect()
}

pub(crate) fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The first kind's: [`check`] has made sure that all ask the same.
pub(crate) fn host_tcp(scenario: &Scenario) -> HostTcp {
    let Some(flow) = kinds(scenario).into_iter().next() else { return HostTcp::default() };
    HostTcp {
        initial_window_packets: Some(flow.sender.initial_window_packets).filter(|packets| *packets != 10),
        quick_acks: flow.receiver.ack_policy == AckPolicy::Quick,
        rto_min: Some(flow.sender.rto.min).filter(|least| *least != RTO_MIN),
        sack: flow.receiver.sack_blocks > 0,
        idle_restart: flow.sender.idle_restart,
        ecn: flow.sender.ecn,
    }
}

/// Every link of the scenario; those that no flow crosses have seen nothing.
pub(crate) fn links(scenario: &Scenario, report: &ErrorReport) -> Vec<LinkTotals> {
    let mut links = vec![LinkTotals::default(); scenario.topology.links.len()];
    for link in &report.links {
        let totals = &link.totals;
        links[link.index] = LinkTotals {
            arrived: totals.arrived,
            delivered: totals.delivered,
            dropped: totals.dropped(),
            inside: totals.inside,
            peak_queue: totals.peak_queue,
        };
    }
    links
}

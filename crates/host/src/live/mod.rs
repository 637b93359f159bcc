//! Current state of the attached algorithms: connections in start-up, and start-ups that have ended.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use rampcc::{ExitReason, Phase};
use rampcc_linux::{FlowEvent, FlowRow, Onlooker, Pinned, Start, Watcher};
use serde::Serialize;

use crate::error::{HostError, Result};
use crate::host::Host;
use crate::record::Entry;

/// `TCP_INFINITE_SSTHRESH`.
const NO_SSTHRESH: u32 = 0x7fff_ffff;

/// What stands for an algorithm and for a scope where the kernel's own congestion controls are watched.
const EVERY: &str = "the kernel's own";
const HERE: &str = "this host";

/// A connection in start-up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flow {
    /// Attachment, as it was named.
    pub scope: String,
    /// Identifier of its algorithm.
    pub algorithm: String,
    /// Its number among the algorithm's connections, from 1.
    pub number: u64,
    /// This host's end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// Phase of start-up.
    pub phase: &'static str,
    /// Since the handshake; `None`: its opening was not seen.
    pub age_s: Option<f64>,
    /// The kernel's window.
    pub cwnd_packets: u32,
    /// The same in payload bytes.
    pub cwnd_bytes: u64,
    /// The kernel's threshold; `None`: none yet.
    pub ssthresh_packets: Option<u32>,
    /// Sent and neither acknowledged nor taken for lost.
    pub in_flight_packets: u32,
    /// The kernel's last rate sample; `None`: none yet.
    pub delivery_bytes_per_s: Option<u64>,
    /// `None`: not paced.
    pub pacing_bytes_per_s: Option<u64>,
    /// Smoothed; `None`: no sample yet.
    pub rtt_s: Option<f64>,
    /// Smallest; `None`: no sample yet.
    pub min_rtt_s: Option<f64>,
    /// Payload acknowledged.
    pub acked_bytes: u64,
    /// Payload sent, retransmissions included.
    pub sent_bytes: u64,
    /// Payload sent again.
    pub retransmitted_bytes: u64,
}

/// The end of a start-up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exit {
    /// Attachment, as it was named.
    pub scope: String,
    /// Identifier of its algorithm.
    pub algorithm: String,
    /// Its number among the algorithm's connections, from 1.
    pub number: u64,
    /// This host's end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// Reason.
    pub reason: ExitReason,
    /// Left side of the deciding comparison, in the reason's unit.
    pub evidence: u64,
    /// Right side of the deciding comparison, in the reason's unit.
    pub limit: u64,
    /// Time since its end.
    pub ago_s: f64,
    /// Duration.
    pub startup_s: f64,
    /// True if it had begun before anybody looked: the duration is a lower bound.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// The kernel's window then.
    pub cwnd_packets: u32,
    /// The same in payload bytes.
    pub cwnd_bytes: u64,
    /// Payload acknowledged by then.
    pub acked_bytes: u64,
    /// Packets found lost by then.
    pub lost_packets: u32,
    /// Smoothed RTT then.
    pub rtt_s: f64,
}

/// All attached algorithms at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Snapshot {
    /// Algorithms that are looked at: identifier and scope.
    pub attached: Vec<(String, String)>,
    /// Connections open under them, in start-up or after it.
    pub open: u64,
    /// Connections in start-up, the oldest first.
    pub flows: Vec<Flow>,
    /// Ends of start-ups since the last look, in order.
    pub exits: Vec<Exit>,
    /// Ends that were overwritten before they could be looked at.
    pub missed: u64,
}

/// Looks at everything that is attached, now and then.
#[derive(Debug)]
pub struct Live {
    host: Host,
    sources: Vec<Source>,
    /// Who sees the kernel's own congestion controls as well.
    others: Option<Watcher>,
    kept: bool,
}

#[derive(Debug)]
struct Source {
    pins: PathBuf,
    scope: String,
    algorithm: String,
    onlooker: Onlooker,
    next_exit: u64,
}

impl Live {
    /// `kept`: the first look also shows ends of start-ups from before it, as many as are kept.
    pub fn new(host: &Host, kept: bool) -> Self {
        Self { host: host.clone(), sources: Vec::new(), others: None, kept }
    }

    /// The start-ups of the kernel's own congestion controls too, on the whole machine, from now on.
    pub fn with_all(self) -> Result<Self> {
        Ok(Self { others: Some(Watcher::load()?), ..self })
    }

    /// Takes notice of what has been attached or detached since; what cannot be opened is no longer there.
    pub fn refresh(&mut self) -> Result {
        let mut found = Vec::new();
        for (key, entry) in self.host.entries()? {
            let Entry::Known(record) = entry else { continue };
            for instance in &record.instances {
                let pins = self.host.instance(&key, instance);
                let known = self.sources.iter().position(|source| source.pins == pins);
                if let Some(known) = known {
                    found.push(self.sources.swap_remove(known));
                } else if let Some(pinned) = Pinned::open(&pins) {
                    let onlooker = match pinned.onlooker() {
                        Ok(onlooker) => onlooker,
                        Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                        Err(error) => return Err(HostError::file("look at", &pins)(error)),
                    };
                    let ended = onlooker.counters().map_err(HostError::file("read", &pins))?.logged;
                    found.push(Source {
                        pins,
                        scope: record.scope.clone(),
                        algorithm: instance.algorithm.clone(),
                        onlooker,
                        next_exit: if self.kept { 0 } else { ended },
                    });
                }
            }
        }
        self.sources = found;
        Ok(())
    }

    /// One look at all that [`Live::refresh`] has found.
    pub fn look(&mut self) -> Result<Snapshot> {
        let mut snapshot = Snapshot::default();
        let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map_err(HostError::system("read the clock"))?;
        let (now, first) = (Duration::from(now), self.kept);
        for source in &mut self.sources {
            let fails = |cause| HostError::file("look at", &source.pins)(cause);
            let rows = source.onlooker.table().map_err(fails)?;
            let counters = source.onlooker.counters().map_err(fails)?;
            let exits = source.onlooker.exits_since(source.next_exit).map_err(fails)?;
            snapshot.attached.push((source.algorithm.clone(), source.scope.clone()));
            snapshot.open += counters.open();
            snapshot.flows.extend(rows.iter().map(|row| source.flow(row)));
            snapshot.exits.extend(exits.events.iter().map(|exit| source.exit(exit, now)));
            snapshot.missed += if first { 0 } else { exits.missed };
            source.next_exit = exits.next;
        }
        if let Some(watcher) = &mut self.others {
            let seen = watcher.look(true).map_err(HostError::system("look at start-ups"))?;
            snapshot.attached.push((EVERY.to_owned(), HERE.to_owned()));
            let flows: Vec<&Start> = seen.flows.iter().filter(|flow| flow.keeps_ssthresh()).collect();
            snapshot.open += flows.len() as u64;
            snapshot.flows.extend(flows.into_iter().map(own_flow));
            snapshot.exits.extend(seen.exits.iter().map(|exit| own_exit(exit, now)));
            snapshot.missed += seen.missed;
        }
        self.kept = false;
        // What was already open is older than all others.
        let age = |flow: &Flow| flow.age_s.unwrap_or(f64::INFINITY);
        snapshot.flows.sort_by(|a, b| age(b).total_cmp(&age(a)));
        snapshot.exits.sort_by(|a, b| b.ago_s.total_cmp(&a.ago_s));
        Ok(snapshot)
    }
}

/// A connection under a control of the kernel's own.
fn own_flow(row: &Start) -> Flow {
    let seconds = |us: u32| (us > 0 && us < u32::MAX).then(|| f64::from(us) * 1e-6);
    let some = |value: u64| (value > 0).then_some(value);
    Flow {
        scope: HERE.to_owned(),
        algorithm: row.control(),
        number: row.number,
        local: row.tuple.local(),
        remote: row.tuple.remote(),
        phase: Phase::Startup.word(),
        age_s: row.age().map(|age| age.as_secs_f64()),
        cwnd_packets: row.cwnd_packets,
        cwnd_bytes: u64::from(row.cwnd_packets) * u64::from(row.mss_bytes),
        ssthresh_packets: (row.ssthresh_packets < NO_SSTHRESH).then_some(row.ssthresh_packets),
        in_flight_packets: row.in_flight_packets,
        delivery_bytes_per_s: some(row.delivery_bytes_per_s),
        pacing_bytes_per_s: some(row.pacing_bytes_per_s).filter(|rate| *rate < u64::MAX),
        rtt_s: seconds(row.smoothed_rtt_us),
        min_rtt_s: seconds(row.min_rtt_us),
        acked_bytes: row.acked_bytes,
        sent_bytes: row.sent_bytes,
        retransmitted_bytes: row.retransmitted_bytes,
    }
}

fn own_exit(exit: &Start, now: Duration) -> Exit {
    Exit {
        scope: HERE.to_owned(),
        algorithm: exit.control(),
        number: exit.number,
        local: exit.tuple.local(),
        remote: exit.tuple.remote(),
        reason: exit.exit_reason(),
        evidence: exit.evidence,
        limit: exit.limit,
        ago_s: now.saturating_sub(exit.time()).as_secs_f64(),
        startup_s: exit.known_for().as_secs_f64(),
        at_least: exit.age().is_none(),
        cwnd_packets: exit.cwnd_packets,
        cwnd_bytes: u64::from(exit.cwnd_packets) * u64::from(exit.mss_bytes),
        acked_bytes: exit.acked_bytes,
        lost_packets: exit.lost_packets,
        rtt_s: f64::from(exit.smoothed_rtt_us) * 1e-6,
    }
}

impl Source {
    fn flow(&self, row: &FlowRow) -> Flow {
        let seconds = |us: u32| (us > 0 && us < u32::MAX).then(|| f64::from(us) * 1e-6);
        let some = |value: u64| (value > 0).then_some(value);
        Flow {
            scope: self.scope.clone(),
            algorithm: self.algorithm.clone(),
            number: row.flow,
            local: row.tuple.local(),
            remote: row.tuple.remote(),
            phase: row.decision.phase().word(),
            age_s: Some(row.age().secs_f64()),
            cwnd_packets: row.cwnd_packets,
            cwnd_bytes: u64::from(row.cwnd_packets) * u64::from(row.mss_bytes),
            ssthresh_packets: (row.ssthresh_packets < NO_SSTHRESH).then_some(row.ssthresh_packets),
            in_flight_packets: row.in_flight_packets,
            delivery_bytes_per_s: some(row.delivery_bytes_per_s),
            pacing_bytes_per_s: some(row.pacing_bytes_per_s),
            rtt_s: seconds(row.smoothed_rtt_us),
            min_rtt_s: seconds(row.min_rtt_us),
            acked_bytes: row.acked_bytes,
            sent_bytes: row.sent_bytes,
            retransmitted_bytes: row.retransmitted_bytes,
        }
    }

    fn exit(&self, exit: &FlowEvent, now: Duration) -> Exit {
        let ended = exit.exited().unwrap_or_else(|| exit.header.time());
        Exit {
            scope: self.scope.clone(),
            algorithm: self.algorithm.clone(),
            number: exit.header.flow,
            local: exit.tuple.local(),
            remote: exit.tuple.remote(),
            reason: exit.decision.exit_reason(),
            evidence: exit.decision.evidence,
            limit: exit.decision.limit,
            ago_s: now.saturating_sub(Duration::from_nanos(ended.ns())).as_secs_f64(),
            startup_s: (ended - exit.opened()).secs_f64(),
            at_least: false,
            cwnd_packets: exit.cwnd_packets,
            cwnd_bytes: u64::from(exit.cwnd_packets) * u64::from(exit.mss_bytes),
            acked_bytes: exit.acked_bytes,
            lost_packets: exit.lost_packets,
            rtt_s: f64::from(exit.smoothed_rtt_us) * 1e-6,
        }
    }
}

//! View of an algorithm at work, for any process and without taking it from others.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use libbpf_rs::{Iter, Link, MapCore, MapFlags, MapHandle};
use rampcc::{Decision, Time};

use crate::event::{Counters, FlowEvent, Plain, Tuple, read};

/// `RAMP_EXITS_KEPT`.
const EXITS_KEPT: u64 = 256;

/// A connection in its start-up, as it is at this moment.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRow {
    time_ns: u64,
    /// The connection: a number from 1 on, in order of opening.
    pub flow: u64,
    /// Its ends.
    pub tuple: Tuple,
    /// Last decision of the algorithm.
    pub decision: Decision,
    opened_ns: u64,
    /// Payload sent, retransmissions included.
    pub sent_bytes: u64,
    /// Payload acknowledged.
    pub acked_bytes: u64,
    /// Payload sent again.
    pub retransmitted_bytes: u64,
    /// The kernel's last rate sample; 0: none yet.
    pub delivery_bytes_per_s: u64,
    /// The kernel's pacing rate; 0: it does not pace.
    pub pacing_bytes_per_s: u64,
    /// The kernel's window.
    pub cwnd_packets: u32,
    /// The kernel's slow-start threshold; `0x7fff_ffff`: none.
    pub ssthresh_packets: u32,
    /// Sent and neither acknowledged nor taken for lost.
    pub in_flight_packets: u32,
    /// The kernel's smoothed RTT.
    pub smoothed_rtt_us: u32,
    /// The kernel's windowed minimum.
    pub min_rtt_us: u32,
    /// Payload of a full segment.
    pub mss_bytes: u32,
}

impl Plain for FlowRow {}

impl FlowRow {
    /// For how long the connection has been open.
    pub fn age(&self) -> Time {
        Time::from_ns(self.time_ns.saturating_sub(self.opened_ns))
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct KeptExit {
    begun: u64,
    flow: FlowEvent,
    ended: u64,
}

impl Plain for KeptExit {}

/// Ends of start-ups that happened one after another.
#[derive(Clone, Debug, Default)]
pub struct Exits {
    /// In order.
    pub events: Vec<FlowEvent>,
    /// Number of exits overwritten before they were read.
    pub missed: u64,
    /// Position of the next exit, for the next call of [`Onlooker::exits_since`].
    pub next: u64,
}

/// Sees what an algorithm does: of [`Loaded`](crate::Loaded) or of [`Pinned`](crate::Pinned).
pub struct Onlooker {
    pub(crate) table: Table,
    pub(crate) counters: MapHandle,
    pub(crate) exits: MapHandle,
}

/// Where the iterator is.
pub(crate) enum Table {
    Link(Arc<Mutex<Link>>),
    /// The name of a link: every opening is a new iteration.
    Name(PathBuf),
}

impl Onlooker {
    /// All connections in start-up, in no order.
    pub fn table(&self) -> io::Result<Vec<FlowRow>> {
        let mut bytes = Vec::new();
        match &self.table {
            Table::Link(link) => Iter::new(&link.lock().unwrap_or_else(PoisonError::into_inner))
                .map_err(io::Error::other)?
                .read_to_end(&mut bytes)?,
            Table::Name(path) => File::open(path)?.read_to_end(&mut bytes)?,
        };
        let rows = bytes.chunks(size_of::<FlowRow>()).map(read);
        rows.collect::<Option<_>>().ok_or_else(|| unexpected("the table of connections"))
    }

    /// Totals over all connections.
    pub fn counters(&self) -> io::Result<Counters> {
        let bytes = lookup(&self.counters, 0)?;
        Counters::parse(&bytes).ok_or_else(|| unexpected("the counters"))
    }

    /// The ends of start-ups from number `since` on, counted from 0; the last 256 can be seen.
    pub fn exits_since(&self, since: u64) -> io::Result<Exits> {
        let ended = self.counters()?.logged;
        let first = since.max(ended.saturating_sub(EXITS_KEPT));
        let mut exits = Exits { events: Vec::new(), missed: first.saturating_sub(since), next: since };
        for number in first..ended {
            let bytes = lookup(&self.exits, (number % EXITS_KEPT) as u32)?;
            let kept: KeptExit = read(&bytes).ok_or_else(|| unexpected("the ends of start-ups"))?;
            if kept.begun == number + 1 && kept.ended == number + 1 {
                exits.events.push(kept.flow);
            } else if kept.begun > number + 1 {
                exits.missed += 1; // the next round overtook us
            } else {
                break; // being written at this moment
            }
            exits.next = number + 1;
        }
        Ok(exits)
    }
}

impl fmt::Debug for Onlooker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Onlooker").finish_non_exhaustive()
    }
}

fn lookup(map: &MapHandle, key: u32) -> io::Result<Vec<u8>> {
    let bytes = map.lookup(&key.to_ne_bytes(), MapFlags::ANY).map_err(io::Error::other)?;
    bytes.ok_or_else(|| unexpected("a map of the program"))
}

fn unexpected(what: &str) -> io::Error {
    io::Error::other(format!("{what}: of another size than this version of ramp expects"))
}

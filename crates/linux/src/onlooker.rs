//! View of an algorithm at work, for any process and without taking it from others.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, thread};

use libbpf_rs::query::LinkTypeInfo;
use libbpf_rs::{Iter, Link, MapCore, MapFlags, MapHandle};
use nix::sched::{CloneFlags, setns};
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

impl Table {
    /// One iteration.
    fn look(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match self {
            Self::Link(link) => Iter::new(&link.lock().unwrap_or_else(PoisonError::into_inner))
                .map_err(io::Error::other)?
                .read_to_end(&mut bytes)?,
            Self::Name(path) => File::open(path)?.read_to_end(&mut bytes)?,
        };
        Ok(bytes)
    }

    /// The rows of an iteration, in every network namespace that this process may look into.
    pub(crate) fn rows<T: Plain>(&self) -> io::Result<Vec<T>> {
        let mut bytes = self.look()?;
        if self.is_of_one_namespace() {
            for namespace in other_namespaces() {
                // One that is gone by now, or not ours to enter, shows nothing.
                let there = thread::scope(|scope| {
                    // `setns` moves the thread that calls it.
                    let look = || setns(&namespace, CloneFlags::CLONE_NEWNET).ok().map(|()| self.look());
                    scope.spawn(look).join().unwrap_or_default()
                });
                bytes.extend(there.transpose()?.unwrap_or_default());
            }
        }
        let rows = bytes.chunks(size_of::<T>()).map(read);
        rows.collect::<Option<_>>().ok_or_else(|| unexpected("the table of connections"))
    }

    /// Whether it goes over the sockets of the reader's network namespace. Who may not ask may not enter another either.
    fn is_of_one_namespace(&self) -> bool {
        let info = match self {
            Self::Link(link) => link.lock().unwrap_or_else(PoisonError::into_inner).info(),
            Self::Name(path) => Link::open(path).and_then(|link| link.info()),
        };
        info.is_ok_and(|info| matches!(info.info, LinkTypeInfo::Iter(iter) if iter.target_name == "tcp"))
    }
}

/// Network namespaces that a thread, a name or a descriptor of this process holds, but for this thread's.
fn other_namespaces() -> Vec<File> {
    let threads = entries(Path::new("/proc")).flat_map(|process| entries(&process.join("task")));
    let of_threads = threads.map(|thread| thread.join("ns/net"));
    let held = |path: &PathBuf| {
        fs::read_link(path).is_ok_and(|target| target.as_os_str().as_bytes().starts_with(b"net:["))
    };
    let of_descriptors = entries(Path::new("/proc/self/fd")).filter(held);
    let own = fs::metadata("/proc/thread-self/ns/net").map(|own| own.ino());
    let mut seen: BTreeSet<u64> = own.into_iter().collect();
    let mut found = Vec::new();
    for path in of_threads.chain(entries(Path::new("/run/netns"))).chain(of_descriptors) {
        let number = fs::metadata(&path).map(|namespace| namespace.ino());
        if number.is_ok_and(|number| seen.insert(number)) {
            found.extend(File::open(path));
        }
    }
    found
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

impl Onlooker {
    /// All connections in start-up, in no order: in every network namespace that this process may look into.
    pub fn table(&self) -> io::Result<Vec<FlowRow>> {
        self.table.rows()
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
